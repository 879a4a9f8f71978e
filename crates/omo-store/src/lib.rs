//! The files of omo: the lock, the runtime state and its seal, the decision log, the user's
//! configuration and approvals, and the tail of a transcript.
//!
//! All that is read here may be hostile: a symbolic link, a FIFO, a file of gigabytes, JSON of
//! another version. None of it may make a hook hang, write elsewhere, or hold a session.

mod check_toml;
pub mod client_session;
pub mod config;
pub mod decision_log;
pub mod entry_revision;
pub mod env;
pub mod folder;
pub mod folder_swap;
pub mod git_worktree;
pub mod hook_error_log;
pub mod json_object;
pub mod lock;
pub mod pending_approval;
pub mod pinned_files;
mod platform;
pub mod project_file;
pub mod project_root;
pub mod recorded_trees;
pub mod regular_file;
pub mod repository_config;
pub mod review_material;
pub mod run_environment;
pub mod seal;
pub mod sealed_plan_run;
pub mod search_path;
pub mod signals;
pub mod starting_checks;
pub mod state;
pub mod state_document;
pub mod task_list_note;
pub mod transcript;
pub mod trust;
pub mod typed_order;
