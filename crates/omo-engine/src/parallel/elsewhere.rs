//! Watch of workers on other machines: polls of their launcher, and the events that follow.

use omo_core::text::sanitize;
use omo_remote::contact::ContactNews;
use omo_remote::decision::{JobDecision, JobOutcome};
use omo_remote::follow::{JobLook, SeenJob};
use omo_remote::job::{JobValues, SubmittedWorker, launch_branch};
use omo_remote::launcher::ProfileLauncher;
use omo_remote::outcome::remote_end;

use crate::client_policy::ClientPolicy;
use crate::event::{EventKind, WorkerPeer};
use crate::parallel::launcher::{find_launcher, log_path};
use crate::parallel::remote_branches::Silence;
use crate::parallel::{DriveError, POLL_INTERVAL, ParallelDriver, find_worker};
use crate::parallel_state::ParallelState;
use crate::state::RunState;

impl ParallelDriver<'_> {
    /// Asks about workers elsewhere if a poll is due, and records news; `true` while there are any.
    pub(super) fn look_at_jobs(&mut self, state: &RunState) -> Result<bool, DriveError> {
        let Some(parallel) = state
            .parallel
            .as_ref()
            .filter(|parallel| parallel.jobs().next().is_some())
        else {
            return Ok(false);
        };
        let Some(launcher) = self.launcher(&parallel.policy, String::new()) else {
            return Ok(false);
        };
        let is_over = state.is_over();
        // A job that is being started is neither asked about nor ended before its start is complete.
        let jobs = parallel
            .jobs()
            .filter(|(_, job)| !self.starts.is_under_way(&job.name));
        let jobs: Vec<_> = jobs
            .map(|(group, job)| (self.job_values(group, job), job))
            .collect();
        let is_cancelling = is_over && !self.jobs.are_cancelled(jobs.iter().map(|(_, job)| *job));
        if jobs.is_empty() || self.jobs.is_fresh(&launcher) && !is_cancelling {
            return Ok(true);
        }
        if is_over {
            self.jobs.cancel(
                &launcher,
                jobs.iter().map(|(values, _)| values.clone()).collect(),
            );
        }
        let look = self
            .jobs
            .look(&launcher, &jobs, is_over, (self.engine.now)());
        self.silence = Silence::new();
        match &look.reports {
            Err(error) if is_over => drop(self.silence.set(error.to_string())),
            _ if is_over => {}
            _ => self.follow_contacts(parallel, &look)?,
        }
        for ((values, job), seen) in jobs.iter().zip(look.jobs) {
            self.follow_decision(state, &launcher, values, job, seen)?;
        }
        Ok(true)
    }

    fn follow_contacts(
        &mut self,
        parallel: &ParallelState,
        look: &JobLook,
    ) -> Result<(), DriveError> {
        let reports = look
            .reports
            .as_ref()
            .map(|&()| ())
            .map_err(ToString::to_string);
        let mut events = Vec::new();
        for (peer, look) in [
            (WorkerPeer::Remote, Some(&reports)),
            (WorkerPeer::Engine, look.listed.as_ref()),
        ] {
            let Some(look) = look else { continue };
            let look = look.as_ref().map(|&()| ()).map_err(String::as_str);
            let is_told = parallel.lost_contacts.contains_key(&peer);
            events.extend(
                self.jobs
                    .note_contact(peer, look, is_told, (self.engine.now)())
                    .map(|news| match news {
                        ContactNews::Lost { since, reason } => EventKind::ContactLost {
                            peer,
                            since,
                            reason,
                        },
                        ContactNews::Restored => EventKind::ContactRestored { peer },
                    }),
            );
        }
        if !events.is_empty() {
            self.record(|_| events)?;
        }
        Ok(())
    }

    /// Waits at most 90 seconds for the workers of a run that is over, which the first look cancels.
    pub(super) fn end_jobs(&mut self) -> Result<(), DriveError> {
        while self.look_at_jobs(&self.engine.run.state()?)? {
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    fn follow_decision(
        &mut self,
        state: &RunState,
        launcher: &ProfileLauncher,
        values: &JobValues,
        job: &SubmittedWorker,
        seen: SeenJob,
    ) -> Result<(), DriveError> {
        let group = values.group.clone();
        let outcome = match seen.decision {
            JobDecision::Wait => return Ok(()),
            JobDecision::Began(host) => {
                return self
                    .record(|_| vec![EventKind::WorkerBegan { group, host }])
                    .map(drop);
            }
            JobDecision::Requeued => {
                return self
                    .record(|_| vec![EventKind::WorkerRequeued { group }])
                    .map(drop);
            }
            JobDecision::End(outcome) => outcome,
        };
        let Some(known) = find_worker(state, &group).cloned() else {
            return Ok(());
        };
        // A worker that its scheduler has lost may still be at work.
        if !matches!(outcome, JobOutcome::Reported(..)) {
            self.jobs.cancel(launcher, vec![values.clone()]);
            if seen.may_be_there && self.jobs.is_cancel_to_repeat(&job.name) {
                // The next look comes to the same end.
                return Ok(());
            }
            if let Some(why) = self
                .jobs
                .cancel_failure(&job.name)
                .filter(|_| seen.may_be_there)
            {
                let (group, job, reason) = (group.clone(), job.name.clone(), sanitize(why, 300));
                self.record(|_| vec![EventKind::WorkerNotCancelled { group, job, reason }])?;
            }
        }
        let cost = self.jobs.cost(job);
        if job.reported_cost != Some(cost) {
            self.record(|_| vec![EventKind::WorkerReported { group, cost }])?;
        }
        self.take_in_remote_work(&known, remote_end(&outcome, cost))?;
        self.jobs.forget(&job.name);
        Ok(())
    }

    /// Launcher of the run; workers reach the remote repository at `address` if it names no other.
    pub(super) fn launcher(
        &self,
        policy: &ClientPolicy,
        address: String,
    ) -> Option<ProfileLauncher> {
        let launcher = find_launcher(
            self.engine,
            &self.repository,
            policy,
            self.launch_config.as_ref(),
        )?;
        Some(ProfileLauncher {
            address,
            ..launcher
        })
    }

    fn job_values(&self, group: &str, job: &SubmittedWorker) -> JobValues {
        let name = self.worker_name(group);
        JobValues {
            job: job.name.clone(),
            branch: name
                .map(|name| launch_branch(&name.branch(), job.launch))
                .unwrap_or_default(),
            brief: job.brief.clone(),
            group: group.to_owned(),
            log: log_path(self.engine, group, job.launch),
            ..JobValues::default()
        }
    }
}
