//! Texts about a run for people: briefs of workers, screens, reports, and their shared parts.

pub mod dev_workflow;
pub mod findings;
pub mod heading;
pub mod judged_with;
pub mod plan_overview;
mod table;
pub mod taken_back;
pub mod task_differences;
pub mod task_list;
pub mod ultraplan;
pub(crate) mod worker_notes;
pub mod workers;
