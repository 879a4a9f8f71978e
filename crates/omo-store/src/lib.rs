//! The files of omo: the lock, the runtime state and its seal, the decision log, the user's
//! configuration and approvals, and the tail of a transcript.
//!
//! All that is read here may be hostile: a symbolic link, a FIFO, a file of gigabytes, JSON of
//! another version. None of it may make a hook hang, write elsewhere, or hold a session.

pub mod client_session;
pub mod config;
pub mod decisions;
pub mod document;
pub mod env;
pub mod folder;
mod gate_toml;
pub mod hooks_log;
pub mod lock;
pub mod material;
pub mod object;
pub mod pending;
pub mod pins;
pub mod place;
pub mod plan_run;
mod platform;
pub mod project_file;
pub mod recorded;
pub mod regular;
pub mod repository;
pub mod revision;
pub mod root;
pub mod run_environment;
pub mod seal;
pub mod search_path;
pub mod signals;
pub mod start;
pub mod state;
pub mod task_session;
pub mod transcript;
pub mod trust;
pub mod typed_order;
pub mod work_tree;
