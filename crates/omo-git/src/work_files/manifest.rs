//! `FileManifest`: digests of all files at one moment, to find out later which of them changed.

use std::collections::{BTreeMap, BTreeSet};

pub(super) type ContentDigest = [u8; 32];

const MAX_KEPT_BYTES: usize = 16 * 1024 * 1024;

/// Bytes with path, NUL and digest of each file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileManifest {
    bytes: Vec<u8>,
}

impl FileManifest {
    pub(super) fn add<'a>(&mut self, files: impl Iterator<Item = (&'a [u8], &'a ContentDigest)>) {
        for (path, digest) in files {
            self.push(path, digest);
        }
    }

    pub(super) fn add_inner(&mut self, path: &[u8], inner: &Self) {
        for (name, digest) in parse(&inner.bytes) {
            self.push(&[path, b"/", name].concat(), &digest);
        }
    }

    fn push(&mut self, path: &[u8], digest: &ContentDigest) {
        self.bytes
            .extend_from_slice(&[path, b"\0", digest].concat());
    }

    /// Bytes to store; `None` above `MAX_KEPT_BYTES`.
    pub fn bytes_to_keep(&self) -> Option<&[u8]> {
        (self.bytes.len() <= MAX_KEPT_BYTES).then_some(&*self.bytes)
    }

    pub fn from_kept(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// Added, removed and changed paths; `true` for those that `earlier` contains.
    pub fn changed_since<'a>(&'a self, earlier: &'a Self) -> BTreeMap<&'a [u8], bool> {
        let (now, then): (BTreeSet<_>, BTreeSet<_>) = (
            parse(&self.bytes).collect(),
            parse(&earlier.bytes).collect(),
        );
        let new = now.difference(&then).map(|(path, _)| (*path, false));
        new.chain(then.difference(&now).map(|(path, _)| (*path, true)))
            .collect()
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
        let kept = FileManifest::from_kept(then.bytes_to_keep().unwrap().to_vec());
        assert_eq!(then.changed_since(&kept), BTreeMap::new());
        let changed: [(&[u8], bool); 4] =
            [(b"b", true), (b"d", true), (b"e", false), (b"sub/x", false)];
        assert_eq!(now.changed_since(&kept), BTreeMap::from(changed));
    }
}
