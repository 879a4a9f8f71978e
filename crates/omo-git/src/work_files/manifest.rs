//! The content of each file at one moment, to tell later which of them changed.

use std::collections::BTreeMap;

use super::content::{ContentDigest, FileEntry};

/// Of a project whose manifest is larger, none is kept.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Each path, a NUL, and the digest of what stands there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileManifest {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl FileManifest {
    pub(super) fn add(&mut self, entries: &[FileEntry]) {
        for entry in entries {
            if let Some(digest) = &entry.digest {
                self.push(&entry.path, digest);
            }
        }
    }

    /// Adds the files of a repository that lies at a path.
    pub(super) fn add_inner(&mut self, path: &[u8], inner: &Self) {
        self.is_cut |= inner.is_cut;
        for (name, digest) in parse(&inner.bytes) {
            self.push(&[path, b"/", name].concat(), &digest);
        }
    }

    fn push(&mut self, path: &[u8], digest: &ContentDigest) {
        self.is_cut |= self.bytes.len() > MAX_BYTES;
        if !self.is_cut {
            self.bytes.extend_from_slice(&[path, b"\0", digest].concat());
        }
    }

    /// The bytes to keep; `None` where they are too many.
    pub fn bytes(&self) -> Option<&[u8]> {
        (!self.is_cut).then_some(&*self.bytes)
    }

    /// The paths whose content is another one than in the bytes that were kept, sorted; `None` where that cannot be told.
    pub fn changed_since(&self, kept: &[u8]) -> Option<Vec<String>> {
        let (then, now): (BTreeMap<_, _>, BTreeMap<_, _>) = (parse(kept).collect(), parse(self.bytes()?).collect());
        let mut paths: Vec<&[u8]> =
            then.iter().filter(|(path, it)| now.get(*path) != Some(*it)).map(|it| *it.0).collect();
        paths.extend(now.keys().filter(|path| !then.contains_key(*path)));
        paths.sort_unstable();
        Some(paths.into_iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect())
    }
}

fn parse(mut bytes: &[u8]) -> impl Iterator<Item = (&[u8], ContentDigest)> {
    std::iter::from_fn(move || {
        let (path, rest) = bytes.split_at_checked(bytes.iter().position(|byte| *byte == 0)?)?;
        let (digest, rest) = rest.get(1..)?.split_first_chunk()?;
        bytes = rest;
        Some((path, *digest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(files: &[(&str, u8)]) -> FileManifest {
        let mut manifest = FileManifest::default();
        for (path, byte) in files {
            manifest.push(path.as_bytes(), &[*byte; 32]);
        }
        manifest
    }

    #[test]
    fn what_changed_came_or_went_is_named_once() {
        let then = manifest(&[("a", 0), ("b", 10), ("c", 3), ("d", 4)]);
        let mut now = manifest(&[("a", 0), ("b", 11), ("c", 3), ("e", 4)]);
        now.add_inner(b"sub", &manifest(&[("x", 1)]));
        let changed = |now: &FileManifest| now.changed_since(then.bytes().unwrap());
        assert_eq!(changed(&then), Some(vec![]));
        assert_eq!(changed(&now), Some(["b", "d", "e", "sub/x"].map(str::to_owned).to_vec()));
        now.is_cut = true;
        assert_eq!((changed(&now), now.bytes()), (None, None));
    }
}
