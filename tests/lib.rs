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
pub mod processes;
pub mod repository_copy;
pub mod scene;
#[cfg(target_os = "linux")]
pub mod slurm_cluster;
pub mod task_list_project;
pub mod ultraplan_project;
pub mod worker_home;

/// How often a run is continued where nothing else is set.
pub const MAX_BLOCKS: u32 = omo_core::limits::RunLimits::DEFAULT.max_blocks;
