//! A trivial worker that shows whether a launcher works from end to end: remote, scheduler, brief, client, commit.
//! Nothing of the project goes there, and nothing of the trial is left.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;
use omo_git::message_commit::{read_message, write_message};
use omo_git::remote::{Remote, RemoteError};
use omo_git::repository::{GitFailed, GitRepository};
use omo_git::task_trailers::{RUN_TRAILER, TASK_TRAILER};
use omo_state::random_id::random_letters;

use crate::decision::{EngineState, JobDecision, JobOutcome};
use crate::exchange::{
    BRIEF_FILE, BriefTask, EXCHANGE_VERSION, WorkerBrief, WorkerEnd, WorkerPhase, brief_branch,
};
use crate::follow::JobFollower;
use crate::job::{JobValues, SubmittedWorker};
use crate::launcher::{Launcher, ProfileLauncher};
use crate::profile::LauncherProfile;

const ASKED_FILE: &str = "omo-doctor.txt";
const ASKED_TEXT: &str = "ok";
/// Budget of the client: half a dollar.
const BUDGET_MICROS: u64 = 500_000;
const CLIENT_SECONDS: u32 = 180;
/// Maximum time in the queue: someone waits for the trial.
const MAX_QUEUE_MINUTES: u32 = 10;
/// Failures of `status` in a row that end the trial.
const MAX_STATUS_FAILURES: u32 = 3;
const LOG_LINES: usize = 12;
const LOG_LINE_CHARS: usize = 200;
const SLICE: Duration = Duration::from_millis(100);
const QUEUED: &str = "has it in its queue";

/// Trial of one launcher profile, for `omo doctor`.
#[derive(Clone, Copy, Debug)]
pub struct LauncherTrial<'t> {
    pub root: &'t Path,
    pub repository: &'t GitRepository,
    /// Folder on the file system of the runs' logs.
    pub log_folder: &'t Path,
    pub profile: &'t LauncherProfile,
    pub remote_name: &'t str,
    /// Environment of the launcher's commands.
    pub variables: &'t [(OsString, OsString)],
    pub now: fn() -> Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialStep {
    pub place: TrialPlace,
    pub what: String,
}

/// Place of a step or a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialPlace {
    /// On this machine.
    Here,
    Remote,
    Engine,
    Queue,
    Worker,
    Client,
    /// A remark about a launcher that works.
    Note,
}

impl TrialPlace {
    pub fn name(self) -> &'static str {
        match self {
            Self::Here => "here",
            Self::Remote => "remote",
            Self::Engine => "engine",
            Self::Queue => "queue",
            Self::Worker => "worker",
            Self::Client => "client",
            Self::Note => "note",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialFailure {
    pub place: TrialPlace,
    pub why: String,
    /// Last lines of `logs`.
    pub log: Vec<String>,
}

impl TrialFailure {
    fn new(place: TrialPlace, why: impl Into<String>) -> Self {
        Self {
            place,
            why: why.into(),
            log: Vec::new(),
        }
    }

    fn here(error: &dyn std::fmt::Display) -> Self {
        Self::new(TrialPlace::Here, error.to_string())
    }
}

impl From<GitFailed> for TrialFailure {
    fn from(error: GitFailed) -> Self {
        Self::here(&error)
    }
}

impl From<RemoteError> for TrialFailure {
    fn from(error: RemoteError) -> Self {
        Self::new(TrialPlace::Remote, error.to_string())
    }
}

struct TrialWorker {
    beginning: String,
    values: JobValues,
}

type Tell<'t> = &'t mut dyn FnMut(TrialPlace, String);

impl LauncherTrial<'_> {
    /// Starts the worker and follows it to its end, while `goes_on`; passes each step to `tell`.
    pub fn run(
        &self,
        goes_on: &mut dyn FnMut() -> bool,
        tell: &mut dyn FnMut(TrialStep),
    ) -> Result<(), TrialFailure> {
        let queue_minutes = self.profile.queue_minutes.min(MAX_QUEUE_MINUTES);
        let profile = LauncherProfile {
            queue_minutes,
            ..self.profile.clone()
        };
        let tell: Tell = &mut |place, what| tell(TrialStep { place, what });
        let remote = Remote::find(self.repository, self.remote_name)?;
        let TrialWorker { beginning, values } = self.write_brief()?;
        let branch = values.branch.as_str();
        remote.push_all(&[
            (values.base.as_str(), branch),
            (values.brief.as_str(), &brief_branch(branch)),
        ])?;
        tell(
            TrialPlace::Remote,
            format!("`{}` takes branches", sanitize(self.remote_name, 60)),
        );
        let address = if profile.remote.is_some() {
            String::new()
        } else {
            remote.address()?
        };
        let launcher = ProfileLauncher {
            profile,
            time_limit_seconds: CLIENT_SECONDS,
            root: self.root.to_owned(),
            repository: self.repository.clone(),
            remote_name: self.remote_name.to_owned(),
            variables: self.variables.to_vec(),
            address,
            run: values.group.clone(),
        };
        let mut sight = Sight::new(&launcher, &values, self.now);
        let followed = self.follow(&mut sight, remote, &beginning, goes_on, tell);
        let followed = followed.map_err(|failure| TrialFailure {
            log: last_lines(&launcher, &values),
            ..failure
        });
        // Also after its end: `cancel` is part of the trial, and some schedulers keep finished workers.
        sight.follower.cancel(&launcher, vec![values.clone()]);
        if let (Some(why), Ok(())) = (sight.follower.cancel_failure(&values.job), &followed) {
            tell(
                TrialPlace::Note,
                format!("its command `cancel` fails: {why}"),
            );
        }
        if followed.is_err() {
            // The worker must push nothing once its branches are removed.
            while let Ok(None) = sight.look(true, &mut |_, _| ()) {
                std::thread::sleep(launcher.profile.poll_interval());
            }
        }
        let _ = std::fs::remove_file(&values.log);
        match remove_branches(remote, &beginning) {
            Ok(()) => tell(
                TrialPlace::Remote,
                "has nothing of this trial any more".to_owned(),
            ),
            Err(error) => {
                tell(
                    TrialPlace::Note,
                    format!("the branches {beginning}… are still on the remote: {error}"),
                );
            }
        }
        followed
    }

    /// A brief with one task, on a commit without anything of the project.
    fn write_brief(&self) -> Result<TrialWorker, TrialFailure> {
        let id = random_letters(8).map_err(|error| TrialFailure::here(&error))?;
        let run = format!("doctor-{id}");
        let beginning = format!("omo/{run}/");
        let branch = format!("{beginning}worker-1");
        let base = write_message(
            self.repository,
            "README",
            b"A trial of a launcher by `omo doctor`.\n",
        )?;
        let brief = WorkerBrief {
            version: EXCHANGE_VERSION,
            run: run.clone(),
            group: run.clone(),
            base: base.clone(),
            prompt: format!(
                "Write the text `{ASKED_TEXT}` into a new file `{ASKED_FILE}` in this folder, and end. Do nothing else: \
                 this is a test of the machine."
            ),
            tasks: vec![BriefTask {
                id: "1".to_owned(),
                message: format!("omo: try a launcher\n\n{RUN_TRAILER}: {run}\n{TASK_TRAILER}: 1"),
            }],
            setup: None,
            never_touch: Vec::new(),
            skips_permissions: false,
            allow: Vec::new(),
            model: None,
            budget_micros: Some(BUDGET_MICROS),
            time_limit_seconds: CLIENT_SECONDS,
        };
        let brief =
            serde_json::to_vec_pretty(&brief).map_err(|error| TrialFailure::here(&error))?;
        let values = JobValues {
            job: format!("omo-{run}"),
            branch,
            base,
            brief: write_message(self.repository, BRIEF_FILE, &brief)?,
            group: run,
            log: self
                .log_folder
                .join(format!("omo-doctor-{id}.log"))
                .display()
                .to_string(),
            ..JobValues::default()
        };
        Ok(TrialWorker { beginning, values })
    }

    fn follow(
        &self,
        sight: &mut Sight,
        remote: Remote,
        beginning: &str,
        goes_on: &mut dyn FnMut() -> bool,
        tell: Tell,
    ) -> Result<(), TrialFailure> {
        let (launcher, values) = (sight.launcher, sight.values);
        launcher
            .start(values)
            .map_err(|failure| TrialFailure::new(TrialPlace::Engine, failure.why))?;
        tell(
            TrialPlace::Engine,
            format!("has taken the worker, as {}", values.job),
        );
        let outcome = loop {
            if let Some(outcome) = sight.look(false, tell)? {
                break outcome;
            }
            let since = Instant::now();
            while since.elapsed() < launcher.profile.poll_interval() {
                if !goes_on() {
                    return Err(TrialFailure::new(
                        TrialPlace::Here,
                        "it was interrupted, and its worker is ended",
                    ));
                }
                std::thread::sleep(SLICE);
            }
        };
        if let Some(failure) = describe_outcome(outcome) {
            return Err(failure);
        }
        self.require_work(remote, beginning, values)?;
        // A worker may end before `status` fails often enough.
        sight.require_status()?;
        tell(
            TrialPlace::Remote,
            "has the commit that was asked for".to_owned(),
        );
        for weakness in sight.weaknesses() {
            tell(TrialPlace::Note, weakness);
        }
        Ok(())
    }

    /// The reported work is on the remote, and is what was asked for.
    fn require_work(
        &self,
        remote: Remote,
        beginning: &str,
        values: &JobValues,
    ) -> Result<(), TrialFailure> {
        let branches = remote.branches(beginning)?;
        let tip = branches
            .iter()
            .find(|(name, _)| *name == values.branch)
            .map(|(_, commit)| commit.as_str())
            .filter(|tip| *tip != values.base)
            .ok_or_else(|| {
                TrialFailure::new(
                    TrialPlace::Worker,
                    "it says that it has pushed, and its branch has nothing",
                )
            })?;
        remote.fetch_unnamed(&[&values.branch])?;
        let content = read_message(self.repository, tip, ASKED_FILE)?;
        if content.is_some_and(|content| String::from_utf8_lossy(&content).trim() == ASKED_TEXT) {
            return Ok(());
        }
        let why = format!(
            "it was asked for `{ASKED_FILE}` with `{ASKED_TEXT}`, and has pushed something else"
        );
        Err(TrialFailure::new(TrialPlace::Client, why))
    }
}

struct Sight<'t> {
    launcher: &'t ProfileLauncher,
    values: &'t JobValues,
    now: fn() -> Timestamp,
    follower: JobFollower,
    job: SubmittedWorker,
    status_failures: u32,
    /// Last failure of `status`.
    status_error: Option<String>,
    is_told_queued: bool,
    is_told_at_work: bool,
}

impl<'t> Sight<'t> {
    fn new(launcher: &'t ProfileLauncher, values: &'t JobValues, now: fn() -> Timestamp) -> Self {
        let job = SubmittedWorker::new(&values.job, 1, &values.brief, now(), Some(BUDGET_MICROS));
        Self {
            launcher,
            values,
            now,
            follower: JobFollower::default(),
            job: SubmittedWorker {
                time_limit_seconds: CLIENT_SECONDS,
                ..job
            },
            status_failures: 0,
            status_error: None,
            is_told_queued: false,
            is_told_at_work: false,
        }
    }

    /// Looks once, as a run does.
    fn look(&mut self, is_cancelled: bool, tell: Tell) -> Result<Option<JobOutcome>, TrialFailure> {
        let now = (self.now)();
        let look = self.follower.look(
            self.launcher,
            &[(self.values.clone(), &self.job)],
            is_cancelled,
            now,
        );
        look.reports?;
        match look.listed {
            None => {}
            Some(Ok(())) => (self.status_failures, self.status_error) = (0, None),
            Some(Err(why)) => {
                self.status_failures += 1;
                self.status_error = Some(why);
                if self.status_failures >= MAX_STATUS_FAILURES {
                    self.require_status()?;
                }
            }
        }
        for seen in look.jobs {
            if seen.state == Some(EngineState::Queued) && !self.is_told_queued {
                self.is_told_queued = true;
                tell(TrialPlace::Engine, QUEUED.to_owned());
            }
            let report = self.follower.report(&self.job.name);
            if report.is_some_and(|report| report.phase == WorkerPhase::Working)
                && !self.is_told_at_work
            {
                self.is_told_at_work = true;
                tell(
                    TrialPlace::Worker,
                    "has cloned, and its client is at work".to_owned(),
                );
            }
            match seen.decision {
                JobDecision::Wait => {}
                JobDecision::Began(host) => {
                    if !host.is_empty() {
                        tell(
                            TrialPlace::Worker,
                            format!("has begun on {}", sanitize(&host, 60)),
                        );
                    } else if self.job.began_at.is_none() {
                        tell(TrialPlace::Engine, "has begun it".to_owned());
                    }
                    (self.job.began_at, self.job.host) = (Some(now), host);
                }
                JobDecision::Requeued => {
                    self.job.began_at = None;
                    tell(TrialPlace::Engine, QUEUED.to_owned());
                }
                JobDecision::End(outcome) => return Ok(Some(outcome)),
            }
        }
        Ok(None)
    }

    fn require_status(&self) -> Result<(), TrialFailure> {
        match &self.status_error {
            None => Ok(()),
            Some(why) => Err(TrialFailure::new(
                TrialPlace::Engine,
                format!("its command `status` fails: {why}"),
            )),
        }
    }

    fn weaknesses(&self) -> Vec<String> {
        let profile = &self.launcher.profile;
        let mut weaknesses = Vec::new();
        if profile.status.is_none() {
            weaknesses.push(
                "it has no command `status`: a worker that its scheduler loses is noticed when its time is up".into(),
            );
        } else if !self.follower.was_listed(&self.job.name) {
            weaknesses.push("its command `status` did not list the worker; a slower one would be taken for lost".into());
        }
        if profile.cancel.is_none() {
            weaknesses.push("it has no command `cancel`: a cancelled run leaves its workers to their time limit".into());
        }
        if let Some(Err(why)) = self.launcher.logs(self.values) {
            weaknesses.push(format!("its command `logs` fails: {why}"));
        }
        weaknesses
    }
}

/// `None` for a worker that has pushed everything.
fn describe_outcome(outcome: JobOutcome) -> Option<TrialFailure> {
    let (place, why, detail) = match outcome {
        JobOutcome::Lost(word) => (
            TrialPlace::Worker,
            "its scheduler no longer has it, and it printed nothing",
            word,
        ),
        JobOutcome::QueueLimit => (
            TrialPlace::Queue,
            "it waited for as long as a trial may",
            String::new(),
        ),
        JobOutcome::TimeUp => (
            TrialPlace::Worker,
            "it did not end in its time",
            String::new(),
        ),
        JobOutcome::Reported(end, detail) => {
            let (place, why) = match end {
                WorkerEnd::Pushed => return None,
                WorkerEnd::NotPrepared => (TrialPlace::Worker, "it could not begin"),
                WorkerEnd::TasksLeft => (
                    TrialPlace::Client,
                    "it ended without the file that it was asked for",
                ),
                WorkerEnd::UsageLimit { .. } => (TrialPlace::Client, "it met a limit of use"),
                WorkerEnd::BudgetSpent => {
                    (TrialPlace::Client, "it spent half a dollar without an end")
                }
                WorkerEnd::ApiFailed => (TrialPlace::Client, "the API refused it, or failed"),
                WorkerEnd::TimedOut => (TrialPlace::Client, "its time was up"),
                WorkerEnd::Stopped => (TrialPlace::Worker, "it was stopped by its scheduler"),
                WorkerEnd::Killed => (TrialPlace::Client, "it was killed"),
            };
            (place, why, detail)
        }
    };
    let detail = sanitize(&detail, 300);
    Some(TrialFailure::new(
        place,
        if detail.is_empty() {
            why.to_owned()
        } else {
            format!("{why}: {detail}")
        },
    ))
}

fn last_lines(launcher: &dyn Launcher, values: &JobValues) -> Vec<String> {
    let output = launcher
        .logs(values)
        .and_then(Result::ok)
        .unwrap_or_default();
    let lines: Vec<String> = output
        .lines()
        .map(|line| sanitize(line, LOG_LINE_CHARS))
        .filter(|line| !line.trim().is_empty())
        .collect();
    lines.into_iter().rev().take(LOG_LINES).rev().collect()
}

fn remove_branches(remote: Remote, beginning: &str) -> Result<(), RemoteError> {
    let branches = remote.branches(beginning)?;
    let pairs: Vec<(&str, &str)> = branches
        .iter()
        .map(|(name, commit)| (name.as_str(), commit.as_str()))
        .collect();
    if pairs.is_empty() {
        Ok(())
    } else {
        remote.delete_all(&pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_work_that_was_pushed_is_no_failure_and_every_other_end_says_where() {
        let ended = |end| JobOutcome::Reported(end, "d\u{202e}".to_owned());
        assert_eq!(describe_outcome(ended(WorkerEnd::Pushed)), None);
        for (outcome, place, why) in [
            (
                ended(WorkerEnd::NotPrepared),
                TrialPlace::Worker,
                "it could not begin: d",
            ),
            (
                ended(WorkerEnd::ApiFailed),
                TrialPlace::Client,
                "the API refused it, or failed: d",
            ),
            (
                JobOutcome::QueueLimit,
                TrialPlace::Queue,
                "it waited for as long as a trial may",
            ),
        ] {
            let failure = describe_outcome(outcome).unwrap();
            assert_eq!(failure.place, place);
            assert!(
                failure.why.starts_with(why) && !failure.why.contains('\u{202e}'),
                "{}",
                failure.why
            );
        }
    }
}
