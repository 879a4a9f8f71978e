//! Starts processes of omo that outlive the terminal and the client's session.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::child_command::inheriting_command;
use crate::platform::{self, leave_session, own_program, show_no_window};

/// Maximum wait for the first line of output.
const LIMIT: Duration = Duration::from_secs(30);

/// Starts this very program with `log` as its `stderr`, and returns the line that it gives to
/// [`report_ready`]. Fails for one that ends before it is ready, or is not ready within `LIMIT`.
pub fn start_detached(arguments: &[OsString], folder: &Path, log: File) -> io::Result<String> {
    start_detached_program(&own_program()?, arguments, folder, log)
}

/// [`start_detached`] for another binary of omo.
pub fn start_detached_program(
    program: &Path,
    arguments: &[OsString],
    folder: &Path,
    log: File,
) -> io::Result<String> {
    let mut command = inheriting_command(program);
    command.args(arguments).current_dir(folder);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log);
    show_no_window(&mut command);
    let mut process = command.spawn()?;
    let stdout = process.stdout.take();
    let (sender, answer) = channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = stdout.map(|stdout| BufReader::new(stdout).read_line(&mut line));
        let _ = sender.send(matches!(read, Some(Ok(1..))).then_some(line));
    });
    match answer.recv_timeout(LIMIT) {
        Ok(Some(line)) => {
            // Reaps a process that has handed over.
            let _ = process.try_wait();
            Ok(line.trim_end().to_owned())
        }
        Ok(None) => Err(io::Error::other(
            "it ended before it was ready; its log says why",
        )),
        Err(_) => {
            let _ = process.kill();
            let _ = process.wait();
            Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "it did not get ready in time",
            ))
        }
    }
}

/// Starts this very program with the same standard streams. A process of [`start_detached`] that ends right after
/// this is no longer between the two: Esc in the client ends all descendants of the command that it interrupts,
/// those with a session of their own too (measured on 2.1.328).
pub fn hand_over(arguments: &[OsString]) -> io::Result<()> {
    let mut command = inheriting_command(own_program()?);
    show_no_window(&mut command);
    command.args(arguments).spawn().map(drop)
}

/// `setsid` for a process of [`start_detached`]: signals to the terminal and to the caller's group miss it.
pub fn leave_terminal() -> io::Result<()> {
    leave_session()
}

/// Gives this process and its children the lowest priority, and one processor.
pub fn step_back() {
    platform::step_back();
}

/// Prints the one line that the caller of [`start_detached`] reads.
pub fn report_ready(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
