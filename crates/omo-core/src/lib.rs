//! The rules of omo, and nothing else: what a prompt means, what a Stop becomes, and the words
//! that are said about it.
//!
//! Nothing here opens a file, reads a clock or the environment, or starts a process: plain data
//! goes in, plain data comes out, so that every decision can be written down as a table.

pub mod arguments;
pub mod asker;
pub mod check;
pub mod child;
pub mod client_version;
pub mod command_line;
pub mod events;
pub mod failure;
pub mod few;
pub mod gate;
pub mod gate_command;
pub mod keyword;
pub mod limits;
pub mod log;
mod markup;
pub mod pattern;
pub mod plan_run;
pub mod promise;
pub mod prompt;
pub mod report;
pub mod review;
pub mod run_command;
pub mod runner;
pub mod session;
pub mod session_id;
pub mod statusline;
pub mod stop;
pub mod task_session;
pub mod timestamp;
pub mod verification;
pub mod words;
