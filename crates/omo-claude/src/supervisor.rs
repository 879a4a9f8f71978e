//! The supervisor of a run: starts the sessions of its groups, so many at a time, each under a minder
//! of its own, and tells what becomes of them. The caller keeps the ledger, and decides which sessions
//! start and what follows from an end.
//!
//! It holds nothing that it would have to put away: once it is gone, however that came about, its
//! minders end their sessions.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use omo_core::text::sanitize;
use omo_process::child_command::inheriting_command;
use omo_process::platform::{own_program, start_own_group};
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::{LockError, StateLock};

use crate::client_end::{ProcessEnd, SessionOutput};
use crate::stream;

pub mod minder;
pub mod process_state;

use minder::{MinderLine, MinderSpec};
use process_state::ProcessIdentity;

const LOCK: &str = "supervisor.lock";
const PATIENCE: Duration = Duration::from_millis(250);
/// End of a session's `stderr` that is quoted, in bytes and in characters.
const COMPLAINT_BYTES: u64 = 4 * 1024;
const COMPLAINT_CHARS: usize = 300;

/// Makes this process the one supervisor of the run that is kept in `folder`, for as long as it holds
/// what this gives; [`LockError::Busy`] where there is another one.
pub fn claim_supervision(folder: &GuardedFolder) -> Result<StateLock, LockError> {
    StateLock::take_named(folder, LOCK, PATIENCE)
}

/// A living supervisor of the run that is kept in `folder`.
///
/// # Errors
///
/// The folder cannot be used.
pub fn is_supervised(folder: &GuardedFolder) -> Result<bool, LockError> {
    // Looking makes no file: a run without the lock never had a supervisor.
    if !folder.contains(LOCK) {
        return Ok(false);
    }
    match StateLock::take_named(folder, LOCK, Duration::ZERO) {
        Ok(_) => Ok(false),
        Err(LockError::Busy(_)) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Event of a session, from `Supervisor::next_event`.
#[derive(Debug)]
pub enum SupervisorEvent {
    /// A start. The mark goes into the ledger, for the supervisor that comes after a dead one.
    Started {
        /// Group id.
        group: String,
        /// Process of the session.
        mark: ProcessIdentity,
    },
    /// End of the session with all that it started.
    Ended {
        /// Group id.
        group: String,
        /// End of its process.
        process: ProcessEnd,
        /// Output of the session.
        said: Box<SessionOutput>,
    },
}

/// Sessions that run and those that wait for room, by group id: see `add_session`.
#[derive(Debug)]
pub struct Supervisor {
    bound: usize,
    waiting: VecDeque<(String, MinderSpec)>,
    /// Dropping an entry has its minder end the session.
    running: BTreeMap<String, Option<ChildStdin>>,
    sender: Sender<SupervisorEvent>,
    /// Behind a lock that is never taken: it only makes a supervisor, and what holds one, `Sync`.
    events: Mutex<Receiver<SupervisorEvent>>,
}

impl Supervisor {
    /// One that has at most `bound` sessions run at a time; at least one always may.
    pub fn new(bound: usize) -> Self {
        let (sender, events) = channel();
        Self {
            bound: bound.max(1),
            waiting: VecDeque::new(),
            running: BTreeMap::new(),
            sender,
            events: Mutex::new(events),
        }
    }

    /// Has a session started as soon as there is room for it: at once, where there is.
    pub fn add_session(&mut self, group: &str, spec: MinderSpec) {
        self.waiting.push_back((group.to_owned(), spec));
        self.start_waiting();
    }

    /// `true` without a session that runs or waits.
    pub fn is_idle(&self) -> bool {
        self.running.is_empty() && self.waiting.is_empty()
    }

    /// Starts what there is room for, and waits for something to happen, for at most that long.
    pub fn next_event(&mut self, at_most: Duration) -> Option<SupervisorEvent> {
        self.start_waiting();
        let events = self
            .events
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let event = events.recv_timeout(at_most).ok()?;
        if let SupervisorEvent::Ended { group, .. } = &event {
            self.running.remove(group);
        }
        Some(event)
    }

    fn start_waiting(&mut self) {
        while self.running.len() < self.bound
            && let Some((group, spec)) = self.waiting.pop_front()
        {
            let stdin = start(&group, spec, &self.sender);
            self.running.insert(group, stdin);
        }
    }

    /// Has the session of a group ended; that it has is told by [`Supervisor::next_event`]. One that was still
    /// to be started is not.
    pub fn end_session(&mut self, group: &str) {
        self.waiting.retain(|(waiting, _)| waiting != group);
        if let Some(stdin) = self.running.get_mut(group) {
            drop(stdin.take());
        }
    }

    /// Has all of them ended.
    pub fn end_all_sessions(&mut self) {
        self.waiting.clear();
        for stdin in self.running.values_mut() {
            drop(stdin.take());
        }
    }
}

/// Starts a session under a minder. What becomes of it, also that it was never started, comes as an event.
fn start(group: &str, spec: MinderSpec, sender: &Sender<SupervisorEvent>) -> Option<ChildStdin> {
    let (sender, group) = (sender.clone(), group.to_owned());
    match start_minder(&spec) {
        Ok((mut minder, stdin)) => {
            std::thread::spawn(move || {
                let process = follow_minder(&mut minder, |mark| {
                    let _ = sender.send(SupervisorEvent::Started {
                        group: group.clone(),
                        mark,
                    });
                });
                let _ = minder.wait();
                let _ = sender.send(ended_event(group, process, &spec));
            });
            Some(stdin)
        }
        Err(error) => {
            let why = format!("the process that minds the session cannot be started: {error}");
            let process = ProcessEnd {
                not_started: Some(why),
                ..ProcessEnd::default()
            };
            let _ = sender.send(ended_event(group, process, &spec));
            None
        }
    }
}

fn start_minder(spec: &MinderSpec) -> std::io::Result<(Child, ChildStdin)> {
    let mut line = serde_json::to_vec(spec).map_err(std::io::Error::other)?;
    line.push(b'\n');
    let mut command = inheriting_command(own_program()?);
    command
        .arg(minder::MINDER_ARGUMENT)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    // Not in the supervisor's own group: Ctrl-C, or a kill of that group, must not end the process that cleans up.
    start_own_group(&mut command);
    let mut minder = command.spawn()?;
    let mut stdin = minder
        .stdin
        .take()
        .ok_or_else(|| std::io::Error::other("no standard input"))?;
    stdin.write_all(&line)?;
    Ok((minder, stdin))
}

/// Listens to a minder until its session has ended. One that dies before that was killed, and cannot
/// have ended its session, which is done here then.
fn follow_minder(minder: &mut Child, mut started: impl FnMut(ProcessIdentity)) -> ProcessEnd {
    let mut known = None;
    let lines = minder
        .stdout
        .take()
        .into_iter()
        .flat_map(|stdout| BufReader::new(stdout).lines());
    for line in lines.map_while(Result::ok) {
        match serde_json::from_str(&line) {
            Ok(MinderLine::Started(mark)) => {
                known = Some(mark.clone());
                started(mark);
            }
            Ok(MinderLine::Ended(process)) => return process,
            Err(_) => {}
        }
    }
    let Some(mark) = known else {
        let why = "the process that minds the session died before it was started".to_owned();
        return ProcessEnd {
            not_started: Some(why),
            ..ProcessEnd::default()
        };
    };
    process_state::end_process(&mark);
    ProcessEnd {
        signal: Some(KILL),
        ..ProcessEnd::default()
    }
}

/// `SIGKILL`, which no process can hold back.
const KILL: i32 = 9;

fn ended_event(group: String, mut process: ProcessEnd, spec: &MinderSpec) -> SupervisorEvent {
    process.complaint = last_complaint(&spec.complaints).unwrap_or_default();
    let said = read_printed(&spec.printed);
    SupervisorEvent::Ended {
        group,
        process,
        said: Box::new(said),
    }
}

/// Output of a session whose supervisor is gone: its minder has ended it, or is about to, which is
/// waited for.
pub fn read_left_session(printed: &Path) -> SessionOutput {
    // One that cannot be waited for may print more; what it has printed so far is true all the same.
    let _ended = minder::lock_printed(printed);
    read_printed(printed)
}

fn read_printed(printed: &Path) -> SessionOutput {
    File::open(printed)
        .map(|file| stream::read_stream(BufReader::new(file)))
        .unwrap_or_default()
}

fn last_complaint(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(COMPLAINT_BYTES)))
        .ok()?;
    let mut bytes = Vec::new();
    file.take(COMPLAINT_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    text.lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty())
        .map(|line| sanitize(line, COMPLAINT_CHARS))
}
