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
mod blocks;
mod clone;
mod commands;
mod doctor;
mod evals;
mod fenced;
mod held;
mod interrupted;
mod judged;
mod letting_go;
mod local;
mod marketplace;
mod npm;
mod parallel;
mod plans;
mod plugin;
mod segment;
mod sessions;
mod sessions_run;
// A setup is watched and killed with strace, which is there alone.
#[cfg(target_os = "linux")]
mod setup;
mod stage;
mod statusline;
// The processes above another one are told there alone.
#[cfg(target_os = "linux")]
mod who_asked;
