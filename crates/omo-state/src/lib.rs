//! The files of omo: lock, state, seal, decision log, configuration, approvals, and transcripts.
//!
//! All input may be hostile: a link, a FIFO, gigabytes, JSON of another version. None of it may
//! make a hook hang, write elsewhere, or hold a session.

pub mod config;
pub mod decision_log;
pub mod ended_runs;
pub mod env;
pub mod files;
pub mod git_worktree;
pub mod hook_error_log;
pub mod json_object;
pub mod open_run_marker;
mod platform;
pub mod plugin_data;
pub mod project_root;
pub mod random_id;
pub mod recorded_trees;
pub mod review_material;
pub mod run_environment;
pub mod seal;
pub mod sealed_json;
pub mod search_path;
pub mod state;
pub mod task_list_note;
pub mod transcript;
pub mod trust;
pub mod typed_order;
