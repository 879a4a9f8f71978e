//! The processes that omo starts: the gates of a run, the checks of a plan, git, and, where its user
//! asks for that, the client and a status line.
//!
//! Nothing started here can hold its caller: every process has a deadline, its output goes
//! nowhere that somebody waits for, and whatever is left of it is ended when its caller is.

pub mod alive;
pub mod changes;
pub mod check;
pub mod claude;
pub mod endings;
pub mod environment;
pub mod gates;
mod git;
pub mod keeper;
mod platform;
pub mod process;
mod snapshot;
pub mod status_line;
pub mod tracked;
pub mod tree;
