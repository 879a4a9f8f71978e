//! Supervisor of a run: a detached `omo agent supervise`, at work until the run needs a person.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use omo_claude::client::ClaudeClient;
use omo_engine::Run;
use omo_engine::state::RunState;
use omo_process::detached;
use omo_state::search_path::SearchPath;

use crate::billing;
use crate::context::CommandContext;
use crate::error::CommandError;

const LOG: &str = "supervisor.log";

/// Starts the supervisor unless it runs; refuses without consent to costs, or without a client.
pub(crate) fn ensure_supervisor(context: &CommandContext, run: &Run) -> Result<(), CommandError> {
    if run.is_supervised()? {
        return Ok(());
    }
    // Checked now, while the user is there to read an error.
    let state = run.state()?;
    billing::require_accepted_billing(&state)?;
    client_for_run(&state, &context.root)?;
    let (log, path) = run.log_file(LOG)?;
    let arguments: Vec<OsString> = ["agent", "supervise", "--detach", "--run", run.id()]
        .map(OsString::from)
        .to_vec();
    detached::start_detached(&arguments, &context.root, log)
        .map(drop)
        .map_err(|error| {
            CommandError::io(
                format!("the supervisor of the run could not be started: {error}"),
                format!("its log is {}", path.display()),
            )
        })
}

pub(crate) fn last_complaint(run: &Run) -> String {
    let text = std::fs::read_to_string(run.folder().join("logs").join(LOG)).unwrap_or_default();
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    lines
        .split_at_checked(lines.len().saturating_sub(5))
        .map(|(_, last)| last.join("\n"))
        .unwrap_or_default()
}

fn find_client(folder: &Path) -> Result<ClaudeClient, CommandError> {
    ClaudeClient::find(&SearchPath::from_process(), folder).map_err(|_| {
        CommandError::precondition(
            "no `claude` is on the PATH, and the workers run in it",
            "install Claude Code; `omo run start --fg PLAN` has the session itself do the work",
        )
    })
}

/// `true` where a client for workers is installed.
pub(crate) fn has_client(folder: &Path) -> bool {
    find_client(folder).is_ok()
}

/// The client for workers; none is needed for a launcher, which starts them somewhere else.
pub(crate) fn client_for_run(state: &RunState, folder: &Path) -> Result<PathBuf, CommandError> {
    let is_launched = state
        .parallel
        .as_ref()
        .is_some_and(|parallel| parallel.policy.launcher.is_some());
    if is_launched {
        Ok(PathBuf::new())
    } else {
        Ok(find_client(folder)?.program().to_owned())
    }
}
