//! The commands of a launcher, filled in and run: each within a time, and for what it prints.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use omo_core::text::sanitize;
use omo_git::remote::worker_clone::without_credentials;
use omo_process::child_command::child_command;
use omo_process::platform::Leftovers;
use omo_process::runner::{self, ProcessEnd, ProcessOutput, ProcessRequest};

use crate::decision::{EngineState, parse_engine_states};
use crate::job::JobValues;
use crate::profile::LauncherProfile;
use crate::template::{LauncherPlaceholder, LauncherTemplate, find_command};

/// How long an engine may take to answer.
const LIMIT: Duration = Duration::from_secs(90);
/// How long a command that took longer may take to end.
const GRACE: Duration = Duration::from_secs(1);
/// More than this is not read of what it prints.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The engine of a run.
pub struct EngineCommands<'e> {
    /// Its launcher.
    pub profile: &'e LauncherProfile,
    /// Time limit of the client in seconds.
    pub time_limit_seconds: u32,
    /// The project.
    pub root: &'e Path,
    /// The environment of the user who had the run driven.
    pub variables: Vec<(OsString, OsString)>,
    /// The address of the remote repository as a worker reaches it.
    pub remote: String,
    /// The run.
    pub run: &'e str,
}

/// Why a command of a launcher failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFailure {
    /// In words, which hold no password of an address.
    pub why: String,
    /// It did not end in its time: what it asked for may have been done.
    pub is_timeout: bool,
}

impl CommandFailure {
    fn new(why: &str) -> Self {
        Self { why: without_credentials(why), is_timeout: false }
    }
}

impl EngineCommands<'_> {
    /// Hands a worker over.
    ///
    /// # Errors
    ///
    /// The engine did not take it; why, in its own last words.
    pub fn start(&self, job: &JobValues) -> Result<(), CommandFailure> {
        let values = self.values(job);
        let input = match &self.profile.input {
            Some(text) => LauncherTemplate::fill_text(text, |placeholder| values.get(placeholder))
                .map_err(|error| CommandFailure::new(&format!("its input cannot be filled in: {error}")))?,
            None => String::new(),
        };
        self.run(&self.profile.start, &values, input.into_bytes()).map(drop)
    }

    /// Has a worker ended. One that the engine does not have is no error.
    pub fn cancel(&self, job: &JobValues) -> Result<(), CommandFailure> {
        let Some(template) = &self.profile.cancel else { return Ok(()) };
        self.run(template, &self.values(job), Vec::new()).map(drop)
    }

    /// What a worker has said, as the engine has it; `None` where the launcher has no command for that.
    pub fn logs(&self, job: &JobValues) -> Option<Result<String, String>> {
        let template = self.profile.logs.as_ref()?;
        Some(self.run(template, &self.values(job), Vec::new()).map_err(|failure| failure.why))
    }

    /// The workers that the engine knows; `None` where the launcher has no command for that.
    pub fn states(&self) -> Option<Result<std::collections::BTreeMap<String, EngineState>, String>> {
        let template = self.profile.status.as_ref()?;
        let said = self.run(template, &self.values(&JobValues::default()), Vec::new());
        Some(said.map(|said| parse_engine_states(&said)).map_err(|failure| failure.why))
    }

    fn run(&self, template: &str, values: &CommandValues, input: Vec<u8>) -> Result<String, CommandFailure> {
        // A value that cannot stand in its word is quoted, and may be the command of a worker with its remote.
        let found = find_command(template, self.root, |placeholder| values.get(placeholder));
        let (program, arguments) = found.map_err(|why| CommandFailure::new(&why))?;
        let name = sanitize(&program.display().to_string(), 100);
        let mut command = child_command(&program, self.variables.iter().cloned());
        command.args(arguments).current_dir(self.root);
        let request = ProcessRequest {
            command,
            input,
            output: None,
            reads_stderr: true,
            limit: LIMIT,
            grace: GRACE,
            output_wait: GRACE,
            max_bytes: MAX_BYTES,
            // A worker of `local` goes on after the command that began it.
            leftovers: Leftovers::Free,
        };
        // It may say the words that it was called with, of which the address of the remote is one.
        let text = |bytes: Option<Vec<u8>>| without_credentials(&String::from_utf8_lossy(&bytes.unwrap_or_default()));
        match runner::run(request) {
            Ok(ProcessEnd::Ended(ProcessOutput { status: Some(0), stdout, .. })) => Ok(text(stdout)),
            Ok(ProcessEnd::Ended(ProcessOutput { status, stdout, stderr })) => {
                let (said, printed) = (text(stderr), text(stdout));
                let last = printed.lines().chain(said.lines()).map(str::trim).rfind(|line| !line.is_empty());
                let status = status.map_or_else(|| "a signal".to_owned(), |status| format!("status {status}"));
                let last = sanitize(last.unwrap_or("it said nothing"), 200);
                Err(CommandFailure::new(&format!("`{name}` ended with {status}: {last}")))
            }
            Ok(ProcessEnd::TimedOut | ProcessEnd::Cancelled) => Err(CommandFailure {
                is_timeout: true,
                ..CommandFailure::new(&format!("`{name}` did not end within {} s", LIMIT.as_secs()))
            }),
            Err(error) => Err(CommandFailure::new(&format!("`{name}` could not be started: {error}"))),
        }
    }

    fn values(&self, job: &JobValues) -> CommandValues {
        let profile = self.profile;
        let seconds = self.time_limit_seconds;
        // The engine ends it later than it ends itself: what it has done by then is pushed.
        let minutes = profile.run_minutes.unwrap_or_else(|| seconds.div_ceil(60).saturating_add(15));
        let seconds = seconds.to_string();
        let quote = |words: &[&str]| shlex::try_join(words.iter().copied()).unwrap_or_default();
        let omo = profile.omo.as_str();
        let scratch: Vec<&str> = profile.scratch.iter().flat_map(|scratch| ["--scratch", scratch.as_str()]).collect();
        let client = profile.client.iter().flat_map(|client| ["--client", client.as_str()]);
        let mut job_words = vec!["--remote", &self.remote, "--branch", &job.branch, "--brief", &job.brief];
        job_words.extend(["--time-limit", &seconds, "--name", &job.job]);
        job_words.extend(client.chain(scratch.iter().copied()));
        let of_job = |verb: &str| quote(&[&[omo, "worker", verb, &job.job], scratch.as_slice()].concat());
        CommandValues {
            // It takes the place of its shell: a signal that ends the job by its first process ends no other one, and
            // an engine that waits for that process waits until the worker has told its end.
            worker: format!("exec {}", quote(&[&[omo, "worker"], job_words.as_slice()].concat())),
            worker_start: quote(&[&[omo, "worker", "start"], job_words.as_slice()].concat()),
            worker_cancel: of_job("cancel"),
            worker_logs: of_job("logs"),
            worker_list: quote(&[&[omo, "worker", "list"], scratch.as_slice()].concat()),
            minutes: minutes.to_string(),
            run: self.run.to_owned(),
            host: profile.host.clone(),
            image: profile.image.clone(),
            options: profile.options.clone(),
            job: job.clone(),
        }
    }
}

/// What is filled into the commands.
struct CommandValues {
    job: JobValues,
    run: String,
    worker: String,
    worker_start: String,
    worker_cancel: String,
    worker_list: String,
    worker_logs: String,
    minutes: String,
    host: String,
    image: String,
    options: String,
}

impl CommandValues {
    fn get(&self, placeholder: LauncherPlaceholder) -> &str {
        match placeholder {
            LauncherPlaceholder::Branch => &self.job.branch,
            LauncherPlaceholder::Base => &self.job.base,
            LauncherPlaceholder::Group => &self.job.group,
            LauncherPlaceholder::Job => &self.job.job,
            LauncherPlaceholder::Brief => &self.job.brief,
            LauncherPlaceholder::Log => &self.job.log,
            LauncherPlaceholder::Run => &self.run,
            LauncherPlaceholder::Worker => &self.worker,
            LauncherPlaceholder::WorkerStart => &self.worker_start,
            LauncherPlaceholder::WorkerCancel => &self.worker_cancel,
            LauncherPlaceholder::WorkerList => &self.worker_list,
            LauncherPlaceholder::WorkerLogs => &self.worker_logs,
            LauncherPlaceholder::Minutes => &self.minutes,
            LauncherPlaceholder::Host => &self.host,
            LauncherPlaceholder::Image => &self.image,
            LauncherPlaceholder::Options => &self.options,
            // A worker has neither: its brief comes with its branch, and its clone is its own.
            LauncherPlaceholder::PromptFile | LauncherPlaceholder::Worktree => "",
        }
    }
}
