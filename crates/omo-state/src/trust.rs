//! The user's approvals of commands: `trust.json` in their own folder, never in the repository.
//!
//! An approval covers the exact bytes of a file in a folder of a repository, and of the files that
//! its checks run: after any change the user is asked again.

pub mod pending_approval;

use std::collections::BTreeMap;
use std::path::Path;

use omo_core::session::ChangedBy;
use omo_core::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::files::folder::{FolderError, GuardedFolder};
use crate::files::lock::{LockError, StateLock};
use crate::git_worktree::repository_identity;
use crate::seal::{KeyError, SealKey};

const FILE: &str = "trust.json";
const MAX_BYTES: u64 = 1024 * 1024;
const KEPT: usize = 1_000;

#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Text that does not parse, or that a newer omo wrote.
    #[error("{0} is not as this omo writes it; remove it to start over")]
    Malformed(std::path::PathBuf),
    #[error(transparent)]
    Key(#[from] KeyError),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalList {
    version: u32,
    approved: Vec<StoredApproval>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredApproval {
    /// Result of [`content_digest`] or [`bound_digest`].
    pub digest: String,
    /// Digest of the file alone, where other files are bound to it; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub content: String,
    /// Bound files with their digests.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pinned: BTreeMap<String, String>,
    pub root: String,
    pub at: Timestamp,
    /// Giver of the approval; `None` in one of an older omo.
    #[serde(default)]
    pub by: Option<ChangedBy>,
    #[serde(default)]
    pub seal: String,
}

/// Digest of a file's content, its folder and its repository.
pub fn content_digest(root: &Path, content: &[u8]) -> String {
    content_digest_at(root, root, content)
}

/// [`content_digest`] for the folder at `root` as if it were still at `place`.
pub fn content_digest_at(place: &Path, root: &Path, content: &[u8]) -> String {
    let identity = repository_identity(root);
    sum_parts(
        "omo trust 2",
        &[
            place.as_os_str().as_encoded_bytes(),
            identity.as_bytes(),
            content,
        ],
    )
}

/// Digest of a file's digest `content` and the digests of the files bound to it.
pub fn bound_digest(content: &str, pinned: &BTreeMap<String, String>) -> String {
    let files = pinned
        .iter()
        .flat_map(|(name, digest)| [name.as_bytes(), digest.as_bytes()]);
    sum_parts(
        "omo trust of files 1",
        &std::iter::once(content.as_bytes())
            .chain(files)
            .collect::<Vec<_>>(),
    )
}

fn sum_parts(subject: &str, parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    hash.update(subject);
    for part in parts {
        // The length before each part keeps `ab`, `c` and `a`, `bc` apart.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

fn hex(bytes: &[u8]) -> String {
    let digits = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|nibble| digits.get(usize::from(nibble)).copied().map(char::from))
        .collect()
}

impl ApprovalList {
    /// Stored approvals; empty without a file.
    pub fn load(state_home: Option<&Path>) -> Result<Self, TrustError> {
        match state_home
            .map(GuardedFolder::open_user)
            .transpose()?
            .flatten()
        {
            Some(folder) => Self::read(&folder),
            None => Ok(Self::default()),
        }
    }

    fn read(folder: &GuardedFolder) -> Result<Self, TrustError> {
        let Some(bytes) = folder.read(FILE, MAX_BYTES)? else {
            return Ok(Self::default());
        };
        let trust: Option<Self> = serde_json::from_slice(&bytes).ok();
        trust
            .filter(|trust| trust.version <= 1)
            .ok_or_else(|| TrustError::Malformed(folder.path().join(FILE)))
    }

    pub fn holds(&self, digest: &str, key: &SealKey) -> bool {
        self.approval_given(digest, key).is_some()
    }

    /// The approval of this digest; a person's before others.
    pub fn approval_given(&self, digest: &str, key: &SealKey) -> Option<GivenApproval> {
        let sound = self
            .approved
            .iter()
            .filter(|approval| approval.digest == digest && approval.is_sound(key));
        let given = sound.map(|approval| GivenApproval {
            by: approval.by(),
            at: approval.at,
        });
        given.max_by_key(|given| given.by.is_person())
    }

    /// Bound files of the newest approval of a file's content, with their digests at that time.
    pub fn pinned_with(&self, content: &str, key: &SealKey) -> Option<&BTreeMap<String, String>> {
        self.approved
            .iter()
            .rev()
            .find(|approval| {
                approval.content == content
                    && approval.digest == bound_digest(content, &approval.pinned)
                    && approval.is_sound(key)
            })
            .map(|approval| &approval.pinned)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenApproval {
    pub by: ChangedBy,
    pub at: Timestamp,
}

impl StoredApproval {
    fn by(&self) -> ChangedBy {
        self.by.unwrap_or(ChangedBy::Detached)
    }

    fn is_sound(&self, key: &SealKey) -> bool {
        key.is_mac(sealed(&self.digest, self.by).as_bytes(), &self.seal)
    }
}

fn sealed(digest: &str, by: Option<ChangedBy>) -> String {
    match by {
        None => format!("omo approval 1 {digest}"),
        Some(by) => format!("omo approval 2 {digest} {by:?}"),
    }
}

pub fn approve(
    state_home: Option<&Path>,
    root: &Path,
    digest: &str,
    given: GivenApproval,
) -> Result<(), TrustError> {
    write(
        state_home,
        root,
        digest.to_owned(),
        given,
        (String::new(), BTreeMap::new()),
    )
}

pub fn approve_bound(
    state_home: Option<&Path>,
    root: &Path,
    content: &str,
    pinned: &BTreeMap<String, String>,
    given: GivenApproval,
) -> Result<(), TrustError> {
    write(
        state_home,
        root,
        bound_digest(content, pinned),
        given,
        (content.to_owned(), pinned.clone()),
    )
}

fn write(
    state_home: Option<&Path>,
    root: &Path,
    digest: String,
    GivenApproval { by, at }: GivenApproval,
    (content, pinned): (String, BTreeMap<String, String>),
) -> Result<(), TrustError> {
    let key = SealKey::load(state_home)?;
    let seal = key.mac(sealed(&digest, Some(by)).as_bytes());
    change(state_home, |approved| {
        // A person's approval stays beside a later one that no person gave.
        approved.retain(|known| {
            known.digest != digest
                || known.by().is_person() && !by.is_person() && known.is_sound(&key)
        });
        let root = root.display().to_string();
        approved.push(StoredApproval {
            digest,
            content,
            pinned,
            root,
            at,
            by: Some(by),
            seal,
        });
        let surplus = approved.len().saturating_sub(KEPT);
        approved.drain(..surplus);
    })
}

fn change(
    state_home: Option<&Path>,
    change: impl FnOnce(&mut Vec<StoredApproval>),
) -> Result<(), TrustError> {
    let folder = GuardedFolder::create_user(state_home.ok_or(KeyError::NoHome)?)?;
    let _lock = StateLock::take(&folder, crate::files::lock::DEADLINE)?;
    let mut trust = ApprovalList::read(&folder)?;
    trust.version = 1;
    change(&mut trust.approved);
    let mut json = serde_json::to_string_pretty(&trust).unwrap_or_default();
    json.push('\n');
    Ok(folder.replace(FILE, json.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(by: ChangedBy) -> GivenApproval {
        GivenApproval {
            by,
            at: Timestamp::from_millis(0),
        }
    }

    #[test]
    fn who_approved_is_sealed_and_a_persons_approval_stays_one() {
        let temp = tempfile::tempdir().unwrap();
        let home = Some(temp.path());
        let key = SealKey::load(home).unwrap();
        let by = || {
            ApprovalList::load(home)
                .unwrap()
                .approval_given("x", &key)
                .map(|given| given.by)
        };
        let approve = |by| approve(home, Path::new("/a"), "x", given(by)).unwrap();
        assert_eq!(by(), None);
        approve(ChangedBy::Detached);
        assert_eq!(by(), Some(ChangedBy::Detached));
        let file = temp.path().join("omo/trust.json");
        let text = std::fs::read_to_string(&file).unwrap();
        for forged in [
            text.replace("detached", "typed"),
            text.replace("\"detached\"", "null"),
        ] {
            assert_ne!(forged, text);
            std::fs::write(&file, forged).unwrap();
            assert_eq!(by(), None);
        }
        std::fs::write(&file, text).unwrap();
        approve(ChangedBy::Terminal);
        approve(ChangedBy::Detached);
        assert_eq!(by(), Some(ChangedBy::Terminal));
    }

    #[test]
    fn a_renamed_repository_is_known_by_its_folder_and_a_copy_of_it_is_not() {
        let temp = tempfile::tempdir().unwrap();
        let [old, new, copy] = ["old", "new", "copy"].map(|name| temp.path().join(name));
        let make = |top: &Path| {
            std::fs::create_dir_all(top.join(".git")).unwrap();
            std::fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        };
        make(&old);
        let approved = content_digest(&old, b"x");
        make(&copy);
        std::fs::rename(&old, &new).unwrap();
        assert_eq!(content_digest_at(&old, &new, b"x"), approved);
        assert_ne!(content_digest_at(&old, &copy, b"x"), approved);
        assert_ne!(content_digest_at(&old, &new, b"y"), approved);
        assert_ne!(content_digest(&new, b"x"), approved);
    }

    #[test]
    fn an_approval_is_for_exactly_these_bytes_in_exactly_this_folder() {
        let temp = tempfile::tempdir().unwrap();
        let home = Some(temp.path());
        let key = SealKey::load(home).unwrap();
        let (root, other) = (Path::new("/a"), Path::new("/b"));
        let approved = content_digest(root, b"[[check]]\nrun = \"x\"\n");
        assert!(!ApprovalList::load(home).unwrap().holds(&approved, &key));
        approve(home, root, &approved, given(ChangedBy::Typed)).unwrap();
        let trust = ApprovalList::load(home).unwrap();
        assert!(trust.holds(&approved, &key));
        assert!(
            !trust.holds(&content_digest(root, b"[[check]]\nrun = \"x\" \n"), &key),
            "one byte more"
        );
        assert!(
            !trust.holds(&content_digest(other, b"[[check]]\nrun = \"x\"\n"), &key),
            "another folder"
        );
        assert!(!trust.holds("", &key));
    }

    #[test]
    fn an_approval_that_something_else_wrote_is_none() {
        let temp = tempfile::tempdir().unwrap();
        let home = Some(temp.path());
        let key = SealKey::load(home).unwrap();
        approve(home, Path::new("/a"), "x", given(ChangedBy::Typed)).unwrap();
        let file = temp.path().join("omo/trust.json");
        let text = std::fs::read_to_string(&file)
            .unwrap()
            .replace("\"x\"", "\"y\"");
        std::fs::write(&file, text).unwrap();
        assert!(!ApprovalList::load(home).unwrap().holds("y", &key));
    }

    #[test]
    fn a_file_that_is_not_ours_is_refused_and_left() {
        let temp = tempfile::tempdir().unwrap();
        let home = Some(temp.path());
        approve(home, Path::new("/a"), "x", given(ChangedBy::Typed)).unwrap();
        let file = temp.path().join("omo/trust.json");
        for text in [
            "",
            "[]",
            "{\"version\":2,\"approved\":[]}",
            "{\"version\":1,\"approved\":[1]}",
        ] {
            std::fs::write(&file, text).unwrap();
            assert!(
                matches!(ApprovalList::load(home), Err(TrustError::Malformed(_))),
                "{text}"
            );
            assert!(approve(home, Path::new("/a"), "x", given(ChangedBy::Typed)).is_err());
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
    }
}
