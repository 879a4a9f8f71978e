//! `Launcher`: starts, lists, cancels and collects workers elsewhere. `ProfileLauncher` does so by
//! the commands of a profile, each with a time limit.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use omo_core::text::sanitize;
use omo_git::remote::worker_clone::without_credentials;
use omo_git::remote::{Remote, RemoteError};
use omo_git::repository::GitRepository;
use omo_git::worktree::WorkerName;
use omo_process::child_command::child_command;
use omo_process::platform::Leftovers;
use omo_process::runner::{self, ProcessEnd, ProcessOutput, ProcessRequest};

use crate::branches::{Collected, collect_branches};
use crate::decision::{EngineState, parse_engine_states};
use crate::job::JobValues;
use crate::profile::LauncherProfile;
use crate::template::{LauncherTemplate, Values, find_command};

const LIMIT: Duration = Duration::from_secs(90);
const GRACE: Duration = Duration::from_secs(1);
const MAX_BYTES: u64 = 4 * 1024 * 1024;

pub trait Launcher: Send + Sync {
    fn start(&self, job: &JobValues) -> Result<Started, CommandFailure>;

    /// States by job name; `None` without a command for it.
    fn list(&self) -> Option<Result<BTreeMap<String, EngineState>, String>>;

    /// Ends a worker; succeeds for one that is not there.
    fn cancel(&self, job: &JobValues) -> Result<(), CommandFailure>;

    /// Output of a worker; `None` without a command for it.
    fn logs(&self, job: &JobValues) -> Option<Result<String, String>>;

    /// Fetches pushed work of a session, and deletes it on the remote.
    fn take_in(&self, name: &WorkerName) -> Result<Collected, RemoteError>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Started {
    /// The scheduler has the job, by its name.
    HandedOver,
    /// The worker runs as long as this command, which the caller has to run.
    Attached {
        program: PathBuf,
        arguments: Vec<String>,
    },
}

#[derive(Clone, Debug)]
pub struct ProfileLauncher {
    pub profile: LauncherProfile,
    /// Time limit of the client.
    pub time_limit_seconds: u32,
    /// Top of the project.
    pub root: PathBuf,
    pub repository: GitRepository,
    pub remote_name: String,
    /// Environment of the run's user.
    pub variables: Vec<(OsString, OsString)>,
    /// URL of the remote as seen from here.
    pub address: String,
    pub run: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFailure {
    /// Reason, without passwords of URLs.
    pub why: String,
    /// `true` after a timeout: the command may have taken effect.
    pub is_timeout: bool,
}

impl CommandFailure {
    fn new(why: &str) -> Self {
        Self {
            why: without_credentials(why),
            is_timeout: false,
        }
    }
}

impl Launcher for ProfileLauncher {
    fn start(&self, job: &JobValues) -> Result<Started, CommandFailure> {
        let values = self.values(job);
        if self.profile.is_attached() {
            let (program, arguments) = self.find_command(&self.profile.start, &values)?;
            return Ok(Started::Attached { program, arguments });
        }
        let input = match &self.profile.input {
            Some(text) => LauncherTemplate::fill_text(text, &values).map_err(|error| {
                CommandFailure::new(&format!("its input cannot be filled in: {error}"))
            })?,
            None => String::new(),
        };
        self.run(&self.profile.start, &values, input)
            .map(|_| Started::HandedOver)
    }

    fn list(&self) -> Option<Result<BTreeMap<String, EngineState>, String>> {
        let output = self.ask(self.profile.status.as_ref()?, &JobValues::default());
        Some(
            output
                .map(|output| parse_engine_states(&output))
                .map_err(|failure| failure.why),
        )
    }

    fn cancel(&self, job: &JobValues) -> Result<(), CommandFailure> {
        self.profile
            .cancel
            .as_ref()
            .map_or(Ok(()), |template| self.ask(template, job).map(drop))
    }

    fn logs(&self, job: &JobValues) -> Option<Result<String, String>> {
        Some(
            self.ask(self.profile.logs.as_ref()?, job)
                .map_err(|failure| failure.why),
        )
    }

    fn take_in(&self, name: &WorkerName) -> Result<Collected, RemoteError> {
        collect_branches(&self.run, &self.repository, &self.remote_name, name)
    }
}

impl ProfileLauncher {
    /// The remote repository; fails where a setting would run a program on the way to it.
    pub fn remote(&self) -> Result<Remote<'_>, RemoteError> {
        Remote::find(&self.repository, &self.remote_name)
    }

    fn find_command(
        &self,
        template: &str,
        values: &Values,
    ) -> Result<(PathBuf, Vec<String>), CommandFailure> {
        // The error quotes a value, which may be the command of a worker with its remote.
        find_command(template, &self.root, values).map_err(|why| CommandFailure::new(&why))
    }

    fn ask(&self, template: &str, job: &JobValues) -> Result<String, CommandFailure> {
        self.run(template, &self.values(job), String::new())
    }

    fn run(
        &self,
        template: &str,
        values: &Values,
        input: String,
    ) -> Result<String, CommandFailure> {
        let (program, arguments) = self.find_command(template, values)?;
        let name = sanitize(&program.display().to_string(), 100);
        let mut command = child_command(&program, self.variables.iter().cloned());
        command.args(arguments).current_dir(&self.root);
        let request = ProcessRequest {
            command,
            input: input.into_bytes(),
            output: None,
            reads_stderr: true,
            limit: LIMIT,
            grace: GRACE,
            output_wait: GRACE,
            max_bytes: MAX_BYTES,
            // A worker of `local` goes on after the command that began it.
            leftovers: Leftovers::Free,
        };
        match runner::run(request) {
            Ok(ProcessEnd::Ended(ProcessOutput {
                status: Some(0),
                stdout,
                ..
            })) => Ok(output_text(stdout)),
            Ok(ProcessEnd::Ended(ProcessOutput {
                status,
                stdout,
                stderr,
            })) => {
                let (complaint, printed) = (output_text(stderr), output_text(stdout));
                let last = printed
                    .lines()
                    .chain(complaint.lines())
                    .map(str::trim)
                    .rfind(|line| !line.is_empty());
                let status = status.map_or_else(
                    || "a signal".to_owned(),
                    |status| format!("status {status}"),
                );
                let last = sanitize(last.unwrap_or("it printed nothing"), 200);
                Err(CommandFailure::new(&format!(
                    "`{name}` ended with {status}: {last}"
                )))
            }
            Ok(ProcessEnd::TimedOut | ProcessEnd::Cancelled) => Err(CommandFailure {
                is_timeout: true,
                ..CommandFailure::new(&format!(
                    "`{name}` did not end within {} s",
                    LIMIT.as_secs()
                ))
            }),
            Err(error) => Err(CommandFailure::new(&format!(
                "`{name}` could not be started: {error}"
            ))),
        }
    }

    fn values(&self, job: &JobValues) -> Values {
        let profile = &self.profile;
        let seconds = self.time_limit_seconds;
        // The scheduler's limit is later than its own, up to which its work is pushed.
        let minutes = profile
            .run_minutes
            .unwrap_or_else(|| seconds.div_ceil(60).saturating_add(15));
        let seconds = seconds.to_string();
        let remote = profile.remote.as_ref().unwrap_or(&self.address);
        let omo = profile.omo.as_str();
        let scratch: Vec<&str> = profile
            .scratch
            .iter()
            .flat_map(|scratch| ["--scratch", scratch.as_str()])
            .collect();
        let client = profile
            .client
            .iter()
            .flat_map(|client| ["--client", client.as_str()]);
        let mut job_words = vec![
            "--remote",
            remote,
            "--branch",
            &job.branch,
            "--brief",
            &job.brief,
        ];
        job_words.extend(["--time-limit", &seconds, "--name", &job.job]);
        job_words.extend(client.chain(scratch.iter().copied()));
        [
            ("prompt_file", job.prompt_file.clone()),
            ("branch", job.branch.clone()),
            ("base", job.base.clone()),
            ("worktree", job.worktree.clone()),
            ("run", self.run.clone()),
            ("group", job.group.clone()),
            ("job", job.job.clone()),
            ("brief", job.brief.clone()),
            // `exec`: a signal to the job's first process reaches the worker, and a scheduler that waits
            // for that process waits for the worker's report.
            (
                "worker",
                format!(
                    "exec {}",
                    quote_words(&[&[omo, "worker"], job_words.as_slice()].concat())
                ),
            ),
            (
                "worker_start",
                quote_words(&[&[omo, "worker", "start"], job_words.as_slice()].concat()),
            ),
            ("worker_cancel", job_command("cancel", omo, job, &scratch)),
            (
                "worker_list",
                quote_words(&[&[omo, "worker", "list"], scratch.as_slice()].concat()),
            ),
            ("worker_logs", job_command("logs", omo, job, &scratch)),
            ("log", job.log.clone()),
            ("minutes", minutes.to_string()),
            ("host", profile.host.clone()),
            ("image", profile.image.clone()),
            ("options", profile.options.clone()),
        ]
        .into()
    }
}

fn job_command(verb: &str, omo: &str, job: &JobValues, scratch: &[&str]) -> String {
    quote_words(&[&[omo, "worker", verb, &job.job], scratch].concat())
}

fn quote_words(words: &[&str]) -> String {
    shlex::try_join(words.iter().copied()).unwrap_or_default()
}

/// Output may hold the words of the command, among them the URL of the remote.
fn output_text(bytes: Option<Vec<u8>>) -> String {
    without_credentials(&String::from_utf8_lossy(&bytes.unwrap_or_default()))
}
