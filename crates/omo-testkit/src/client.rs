//! The real client, run once without a terminal.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use crate::lab::Lab;
use crate::{environment, process};

/// Maximum time of a run unless a test says otherwise.
const LIMIT: Duration = Duration::from_secs(120);

/// The real client on this machine.
#[derive(Debug, Clone)]
pub struct Client {
    program: PathBuf,
    limit: Duration,
}

/// Reason for no real client.
#[derive(Debug, thiserror::Error)]
pub enum NoClient {
    /// The environment names none.
    #[error("{} is not set to the path of a client", environment::CLIENT)]
    NotNamed,
    /// There is no file where it should be.
    #[error("{} names {}, which is no file", environment::CLIENT, .0.display())]
    NoFile(PathBuf),
}

/// Result of a run of the client.
#[derive(Debug)]
#[must_use = "look at the status or the answer"]
pub struct PrintRun {
    /// Exit status.
    pub status: ExitStatus,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Standard output as JSON, where it is JSON.
    pub json: Option<Value>,
    /// Ended at the limit.
    pub timed_out: bool,
}

impl Client {
    /// The client that the test runner names in `OMO_TEST_CLIENT`.
    pub fn find() -> Result<Self, NoClient> {
        let program = environment::variable(environment::CLIENT).ok_or(NoClient::NotNamed)?;
        Self::at(PathBuf::from(program))
    }

    /// The client with this program.
    pub fn at(program: PathBuf) -> Result<Self, NoClient> {
        if program.is_file() {
            Ok(Self {
                program,
                limit: LIMIT,
            })
        } else {
            Err(NoClient::NoFile(program))
        }
    }

    /// The client with another limit for one run.
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// The client's binary.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Asks one question with `claude -p`, permissions bypassed, and reads the JSON answer.
    ///
    /// `arguments` come before the prompt, for example `["--resume", id]`.
    pub fn print(&self, lab: &Lab, prompt: &str, arguments: &[&str]) -> Result<PrintRun> {
        self.finish(self.command(lab, prompt, arguments))
    }

    /// Command of [`Client::print`], for a test that ends it before its time.
    pub fn command(&self, lab: &Lab, prompt: &str, arguments: &[&str]) -> Command {
        let mut command = lab.command(&self.program);
        command.args(["-p", "--output-format", "json"]);
        command.args(session_arguments(lab));
        command.args(arguments).args(["--", prompt]);
        command
    }

    /// Runs the client with exactly these arguments, for example `["plugin", "list"]`.
    pub fn run<Argument: AsRef<OsStr>>(
        &self,
        lab: &Lab,
        arguments: impl IntoIterator<Item = Argument>,
    ) -> Result<PrintRun> {
        let mut command = lab.command(&self.program);
        command.args(arguments);
        self.finish(command)
    }

    fn finish(&self, command: Command) -> Result<PrintRun> {
        let done = process::run(command, None, self.limit)?;
        Ok(PrintRun {
            status: done.status,
            json: serde_json::from_str(&done.stdout).ok(),
            stdout: done.stdout,
            stderr: done.stderr,
            timed_out: done.timed_out,
        })
    }
}

/// The arguments that every session of a lab has.
pub(crate) fn session_arguments(lab: &Lab) -> Vec<&OsStr> {
    let mut arguments = vec![
        OsStr::new("--permission-mode"),
        OsStr::new("bypassPermissions"),
    ];
    for plugin in lab.plugins() {
        arguments.extend([OsStr::new("--plugin-dir"), plugin.as_os_str()]);
    }
    arguments
}

impl PrintRun {
    /// The session that answered.
    pub fn session_id(&self) -> Option<&str> {
        self.field("session_id")?.as_str()
    }

    /// The last text of the model, or the message of an error.
    pub fn result(&self) -> Option<&str> {
        self.field("result")?.as_str()
    }

    /// Number of turns.
    pub fn num_turns(&self) -> Option<u64> {
        self.field("num_turns")?.as_u64()
    }

    /// An error by the client's word; its `subtype` says `success` even then.
    pub fn is_error(&self) -> bool {
        self.field("is_error").and_then(Value::as_bool) != Some(false)
    }

    fn field(&self, name: &str) -> Option<&Value> {
        self.json.as_ref()?.get(name)
    }
}
