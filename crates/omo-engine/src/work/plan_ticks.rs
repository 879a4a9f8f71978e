//! Ticks in the plan's file: omo fills the checkbox of a done task, and clears it when the task is
//! done again. The file is read as it is then; the next command makes up for a kill in between.

use std::fs;
use std::path::Path;

use omo_git::changes::{PathChange, TreeSnapshot};
use omo_git::commit_preview::head_commit;
use omo_git::integrate::committed_file;
use omo_git::repository::GitRepository;
use omo_plan::dialects::{self, PlanChange};
use omo_plan::digest::sha256_hex;
use omo_plan::model::{MAX_PLAN_BYTES, Plan, PlannedState, Task};
use omo_state::files::project_file::ProjectFile;

use super::plan_file::describe_edit;
use super::{Engine, EngineError};
use crate::event::EventKind;
use crate::state::{RunState, TaskStatus};

/// Reads of the file before giving up: another program may save it at the same moment.
const ATTEMPTS: usize = 2;

#[derive(Debug, Default)]
struct DueTicks<'s> {
    done: Vec<&'s Task>,
    open: Vec<&'s Task>,
}

impl<'s> DueTicks<'s> {
    fn of(state: &'s RunState) -> Self {
        if state.plan.source.sha256_without_state.is_none() || state.tick_refusal.is_some() {
            return Self::default();
        }
        let (mut done, mut open): (Vec<&Task>, Vec<&Task>) = state
            .plan
            .work_tasks()
            .partition(|task| state.status_of(&task.id) == TaskStatus::Passed);
        done.retain(|task| !state.ticked.contains(&task.id));
        open.retain(|task| state.ticked.contains(&task.id));
        Self { done, open }
    }

    /// Ticks of tasks whose work is in the user's files: that of parallel workers is only once their branch has moved.
    fn of_checkout(state: &'s RunState) -> Self {
        let is_there = state
            .parallel
            .as_ref()
            .is_none_or(|parallel| parallel.landed.is_some());
        if is_there {
            Self::of(state)
        } else {
            Self::default()
        }
    }

    fn is_empty(&self) -> bool {
        self.done.is_empty() && self.open.is_empty()
    }
}

#[derive(Debug)]
pub(crate) struct TickedPlan {
    pub text: String,
    ticked: Vec<String>,
    opened: Vec<String>,
    is_known: bool,
}

impl TickedPlan {
    /// The event of the ticks; `tip` is the commit that has them, if they were committed.
    pub(crate) fn to_event(&self, tip: Option<String>) -> EventKind {
        EventKind::PlanTicked {
            ticked: self.ticked.clone(),
            opened: self.opened.clone(),
            plan_sha256: self.is_known.then(|| sha256_hex(self.text.as_bytes())),
            tip,
        }
    }
}

/// Ticks passed tasks in a plan's text once all work is merged; `None` where no tick is due.
pub(crate) fn tick_merged(state: &RunState, bytes: &[u8]) -> Option<TickedPlan> {
    tick_text(
        state,
        bytes,
        &DueTicks {
            open: Vec::new(),
            ..DueTicks::of(state)
        },
    )
}

/// A plan's text with the due ticks. A task with another text than the run's is left as it is, and so is a missing one.
fn tick_text(state: &RunState, bytes: &[u8], due: &DueTicks<'_>) -> Option<TickedPlan> {
    let mut text = std::str::from_utf8(bytes).ok()?.to_owned();
    let now = dialects::read(&state.plan.source.path, bytes, &state.plan);
    if now.dialect != state.plan.dialect {
        return None;
    }
    let ticked = write_back(&mut text, &now, &due.done, |task| PlanChange::Done { task });
    let opened = write_back(&mut text, &now, &due.open, |task| PlanChange::Open { task });
    let is_known = is_known(state, now);
    (!ticked.is_empty() || !opened.is_empty()).then_some(TickedPlan {
        text,
        ticked,
        opened,
        is_known,
    })
}

fn write_back(
    text: &mut String,
    now: &Plan,
    tasks: &[&Task],
    change: fn(&str) -> PlanChange<'_>,
) -> Vec<String> {
    let mut written = Vec::new();
    for task in tasks {
        let is_same = now
            .task(&task.id)
            .is_some_and(|now| now.body_sha256 == task.body_sha256);
        if is_same && let Some(changed) = now.dialect.rules().write_back(text, &change(&task.id)) {
            *text = changed;
            written.push(task.id.clone());
        }
    }
    written
}

fn is_known(state: &RunState, now: Plan) -> bool {
    state.plan_sha256 == now.source.sha256 || describe_edit(state, now).is_none()
}

/// `None` where nothing was written: the file is gone, or has no such task; an error is why it is left as it is.
fn tick_file(
    engine: &Engine<'_>,
    state: &RunState,
    due: &DueTicks<'_>,
) -> Result<Option<EventKind>, String> {
    let file = ProjectFile::at(engine.root, &state.plan.source.path)
        .ok_or_else(|| "it is outside of the project".to_owned())?;
    for _ in 0..ATTEMPTS {
        let Some(before) = file
            .read(MAX_PLAN_BYTES)
            .map_err(|error| error.to_string())?
        else {
            return Ok(None);
        };
        let Some(ticked) = tick_text(state, &before, due) else {
            return Ok(None);
        };
        let is_written = ticked.text.as_bytes() == before;
        if !is_written
            && fs::metadata(file.path()).is_ok_and(|found| found.permissions().readonly())
        {
            return Err("it is read-only".to_owned());
        }
        if is_written
            || file
                .replace_unchanged(&before, ticked.text.as_bytes())
                .map_err(|error| error.to_string())?
        {
            return Ok(Some(ticked.to_event(None)));
        }
    }
    let path = &state.plan.source.path;
    (engine.warn)(&format!(
        "{path} is being written by another program; the next command ticks what has passed"
    ));
    Ok(None)
}

impl Engine<'_> {
    /// Ticks the plan's file. The caller holds the lock of the files.
    pub(super) fn tick_plan(&self, state: RunState) -> Result<RunState, EngineError> {
        if DueTicks::of_checkout(&state).is_empty() {
            return Ok(state);
        }
        // Another process may have ticked it before this one held the lock.
        let state = self.run.state()?;
        let due_ticks = DueTicks::of_checkout(&state);
        if due_ticks.is_empty() {
            return Ok(state);
        }
        let event = match tick_file(self, &state, &due_ticks) {
            Ok(None) => return Ok(state),
            Ok(Some(event)) => event,
            Err(reason) => {
                let path = &state.plan.source.path;
                (self.warn)(&format!(
                    "what has passed is not ticked in {path}, which is left as it is: {reason}"
                ));
                EventKind::PlanNotTicked { reason }
            }
        };
        let ((), state) = self
            .run
            .transact(&self.caller.actor, (self.now)(), |_| Ok((vec![event], ())))?;
        Ok(state)
    }

    /// Event for a worker's own tick of a task that has not passed, so that omo opens it again.
    pub(super) fn worker_tick(&self, state: &RunState, task: &Task) -> Option<EventKind> {
        state
            .plan
            .source
            .sha256_without_state
            .as_ref()
            .filter(|_| self.work_tree.root() == self.root && task.state != PlannedState::Done)?;
        let path = &state.plan.source.path;
        let bytes = ProjectFile::at(self.root, path)?
            .read(MAX_PLAN_BYTES)
            .ok()??;
        let now = dialects::read(path, &bytes, &state.plan);
        let ticked = vec![
            now.task(&task.id)
                .filter(|now| now.state == PlannedState::Done)?
                .id
                .clone(),
        ];
        Some(EventKind::PlanTicked {
            ticked,
            opened: Vec::new(),
            plan_sha256: None,
            tip: None,
        })
    }

    /// Undoes ticks of workers in worktrees, which could conflict: omo ticks once all is merged.
    pub(super) fn take_back_worker_ticks(&self, state: &RunState) {
        if state.parallel.is_some() && self.work_tree.root() != self.root {
            // A tick that stays is judged like every other change.
            let _ = self.restore_plan_of_worker(state);
        }
    }

    fn restore_plan_of_worker(&self, state: &RunState) -> Option<()> {
        let path = &state.plan.source.path;
        let file = ProjectFile::at(self.work_tree.root(), path)?;
        let now = file.read(MAX_PLAN_BYTES).ok()??;
        let repository = self.work_tree.repository()?;
        let name = path_in_repository(&repository, self.work_tree.root(), path)?;
        let committed =
            committed_file(&repository, &head_commit(&self.work_tree)?, &name).ok()??;
        if open_text(state, now.clone())? != open_text(state, committed.bytes.clone())? {
            return None;
        }
        // git may have checked it out with other line ends.
        let text = String::from_utf8(committed.bytes).ok()?;
        let has_returns = now.windows(2).any(|pair| pair == b"\r\n") && !text.contains('\r');
        let text = if has_returns {
            text.replace('\n', "\r\n")
        } else {
            text
        };
        file.replace_unchanged(&now, text.as_bytes()).ok().map(drop)
    }

    /// `found` without the plan's file, where that differs in ticks alone.
    pub(super) fn without_ticked_plan(
        &self,
        state: &RunState,
        from: &TreeSnapshot,
        to: &TreeSnapshot,
        mut found: Vec<PathChange>,
    ) -> Vec<PathChange> {
        let is_plan = |change: &PathChange| change.path == state.plan.source.path;
        if found.iter().any(is_plan) && self.is_plan_only_ticked(state, from, to) {
            found.retain(|change| !is_plan(change));
        }
        found
    }

    fn is_plan_only_ticked(
        &self,
        state: &RunState,
        from: &TreeSnapshot,
        to: &TreeSnapshot,
    ) -> bool {
        let open = |tree: &TreeSnapshot| {
            open_text(state, self.snapshots().file(tree, &state.plan.source.path)?)
        };
        open(from).is_some_and(|before| open(to) == Some(before))
    }
}

/// Path of a project's file from the top of the repository; `None` outside of it.
pub(crate) fn path_in_repository(
    repository: &GitRepository,
    root: &Path,
    path: &str,
) -> Option<String> {
    let root = root.canonicalize().ok()?;
    let inner = root.strip_prefix(repository.top()).ok()?.join(path);
    Some(inner.to_str()?.replace('\\', "/")).filter(|path| !path.starts_with('/'))
}

/// A plan's text with every task open, whatever its lines end with; `None` where its dialect keeps no state in it.
fn open_text(state: &RunState, bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    Some(
        state
            .plan
            .dialect
            .rules()
            .without_state(&text)?
            .replace("\r\n", "\n"),
    )
}
