//! Checks of passed tasks, run again where a run that is over goes on and its files have changed since.

use omo_checks::task_check;
use omo_git::changes::TreeSnapshot;
use omo_git::snapshots::Snapshots;
use omo_plan::model::{FileAction, Plan, Task, TaskKind};
use omo_plan::paths::path_covers;
use omo_plan::proof::ProofSource;

use super::own_files::is_of_plan;
use super::start::tree_from_text;
use super::{CommandWatcher, Engine, EngineError};
use crate::event::AttemptEnd;
use crate::rounds;
use crate::state::{RunPhase, RunState, TaskStatus};
use crate::work::baseline::files_written_by_omo;

impl Engine<'_> {
    /// Tasks whose work does not hold any more, each with the reason: passed ones with a red check, and those that it
    /// proves. A check that cannot be run says nothing; the work of parallel workers is not in the checkout.
    ///
    /// # Errors
    /// [`EngineError::Cancelled`] where the watcher ends a check.
    pub fn broken_tasks(
        &self,
        state: &RunState,
        plan: &Plan,
        watcher: &mut impl CommandWatcher,
    ) -> Result<Vec<(String, String)>, EngineError> {
        let is_over = state.phase != RunPhase::Executing && state.parallel.is_none();
        if !is_over {
            return Ok(Vec::new());
        }
        let own = files_written_by_omo(state);
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        let snapshots = Snapshots {
            own: &own,
            ..self.snapshots()
        };
        let now = snapshots.take_tree();
        let changed_since = |tree: Option<TreeSnapshot>| {
            let changed = snapshots.changed_paths(&tree?, now.as_ref()?)?;
            let paths = changed.into_iter().map(|change| change.path);
            Some(paths.filter(|path| !is_of_plan(state, path)).collect())
        };
        let since_judged = changed_since(judged_tree(state));
        let passed = plan.tasks.iter().filter(|task| {
            task.kind != TaskKind::Tests
                && state.status_of(&task.id) == TaskStatus::Passed
                // A task with another text is done again in any case.
                && state.plan.task(&task.id).is_some_and(|known| known.body_sha256 == task.body_sha256)
        });
        let mut broken = Vec::new();
        for task in passed {
            let end = state
                .tasks
                .get(&task.id)
                .and_then(|known| known.last_end.as_ref());
            if self.is_as_judged(task, end, since_judged.as_deref(), changed_since) {
                continue;
            }
            if let Some(reason) = self.red_check_of(task, watcher)? {
                broken.push((task.id.clone(), reason));
                let by_proof = format!("{}, which proves it, is red", task.id);
                let proved = tasks_proved_by(state, &task.id);
                broken.extend(proved.map(|id| (id.to_owned(), by_proof.clone())));
            }
        }
        Ok(broken)
    }

    /// `true` where nothing changed since the last task was judged, and none of its own files since it was judged itself. A
    /// tree has no ignored files.
    fn is_as_judged(
        &self,
        task: &Task,
        end: Option<&AttemptEnd>,
        since_judged: Option<&[String]>,
        changed_since: impl Fn(Option<TreeSnapshot>) -> Option<Vec<String>>,
    ) -> bool {
        let (Some([]), Some(end)) = (since_judged, end) else {
            return false;
        };
        let tree = end.tree.as_deref().and_then(tree_from_text);
        let is_own = |path: &String| {
            end.files.contains(path) || task.files.iter().any(|file| path_covers(&file.path, path))
        };
        end.needed_ignored.is_empty()
            && changed_since(tree).is_some_and(|changed| !changed.iter().any(is_own))
            && task
                .files
                .iter()
                .filter(|file| file.action == FileAction::Create)
                .all(|file| self.work_tree.root().join(&file.path).exists())
    }

    fn red_check_of(
        &self,
        task: &Task,
        watcher: &mut impl CommandWatcher,
    ) -> Result<Option<String>, EngineError> {
        for (place, check) in task.checks.iter().enumerate() {
            watcher.begins(&check.command, place, task.checks.len());
            let outcome = task_check::run(
                check,
                self.work_tree.root(),
                self.environment,
                None,
                // The run is over.
                self.is_wanted_while(watcher, |_| true),
            );
            let outcome = outcome.ok_or(EngineError::Cancelled)?;
            if let Some(reason) = rounds::red_reason(&check.command, &outcome) {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }
}

/// Tree at the end of the attempt that was judged last.
fn judged_tree(state: &RunState) -> Option<TreeSnapshot> {
    let ends = state.tasks.values().filter_map(|task| {
        let tree = task.last_end.as_ref()?.tree.as_deref()?;
        Some((task.updated_at, tree))
    });
    let (_, tree) = ends.max_by_key(|(at, _)| *at)?;
    tree_from_text(tree)
}

fn tasks_proved_by<'s>(state: &'s RunState, judge: &str) -> impl Iterator<Item = &'s str> {
    state.tasks.iter().filter_map(move |(id, task)| {
        let is_proved =
            matches!(&task.proved_by, Some(ProofSource::Task(source)) if source == judge);
        is_proved.then_some(id.as_str())
    })
}
