//! Runs as files: what is written is read again, what was not written whole is not there, and what omo
//! did not write is noticed.

mod hostile;
mod life;
mod places;
mod snapshots;
mod stage;
mod torn;
