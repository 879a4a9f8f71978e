//! `RunStore`: all runs of a repository, found, listed, begun and removed.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use omo_core::timestamp::Timestamp;
use omo_plan::id;
use omo_state::files::folder::{FolderError, GuardedFolder};
use omo_state::files::lock::StateLock;
use omo_state::random_id;
use omo_state::seal::SealKey;

use crate::error::RunStoreError;
use crate::event::{EventActor, EventKind, RunEvent};
use crate::ledger::location::{self, FolderLocation};
use crate::ledger::run::{
    ExclusiveGuard, LEDGER, LOCK_TIMEOUT, MARKER, MAX_LEDGER, REMOVAL_MARKER, Run,
};
use crate::ledger::{self, LedgerPosition};
use crate::state::{RunPhase, RunState};

/// Prefix of a run's folder until it is complete: no id begins with it.
const UNFINISHED: &str = ".new-";
const OPENING: &str = "opening.lock";
const LETTERS: usize = 4;
/// Maximum bytes of a marker, which holds an id and nothing else.
const MAX_MARKER: u64 = 256;

#[derive(Clone, Debug)]
pub struct RunStore {
    place: FolderLocation,
    key: SealKey,
}

#[derive(Debug)]
pub struct ListedRun {
    pub id: String,
    pub state: Result<RunState, RunStoreError>,
}

impl RunStore {
    /// The runs of a folder's repository; `None` where it never had one. Writes nothing.
    pub fn find(root: &Path, state_home: Option<&Path>) -> Result<Option<Self>, RunStoreError> {
        let Some(place) = location::find(root, state_home)? else {
            return Ok(None);
        };
        let key = SealKey::find(state_home)?.ok_or_else(|| RunStoreError::NoKey(place.path()))?;
        Ok(Some(Self { place, key }))
    }

    /// As [`RunStore::find`], with the location made where there is none.
    pub fn create(root: &Path, state_home: Option<&Path>) -> Result<Self, RunStoreError> {
        let place = location::create(root, state_home)?;
        Ok(Self {
            place,
            key: SealKey::load(state_home)?,
        })
    }

    /// Lets one process at a time open a run: its view of the others holds until it is done.
    pub fn lock_opening(&self) -> Result<ExclusiveGuard, RunStoreError> {
        Ok(ExclusiveGuard::new(StateLock::take_named(
            &self.place.create()?,
            OPENING,
            LOCK_TIMEOUT,
        )?))
    }

    pub fn path(&self) -> PathBuf {
        self.place.path()
    }

    /// All runs, the newest first. An unreadable one is listed with its error.
    pub fn list(&self) -> Result<Vec<ListedRun>, RunStoreError> {
        let listed = self.ids()?.into_iter().map(|id| {
            let state = self.run(&id).state();
            ListedRun { id, state }
        });
        let mut listed: Vec<ListedRun> = listed.collect();
        // An id tells the second. Of two runs of one second the ledgers tell which is newer.
        listed.sort_by_cached_key(|run| {
            let second = run.id.get(..SECOND_CHARS).unwrap_or_default().to_owned();
            Reverse((second, run.state.as_ref().ok().map(|state| state.opened_at)))
        });
        Ok(listed)
    }

    pub fn ids(&self) -> Result<Vec<String>, RunStoreError> {
        let Some(base) = self.place.open()? else {
            return Ok(Vec::new());
        };
        Ok(self
            .proved_ids(&base)?
            .into_iter()
            .filter(|id| self.exists(id))
            .collect())
    }

    pub fn get(&self, id: &str) -> Result<Run, RunStoreError> {
        let id = id::parse_id(id)?;
        if self.exists(id) {
            Ok(self.run(id))
        } else {
            Err(RunStoreError::NotFound(id.to_owned()))
        }
    }

    /// Begins a run with the events `opened` and `more`; its folder appears whole or not at all.
    pub fn begin(
        &self,
        actor: &EventActor,
        now: Timestamp,
        opened: EventKind,
        more: Vec<EventKind>,
    ) -> Result<(Run, RunState), RunStoreError> {
        let base = self.place.create()?;
        let _lock = StateLock::take(&base, LOCK_TIMEOUT)?;
        let id = new_id(&base, now)?;
        let (events, state) = self.opening_events(actor, now, opened, more)?;
        let (text, end) = ledger::write(&events, &id, &self.key, &LedgerPosition::default())?;
        if end.offset > MAX_LEDGER {
            return Err(RunStoreError::TooLarge(
                self.place.subfolder(&id).path().join(LEDGER),
            ));
        }
        let unfinished = format!("{UNFINISHED}{id}");
        let placed = self
            .write_run_folder(&base, &unfinished, &id, &text)
            .and_then(|()| {
                base.rename(&unfinished, &id)?;
                base.sync_names()
            });
        if placed.is_err() {
            // A failure here leaves the folder to `gc`.
            let _ = base.remove_folder(&unfinished);
        }
        placed?;
        Ok((self.run(&id), state))
    }

    /// Removes runs that ended before `keep_since` and that `may_remove` allows, and remains of a cut beginning or
    /// removal; gives the removed ids. Unreadable runs stay, and so does any other folder.
    pub fn gc(
        &self,
        keep_since: Timestamp,
        mut may_remove: impl FnMut(&str, &RunState) -> bool,
    ) -> Result<Vec<String>, RunStoreError> {
        let Some(base) = self.place.open()? else {
            return Ok(Vec::new());
        };
        let _lock = StateLock::take(&base, LOCK_TIMEOUT)?;
        for name in base.file_names(UNFINISHED)? {
            base.remove_folder(&name)?;
        }
        let mut removed = Vec::new();
        for id in self.proved_ids(&base)? {
            if self.mark_for_removal(&id, keep_since, &mut may_remove)? {
                base.remove_folder(&id)?;
                removed.push(id);
            }
        }
        Ok(removed)
    }

    fn mark_for_removal(
        &self,
        id: &str,
        keep_since: Timestamp,
        may_remove: &mut impl FnMut(&str, &RunState) -> bool,
    ) -> Result<bool, RunStoreError> {
        let run = self.run(id);
        let folder = run.open()?;
        if folder.contains(REMOVAL_MARKER) {
            return Ok(true);
        }
        let _lock = run.lock(&folder)?;
        if !run.state_in(&folder).is_ok_and(|state| {
            state.phase != RunPhase::Executing
                && state.updated_at < keep_since
                && may_remove(id, &state)
        }) {
            return Ok(false);
        }
        folder.create_durably(REMOVAL_MARKER, b"")?;
        Ok(true)
    }

    fn run(&self, id: &str) -> Run {
        Run::new(id, self.place.subfolder(id), self.key.clone())
    }

    fn exists(&self, id: &str) -> bool {
        self.open_proved(id)
            .is_some_and(|folder| !folder.contains(REMOVAL_MARKER))
    }

    /// The folder of a run, proved: it lies here without a link, and its marker has the id of the run.
    fn open_proved(&self, id: &str) -> Option<GuardedFolder> {
        let folder = id::is_id(id)
            .then(|| self.place.subfolder(id).open().ok().flatten())
            .flatten()?;
        let marker = folder.read(MARKER, MAX_MARKER).ok()??;
        (marker == id.as_bytes()).then_some(folder)
    }

    fn proved_ids(&self, base: &GuardedFolder) -> Result<Vec<String>, RunStoreError> {
        let mut ids = base.file_names("")?;
        ids.retain(|id| self.open_proved(id).is_some());
        ids.reverse();
        Ok(ids)
    }

    fn opening_events(
        &self,
        actor: &EventActor,
        now: Timestamp,
        opened: EventKind,
        more: Vec<EventKind>,
    ) -> Result<(Vec<RunEvent>, RunState), RunStoreError> {
        let bad = |source| RunStoreError::Ledger {
            path: self.place.path(),
            source,
        };
        let event = |seq, kind| RunEvent {
            seq,
            ts: now,
            actor: actor.clone(),
            kind,
        };
        let opened = event(1, opened);
        let mut state = RunState::from_first_event(&opened).map_err(bad)?;
        let mut events = vec![opened];
        for kind in more {
            let next = event(state.seq + 1, kind);
            state.apply(&next).map_err(bad)?;
            events.push(next);
        }
        Ok((events, state))
    }

    fn write_run_folder(
        &self,
        base: &GuardedFolder,
        unfinished: &str,
        id: &str,
        ledger: &[u8],
    ) -> Result<(), FolderError> {
        base.empty_folder(unfinished)?;
        let folder = self.place.subfolder(unfinished).create()?;
        folder.create_durably(MARKER, id.as_bytes())?;
        folder.create_durably(LEDGER, ledger)?;
        folder.sync_names()
    }
}

const SECOND_CHARS: usize = "20260101-000000".len();

fn new_id(base: &GuardedFolder, now: Timestamp) -> Result<String, RunStoreError> {
    let digits: String = now
        .to_string()
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    let (day, time) = digits.split_at_checked(8).unwrap_or_default();
    let time: String = time.chars().take(6).collect();
    loop {
        let id = format!("{day}-{time}-{}", random_id::random_letters(LETTERS)?);
        if !base.contains(&id) {
            return Ok(id);
        }
    }
}
