//! The processes that omo starts: the checks of a run, the checks of a plan, git, and, where its user
//! asks for that, the client and a status line. With git it makes the worktrees that the groups of a
//! plan work in, keeps what they hold, and brings their branches together.
//!
//! Nothing started here can hold its caller: every process has a deadline, no other program waits for
//! the end of its output, and whatever is left of it is ended when its caller is.

pub mod alive;
pub mod asking;
pub mod baseline;
pub mod beginning;
mod caller;
pub mod changes;
pub mod check;
pub mod claude;
pub mod commit;
pub mod difference;
pub mod endings;
pub mod environment;
pub mod exclude;
pub mod files;
pub mod gates;
pub mod git;
mod git_folder;
pub mod integrate;
pub mod keeper;
pub mod own_command;
mod platform;
pub mod process;
pub mod recorded;
pub mod remote;
pub mod repository;
pub mod restore;
pub mod set_up;
mod snapshot;
pub mod status_line;
pub mod supervisor;
pub mod tracked;
pub mod tree;
pub mod worktree;
