//! Starts and ends processes: in groups, with a time limit, with their output read through pipes,
//! and each check under a keeper.

// For every program of omo: all of them link this crate.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

pub mod child_command;
pub mod detached;
pub mod environment;
pub mod file_opener;
pub mod free_memory;
pub mod helper_process;
pub mod job;
pub mod keeper;
pub mod own_command;
pub mod parallel_map;
pub mod platform;
pub mod process_identity;
pub mod runner;
pub mod status_line;
pub mod termination;
pub mod watchdog;
