//! Owners of files that changed during a task: the task, another task, or a process outside of the run.

use std::collections::BTreeSet;

use omo_core::check::steering::{file_words, is_manifest, is_shell_script, may_steer};
use omo_core::timestamp::Timestamp;
use omo_plan::model::{Dialect, Task};
use omo_plan::paths::{PlannedPaths, normalize_path, path_covers};
use omo_prove::naming_words::is_named;
use omo_state::config::UnlistedFiles;

use crate::state::RunState;

/// Files of a task in a shared work tree, where writers are unknown: the listed paths decide.
pub(super) struct OwnFiles<'a> {
    state: &'a RunState,
    /// Paths that the task and its session list; `None` where neither lists any, and all may be of the task.
    listed: Option<PlannedPaths>,
    of_others: PlannedPaths,
}

impl<'a> OwnFiles<'a> {
    pub(super) fn new(state: &'a RunState, task: &'a Task, since: Option<Timestamp>) -> Self {
        let touch = state
            .plan
            .group_of(&task.id)
            .into_iter()
            .flat_map(|(_, group)| group.may_touch.iter());
        let listed: Vec<&str> = task
            .files
            .iter()
            .map(|file| &file.path)
            .chain(touch)
            .map(String::as_str)
            .collect();
        let others = concurrent_paths(UnlistedFiles::Fail, state, task, since);
        Self {
            state,
            listed: (!listed.is_empty()).then(|| paths_within(&listed)),
            of_others: paths_within(&others),
        }
    }

    pub(super) fn covers(&self, file: &str) -> bool {
        let is_listed = match &self.listed {
            Some(listed) => listed.covers(file),
            None => !is_of_plan(self.state, file),
        };
        is_listed && !file.starts_with("../") && !self.of_others.covers(file)
    }
}

/// Paths that stay in the project: one that leads out of it would stand for anything.
fn paths_within(paths: &[&str]) -> PlannedPaths {
    PlannedPaths::new(
        paths
            .iter()
            .copied()
            .filter(|path| normalize_path(path).is_some()),
    )
}

/// `true` for the plan's own file, or one of a folder that is one plan.
pub(super) fn is_of_plan(state: &RunState, file: &str) -> bool {
    let plan = &state.plan.source.path;
    file == plan || path_covers(plan, file) && Dialect::of_place(file) == Some(state.plan.dialect)
}

pub(super) fn files_out_of_scope(
    unlisted: UnlistedFiles,
    state: &RunState,
    task: &Task,
    files: &[String],
) -> Vec<String> {
    let scope = allowed_paths(unlisted, state, task);
    files
        .iter()
        .filter(|file| !scope.is_empty() && !scope.iter().any(|named| path_covers(named, file)))
        .cloned()
        .collect()
}

/// Files that the checks of a plan run or obey, and that a task does not list; manifests are changed by any work.
pub(super) fn judging_files(state: &RunState, task: &Task, mut files: Vec<String>) -> Vec<String> {
    let words: BTreeSet<String> = state
        .plan
        .labeled_checks()
        .flat_map(|(_, check)| file_words(&check.command))
        .collect();
    files.retain(|file| {
        let is_listed = task
            .files
            .iter()
            .any(|listed| path_covers(&listed.path, file));
        !is_listed && steers_checks(file, &words)
    });
    files
}

/// `true` for a file that checks with these words may run or obey; manifests are changed by any work.
pub(super) fn steers_checks(file: &str, words: &BTreeSet<String>) -> bool {
    !is_manifest(file) && (may_steer(file) || is_shell_script(file) && is_named(file, words))
}

/// Paths of a task, and of its session if it names none or its user lets it; empty for all paths.
pub(super) fn allowed_paths<'a>(
    unlisted: UnlistedFiles,
    state: &'a RunState,
    task: &'a Task,
) -> Vec<&'a str> {
    let named = task.files.iter().map(|file| file.path.as_str());
    let is_widened = task.files.is_empty() || unlisted == UnlistedFiles::Include;
    let group = state.plan.group_of(&task.id).filter(|_| is_widened);
    named
        .chain(
            group
                .into_iter()
                .flat_map(|(_, group)| group.may_touch.iter().map(String::as_str)),
        )
        .collect()
}

/// Paths of tasks with other workers in the same work tree: a file that one of them names is its own.
pub(super) fn concurrent_paths<'a>(
    unlisted: UnlistedFiles,
    state: &'a RunState,
    unit: &Task,
    since: Option<Timestamp>,
) -> Vec<&'a str> {
    let has_worktree = state.parallel.is_some();
    state
        .plan
        .tasks
        .iter()
        .filter(|task| {
            let task_state = state
                .tasks
                .get(&task.id)
                .filter(|_| !has_worktree && task.id != unit.id);
            task_state.is_some_and(|task_state| {
                let ended_since = task_state.last_end.is_some()
                    && task_state
                        .updated_at
                        .zip(since)
                        .is_some_and(|(at, since)| at > since);
                task_state.running.is_some() || ended_since
            })
        })
        .flat_map(|task| allowed_paths(unlisted, state, task))
        .collect()
}
