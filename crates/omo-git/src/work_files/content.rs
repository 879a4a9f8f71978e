//! Reads and hashes files without git, so that no setting, filter or attribute has a say.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

use omo_state::files::regular_file;

use super::manifest::{ContentDigest, FileManifest};
use crate::platform::{FileStamp, TreeTop, has_execute_bit, path_of};

/// Stamp and digest of each path, from an earlier look.
pub(super) type KnownDigests<'a> = HashMap<&'a [u8], (&'a [u8], ContentDigest)>;

const MAX_OUTSIDE: usize = 20_000;
const FOR_A_THREAD: usize = 256;
const MAX_THREADS: usize = 8;
/// Files held at once for an id alone.
const AT_ONCE: usize = 1_024;
/// A larger file cannot be read in time.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024 * 1024;
/// Zeroed for each file, most of which are smaller.
const BUFFER_BYTES: usize = 16 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileEntry {
    pub(super) path: Vec<u8>,
    /// Taken before the read; `None` on a system without stamps.
    pub(super) stamp: Option<FileStamp>,
    /// `None` for a missing file.
    pub(super) digest: Option<ContentDigest>,
    /// `true` for a link to something outside of the work tree.
    pub(super) leads_outside: bool,
}

impl FileEntry {
    fn new(path: &[u8], stamp: Option<FileStamp>, digest: Option<ContentDigest>) -> Self {
        Self {
            path: path.to_vec(),
            stamp,
            digest,
            leads_outside: false,
        }
    }
}

/// Reads files whose stamp is not in `known`; `None` after the deadline, or with too much behind a
/// link.
pub(super) fn read_files<P: AsRef<[u8]> + Sync>(
    top: &Path,
    files: &[P],
    known: &KnownDigests<'_>,
    deadline: Instant,
    unread: &OnceLock<Vec<u8>>,
) -> Option<Vec<FileEntry>> {
    let seen_from = TreeTop::open(top);
    let real_top = top.canonicalize().ok()?;
    ContentReader {
        top,
        real_top,
        files,
        seen_from: seen_from.as_ref(),
        known,
        deadline,
        unread,
    }
    .all(files)
}

/// Id of the present content, regardless of times; fills `manifest`. `None` as for [`read_files`].
pub(super) fn exact_id<P: AsRef<[u8]> + Sync>(
    top: &Path,
    files: &[P],
    deadline: Instant,
    unread: &OnceLock<Vec<u8>>,
    manifest: &mut FileManifest,
) -> Option<String> {
    let (known, real_top) = (KnownDigests::new(), top.canonicalize().ok()?);
    let reader = ContentReader {
        top,
        real_top,
        files,
        seen_from: None,
        known: &known,
        deadline,
        unread,
    };
    let mut hash = blake3::Hasher::new();
    for part in files.chunks(AT_ONCE) {
        let entries = reader.all(part)?;
        add_to_id(&mut hash, &entries);
        manifest.add(digests(&entries));
    }
    Some(hash.finalize().to_hex().to_string())
}

pub(super) fn digests(entries: &[FileEntry]) -> impl Iterator<Item = (&[u8], &ContentDigest)> {
    entries
        .iter()
        .filter_map(|entry| Some((&*entry.path, entry.digest.as_ref()?)))
}

pub(super) fn id_of(entries: &[FileEntry]) -> String {
    let mut hash = blake3::Hasher::new();
    add_to_id(&mut hash, entries);
    hash.finalize().to_hex().to_string()
}

fn add_to_id(hash: &mut blake3::Hasher, entries: &[FileEntry]) {
    for (path, digest) in digests(entries) {
        hash.update(path).update(b"\0").update(digest);
    }
}

struct ContentReader<'a, P> {
    top: &'a Path,
    real_top: PathBuf,
    files: &'a [P],
    /// Open top for stamps; `None` where stamps are not wanted, or not supported.
    seen_from: Option<&'a TreeTop>,
    known: &'a KnownDigests<'a>,
    deadline: Instant,
    unread: &'a OnceLock<Vec<u8>>,
}

impl<P: AsRef<[u8]> + Sync> ContentReader<'_, P> {
    fn all(&self, files: &[P]) -> Option<Vec<FileEntry>> {
        if files.len() <= FOR_A_THREAD {
            return self.read_part(files);
        }
        let threads = std::thread::available_parallelism()
            .map_or(1, usize::from)
            .min(MAX_THREADS);
        let share = files.len().div_ceil(threads).max(FOR_A_THREAD);
        std::thread::scope(|scope| {
            let parts: Vec<_> = files
                .chunks(share)
                .map(|part| scope.spawn(move || self.read_part(part)))
                .collect();
            let mut entries = Vec::with_capacity(files.len());
            for part in parts {
                entries.append(&mut part.join().ok()??);
            }
            Some(entries)
        })
    }

    fn read_part(&self, part: &[P]) -> Option<Vec<FileEntry>> {
        part.iter().map(|path| self.entry(path.as_ref())).collect()
    }

    fn entry(&self, path: &[u8]) -> Option<FileEntry> {
        if Instant::now() > self.deadline {
            return None;
        }
        let entry = self.read_entry(path);
        if entry.is_none() {
            // The first one: other threads may only have been late.
            let _ = self.unread.set(path.to_vec());
        }
        entry
    }

    fn read_entry(&self, path: &[u8]) -> Option<FileEntry> {
        let stamp = match self.seen_from.map(|top| top.look(path)) {
            Some(Some(None)) => return Some(FileEntry::new(path, None, None)),
            Some(Some(stamp)) => stamp,
            // A parent is not a folder any more, or the system has no stamps.
            Some(None) | None => None,
        };
        if let (Some(stamp), Some((known, digest))) = (&stamp, self.known.get(path))
            && stamp.to_bytes() == *known
        {
            return Some(FileEntry::new(path, Some(*stamp), Some(*digest)));
        }
        let at = self.top.join(path_of(path));
        // Nearly all are regular files, which are looked at by opening them.
        if let Ok(Some(file)) = regular_file::open_unlinked(&at) {
            return Some(FileEntry::new(path, stamp, Some(self.regular(file)?)));
        }
        let Ok(meta) = at.symlink_metadata() else {
            return Some(FileEntry::new(path, stamp, None));
        };
        if meta.is_symlink() {
            let (digest, leads_outside) = self.link(&at)?;
            return Some(FileEntry {
                leads_outside,
                ..FileEntry::new(path, stamp, Some(digest))
            });
        }
        Some(FileEntry::new(path, stamp, Some(self.plain(&at, &meta)?)))
    }

    fn plain(&self, at: &Path, meta: &Metadata) -> Option<ContentDigest> {
        if let Ok(Some(file)) = regular_file::open_unlinked(at) {
            return self.regular(file);
        }
        let mut hash = blake3::Hasher::new();
        if meta.is_file() {
            hash.update(kind_of(meta));
            // By its time alone.
            hash.update(format!("unreadable {:?}", meta.modified().ok()).as_bytes());
        } else {
            hash.update(if meta.is_dir() { b"d" } else { b"o" });
        }
        Some(*hash.finalize().as_bytes())
    }

    fn regular(&self, mut file: File) -> Option<ContentDigest> {
        let mut hash = blake3::Hasher::new();
        if let Ok(meta) = file.metadata() {
            if meta.len() > MAX_FILE_BYTES {
                return None;
            }
            hash.update(kind_of(&meta));
        }
        let mut buffer = [0; BUFFER_BYTES];
        while Instant::now() <= self.deadline {
            match file.read(&mut buffer) {
                Ok(0) => return Some(*hash.finalize().as_bytes()),
                Ok(length) => _ = hash.update(buffer.get(..length)?),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    hash.update(format!("unreadable {:?}", error.kind()).as_bytes());
                    return Some(*hash.finalize().as_bytes());
                }
            }
        }
        None
    }

    /// Target and, unless it counts by itself, its content; `true` for one without a path in the work tree.
    fn link(&self, at: &Path) -> Option<(ContentDigest, bool)> {
        let mut hash = blake3::Hasher::new();
        hash.update(b"l");
        hash.update(
            fs::read_link(at)
                .unwrap_or_default()
                .as_os_str()
                .as_encoded_bytes(),
        );
        hash.update(b"\0");
        let Ok(target) = at.canonicalize() else {
            return Some((*hash.finalize().as_bytes(), true));
        };
        let inside = target
            .strip_prefix(&self.real_top)
            .ok()
            .filter(|path| !path.iter().any(|part| part == ".git"));
        let counts_itself = inside.is_some_and(|path| {
            let path = path.as_os_str().as_encoded_bytes();
            target.is_dir()
                || self
                    .files
                    .binary_search_by(|file| file.as_ref().cmp(path))
                    .is_ok()
        });
        if !counts_itself {
            let mut left = MAX_OUTSIDE;
            self.all_of(&target, &mut left, &mut hash)?;
        }
        Some((*hash.finalize().as_bytes(), !counts_itself))
    }

    fn all_of(&self, path: &Path, left: &mut usize, hash: &mut blake3::Hasher) -> Option<()> {
        let Ok(meta) = path.symlink_metadata() else {
            return Some(());
        };
        *left = left.checked_sub(1)?;
        if meta.is_symlink() {
            hash.update(
                fs::read_link(path)
                    .unwrap_or_default()
                    .as_os_str()
                    .as_encoded_bytes(),
            );
        } else if meta.is_dir() {
            let mut names: Vec<_> = fs::read_dir(path)
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.file_name())
                .collect();
            names.sort();
            for name in names {
                hash.update(name.as_encoded_bytes()).update(b"\0");
                self.all_of(&path.join(name), left, hash)?;
            }
        } else {
            hash.update(&self.plain(path, &meta)?);
        }
        Some(())
    }
}

fn kind_of(meta: &Metadata) -> &'static [u8] {
    if has_execute_bit(meta) { b"x" } else { b"f" }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_cannot_be_read_in_time_is_named() {
        let (temp, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let huge = |path: &Path| {
            File::create(path)
                .unwrap()
                .set_len(MAX_FILE_BYTES + 1)
                .unwrap();
        };
        fs::write(temp.path().join("a"), "small").unwrap();
        huge(&temp.path().join("model.ckpt"));
        huge(&outside.path().join("train.bin"));
        symlink(outside.path(), temp.path().join("data")).unwrap();
        for (files, expected) in [
            (vec!["a"], None),
            (vec!["a", "model.ckpt"], Some("model.ckpt")),
            (vec!["a", "data"], Some("data")),
        ] {
            let unread = OnceLock::new();
            let read = exact_id(
                temp.path(),
                &files,
                Instant::now() + Duration::from_secs(600),
                &unread,
                &mut FileManifest::default(),
            );
            assert_eq!(read.is_none(), expected.is_some(), "{files:?}");
            assert_eq!(
                unread.get().map(Vec::as_slice),
                expected.map(str::as_bytes),
                "{files:?}"
            );
        }
    }
}
