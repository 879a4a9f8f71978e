//! Does what a run needs with parallel workers: starts their clients (`start_workers`) or has a launcher start
//! them elsewhere (`submit`, `elsewhere`), takes in what they did (`on_client_exit`, `remote_workers`), and brings it
//! together (`integrate`, `final_checks`, `clean`). What comes next is decided elsewhere, as a pure function of the ledger; here each step is
//! done, and written down so that it can be done again after a kill at any point.

mod clean;
mod elsewhere;
mod error;
mod final_checks;
mod integrate;
mod judged_tip;
mod launcher;
mod on_client_exit;
pub(crate) mod push_rules;
mod remote_branches;
mod remote_workers;
mod start_workers;
mod submit;
mod tick_plan;
mod user_commits;
mod worker_log;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::time::Duration;

use omo_claude::supervisor::{Supervisor, SupervisorEvent};
use omo_git::git_settings::GitSettings;
use omo_git::repository::GitRepository;
use omo_git::worktree::WorkerName;
use omo_plan::model::TaskGroup;
use omo_remote::follow::JobFollower;
use omo_remote::starts::Starts;

use crate::event::{EventKind, MemoryBound};
use crate::parallel_schedule::ParallelAction;
use crate::parallel_state::ParallelState;
use crate::schedule::{self, NextAction};
use crate::state::{RunPhase, RunState};
use crate::verbs;
use crate::work::Engine;

use remote_branches::Silence;
use submit::Submission;

pub use clean::{ReapReport, reap_dead_supervisor, refresh_kept_work};
pub use error::DriveError;
pub(crate) use integrate::user_branch_base;
pub use worker_log::read_worker_log;

/// How often the ledger is looked at while clients are at work.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// More sessions than this at once no machine is asked for; the run's own bound is kept by what comes next.
const MAX_CLIENTS: usize = 16;
/// The name of the group in whose work tree the whole is checked: no session of a plan is called so.
const FINAL_CHECKS_WORKER: &str = "whole";

/// What the clients are started with that no plan says.
#[derive(Clone, Debug)]
pub struct LaunchConfig {
    /// The client.
    pub client: PathBuf,
    /// This very program, which the clients call.
    pub own_program: PathBuf,
    /// The environment of the process that had the run driven.
    pub variables: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    /// The folder for temporary files.
    pub temp: PathBuf,
    /// Memory that is kept for each client, in MiB.
    pub worker_mb: u64,
}

/// Drives a run.
#[derive(Debug)]
pub struct ParallelDriver<'a> {
    engine: &'a Engine<'a>,
    repository: GitRepository,
    /// Settings of git from the environment of the user.
    settings: GitSettings,
    /// What starts clients; `None` where only what they did is brought together.
    launch_config: Option<LaunchConfig>,
    supervisor: Supervisor,
    /// The sessions whose clients were started and have not ended.
    running: BTreeSet<String>,
    /// How many of them free memory allows, found when none ran.
    memory_bound: Option<MemoryBound>,
    /// What each of those may spend, in millionths of a US dollar.
    granted: BTreeMap<String, u64>,
    /// The session of the client that goes on, for each group that is resumed.
    to_resume: BTreeMap<String, String>,
    /// The merge that was made last, and its tree.
    last_merge: Option<(String, String)>,
    /// The groups whose client was resumed already.
    was_resumed: BTreeSet<String>,
    /// What is known of workers elsewhere.
    jobs: JobFollower,
    /// Starts of workers elsewhere that are under way, and those that wait for room.
    starts: Starts,
    pending: VecDeque<Submission>,
    /// Why the remote repository does not answer, once the run is over and it was found out.
    silence: Silence,
}

/// Why a run is not driven any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveEnd {
    /// It is over.
    Over,
    /// A person has to answer.
    NeedsAnswer,
    /// Clients would have to be started, and this driver starts none.
    NeedsClients,
    /// It has no parallel workers.
    NotParallel,
}

impl<'a> ParallelDriver<'a> {
    /// One that drives this run. Without `means` no client is started.
    ///
    /// # Errors
    ///
    /// The run lies in no repository.
    pub fn new(engine: &'a Engine<'a>, means: Option<LaunchConfig>) -> Result<Self, DriveError> {
        let repository =
            GitRepository::find(engine.root).ok_or_else(|| DriveError::NoRepository(engine.root.to_owned()))?;
        let settings = match engine.run.state()?.guard {
            Some(guard) => guard.settings,
            None => GitSettings::from_environment(&repository)?,
        };
        Ok(Self {
            engine,
            repository: repository.obeying(&settings),
            settings,
            launch_config: means,
            supervisor: Supervisor::new(MAX_CLIENTS),
            running: BTreeSet::new(),
            memory_bound: None,
            granted: BTreeMap::new(),
            to_resume: BTreeMap::new(),
            last_merge: None,
            was_resumed: BTreeSet::new(),
            jobs: JobFollower::default(),
            starts: Starts::default(),
            pending: VecDeque::new(),
            silence: Silence::new(),
        })
    }

    /// Drives the run as far as it goes without a person. The caller is the one supervisor of the run.
    ///
    /// # Errors
    ///
    /// The ledger cannot be used, or something that cannot be put to a person has gone wrong. Clients that are at work
    /// are ended when this is dropped.
    pub fn drive(&mut self) -> Result<DriveEnd, DriveError> {
        reap_dead_supervisor(self.engine)?;
        loop {
            self.take_in_starts()?;
            let state = self.engine.settle(self.engine.run.state()?)?;
            let Some(parallel) = &state.parallel else {
                return Ok(if state.phase == RunPhase::Executing { DriveEnd::NotParallel } else { DriveEnd::Over });
            };
            if state.is_over() {
                self.supervisor.end_all_sessions();
            }
            match schedule::next_action(&state) {
                NextAction::Over => {
                    if self.wait_for_clients(&state)? {
                        continue;
                    }
                    self.remove_workers(&state, parallel, &workers_with_trees(&state, parallel))?;
                    reap_dead_supervisor(self.engine)?;
                    clean::release_merged_work(self.engine, &self.repository)?;
                    return Ok(DriveEnd::Over);
                }
                NextAction::Ask(_) if self.running.is_empty() && !has_jobs(&state) => return Ok(DriveEnd::NeedsAnswer),
                NextAction::Parallel(ParallelAction::Start(groups)) => {
                    if self.launch_config.is_none() {
                        return Ok(DriveEnd::NeedsClients);
                    }
                    self.start_workers(&state, parallel, &groups)?;
                    if !self.wait_for_clients(&state)? && groups.iter().any(|group| self.jobs.is_backing_off(&group.id))
                    {
                        std::thread::sleep(POLL_INTERVAL);
                    }
                }
                NextAction::Parallel(ParallelAction::CommitAgain(group, task)) => {
                    self.commit_again(&state, group, &task.id)?;
                }
                NextAction::Parallel(ParallelAction::Merge(group)) => self.merge_worker(&state, parallel, group)?,
                NextAction::Parallel(ParallelAction::Land) => self.land_on_user_branch(&state, parallel)?,
                NextAction::Parallel(ParallelAction::Clean(ids)) => self.remove_workers(&state, parallel, &ids)?,
                NextAction::Parallel(ParallelAction::CheckWave(wave)) => {
                    // Without clients it would be checked for nothing.
                    if self.launch_config.is_none() {
                        return Ok(DriveEnd::NeedsClients);
                    }
                    self.check_wave(&state, parallel, wave)?;
                }
                NextAction::FinalChecks => self.run_final_checks(&state, parallel)?,
                _ => {
                    if !self.wait_for_clients(&state)? {
                        // This would wait for a client that another process has started, and whether it lives cannot be
                        // told: `reap` has ended those of which it can.
                        return Ok(DriveEnd::NeedsAnswer);
                    }
                }
            }
        }
    }

    /// Waits for something to happen to the clients, for a moment. `false` where none is at work.
    fn wait_for_clients(&mut self, state: &RunState) -> Result<bool, DriveError> {
        if self.look_at_jobs(state)? {
            std::thread::sleep(POLL_INTERVAL);
            return Ok(true);
        }
        if self.running.is_empty() {
            let is_limited = verbs::limit_reset_at(state, (self.engine.now)()).is_some();
            if is_limited && !state.is_over() {
                std::thread::sleep(POLL_INTERVAL);
                return Ok(true);
            }
            return Ok(false);
        }
        self.handle_client_events(POLL_INTERVAL)?;
        Ok(true)
    }

    /// Takes in all that has become of the clients, and waits for at most that long for the first of it.
    fn handle_client_events(&mut self, at_most: Duration) -> Result<(), DriveError> {
        let mut event = self.supervisor.next_event(at_most);
        while let Some(happened) = event {
            match happened {
                SupervisorEvent::Started { group, mark } => self.note_started(&group, &mark)?,
                SupervisorEvent::Ended { group, process, said } => {
                    self.running.remove(&group);
                    self.granted.remove(&group);
                    self.on_client_exit(&group, &process, &said)?;
                }
            }
            event = self.supervisor.next_event(Duration::ZERO);
        }
        Ok(())
    }

    /// Writes down what follows from the state as it is by then, if anything does.
    fn record(&self, decide: impl FnOnce(&RunState) -> Vec<EventKind>) -> Result<RunState, DriveError> {
        let ((), state) = self.engine.transact(|state| Ok((decide(state), ())))?;
        Ok(state)
    }

    fn worker_name(&self, group: &str) -> Result<WorkerName, DriveError> {
        Ok(WorkerName::new(self.engine.run.id(), group)?)
    }
}

/// Whether an engine has workers of the run.
fn has_jobs(state: &RunState) -> bool {
    state.parallel.as_ref().is_some_and(|parallel| parallel.jobs().next().is_some())
}

/// The sessions whose work trees are still there.
fn workers_with_trees<'a>(state: &'a RunState, parallel: &ParallelState) -> Vec<&'a str> {
    let has_tree = |group: &&TaskGroup| parallel.groups.get(&group.id).is_some_and(|known| known.worktree.is_some());
    state.plan.groups.iter().filter(has_tree).map(|group| group.id.as_str()).collect()
}

/// So many work trees are made or removed at the same time: each is a dozen calls of git, which wait for one another
/// and for the disk.
const WORK_TREES_AT_ONCE: usize = 2;

/// A session of the plan.
fn find_worker<'s>(state: &'s RunState, id: &str) -> Option<&'s TaskGroup> {
    state.plan.groups.iter().find(|group| group.id == id)
}
