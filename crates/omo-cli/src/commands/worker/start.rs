//! `omo worker start`: a worker that outlives the terminal.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use omo_process::detached;
use omo_remote::worker::jobs::{JobError, JobName, WorkerJobs};

use super::{JobOptions, scratch};
use crate::error::CommandError;
use crate::output;

const HELP: &str = "\
Example:
  omo worker start --name a --remote URL --branch omo/r1/a --brief \"$COMMIT\"

Returns once it runs. A job that is there already, or was, is never started a
second time; the exit status is 6 then.";

/// Start a worker that outlives the terminal
#[derive(Debug, Args)]
#[command(after_help = HELP)]
#[command(override_usage = "omo worker start --name <JOB> --remote <URL> --branch <BRANCH> ...")]
pub(super) struct WorkerStartOptions {
    #[command(flatten)]
    job: JobOptions,
}

pub(super) fn run(options: &WorkerStartOptions) -> Result<(), CommandError> {
    let job = &options.job;
    job.check()?;
    let Some(name) = &job.name else {
        return Err(CommandError::usage(
            "a job that is started needs a name",
            "`--name JOB`",
        ));
    };
    let name = JobName::parse(name)?;
    let place = std::path::absolute(scratch(job.scratch.as_deref()))?;
    let jobs = WorkerJobs::open(&place)?;
    let _alone = jobs.hold()?;
    if jobs.is_known(&name) {
        return Err(JobError::Known(name.as_str().to_owned()).into());
    }
    let log = jobs.complaints(&name)?;
    let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    detached::start_detached(&arguments(job, &place), &folder, log).map_err(|error| {
        let complaints = jobs.take_complaints(&name);
        let complaints = if complaints.is_empty() {
            String::new()
        } else {
            format!(": {complaints}")
        };
        CommandError::io(
            format!("the worker could not be started: {error}{complaints}"),
            "try it without `start`",
        )
    })?;
    output::print_block(&format!("started {}", name.as_str()))
}

fn arguments(job: &JobOptions, place: &std::path::Path) -> Vec<OsString> {
    let values = [
        ("remote", Some(job.remote.clone().into())),
        ("branch", Some(job.branch.clone().into())),
        ("brief", Some(job.brief.clone().into())),
        ("scratch", Some(place.as_os_str().to_owned())),
        (
            "time-limit",
            job.time_limit.map(|limit| limit.to_string().into()),
        ),
        ("client", job.client.clone().map(PathBuf::into_os_string)),
        ("name", job.name.clone().map(OsString::from)),
    ];
    let mut arguments: Vec<OsString> = vec!["worker".into(), "--detached".into()];
    for (option, value) in values {
        // One word, so that no value is parsed as an option.
        let mut word = OsString::from(format!("--{option}="));
        if let Some(value) = value {
            word.push(value);
            arguments.push(word);
        }
    }
    arguments
}
