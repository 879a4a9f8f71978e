//! Reports of an ultraplan's run for people and machines.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test's helpers fail as a test does"
)]

mod dry_run_and_retry;
mod final_reports;
mod parallel_report;
mod sample_runs;
