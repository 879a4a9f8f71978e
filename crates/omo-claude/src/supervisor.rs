//! The supervisor of a run: starts worker sessions, a limited number at a time, and reports their
//! starts and ends as events; its caller decides. Each session has a minder, a process that ends it
//! once the supervisor is gone, in whatever way.

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

use crate::client_end::{ClientProcessEnd, SessionOutput};
use crate::stream;

pub mod minder;
pub mod process_state;

use minder::{MinderLine, MinderSpec};
use process_state::ProcessIdentity;

const LOCK: &str = "supervisor.lock";
const PATIENCE: Duration = Duration::from_millis(250);
/// Quoted end of a session's `stderr`.
const COMPLAINT_BYTES: u64 = 4 * 1024;
const COMPLAINT_CHARS: usize = 300;

/// Makes this process the one supervisor of the run in `folder`; [`LockError::Busy`] beside another one.
pub fn claim_supervision(folder: &GuardedFolder) -> Result<StateLock, LockError> {
    StateLock::take_named(folder, LOCK, PATIENCE)
}

pub fn is_supervised(folder: &GuardedFolder) -> Result<bool, LockError> {
    // Without a lock file there never was a supervisor; looking makes none.
    if !folder.contains(LOCK) {
        return Ok(false);
    }
    match StateLock::take_named(folder, LOCK, Duration::ZERO) {
        Ok(_) => Ok(false),
        Err(LockError::Busy(_)) => Ok(true),
        Err(error) => Err(error),
    }
}

#[derive(Debug)]
pub enum SupervisorEvent {
    /// `mark` goes into the ledger, so that the next supervisor finds the session of a dead one.
    Started {
        group: String,
        mark: ProcessIdentity,
    },
    Ended {
        group: String,
        process: ClientProcessEnd,
        said: Box<SessionOutput>,
    },
}

/// Running and waiting sessions by the id of their group, the tasks that a session works on.
#[derive(Debug)]
pub struct Supervisor {
    bound: usize,
    waiting: VecDeque<(String, MinderSpec)>,
    /// Dropping an entry has its minder end the session.
    running: BTreeMap<String, Option<ChildStdin>>,
    sender: Sender<SupervisorEvent>,
    /// In a lock that is never taken, which makes a supervisor `Sync`.
    events: Mutex<Receiver<SupervisorEvent>>,
}

impl Supervisor {
    /// Runs at most `bound` sessions at a time, and at least one.
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

    /// Starts a session as soon as there is room.
    pub fn add_session(&mut self, group: &str, spec: MinderSpec) {
        self.waiting.push_back((group.to_owned(), spec));
        self.start_waiting();
    }

    pub fn is_idle(&self) -> bool {
        self.running.is_empty() && self.waiting.is_empty()
    }

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

    /// Ends the running session of a group, which an event reports, or forgets a waiting one.
    pub fn end_session(&mut self, group: &str) {
        self.waiting.retain(|(waiting, _)| waiting != group);
        if let Some(stdin) = self.running.get_mut(group) {
            drop(stdin.take());
        }
    }

    pub fn end_all_sessions(&mut self) {
        self.waiting.clear();
        for stdin in self.running.values_mut() {
            drop(stdin.take());
        }
    }
}

/// Starts a session under a minder; a failure comes as an event too.
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
            let process = ClientProcessEnd {
                not_started: Some(why),
                ..ClientProcessEnd::default()
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
    // Not in the supervisor's own group, which Ctrl-C or a kill ends: the minder cleans up.
    start_own_group(&mut command);
    let mut minder = command.spawn()?;
    let mut stdin = minder
        .stdin
        .take()
        .ok_or_else(|| std::io::Error::other("no standard input"))?;
    stdin.write_all(&line)?;
    Ok((minder, stdin))
}

/// Reads a minder's lines; ends the session of a minder that was killed.
fn follow_minder(minder: &mut Child, mut started: impl FnMut(ProcessIdentity)) -> ClientProcessEnd {
    let mut session_mark = None;
    let lines = minder
        .stdout
        .take()
        .into_iter()
        .flat_map(|stdout| BufReader::new(stdout).lines());
    for line in lines.map_while(Result::ok) {
        match serde_json::from_str(&line) {
            Ok(MinderLine::Started(mark)) => {
                session_mark = Some(mark.clone());
                started(mark);
            }
            Ok(MinderLine::Ended(process)) => return process,
            Err(_) => {}
        }
    }
    let Some(mark) = session_mark else {
        let why = "the process that minds the session died before it was started".to_owned();
        return ClientProcessEnd {
            not_started: Some(why),
            ..ClientProcessEnd::default()
        };
    };
    process_state::end_process(&mark);
    ClientProcessEnd {
        signal: Some(KILL),
        ..ClientProcessEnd::default()
    }
}

const KILL: i32 = 9;

fn ended_event(group: String, mut process: ClientProcessEnd, spec: &MinderSpec) -> SupervisorEvent {
    process.complaint = last_complaint(&spec.complaints).unwrap_or_default();
    SupervisorEvent::Ended {
        group,
        process,
        said: Box::new(read_printed(&spec.printed)),
    }
}

/// Output of a session whose supervisor is gone, once its minder has ended it.
pub fn read_left_session(printed: &Path) -> SessionOutput {
    // Without the lock more may be printed; the output so far holds all the same.
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
