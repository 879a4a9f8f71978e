//! What the verbs do with a run: each of them a transaction on its ledger, with the files and processes
//! that it takes around that.

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
mod run_watcher;
mod start;
mod task_proof;

use std::path::{Path, PathBuf};
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
pub use start::{RunOpening, StartedTask, planned_commands, task_brief};

/// Why a verb did nothing, or not all of it.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// It is not to be done.
    #[error("{}", .0.message)]
    Refused(VerbRefusal),
    /// The ledger could not be used.
    #[error(transparent)]
    RunStore(#[from] RunStoreError),
    /// The files that are made from the ledger could not be written. What the verb did stands in the
    /// ledger.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// The plan's file could not be.
    #[error(transparent)]
    PlanFile(#[from] PlanFileError),
    /// The work tree could not be kept as it is, or not be put back.
    #[error(transparent)]
    Restore(#[from] RestoreError),
    /// The work tree of the worker is not there, or no longer its own.
    #[error(transparent)]
    WorktreeGone(#[from] WorktreeGone),
    /// What ran for it was ended.
    #[error("its run was cancelled or stopped, or its attempt ended, before this was done, and nothing of it counts")]
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

/// A run, and the caller that does something with it.
#[derive(Debug)]
pub struct Engine<'a> {
    /// The run.
    pub run: &'a Run,
    /// The top of the project's work tree, in which the plan and the files for others are.
    pub root: &'a Path,
    /// The work tree that is worked in: the user's own, or that of a session.
    pub work_tree: ProvedWorktree,
    /// The user's own state folder.
    pub state_home: &'a Path,
    /// Who asks.
    pub caller: VerbCaller,
    /// What every check gets.
    pub environment: &'a CheckEnvironment,
    /// Reads the clock.
    pub now: fn() -> Timestamp,
    /// The folder that the plugin keeps over its updates, where it is known.
    pub plugin_data: Option<&'a Path>,
    /// What becomes of a task whose commit would lack files that it made.
    pub unlisted_files: UnlistedFiles,
    /// Tells what holds nothing up.
    pub warn: fn(&str),
}

/// What the user sees while a verb takes its time.
pub trait CommandWatcher {
    /// A check begins.
    fn begins(&mut self, _command: &str, _place: usize, _of: usize) {}
    /// So many files are copied for a run of the checks without the work.
    fn copies(&mut self, _file_count: usize) {}
    /// A check begins in a copy, with the work or without it.
    fn compares(&mut self, _command: &str, _with_work: bool) {}
    /// Time goes by. `false` ends everything.
    fn should_continue(&mut self) -> bool {
        true
    }
}

/// For those who show nothing.
#[derive(Debug)]
pub struct SilentWatcher;

impl CommandWatcher for SilentWatcher {}

/// Whether a process that was written down still lives.
pub fn is_alive(process: &RecordedProcess) -> Option<bool> {
    let lives = process_identity::is_alive(process.pid)?;
    let same =
        process.mark.as_ref().is_none_or(|mark| process_identity::start_mark(process.pid).as_ref() == Some(mark));
    Some(lives && same)
}

/// The work tree of a parallel worker; `None` where it has none.
pub fn worker_tree(state: &RunState, run: &str, group: &str) -> Option<Result<ProvedWorktree, WorktreeGone>> {
    let folder = Path::new(state.parallel.as_ref()?.groups.get(group)?.worktree.as_ref()?);
    let repository = GitRepository::find(Path::new(&state.root)).zip(WorkerName::new(run, group).ok());
    let gone = || WorktreeGone::NoFolder(folder.to_owned());
    Some(repository.ok_or_else(gone).and_then(|(found, name)| ProvedWorktree::of_worker(&found, &name, folder)))
}

impl Engine<'_> {
    /// The same run, seen from another of its work trees.
    #[must_use]
    pub fn in_tree(&self, tree: ProvedWorktree) -> Self {
        Self { work_tree: tree, caller: self.caller.clone(), ..*self }
    }
}

impl Engine<'_> {
    /// Does something to the run that its caller has a part in: what has to be written down before, what is
    /// decided, and what follows by itself, all of it or nothing.
    pub fn transact<T>(
        &self,
        decide: impl FnOnce(&RunState) -> Result<(Vec<EventKind>, T), VerbRefusal>,
    ) -> Result<(T, RunState), EngineError> {
        self.transact_after(|state| verbs::join_run(state, &self.caller, &is_alive), decide)
    }

    /// The run after what its caller has to write down before anything else, and what follows by itself. Where that is
    /// nothing, this takes no lock and reads nothing again.
    pub fn settle(&self, state: RunState) -> Result<RunState, EngineError> {
        let state = self.restored_if_possible(state)?;
        let before = verbs::join_run(&state, &self.caller, &is_alive).map_err(EngineError::Refused)?;
        if before.is_empty() && verbs::automatic_event(&state).is_none() {
            return self.write_projections(state);
        }
        Ok(self.transact(|_| Ok((Vec::new(), ())))?.1)
    }

    /// Takes the run from its holder, and does something to it.
    pub fn take_over<T>(
        &self,
        decide: impl FnOnce(&RunState) -> Result<(Vec<EventKind>, T), VerbRefusal>,
    ) -> Result<(T, RunState), EngineError> {
        let (value, state) = self.transact_after(|state| Ok(verbs::take_over_run(state, &self.caller)), decide)?;
        if self.run.lock_branch(Duration::ZERO)?.is_some() {
            self.settle_commit(&state).iter().for_each(|line| (self.warn)(line));
        }
        Ok((value, state))
    }

    /// One transaction: what comes before, what is decided on that, and what follows by itself.
    fn transact_after<T>(
        &self,
        before: impl FnOnce(&RunState) -> Result<Vec<EventKind>, VerbRefusal>,
        decide: impl FnOnce(&RunState) -> Result<(Vec<EventKind>, T), VerbRefusal>,
    ) -> Result<(T, RunState), EngineError> {
        let (now, actor) = ((self.now)(), &self.caller.actor);
        let mut is_over = false;
        let (value, state) = self.run.transact(actor, now, |state| {
            let mut play = Play::new(state.clone(), actor, now);
            play.apply_all(before(state)?);
            let (events, value) = decide(&play.state)?;
            play.apply_all(events);
            if let Some(parallel) = parallel_schedule::landed_with_more_work(&play.state) {
                let set_apart = self.begin_parallel_anew(parallel)?;
                play.apply(set_apart);
            }
            play.advance(|state| self.missing_commits(state));
            is_over = play.events.iter().any(|event| matches!(event, EventKind::RunEnded { .. }));
            Ok((play.events, value))
        })?;
        // The caller that wrote down the end counts it, and no other caller does.
        if let (true, true, Some(folder)) = (is_over, state.is_ultraplan(), self.plugin_data) {
            crate::projection::stats::append_stats(
                folder,
                &ultraexecute_summary::stats_line(&state, ultraplan::scope_of(&state), now),
            );
        }
        Ok((value, self.write_projections(state)?))
    }

    /// Has sessions begin from where the user's branch is by now, as long as that has what was done before.
    fn begin_parallel_anew(&self, parallel: &ParallelState) -> Result<EventKind, VerbRefusal> {
        let refusal = |message: &str, hint: &str| {
            let (message, hint) = (message.to_owned(), hint.to_owned());
            VerbRefusal { kind: VerbRefusalKind::Precondition, message, hint }
        };
        let is_in = |base: &str, landed: &str| {
            let repository = GitRepository::find(self.root)?;
            repository.contains(base, &[landed.to_owned()]).ok()
        };
        let set_apart = begin_parallel(self.root, parallel.policy.clone()).ok_or_else(|| {
            let message = "no branch is checked out that what is still to be done could move";
            refusal(message, "check one out, then run it again")
        })?;
        match (&set_apart, &parallel.landed) {
            (EventKind::ParallelStarted { base, .. }, Some((_, landed))) if is_in(base, landed) != Some(true) => {
                Err(refusal(
                    "the branch that is checked out does not have what this run has done, and it would not be done again",
                    "check out one that has it, then again; a run of its own does all of the plan: `omo run start PLAN`",
                ))
            }
            _ => Ok(set_apart),
        }
    }

    /// As [`Engine::write_projections`], for a run that is over: what another one has written since stays.
    pub fn write_projections_if_last(&self, state: RunState) -> Result<RunState, EngineError> {
        let state = self.restored_if_possible(state)?;
        let (folder, memory) = self.files_for_others(&state);
        let is_last = Projection::new(folder, &memory, self.run.id()).is_last()?;
        if is_last { self.write_projections(state) } else { Ok(state) }
    }

    /// The folder of the files for others, and the file that remembers them: those of a task list lie in its own folder.
    fn files_for_others<'s>(&'s self, state: &'s RunState) -> (&'s Path, PathBuf) {
        let runs = self.run.folder().parent().unwrap_or(self.run.folder());
        let folder = if state.is_task_list() { Path::new(&state.plan.source.path) } else { self.root };
        (folder, projection::memory_path(runs, folder))
    }

    fn write_files(&self, state: &RunState) -> Result<Vec<FileDrift>, ProjectionError> {
        if let (true, Some(tree)) = (state.is_ultraplan(), GitWorktree::find(self.root)) {
            // Where it shows in `git status` it is omo's own all the same.
            let _ = exclude::add_exclude_line(&tree, ultraexecute_progress::IGNORE_PATTERN);
        }
        let (folder, memory) = self.files_for_others(state);
        Projection::new(folder, &memory, self.run.id()).write(state)
    }

    /// Makes the files for others, and the plan's own file, say what the ledger says, and notes whatever was changed in
    /// them. Where the work tree is gone there is nothing to write them into.
    pub fn write_projections(&self, state: RunState) -> Result<RunState, EngineError> {
        if moved_run::is_gone(&state) {
            return Ok(state);
        }
        let _alone = self.run.lock_files()?;
        let state = self.tick_plan(state)?;
        let drifts = match self.write_files(&state) {
            // Nothing is read from it, and a plan may lie where no file can be written.
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
            .map(|drift| EventKind::ProjectionChanged { file: drift.file, backup: drift.kept })
            .collect();
        let ((), state) = self.run.transact(actor, now, |_| Ok((events, ())))?;
        self.write_files(&state)?;
        Ok(state)
    }

    /// Says that the progress file could not be written. A client of the run itself may be kept from it: then the
    /// supervisor writes it.
    fn warn_unwritten(&self, state: RunState, error: &ProjectionError) -> RunState {
        if self.caller.group.is_none() {
            (self.warn)(&format!("the progress file was not written, and the run goes on without it: {error}"));
        }
        state
    }

    /// Refuses where the plan's file says something else than the run knows, and names what.
    pub fn require_unedited_plan(&self, state: &RunState) -> Result<(), EngineError> {
        let Some(edit) = plan_file::find_edit(self.root, state)? else { return Ok(()) };
        Err(EngineError::Refused(VerbRefusal {
            kind: VerbRefusalKind::Precondition,
            message: format!("{} was edited since the run knows it: {edit}", state.plan.source.path),
            hint: "`omo run resume` takes the edit in; what passed and says something else now is done again"
                .to_owned(),
        }))
    }
}

/// Events one after the other, each on the state that the one before leaves.
struct Play<'a> {
    state: RunState,
    events: Vec<EventKind>,
    actor: &'a EventActor,
    now: Timestamp,
}

impl<'a> Play<'a> {
    fn new(state: RunState, actor: &'a EventActor, now: Timestamp) -> Self {
        Self { state, events: Vec::new(), actor, now }
    }

    fn apply_all(&mut self, events: Vec<EventKind>) {
        for what in events {
            self.apply(what);
        }
    }

    fn apply(&mut self, what: EventKind) {
        let event = RunEvent { seq: self.state.seq + 1, ts: self.now, actor: self.actor.clone(), kind: what };
        // What cannot be is refused by the ledger, which applies every event again.
        let _ = self.state.apply(&event);
        self.events.push(event.kind);
    }

    /// What follows by itself: a question that is due, the end. Before an end the checkout is looked at once.
    fn advance(&mut self, missing_commits: impl FnOnce(&RunState) -> Vec<MissingCommit>) {
        let mut look = Some(missing_commits);
        while let Some(what) = verbs::automatic_event(&self.state) {
            if let (EventKind::RunEnded { .. }, Some(missing_commits)) = (&what, look.take()) {
                let commits = missing_commits(&self.state);
                if commits != self.state.missing_commits {
                    self.apply(EventKind::CommitsMissing { commits });
                    continue;
                }
            }
            self.apply(what);
        }
    }
}

/// Begins parallel work, from where the user's branch is; `None` where no branch with commits is checked out.
pub fn begin_parallel(root: &Path, terms: ClientPolicy) -> Option<EventKind> {
    let facts = integrate::read_checkout_facts(&GitRepository::find(root)?).ok()?;
    let CheckoutHead::Branch { reference, commit } = facts.head else { return None };
    Some(EventKind::ParallelStarted { base: commit, policy: ClientPolicy { branch: reference, ..terms } })
}

/// The events of a run behind the one that opens it: what is known beforehand, and what follows by itself.
pub fn opening_events(opened: EventKind, known: Vec<EventKind>, actor: &EventActor, now: Timestamp) -> Vec<EventKind> {
    let failed = match &opened {
        EventKind::RunOpened { plan, .. } => verbs::opening_events(plan),
        _ => Vec::new(),
    };
    let event = RunEvent { seq: 1, ts: now, actor: actor.clone(), kind: opened };
    let Ok(state) = RunState::from_first_event(&event) else { return Vec::new() };
    let mut play = Play::new(state, actor, now);
    play.apply_all(known);
    play.apply_all(failed);
    play.advance(|_| Vec::new());
    play.events
}
