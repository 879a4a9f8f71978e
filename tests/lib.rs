//! What the test targets beside this file share.
#![cfg(unix)]
#![expect(
    clippy::indexing_slicing,
    reason = "only JSON values are indexed: what is not there is null, and nothing panics"
)]

pub mod claim_scene;
pub mod exhaustive;
pub mod fake_cargo;
pub mod folder_snapshot;
pub mod lock_holder;
pub mod orphan_process;
pub mod parallel_plan;
pub mod parallel_repository;
pub mod plan_project;
pub mod printed_commands;
pub mod processes;
pub mod repository_copy;
pub mod scene;
#[cfg(target_os = "linux")]
pub mod slurm_cluster;
pub mod task_list_project;
pub mod ultraplan_project;
pub mod worker_home;

/// Every case went well.
///
/// # Panics
///
/// With the names of those that went wrong.
#[track_caller]
pub fn all_good(cases: impl IntoIterator<Item = (String, anyhow::Result<()>)>) {
    let cases: Vec<_> = cases.into_iter().collect();
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(name, played)| Some(format!("{name}: {:#}", played.as_ref().err()?)))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} cases failed:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

/// How often a run is continued where nothing else is set.
pub const MAX_BLOCKS: u32 = omo_core::limits::RunLimits::DEFAULT.max_blocks;

/// A text without its line breaks and runs of blanks: one that was broken to the width of a terminal, as it was before.
pub fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
