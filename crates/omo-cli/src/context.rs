//! `CommandContext`: project, run store and session of a command about runs, and its caller.

mod open_runs;

use std::path::{Path, PathBuf};

use omo_core::messages::plan::STEP_PLAN_PREFIX;
use omo_core::session::id::SessionId;
use omo_core::session::plan_run::{CANCELLED, PlanRun};
use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;
use omo_engine::event::{EventActor, RecordedProcess};
use omo_engine::parallel::ReapReport;
use omo_engine::state::{RunPhase, RunState};
use omo_engine::verbs::VerbCaller;
use omo_engine::work::{Engine, is_alive, moved_run, worker_tree};
use omo_engine::{ExclusiveGuard, Run, RunStore, RunStoreError, verbs};
use omo_git::ownership;
use omo_git::proved_worktree::ProvedWorktree;
use omo_process::environment::CheckEnvironment;
use omo_process::process_identity;
use omo_state::config;
use omo_state::env::{self, ProcessEnv};
use omo_state::files::folder::GuardedFolder;
use omo_state::git_worktree::WorktreeIdentity;
use omo_state::state::sealed_plan_run;
use omo_state::{open_run_marker, plugin_data};

use crate::blocks::parts;
use crate::error::CommandError;
use crate::project::{Project, own_session};
use crate::task_list_note;
pub(crate) use open_runs::{another_run_is_open, open_runs, require_only_parallel_run};
use open_runs::{find_named_run, no_open_run, open_elsewhere, unreadable_run, way_out_of_gone};

/// Session of a model's shell that does not name its own. No real session has this id, so no person has spoken in it.
const UNKNOWN_SESSION: &str = "?";

pub(crate) struct CommandContext<'a> {
    pub env: &'a ProcessEnv,
    pub root: PathBuf,
    pub state_home: PathBuf,
    pub runs: Option<RunStore>,
    pub session: Option<SessionId>,
    pub environment: CheckEnvironment,
    pub plugin_data: Option<PathBuf>,
    /// Time at which a person typed this very command, from the prompt hook.
    pub typed_at: Option<Timestamp>,
    /// A preview for a person who typed a command: nothing begins, obstacles are told.
    pub is_preview: bool,
    /// A verb of `omo agent`: prints blocks, also at a terminal.
    pub is_agent_verb: bool,
}

impl<'a> CommandContext<'a> {
    pub(super) fn find(env: &'a ProcessEnv) -> Result<Self, CommandError> {
        if env.in_check {
            let hint = "remove the `omo` command from what the check runs";
            return Err(CommandError::precondition(
                "a check cannot change the run that it judges",
                hint,
            ));
        }
        let root = Project::find(env)?.root;
        // A ledger is text, which cannot name this folder.
        if root.to_str().is_none() {
            let message = format!(
                "the name of the project's folder is not UTF-8: {}",
                sanitize(&root.to_string_lossy(), 300)
            );
            return Err(CommandError::precondition(
                message,
                "plan runs need one that is: give it another name",
            ));
        }
        ownership::require_trusted(&root)?;
        let state_home = env.state_home.clone().ok_or_else(|| {
            CommandError::precondition("no folder for the user's own state is known", "set HOME")
        })?;
        let runs = RunStore::find(&root, Some(&state_home))?;
        let session = own_session(env)?;
        let environment = CheckEnvironment::from_variables(env::variables(), &root);
        let plugin_data = plugin_data::find_plugin_data(&state_home);
        let context = Self {
            env,
            root,
            state_home,
            runs,
            session,
            environment,
            plugin_data,
            typed_at: None,
            is_preview: false,
            is_agent_verb: false,
        };
        context.follow_renamed_project();
        Ok(context)
    }

    fn follow_renamed_project(&self) {
        let Some(runs) = self.runs.as_ref().filter(|_| self.env.worker.is_none()) else {
            return;
        };
        for listed in runs.list().unwrap_or_default() {
            let (Ok(state), Ok(run)) = (listed.state, runs.get(&listed.id)) else {
                continue;
            };
            if !moved_run::is_renamed(&run, &state, &self.root) {
                continue;
            }
            let (actor, now) = (self.actor(), env::now());
            let followed = moved_run::follow_renamed_project(
                &run,
                &state,
                &self.root,
                &self.state_home,
                &actor,
                now,
            );
            if followed.is_some() {
                let move_words = match state.worktree {
                    Some(WorktreeIdentity::Linked(_)) => "this worktree was moved",
                    _ => "the project was renamed",
                };
                crate::output::print_warning(&format!(
                    "{move_words} from {}; its run {} goes on here",
                    sanitize(&state.root, 300),
                    sanitize(run.id(), 60)
                ));
            }
        }
    }

    pub(super) fn actor(&self) -> EventActor {
        let process = env::client_pid().map(|pid| RecordedProcess {
            pid,
            mark: process_identity::start_mark(pid),
        });
        match &self.session {
            Some(id) => EventActor {
                session: Some(id.as_str().to_owned()),
                process,
            },
            None if self.env.in_session => EventActor {
                session: Some(UNKNOWN_SESSION.to_owned()),
                process,
            },
            None => EventActor::default(),
        }
    }

    pub(super) fn is_person(&self) -> bool {
        !self.env.in_session
    }

    pub(super) fn open_run(
        &self,
        runs: &RunStore,
    ) -> Result<Option<(Run, RunState)>, CommandError> {
        for listed in runs.list()? {
            match listed.state {
                Ok(state)
                    if self.is_in_this_work_tree(&state) && state.phase == RunPhase::Executing =>
                {
                    return Ok(Some((runs.get(&listed.id)?, state)));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Lock against opening a run. Refuses where a run other than `own` is open in this work tree, with one checkpoint.
    pub(super) fn lock_opening(
        &self,
        runs: &RunStore,
        own: Option<&str>,
    ) -> Result<ExclusiveGuard, CommandError> {
        let guard = runs.lock_opening()?;
        match self.open_run(runs)? {
            Some((run, state)) if own != Some(run.id()) => {
                Err(another_run_is_open(run.id(), &state))
            }
            _ => Ok(guard),
        }
    }

    pub(super) fn note_ended_run(&self, run: &Run, state: &RunState) {
        if let (Some(id), false) = (&self.session, state.phase == RunPhase::Executing) {
            let told = GuardedFolder::create_state(Path::new(&state.root))
                .map_err(|error| {
                    sealed_plan_run::PlanRunError::from(omo_state::state::StateError::from(error))
                })
                .and_then(|folder| {
                    sealed_plan_run::set(
                        &folder,
                        id,
                        session_entry(run, state),
                        Project::state_update(self.env),
                    )
                });
            if let Err(error) = told {
                crate::output::print_warning(&format!(
                    "what you type about the run does not count in this session: {error}"
                ));
            }
        }
    }

    pub(super) fn caller(&self) -> Result<VerbCaller, CommandError> {
        let plan_run = self
            .session
            .as_ref()
            .map(|id| sealed_plan_run::read(&self.root, id, Some(&self.state_home)))
            .transpose()?
            .flatten();
        let prompted_at = plan_run.and_then(|run| run.prompt_at).max(self.typed_at);
        Ok(VerbCaller {
            actor: self.actor(),
            prompted_at,
            recorded_answers: Vec::new(),
            group: self.env.worker.as_ref().map(|own| own.worker.clone()),
        })
    }

    /// Refuses a run of another live session. A person at a terminal takes a run from any session.
    pub(super) fn require_free_run(&self, state: &RunState) -> Result<(), CommandError> {
        if !self.is_person() {
            verbs::join_run(state, &self.caller()?, &is_alive)?;
        }
        Ok(())
    }

    pub(super) fn find_run(
        &self,
        named: Option<&str>,
        ended: EndedRuns,
    ) -> Result<(Run, RunState), CommandError> {
        let runs = self.runs.as_ref().ok_or_else(no_open_run)?;
        if let Some(id) = named.or(self.env.worker.as_ref().map(|own| own.run.as_str())) {
            let run = find_named_run(runs, id)?;
            let state = run.state()?;
            return self.reap_dead_supervisor(run, state);
        }
        let mut found: Vec<(String, RunState)> = Vec::new();
        let mut elsewhere: Vec<(String, RunState)> = Vec::new();
        let mut unreadable: Vec<(String, RunStoreError)> = Vec::new();
        for listed in runs.list()? {
            match listed.state {
                Ok(state) if self.is_in_this_work_tree(&state) => found.push((listed.id, state)),
                Ok(state) if state.phase == RunPhase::Executing => {
                    elsewhere.push((listed.id, state));
                }
                Ok(_) => {}
                Err(error) => unreadable.push((listed.id, error)),
            }
        }
        if found.is_empty()
            && elsewhere.is_empty()
            && ended == EndedRuns::Included
            && !unreadable.is_empty()
        {
            let (id, error) = unreadable.swap_remove(0);
            return Err(unreadable_run(&id, error));
        }
        for (id, error) in unreadable {
            crate::output::print_warning(&format!("run {}: {error}", sanitize(&id, 60)));
        }
        let mut open: Vec<usize> = (0..)
            .zip(&found)
            .filter(|(_, (_, state))| state.phase == RunPhase::Executing)
            .map(|(place, _)| place)
            .collect();
        let actor = self.actor();
        let own: Vec<usize> = (0..)
            .zip(&found)
            .filter(|(place, (_, state))| {
                open.contains(place) && state.holder.is_same_holder(&actor)
            })
            .map(|(place, _)| place)
            .collect();
        if own.len() == 1 {
            open = own;
        }
        let place = match (&*open, ended) {
            ([place], _) => *place,
            ([], EndedRuns::Included) if !found.is_empty() => 0,
            ([], _) if elsewhere.is_empty() => return Err(no_open_run()),
            ([], _) => return Err(open_elsewhere(&elsewhere)),
            (several, _) => {
                let ids: Vec<String> = several
                    .iter()
                    .filter_map(|place| found.get(*place))
                    .map(|(id, state)| format!("  --run {id}   {}", parts::run_subject(state)))
                    .collect();
                let message = format!("{} plan runs are open here", several.len());
                return Err(CommandError::usage(
                    message,
                    format!("name one:\n{}", ids.join("\n")),
                ));
            }
        };
        let (id, state) = found.swap_remove(place);
        self.reap_dead_supervisor(runs.get(&id)?, state)
    }

    /// The run after cleaning up behind a dead supervisor. An error is a warning, and the command goes on.
    pub(super) fn reap_dead_supervisor(
        &self,
        run: Run,
        state: RunState,
    ) -> Result<(Run, RunState), CommandError> {
        if state.parallel.is_none() || self.env.worker.is_some() {
            return Ok((run, state));
        }
        let found = self
            .engine_without_files(&run, &state)?
            .reap_if_unsupervised();
        match found {
            Ok(reaped) if reaped == ReapReport::default() => Ok((run, state)),
            Ok(_) => {
                let state = run.state()?;
                Ok((run, state))
            }
            Err(error) => {
                crate::output::print_warning(&format!(
                    "what an earlier supervisor has left could not be cleaned up: {error}"
                ));
                Ok((run, state))
            }
        }
    }

    pub(super) fn is_in_this_work_tree(&self, state: &RunState) -> bool {
        Path::new(&state.root) == self.root
    }

    pub(super) fn engine<'b>(
        &'b self,
        run: &'b Run,
        state: &'b RunState,
    ) -> Result<Engine<'b>, CommandError> {
        self.engine_at(
            run,
            Path::new(&state.root),
            self.work_tree(run.id(), state)?,
        )
    }

    /// An `Engine` for commands that touch no file of the work tree, which may be gone.
    pub(super) fn engine_without_files<'b>(
        &'b self,
        run: &'b Run,
        state: &'b RunState,
    ) -> Result<Engine<'b>, CommandError> {
        let root = Path::new(&state.root);
        if moved_run::is_gone(state) {
            return self.engine_at(run, root, ProvedWorktree::of_project(root));
        }
        self.engine(run, state)
    }

    pub(super) fn engine_at<'b>(
        &'b self,
        run: &'b Run,
        root: &'b Path,
        tree: ProvedWorktree,
    ) -> Result<Engine<'b>, CommandError> {
        Ok(Engine {
            run,
            root,
            work_tree: tree,
            state_home: &self.state_home,
            caller: self.caller()?,
            environment: &self.environment,
            now: env::now,
            plugin_data: self.plugin_data.as_deref(),
            unlisted_files: config::load(self.env.config_file.as_deref()).unlisted_files,
            warn: |problem| crate::output::print_warning(&problem),
        })
    }

    pub(super) fn work_tree(
        &self,
        run: &str,
        state: &RunState,
    ) -> Result<ProvedWorktree, CommandError> {
        let worker = self.env.worker.as_ref().filter(|worker| worker.run == run);
        let tree = worker.and_then(|worker| worker_tree(state, run, &worker.worker));
        if let Some(tree) = tree {
            return Ok(tree?);
        }
        if moved_run::is_gone(state) {
            let message = format!(
                "the worktree of the run {run} is gone: {}",
                sanitize(&state.root, 300)
            );
            return Err(CommandError::precondition(message, way_out_of_gone(run)));
        }
        Ok(ProvedWorktree::of_project(Path::new(&state.root)))
    }

    /// Notes the state for the hooks of its session; `holder` is the previous holder. A failed write holds up nothing.
    pub(super) fn note_in_session(&self, run: &Run, holder: &EventActor, now: &RunState) {
        if moved_run::is_gone(now) {
            return;
        }
        if now.is_task_list() {
            task_list_note::note_from_run(self.env, now);
        } else if let Err(error) =
            open_run_marker::set(Path::new(&now.root), now.phase == RunPhase::Executing)
        {
            crate::output::print_warning(&format!(
                "the next session is not told of this run: {error}"
            ));
        }
        if let Err(error) = self.write_session_note(run, holder, now) {
            crate::output::print_warning(&format!(
                "the session's hooks do not know where the run stands: {error}"
            ));
        }
    }

    /// Notes the user's consent to go on in the session of the typed prompt; without the note the run asks again.
    pub(super) fn note_typed(&self, run: &Run, now: &RunState) {
        let (Some(session), Some(at)) = (&self.session, self.typed_at) else {
            return;
        };
        if let Ok(folder) = GuardedFolder::create_state(Path::new(&now.root)) {
            let entry = PlanRun {
                prompt_at: Some(at),
                ..session_entry(run, now)
            };
            let _ = sealed_plan_run::set(&folder, session, entry, Project::state_update(self.env));
        }
    }

    fn write_session_note(
        &self,
        run: &Run,
        before: &EventActor,
        now: &RunState,
    ) -> Result<(), sealed_plan_run::PlanRunError> {
        let root = Path::new(&now.root);
        let Some(holder) = session_of(&now.holder) else {
            return Ok(());
        };
        let folder =
            GuardedFolder::create_state(root).map_err(omo_state::state::StateError::from)?;
        if let Some(old) = session_of(before).filter(|old| *old != holder) {
            sealed_plan_run::clear(&folder, &old, run.id(), Project::state_update(self.env))?;
        }
        sealed_plan_run::set(
            &folder,
            &holder,
            session_entry(run, now),
            Project::state_update(self.env),
        )
    }
}

fn session_of(actor: &EventActor) -> Option<SessionId> {
    SessionId::parse(actor.session.as_ref()?).ok()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndedRuns {
    Included,
    Excluded,
}

fn named(state: &RunState) -> String {
    let steps = if state.is_ultraplan() {
        STEP_PLAN_PREFIX
    } else {
        ""
    };
    format!("{steps}{}", parts::run_subject(state))
}

pub(crate) fn session_entry(run: &Run, state: &RunState) -> PlanRun {
    let counts = state.task_counts();
    let ended = match &state.phase {
        RunPhase::Executing => None,
        RunPhase::Ended { result } => Some(result.display_word().to_owned()),
        RunPhase::Cancelled { .. } => Some(CANCELLED.to_owned()),
    };
    PlanRun {
        id: run.id().to_owned(),
        plan: named(state),
        total: saturate(counts.total),
        passed: saturate(counts.passed + counts.claimed),
        failed: saturate(counts.failed),
        unproved: Some(saturate(counts.unproved)),
        is_reviewed: Some(state.is_reviewed()),
        blocked: saturate(counts.blocked),
        running: state.running_attempts().next().map(|(id, _)| id.to_owned()),
        waits: state.open_question().map(|question| {
            let text = &question.question.text;
            sanitize(text.lines().next().unwrap_or_default(), 200)
        }),
        next: "omo agent next".to_owned(),
        ended,
        opened_at: Some(state.opened_at),
        ..PlanRun::default()
    }
}

fn saturate(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
