//! The processes that omo starts: the gates of a run, git, and the client where its user asks for that.
//!
//! Nothing started here can hold its caller: every process has a deadline, its output goes
//! nowhere that somebody waits for, and whatever is left of it is ended when its caller is.

pub mod claude;
pub mod environment;
pub mod gates;
mod git;
pub mod keeper;
mod platform;
pub mod process;
mod snapshot;
pub mod tracked;
pub mod tree;
