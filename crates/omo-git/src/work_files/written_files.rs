//! Finds the files of a project that its checks write, by a comparison of two manifests.

use std::collections::BTreeSet;
use std::time::Instant;

use super::cache::FilesCache;
use super::{FileManifest, LONGEST_READ, WorkFiles, content, parse_known};

/// Files with other bytes than before the checks, by path from the top of the work tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenFiles {
    /// Untracked files that did not exist before.
    pub new: BTreeSet<Vec<u8>>,
    /// Untracked files that existed before.
    pub untracked: BTreeSet<Vec<u8>>,
    pub tracked: BTreeSet<Vec<u8>>,
}

impl WorkFiles<'_> {
    /// Contents of the files of the last [`WorkFiles::state`], without inner repositories.
    pub fn manifest(&self) -> Option<FileManifest> {
        let memory = FilesCache::open(&self.root, self.state_home?)?;
        let found = memory.read()?;
        let entries = memory.read_entries(&found)?;
        let files: Vec<&[u8]> = found.file_paths().collect();
        let deadline = Instant::now() + LONGEST_READ;
        let read = content::read_files(
            &found.top(),
            &files,
            &parse_known(&entries),
            deadline,
            &self.unread,
        )?;
        let mut manifest = FileManifest::default();
        manifest.add(content::digests(&read));
        Some(manifest)
    }

    pub fn written_since(&self, before: &FileManifest) -> Option<WrittenFiles> {
        let now = self.manifest()?;
        let changed = now.changed_since(before);
        let mut written = WrittenFiles::default();
        if changed.is_empty() {
            return Some(written);
        }
        let memory = FilesCache::open(&self.root, self.state_home?)?;
        let mut known = self.lister(&memory, 0)?.list()?.tracked;
        known.extend(self.scope()?.tracked());
        for (path, was_there) in changed {
            let files = match (known.contains(path), was_there) {
                (true, _) => &mut written.tracked,
                (false, true) => &mut written.untracked,
                (false, false) => &mut written.new,
            };
            files.insert(path.to_vec());
        }
        Some(written)
    }
}
