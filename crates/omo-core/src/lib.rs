//! The rules of omo, and nothing else: what a prompt means, what a Stop becomes, and the words
//! that are said about it.
//!
//! Nothing here opens a file, reads a clock or the environment, or starts a process: plain data
//! goes in, plain data comes out, so that every decision can be written down as a table.

pub mod api_error;
pub mod bounded_vec;
pub mod check;
pub mod check_request;
pub mod client_end;
pub mod client_version;
pub mod command_line;
pub mod events;
pub mod glob;
pub mod keyword;
pub mod limits;
pub mod log_entry;
mod masked_text;
pub mod messages;
pub mod plan_run;
pub mod promise;
pub mod prompt;
pub mod request_source;
pub mod review;
pub mod run_command;
pub mod session;
pub mod session_id;
pub mod status_report;
pub mod statusline;
pub mod stop;
pub mod task_check;
pub mod task_list;
pub mod test_runner;
pub mod text;
pub mod timestamp;
pub mod ulw_arguments;
pub mod verification;
