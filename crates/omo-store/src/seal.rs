//! The seal on what a run is judged by: a keyed digest, with a key that only the user can read.
//!
//! The state file lies in the project, where a model may write. The gates, their results, and how
//! far the verification has come are therefore sealed: what something else than omo wrote there
//! does not bear the seal, and is neither run nor believed. Whoever reads the user's own files can
//! read the key as well, and can forge a seal: this notices tampering, it cannot prevent it.

use std::path::Path;

use omo_core::gate::Gate;
use omo_core::session::Session;
use omo_core::session_id::SessionId;
use omo_core::timestamp::Timestamp;
use omo_core::verification::Verification;

use crate::folder::{Folder, FolderError};
use crate::lock::{DEADLINE, Lock, LockError};

/// The key's file in the user's own folder.
const FILE: &str = "key";
const KEY_BYTES: usize = 32;
/// How long the key is as it is written.
const HEX_CHARS: u64 = KEY_BYTES as u64 * 2;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Its file could not be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Somebody else makes it, and does not get done.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file holds no key.
    #[error("{0} holds no key; remove it to have a new one made")]
    Malformed(std::path::PathBuf),
    /// The system gives no random numbers.
    #[error("get random numbers: {0}")]
    Random(getrandom::Error),
    /// The user has no folder for what programs remember.
    #[error("no folder for the user's own state is known: neither HOME nor XDG_STATE_HOME is set")]
    NoHome,
}

/// The user's key.
#[derive(Clone)]
pub struct Key([u8; KEY_BYTES]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// The key below the user's state folder; made where there is none.
    pub fn load(state_home: Option<&Path>) -> Result<Self, KeyError> {
        if let Some(key) = Self::find(state_home)? {
            return Ok(key);
        }
        make(&Folder::create_own(state_home.ok_or(KeyError::NoHome)?)?)
    }

    /// As [`Key::load`], and makes none: what was sealed before bears the seal of one that was there.
    pub fn find(state_home: Option<&Path>) -> Result<Option<Self>, KeyError> {
        match Folder::open_own(state_home.ok_or(KeyError::NoHome)?)? {
            Some(folder) => read(&folder),
            None => Ok(None),
        }
    }

    /// The seal of some bytes.
    pub fn mac(&self, bytes: &[u8]) -> String {
        blake3::keyed_hash(&self.0, bytes).to_hex().to_string()
    }

    /// Whether this is the seal of these bytes, compared in constant time.
    pub fn is_mac(&self, bytes: &[u8], seal: &str) -> bool {
        blake3::Hash::from_hex(seal).is_ok_and(|seal| seal == blake3::keyed_hash(&self.0, bytes))
    }

    /// Whether the entry bears the seal of what it holds.
    pub fn holds(&self, id: &SessionId, session: &Session) -> bool {
        Sealed::of(session).is_borne(self, id)
    }
}

fn read(folder: &Folder) -> Result<Option<Key>, KeyError> {
    let Some(bytes) = folder.read(FILE, HEX_CHARS + 2)? else { return Ok(None) };
    let text = std::str::from_utf8(&bytes).unwrap_or_default().trim();
    let key = blake3::Hash::from_hex(text).map_err(|_| KeyError::Malformed(folder.path().join(FILE)))?;
    Ok(Some(Key(*key.as_bytes())))
}

fn make(folder: &Folder) -> Result<Key, KeyError> {
    // Two sessions may begin at the same time: the second one takes the key of the first.
    let _lock = Lock::take(folder, DEADLINE)?;
    if let Some(key) = read(folder)? {
        return Ok(key);
    }
    // Where the home is a repository itself, what omo keeps here would be among the files that it judges,
    // and no evidence about them would ever hold. Without it there is a key all the same.
    let _ = folder.replace(".gitignore", b"*\n");
    let mut bytes = [0; KEY_BYTES];
    getrandom::fill(&mut bytes).map_err(KeyError::Random)?;
    folder.replace(FILE, format!("{}\n", blake3::Hash::from_bytes(bytes).to_hex()).as_bytes())?;
    Ok(Key(bytes))
}

/// What is sealed of a session's entry: everything that a verdict rests on, and the seal.
#[derive(Clone, Debug)]
pub(crate) struct Sealed {
    /// When the run was turned on, for what, and on which commit.
    run: (Option<Timestamp>, Option<String>, Option<String>),
    gates: Vec<Gate>,
    verification: Verification,
    is_armed: bool,
    seal: Option<String>,
}

impl PartialEq for Sealed {
    fn eq(&self, other: &Self) -> bool {
        (&self.run, &self.gates, &self.verification) == (&other.run, &other.gates, &other.verification)
    }
}

impl Sealed {
    /// That of an entry. Where the run stands at this moment is shown to people, and nothing rests
    /// on it.
    pub(crate) fn of(session: &Session) -> Self {
        let phase = Verification::default().phase;
        Self {
            run: (session.ulw.started_at, session.ulw.task.clone(), session.ulw.base.clone()),
            gates: session.gates.clone(),
            verification: Verification { phase, ..session.verification.clone() },
            is_armed: session.is_armed(),
            seal: session.seal.clone(),
        }
    }

    /// Nothing was ever sealed here, because there was nothing to seal.
    pub(crate) fn is_blank(&self) -> bool {
        self.seal.is_none() && self.gates.is_empty() && !self.is_armed
    }

    /// The seal that belongs to it.
    pub(crate) fn seal(&self, key: &Key, id: &SessionId) -> String {
        key.mac(&self.bytes(id))
    }

    /// Whether it bears the seal that belongs to it.
    pub(crate) fn is_borne(&self, key: &Key, id: &SessionId) -> bool {
        self.seal.as_deref().is_some_and(|seal| key.is_mac(&self.bytes(id), seal))
    }

    fn bytes(&self, id: &SessionId) -> Vec<u8> {
        const VERSION: u32 = 1;
        let content = (VERSION, id.as_str(), &self.run, &self.gates, &self.verification);
        serde_json::to_vec(&content).unwrap_or_default()
    }
}

/// Whether what judges a session is omo's own: it bears the seal, or there is nothing to seal.
pub fn is_own(state_home: Option<&Path>, id: &SessionId, session: &Session) -> bool {
    let sealed = Sealed::of(session);
    sealed.is_blank() || Key::load(state_home).is_ok_and(|key| sealed.is_borne(&key, id))
}

/// The digest of some bytes, in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use omo_core::gate::Origin;
    use omo_core::review::{Review, ReviewVerdict};
    use omo_core::verification::Phase;

    use super::*;

    type Edit = fn(&mut Session);

    fn session() -> Session {
        let gates = vec![Gate::new(None, "cargo test", Origin::User).unwrap()];
        Session { gates, ..Session::default() }
    }

    fn seal_of(key: &Key, id: &SessionId, session: &Session) -> String {
        Sealed::of(session).seal(key, id)
    }

    #[test]
    #[cfg(unix)]
    fn a_key_is_made_once_and_only_its_user_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().join("deep/state");
        let (id, mut session) = (SessionId::parse("a").unwrap(), session());
        session.seal = Some(seal_of(&Key::load(Some(&home)).unwrap(), &id, &session));
        assert!(Key::load(Some(&home)).unwrap().holds(&id, &session));
        let mode = std::fs::metadata(home.join("omo/key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let other = Key::load(Some(&temp.path().join("other"))).unwrap();
        assert!(!other.holds(&id, &session));
        assert!(Key::load(None).is_err());
        std::fs::write(home.join("omo/key"), "short").unwrap();
        assert!(matches!(Key::load(Some(&home)), Err(KeyError::Malformed(_))));
    }

    #[test]
    fn whatever_a_verdict_rests_on_breaks_the_seal_when_it_is_changed() {
        let temp = tempfile::tempdir().unwrap();
        let key = Key::load(Some(temp.path())).unwrap();
        let id = SessionId::parse("a").unwrap();
        let mut sealed = session();
        sealed.seal = Some(seal_of(&key, &id, &sealed));
        let changes: [(&str, Edit); 10] = [
            ("the command", |session| session.gates[0].run = "true".to_owned()),
            ("no gates", |session| session.gates.clear()),
            ("a file", |session| _ = session.gates[0].pinned.insert("x".to_owned(), "y".to_owned())),
            ("a result", |session| session.gates[0].last = Some(omo_core::gate::Record::default())),
            ("the best", |session| session.gates[0].best = Some(omo_core::gate::Best::default())),
            ("the task", |session| session.ulw.task = Some("something easier".to_owned())),
            ("the commit", |session| session.ulw.base = Some("0".repeat(40))),
            ("no review", |session| session.verification.review_wanted = false),
            ("the attempts", |session| session.verification.attempts = 9),
            ("a review", |session| {
                session.verification.review = Some(Review { verdict: ReviewVerdict::Verified, ..Review::default() });
            }),
        ];
        for (what, change) in changes {
            let mut session = sealed.clone();
            change(&mut session);
            assert!(!key.holds(&id, &session), "{what}");
        }
        assert!(!key.holds(&SessionId::parse("b").unwrap(), &sealed), "another session");
        assert!(!key.holds(&id, &Session { seal: None, ..sealed.clone() }), "no seal");
        let mut moved = sealed.clone();
        moved.verification.phase = Phase::Gates;
        moved.ulw.stop_blocks = 3;
        assert!(key.holds(&id, &moved), "what nothing rests on may change");
    }
}
