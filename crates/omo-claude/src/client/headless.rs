//! One session of the client without a terminal, in folders of its own and with an environment that
//! is given whole: nothing of its user's sessions has to do with it.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use omo_process::child_command::child_command;

use super::{ClaudeClient, ClaudeError, command_line_text, quote_last_line};

/// Folder, environment and arguments of a session with `-p`.
#[derive(Debug)]
pub struct HeadlessRequest<'a> {
    /// Working folder.
    pub folder: &'a Path,
    /// The whole environment.
    pub variables: Vec<(OsString, OsString)>,
    /// Options and prompt.
    pub arguments: Vec<OsString>,
}

/// Output of a session until its `result` line.
#[derive(Debug)]
pub struct HeadlessResult {
    /// Everything that it printed.
    pub printed: String,
    /// The end of what it complained about.
    pub complaint: String,
    /// A success by its own words. After an error of the API it is none.
    pub succeeded: bool,
}

impl ClaudeClient {
    /// Runs a session to its end. `is_wanted` is asked all the while; once it says no, the session
    /// is ended with all that it started.
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
