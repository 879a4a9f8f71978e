//! The request of a run of an ultraplan, or of one session of it (`arguments`, `part`, `check_target`, `run_scope`,
//! `client_policy`).
//!
//! Facts go in, decisions and texts come out: nothing here looks at a file, a repository or the environment.

pub mod arguments;
pub mod check_target;
pub mod client_policy;
pub mod part;
pub mod run_scope;
