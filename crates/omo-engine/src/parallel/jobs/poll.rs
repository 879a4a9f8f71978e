//! What an engine and the workers say, asked for in one look: one command of the launcher, one list of branches, and one
//! fetch of the reports that changed, however many workers there are.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use omo_claude::client_cost::time_limit_or_default;
use omo_core::timestamp::Timestamp;
use omo_git::message_commit::read_message;
use omo_git::remote::{Remote, RemoteError};
use omo_plan::model::TaskGroup;
use omo_remote::contact::ContactNews;
use omo_remote::decision::{self, EngineAnswer, EngineState, JobDecision, JobOutcome, JobSighting};
use omo_remote::exchange::{REPORT_FILE, WorkerReport, report_branch};
use omo_remote::job::{JobValues, launch_branch};
use omo_remote::launcher::EngineCommands;
use omo_state::env;

use super::cancellation::{self, Cancellation};
use super::worker_log::log_path;
use crate::event::{EventKind, WorkerPeer};
use crate::parallel::remote_branches::Silence;
use crate::parallel::{DriveError, POLL_INTERVAL, ParallelDriver, find_worker};
use crate::parallel_state::{ParallelState, SubmittedWorker};
use crate::state::RunState;

impl<'a> ParallelDriver<'a> {
    /// Looks what has become of the workers that an engine has, where it is time to; `true` where it has any.
    pub(in crate::parallel) fn look_at_jobs(&mut self, state: &RunState) -> Result<bool, DriveError> {
        let Some(parallel) = state.parallel.as_ref().filter(|parallel| parallel.jobs().next().is_some()) else {
            return Ok(false);
        };
        let Some(profile) = &parallel.policy.profile else { return Ok(false) };
        let is_over = state.is_over();
        let interval = Duration::from_secs(u64::from(profile.poll_seconds.max(1)));
        let is_cancelling = is_over && parallel.jobs().any(|(_, job)| !self.jobs.cancelled.contains_key(&job.name));
        if self.jobs.polled_at.is_some_and(|at| at.elapsed() < interval) && !is_cancelling {
            return Ok(true);
        }
        if is_over {
            self.cancel_jobs(parallel, parallel.jobs().map(|(group, job)| (group.to_owned(), job.clone())).collect());
        }
        let now = (self.engine.now)();
        // The engine first: a worker that it has no longer has said by then what it had to say.
        let listed = self.engine_commands(parallel, String::new()).and_then(|engine| engine.states());
        let read = self.read_reports(parallel).map_err(|error| error.to_string());
        self.jobs.has_read_reports = read.is_ok();
        self.jobs.polled_at = Some(Instant::now());
        self.jobs.silence = Silence::new();
        match &read {
            Err(why) if is_over => drop(self.jobs.silence.set(why.clone())),
            _ if is_over => {}
            _ => self.follow_contacts(parallel, &read, listed.as_ref(), now)?,
        }
        // What an engine has no longer may have said that it ended: without the reports, only time decides.
        let states = listed.and_then(Result::ok).filter(|_| read.is_ok());
        for (group, job) in parallel.jobs() {
            let answer = match &states {
                None => EngineAnswer::Unknown,
                Some(states) => self.jobs.engine_answer(&job.name, states.get(&job.name)),
            };
            let report = self.jobs.reports.get(&job.name).map(|(_, report)| report);
            let limit = Duration::from_secs(u64::from(time_limit_or_default(job.time_limit_seconds)));
            // Where the run goes on, only one whose end is decided is cancelled, and that is decided anew.
            let cancelled_for = self.jobs.cancelled.get(&job.name).filter(|_| is_over).map(Cancellation::elapsed);
            let sighting = JobSighting { engine: answer, report, cancelled_for };
            let decided = decision::decide(job, sighting, profile, limit, now);
            if !is_over && !matches!(decided, JobDecision::End(_)) {
                self.jobs.cancelled.remove(&job.name);
            }
            let may_be_there = cancellation::may_be_there(answer);
            self.follow_decision(state, group, job, decided, may_be_there)?;
        }
        Ok(true)
    }

    /// Writes down where the remote repository or the engine has been silent for long, and where it answers again.
    fn follow_contacts(
        &mut self,
        parallel: &ParallelState,
        read: &Result<(), String>,
        listed: Option<&Result<BTreeMap<String, EngineState>, String>>,
        now: Timestamp,
    ) -> Result<(), DriveError> {
        let listed = listed.map(|listed| listed.as_ref().map(drop));
        let looks = [(WorkerPeer::Remote, Some(read.as_ref().copied())), (WorkerPeer::Engine, listed)];
        let mut events = Vec::new();
        for (peer, look) in looks {
            let Some(look) = look else { continue };
            let is_told = parallel.lost_contacts.contains_key(&peer);
            let watch = self.jobs.contacts.entry(peer).or_default();
            events.extend(watch.note(look.map_err(String::as_str), is_told, now).map(|news| match news {
                ContactNews::Lost { since, reason } => EventKind::ContactLost { peer, since, reason },
                ContactNews::Restored => EventKind::ContactRestored { peer },
            }));
        }
        if !events.is_empty() {
            self.record(|_| events)?;
        }
        Ok(())
    }

    /// Waits for the workers of a run that is over, which are cancelled with the first look: a minute and a half at most.
    pub(in crate::parallel) fn end_jobs(&mut self) -> Result<(), DriveError> {
        while self.look_at_jobs(&self.engine.run.state()?)? {
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    fn follow_decision(
        &mut self,
        state: &RunState,
        group: &str,
        job: &SubmittedWorker,
        decided: JobDecision,
        may_be_there: bool,
    ) -> Result<(), DriveError> {
        let group = group.to_owned();
        match decided {
            JobDecision::Wait => {}
            JobDecision::Began(host) => drop(self.record(|_| vec![EventKind::WorkerBegan { group, host }])?),
            JobDecision::Requeued => drop(self.record(|_| vec![EventKind::WorkerRequeued { group }])?),
            JobDecision::End(outcome) => {
                let Some(known) = find_worker(state, &group).cloned() else { return Ok(()) };
                // One that its engine has lost sight of may still be at work.
                let may_run = !matches!(outcome, JobOutcome::Reported(..));
                if let Some(parallel) = state.parallel.as_ref().filter(|_| may_run) {
                    self.cancel_jobs(parallel, vec![(group.clone(), job.clone())]);
                    if may_be_there && self.is_cancel_to_repeat(job) {
                        // With the next look, which comes to the same end.
                        return Ok(());
                    }
                    if may_be_there {
                        self.record_failed_cancel(&group, job)?;
                    }
                }
                self.on_job_end(&known, job, &outcome)?;
            }
        }
        Ok(())
    }

    /// The engine of the run, whose workers reach the remote repository at this address where its launcher names no
    /// other one.
    pub(super) fn engine_commands<'e>(&self, parallel: &'e ParallelState, address: String) -> Option<EngineCommands<'e>>
    where
        'a: 'e,
    {
        let profile = parallel.policy.profile.as_ref()?;
        let variables = self.launch_config.as_ref().map_or_else(env::variables, |means| means.variables.clone());
        Some(EngineCommands {
            profile,
            time_limit_seconds: parallel.policy.time_limit_seconds(),
            root: self.engine.root,
            variables,
            remote: profile.remote.clone().unwrap_or(address),
            run: self.engine.run.id(),
        })
    }

    pub(super) fn job_values(&self, group: &str, job: &SubmittedWorker) -> JobValues {
        JobValues {
            job: job.name.clone(),
            branch: self.job_branch(group, job),
            base: String::new(),
            brief: job.brief.clone(),
            group: group.to_owned(),
            log: log_path(self.engine, group, job.launch),
        }
    }

    fn job_branch(&self, group: &str, job: &SubmittedWorker) -> String {
        self.worker_name(group).map(|name| launch_branch(&name.branch(), job.launch)).unwrap_or_default()
    }

    /// Reads the reports that changed.
    fn read_reports(&mut self, parallel: &ParallelState) -> Result<(), RemoteError> {
        let remote = Remote::find(&self.repository, parallel.policy.remote_name())?;
        let there = remote.branches(&format!("omo/{}/", self.engine.run.id()))?;
        let branches = parallel.jobs().map(|(group, job)| (job, report_branch(&self.job_branch(group, job))));
        let changed: Vec<(&SubmittedWorker, &str, &str)> = branches
            .filter_map(|(job, branch)| {
                let (branch, commit) = there.iter().find(|(known, _)| *known == branch)?;
                let is_known = self.jobs.reports.get(&job.name).is_some_and(|(known, _)| known == commit);
                (!is_known).then_some((job, branch.as_str(), commit.as_str()))
            })
            .collect();
        if changed.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = changed.iter().map(|(_, branch, _)| *branch).collect();
        remote.fetch_unnamed(&names)?;
        let mut read = Vec::new();
        for (job, _, commit) in changed {
            // One that moved meanwhile is read with the next look.
            let Ok(Some(bytes)) = read_message(&self.repository, commit, REPORT_FILE) else { continue };
            read.extend(WorkerReport::parse(&bytes).map(|report| (job.name.clone(), (commit.to_owned(), report))));
        }
        self.jobs.reports.extend(read);
        Ok(())
    }

    /// The worker of a session is over.
    fn on_job_end(&mut self, group: &TaskGroup, job: &SubmittedWorker, outcome: &JobOutcome) -> Result<(), DriveError> {
        let cost = match self.jobs.reports.get(&job.name) {
            Some((_, report)) => report.cost.within(job.budget_micros),
            // A worker reports before its client begins.
            None if self.jobs.has_read_reports => job.reported_cost.unwrap_or_default(),
            None => job.cost(),
        };
        if job.reported_cost != Some(cost) {
            let group = group.id.clone();
            self.record(|_| vec![EventKind::WorkerReported { group, cost }])?;
        }
        self.take_in_remote_work(group, omo_remote::outcome::remote_end(outcome, cost))?;
        self.jobs.forget(&job.name);
        Ok(())
    }
}
