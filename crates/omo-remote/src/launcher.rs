//! The five verbs with which a run speaks to what runs its workers elsewhere, and the launchers of profiles: commands that
//! are filled in and run, each within a time, and for what it prints.

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

/// Maximum time of a launcher's command.
const LIMIT: Duration = Duration::from_secs(90);
const GRACE: Duration = Duration::from_secs(1);
/// Maximum bytes of a command's output.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Starter of workers elsewhere, such as [`ProfileLauncher`].
pub trait Launcher: Send + Sync {
    /// Starts a worker: `start` of a profile.
    ///
    /// # Errors
    ///
    /// The command fails; why, in its own last words.
    fn start(&self, job: &JobValues) -> Result<Started, CommandFailure>;

    /// States of the workers by their names; `None` where the launcher has no command for that.
    fn list(&self) -> Option<Result<BTreeMap<String, EngineState>, String>>;

    /// Ends a worker: `cancel` of a profile. One that is not there is no error.
    ///
    /// # Errors
    ///
    /// The command fails.
    fn cancel(&self, job: &JobValues) -> Result<(), CommandFailure>;

    /// Output of a worker; `None` where the launcher has no command for that.
    fn logs(&self, job: &JobValues) -> Option<Result<String, String>>;

    /// Fetches what the workers of a session have pushed, and deletes it on the remote repository.
    ///
    /// # Errors
    ///
    /// The remote repository does not answer.
    fn take_in(&self, name: &WorkerName) -> Result<Collected, RemoteError>;
}

/// Result of [`Launcher::start`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Started {
    /// A worker known by its name.
    HandedOver,
    /// A worker that runs as long as this command, which its caller runs.
    Attached {
        /// The program.
        program: PathBuf,
        /// Arguments.
        arguments: Vec<String>,
    },
}

/// Launcher of a [`LauncherProfile`].
#[derive(Clone, Debug)]
pub struct ProfileLauncher {
    /// Commands and bounds.
    pub profile: LauncherProfile,
    /// Time limit of the client in seconds.
    pub time_limit_seconds: u32,
    /// The project.
    pub root: PathBuf,
    /// Repository of the run.
    pub repository: GitRepository,
    /// Name of the remote repository.
    pub remote_name: String,
    /// Environment of the user who had the run driven.
    pub variables: Vec<(OsString, OsString)>,
    /// Address of the remote repository as seen from here.
    pub address: String,
    /// Run id.
    pub run: String,
}

/// Failure of a launcher's command, such as `sbatch`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFailure {
    /// In words, which hold no password of an address.
    pub why: String,
    /// A timeout: the command may have taken effect.
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
        let said = self.ask(self.profile.status.as_ref()?, &JobValues::default());
        Some(
            said.map(|said| parse_engine_states(&said))
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
    /// The remote repository.
    ///
    /// # Errors
    ///
    /// There is none of its name, or a setting would have a program run on the way there.
    pub fn remote(&self) -> Result<Remote<'_>, RemoteError> {
        Remote::find(&self.repository, &self.remote_name)
    }

    fn find_command(
        &self,
        template: &str,
        values: &Values,
    ) -> Result<(PathBuf, Vec<String>), CommandFailure> {
        // A value that cannot stand in its word is quoted, and may be the command of a worker with its remote.
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
        // Output may hold the words of the command, of which the address of the remote is one.
        let text = |bytes: Option<Vec<u8>>| {
            without_credentials(&String::from_utf8_lossy(&bytes.unwrap_or_default()))
        };
        match runner::run(request) {
            Ok(ProcessEnd::Ended(ProcessOutput {
                status: Some(0),
                stdout,
                ..
            })) => Ok(text(stdout)),
            Ok(ProcessEnd::Ended(ProcessOutput {
                status,
                stdout,
                stderr,
            })) => {
                let (said, printed) = (text(stderr), text(stdout));
                let last = printed
                    .lines()
                    .chain(said.lines())
                    .map(str::trim)
                    .rfind(|line| !line.is_empty());
                let status = status.map_or_else(
                    || "a signal".to_owned(),
                    |status| format!("status {status}"),
                );
                let last = sanitize(last.unwrap_or("it said nothing"), 200);
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
        // The scheduler ends it later than it ends itself: what it has done by then is pushed.
        let minutes = profile
            .run_minutes
            .unwrap_or_else(|| seconds.div_ceil(60).saturating_add(15));
        let seconds = seconds.to_string();
        let remote = profile.remote.as_ref().unwrap_or(&self.address);
        let quote = |words: &[&str]| shlex::try_join(words.iter().copied()).unwrap_or_default();
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
        let of_job =
            |verb: &str| quote(&[&[omo, "worker", verb, &job.job], scratch.as_slice()].concat());
        [
            ("prompt_file", job.prompt_file.clone()),
            ("branch", job.branch.clone()),
            ("base", job.base.clone()),
            ("worktree", job.worktree.clone()),
            ("run", self.run.clone()),
            ("group", job.group.clone()),
            ("job", job.job.clone()),
            ("brief", job.brief.clone()),
            // `exec` takes the place of its shell: a signal that ends the job by its first process
            // ends no other one, and a scheduler that waits for that process waits until the worker
            // has told its end.
            (
                "worker",
                format!(
                    "exec {}",
                    quote(&[&[omo, "worker"], job_words.as_slice()].concat())
                ),
            ),
            (
                "worker_start",
                quote(&[&[omo, "worker", "start"], job_words.as_slice()].concat()),
            ),
            ("worker_cancel", of_job("cancel")),
            (
                "worker_list",
                quote(&[&[omo, "worker", "list"], scratch.as_slice()].concat()),
            ),
            ("worker_logs", of_job("logs")),
            ("log", job.log.clone()),
            ("minutes", minutes.to_string()),
            ("host", profile.host.clone()),
            ("image", profile.image.clone()),
            ("options", profile.options.clone()),
        ]
        .into()
    }
}
