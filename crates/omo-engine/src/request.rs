//! The request of a run of an ultraplan or one of its sessions: facts go in, decisions and texts come out. Nothing here
//! looks at a file, a repository or the environment.

pub mod arguments;
pub mod check_target;
pub mod client_policy;
pub mod part;
pub mod run_scope;
