//! Revision numbers of sessions' entries, a file for each beside the key. They expose an old entry
//! that was put back: its seal is valid, but its revision is lower.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;

use omo_core::session::id::SessionId;
use omo_core::timestamp::Timestamp;

use crate::files::folder::{FolderError, GuardedFolder};
use crate::seal::KeyError;

const PARTS: [&str; 2] = ["omo", "sessions"];
/// Digits of a number, so that the next one overwrites it in place.
const DIGITS: usize = 20;
/// Age of a file that [`prune`] removes, in milliseconds; its entry is gone.
const KEPT_MILLIS: i64 = 30 * 24 * 60 * 60 * 1_000;

pub(crate) struct Revision(File);

impl Revision {
    /// Opens the file and reads its number, or makes it; `None` for a file without a number.
    pub(crate) fn open(
        state_home: Option<&Path>,
        id: &SessionId,
    ) -> Result<Option<(Self, u64)>, KeyError> {
        let home = state_home.ok_or(KeyError::NoHome)?;
        let mut file = GuardedFolder::create_user_part(home, &PARTS)?.open_lock(&name(id))?;
        let mut text = Vec::new();
        Read::by_ref(&mut file)
            .take(DIGITS as u64 + 1)
            .read_to_end(&mut text)
            .map_err(|source| FolderError::Io {
                action: "read",
                path: home.join(name(id)),
                source,
            })?;
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

/// Removes files of entries that are long gone.
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
            let _ = folder.remove(&name);
        }
    }
}

fn parse(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() {
        return Some(0);
    }
    std::str::from_utf8(bytes).ok()?.trim_end().parse().ok()
}

/// File name for a session, which is no name of a device on Windows.
fn name(id: &SessionId) -> String {
    format!("session-{id}")
}
