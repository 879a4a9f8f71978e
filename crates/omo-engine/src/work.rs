//! `Engine`: each verb, such as `start` or `done`, as a transaction on a run's ledger, and the files made from it.

mod attempt;
mod baseline;
mod checkout;
mod commit;
mod committed_work;
mod evidence;
pub(crate) mod guard_reading;
mod kept;
pub mod moved_run;
mod own_files;
mod plan_file;
mod plan_ticks;
mod recheck;
mod run_watcher;
mod start;
mod task_proof;

use std::path::{Path, PathBuf};
use std::slice;
use std::time::Duration;

use omo_core::timestamp::Timestamp;
use omo_git::exclude;
use omo_git::integrate::{self, CheckoutHead};
use omo_git::proved_worktree::{ProvedWorktree, WorktreeGone};
use omo_git::repository::GitRepository;
use omo_git::restore::RestoreError;
use omo_git::worktree::WorkerName;
use omo_plan::refusal::{VerbRefusal, VerbRefusalKind};
use omo_process::environment::CheckEnvironment;
use omo_process::process_identity;
use omo_state::config::UnlistedFiles;
use omo_state::git_worktree::GitWorktree;

use crate::client_policy::ClientPolicy;
use crate::event::{EventActor, EventKind, MissingCommit, RecordedProcess, RunEvent};
use crate::parallel_schedule;
use crate::parallel_state::ParallelState;
use crate::program_files::{ultraexecute_progress, ultraexecute_summary};
use crate::projection::{self, FileDrift, Projection, ProjectionError};
use crate::report::ultraplan;
use crate::state::RunState;
use crate::verbs::{self, VerbCaller};
use crate::{Run, RunStoreError, TransactError};

pub use attempt::{CompletionReport, JudgedAttempt, WorkResult, WorkerCommit};
pub use checkout::read_checkout;
pub(crate) use committed_work::is_preview_worker;
pub use evidence::{RecordedEvidence, VerdictOutcome};
pub use plan_file::{PlanEdit, PlanFile, PlanFileError, find_edit, read_plan_bytes, write_choices};
pub(crate) use plan_ticks::{path_in_repository, tick_merged};
pub(crate) use start::tree_from_text;
pub use start::{RunOpening, StartedTask, planned_commands, shown_plan_digest, task_brief};

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("{}", .0.message)]
    Refused(VerbRefusal),
    #[error(transparent)]
    RunStore(#[from] RunStoreError),
    /// Files made from the ledger that could not be written. The verb stands in the ledger.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    #[error(transparent)]
    PlanFile(#[from] PlanFileError),
    #[error(transparent)]
    Restore(#[from] RestoreError),
    #[error(transparent)]
    WorktreeGone(#[from] WorktreeGone),
    #[error(
        "its run was cancelled or stopped, or its attempt ended, before this was done, and nothing of it counts"
    )]
    Cancelled,
}

impl From<TransactError> for EngineError {
    fn from(error: TransactError) -> Self {
        match error {
            TransactError::Refused(refusal) => Self::Refused(refusal),
            TransactError::RunStore(error) => Self::RunStore(error),
        }
    }
}

#[derive(Debug)]
pub struct Engine<'a> {
    pub run: &'a Run,
    /// Top of the project's work tree, with the plan and the files for other programs.
    pub root: &'a Path,
    /// The work tree of the work: the user's own, or that of a session.
    pub work_tree: ProvedWorktree,
    pub state_home: &'a Path,
    pub caller: VerbCaller,
    pub environment: &'a CheckEnvironment,
    pub now: fn() -> Timestamp,
    /// The folder that the plugin keeps over its updates, where known.
    pub plugin_data: Option<&'a Path>,
    pub unlisted_files: UnlistedFiles,
    /// Prints a warning that holds nothing up.
    pub warn: fn(&str),
}

/// Progress of a verb that takes long, for the user.
pub trait CommandWatcher {
    /// Start of a check, at `_place` from 0 of `_of` checks.
    fn begins(&mut self, _command: &str, _place: usize, _of: usize) {}
    fn copies(&mut self, _file_count: usize) {}
    /// Start of a check in a copy, with the work or without it.
    fn compares(&mut self, _command: &str, _with_work: bool) {}
    /// Asked again and again during a wait; `false` ends the verb and its processes.
    fn should_continue(&mut self) -> bool {
        true
    }
}

#[derive(Debug)]
pub struct SilentWatcher;

impl CommandWatcher for SilentWatcher {}

/// The recorded process still lives; `None` where unknown.
pub fn is_alive(process: &RecordedProcess) -> Option<bool> {
    let lives = process_identity::is_alive(process.pid)?;
    let same = process
        .mark
        .as_ref()
        .is_none_or(|mark| process_identity::start_mark(process.pid).as_ref() == Some(mark));
    Some(lives && same)
}

/// The work tree of a parallel worker; `None` without one.
pub fn worker_tree(
    state: &RunState,
    run: &str,
    group: &str,
) -> Option<Result<ProvedWorktree, WorktreeGone>> {
    let folder = Path::new(
        state
            .parallel
            .as_ref()?
            .groups
            .get(group)?
            .worktree
            .as_ref()?,
    );
    let repository =
        GitRepository::find(Path::new(&state.root)).zip(WorkerName::new(run, group).ok());
    Some(
        repository
            .ok_or_else(|| WorktreeGone::NoFolder(folder.to_owned()))
            .and_then(|(found, name)| ProvedWorktree::of_worker(&found, &name, folder)),
    )
}

impl Engine<'_> {
    #[must_use]
    pub fn in_tree(&self, tree: ProvedWorktree) -> Self {
        Self {
            work_tree: tree,
            caller: self.caller.clone(),
            ..*self
        }
    }
}

impl Engine<'_> {
    /// Writes the events that join the caller to the run, those of `decide`, and those that follow: all or none.
    pub fn transact<T>(
        &self,
        decide: impl FnOnce(&RunState) -> Result<(Vec<EventKind>, T), VerbRefusal>,
    ) -> Result<(T, RunState), EngineError> {
        self.transact_after(
            |state| verbs::join_run(state, &self.caller, &is_alive),
            decide,
        )
    }

    /// State after the events that are due without a verb; without any, takes no lock and reads no ledger.
    pub fn apply_due_events(&self, state: RunState) -> Result<RunState, EngineError> {
        let state = self.restored_if_possible(state)?;
        let before =
            verbs::join_run(&state, &self.caller, &is_alive).map_err(EngineError::Refused)?;
        if before.is_empty() && verbs::automatic_event(&state).is_none() {
            return self.write_projections(state);
        }
        Ok(self.transact(|_| Ok((Vec::new(), ())))?.1)
    }

    pub fn take_over<T>(
        &self,
        decide: impl FnOnce(&RunState) -> Result<(Vec<EventKind>, T), VerbRefusal>,
    ) -> Result<(T, RunState), EngineError> {
        let (value, state) = self.transact_after(
            |state| Ok(verbs::take_over_run(state, &self.caller)),
            decide,
        )?;
        if self.run.lock_branch(Duration::ZERO)?.is_some() {
            self.settle_commit(&state)
                .iter()
                .for_each(|line| (self.warn)(line));
        }
        Ok((value, state))
    }

    fn transact_after<T>(
        &self,
        before: impl FnOnce(&RunState) -> Result<Vec<EventKind>, VerbRefusal>,
        decide: impl FnOnce(&RunState) -> Result<(Vec<EventKind>, T), VerbRefusal>,
    ) -> Result<(T, RunState), EngineError> {
        let (now, actor) = ((self.now)(), &self.caller.actor);
        let mut is_over = false;
        let (value, state) = self.run.transact(actor, now, |state| {
            let mut batch = EventBatch::new(state.clone(), actor, now);
            batch.apply_all(before(state)?);
            let (events, value) = decide(&batch.state)?;
            batch.apply_all(events);
            if let Some(parallel) = parallel_schedule::landed_with_more_work(&batch.state) {
                let set_apart = self.parallel_restart_event(parallel)?;
                batch.apply(set_apart);
            }
            batch.advance(|state| self.missing_commits(state));
            is_over = batch
                .events
                .iter()
                .any(|event| matches!(event, EventKind::RunEnded { .. }));
            Ok((batch.events, value))
        })?;
        // The caller that wrote the end counts it, and no other caller does.
        if let (true, true, Some(folder)) = (is_over, state.is_ultraplan(), self.plugin_data) {
            crate::projection::stats::append_stats(
                folder,
                &ultraexecute_summary::stats_line(&state, ultraplan::scope_of(&state), now),
            );
        }
        Ok((value, self.write_projections(state)?))
    }

    /// Start of further sessions from the tip of the user's branch; refused where it lacks the work that has landed.
    fn parallel_restart_event(&self, parallel: &ParallelState) -> Result<EventKind, VerbRefusal> {
        let started = begin_parallel(self.root, parallel.policy.clone()).ok_or_else(|| {
            VerbRefusal::precondition(
                "no branch is checked out that what is still to be done could move",
                "check one out, then run it again",
            )
        })?;
        if let (EventKind::ParallelStarted { base, .. }, Some((_, landed))) =
            (&started, &parallel.landed)
        {
            let has_landed = GitRepository::find(self.root)
                .and_then(|found| found.contains(base, slice::from_ref(landed)).ok());
            if has_landed != Some(true) {
                return Err(VerbRefusal::precondition(
                    "the branch that is checked out does not have what this run has done, and it would not be done again",
                    "check out one that has it, then run this again; a run of its own does all of the plan: `omo run start PLAN`",
                ));
            }
        }
        Ok(started)
    }

    /// As [`Engine::write_projections`], for a run that is over: files that a later run wrote stay.
    pub fn write_projections_if_last(&self, state: RunState) -> Result<RunState, EngineError> {
        let state = self.restored_if_possible(state)?;
        let (folder, memory) = self.files_for_others(&state);
        let is_last = Projection::new(folder, &memory, self.run.id()).is_last()?;
        if is_last {
            self.write_projections(state)
        } else {
            Ok(state)
        }
    }

    /// Folder of the files for other programs, for a task list its own, and the file that remembers their texts.
    fn files_for_others<'s>(&'s self, state: &'s RunState) -> (&'s Path, PathBuf) {
        let runs = self.run.folder().parent().unwrap_or(self.run.folder());
        let folder = if state.is_task_list() {
            Path::new(&state.plan.source.path)
        } else {
            self.root
        };
        (folder, projection::memory_path(runs, folder))
    }

    fn write_files(&self, state: &RunState) -> Result<Vec<FileDrift>, ProjectionError> {
        if let (true, Some(tree)) = (state.is_ultraplan(), GitWorktree::find(self.root)) {
            // Best effort: otherwise `git status` shows the progress file.
            let _ = exclude::add_exclude_line(&tree, ultraexecute_progress::IGNORE_PATTERN);
        }
        let (folder, memory) = self.files_for_others(state);
        Projection::new(folder, &memory, self.run.id()).write(state)
    }

    /// Ticks the plan's file, writes the files for other programs, and notes edits of these, if there is a work tree.
    pub fn write_projections(&self, state: RunState) -> Result<RunState, EngineError> {
        if moved_run::is_gone(&state) {
            return Ok(state);
        }
        let _alone = self.run.lock_files()?;
        let state = self.tick_plan(state)?;
        let drifts = match self.write_files(&state) {
            // omo does not read the progress file, and a plan may lie where no file can be written.
            Err(error) if state.is_ultraplan() || self.caller.group.is_some() => {
                return Ok(self.warn_unwritten(state, &error));
            }
            written => written?,
        };
        if drifts.is_empty() {
            return Ok(state);
        }
        let (now, actor) = ((self.now)(), &self.caller.actor);
        let events: Vec<EventKind> = drifts
            .into_iter()
            .map(|drift| EventKind::ProjectionChanged {
                file: drift.file,
                backup: drift.kept,
            })
            .collect();
        let ((), state) = self.run.transact(actor, now, |_| Ok((events, ())))?;
        self.write_files(&state)?;
        Ok(state)
    }

    /// Warns, except in a client of the run: the supervisor writes the progress file for it.
    fn warn_unwritten(&self, state: RunState, error: &ProjectionError) -> RunState {
        if self.caller.group.is_none() {
            (self.warn)(&format!(
                "the progress file was not written, and the run goes on without it: {error}"
            ));
        }
        state
    }

    /// Refuses a plan file that differs from the run's plan, and names the differences.
    pub fn require_unedited_plan(&self, state: &RunState) -> Result<(), EngineError> {
        let Some(edit) = plan_file::find_edit(self.root, state)? else {
            return Ok(());
        };
        Err(EngineError::Refused(VerbRefusal {
            kind: VerbRefusalKind::Precondition,
            message: format!("{} was edited since the run knows it: {edit}", state.plan.source.path),
            hint: "`omo run resume` takes the edit in; what passed and was changed in it is done again"
                .to_owned(),
        }))
    }
}

/// Events of a transaction, and the state after them.
struct EventBatch<'a> {
    state: RunState,
    events: Vec<EventKind>,
    actor: &'a EventActor,
    now: Timestamp,
}

impl<'a> EventBatch<'a> {
    fn new(state: RunState, actor: &'a EventActor, now: Timestamp) -> Self {
        Self {
            state,
            events: Vec::new(),
            actor,
            now,
        }
    }

    fn apply_all(&mut self, events: Vec<EventKind>) {
        for kind in events {
            self.apply(kind);
        }
    }

    fn apply(&mut self, kind: EventKind) {
        let event = RunEvent {
            seq: self.state.seq + 1,
            ts: self.now,
            actor: self.actor.clone(),
            kind,
        };
        // An impossible event is refused by the ledger, which applies every event again.
        let _ = self.state.apply(&event);
        self.events.push(event.kind);
    }

    /// Adds the events that follow by themselves, such as a due question; once, before an end, also missing commits.
    fn advance(&mut self, missing_commits: impl FnOnce(&RunState) -> Vec<MissingCommit>) {
        let mut look = Some(missing_commits);
        while let Some(kind) = verbs::automatic_event(&self.state) {
            if let (EventKind::RunEnded { .. }, Some(missing_commits)) = (&kind, look.take()) {
                let commits = missing_commits(&self.state);
                if commits != self.state.missing_commits {
                    self.apply(EventKind::CommitsMissing { commits });
                    continue;
                }
            }
            self.apply(kind);
        }
    }
}

/// Begins parallel work, from the tip of the user's branch; `None` where no branch with commits is checked out.
pub fn begin_parallel(root: &Path, policy: ClientPolicy) -> Option<EventKind> {
    let facts = integrate::read_checkout_facts(&GitRepository::find(root)?).ok()?;
    let CheckoutHead::Branch { reference, commit } = facts.head else {
        return None;
    };
    Some(EventKind::ParallelStarted {
        base: commit,
        policy: ClientPolicy {
            branch: reference,
            ..policy
        },
    })
}

/// The first events of a run after `opened`: `known`, those that the plan implies, and those that follow by themselves.
pub fn opening_events(
    opened: EventKind,
    known: Vec<EventKind>,
    actor: &EventActor,
    now: Timestamp,
) -> Vec<EventKind> {
    let implied = match &opened {
        EventKind::RunOpened { plan, .. } => verbs::opening_events(plan),
        _ => Vec::new(),
    };
    let event = RunEvent {
        seq: 1,
        ts: now,
        actor: actor.clone(),
        kind: opened,
    };
    let Ok(state) = RunState::from_first_event(&event) else {
        return Vec::new();
    };
    let mut batch = EventBatch::new(state, actor, now);
    batch.apply_all(known);
    batch.apply_all(implied);
    batch.advance(|_| Vec::new());
    batch.events
}
