//! `omo worker`: fetches a brief, has a client work on it in a clone, and pushes its commits; git alone connects it with
//! the run. A scheduler may kill it, run it twice, or start it again: commits are only added to the branch of the work,
//! and the branch of the report belongs to the last start; an earlier worker notices that at its next push, and ends.

mod client_session;
pub mod jobs;
mod last_push;
mod push_patience;
mod reporter;
mod rules;
mod scratch;

use std::path::PathBuf;

use omo_checks::set_up::{SetUpError, set_up_worktree};
use omo_checks::task_check::CheckLog;
use omo_claude::client_cost::ClientCost;
use omo_claude::client_end::ClientEnd;
use omo_core::text::sanitize;
use omo_git::message_commit::read_message;
use omo_git::remote::worker_clone::{PushStop, WorkerClone, without_credentials};
use omo_git::remote::{RemoteError, commit_messages};
use omo_git::repository::GitFailed;
use omo_process::environment::CheckEnvironment;
use omo_state::random_id::random_letters;

use crate::exchange::{
    BRIEF_FILE, REPORT_FILE, WorkerBrief, WorkerEnd, WorkerPhase, WorkerReport, brief_branch,
    report_branch,
};

use reporter::{Reporter, SeenReport};
use rules::Progress;
use scratch::WorkerScratch;

pub use rules::{is_branch_name, is_commit_name, remote_problem};

/// Depths of `git fetch` until the base of the work is found.
const DEPTHS: [u32; 5] = [16, 128, 1_024, 8_192, 65_536];
const CLONE: &str = "clone";
const BRANCH_REFERENCE: &str = "refs/omo/branch";
const BRIEF_REFERENCE: &str = "refs/omo/brief";
const REPORT_REFERENCE: &str = "refs/omo/report";
const INSTANCE_LETTERS: usize = 16;
/// Maximum fetches of the branch while another worker pushes to it.
const CLAIMS: usize = 4;
const DETAIL_CHARS: usize = 600;

/// Arguments of `omo worker`.
#[derive(Clone, Debug)]
pub struct WorkerJob {
    pub remote: String,
    pub branch: String,
    /// Commit of the brief; no other brief is followed.
    pub brief: String,
    /// Limit of the client, beside that of the brief.
    pub time_limit_seconds: Option<u32>,
    pub scratch: PathBuf,
    /// The client, or the reason for none.
    pub client: Result<PathBuf, String>,
    /// The program `omo`.
    pub program: PathBuf,
    /// Variables of this process.
    pub variables: Vec<(std::ffi::OsString, std::ffi::OsString)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobEnd {
    /// The end of the work, also in the report if that could be pushed.
    Ended { end: WorkerEnd, detail: String },
    /// Another worker has begun with the same branch.
    Superseded,
    /// The branch has other commits, or the brief is another one.
    Conflict(String),
    /// The branch or its brief is missing.
    NotFound(String),
    /// The remote does not answer, or accepts no push.
    Unreachable(String),
    /// There is no folder to work in.
    NoScratch(String),
}

/// Does the work until `is_asked_to_end` returns `true`; `say` gets lines about the progress.
pub fn run_job(job: &WorkerJob, is_asked_to_end: &dyn Fn() -> bool, say: &dyn Fn(&str)) -> JobEnd {
    let scratch = match WorkerScratch::create(&job.scratch) {
        Ok(scratch) => scratch,
        Err(why) => return JobEnd::NoScratch(why),
    };
    let worker = Worker {
        job,
        scratch: &scratch,
        is_asked_to_end,
        say,
    };
    let end = worker.run(&|| !is_asked_to_end()).unwrap_or_else(|end| end);
    if scratch.is_kept() {
        say(&format!(
            "its work is kept in {}",
            scratch.path().join(CLONE).display()
        ));
    }
    end
}

struct Worker<'w> {
    job: &'w WorkerJob,
    scratch: &'w WorkerScratch,
    is_asked_to_end: &'w dyn Fn() -> bool,
    say: &'w dyn Fn(&str),
}

enum Claim<'c> {
    Held {
        reporter: Box<Reporter<'c>>,
        brief: Box<WorkerBrief>,
        progress: Progress,
    },
    Ended(JobEnd),
    /// Another worker has pushed since the fetch.
    Moved,
}

type Step<T> = Result<T, JobEnd>;

impl Worker<'_> {
    fn run(&self, goes_on: &dyn Fn() -> bool) -> Step<JobEnd> {
        let clone = self.make_clone(goes_on)?;
        let instance = random_letters(INSTANCE_LETTERS)
            .map_err(|error| JobEnd::NoScratch(error.to_string()))?;
        for _ in 0..CLAIMS {
            match self.claim(&clone, &instance)? {
                Claim::Held {
                    reporter,
                    brief,
                    progress,
                } => return self.work(&clone, *reporter, &brief, &progress),
                Claim::Ended(end) => return Ok(end),
                Claim::Moved => {}
            }
        }
        Err(JobEnd::Conflict(
            "the branch went on each time that it was fetched: other workers push to it".to_owned(),
        ))
    }

    /// Fetches the branch and its brief, and reports that this worker has them.
    fn claim<'c>(&self, clone: &'c WorkerClone<'c>, instance: &str) -> Step<Claim<'c>> {
        let seen_report = self.fetch_start(clone)?;
        let tip = known_commit(clone, BRANCH_REFERENCE)?;
        let mut reporter = Reporter::new(clone, &self.job.branch, instance, seen_report, &tip);
        let brief = match self.read_brief(clone) {
            Ok(brief) => brief,
            Err(why) => {
                return self
                    .finish(&mut reporter, WorkerEnd::NotPrepared, &why)
                    .map(Claim::Ended);
            }
        };
        if let Err(why) = self.deepen_to(clone, &tip, &brief.base) {
            let end = if (self.is_asked_to_end)() {
                WorkerEnd::Stopped
            } else {
                WorkerEnd::NotPrepared
            };
            return self.finish(&mut reporter, end, &why).map(Claim::Ended);
        }
        let commits =
            commit_messages(clone, &brief.base, &tip).map_err(|error| unreachable_end(&error))?;
        let progress = rules::find_progress(&brief, &commits);
        reporter.pushed.clone_from(&progress.done);
        if progress.done.len() == brief.tasks.len() {
            let detail = "every task was pushed by an earlier start";
            return self
                .finish(&mut reporter, WorkerEnd::Pushed, detail)
                .map(Claim::Ended);
        }
        if budget_left(&brief, reporter.cost) == Some(0) && reporter.cost.untold > 0 {
            // No report is pushed: the earlier start may be at work, and if it is dead, its unreported cost counts.
            let detail =
                "an earlier start has all of its budget, and has not said what it has cost"
                    .to_owned();
            return Ok(Claim::Ended(JobEnd::Ended {
                end: WorkerEnd::NotPrepared,
                detail,
            }));
        }
        // The push expects the fetched tip, and is refused if another worker has pushed since.
        match reporter.push(Some(&tip), WorkerPhase::Preparing) {
            Err(PushStop::WorkRefused(_)) => Ok(Claim::Moved),
            pushed => self.require_pushed(pushed).map(|()| Claim::Held {
                reporter: Box::new(reporter),
                brief: Box::new(brief),
                progress,
            }),
        }
    }

    fn work(
        &self,
        clone: &WorkerClone,
        mut reporter: Reporter,
        brief: &WorkerBrief,
        progress: &Progress,
    ) -> Step<JobEnd> {
        let prepared = self.prepare(clone, brief, &reporter.tip);
        if (self.is_asked_to_end)() {
            return self.finish(
                &mut reporter,
                WorkerEnd::Stopped,
                "it was asked to end before its client began",
            );
        }
        let earlier = reporter.cost;
        let budget_micros = budget_left(brief, earlier);
        if budget_micros == Some(0) {
            let why = "its clients of earlier starts had spent it";
            return self.finish(&mut reporter, WorkerEnd::BudgetSpent, why);
        }
        let spec = prepared.and_then(|client| {
            client_session::client_spec(self, clone, brief, budget_micros, &progress.done, &client)
        });
        let spec = match spec {
            Ok(spec) => spec,
            Err(why) => return self.finish(&mut reporter, WorkerEnd::NotPrepared, &why),
        };
        reporter.files_before = clone.file_state().ok().flatten();
        // If this start is killed, the next one counts the whole budget of its client as spent.
        reporter.cost = earlier.with_client(None, budget_micros);
        let pushed = reporter.push(None, WorkerPhase::Working);
        self.require_pushed(pushed)?;
        (self.say)("the client is at work");
        let end = client_session::follow_client(self, &mut reporter, brief, spec, |told| {
            earlier.with_client(told, budget_micros)
        })?;
        self.end_of_client(&mut reporter, brief, &end)
    }

    fn make_clone<'g>(&self, goes_on: &'g dyn Fn() -> bool) -> Step<WorkerClone<'g>> {
        let folder = self.scratch.make_folder(CLONE).map_err(JobEnd::NoScratch)?;
        WorkerClone::create(&folder, &self.job.remote, &self.job.brief, goes_on)
            .map_err(|error| JobEnd::NoScratch(error.to_string()))
    }

    fn fetch_start(&self, clone: &WorkerClone) -> Step<Option<SeenReport>> {
        let job = self.job;
        (self.say)(&format!(
            "fetching {} and its brief from {}",
            job.branch,
            without_credentials(&job.remote)
        ));
        let (brief, report) = (brief_branch(&job.branch), report_branch(&job.branch));
        let listed = clone
            .list_branches(&[&job.branch, &brief, &report])
            .map_err(|error| self.remote_end(&error))?;
        let remote_commit = |name: &str| {
            listed
                .iter()
                .find(|(branch, _)| branch == name)
                .map(|(_, commit)| commit.clone())
        };
        for name in [&job.branch, &brief] {
            if remote_commit(name).is_none() {
                return Err(JobEnd::NotFound(format!("the remote has no branch {name}")));
            }
        }
        let mut branches = vec![
            (job.branch.as_str(), BRANCH_REFERENCE),
            (brief.as_str(), BRIEF_REFERENCE),
        ];
        let earlier = remote_commit(&report);
        if earlier.is_some() {
            branches.push((report.as_str(), REPORT_REFERENCE));
        }
        if remote_commit(&brief).as_ref() == Some(&job.brief) {
            clone
                .fetch(&branches, 1)
                .map_err(|error| self.remote_end(&error))?;
            if known_commit(clone, BRIEF_REFERENCE)? == job.brief {
                return Ok(earlier.map(|commit| SeenReport {
                    commit,
                    cost: earlier_cost(clone).unwrap_or_default(),
                }));
            }
        }
        Err(JobEnd::Conflict(format!(
            "the brief on the remote is another one than {}: it is not followed",
            job.brief
        )))
    }

    fn read_brief(&self, clone: &WorkerClone) -> Result<WorkerBrief, String> {
        let bytes = read_message(clone, &self.job.brief, BRIEF_FILE);
        let bytes = bytes.map_err(|error| error.to_string())?;
        rules::parse_brief(
            &bytes.ok_or_else(|| {
                format!("the brief has no {BRIEF_FILE}, or one that is too large")
            })?,
        )
    }

    /// Fetches more commits of the branch, until the clone has `base`.
    fn deepen_to(&self, clone: &WorkerClone, tip: &str, base: &str) -> Result<(), String> {
        let mut depths = DEPTHS.iter();
        loop {
            if clone
                .goes_on_from(tip, base)
                .map_err(|error| error.to_string())?
            {
                return Ok(());
            }
            let Some(depth) = depths.next() else {
                return Err(format!(
                    "the branch does not go on from {base}, as the brief has it"
                ));
            };
            clone
                .fetch(&[(&self.job.branch, BRANCH_REFERENCE)], *depth)
                .map_err(|error| error.to_string())?;
        }
    }

    fn prepare(
        &self,
        clone: &WorkerClone,
        brief: &WorkerBrief,
        tip: &str,
    ) -> Result<PathBuf, String> {
        let client = self.job.client.clone()?;
        clone
            .check_out(&self.job.branch, tip)
            .map_err(|error| error.to_string())?;
        if let Some(command) = &brief.setup {
            (self.say)("running the set-up command");
            let path = self.scratch.write("set-up.log", b"")?;
            let file = std::fs::File::create(&path).map_err(|error| error.to_string())?;
            let environment =
                CheckEnvironment::from_variables(self.job.variables.clone(), clone.top());
            set_up_worktree(
                command,
                clone.top(),
                &environment,
                CheckLog { path, file },
                || !(self.is_asked_to_end)(),
            )
            .map_err(|error| describe_set_up_error(&error))?;
            clone.ignore_new_files()?;
        }
        Ok(client)
    }

    fn end_of_client(
        &self,
        reporter: &mut Reporter,
        brief: &WorkerBrief,
        end: &ClientEnd,
    ) -> Step<JobEnd> {
        let mut pushed = self.push_at_end(reporter, &mut |reporter| {
            self.push_new_work(reporter, brief)
        });
        let committed = match (&pushed, rules::has_finished(end)) {
            (Ok(()), true) => self.commit_rest(reporter, brief),
            _ => Ok(false),
        };
        if matches!(committed, Ok(true)) {
            pushed = self.push_at_end(reporter, &mut |reporter| {
                self.push_new_work(reporter, brief)
            });
        }
        let not_pushed = match pushed {
            Ok(()) => None,
            Err(PushStop::Superseded) => return Err(JobEnd::Superseded),
            Err(PushStop::WorkRefused(why)) => return self.refused(reporter, &why),
            Err(PushStop::Failed(why) | PushStop::Declined(why)) => Some(why),
        };
        let is_left_out = not_pushed.is_none()
            && reporter
                .clone
                .head()
                .is_some_and(|head| head != reporter.tip);
        let left_out =
            is_left_out.then(|| self.keep_work(reporter, "it has commits of no task".to_owned()));
        if reporter.pushed.len() == brief.tasks.len() && not_pushed.is_none() {
            return self.finish(
                reporter,
                WorkerEnd::Pushed,
                left_out.as_deref().unwrap_or_default(),
            );
        }
        let (end, mut detail) = rules::worker_end(end);
        for more in [not_pushed.clone(), committed.err(), left_out]
            .into_iter()
            .flatten()
        {
            detail = format!("{detail}; {more}");
        }
        let finished = self.finish(reporter, end, &detail)?;
        Ok(not_pushed.map_or(finished, |why| {
            JobEnd::Unreachable(self.keep_work(reporter, why))
        }))
    }

    /// Commits the rest of the client's work, where exactly one task has no commit; `false` if there is no rest.
    fn commit_rest(&self, reporter: &Reporter, brief: &WorkerBrief) -> Result<bool, String> {
        let mut left = brief
            .tasks
            .iter()
            .filter(|task| !reporter.pushed.contains(&task.id));
        let (Some(task), None) = (left.next(), left.next()) else {
            return Ok(false);
        };
        let clone = reporter.clone;
        let is_at_last = clone.head().is_some_and(|head| head == reporter.tip);
        let files = clone
            .file_state()
            .map_err(|error| uncommitted_rest(&error))?;
        if is_at_last && (files.is_none() || files == reporter.files_before) {
            return Ok(false);
        }
        (self.say)(&format!(
            "committing what the client left as task {}",
            sanitize(&task.id, 60)
        ));
        clone
            .commit_all(&task.message, &reporter.identity)
            .map_err(|error| uncommitted_rest(&error))?;
        Ok(true)
    }

    /// Pushes the commits of tasks made since the last push.
    fn push_new_work(&self, reporter: &mut Reporter, brief: &WorkerBrief) -> Result<(), PushStop> {
        let Some(head) = reporter
            .clone
            .head()
            .filter(|head| reporter.looked_at.as_ref() != Some(head))
        else {
            return Ok(());
        };
        self.keep_unpushed(reporter);
        let commits = commit_messages(reporter.clone, &brief.base, &head);
        let commits = commits.map_err(|error| PushStop::Failed(error.to_string()))?;
        let progress = rules::find_progress(brief, &commits);
        if let Some(commit) = progress.last.filter(|commit| *commit != reporter.tip) {
            let before = std::mem::replace(&mut reporter.pushed, progress.done);
            if let Err(stop) = reporter.push(Some(&commit), WorkerPhase::Working) {
                reporter.pushed = before;
                return Err(stop);
            }
            let tasks = sanitize(&reporter.pushed.join(", "), 200);
            (self.say)(&format!(
                "pushed {}; tasks with a commit: {tasks}",
                commit.get(..12).unwrap_or(&commit)
            ));
        }
        self.keep_unpushed(reporter);
        reporter.looked_at = Some(head);
        Ok(())
    }

    fn refused(&self, reporter: &mut Reporter, why: &str) -> Step<JobEnd> {
        let why = format!(
            "the branch does not take the work: {why}; another worker has pushed, or history was rewritten"
        );
        let kept = self.keep_work(reporter, why);
        self.finish(reporter, WorkerEnd::TasksLeft, &kept)?;
        Ok(JobEnd::Conflict(kept))
    }

    fn require_pushed(&self, pushed: Result<(), PushStop>) -> Step<()> {
        match pushed {
            Ok(()) => Ok(()),
            Err(PushStop::Superseded) => Err(JobEnd::Superseded),
            Err(PushStop::WorkRefused(why)) => Err(JobEnd::Conflict(why)),
            // The worker is about to end, and reports its end then.
            Err(PushStop::Failed(_) | PushStop::Declined(_)) if (self.is_asked_to_end)() => Ok(()),
            Err(PushStop::Failed(why) | PushStop::Declined(why)) => Err(JobEnd::Unreachable(why)),
        }
    }

    fn finish(&self, reporter: &mut Reporter, end: WorkerEnd, detail: &str) -> Step<JobEnd> {
        let detail = sanitize(&without_credentials(detail), DETAIL_CHARS);
        let phase = WorkerPhase::Ended {
            end,
            detail: detail.clone(),
        };
        match self.push_at_end(reporter, &mut |reporter| reporter.push(None, phase.clone())) {
            Ok(()) => {}
            Err(PushStop::Superseded) => return Err(JobEnd::Superseded),
            Err(PushStop::WorkRefused(why) | PushStop::Declined(why) | PushStop::Failed(why)) => {
                (self.say)(&format!("the last report could not be pushed: {why}"));
            }
        }
        Ok(JobEnd::Ended { end, detail })
    }

    fn remote_end(&self, error: &RemoteError) -> JobEnd {
        if (self.is_asked_to_end)() {
            let detail = "it was asked to end while it fetched its brief".to_owned();
            return JobEnd::Ended {
                end: WorkerEnd::Stopped,
                detail,
            };
        }
        unreachable_end(error)
    }
}

/// Rest of the budget after earlier starts; `None` without a budget.
fn budget_left(brief: &WorkerBrief, earlier: ClientCost) -> Option<u64> {
    brief
        .budget_micros
        .map(|all| all.saturating_sub(earlier.most()))
}

fn known_commit(clone: &WorkerClone, reference: &str) -> Step<String> {
    let commit = clone
        .commit_of(reference)
        .map_err(|error| unreachable_end(&error))?;
    commit.ok_or_else(|| JobEnd::Unreachable(format!("nothing came for {reference}")))
}

fn earlier_cost(clone: &WorkerClone) -> Option<ClientCost> {
    let commit = clone.commit_of(REPORT_REFERENCE).ok().flatten()?;
    let bytes = read_message(clone, &commit, REPORT_FILE).ok().flatten()?;
    WorkerReport::parse(&bytes).map(|report| report.cost)
}

fn uncommitted_rest(error: &GitFailed) -> String {
    format!("what the client left could not be committed: {error}")
}

fn unreachable_end(error: &dyn std::fmt::Display) -> JobEnd {
    JobEnd::Unreachable(without_credentials(&error.to_string()))
}

/// Text of the error without the path of the log, which is removed with the worker's folder.
fn describe_set_up_error(error: &SetUpError) -> String {
    let SetUpError::Failed { outcome, .. } = error else {
        return error.to_string();
    };
    let last_line = outcome
        .printed
        .reason()
        .map(|line| format!("; it said: {line}"))
        .unwrap_or_default();
    sanitize(
        &format!(
            "the set-up command failed: {}{last_line}",
            outcome.describe()
        ),
        DETAIL_CHARS,
    )
}

/// Default of `--scratch`.
pub fn default_scratch() -> PathBuf {
    std::env::temp_dir()
}
