//! Ways in which a model could end a run as `verified` while the work is not done, have something run that its user
//! did not approve, or go past a bound: one row each, named by its id, with the controls that were always caught and
//! the honest runs that have to end `verified`.
//!
//! A row is played with the real programs on a small Python project whose test is red. It cheats with files of the
//! project, git, the environment or settings alone, and says what omo has to do about it.
#![cfg(unix)]
#![expect(
    clippy::indexing_slicing,
    reason = "only JSON values are indexed: what is not there is null, and nothing panics"
)]

mod approved_content;
mod check_evidence;
mod controls;
mod forged_state;
mod hidden_from_git;
mod honest_work;
mod large_changes;
mod named_judges;
mod review_material;
mod reviewer_reading;
mod target_project;
mod task_text;
mod tree_id;
mod tree_id_controls;
mod uncommitted_at_start;
// The processes above another one are told on Linux alone.
#[cfg(target_os = "linux")]
mod model_shell;
// So is what happens in a folder meanwhile.
#[cfg(target_os = "linux")]
mod files_during_check;
#[cfg(target_os = "linux")]
mod prompt_origin;
