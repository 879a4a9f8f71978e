//! Checks of passed tasks, run again where a run that is over goes on and its files have changed since.

use omo_checks::task_check;
use omo_git::changes::TreeSnapshot;
use omo_plan::model::{Plan, Task, TaskKind};
use omo_plan::proof::ProofSource;

use super::own_files::is_of_plan;
use super::start::tree_from_text;
use super::{CommandWatcher, Engine, EngineError};
use crate::rounds;
use crate::state::{RunPhase, RunState, TaskStatus};

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
        if !is_over || self.is_as_judged(state) {
            return Ok(Vec::new());
        }
        let passed = plan.tasks.iter().filter(|task| {
            task.kind != TaskKind::Tests
                && state.status_of(&task.id) == TaskStatus::Passed
                // A task with another text is done again in any case.
                && state.plan.task(&task.id).is_some_and(|known| known.body_sha256 == task.body_sha256)
        });
        let mut broken = Vec::new();
        for task in passed {
            if let Some(reason) = self.red_check_of(task, watcher)? {
                broken.push((task.id.clone(), reason));
                let by_proof = format!("{}, which proves it, is red", task.id);
                let proved = tasks_proved_by(state, &task.id);
                broken.extend(proved.map(|id| (id.to_owned(), by_proof.clone())));
            }
        }
        Ok(broken)
    }

    /// `true` for the files that the checks of the last task judged, the plan aside. A tree has no ignored files.
    fn is_as_judged(&self, state: &RunState) -> bool {
        let mut ends = state
            .tasks
            .values()
            .filter_map(|task| task.last_end.as_ref());
        if ends.any(|end| !end.needed_ignored.is_empty()) {
            return false;
        }
        let changed = self.with_snapshots(state, |snapshots| {
            let trees = judged_tree(state).zip(snapshots.take_tree());
            Ok(trees.and_then(|(judged, now)| snapshots.changed_paths(&judged, &now)))
        });
        matches!(changed, Ok(Some(changed)) if changed.iter().all(|change| is_of_plan(state, &change.path)))
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
