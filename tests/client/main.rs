//! omo in the real client, against a scripted model on loopback: what a person does, and what
//! the person, the model and the files see of it.
//!
//! `cargo xtask test` builds the plugin and installs the client.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test's helpers fail as a test does"
)]

mod background;
mod block_text;
mod claim_proof;
mod claims;
mod commands;
mod continuation;
mod doctor;
mod evals;
mod execute_local;
mod fence;
mod interrupted;
mod marketplace;
mod marketplace_clone;
mod npm;
mod parallel;
mod plans;
mod plugin;
mod round_trips;
mod served_repository;
mod several_sessions;
mod stopping;
mod task_lists;
mod workflow_batch;
// A setup is watched and killed with strace, which is there alone.
mod client_lab;
#[cfg(target_os = "linux")]
mod setup;
mod statusline;
// The processes above another one are told there alone.
#[cfg(target_os = "linux")]
mod prompt_origin;
