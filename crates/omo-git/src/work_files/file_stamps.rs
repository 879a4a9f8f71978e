//! Digest of the times and sizes of a work tree's files and folders: while it stays the same, no file has changed, and
//! git is not started. No program can set back a change time, and new or removed files change their folder. A change at
//! the very moment of a look may leave the same times, so such a file is not remembered; nor is one without such times.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use omo_core::timestamp::Timestamp;

use crate::git_output::{list, parts};
use crate::platform::{FileStamp, TreeTop};

/// Resolution of file times: a change this close to a look counts as made during it.
const STEP: Duration = Duration::from_millis(100);
/// Levels of folders with a call of git for each; all deeper ones share a call, to save time.
const LEVELS: usize = 5;
/// Larger work trees are not remembered.
const MAX_FOLDERS: usize = 100_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StampDigest {
    pub(crate) digest: String,
    newest: i64,
}

impl StampDigest {
    pub(crate) fn is_settled(&self, since: Timestamp) -> bool {
        is_before(self.newest, since)
    }
}

/// `true` where every change after `since` would alter the stamp.
pub(crate) fn is_stamp_settled(stamp: &FileStamp, since: Timestamp) -> bool {
    is_before(newest_time(stamp), since)
}

fn is_before(millis: i64, since: Timestamp) -> bool {
    let step = i64::try_from(STEP.as_millis()).unwrap_or(i64::MAX);
    since
        .as_millis()
        .checked_sub(step)
        .is_some_and(|latest| millis < latest)
}

fn newest_time(stamp: &FileStamp) -> i64 {
    let millis = stamp.times.map(|(seconds, nanos)| {
        seconds
            .saturating_mul(1_000)
            .saturating_add(i64::from(nanos / 1_000_000))
    });
    millis.into_iter().max().unwrap_or_default()
}

pub(crate) fn digest_stamps<'a>(
    top: &Path,
    paths: impl Iterator<Item = &'a [u8]>,
) -> Option<StampDigest> {
    let folder = TreeTop::open(top)?;
    let mut buffer = Vec::with_capacity(64 * 1024);
    let mut hash = blake3::Hasher::new();
    let mut latest = 0;
    for path in paths {
        buffer.extend_from_slice(path);
        match folder.look(path)? {
            Some(stamp) => {
                buffer.extend_from_slice(&stamp.to_bytes());
                latest = latest.max(newest_time(&stamp));
            }
            // Left out by a sparse checkout.
            None => buffer.push(0),
        }
        if buffer.len() > 60 * 1024 {
            hash.update(&buffer);
            buffer.clear();
        }
    }
    hash.update(&buffer);
    Some(StampDigest {
        digest: hash.finalize().to_hex().to_string(),
        newest: latest,
    })
}

/// Folders in which git would look for new files, level by level. `ignored` gives those of a list that git ignores.
pub(crate) fn list_folders(
    top: &Path,
    files: &[Vec<u8>],
    ignored: impl Fn(&[u8]) -> Option<Vec<u8>>,
) -> Option<Vec<Vec<u8>>> {
    let base = TreeTop::open(top)?;
    let folders_with_files = folders_of_files(files.iter().map(Vec::as_slice));
    let mut found = Vec::new();
    let mut level: Vec<Vec<u8>> = vec![b".".to_vec()];
    for depth in 0.. {
        if level.is_empty() {
            break;
        }
        let mut below = children(&base, &level)?;
        found.append(&mut level);
        if depth >= LEVELS {
            let mut deepest = below.clone();
            while !deepest.is_empty() && found.len() + below.len() <= MAX_FOLDERS {
                deepest = children(&base, &deepest)?;
                below.extend_from_slice(&deepest);
            }
        }
        if found.len() + below.len() > MAX_FOLDERS {
            return None;
        }
        drop_ignored(&mut below, &folders_with_files, &ignored)?;
        if depth >= LEVELS {
            found.append(&mut below);
        }
        level = below;
    }
    Some(found)
}

/// Folders above the files. None of them is ignored: git has listed files in each.
pub(crate) fn folders_of_files<'a>(files: impl Iterator<Item = &'a [u8]>) -> HashSet<&'a [u8]> {
    let mut folders = HashSet::new();
    for file in files {
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

fn drop_ignored(
    folders: &mut Vec<Vec<u8>>,
    folders_with_files: &HashSet<&[u8]>,
    ignored: &impl Fn(&[u8]) -> Option<Vec<u8>>,
) -> Option<()> {
    let unknown = folders
        .iter()
        .filter(|path| !folders_with_files.contains(path.as_slice()));
    // Asked without a `/` at the end: with one, git also reads the rules in the folder itself.
    let asked = list(unknown);
    let left_out = if asked.is_empty() {
        Vec::new()
    } else {
        ignored(&asked)?
    };
    let left_out: HashSet<&[u8]> = parts(&left_out).collect();
    folders.retain(|path| !left_out.contains(path.as_slice()));
    Some(())
}

fn children(base: &TreeTop, folders: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
    let mut children = Vec::new();
    for folder in folders {
        for name in base
            .folders(folder)?
            .into_iter()
            .filter(|name| name != b".git")
        {
            children.push(if folder == b"." {
                name
            } else {
                [folder, b"/".as_slice(), &name].concat()
            });
        }
        if children.len() > MAX_FOLDERS {
            return None;
        }
    }
    Some(children)
}
