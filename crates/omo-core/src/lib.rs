//! The rules of omo, without I/O: the meaning of a prompt, the decision whether a turn may end (a
//! Stop), and the messages about both.
//!
//! Plain data goes in and comes out: nothing here reads a file, a clock or the environment.

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
