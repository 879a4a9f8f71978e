//! Seal on the facts that decide about a run: a keyed digest, whose key only the user can read.
//!
//! The state is in the project, where a model may write. Entries of others are neither run nor
//! believed, and a revision beside the key exposes an older entry. A process that reads the user's
//! files can forge a seal: this notices tampering, and cannot prevent it.

pub mod entry_revision;

use std::path::Path;

use omo_core::events::LastSeen;
use omo_core::session::id::SessionId;
use omo_core::session::{EntryProvenance, Session};
use omo_core::timestamp::Timestamp;

use crate::files::folder::{FolderError, GuardedFolder};
use crate::files::lock::{DEADLINE, LockError, StateLock};
use crate::git_worktree;
use entry_revision::Revision;

const FILE: &str = "key";
const KEY_BYTES: usize = 32;
const HEX_CHARS: u64 = KEY_BYTES as u64 * 2;

/// Present version of seals; [`UNSEALED_RECORDS`] is accepted as well.
const VERSION: u32 = 3;
/// Version of an omo that did not seal records ([`crate::ended_runs`]).
pub(crate) const UNSEALED_RECORDS: u32 = 2;

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Another process makes the key, and does not finish.
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error("{0} holds no key; remove it to have a new one made")]
    Malformed(std::path::PathBuf),
    #[error("get random numbers: {0}")]
    Random(getrandom::Error),
    #[error("no folder for the user's own state is known: neither HOME nor XDG_STATE_HOME is set")]
    NoHome,
}

/// Secret key of the user for seals.
#[derive(Clone)]
pub struct SealKey([u8; KEY_BYTES]);

impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

impl SealKey {
    /// Reads the key, and makes it where there is none.
    pub fn load(state_home: Option<&Path>) -> Result<Self, KeyError> {
        if let Some(key) = Self::find(state_home)? {
            return Ok(key);
        }
        make_key(&GuardedFolder::create_user(
            state_home.ok_or(KeyError::NoHome)?,
        )?)
    }

    /// Reads the key, as [`SealKey::load`] does, and makes none.
    pub fn find(state_home: Option<&Path>) -> Result<Option<Self>, KeyError> {
        match GuardedFolder::open_user(state_home.ok_or(KeyError::NoHome)?)? {
            Some(folder) => read_key(&folder),
            None => Ok(None),
        }
    }

    /// A key for two processes, handed over as text.
    ///
    /// # Errors
    ///
    /// Where the system gives no random numbers.
    pub fn random() -> Result<Self, KeyError> {
        let mut bytes = [0; KEY_BYTES];
        getrandom::fill(&mut bytes).map_err(KeyError::Random)?;
        Ok(Self(bytes))
    }

    /// Text of the key for [`SealKey::parse`].
    pub fn to_text(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }

    /// Key from the text of [`SealKey::to_text`].
    pub fn parse(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text)
            .ok()
            .map(|key| Self(*key.as_bytes()))
    }

    pub fn mac(&self, bytes: &[u8]) -> String {
        blake3::keyed_hash(&self.0, bytes).to_hex().to_string()
    }

    /// `true` for the seal of `bytes`, compared in constant time.
    pub fn is_mac(&self, bytes: &[u8], seal: &str) -> bool {
        blake3::Hash::from_hex(seal).is_ok_and(|seal| seal == blake3::keyed_hash(&self.0, bytes))
    }

    pub(crate) fn seal_of(&self, id: &SessionId, session: &Session) -> String {
        self.seal_of_version(id, session, VERSION)
    }

    pub(crate) fn seal_of_version(
        &self,
        id: &SessionId,
        session: &Session,
        version: u32,
    ) -> String {
        self.mac(&Sealed::of(session).bytes(id, version))
    }

    pub fn holds(&self, id: &SessionId, session: &Session) -> bool {
        self.version_held(id, session).is_some()
    }

    pub(crate) fn version_held(&self, id: &SessionId, session: &Session) -> Option<u32> {
        let (seal, sealed) = (session.seal.as_deref()?, Sealed::of(session));
        [VERSION, UNSEALED_RECORDS]
            .into_iter()
            .find(|version| self.is_mac(&sealed.bytes(id, *version), seal))
    }
}

fn read_key(folder: &GuardedFolder) -> Result<Option<SealKey>, KeyError> {
    let Some(bytes) = folder.read(FILE, HEX_CHARS + 2)? else {
        return Ok(None);
    };
    let text = std::str::from_utf8(&bytes).unwrap_or_default().trim();
    SealKey::parse(text)
        .map(Some)
        .ok_or_else(|| KeyError::Malformed(folder.path().join(FILE)))
}

fn make_key(folder: &GuardedFolder) -> Result<SealKey, KeyError> {
    // Two sessions may begin at once: the second takes the key of the first.
    let _lock = StateLock::take(folder, DEADLINE)?;
    if let Some(key) = read_key(folder)? {
        return Ok(key);
    }
    // In a home that is a repository, omo's own files would be among those that it judges.
    let _ = folder.replace(".gitignore", b"*\n");
    let key = SealKey::random()?;
    folder.replace(FILE, format!("{}\n", key.to_text()).as_bytes())?;
    Ok(key)
}

/// Part of an entry that decides about a run and its verdict. A plan run has its own seal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sealed(Session);

impl Sealed {
    pub(crate) fn of(session: &Session) -> Self {
        let session = session.clone();
        Self(Session {
            seal: None,
            plan_run: None,
            typed_command: None,
            last_seen: LastSeen::default(),
            updated_at: None,
            ..session
        })
    }

    fn bytes(&self, id: &SessionId, version: u32) -> Vec<u8> {
        serde_json::to_vec(&(version, id.as_str(), &self.0)).unwrap_or_default()
    }
}

/// `true` for an entry with anything that decides.
pub fn needs_seal(session: &Session) -> bool {
    session.seal.is_some() || Sealed::of(session) != Sealed::of(&Session::default())
}

/// Revision read before an entry without the lock: a write in between makes the entry look older.
#[derive(Debug)]
pub(crate) struct Witness {
    key: Option<SealKey>,
    last: Option<u64>,
}

impl Witness {
    /// Unusable parts count as missing.
    ///
    /// # Errors
    ///
    /// Where the system fails for the moment: nothing is held against the entry then.
    pub(crate) fn read(state_home: Option<&Path>, id: &SessionId) -> Result<Self, KeyError> {
        let key = retry_passing_error(|| SealKey::find(state_home))?.flatten();
        Ok(Self {
            key,
            last: retry_passing_error(|| entry_revision::read(state_home, id))?.flatten(),
        })
    }

    pub(crate) fn provenance(&self, id: &SessionId, session: &Session) -> EntryProvenance {
        if !needs_seal(session) {
            return EntryProvenance::Own;
        }
        let Some(key) = &self.key else {
            // Told once: without a key what was forgotten has no seal either.
            return if session.is_disowned() {
                EntryProvenance::Own
            } else {
                EntryProvenance::Foreign
            };
        };
        match self.last {
            _ if !key.holds(id, session) => EntryProvenance::Foreign,
            Some(last) if session.revision >= last => EntryProvenance::Own,
            _ => EntryProvenance::PutBack,
        }
    }
}

/// Retries after a passing error; a missing or foreign folder, as settings may name, is no error.
fn retry_passing_error<T>(read: impl Fn() -> Result<T, KeyError>) -> Result<Option<T>, KeyError> {
    use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound, PermissionDenied};
    let result = read();
    let is_denied = result
        .as_ref()
        .is_err_and(|error| error_kind(error) == Some(PermissionDenied));
    match if is_denied { read() } else { result } {
        Ok(value) => Ok(Some(value)),
        Err(error) => match (error_kind(&error), &error) {
            (Some(NotFound | NotADirectory | IsADirectory | PermissionDenied), _) => Ok(None),
            (Some(_), _) | (None, KeyError::Lock(_) | KeyError::Random(_)) => Err(error),
            (None, _) => Ok(None),
        },
    }
}

fn error_kind(error: &KeyError) -> Option<std::io::ErrorKind> {
    match error {
        KeyError::Folder(FolderError::Io { source, .. }) => Some(source.kind()),
        _ => None,
    }
}

/// Author of an entry that was read under the lock.
///
/// # Errors
///
/// Failure of the system that may pass.
pub fn provenance(
    state_home: Option<&Path>,
    id: &SessionId,
    session: &Session,
) -> Result<EntryProvenance, KeyError> {
    if !needs_seal(session) {
        return Ok(EntryProvenance::Own);
    }
    Ok(Witness::read(state_home, id)?.provenance(id, session))
}

/// Clears an entry that omo did not write: nothing of it may run or continue.
///
/// # Errors
///
/// Failure of the system that may pass; the entry stays as it is.
pub fn forget_foreign(
    state_home: Option<&Path>,
    id: &SessionId,
    session: &mut Session,
    now: Timestamp,
) -> Result<(), KeyError> {
    if let Some(why) = provenance(state_home, id, session)?.distrust_reason() {
        session.disown(why, now);
    }
    Ok(())
}

/// Clears an entry that ends anyway, as [`forget_foreign`] does; unknown facts count against it.
pub fn forget_unproved(
    state_home: Option<&Path>,
    id: &SessionId,
    session: &mut Session,
    now: Timestamp,
) {
    if forget_foreign(state_home, id, session, now).is_err()
        && let Some(why) = EntryProvenance::Foreign.distrust_reason()
    {
        session.disown(why, now);
    }
}

/// Seal and [`Revision`] of a change, which is final once the revision is written.
pub(crate) struct Renewal(Revision, u64);

impl Renewal {
    /// Seals an entry anew; it has no seal without a key, or a place for the revision.
    ///
    /// # Errors
    ///
    /// Where the system fails for the moment; the entry has no seal then.
    pub(crate) fn seal(
        state_home: Option<&Path>,
        id: &SessionId,
        session: &mut Session,
    ) -> Result<Option<Self>, KeyError> {
        session.seal = None;
        let Some(key) = retry_passing_error(|| SealKey::load(state_home))? else {
            return Ok(None);
        };
        let Some((revision, last)) =
            retry_passing_error(|| Revision::open(state_home, id))?.flatten()
        else {
            return Ok(None);
        };
        session.revision = session.revision.max(last).saturating_add(1);
        session.seal = Some(key.seal_of(id, session));
        Ok(Some(Self(revision, session.revision)))
    }

    /// Writes the revision, after the entry: a kill in between leaves a newer entry.
    pub(crate) fn write(self) {
        self.0.write(self.1);
    }
}

/// BLAKE3 digest of `bytes` in hexadecimal digits.
pub fn hex_digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Digest of a stream; `None` for one that is unreadable, or longer than `limit`.
pub fn hex_digest_of_reader(mut content: impl std::io::Read, limit: u64) -> Option<String> {
    let (mut hasher, mut length, mut buffer) = (blake3::Hasher::new(), 0_u64, vec![0; 64 * 1024]);
    loop {
        match content.read(&mut buffer) {
            Ok(0) => return Some(hasher.finalize().to_hex().to_string()),
            Ok(count) => {
                length = length.saturating_add(count as u64);
                hasher.update(buffer.get(..count).filter(|_| length <= limit)?);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

/// Entry without its seal, if that is for another project.
pub(crate) fn of_project(root: &Path, session: Session) -> Session {
    let is_own = session
        .project
        .as_ref()
        .is_none_or(|mark| git_worktree::is_project(root, mark));
    Session {
        seal: session.seal.clone().filter(|_| is_own),
        ..session
    }
}

#[cfg(test)]
mod tests {
    use omo_core::check::counterfactual::UnusualFact;
    use omo_core::check::session_check::{Check, CheckOrigin};
    use omo_core::review::{RejectedTree, Review, ReviewVerdict};
    use omo_core::session::claim_state::VerificationPhase;
    use omo_core::session::{ChangedBy, UlwVerdict, VerdictKind};

    use super::*;

    type Edit = fn(&mut Session);

    fn session() -> Session {
        let checks = vec![Check::new(None, "cargo test", CheckOrigin::User).unwrap()];
        Session {
            checks,
            ..Session::default()
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_key_is_made_once_and_only_its_user_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().join("deep/state");
        let (id, mut session) = (SessionId::parse("a").unwrap(), session());
        session.seal = Some(SealKey::load(Some(&home)).unwrap().seal_of(&id, &session));
        assert!(SealKey::load(Some(&home)).unwrap().holds(&id, &session));
        let mode = std::fs::metadata(home.join("omo/key"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let other = SealKey::load(Some(&temp.path().join("other"))).unwrap();
        assert!(!other.holds(&id, &session));
        assert!(SealKey::load(None).is_err());
        std::fs::write(home.join("omo/key"), "short").unwrap();
        assert!(matches!(
            SealKey::load(Some(&home)),
            Err(KeyError::Malformed(_))
        ));
    }

    #[test]
    fn what_decides_about_a_run_breaks_the_seal_when_it_is_changed() {
        let temp = tempfile::tempdir().unwrap();
        let key = SealKey::load(Some(temp.path())).unwrap();
        let id = SessionId::parse("a").unwrap();
        let mut sealed = session();
        let at = Timestamp::from_millis(1);
        sealed.note_weakening(ChangedBy::Detached, "check `a` removed", at);
        sealed.verification.reject(RejectedTree::default());
        sealed.seal = Some(key.seal_of(&id, &sealed));
        let changes: [(&str, Edit); 25] = [
            ("the run is over", |session| {
                session.ulw.enabled = !session.ulw.enabled;
            }),
            ("the continuations", |session| session.ulw.stop_blocks = 1),
            ("the last one", |session| {
                session.ulw.last_stop_at = Some(Timestamp::from_millis(2));
            }),
            ("the start", |session| {
                session.ulw.started_at = Some(Timestamp::from_millis(2));
            }),
            ("what was named", |session| {
                session.ulw.named_tasks.push("x".to_owned());
            }),
            ("the bounds", |session| session.limits.max_blocks = 100),
            ("the hatch", |session| {
                session.stop_continuation.disabled = true;
            }),
            ("the verdict", |session| {
                let kind = VerdictKind::Verified;
                session.verdict = Some(UlwVerdict {
                    kind,
                    why: "proved".to_owned(),
                    at: Timestamp::from_millis(2),
                });
            }),
            ("what was weakened", |session| session.weakened.clear()),
            ("the phase", |session| {
                session.verification.phase = VerificationPhase::Verified;
            }),
            ("how far the transcript was read", |session| {
                session.transcript.offset = 9;
            }),
            ("the revision", |session| session.revision = 9),
            ("the command", |session| {
                session.checks[0].command = "true".to_owned();
            }),
            ("no gates", |session| session.checks.clear()),
            ("a result", |session| {
                session.checks[0].last =
                    Some(omo_core::check::session_check::CheckRecord::default());
            }),
            ("what was accepted", |session| {
                session.verification.accepted.push(UnusualFact::default());
            }),
            ("the task", |session| {
                session.ulw.task = Some("something easier".to_owned());
            }),
            ("the whole task", |session| {
                session.ulw.whole_task = Some("something easier".to_owned());
            }),
            ("what was added", |session| {
                session
                    .ulw
                    .asked_later
                    .push("only the first half".to_owned());
            }),
            ("no rejection", |session| {
                session.verification.rejections.clear();
            }),
            ("the commit", |session| {
                session.ulw.base = Some("0".repeat(40));
            }),
            ("the files before it", |session| {
                session.ulw.recorded = Some("0".repeat(64));
            }),
            ("no review", |session| {
                session.verification.review_wanted = false;
            }),
            ("the attempts", |session| session.verification.attempts = 9),
            ("a review", |session| {
                session.verification.review = Some(Review {
                    verdict: ReviewVerdict::Verified,
                    ..Review::default()
                });
            }),
        ];
        for (what, change) in changes {
            let mut session = sealed.clone();
            change(&mut session);
            assert!(!key.holds(&id, &session), "{what}");
        }
        assert!(
            !key.holds(&SessionId::parse("b").unwrap(), &sealed),
            "another session"
        );
        assert!(
            !key.holds(
                &id,
                &Session {
                    seal: None,
                    ..sealed.clone()
                }
            ),
            "no seal"
        );
        let mut seen = sealed.clone();
        seen.last_seen.note(omo_core::session::HookEvent::Stop, at);
        seen.updated_at = Some(at);
        assert!(key.holds(&id, &seen), "what nothing rests on may change");
    }

    #[test]
    fn an_older_entry_is_told_from_the_last() {
        let temp = tempfile::tempdir().unwrap();
        let (home, id) = (Some(temp.path()), SessionId::parse("a").unwrap());
        let provenance = |session: &Session| provenance(home, &id, session).unwrap();
        assert_eq!(
            provenance(&Session::default()),
            EntryProvenance::Own,
            "there is nothing to seal"
        );
        assert!(
            !temp.path().join("omo").exists(),
            "and nothing is made to see that"
        );
        let mut first = session();
        assert_eq!(provenance(&first), EntryProvenance::Foreign);
        let renewal = Renewal::seal(home, &id, &mut first).unwrap().unwrap();
        assert_eq!(
            provenance(&first),
            EntryProvenance::Own,
            "written, and its revision not yet"
        );
        renewal.write();
        let mut second = Session {
            checks: Vec::new(),
            ..first.clone()
        };
        Renewal::seal(home, &id, &mut second)
            .unwrap()
            .unwrap()
            .write();
        assert_eq!((first.revision, second.revision), (1, 2));
        assert_eq!(
            (provenance(&first), provenance(&second)),
            (EntryProvenance::PutBack, EntryProvenance::Own)
        );
        assert_eq!(
            provenance(&Session {
                seal: None,
                ..second.clone()
            }),
            EntryProvenance::Foreign
        );
        let file = temp.path().join("omo/sessions/session-a");
        std::fs::write(&file, "x").unwrap();
        assert_eq!(
            provenance(&second),
            EntryProvenance::PutBack,
            "what cannot be told counts against it"
        );
        std::fs::remove_file(&file).unwrap();
        assert_eq!(provenance(&second), EntryProvenance::PutBack);
    }

    #[test]
    fn without_a_key_it_is_said_once() {
        let id = SessionId::parse("a").unwrap();
        let mut session = session();
        assert_eq!(
            provenance(None, &id, &session).unwrap(),
            EntryProvenance::Foreign
        );
        forget_foreign(None, &id, &mut session, Timestamp::from_millis(1)).unwrap();
        assert!(session.checks.is_empty() && session.is_disowned());
        assert_eq!(
            provenance(None, &id, &session).unwrap(),
            EntryProvenance::Own
        );
    }
}
