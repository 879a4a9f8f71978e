//! The driver of parallel workers: starts their clients (`start_workers`) or has a launcher start them (`submit`,
//! `elsewhere`), takes in their work (`on_client_exit`, `remote_workers`), and merges it (`integrate`, `final_checks`,
//! `clean`). Each step is written down so that it can be done again after a kill at any point.

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

/// Interval between reads of the ledger while clients are at work.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Maximum clients of a machine at once; the run's own bound is kept by `parallel_schedule`.
const MAX_CLIENTS: usize = 16;
/// Name of the group in whose work tree the whole is checked: no session of a plan has it.
const FINAL_CHECKS_WORKER: &str = "whole";

/// Programs, variables, folder and memory for the clients to start.
#[derive(Clone, Debug)]
pub struct LaunchConfig {
    pub client: PathBuf,
    pub own_program: PathBuf,
    pub variables: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    pub temp: PathBuf,
    /// Memory reserved for each client, in MiB.
    pub worker_mb: u64,
}

#[derive(Debug)]
pub struct ParallelDriver<'a> {
    engine: &'a Engine<'a>,
    repository: GitRepository,
    settings: GitSettings,
    /// `None` where no client is started, and work is only merged.
    launch_config: Option<LaunchConfig>,
    supervisor: Supervisor,
    /// Sessions whose clients have not ended.
    running: BTreeSet<String>,
    memory_bound: Option<MemoryBound>,
    /// Budget granted to each session, in millionths of a US dollar.
    granted: BTreeMap<String, u64>,
    /// Id of the client's conversation to resume, by group.
    to_resume: BTreeMap<String, String>,
    last_merge: Option<(String, String)>,
    was_resumed: BTreeSet<String>,
    jobs: JobFollower,
    starts: Starts,
    pending: VecDeque<Submission>,
    /// Reason why the remote repository is silent, once the run is over and the silence was found.
    silence: Silence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveEnd {
    Over,
    NeedsAnswer,
    NeedsClients,
    NotParallel,
}

impl<'a> ParallelDriver<'a> {
    /// A driver that starts clients by `means`, or only merges without; fails outside a repository.
    pub fn new(engine: &'a Engine<'a>, means: Option<LaunchConfig>) -> Result<Self, DriveError> {
        let repository = GitRepository::find(engine.root)
            .ok_or_else(|| DriveError::NoRepository(engine.root.to_owned()))?;
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

    /// Drives the run as far as it goes without a person; the caller is its one supervisor. Clients end on drop.
    pub fn drive(&mut self) -> Result<DriveEnd, DriveError> {
        reap_dead_supervisor(self.engine)?;
        loop {
            self.take_in_starts()?;
            let state = self.engine.apply_due_events(self.engine.run.state()?)?;
            let Some(parallel) = &state.parallel else {
                return Ok(if state.phase == RunPhase::Executing {
                    DriveEnd::NotParallel
                } else {
                    DriveEnd::Over
                });
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
                NextAction::Ask(_) if self.running.is_empty() && !has_jobs(&state) => {
                    return Ok(DriveEnd::NeedsAnswer);
                }
                NextAction::Parallel(ParallelAction::Start(groups)) => {
                    if self.launch_config.is_none() {
                        return Ok(DriveEnd::NeedsClients);
                    }
                    self.start_workers(&state, parallel, &groups)?;
                    if !self.wait_for_clients(&state)?
                        && groups
                            .iter()
                            .any(|group| self.jobs.is_backing_off(&group.id))
                    {
                        std::thread::sleep(POLL_INTERVAL);
                    }
                }
                NextAction::Parallel(ParallelAction::CommitAgain(group, task)) => {
                    self.commit_again(&state, group, &task.id)?;
                }
                NextAction::Parallel(ParallelAction::Merge(group)) => {
                    self.merge_worker(&state, parallel, group)?;
                }
                NextAction::Parallel(ParallelAction::Land) => {
                    self.land_on_user_branch(&state, parallel)?;
                }
                NextAction::Parallel(ParallelAction::Clean(ids)) => {
                    self.remove_workers(&state, parallel, &ids)?;
                }
                NextAction::Parallel(ParallelAction::CheckWave(wave)) => {
                    // Without clients the checks would be for nothing.
                    if self.launch_config.is_none() {
                        return Ok(DriveEnd::NeedsClients);
                    }
                    self.check_wave(&state, parallel, wave)?;
                }
                NextAction::FinalChecks => self.run_final_checks(&state, parallel)?,
                _ => {
                    if !self.wait_for_clients(&state)? {
                        // No wait would end for a client of unknown life; `reap` has ended all others.
                        return Ok(DriveEnd::NeedsAnswer);
                    }
                }
            }
        }
    }

    /// Waits a moment for an event of the clients; `false` where none is at work.
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

    /// Takes in all events of the clients, with a wait of at most `at_most` for the first.
    fn handle_client_events(&mut self, at_most: Duration) -> Result<(), DriveError> {
        let mut event = self.supervisor.next_event(at_most);
        while let Some(happened) = event {
            match happened {
                SupervisorEvent::Started { group, mark } => self.note_started(&group, &mark)?,
                SupervisorEvent::Ended {
                    group,
                    process,
                    said,
                } => {
                    self.running.remove(&group);
                    self.granted.remove(&group);
                    self.on_client_exit(&group, &process, &said)?;
                }
            }
            event = self.supervisor.next_event(Duration::ZERO);
        }
        Ok(())
    }

    fn record(
        &self,
        decide: impl FnOnce(&RunState) -> Vec<EventKind>,
    ) -> Result<RunState, DriveError> {
        let ((), state) = self.engine.transact(|state| Ok((decide(state), ())))?;
        Ok(state)
    }

    fn worker_name(&self, group: &str) -> Result<WorkerName, DriveError> {
        Ok(WorkerName::new(self.engine.run.id(), group)?)
    }
}

fn has_jobs(state: &RunState) -> bool {
    state
        .parallel
        .as_ref()
        .is_some_and(|parallel| parallel.jobs().next().is_some())
}

fn workers_with_trees<'a>(state: &'a RunState, parallel: &ParallelState) -> Vec<&'a str> {
    state
        .plan
        .groups
        .iter()
        .filter(|group| {
            parallel
                .groups
                .get(&group.id)
                .is_some_and(|group| group.worktree.is_some())
        })
        .map(|group| group.id.as_str())
        .collect()
}

/// Work trees made or removed at once: each is a dozen calls of `git` that wait for one another and the disk.
const WORK_TREES_AT_ONCE: usize = 2;

fn find_worker<'s>(state: &'s RunState, id: &str) -> Option<&'s TaskGroup> {
    state.plan.groups.iter().find(|group| group.id == id)
}
