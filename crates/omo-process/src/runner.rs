//! The one way in which a program is run to its end for its output: in a group of its own, fed and read beside each
//! other, and ended by a deadline or once it is no longer needed.

use std::fs::File;
use std::io::{self, Read, Write, pipe};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::platform::{GroupEnding, Leftovers, ProcessGroup};

/// Pause between two calls of `is_needed`.
const ASK_EVERY: Duration = Duration::from_millis(10);
/// Wait for the end of a group that was killed.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// Program and its bounds, for `run`.
#[derive(Debug)]
pub struct ProcessRequest {
    /// The program with its arguments, folder and variables; its input and output are set here.
    pub command: Command,
    /// Content of `stdin`.
    pub input: Vec<u8>,
    /// The file that it prints into, in place of the pipe whose content is read.
    pub output: Option<File>,
    /// `true` for a `stderr` that is read; it is dropped otherwise.
    pub reads_stderr: bool,
    /// Maximum duration.
    pub limit: Duration,
    /// Time to end after a request; zero for none.
    pub grace: Duration,
    /// Wait for the rest of the output after the end: processes left running may hold it open for
    /// ever.
    pub output_wait: Duration,
    /// Bytes read of each output; the rest is taken and dropped, so that the program never waits
    /// for its reader.
    pub max_bytes: u64,
    /// Fate of processes left in the group.
    pub leftovers: Leftovers,
}

/// End of a `ProcessRequest`.
#[derive(Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    /// By itself.
    Ended(ProcessOutput),
    /// A timeout: ended with all that it started.
    TimedOut,
    /// No longer needed, and ended like that.
    Cancelled,
}

/// `stdout`, `stderr` and status of a program that ended by itself.
#[derive(Debug, PartialEq, Eq)]
pub struct ProcessOutput {
    /// Exit status; `None` after a signal.
    pub status: Option<i32>,
    /// Standard output; `None` where its end did not come in time.
    pub stdout: Option<Vec<u8>>,
    /// `stderr`, likewise.
    pub stderr: Option<Vec<u8>>,
}

/// Runs it to its end.
///
/// # Errors
///
/// It cannot be started.
pub fn run(request: ProcessRequest) -> io::Result<ProcessEnd> {
    run_group(request, None)
}

/// Runs it to its end, or until `is_needed` says otherwise.
///
/// # Errors
///
/// As [`run`].
pub fn run_while(
    request: ProcessRequest,
    mut is_needed: impl FnMut() -> bool,
) -> io::Result<ProcessEnd> {
    run_group(request, Some(&mut is_needed))
}

fn run_group(
    request: ProcessRequest,
    mut is_needed: Option<&mut dyn FnMut() -> bool>,
) -> io::Result<ProcessEnd> {
    let ProcessRequest {
        mut command,
        input,
        output,
        reads_stderr,
        limit,
        grace,
        output_wait,
        max_bytes,
        leftovers,
    } = request;
    let (stdin, sent) = (!input.is_empty()).then(pipe).transpose()?.unzip();
    let (said, stdout) = pipe()?;
    let (complaint, stderr) = reads_stderr.then(pipe).transpose()?.unzip();
    command.stdin(stdin.map_or_else(Stdio::null, Stdio::from));
    command.stdout(output.map_or_else(|| Stdio::from(stdout), Stdio::from));
    command.stderr(stderr.map_or_else(Stdio::null, Stdio::from));
    let (sender, ended) = channel();
    let group = ProcessGroup::start(command, leftovers, move |status, _| {
        let _ = sender.send(status);
    })?;
    let said = read_beside(said, max_bytes);
    let complaint = complaint.map(|complaint| read_beside(complaint, max_bytes));
    if let Some(mut sent) = sent {
        // Beside the reading: it may answer before it has read everything.
        std::thread::spawn(move || sent.write_all(&input));
    }
    let deadline = Instant::now() + limit;
    let status = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let wait = if is_needed.is_some() {
            left.min(ASK_EVERY)
        } else {
            left
        };
        match ended.recv_timeout(wait) {
            Ok(status) => break status,
            Err(RecvTimeoutError::Disconnected) => break None,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let is_cancelled = is_needed.as_mut().is_some_and(|is_needed| !is_needed());
        if is_cancelled || Instant::now() >= deadline {
            end(&group, &ended, grace, leftovers);
            return Ok(if is_cancelled {
                ProcessEnd::Cancelled
            } else {
                ProcessEnd::TimedOut
            });
        }
    };
    let until = Instant::now() + output_wait;
    let collect = |output: Receiver<Vec<u8>>| {
        output
            .recv_timeout(until.saturating_duration_since(Instant::now()))
            .ok()
    };
    Ok(ProcessEnd::Ended(ProcessOutput {
        status,
        stdout: collect(said),
        stderr: complaint.and_then(collect),
    }))
}

fn end(group: &ProcessGroup, ended: &Receiver<Option<i32>>, grace: Duration, leftovers: Leftovers) {
    if !grace.is_zero() {
        group.end(GroupEnding::Asked);
        if ended.recv_timeout(grace).is_ok() {
            if leftovers == Leftovers::Ended {
                group.end(GroupEnding::AtOnce);
            }
            return;
        }
    }
    group.end(GroupEnding::AtOnce);
    let _ = ended.recv_timeout(LAST_WAIT);
}

/// Reads to the end in a thread of its own. What cannot be read to its end is told as nothing.
fn read_beside(mut source: impl Read + Send + 'static, max_bytes: u64) -> Receiver<Vec<u8>> {
    let (sender, answer) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if source
            .by_ref()
            .take(max_bytes)
            .read_to_end(&mut bytes)
            .is_ok()
        {
            let _ = io::copy(&mut source, &mut io::sink());
            let _ = sender.send(bytes);
        }
    });
    answer
}
