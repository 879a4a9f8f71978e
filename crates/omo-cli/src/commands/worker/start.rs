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
        let said = jobs.take_complaints(&name);
        let said = if said.is_empty() {
            String::new()
        } else {
            format!(": {said}")
        };
        CommandError::io(
            format!("the worker could not be started: {error}{said}"),
            "try it without `start`",
        )
    })?;
    output::print_block(&format!("started {}", name.as_str()))
}

fn arguments(job: &JobOptions, place: &std::path::Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["worker".into(), "--detached".into()];
    let mut add = |option: &str, value: OsString| {
        // One word, so that no value is parsed as an option.
        let mut word = OsString::from(format!("--{option}="));
        word.push(value);
        arguments.push(word);
    };
    add("remote", job.remote.clone().into());
    add("branch", job.branch.clone().into());
    add("brief", job.brief.clone().into());
    add("scratch", place.as_os_str().to_owned());
    job.time_limit
        .into_iter()
        .for_each(|limit| add("time-limit", limit.to_string().into()));
    job.client
        .iter()
        .for_each(|client| add("client", client.clone().into_os_string()));
    job.name.iter().for_each(|name| add("name", name.into()));
    arguments
}
