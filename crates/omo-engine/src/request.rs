//! What a run of an ultraplan, or of one session of it, is asked for (`arguments`, `own`, `asked`, `target`), how it is
//! then worked on (`strategy`), what has to hold before it is (`preflight`, `guarded`, `billing`), what came of it
//! (`outcome`), and where it goes on (`resume`).
//!
//! Facts go in, decisions and texts come out: nothing here looks at a file, a repository or the environment.

pub mod arguments;
pub mod check_target;
pub mod client_policy;
pub mod part;
pub mod run_scope;
