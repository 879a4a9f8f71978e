//! `Run`: the folder of one run, with its ledger of events, its locks and its logs.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use omo_core::timestamp::Timestamp;
use omo_plan::id;
use omo_plan::refusal::VerbRefusal;
use omo_state::files::folder::{FolderError, GuardedFolder};
use omo_state::files::lock::{LockError, StateLock};
use omo_state::seal::SealKey;

use crate::error::{RunStoreError, TransactError};
use crate::event::{EventActor, EventKind, RunEvent};
use crate::ledger::location::FolderLocation;
use crate::ledger::snapshot;
use crate::ledger::{self, LedgerContents, LedgerPosition, SEALED_BYTES};
use crate::state::{LedgerError, RunState};

pub(crate) const LEDGER: &str = "events.jsonl";
pub(crate) const MARKER: &str = "omo-run";
/// Marker file of a run that is being removed: no process may add to it any more.
pub(crate) const REMOVAL_MARKER: &str = "going";
/// Lock of the process that writes the files made from the run.
const FILES_LOCK: &str = "files.lock";
/// Lock of the process that commits in the user's checkout, or lands there.
const BRANCH_LOCK: &str = "commit.lock";
const SNAPSHOT: &str = "snapshot.json";
const TORN_PREFIX: &str = "torn-";
const LOGS: &str = "logs";
/// Maximum bytes of a ledger that is read or written. A plan of the greatest size fits in several times.
pub(crate) const MAX_LEDGER: u64 = 256 * 1024 * 1024;
const MAX_SNAPSHOT: u64 = 64 * 1024 * 1024;
/// Events beyond the last snapshot that are folded before a new one is written.
const SNAPSHOT_EVERY: u64 = 64;
pub(crate) const MAX_LOG_NAME: usize = 128;
/// Timeout for a lock. Each holder is done within milliseconds, but for a very slow disk.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Clone, Debug)]
pub struct Run {
    id: String,
    place: FolderLocation,
    path: PathBuf,
    key: SealKey,
    /// State that this process folded last: a supervisor asks often, and folds only new events.
    known: Arc<Mutex<Option<KnownState>>>,
}

#[derive(Clone, Debug)]
struct KnownState {
    position: LedgerPosition,
    state: RunState,
    covered: u64,
}

/// An exclusive lock of the process, released on drop.
#[derive(Debug)]
pub struct ExclusiveGuard {
    _lock: StateLock,
}

impl ExclusiveGuard {
    pub(crate) fn new(lock: StateLock) -> Self {
        Self { _lock: lock }
    }
}

struct Folded {
    state: RunState,
    end: LedgerPosition,
    covered: u64,
    /// Bytes of the file: more than `end` after a torn write.
    size: u64,
}

impl Run {
    pub(crate) fn new(id: &str, place: FolderLocation, key: SealKey) -> Self {
        Self {
            id: id.to_owned(),
            path: place.path(),
            place,
            key,
            known: Arc::default(),
        }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn folder(&self) -> &Path {
        &self.path
    }

    /// The present state. Waits for no lock.
    pub fn state(&self) -> Result<RunState, RunStoreError> {
        self.read_or_retry_locked(|folder| self.state_in(folder))
    }

    pub fn events(&self) -> Result<Vec<RunEvent>, RunStoreError> {
        let reading = self.read_or_retry_locked(|folder| {
            let text = self.ledger_text(folder, 0)?.1;
            self.parse_ledger(&text, LedgerPosition::default())
        })?;
        if reading.events.is_empty() {
            Err(self.bad_ledger(empty_ledger()))
        } else {
            Ok(reading.events)
        }
    }

    /// Number of torn writes, whose remains were put aside.
    pub fn count_torn_writes(&self) -> Result<usize, RunStoreError> {
        Ok(self.open()?.file_names(TORN_PREFIX)?.len())
    }

    /// Writes the events that `decide` derives from the present state, all or none. They are on the
    /// disk when this returns; after an error the ledger is as it was.
    pub fn transact<T>(
        &self,
        actor: &EventActor,
        now: Timestamp,
        decide: impl FnOnce(&RunState) -> Result<(Vec<EventKind>, T), VerbRefusal>,
    ) -> Result<(T, RunState), TransactError> {
        let folder = self.open()?;
        let _lock = self.lock(&folder)?;
        let Folded {
            mut state,
            end,
            covered,
            size,
        } = self.fold(&folder)?;
        let (happened, answer) = decide(&state).map_err(TransactError::Refused)?;
        if happened.is_empty() {
            return Ok((answer, state));
        }
        let mut events = Vec::with_capacity(happened.len());
        for kind in happened {
            let event = RunEvent {
                seq: state.seq + 1,
                ts: now,
                actor: actor.clone(),
                kind,
            };
            state
                .apply(&event)
                .map_err(|source| self.bad_ledger(source))?;
            events.push(event);
        }
        let is_snapshot_due = state.seq - covered >= SNAPSHOT_EVERY;
        if is_snapshot_due {
            // A snapshot is believed by every process: its events are read once more, whatever this one remembers.
            self.fold_from_disk(&folder)?;
        }
        let (text, after) =
            ledger::write(&events, &self.id, &self.key, &end).map_err(RunStoreError::Json)?;
        if after.offset > MAX_LEDGER {
            return Err(RunStoreError::TooLarge(self.ledger_path()).into());
        }
        self.put_torn_aside(&folder, end.offset, size)?;
        folder.append_durably(LEDGER, end.offset, &text)?;
        let mut known = KnownState {
            position: after,
            state: state.clone(),
            covered,
        };
        // Only a cache: without it the next reader folds more.
        if is_snapshot_due
            && self
                .write_snapshot(&folder, &known.position, &state)
                .is_ok()
        {
            known.covered = state.seq;
        }
        self.remember(known);
        Ok((answer, state))
    }

    /// A new file for the output of a process of the run, with its path, in place of one of that name.
    pub fn log_file(&self, name: &str) -> Result<(File, PathBuf), RunStoreError> {
        let (start, rest) = name.split_at_checked(1).unwrap_or_default();
        if !id::is_id(start)
            || !rest
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
            || name.len() > MAX_LOG_NAME
        {
            return Err(RunStoreError::LogName(name.to_owned()));
        }
        let logs = self.place.subfolder(LOGS).create()?;
        Ok((logs.create_file(name)?, self.log_path(name)))
    }

    pub(crate) fn log_path(&self, name: &str) -> PathBuf {
        self.path.join(LOGS).join(name)
    }

    /// Makes this process the one supervisor as long as it holds the guard; `None` where there is another one.
    pub fn try_supervise(&self) -> Result<Option<ExclusiveGuard>, RunStoreError> {
        match omo_claude::supervisor::claim_supervision(&self.open()?) {
            Ok(lock) => Ok(Some(ExclusiveGuard::new(lock))),
            Err(LockError::Busy(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub fn is_supervised(&self) -> Result<bool, RunStoreError> {
        Ok(omo_claude::supervisor::is_supervised(&self.open()?)?)
    }

    pub(crate) fn has_log(&self, name: &str) -> bool {
        self.place
            .subfolder(LOGS)
            .open()
            .ok()
            .flatten()
            .is_some_and(|logs| logs.contains(name))
    }

    pub(crate) fn remove_log(&self, name: &str) -> Result<(), RunStoreError> {
        match self.place.subfolder(LOGS).open()? {
            Some(logs) if logs.contains(name) => Ok(logs.remove(name)?),
            _ => Ok(()),
        }
    }

    /// Lets one process at a time check a task; `None` where another does. The system frees the lock of a dead one.
    pub fn try_lock_check(&self, task: &str) -> Result<Option<ExclusiveGuard>, RunStoreError> {
        self.lock_check(task, Duration::ZERO)
    }

    /// As [`Run::try_lock_check`], with a wait of `patience` for the other process.
    pub(crate) fn lock_check(
        &self,
        task: &str,
        patience: Duration,
    ) -> Result<Option<ExclusiveGuard>, RunStoreError> {
        self.lock_named(&format!("check-{}.lock", id::parse_id(task)?), patience)
    }

    /// A lock of that name; `None` where another process holds it all the time.
    fn lock_named(
        &self,
        name: &str,
        patience: Duration,
    ) -> Result<Option<ExclusiveGuard>, RunStoreError> {
        match StateLock::take_named(&self.open()?, name, patience) {
            Ok(lock) => Ok(Some(ExclusiveGuard::new(lock))),
            Err(LockError::Busy(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn state_in(&self, folder: &GuardedFolder) -> Result<RunState, RunStoreError> {
        Ok(self.fold(folder)?.state)
    }

    pub(crate) fn lock_files(&self) -> Result<ExclusiveGuard, RunStoreError> {
        Ok(ExclusiveGuard::new(StateLock::take_named(
            &self.open()?,
            FILES_LOCK,
            LOCK_TIMEOUT,
        )?))
    }

    /// Lets one process at a time move the user's branch; `None` where another one holds the lock all the time. Its
    /// holder has to see first that the run goes on: a run that is over moves no branch once this lock was free.
    pub(crate) fn lock_branch(
        &self,
        patience: Duration,
    ) -> Result<Option<ExclusiveGuard>, RunStoreError> {
        self.lock_named(BRANCH_LOCK, patience)
    }

    pub(crate) fn lock(&self, folder: &GuardedFolder) -> Result<StateLock, RunStoreError> {
        let lock = StateLock::take(folder, LOCK_TIMEOUT)?;
        if folder.contains(REMOVAL_MARKER) {
            return Err(RunStoreError::NotFound(self.id.clone()));
        }
        Ok(lock)
    }

    pub(crate) fn open(&self) -> Result<GuardedFolder, RunStoreError> {
        self.place
            .open()?
            .ok_or_else(|| RunStoreError::NotFound(self.id.clone()))
    }

    pub fn ledger_path(&self) -> PathBuf {
        self.path.join(LEDGER)
    }

    fn bad_ledger(&self, source: LedgerError) -> RunStoreError {
        RunStoreError::Ledger {
            path: self.ledger_path(),
            source,
        }
    }

    /// Reads without the lock; after an error, which a ledger under repair may cause, once more with it.
    fn read_or_retry_locked<T>(
        &self,
        read: impl Fn(&GuardedFolder) -> Result<T, RunStoreError>,
    ) -> Result<T, RunStoreError> {
        let folder = self.open()?;
        match read(&folder) {
            Err(error @ (RunStoreError::Line { .. } | RunStoreError::Ledger { .. })) => {
                match self.lock(&folder) {
                    Ok(_lock) => read(&folder),
                    Err(_) => Err(error),
                }
            }
            result => result,
        }
    }

    /// The ledger from an offset on, and that offset: 0 where the ledger is shorter.
    fn ledger_text(
        &self,
        folder: &GuardedFolder,
        from: u64,
    ) -> Result<(u64, Vec<u8>), RunStoreError> {
        Ok(folder
            .read_from(LEDGER, from, MAX_LEDGER)?
            .ok_or_else(|| FolderError::Io {
                action: "read",
                path: self.ledger_path(),
                source: std::io::ErrorKind::NotFound.into(),
            })?)
    }

    fn parse_ledger(
        &self,
        text: &[u8],
        start: LedgerPosition,
    ) -> Result<LedgerContents, RunStoreError> {
        ledger::read(text, &self.id, &self.key, start).map_err(|source| RunStoreError::Line {
            path: self.ledger_path(),
            source,
        })
    }

    fn fold(&self, folder: &GuardedFolder) -> Result<Folded, RunStoreError> {
        let remembered = self
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let result = remembered
            .map(|known| self.fold_from(folder, known))
            .transpose()?
            .flatten();
        let result = result.map_or_else(|| self.fold_from_disk(folder), Ok)?;
        let Folded {
            state,
            end,
            covered,
            ..
        } = &result;
        self.remember(KnownState {
            position: end.clone(),
            state: state.clone(),
            covered: *covered,
        });
        Ok(result)
    }

    /// As [`Run::fold`], without the memory of this process.
    fn fold_from_disk(&self, folder: &GuardedFolder) -> Result<Folded, RunStoreError> {
        let known = self
            .read_snapshot(folder)
            .map(|known| self.fold_from(folder, known))
            .transpose()?
            .flatten();
        known.map_or_else(|| self.fold_whole(folder), Ok)
    }

    fn fold_whole(&self, folder: &GuardedFolder) -> Result<Folded, RunStoreError> {
        let (_, text) = self.ledger_text(folder, 0)?;
        let reading = self.parse_ledger(&text, LedgerPosition::default())?;
        let mut events = reading.events.iter();
        let first = events
            .next()
            .ok_or_else(|| self.bad_ledger(empty_ledger()))?;
        let mut state =
            RunState::from_first_event(first).map_err(|source| self.bad_ledger(source))?;
        events
            .try_for_each(|event| state.apply(event))
            .map_err(|source| self.bad_ledger(source))?;
        Ok(Folded {
            state,
            end: reading.end,
            covered: 0,
            size: text.len() as u64,
        })
    }

    /// Folds the events after a known state; `None` where the ledger is another one than it was folded from.
    fn fold_from(
        &self,
        folder: &GuardedFolder,
        known: KnownState,
    ) -> Result<Option<Folded>, RunStoreError> {
        let KnownState {
            position,
            mut state,
            covered,
        } = known;
        let from = position.offset.saturating_sub(SEALED_BYTES as u64);
        let (start, text) = self.ledger_text(folder, from)?;
        let Some((before, text)) = text
            .split_at_checked(SEALED_BYTES)
            .filter(|_| start == from)
        else {
            return Ok(None);
        };
        if !ledger::has_line_end_at(&position, before) {
            return Ok(None);
        }
        let size = position.offset + text.len() as u64;
        let reading = self.parse_ledger(text, position)?;
        reading
            .events
            .iter()
            .try_for_each(|event| state.apply(event))
            .map_err(|source| self.bad_ledger(source))?;
        Ok(Some(Folded {
            state,
            end: reading.end,
            covered,
            size,
        }))
    }

    fn read_snapshot(&self, folder: &GuardedFolder) -> Option<KnownState> {
        let text = folder.read(SNAPSHOT, MAX_SNAPSHOT).ok().flatten()?;
        let (position, state) = snapshot::read(&text, &self.id, &self.key)?;
        Some(KnownState {
            covered: position.seq,
            position,
            state,
        })
    }

    fn remember(&self, known: KnownState) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
    }

    fn write_snapshot(
        &self,
        folder: &GuardedFolder,
        end: &LedgerPosition,
        state: &RunState,
    ) -> Result<(), RunStoreError> {
        Ok(folder.replace(SNAPSHOT, &snapshot::write(&self.id, end, state, &self.key)?)?)
    }

    /// Cuts off a torn write, and keeps it for a person who looks into it.
    fn put_torn_aside(
        &self,
        folder: &GuardedFolder,
        whole: u64,
        size: u64,
    ) -> Result<(), RunStoreError> {
        if size == whole {
            return Ok(());
        }
        let (_, torn) = self.ledger_text(folder, whole)?;
        let name = format!("{TORN_PREFIX}{}", folder.file_names(TORN_PREFIX)?.len() + 1);
        folder.create_durably(&name, &torn)?;
        Ok(folder.truncate_durably(LEDGER, whole)?)
    }
}

fn empty_ledger() -> LedgerError {
    LedgerError {
        seq: 0,
        problem: "is missing: nothing was ever written down".to_owned(),
    }
}
