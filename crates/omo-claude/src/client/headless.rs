//! One session with `-p`, in a folder and an environment of its own: nothing of its user's sessions has to do with it.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use omo_process::child_command::child_command;

use super::{ClaudeClient, ClaudeError, command_line_text, quote_last_line};

#[derive(Debug)]
pub struct HeadlessRequest<'a> {
    pub folder: &'a Path,
    /// The whole environment.
    pub variables: Vec<(OsString, OsString)>,
    pub arguments: Vec<OsString>,
}

#[derive(Debug)]
pub struct HeadlessResult {
    pub printed: String,
    /// Last line of `stderr`.
    pub complaint: String,
    /// By its exit status, which is another one after an error of the API.
    pub succeeded: bool,
}

impl ClaudeClient {
    /// Runs a session to its end. Once `is_wanted` says no, it is ended with all that it started.
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
