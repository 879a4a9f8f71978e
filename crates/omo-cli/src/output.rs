//! What is printed: lines, tables and progress.

pub(crate) mod check_progress;
pub(crate) mod progress;
pub(crate) mod table;
