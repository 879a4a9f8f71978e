//! Reads and changes the entry of a session in the state file: lock, read, decide, write a new
//! file, rename.
//!
//! Without a change nothing is written. After a failed write the old state remains.

pub mod document;
pub mod sealed_plan_run;

use std::path::{Path, PathBuf};
use std::time::Duration;

use omo_core::session::id::SessionId;
use omo_core::session::plan_run::PlanRun;
use omo_core::session::{EntryProvenance, Session};
use omo_core::timestamp::Timestamp;

use crate::files::folder::{FolderError, GuardedFolder};
use crate::files::lock::{LockError, StateLock};
use crate::seal::{self, KeyError, Renewal, Sealed, Witness};
use crate::{ended_runs, git_worktree, recorded_trees, review_material, run_environment};
use document::{DocumentError, StateDocument};

pub const FILE: &str = "runtime.local.json";
pub const MAX_BYTES: u64 = 4 * 1024 * 1024;
const CORRUPT: &str = "runtime.local.json.corrupt-";
const CORRUPT_KEPT: usize = 3;

#[derive(Debug, thiserror::Error)]
pub enum StateError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error("{file} {source}")]
    Document {
        file: PathBuf,
        source: DocumentError,
    },
    /// State of more than [`MAX_BYTES`].
    #[error("the state would grow past {MAX_BYTES} bytes")]
    TooLarge,
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("write the state: {0}")]
    Json(#[from] serde_json::Error),
}

/// Choice about a state file that cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorruptPolicy {
    /// An error: the user asked for no change.
    Refuse,
    /// Starts a fresh state, and moves the old file aside.
    MoveAside,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryChange {
    Write,
    /// Writes an entry that was found to be omo's own under the same lock.
    WriteOwn,
    /// Writes a fresh entry, without anything from the old one.
    Begin,
    Keep,
}

#[derive(Clone, Copy, Debug)]
pub struct StateUpdateOptions<'a> {
    pub deadline: Duration,
    pub corrupt: CorruptPolicy,
    pub now: Timestamp,
    pub state_home: Option<&'a Path>,
}

/// Reads an entry without the lock: the file is only ever replaced whole.
pub fn peek(root: &Path, id: &SessionId) -> Result<Option<Session>, StateError> {
    let Some((folder, bytes)) = read(root)? else {
        return Ok(None);
    };
    if !StateDocument::mentions(&bytes, id) {
        return Ok(None);
    }
    let session = parse(&folder, &bytes)?
        .session(id)
        .map_err(|source| document_error(&folder, source))?;
    Ok(session.map(|session| seal::of_project(folder.project(), session)))
}

/// Reads the entry of a possible run ([`StateDocument::peek_if_active`]); most hooks end here.
pub fn peek_if_active(root: &Path, id: &SessionId) -> Result<Option<Session>, StateError> {
    let session = read(root)?.and_then(|(_, bytes)| StateDocument::peek_if_active(&bytes, id));
    Ok(session.map(|session| seal::of_project(root, session)))
}

/// Entry with a seal, or with a plan run whose end its user was not told, as by [`peek_if_active`].
pub fn peek_for_stop(root: &Path, id: &SessionId) -> Result<Option<Session>, StateError> {
    let session = read(root)?.and_then(|(_, bytes)| {
        StateDocument::peek_if(&bytes, id, |session| {
            session.plan_run.as_ref().is_some_and(PlanRun::is_untold) || seal::needs_seal(session)
        })
    });
    Ok(session.map(|session| seal::of_project(root, session)))
}

/// Author of an entry that was read without the lock.
///
/// # Errors
///
/// Failure of the system that may pass.
pub fn provenance(
    root: &Path,
    id: &SessionId,
    session: &Session,
    state_home: Option<&Path>,
) -> Result<EntryProvenance, StateError> {
    if !seal::needs_seal(session) {
        return Ok(EntryProvenance::Own);
    }
    let witness = Witness::read(state_home, id)?;
    Ok(match witness.provenance(id, session) {
        // omo may have written since: an entry that is read after the revision is newer.
        EntryProvenance::PutBack => peek(root, id)?.map_or(EntryProvenance::Own, |session| {
            witness.provenance(id, &session)
        }),
        provenance => provenance,
    })
}

#[derive(Debug, Default)]
pub struct StateEntries {
    pub sessions: Vec<(SessionId, Session)>,
    pub unreadable: Vec<(SessionId, StateError)>,
}

pub fn peek_all(folder: &GuardedFolder) -> Result<StateEntries, StateError> {
    let Some(bytes) = folder.read(FILE, MAX_BYTES)? else {
        return Ok(StateEntries::default());
    };
    let mut entries = StateEntries::default();
    for (id, session) in parse(folder, &bytes)?.sessions() {
        match session {
            Ok(session) => entries
                .sessions
                .push((id, seal::of_project(folder.project(), session))),
            Err(source) => entries
                .unreadable
                .push((id, document_error(folder, source))),
        }
    }
    Ok(entries)
}

fn read(root: &Path) -> Result<Option<(GuardedFolder, Vec<u8>)>, StateError> {
    let Some(folder) = GuardedFolder::open_state(root)? else {
        return Ok(None);
    };
    let bytes = folder.read(FILE, MAX_BYTES)?;
    Ok(bytes.map(|bytes| (folder, bytes)))
}

fn parse<'a>(folder: &GuardedFolder, bytes: &'a [u8]) -> Result<StateDocument<'a>, StateError> {
    StateDocument::parse(bytes).map_err(|source| document_error(folder, source))
}

fn document_error(folder: &GuardedFolder, source: DocumentError) -> StateError {
    StateError::Document {
        file: folder.path().join(FILE),
        source,
    }
}

/// Changes an entry: `change` gets it, or a new one, and returns whether to write it. The lock is
/// returned, so that a result can be printed before another change.
pub fn update<T>(
    folder: &GuardedFolder,
    id: &SessionId,
    options: StateUpdateOptions<'_>,
    change: impl FnOnce(&mut Session) -> (T, EntryChange),
) -> Result<(T, StateLock), StateError> {
    under_lock(folder, options, |document, bytes| {
        let (value, written) = change_entry(folder, document, bytes, id, options, change)?;
        Ok((
            value,
            written.map(|written| (id, written)).into_iter().collect(),
        ))
    })
}

/// Changes entries of several sessions; all or nothing is written.
pub fn update_all<T>(
    folder: &GuardedFolder,
    ids: &[SessionId],
    options: StateUpdateOptions<'_>,
    mut change: impl FnMut(&SessionId, &mut Session) -> (T, EntryChange),
) -> Result<(Vec<T>, StateLock), StateError> {
    under_lock(folder, options, |document, bytes| {
        let mut values = Vec::new();
        let mut changed = Vec::new();
        for id in ids {
            let (value, written) = change_entry(folder, document, bytes, id, options, |session| {
                change(id, session)
            })?;
            changed.extend(written.map(|written| (id, written)));
            values.push(value);
        }
        Ok((values, changed))
    })
}

fn under_lock<'a, T>(
    folder: &GuardedFolder,
    options: StateUpdateOptions<'_>,
    work: impl FnOnce(
        &mut StateDocument<'_>,
        Option<&[u8]>,
    ) -> Result<(T, Vec<(&'a SessionId, WrittenEntry)>), StateError>,
) -> Result<(T, StateLock), StateError> {
    let lock = StateLock::take(folder, options.deadline)?;
    let bytes = folder.read(FILE, MAX_BYTES)?;
    let mut document = document_of(folder, bytes.as_deref(), options)?;
    let (value, changed) = work(&mut document, bytes.as_deref())?;
    if let Some((id, _)) = changed.last() {
        document.prune(id, options.now);
        write(folder, &document, options.now)?;
        for (id, written) in changed {
            if let Some(renewal) = written.renewal {
                renewal.write();
            }
            if let Some(session) = &written.ended {
                run_environment::forget(options.state_home, id);
                review_material::forget(folder, id);
                // The run has ended, even if that cannot be kept.
                let _ = ended_runs::keep(folder, id, session, options.state_home);
            }
            if written.is_done {
                recorded_trees::forget(options.state_home, id);
            }
        }
    }
    Ok((value, lock))
}

fn document_of<'a>(
    folder: &GuardedFolder,
    bytes: Option<&'a [u8]>,
    options: StateUpdateOptions<'_>,
) -> Result<StateDocument<'a>, StateError> {
    match bytes.map(StateDocument::parse) {
        None => Ok(StateDocument::default()),
        Some(Ok(document)) => Ok(document),
        Some(Err(DocumentError::Corrupt(_))) if options.corrupt == CorruptPolicy::MoveAside => {
            keep_corrupt(folder, options.now, bytes)?;
            Ok(StateDocument::default())
        }
        Some(Err(error)) => Err(document_error(folder, error)),
    }
}

fn change_entry<T>(
    folder: &GuardedFolder,
    document: &mut StateDocument<'_>,
    bytes: Option<&[u8]>,
    id: &SessionId,
    options: StateUpdateOptions<'_>,
    change: impl FnOnce(&mut Session) -> (T, EntryChange),
) -> Result<(T, Option<WrittenEntry>), StateError> {
    let mut session = match document.session(id) {
        Ok(session) => seal::of_project(folder.project(), session.unwrap_or_default()),
        Err(error) if options.corrupt == CorruptPolicy::Refuse => {
            return Err(document_error(folder, error));
        }
        Err(_) => {
            keep_corrupt(folder, options.now, bytes)?;
            document.remove(id);
            Session::default()
        }
    };
    let before = session.clone();
    let (value, change) = change(&mut session);
    if change == EntryChange::Keep {
        return Ok((value, None));
    }
    let has_ended = before.is_armed() && !session.is_armed();
    let is_done = has_ended && !session.continues_task();
    let renewal = renew_seal(folder, id, &before, &mut session, change, options)?;
    session.updated_at = Some(options.now);
    document.set(id, &session)?;
    let ended = has_ended.then(|| Box::new(session));
    Ok((
        value,
        Some(WrittenEntry {
            renewal,
            ended,
            is_done,
        }),
    ))
}

struct WrittenEntry {
    renewal: Option<Renewal>,
    ended: Option<Box<Session>>,
    /// `true` for a task that ends: no other run continues it.
    is_done: bool,
}

/// Seals a changed entry. Foreign writes get no seal; without a key there is none, and no verdict.
fn renew_seal(
    folder: &GuardedFolder,
    id: &SessionId,
    before: &Session,
    session: &mut Session,
    change: EntryChange,
    options: StateUpdateOptions<'_>,
) -> Result<Option<Renewal>, KeyError> {
    match change {
        EntryChange::Keep => Ok(None),
        EntryChange::Write if Sealed::of(before) == Sealed::of(session) => Ok(None),
        EntryChange::Write
            if seal::provenance(options.state_home, id, before)? != EntryProvenance::Own =>
        {
            session.seal = None;
            Ok(None)
        }
        EntryChange::Write | EntryChange::WriteOwn | EntryChange::Begin => {
            session.project = Some(git_worktree::project_mark(folder.project()));
            let renewal = Renewal::seal(options.state_home, id, session);
            // A user who ends a run is not kept from it by an unreadable key.
            if change == EntryChange::Begin {
                Ok(renewal.unwrap_or_default())
            } else {
                renewal
            }
        }
    }
}

fn write(
    folder: &GuardedFolder,
    document: &StateDocument,
    now: Timestamp,
) -> Result<(), StateError> {
    let pieces = document.pieces();
    let pieces = pieces.each_ref().map(|piece| piece.as_bytes());
    if pieces.iter().map(|piece| piece.len() as u64).sum::<u64>() > MAX_BYTES {
        return Err(StateError::TooLarge);
    }
    Ok(folder.exchange(FILE, &pieces, now)?)
}

/// Keeps a copy of a corrupt file, which stays until the new state replaces it.
fn keep_corrupt(
    folder: &GuardedFolder,
    now: Timestamp,
    bytes: Option<&[u8]>,
) -> Result<(), FolderError> {
    let name = format!("{CORRUPT}{}", now.to_file_name());
    folder.replace(&name, bytes.unwrap_or_default())?;
    forget_oldest_corrupt(folder);
    Ok(())
}

fn forget_oldest_corrupt(folder: &GuardedFolder) {
    let names = folder.file_names(CORRUPT).unwrap_or_default();
    for name in names.iter().take(names.len().saturating_sub(CORRUPT_KEPT)) {
        // A name that cannot be removed, such as another program's folder, keeps nothing from being
        // written.
        let _ = folder.remove(name);
    }
}
