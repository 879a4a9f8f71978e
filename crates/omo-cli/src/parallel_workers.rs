//! Parallel workers: clients below a supervisor that outlives the terminal.

pub(crate) mod cleanup;
pub(crate) mod keeper;
pub(crate) mod screen;
pub(crate) mod supervisor;
pub(crate) mod watch;
