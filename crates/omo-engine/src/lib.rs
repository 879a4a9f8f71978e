//! Execution of plans: a run is a ledger of events; all state, views and files are made from it.
//! Input may be hostile, and a command answers once its events are on disk.

pub mod billing;
pub mod client_policy;
pub mod commit_guard;
pub mod dispatched_tasks;
mod error;
pub mod event;
mod evidence_rules;
pub mod execution_mode;
pub mod fence;
mod fold;
pub mod handover;
pub mod import;
mod landing_hints;
pub mod ledger;
pub mod modes;
pub mod next_batches;
pub mod outcome;
pub mod parallel;
pub mod parallel_schedule;
pub mod parallel_state;
pub mod preflight;
pub mod program_files;
pub mod projection;
mod question;
mod question_text;
pub mod report;
pub mod request;
pub mod resume;
mod rounds;
pub mod schedule;
mod standing;
pub mod state;
mod task_commits;
pub mod task_counterfactual;
pub mod task_list_store;
mod ticket;
pub mod unfinished_lines;
pub mod verbs;
pub mod view;
pub mod wave_rules;
pub mod work;

pub mod worker_model;

pub use crate::ledger::run::{ExclusiveGuard, Run};
pub use crate::ledger::run_store::{ListedRun, RunStore};
pub use error::{RunStoreError, TransactError};
pub use ticket::Ticket;
