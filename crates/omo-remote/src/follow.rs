//! Observation of a run's workers on a scheduler: its list and their reports decide how long the run waits; their
//! pushed work is judged here. Job names are recorded before the start, so that a later supervisor finds the same jobs.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use omo_claude::client_cost::{ClientCost, time_limit_or_default};
use omo_core::timestamp::Timestamp;
use omo_git::message_commit::read_message;
use omo_git::remote::RemoteError;
use omo_process::parallel_map::parallel_map;

use crate::cancellation::{CancelSilence, Cancellation, may_be_there};
use crate::contact::{ContactNews, ContactWatch};
use crate::decision::{EngineAnswer, EngineState, JobDecision, JobSighting, decide};
use crate::exchange::{REPORT_FILE, WorkerReport, report_branch};
use crate::job::{JobValues, SubmittedWorker};
use crate::launcher::{Launcher, ProfileLauncher};
use crate::peer::WorkerPeer;

/// Maximum number of concurrent commands that start or end workers.
pub const COMMANDS_AT_ONCE: usize = 4;
/// Pause after a first refusal; each further one doubles it, up to [`LAST_BACK_OFF`].
const FIRST_BACK_OFF: Duration = Duration::from_secs(5);
const LAST_BACK_OFF: Duration = Duration::from_secs(300);

/// Facts about each [`SubmittedWorker`] that the ledger does not hold.
#[derive(Debug, Default)]
pub struct JobFollower {
    looked_at: Option<Instant>,
    reports: BTreeMap<String, (String, WorkerReport)>,
    /// Jobs that some list had, with `true` for one that the last list left out.
    missing: BTreeMap<String, bool>,
    has_read_reports: bool,
    cancelled: BTreeMap<String, Cancellation>,
    cancel_silence: CancelSilence,
    contacts: BTreeMap<WorkerPeer, ContactWatch>,
    /// End of the pause and number of refusals, by session.
    back_off: BTreeMap<String, (Instant, u32)>,
}

#[derive(Debug)]
pub struct JobLook {
    /// Outcome of reading the reports at the remote.
    pub reports: Result<(), RemoteError>,
    /// Outcome of the scheduler's list; `None` without a command for a list.
    pub listed: Option<Result<(), String>>,
    /// Jobs in the order of the arguments.
    pub jobs: Vec<SeenJob>,
}

#[derive(Debug)]
pub struct SeenJob {
    /// Result of [`decide`](crate::decision::decide).
    pub decision: JobDecision,
    /// State in the scheduler's list.
    pub state: Option<EngineState>,
    /// `false` for a job that the scheduler lists as ended, or no longer lists.
    pub may_be_there: bool,
}

impl JobFollower {
    /// `true` within `poll_seconds` after the last look.
    pub fn is_fresh(&self, launcher: &ProfileLauncher) -> bool {
        self.looked_at
            .is_some_and(|at| at.elapsed() < launcher.profile.poll_interval())
    }

    /// Takes one list of the scheduler, one of branches, one fetch of changed reports; `is_over` for a cancelled run.
    pub fn look(
        &mut self,
        launcher: &ProfileLauncher,
        jobs: &[(JobValues, &SubmittedWorker)],
        is_over: bool,
        now: Timestamp,
    ) -> JobLook {
        // The scheduler is asked before the reports are read: by then a worker that has left its list has reported.
        let (states, listed) = match launcher.list() {
            None => (None, None),
            Some(Ok(states)) => (Some(states), Some(Ok(()))),
            Some(Err(why)) => (None, Some(Err(why))),
        };
        let reports = self.read_reports(launcher, jobs);
        self.has_read_reports = reports.is_ok();
        self.looked_at = Some(Instant::now());
        // An unlisted worker may have reported its end: without reports, only time decides.
        let states = states.filter(|_| reports.is_ok());
        let mut seen = Vec::new();
        for (values, job) in jobs {
            let state = states.as_ref().map(|states| states.get(&values.job));
            let engine = state.map_or(EngineAnswer::Unknown, |state| {
                self.engine_answer(&values.job, state)
            });
            let limit =
                Duration::from_secs(u64::from(time_limit_or_default(job.time_limit_seconds)));
            // In a run that is not over, the cancelled worker's end is decided anew at each look.
            let cancelled_for = self
                .cancelled
                .get(&values.job)
                .filter(|_| is_over)
                .map(Cancellation::elapsed);
            let sighting = JobSighting {
                engine,
                report: self.report(&values.job),
                cancelled_for,
            };
            let decision = decide(job, sighting, &launcher.profile, limit, now);
            if !is_over && !matches!(decision, JobDecision::End(_)) {
                self.cancelled.remove(&values.job);
            }
            let may_be_there = may_be_there(engine);
            seen.push(SeenJob {
                decision,
                state: state.flatten().cloned(),
                may_be_there,
            });
        }
        JobLook {
            reports,
            listed,
            jobs: seen,
        }
    }

    fn read_reports(
        &mut self,
        launcher: &ProfileLauncher,
        jobs: &[(JobValues, &SubmittedWorker)],
    ) -> Result<(), RemoteError> {
        let remote = launcher.remote()?;
        let branches = remote.branches(&format!("omo/{}/", launcher.run))?;
        let mut changed = Vec::new();
        for (values, _) in jobs {
            let branch = report_branch(&values.branch);
            let Some((branch, commit)) = branches.iter().find(|(name, _)| *name == branch) else {
                continue;
            };
            if self
                .reports
                .get(&values.job)
                .is_none_or(|(read, _)| read != commit)
            {
                changed.push((&values.job, branch.as_str(), commit));
            }
        }
        if changed.is_empty() {
            return Ok(());
        }
        remote.fetch_unnamed(
            &changed
                .iter()
                .map(|(_, branch, _)| *branch)
                .collect::<Vec<_>>(),
        )?;
        for (job, _, commit) in changed {
            // A report that moved meanwhile is read with the next look.
            let Ok(Some(bytes)) = read_message(&launcher.repository, commit, REPORT_FILE) else {
                continue;
            };
            if let Some(report) = WorkerReport::parse(&bytes) {
                self.reports.insert(job.clone(), (commit.clone(), report));
            }
        }
        Ok(())
    }

    pub fn report(&self, job: &str) -> Option<&WorkerReport> {
        self.reports.get(job).map(|(_, report)| report)
    }

    /// `true` for a job that the scheduler has listed before.
    pub fn was_listed(&self, job: &str) -> bool {
        self.missing.contains_key(job)
    }

    /// Cost of a finished worker.
    pub fn cost(&self, job: &SubmittedWorker) -> ClientCost {
        match self.report(&job.name) {
            Some(report) => report.cost.within(job.budget_micros),
            // A worker reports before its client begins.
            None if self.has_read_reports => job.reported_cost.unwrap_or_default(),
            None => job.cost(),
        }
    }

    /// News of a peer's silence; `is_told` where the ledger holds a silence that has not ended.
    pub fn note_contact(
        &mut self,
        peer: WorkerPeer,
        look: Result<(), &str>,
        is_told: bool,
        now: Timestamp,
    ) -> Option<ContactNews> {
        self.contacts
            .entry(peer)
            .or_default()
            .note(look, is_told, now)
    }

    pub fn are_cancelled<'j>(&self, mut jobs: impl Iterator<Item = &'j SubmittedWorker>) -> bool {
        jobs.all(|job| self.cancelled.contains_key(&job.name))
    }

    /// Asks the launcher to end each worker once, and again after a failure.
    pub fn cancel(&mut self, launcher: &dyn Launcher, mut jobs: Vec<JobValues>) {
        let begun = Instant::now();
        jobs.retain(|job| {
            self.cancelled
                .get(&job.job)
                .is_none_or(Cancellation::is_to_repeat)
        });
        for chunk in jobs.chunks(COMMANDS_AT_ONCE) {
            let answers = if let Some(why) = self.cancel_silence.reason(Instant::now()) {
                vec![Err(why.to_owned()); chunk.len()]
            } else {
                let asked = parallel_map(chunk, |job| launcher.cancel(job));
                for answer in &asked {
                    self.cancel_silence.note(answer, Instant::now());
                }
                asked
                    .into_iter()
                    .map(|answer| answer.map_err(|failure| failure.why))
                    .collect()
            };
            for (job, answer) in chunk.iter().zip(answers) {
                self.cancelled
                    .entry(job.job.clone())
                    .or_insert_with(|| Cancellation::begin(begun))
                    .note(answer);
            }
        }
    }

    pub fn is_cancel_to_repeat(&self, job: &str) -> bool {
        self.cancelled
            .get(job)
            .is_some_and(Cancellation::is_to_repeat)
    }

    /// Reason of a failure to end a worker.
    pub fn cancel_failure(&self, job: &str) -> Option<&str> {
        self.cancelled.get(job)?.failure.as_deref()
    }

    /// `true` during the pause after a refusal.
    pub fn is_backing_off(&self, group: &str) -> bool {
        self.back_off
            .get(group)
            .is_some_and(|(until, _)| Instant::now() < *until)
    }

    /// Pauses a session; returns its number of refusals in a row.
    pub fn refuse(&mut self, group: &str) -> u32 {
        let (until, times) = self
            .back_off
            .entry(group.to_owned())
            .or_insert((Instant::now(), 0));
        let wait = FIRST_BACK_OFF
            .saturating_mul(2_u32.saturating_pow(*times))
            .min(LAST_BACK_OFF);
        (*until, *times) = (Instant::now() + wait, times.saturating_add(1));
        *times
    }

    /// Ends the pause after the start of a worker.
    pub fn accept(&mut self, group: &str) {
        self.back_off.remove(group);
    }

    /// Answer about a job; the first list without a known job is `Unknown`: a scheduler may list nothing for a moment.
    fn engine_answer<'s>(
        &mut self,
        job: &str,
        listed: Option<&'s EngineState>,
    ) -> EngineAnswer<'s> {
        if let Some(state) = listed {
            self.missing.insert(job.to_owned(), false);
            return EngineAnswer::Listed(state);
        }
        match self.missing.get_mut(job) {
            None => EngineAnswer::Unlisted { was_listed: false },
            Some(true) => EngineAnswer::Unlisted { was_listed: true },
            Some(is_missing) => {
                *is_missing = true;
                EngineAnswer::Unknown
            }
        }
    }

    pub fn forget(&mut self, job: &str) {
        self.reports.remove(job);
        self.missing.remove(job);
        self.cancelled.remove(job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_is_not_listed_once_is_not_gone() {
        let (running, mut board) = (EngineState::Running, JobFollower::default());
        let unlisted = |was_listed| EngineAnswer::Unlisted { was_listed };
        for (listed, expected) in [
            (None, unlisted(false)),
            (Some(&running), EngineAnswer::Listed(&running)),
            (None, EngineAnswer::Unknown),
            (Some(&running), EngineAnswer::Listed(&running)),
            (None, EngineAnswer::Unknown),
            (None, unlisted(true)),
        ] {
            assert_eq!(board.engine_answer("j", listed), expected, "{listed:?}");
        }
    }
}
