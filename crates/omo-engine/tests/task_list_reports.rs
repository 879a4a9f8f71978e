//! Texts about a task list's run for people and workers.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test's helpers fail as a test does"
)]

mod final_reports;
mod hostile_texts;
mod markdown;
mod sample_runs;
mod screens;
mod worker_briefs;
