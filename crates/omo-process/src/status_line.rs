//! Runs the user's own status line as the client would, with a limit on its time and its output.

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::child_command::inheriting_command;
use crate::platform::{GroupEnding, Leftovers, ProcessGroup, Shell};

/// Maximum duration. The client waits longer, but ends a status line whenever the next one is due.
const LIMIT: Duration = Duration::from_secs(3);
/// Wait for output after the shell's end: background processes may never close `stdout`.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// More than any terminal shows.
const MAX_BYTES: usize = 64 * 1024;

pub struct StatusLine {
    started: Option<RunningStatusLine>,
}

struct RunningStatusLine {
    group: ProcessGroup,
    events: Receiver<StatusLineEvent>,
    deadline: Instant,
}

enum StatusLineEvent {
    Output(Vec<u8>),
    /// No process has the output open for writing any more.
    OutputEnded,
    Ended,
}

impl StatusLine {
    /// Starts the shell command `command`; one that cannot be started has no output.
    pub fn start(command: &str, input: Vec<u8>) -> Self {
        Self {
            started: start(command, input).ok(),
        }
    }

    /// Output of the command until it ends, or is ended at `LIMIT`.
    pub fn output(self) -> Vec<u8> {
        self.started
            .map(RunningStatusLine::collect_output)
            .unwrap_or_default()
    }
}

fn start(command: &str, mut input: Vec<u8>) -> std::io::Result<RunningStatusLine> {
    let found = Shell::find();
    let mut shell = inheriting_command(found.program());
    found.give(&mut shell, command)?;
    let ((stdin, mut sent), (said, stdout)) = (std::io::pipe()?, std::io::pipe()?);
    shell.stdin(stdin).stdout(stdout);
    let (sender, events) = channel();
    let ended = sender.clone();
    // The client ends a status line that it no longer needs; this one is ended with it.
    let group = ProcessGroup::start(shell, Leftovers::Free, move |_, _| {
        drop(ended.send(StatusLineEvent::Ended));
    })?;
    let started = RunningStatusLine {
        group,
        events,
        deadline: Instant::now() + LIMIT,
    };
    // The client ends its line too, and a shell's `read` waits for that. A program may close the pipe unread.
    input.push(b'\n');
    std::thread::spawn(move || sent.write_all(&input));
    std::thread::spawn(move || read(said, &sender));
    Ok(started)
}

fn read(mut stdout: impl Read, sender: &Sender<StatusLineEvent>) {
    let mut buffer = [0; 4 * 1024];
    while let Ok(length @ 1..) = stdout.read(&mut buffer) {
        let piece = buffer.get(..length).unwrap_or_default().to_vec();
        if sender.send(StatusLineEvent::Output(piece)).is_err() {
            return;
        }
    }
    let _ = sender.send(StatusLineEvent::OutputEnded);
}

impl RunningStatusLine {
    fn collect_output(mut self) -> Vec<u8> {
        let mut printed = Vec::new();
        let mut has_ended = false;
        loop {
            match self
                .events
                .recv_timeout(self.deadline.saturating_duration_since(Instant::now()))
            {
                Ok(StatusLineEvent::Output(piece)) => printed.extend(piece),
                Ok(StatusLineEvent::OutputEnded) | Err(RecvTimeoutError::Disconnected) => {
                    return printed;
                }
                Ok(StatusLineEvent::Ended) => {
                    has_ended = true;
                    self.deadline = self.deadline.min(Instant::now() + LAST_WORDS);
                }
                // Processes in the background are the command's own affair.
                Err(RecvTimeoutError::Timeout) if has_ended => return printed,
                Err(RecvTimeoutError::Timeout) => break,
            }
            if printed.len() > MAX_BYTES {
                printed.truncate(MAX_BYTES);
                break;
            }
        }
        self.group.end(GroupEnding::AtOnce);
        printed
    }
}
