//! The one way to run a program for its output: in a process group of its own, which is ended by a
//! deadline or once its result is not needed.

use std::fs::File;
use std::io::{self, Read, Write, pipe};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::platform::{GroupEnding, Leftovers, ProcessGroup};

const ASK_EVERY: Duration = Duration::from_millis(10);
/// Wait for the end of a group that was killed.
const LAST_WAIT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct ProcessRequest {
    /// Program and arguments; [`run`] sets the standard streams.
    pub command: Command,
    pub input: Vec<u8>,
    /// File for `stdout` in place of the pipe that is read.
    pub output: Option<File>,
    /// `false` drops `stderr`.
    pub reads_stderr: bool,
    pub limit: Duration,
    /// Time to end after a request to do so; zero for an end without a request.
    pub grace: Duration,
    /// Wait for the rest of the output after the end: processes left running may hold it open for ever.
    pub output_wait: Duration,
    /// Bytes kept of each output; the rest is read and dropped, so that the program never waits.
    pub max_bytes: u64,
    pub leftovers: Leftovers,
}

#[derive(Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    Ended(ProcessOutput),
    TimedOut,
    Cancelled,
}

#[derive(Debug, PartialEq, Eq)]
pub struct ProcessOutput {
    /// `None` after a signal.
    pub status: Option<i32>,
    /// `None` where the end of the output did not come in time, as for `stderr`.
    pub stdout: Option<Vec<u8>>,
    pub stderr: Option<Vec<u8>>,
}

pub fn run(request: ProcessRequest) -> io::Result<ProcessEnd> {
    run_group(request, None)
}

/// [`run`], cancelled once `is_needed` returns `false`.
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
    let (stdin, input_pipe) = (!input.is_empty()).then(pipe).transpose()?.unzip();
    let (output_pipe, stdout) = pipe()?;
    let (error_pipe, stderr) = reads_stderr.then(pipe).transpose()?.unzip();
    command.stdin(stdin.map_or_else(Stdio::null, Stdio::from));
    command.stdout(output.map_or_else(|| Stdio::from(stdout), Stdio::from));
    command.stderr(stderr.map_or_else(Stdio::null, Stdio::from));
    let (sender, ended) = channel();
    let group = ProcessGroup::start(command, leftovers, move |status, _| {
        let _ = sender.send(status);
    })?;
    let output_pipe = read_beside(output_pipe, max_bytes);
    let error_pipe = error_pipe.map(|error_pipe| read_beside(error_pipe, max_bytes));
    if let Some(mut input_pipe) = input_pipe {
        // A program may answer before it has read everything.
        std::thread::spawn(move || input_pipe.write_all(&input));
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
    Ok(ProcessEnd::Ended(ProcessOutput {
        status,
        stdout: receive_until(&output_pipe, until),
        stderr: error_pipe.and_then(|pipe| receive_until(&pipe, until)),
    }))
}

fn receive_until(output: &Receiver<Vec<u8>>, until: Instant) -> Option<Vec<u8>> {
    output
        .recv_timeout(until.saturating_duration_since(Instant::now()))
        .ok()
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

/// Sends nothing where a read fails.
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
