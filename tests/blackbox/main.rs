//! The hook binaries and `omo` from outside: what the client sends goes in, what it would read
//! comes out, and the files are looked at. Run by `cargo xtask test`, which builds the plugin.
#![cfg(unix)]
#![expect(
    clippy::indexing_slicing,
    reason = "only JSON values are indexed: what is not there is null, and nothing panics"
)]

mod arguments;
mod cheats;
mod cli;
mod cli_errors;
mod clone_builds;
mod direct;
mod doctor;
mod exec;
mod fence;
mod fresh_clone;
mod gates;
mod hatch;
mod idle;

mod launchers;
mod local;
mod modes;
mod own_words;
mod plan;
mod plan_run;
mod prompt;
mod provenance;
mod review;
mod runs;
mod sessions;
mod setup;
mod state;
mod state_life;
mod statusline;
mod stop;
mod stop_input;
mod tampering;
mod task_session;
mod trust;
mod unbuilt_prompts;
mod vectors;
mod verify;

use omo_tests::{judged, stage};
