//! The rules of a run, played: small plans, verbs in every order, and forbidden results.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test's helpers fail as a test does"
)]

mod answers;
mod attempts;
mod event_table;
mod group_proof;
mod hard_stops;
mod holders;
mod invariants;
mod kit;
mod ledger_lines;
mod modes;
mod next_action;
mod parallel;
mod parallel_budgets;
mod parallel_edits;
mod parallel_walk;
mod parallel_waves;
mod plan_edits;
mod proof;
mod refusals;
mod refused_commits;
mod reports;
mod task_list_kit;
mod task_list_ledger;
mod task_list_refusals;
mod task_list_walk;
mod task_lists;
mod walk;
