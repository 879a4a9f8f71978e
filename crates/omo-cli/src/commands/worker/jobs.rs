//! `omo worker list`, `cancel` and `logs`: the named workers of this machine.

use std::path::PathBuf;

use clap::Args;
use omo_remote::worker::jobs::{JobName, WorkerJobs};

use super::scratch;
use crate::error::CommandError;
use crate::output;

/// List the workers with a name: `JOB running` or `JOB ended`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  omo worker list")]
pub(super) struct WorkerListOptions {
    /// Their folder, instead of $TMPDIR
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
}

/// End a worker with all that it started
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  omo worker cancel omo-r1-2

What it has committed is pushed first. The exit status is 0 once it has ended,
also where it had ended before, and 3 where there is no such job.")]
pub(super) struct WorkerCancelOptions {
    /// Its name
    job: String,
    /// Its folder, instead of $TMPDIR
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
}

/// Show what a worker has said
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  omo worker logs omo-r1-2\n\nThe exit status is 3 where there is no such job."
)]
pub(super) struct WorkerLogsOptions {
    /// Its name
    job: String,
    /// Its folder, instead of $TMPDIR
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
}

pub(super) fn list(options: &WorkerListOptions) -> Result<(), CommandError> {
    let jobs = WorkerJobs::open(&scratch(options.scratch.as_deref()))?;
    let lines = jobs.list()?.into_iter().map(|(name, is_running)| {
        let state = if is_running { "running" } else { "ended" };
        format!("{} {state}\n", name.as_str())
    });
    output::print_log(&lines.collect::<String>())
}

pub(super) fn cancel(options: &WorkerCancelOptions) -> Result<(), CommandError> {
    let name = JobName::parse(&options.job)?;
    let jobs = WorkerJobs::open(&scratch(options.scratch.as_deref()))?;
    Ok(jobs.cancel(&name)?)
}

pub(super) fn logs(options: &WorkerLogsOptions) -> Result<(), CommandError> {
    let name = JobName::parse(&options.job)?;
    let jobs = WorkerJobs::open(&scratch(options.scratch.as_deref()))?;
    output::print_log(&String::from_utf8_lossy(&jobs.log(&name)?))
}
