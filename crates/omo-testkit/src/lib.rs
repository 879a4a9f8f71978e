//! For tests only: what is needed to see our hooks at work in a real session, on one machine.
//!
//! - [`MockModel`] answers the Messages API on loopback from a [`ModelScript`] and keeps every request;
//! - [`Lab`] is a temporary home and project with an environment built from nothing;
//! - [`Client`] runs the real client once, [`Terminal`] runs it as a person sees it;
//! - [`GitServer`] serves a repository over HTTP on loopback, as a marketplace is;
//! - [`NpmRegistry`] serves packages as an npm registry does;
//! - [`StandIn`] fires the hooks of a plugin as the client does, where no client is installed;
//! - `strace` runs a process with a fault at any of its system calls;
//! - [`samples`] are the inputs and states that costs are measured with, and [`instructions`] counts
//!   what a hook needs for them;
//! - [`plans`] are plans that need no file, and [`large_run`] is a run with many tasks and events;
//! - [`main_tests`] runs the tests of a binary that is more than its tests.
//!
//! The kit must never reach another address than loopback, read the user's own home, or end a
//! process that it did not start.

mod client;
mod environment;
mod git_server;
mod hook_answer;
mod ids;
pub mod instructions;
mod json;
mod lab;
pub mod large_run;
pub mod main_tests;
pub mod model;
mod npm_registry;
pub mod plans;
mod process;
pub mod samples;
pub mod stand_in;
#[cfg(target_os = "linux")]
pub mod strace;
#[cfg(unix)]
mod terminal;
mod wait;

pub use client::{Client, NoClient, PrintRun};
pub use environment::timestamp;
pub use git_server::GitServer;
pub use hook_answer::run_command;
pub use lab::{Lab, LabBuilder};
pub use model::{MockModel, ModelScript, ModelTurn};
pub use npm_registry::NpmRegistry;
pub use process::read_in_background;
pub use stand_in::{HookRun, StandIn};
#[cfg(unix)]
pub use terminal::Terminal;
pub use wait::{HANG, wait_until, within};
