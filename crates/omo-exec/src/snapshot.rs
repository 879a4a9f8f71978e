//! Whether a work tree is as it was, by the times and sizes of its files and folders alone.
//!
//! Starting git costs more than looking at a thousand files. After git has said what a work tree
//! is, every file that it knows and every folder that it would look into are remembered in one
//! digest: a changed file has another change time, which nobody can set back, and a new or removed
//! one changes its folder. Whatever differs, git is asked again. What was changed at the very
//! moment of the look cannot be told from what was not, and is never remembered. Where a system has no
//! such time nothing is, and git is asked each time.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use omo_core::timestamp::Timestamp;
use omo_store::env;

use crate::platform::{Stamp, Top};

/// The times of a file system move in steps. What lies within this of a look is taken for changed
/// during it.
const STEP: Duration = Duration::from_millis(100);

/// What a work tree looked like.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// The paths that were looked at, from the top, each with a NUL behind it.
    pub(crate) paths: Vec<u8>,
    /// The digest of what was seen.
    pub(crate) digest: String,
}

impl Snapshot {
    /// Remembers a work tree: the files that git listed, and all folders but those that it ignores,
    /// which `ignored` tells of a list of them; `since` is the time before git was asked. `None`
    /// where that cannot be told from a change during the look, or where something cannot be
    /// looked at.
    pub(crate) fn take(
        top: &Path,
        files: &[u8],
        ignored: impl Fn(&[u8]) -> Option<Vec<u8>>,
        since: Timestamp,
    ) -> Option<Self> {
        let mut paths = files.to_vec();
        push_folders(top, &folders_of(files), ignored, &mut paths)?;
        let (digest, newest) = look(top, &paths)?;
        let latest = since.as_millis().checked_sub(i64::try_from(STEP.as_millis()).ok()?)?;
        (newest < latest).then_some(Self { paths, digest })
    }
}

/// The time before a look.
pub(crate) fn begin() -> Timestamp {
    env::now()
}

/// Whether everything is as it was.
pub(crate) fn is_unchanged(top: &Path, paths: &[u8], digest: &str) -> bool {
    look(top, paths).is_some_and(|(now, _)| now == digest)
}

/// The digest of what is seen at these paths, and the newest time of it, in milliseconds.
fn look(top: &Path, paths: &[u8]) -> Option<(String, i64)> {
    let folder = Top::open(top)?;
    let mut seen = Vec::with_capacity(64 * 1024);
    let mut hash = blake3::Hasher::new();
    let mut newest = 0;
    for path in paths.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
        seen.extend_from_slice(path);
        match folder.look(path)? {
            Some(Stamp { times, numbers }) => {
                for (seconds, nanos) in times {
                    seen.extend_from_slice(&(i128::from(seconds) * 1_000_000_000 + i128::from(nanos)).to_le_bytes());
                    newest = newest.max(seconds.saturating_mul(1_000).saturating_add(i64::from(nanos / 1_000_000)));
                }
                for number in numbers {
                    seen.extend_from_slice(&number.to_le_bytes());
                }
            }
            // A sparse checkout has left it out.
            None => seen.push(0),
        }
        if seen.len() > 60 * 1024 {
            hash.update(&seen);
            seen.clear();
        }
    }
    hash.update(&seen);
    Some((hash.finalize().to_hex().to_string(), newest))
}

/// The folders that hold files that git knows: none of those is ignored.
fn folders_of(files: &[u8]) -> HashSet<&[u8]> {
    let mut folders = HashSet::new();
    for file in files.split(|byte| *byte == 0) {
        let mut path = file;
        while let Some(at) = path.iter().rposition(|byte| *byte == b'/') {
            path = path.get(..at).unwrap_or_default();
            if !folders.insert(path) {
                break;
            }
        }
    }
    folders
}

/// Every folder that git would look into for new files, from the top, level by level.
fn push_folders(
    top: &Path,
    known: &HashSet<&[u8]>,
    ignored: impl Fn(&[u8]) -> Option<Vec<u8>>,
    paths: &mut Vec<u8>,
) -> Option<()> {
    let base = Top::open(top)?;
    let mut level: Vec<Vec<u8>> = vec![b".".to_vec()];
    while !level.is_empty() {
        let mut below = Vec::new();
        for folder in &level {
            push_children(&base, folder, &mut below)?;
            paths.extend_from_slice(folder);
            paths.push(0);
        }
        let asked: Vec<u8> = below
            .iter()
            .filter(|path| !known.contains(path.as_slice()))
            .flat_map(|path| [path, b"/\0".as_slice()].concat())
            .collect();
        let left_out = if asked.is_empty() { Vec::new() } else { ignored(&asked)? };
        let left_out: HashSet<&[u8]> =
            left_out.split(|byte| *byte == 0).filter_map(|path| path.strip_suffix(b"/")).collect();
        below.retain(|path| !left_out.contains(path.as_slice()));
        level = below;
    }
    Some(())
}

/// The folders in a folder, but for git's own.
fn push_children(base: &Top, folder: &[u8], children: &mut Vec<Vec<u8>>) -> Option<()> {
    for name in base.folders(folder)? {
        if name != b".git" {
            children.push(if folder == b"." { name } else { [folder, b"/", &name].concat() });
        }
    }
    Some(())
}
