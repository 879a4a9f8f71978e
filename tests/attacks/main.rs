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

mod approved;
mod controls;
mod counted;
mod evidence;
mod hidden;
mod honest;
mod large;
mod pinned;
mod recorded;
mod reviewed;
mod target;
mod task;
mod tree;
mod tree_controls;
// The processes above another one are told on Linux alone.
#[cfg(target_os = "linux")]
mod from_shell;
// So is what happens in a folder meanwhile.
#[cfg(target_os = "linux")]
mod passing;
#[cfg(target_os = "linux")]
mod who_asked;
