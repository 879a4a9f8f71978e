//! The minder: a process between omo and one session of the client. It ends the session with all
//! that it started when the session is done, when its time is up, or when the supervisor is gone,
//! even killed: the end of `stdin` tells.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use omo_process::child_command::child_command;
use omo_process::helper_process;
use omo_process::platform::{GroupEnding, Leftovers, ProcessGroup};
use omo_process::process_identity::start_mark;
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::{LockError, StateLock};
use serde::{Deserialize, Serialize};

use crate::client_end::ClientProcessEnd;
use crate::supervisor::process_state::ProcessIdentity;

/// First argument of a minder, by which [`run_if_asked`] knows it.
pub(crate) const MINDER_ARGUMENT: &str = "--mind-session";

/// Time to end after `SIGTERM`.
const GRACE: Duration = Duration::from_secs(5);
/// Time to print the cost after an interruption. The client 2.1.328 takes 1.5 s at most, and prints nothing where it
/// is terminated.
const INTERRUPT_GRACE: Duration = Duration::from_secs(3);

/// Session to start, as JSON on `stdin`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MinderSpec {
    /// The client, or a launcher.
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub folder: PathBuf,
    /// The whole environment.
    pub variables: Vec<(OsString, OsString)>,
    /// File for `stdin`.
    pub prompt: PathBuf,
    /// File for `stdout`.
    pub printed: PathBuf,
    /// File for `stderr`.
    pub complaints: PathBuf,
    pub timeout_millis: u64,
    /// Interrupts before the termination, so that the client prints its cost.
    #[serde(default)]
    pub is_interrupted_first: bool,
}

/// A line of JSON on the minder's `stdout`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum MinderLine {
    Started(ProcessIdentity),
    Ended(ClientProcessEnd),
}

/// Runs a minder and exits, in a process started as one: first call in the `main` of a binary with a supervisor.
#[expect(
    clippy::exit,
    reason = "a minder is a process of its own, and does nothing else"
)]
pub fn run_if_asked() {
    if helper_process::is_started_as(MINDER_ARGUMENT) {
        run_minder();
        std::process::exit(0);
    }
}

enum MinderEvent {
    Ended(Option<i32>, Option<i32>),
    CallerGone,
}

fn run_minder() {
    let (sender, events) = channel();
    let caller_gone = sender.clone();
    let spec: Option<MinderSpec> =
        helper_process::read_order(move || drop(caller_gone.send(MinderEvent::CallerGone)));
    let Some(spec) = spec else { return };
    let end = run(&spec, sender, &events);
    print_line(&MinderLine::Ended(end));
}

fn print_line(line: &MinderLine) {
    let mut out = std::io::stdout().lock();
    let _ = serde_json::to_string(line).map(|json| writeln!(out, "{json}"));
}

fn run(
    spec: &MinderSpec,
    sender: Sender<MinderEvent>,
    events: &Receiver<MinderEvent>,
) -> ClientProcessEnd {
    // Held until the end of this process, after the session and what it left.
    let _alone = match lock_printed(&spec.printed) {
        Ok(lock) => lock,
        Err(error) => {
            let why = format!("an earlier client of the session is still there: {error}");
            return ClientProcessEnd {
                not_started: Some(why),
                ..ClientProcessEnd::default()
            };
        }
    };
    let group = match command(spec).and_then(|command| {
        ProcessGroup::start(command, Leftovers::Ended, move |status, signal| {
            drop(sender.send(MinderEvent::Ended(status, signal)));
        })
    }) {
        Ok(group) => group,
        Err(error) => {
            let why = format!("{} cannot be started: {error}", spec.program.display());
            return ClientProcessEnd {
                not_started: Some(why),
                ..ClientProcessEnd::default()
            };
        }
    };
    let pid = group.pid();
    print_line(&MinderLine::Started(ProcessIdentity {
        pid,
        start: start_mark(pid),
    }));
    let mut end = ClientProcessEnd::default();
    match events.recv_timeout(Duration::from_millis(spec.timeout_millis)) {
        Ok(MinderEvent::Ended(status, signal)) => (end.status, end.signal) = (status, signal),
        Ok(MinderEvent::CallerGone) | Err(RecvTimeoutError::Disconnected) => end.stopped = true,
        Err(RecvTimeoutError::Timeout) => end.timed_out = true,
    }
    if end.stopped || end.timed_out {
        let mut has_ended = false;
        if spec.is_interrupted_first {
            group.end(GroupEnding::Interrupted);
            has_ended = has_ended_within(INTERRUPT_GRACE, events);
        }
        group.end(GroupEnding::Asked);
        if !has_ended {
            has_ended_within(GRACE, events);
        }
    }
    helper_process::end_group_and_orphans(&group);
    end
}

/// Locks the output file of a session, for which it waits up to 15 seconds: the minder of a killed
/// supervisor may hold the lock while it ends its client.
pub(super) fn lock_printed(printed: &Path) -> Result<Option<StateLock>, LockError> {
    let (folder, name) = (
        printed.parent(),
        printed.file_name().and_then(OsStr::to_str),
    );
    let (Some(folder), Some(name)) = (folder, name) else {
        return Ok(None);
    };
    let Some(folder) = GuardedFolder::open_below(folder, &[])? else {
        return Ok(None);
    };
    StateLock::take_named(&folder, &format!("{name}.lock"), GRACE * 3).map(Some)
}

fn has_ended_within(limit: Duration, events: &Receiver<MinderEvent>) -> bool {
    helper_process::wait_for_event(limit, events, |event| {
        matches!(event, MinderEvent::Ended(..))
    })
}

fn command(spec: &MinderSpec) -> std::io::Result<Command> {
    let mut command = child_command(&spec.program, spec.variables.iter().cloned());
    command.args(&spec.arguments).current_dir(&spec.folder);
    command.stdin(File::open(&spec.prompt)?);
    command
        .stdout(File::create(&spec.printed)?)
        .stderr(File::create(&spec.complaints)?);
    Ok(command)
}
