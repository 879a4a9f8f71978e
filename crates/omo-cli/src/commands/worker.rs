//! `omo worker`: does the work of a run on a machine with git, the client and omo, for a launcher.

mod jobs;
mod start;

use std::cell::Cell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, Subcommand};
use omo_claude::client::ClaudeClient;
use omo_core::text::sanitize;
use omo_process::{detached, termination};
use omo_remote::exchange::WorkerEnd;
use omo_remote::worker::jobs::{JobName, RunningJob, WorkerJobs};
use omo_remote::worker::{self, JobEnd, WorkerJob};
use omo_state::env;
use omo_state::search_path::SearchPath;

use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::process_paths::own_program;

const HELP: &str = "\
Example:
  omo worker --remote git@host:x.git --branch omo/r1/session-1 --brief \"$COMMIT\"

Exit status: 0 all is pushed, 1 tasks are left, 3 not there, 5 could not begin,
6 another one has it, 8 budget or limit, 9 no answer, 10 other commits.";

/// Do the work of a run on this machine; a launcher starts it
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true, after_help = HELP)]
#[command(disable_help_subcommand = true, disable_help_flag = true)]
#[command(
    override_usage = "omo worker --remote <URL> --branch <BRANCH> --brief <COMMIT> | <COMMAND>"
)]
pub(crate) struct WorkerOptions {
    // Hidden, here and below: this page would be longer than a screen.
    /// Print help
    #[arg(short, long, global = true, hide = true, action = clap::ArgAction::Help)]
    help: Option<bool>,
    #[command(flatten)]
    job: Option<JobOptions>,
    /// The one that `start` has started; it leaves the terminal
    #[arg(long, hide = true, requires = "name")]
    detached: bool,
    #[command(subcommand)]
    command: Option<WorkerCommand>,
}

#[derive(Debug, Subcommand)]
enum WorkerCommand {
    Start(start::WorkerStartOptions),
    List(jobs::WorkerListOptions),
    Cancel(jobs::WorkerCancelOptions),
    Logs(jobs::WorkerLogsOptions),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct JobOptions {
    /// The repository that brief and work go through
    #[arg(long, value_name = "URL")]
    remote: String,
    /// The branch that takes the work
    #[arg(long)]
    branch: String,
    /// The commit that BRANCH.brief has to be at
    #[arg(long, value_name = "COMMIT")]
    brief: String,
    /// Time limit of the client
    #[arg(long, value_name = "SECONDS")]
    time_limit: Option<u32>,
    /// Folder to work in, instead of $TMPDIR
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// The client, instead of the `claude` on PATH
    #[arg(long, value_name = "PROGRAM")]
    client: Option<PathBuf>,
    /// A name for `list`, `cancel` and `logs`
    #[arg(long, value_name = "JOB")]
    name: Option<String>,
}

pub(super) fn run(options: WorkerOptions) -> Result<(), CommandError> {
    match (options.command, options.job) {
        (Some(WorkerCommand::Start(options)), _) => start::run(&options),
        (Some(WorkerCommand::List(options)), _) => jobs::list(&options),
        (Some(WorkerCommand::Cancel(options)), _) => jobs::cancel(&options),
        (Some(WorkerCommand::Logs(options)), _) => jobs::logs(&options),
        (None, Some(job)) => work(&job, options.detached),
        (None, None) => Err(CommandError::usage(
            "--remote, --branch and --brief are needed",
            "`omo worker --help`",
        )),
    }
}

impl JobOptions {
    fn check(&self) -> Result<(), CommandError> {
        if let Some(problem) = worker::remote_problem(&self.remote) {
            return Err(CommandError::usage(
                format!("--remote: {problem}"),
                "an address that git knows, `https://host/x.git` for example, or an absolute path",
            ));
        }
        if !worker::is_branch_name(&self.branch) {
            return Err(CommandError::usage(
                format!(
                    "--branch: {} is not a plain branch name",
                    sanitize(&format!("{:?}", self.branch), 100)
                ),
                "letters, digits, `-`, `_`, `.` and `/`",
            ));
        }
        if !worker::is_commit_name(&self.brief) {
            return Err(CommandError::usage(
                "--brief: this is not a full commit id",
                "40 or 64 hexadecimal digits, in lower case",
            ));
        }
        Ok(self
            .name
            .as_deref()
            .map(JobName::parse)
            .transpose()
            .map(drop)?)
    }

    fn job(&self) -> Result<WorkerJob, CommandError> {
        let own = own_program()?;
        Ok(WorkerJob {
            remote: self.remote.clone(),
            branch: self.branch.clone(),
            brief: self.brief.clone(),
            time_limit_seconds: self.time_limit,
            scratch: scratch(self.scratch.as_deref()),
            client: find_client(self.client.as_deref()),
            program: own,
            variables: env::variables(),
        })
    }
}

fn scratch(named: Option<&Path>) -> PathBuf {
    named.map_or_else(worker::default_scratch, Path::to_owned)
}

fn find_client(named: Option<&Path>) -> Result<PathBuf, String> {
    let Some(named) = named else {
        let folder = std::env::current_dir().unwrap_or_default();
        let client = ClaudeClient::find(&SearchPath::from_process(), &folder)
            .map_err(|error| error.to_string())?;
        return Ok(client.program().to_owned());
    };
    let shown = sanitize(&named.display().to_string(), 200);
    if named.components().count() > 1 {
        return named
            .canonicalize()
            .map_err(|error| format!("the client {shown} is not there: {error}"));
    }
    let found = named
        .to_str()
        .and_then(|name| SearchPath::from_process().find(name));
    found.ok_or_else(|| format!("no `{shown}` is on PATH"))
}

fn work(options: &JobOptions, is_detached: bool) -> Result<(), CommandError> {
    options.check()?;
    if is_detached {
        detached::leave_terminal()?;
    }
    let asked = Arc::new(AtomicBool::new(false));
    termination::flag_termination(&asked);
    let job = options.job()?;
    let jobs = options
        .name
        .as_ref()
        .map(|_| WorkerJobs::open(&job.scratch))
        .transpose()?;
    let name = options.name.as_deref().map(JobName::parse).transpose()?;
    let claimed = match (&jobs, &name) {
        (Some(jobs), Some(name)) => Some(jobs.claim(name)?),
        _ => None,
    };
    if is_detached {
        detached::report_ready("ready")?;
    }
    let is_closed = Cell::new(is_detached);
    let say = |line: &str| {
        if let Some(claimed) = &claimed {
            claimed.say(line);
        }
        // The reader may be gone; the work goes on.
        if !is_closed.get() && writeln!(std::io::stdout(), "{line}").is_err() {
            is_closed.set(true);
        }
    };
    let end = worker::run_job(
        &job,
        &|| asked.load(Ordering::SeqCst) || claimed.as_ref().is_some_and(RunningJob::is_cancelled),
        &say,
    );
    let (kind, line) = describe_end(&end);
    say(&format!("ended with status {}: {line}", kind.code()));
    if kind == ExitKind::Success {
        Ok(())
    } else {
        Err(CommandError::already_printed(kind))
    }
}

fn describe_end(end: &JobEnd) -> (ExitKind, String) {
    match end {
        JobEnd::Ended { end, detail } => {
            let (kind, end_words) = match end {
                WorkerEnd::Pushed => (ExitKind::Success, "every task was pushed"),
                WorkerEnd::NotPrepared => (ExitKind::Precondition, "it could not begin"),
                WorkerEnd::UsageLimit { .. } | WorkerEnd::BudgetSpent => {
                    (ExitKind::Budget, "tasks are left")
                }
                WorkerEnd::TasksLeft
                | WorkerEnd::ApiFailed
                | WorkerEnd::TimedOut
                | WorkerEnd::Stopped
                | WorkerEnd::Killed => (ExitKind::NotGreen, "tasks are left"),
            };
            (kind, with_reason(end_words, detail))
        }
        JobEnd::Superseded => (
            ExitKind::Busy,
            "another worker has begun with the same branch: this one leaves it to that".to_owned(),
        ),
        JobEnd::Conflict(why) => (ExitKind::Conflict, why.clone()),
        JobEnd::NotFound(why) => (ExitKind::NotFound, why.clone()),
        JobEnd::Unreachable(why) => (
            ExitKind::Io,
            with_reason("the remote does not answer as it should", why),
        ),
        JobEnd::NoScratch(why) => (
            ExitKind::Io,
            with_reason("there is no folder to work in", why),
        ),
    }
}

fn with_reason(words: &str, reason: &str) -> String {
    if reason.is_empty() {
        words.to_owned()
    } else {
        format!("{words}: {reason}")
    }
}
