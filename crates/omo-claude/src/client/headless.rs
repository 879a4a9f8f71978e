//! Runs one session of the client without a terminal (`claude -p`), apart from its user's sessions.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use omo_process::child_command::child_command;

use super::{ClaudeClient, ClaudeError, command_line_text, quote_last_line};

#[derive(Debug)]
pub struct HeadlessRequest<'a> {
    pub folder: &'a Path,
    /// Whole environment of the session: nothing is inherited.
    pub variables: Vec<(OsString, OsString)>,
    pub arguments: Vec<OsString>,
}

#[derive(Debug)]
pub struct HeadlessResult {
    pub printed: String,
    /// Last line of `stderr`.
    pub complaint: String,
    /// `true` for exit status 0; the client ends with another one after an error of the API.
    pub succeeded: bool,
}

impl ClaudeClient {
    /// Runs a session to its end and returns its output. Once `is_wanted` returns `false`, the
    /// session is ended with all that it started.
    pub fn run_headless(
        &self,
        headless: HeadlessRequest,
        is_wanted: impl FnMut() -> bool,
    ) -> Result<HeadlessResult, ClaudeError> {
        let mut command = child_command(&self.program, headless.variables);
        command
            .args(headless.arguments)
            .current_dir(headless.folder);
        let asked = command_line_text(&[OsStr::new("-p")]);
        let answer = self.run_until(command, &asked, is_wanted)?;
        Ok(HeadlessResult {
            succeeded: answer.status == Some(0),
            complaint: quote_last_line(&answer.stderr),
            printed: answer.stdout,
        })
    }
}
