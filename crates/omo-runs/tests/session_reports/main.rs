//! What people and workers read of a task session's run.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test's helpers fail as a test does"
)]

mod briefs;
mod ends;
mod hostile;
mod kit;
mod markdown;
mod screens;
