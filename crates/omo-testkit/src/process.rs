//! Running one child process with its own process group and a hard limit.

use std::io::{ErrorKind, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::wait::wait_until;

/// Maximum time in which the ends of the pipes stay open after the process itself has ended.
const PIPES_GRACE: Duration = Duration::from_secs(2);

/// Result of a child process.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) duration: Duration,
    pub(crate) timed_out: bool,
}

/// Runs `command` to its end, or to `limit`; then its whole group is ended.
///
/// With `input` the child reads that text from a pipe, without it from nothing.
pub(crate) fn run(mut command: Command, input: Option<&str>, limit: Duration) -> Result<Finished> {
    let stdin = if input.is_some() {
        Stdio::piped()
    } else {
        Stdio::null()
    };
    command
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);

    let start = Instant::now();
    let mut child = spawn(&mut command)
        .with_context(|| format!("start {}", command.get_program().display()))?;
    let group = child.id();
    if let (Some(mut pipe), Some(text)) = (child.stdin.take(), input) {
        let text = text.to_owned();
        // A child that never reads closes the pipe: its right, not our error.
        thread::spawn(move || pipe.write_all(text.as_bytes()).ok());
    }
    let stdout = child.stdout.take().map(read_in_background);
    let stderr = child.stderr.take().map(read_in_background);
    let ended = wait_in_background(child);

    let mut timed_out = false;
    let status = match ended.recv_timeout(limit) {
        Ok(status) => status,
        Err(RecvTimeoutError::Timeout) => {
            timed_out = true;
            end_group(group);
            ended.recv().context("wait for the ended process")?
        }
        Err(RecvTimeoutError::Disconnected) => anyhow::bail!("the waiting thread is gone"),
    }
    .context("wait for the process")?;
    let duration = start.elapsed();
    Ok(Finished {
        status,
        stdout: collect(stdout, group),
        stderr: collect(stderr, group),
        duration,
        timed_out,
    })
}

/// Starts a command. A program that a test has just written is still open for writing in a child that another thread
/// has started meanwhile and that has not begun its own program yet: it cannot be run until then.
fn spawn(command: &mut Command) -> Result<Child> {
    let started = wait_until("the program is written", || match command.spawn() {
        Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => None,
        result => Some(result),
    })?;
    Ok(started?)
}

pub(crate) fn with_settings_of(mut command: Command, given: &Command) -> Command {
    command.args(given.get_args()).env_clear();
    command.envs(
        given
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    if let Some(folder) = given.get_current_dir() {
        command.current_dir(folder);
    }
    command
}

fn wait_in_background(mut child: Child) -> Receiver<std::io::Result<ExitStatus>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait()).ok());
    receiver
}

/// Reads a pipe to its end in the background; the caller does not wait for that.
pub fn read_in_background(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).ok();
        sender.send(bytes).ok();
    });
    receiver
}

/// The text of a pipe; a grandchild that keeps it open is ended with the group it belongs to.
fn collect(pipe: Option<Receiver<Vec<u8>>>, group: u32) -> String {
    let Some(pipe) = pipe else {
        return String::new();
    };
    let bytes = pipe.recv_timeout(PIPES_GRACE).unwrap_or_else(|_| {
        end_group(group);
        pipe.recv_timeout(PIPES_GRACE).unwrap_or_default()
    });
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(unix)]
fn end_group(group: u32) {
    let group = i32::try_from(group)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        // The group may be gone already, which is what we want.
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
    }
}

#[cfg(not(unix))]
fn end_group(process: u32) {
    let process = process.to_string();
    Command::new("taskkill")
        .args(["/T", "/F", "/PID", &process])
        .output()
        .ok();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn gives_input_and_collects_output() {
        let mut command = Command::new("sh");
        command.args(["-c", "cat; echo warn >&2; exit 3"]);
        let finished = run(command, Some("hello"), Duration::from_secs(10)).unwrap();
        assert_eq!(finished.stdout, "hello");
        assert_eq!(finished.stderr, "warn\n");
        assert_eq!(finished.status.code(), Some(3));
        assert!(!finished.timed_out);
    }

    #[test]
    fn ends_the_whole_group_at_the_limit() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60 & sleep 60"]);
        let finished = run(command, None, Duration::from_millis(200)).unwrap();
        assert!(finished.timed_out);
        assert!(finished.duration < Duration::from_secs(10));
    }
}
