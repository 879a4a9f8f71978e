//! Revisions of sessions' entries, beside the key: one small file for each session.
//!
//! The entry lies in the project, where an older one can be put back whole. It bears omo's seal,
//! and a lower revision than the one here.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;

use omo_core::session::id::SessionId;
use omo_core::timestamp::Timestamp;

use crate::files::folder::{FolderError, GuardedFolder};
use crate::seal::KeyError;

const PARTS: [&str; 2] = ["omo", "sessions"];
/// Digits of each number, so that the next one is written over it in place.
const DIGITS: usize = 20;
/// Age of a file that [`prune`] removes: the entry has gone long before.
const KEPT_MILLIS: i64 = 30 * 24 * 60 * 60 * 1_000;

pub(crate) struct Revision(File);

impl Revision {
    /// Opens it, making it where there is none, and tells what it holds; `None` where that is no number.
    pub(crate) fn open(
        state_home: Option<&Path>,
        id: &SessionId,
    ) -> Result<Option<(Self, u64)>, KeyError> {
        let home = state_home.ok_or(KeyError::NoHome)?;
        let mut file = GuardedFolder::create_user_part(home, &PARTS)?.open_lock(&name(id))?;
        let mut text = Vec::new();
        let failed = |source| FolderError::Io {
            action: "read",
            path: home.join(name(id)),
            source,
        };
        Read::by_ref(&mut file)
            .take(DIGITS as u64 + 1)
            .read_to_end(&mut text)
            .map_err(failed)?;
        Ok(parse(&text).map(|last| (Self(file), last)))
    }

    pub(crate) fn write(mut self, revision: u64) {
        // A failed write stays behind the entry, which is then still believed.
        let _ = self.0.rewind().and_then(|()| {
            self.0
                .write_all(format!("{revision:0DIGITS$}\n").as_bytes())
        });
    }
}

pub(crate) fn read(state_home: Option<&Path>, id: &SessionId) -> Result<Option<u64>, KeyError> {
    let folder = GuardedFolder::open_user_part(state_home.ok_or(KeyError::NoHome)?, &PARTS)?;
    let bytes = folder
        .map(|folder| folder.read(&name(id), DIGITS as u64 + 1))
        .transpose()?
        .flatten();
    Ok(bytes.and_then(|bytes| parse(&bytes)))
}

/// Forgets those of sessions that were not written for a month.
pub fn prune(state_home: Option<&Path>, now: Timestamp) {
    let Some(Ok(Some(folder))) = state_home.map(|home| GuardedFolder::open_user_part(home, &PARTS))
    else {
        return;
    };
    for name in folder.file_names("").unwrap_or_default() {
        let written = folder
            .written_at(&name)
            .and_then(|seconds| seconds.checked_mul(1_000));
        let age = written.and_then(|at| now.millis_since(Timestamp::from_millis(at)));
        if age.is_some_and(|age| age > KEPT_MILLIS) {
            // Another process may have been quicker.
            let _ = folder.remove(&name);
        }
    }
}

/// One that was just made is empty.
fn parse(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() {
        return Some(0);
    }
    std::str::from_utf8(bytes).ok()?.trim_end().parse().ok()
}

/// No name of a device on Windows.
fn name(id: &SessionId) -> String {
    format!("session-{id}")
}
