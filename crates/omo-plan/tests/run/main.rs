//! The rules of a run, played: small plans, verbs in every order, and what may never happen.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test's helpers fail as a test does"
)]

mod answers;
mod apart;
mod apart_walk;
mod holders;
mod kit;
mod lines;
mod misplays;
mod modes;
mod order;
mod plan_edits;
mod proof;
mod reports;
mod session_kit;
mod session_ledger;
mod session_verbs;
mod session_walk;
mod sessions;
mod stops;
mod table;
mod ultra_steps;
mod walk;
mod witness;
