//! The hook binaries and `omo` from outside: what the client sends goes in, what it would read
//! comes out, and the files are looked at. Run by `cargo xtask test`, which builds the plugin.
#![cfg(unix)]
#![expect(
    clippy::indexing_slicing,
    reason = "only JSON values are indexed: what is not there is null, and nothing panics"
)]

mod background_build;
mod checks;
mod claim_proof;
mod cli;
mod cli_errors;
mod counted_start;
mod detected_check;
mod direct_hooks;
mod doctor;
mod ended_seal;
mod false_claims;
mod fence;
mod first_contact;
mod followed_page;
mod fresh_clone;
mod git_variables;
mod task_list_runs;
mod token_bound;
mod told_endings;
mod ulw_arguments;
mod unused_session;
mod ways_out;

mod execute_local;
mod harmless_messages;
mod late_proof;
mod launchers;
mod modes;
mod plan;
mod plan_doors;
mod plan_run_hooks;
mod project_page;
mod promise_provenance;
mod prompt_context;
mod repository_sessions;
mod review;
mod runs;
mod setup;
mod state;
mod state_life;
mod statusline;
mod stop;
mod stop_input;
mod tampering;
mod task_list_hooks;
mod task_lists;
mod trust;
mod unbuilt_prompts;
mod vector_coverage;
mod verify;
mod watch;
mod why;
mod working_time;

use omo_tests::{claim_scene, scene};
