//! The rules of omo, and nothing else: the meaning of a prompt, the decision on a Stop, and their words.
//!
//! Nothing here opens a file, reads a clock or the environment, or starts a process: plain data goes in, plain data
//! comes out, so that every decision can be written down as a table.

pub mod bounded_vec;
pub mod check;
pub mod events;
pub mod git_variables;
pub mod keyword;
pub mod limits;
pub mod log_entry;
pub mod messages;
pub mod money;
pub mod plan_models;
pub mod promise;
pub mod prompt;
pub mod recorded_answer;
pub mod request_source;
pub mod review;
pub mod run_command;
pub mod session;
pub mod shell;
pub mod stop;
pub mod text;
pub mod timestamp;
