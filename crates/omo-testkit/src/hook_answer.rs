//! Answer of a hook, read as the client reads it.

use std::process::{Command, ExitStatus};
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use crate::process::{Finished, run, with_settings_of};

/// Longer than any run takes, however busy the machine is.
const LIMIT: Duration = Duration::from_secs(60);

/// Result of a hook's process.
#[derive(Debug)]
#[must_use = "look at the answer or the status"]
pub struct HookRun {
    /// Exit status.
    pub status: ExitStatus,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Duration.
    pub duration: Duration,
    /// Ended at its limit; the client throws its output away then.
    pub timed_out: bool,
}

/// A hook's standard output, read as the client reads it.
#[derive(Debug, Clone, PartialEq)]
pub enum HookAnswer {
    /// No output, or output of a hook that ended with an error or too late.
    Nothing,
    /// Text that is no JSON object.
    PlainText(String),
    /// A JSON object.
    Json(Value),
}

impl From<Finished> for HookRun {
    fn from(done: Finished) -> Self {
        Self {
            status: done.status,
            stdout: done.stdout,
            stderr: done.stderr,
            duration: done.duration,
            timed_out: done.timed_out,
        }
    }
}

impl HookRun {
    /// The answer. Output that begins like an object and is none is an error: the client would
    /// drop it or show it to the model.
    pub fn answer(&self) -> Result<HookAnswer> {
        let text = self.stdout.trim();
        if text.is_empty() || self.timed_out {
            return Ok(HookAnswer::Nothing);
        }
        match serde_json::from_str::<Value>(text) {
            Ok(value) if value.is_object() => Ok(HookAnswer::Json(value)),
            Err(error) if text.starts_with('{') => {
                anyhow::bail!("the hook's answer does not parse: {error}: {text}")
            }
            _ if !self.status.success() => Ok(HookAnswer::Nothing),
            _ => Ok(HookAnswer::PlainText(text.to_owned())),
        }
    }

    /// A hook that lets everything go on without a word: status 0, no output of any kind.
    pub fn is_silent(&self) -> bool {
        self.status.success() && self.stdout.is_empty() && self.stderr.is_empty()
    }
}

impl HookAnswer {
    /// A block of the prompt or the stop.
    pub fn blocks(&self) -> bool {
        self.text("/decision") == Some("block")
    }

    /// A `Stop` hook that sends the model on, by a block or by context.
    pub fn continues(&self) -> bool {
        self.blocks() || self.additional_context().is_some()
    }

    /// The reason of a block.
    pub fn reason(&self) -> Option<&str> {
        self.text("/reason")
    }

    /// `additionalContext` for the model.
    pub fn additional_context(&self) -> Option<&str> {
        self.text("/hookSpecificOutput/additionalContext")
    }

    /// Context for the model beside the prompt, as plain text or as a field.
    pub fn context(&self) -> Option<&str> {
        match self {
            Self::PlainText(text) => Some(text),
            Self::Json(_) | Self::Nothing => self.additional_context(),
        }
    }

    /// `systemMessage` for the person.
    pub fn system_message(&self) -> Option<&str> {
        self.text("/systemMessage")
    }

    /// The string at a JSON pointer.
    pub fn text(&self, pointer: &str) -> Option<&str> {
        match self {
            Self::Json(value) => value.pointer(pointer)?.as_str(),
            Self::Nothing | Self::PlainText(_) => None,
        }
    }
}

/// Runs a command that may be run again, as often as a test needs it: with the environment that it
/// sets itself and no other, and with `input` to read.
pub fn run_command(command: &Command, input: &str) -> Result<HookRun> {
    let command = with_settings_of(Command::new(command.get_program()), command);
    Ok(HookRun::from(run(command, Some(input), LIMIT)?))
}
