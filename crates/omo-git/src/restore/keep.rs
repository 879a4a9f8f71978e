//! Files kept as a commit below `refs/omo/keep`, their bytes as they are: no filter of the repository stands between.
//!
//! ```text
//! HEAD <- the files as they were before <- the files as they were kept   refs/omo/keep/RUN/NAME
//! ```
//!
//! The last commit holds the change and nothing else, so `git show` prints it and it can be applied again. The one
//! before is left out where HEAD holds the same. Where something else was staged, the last parent holds that.
//! `bring_back` applies the change, or, where only something staged was kept, that.

use std::collections::{BTreeMap, BTreeSet};

use super::RestoreError;
use super::index::read_index;
use super::manifest::{ManifestEntry, PathEntries, SnapshotManifest};
use super::snapshotter::Snapshotter;
use crate::folder_path::{EXECUTABLE, LINK, REGULAR};
use crate::kept_work::{KeptWork, WorkToKeep, make_commit};
use crate::private_index::PrivateIndex;
use crate::repository::{GitRepository, StatusEntry};
use crate::snapshots::Snapshots;
use crate::tree_path::TreePath;
use crate::worktree::WorkerName;

/// Begins the message of a commit whose first parent is what the files were before.
pub(super) const KEPT_SUBJECT: &str = "Kept by omo: ";

/// Begins a line of that message with the modes, by path, of the files that not everybody may read: git has no such mode.
pub(super) const MODES: &str = "Modes: ";

fn private_mode(entry: &ManifestEntry) -> Option<u32> {
    let ManifestEntry::File { mode, .. } = entry else {
        return None;
    };
    (mode & 0o044 != 0o044).then_some(mode & 0o777)
}

impl Snapshots<'_> {
    /// Keeps files as they are now, byte for byte, in a commit on the one that is checked out; its reference is
    /// [`WorkerName::keep_reference`]. `paths` are from the project's top, each with everything below it; one that is gone
    /// is kept as deleted. The work tree and the index stay as they are. Under a name that is taken, what it named before
    /// stays reachable.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or the repository cannot be written.
    pub fn keep_paths(&self, name: &WorkerName, paths: &[&str]) -> Result<KeptWork, RestoreError> {
        let it = Snapshotter::open(self)?;
        it.keep_files(name, &it.tree_paths_of(paths)?)
    }

    /// Keeps what is staged of some files and is neither in the work tree nor in the commit that is checked out; `None`
    /// where that is nothing.
    ///
    /// # Errors
    ///
    /// As [`Self::keep_paths`].
    pub fn keep_staged(
        &self,
        name: &WorkerName,
        paths: &[&str],
    ) -> Result<Option<KeptWork>, RestoreError> {
        let it = Snapshotter::open(self)?;
        let is_otherwise =
            |entry: &StatusEntry| matches!(entry.letters, [b'M' | b'A' | b'T', b'M' | b'D' | b'T']);
        let status = it
            .repository()?
            .status(&[])?
            .into_iter()
            .filter(is_otherwise);
        let paths: BTreeSet<TreePath> = it.tree_paths_of(paths)?;
        let mut names: BTreeSet<TreePath> = status.map(|entry| TreePath(entry.path)).collect();
        names.retain(|name| paths.contains(name) && it.is_covered(name));
        if names.is_empty() {
            return Ok(None);
        }
        let index = read_index(&it.tree, Some(&it.tree.git.join("index")))?;
        let staged: Vec<u8> = names
            .iter()
            .filter_map(|name| index.get(name))
            .flatten()
            .copied()
            .collect();
        it.keep(
            name,
            &it.read_files(&names)?.entries_at(&names),
            &PathEntries::new(),
            &staged,
        )
        .map(Some)
    }
}

impl Snapshotter<'_> {
    pub(super) fn keep_files(
        &self,
        name: &WorkerName,
        paths: &BTreeSet<TreePath>,
    ) -> Result<KeptWork, RestoreError> {
        // The tag `S` stands before files outside of the sparse set: not there, and not deleted.
        let (sparse, listed): (Vec<_>, Vec<_>) = self
            .list(&["-t", "--cached", "--others"])?
            .into_iter()
            .filter_map(|tagged| {
                tagged
                    .0
                    .split_at_checked(2)
                    .map(|(tag, name)| (tag == b"S ", TreePath(name.to_vec())))
            })
            .partition(|(is_sparse, _)| *is_sparse);
        let sparse: BTreeSet<TreePath> = sparse.into_iter().map(|(_, name)| name).collect();
        let listed = listed.into_iter().map(|(_, name)| name);
        let mut names: BTreeSet<TreePath> = listed
            .filter(|name| paths.iter().any(|path| name.is_at_or_below(&path.0)))
            .chain(paths.iter().cloned())
            .collect();
        names.retain(|name| self.is_covered(name) && !sparse.contains(name));
        self.keep(
            name,
            &PathEntries::new(),
            &self.read_files(&names)?.entries_at(&names),
            &[],
        )
    }

    fn read_files(&self, names: &BTreeSet<TreePath>) -> Result<SnapshotManifest, RestoreError> {
        let mut now = SnapshotManifest::default();
        for name in names {
            self.scan_entry(name.clone(), &mut now, |file| self.store.save_file(file))?;
        }
        Ok(now)
    }

    /// Keeps some files, whose bytes are in the store, with what they were `before`; `staged` are entries of an index.
    pub(super) fn keep(
        &self,
        name: &WorkerName,
        before: &PathEntries<'_>,
        kept: &PathEntries<'_>,
        staged: &[u8],
    ) -> Result<KeptWork, RestoreError> {
        let repository = self.repository()?;
        let index = PrivateIndex::new(&repository, self.store.fresh_index()?);
        let head = repository.commit_of("HEAD")?;
        let head_tree = head
            .as_deref()
            .map_or_else(|| repository.empty_tree(), |head| repository.tree_of(head))?;
        let tree_with =
            |tree: &str, input: &[u8]| index.tree_with(tree, &["--replace", "--index-info"], input);
        let tree_before = tree_with(&head_tree, &self.index_input(&repository, before)?)?;
        let tree = tree_with(&tree_before, &self.index_input(&repository, kept)?)?;
        let staged = tree_with(&tree, staged)?;
        self.store.fresh_index()?;
        let private: BTreeMap<&TreePath, u32> = kept
            .iter()
            .filter_map(|(name, entry)| Some((*name, private_mode((*entry)?)?)))
            .collect();
        let modes = serde_json::to_string(&private)
            .ok()
            .filter(|_| !private.is_empty());
        let modes = modes
            .map(|modes| format!("\n\n{MODES}{modes}"))
            .unwrap_or_default();
        let message = format!("{KEPT_SUBJECT}{}{modes}", name.worker());
        let staged = Some(staged.as_str()).filter(|staged| *staged != tree);
        let work = WorkToKeep {
            name,
            tree: &tree,
            staged,
            message: &message,
        };
        let has_parents = |known: &str| {
            Ok(repository
                .tree_of(&format!("{known}^"))
                .is_ok_and(|it| it == tree_before))
        };
        let parents = || {
            let head: Vec<String> = head.clone().into_iter().collect();
            if tree_before == head_tree && !head.is_empty() {
                return Ok(head);
            }
            Ok(vec![make_commit(
                &repository,
                &tree_before,
                &head,
                "Before the change that is kept",
            )?])
        };
        Ok(KeptWork {
            commit: work.keep(&repository, has_parents, parents)?,
            reference: name.keep_reference(),
            name: name.worker().to_owned(),
            is_in_branch: false,
        })
    }

    /// Entries as `git update-index --index-info` takes them, after their content is in the repository.
    fn index_input(
        &self,
        repository: &GitRepository,
        entries: &PathEntries<'_>,
    ) -> Result<Vec<u8>, RestoreError> {
        let zeros = "0".repeat(repository.empty_tree()?.len());
        // First all go: a folder may stand where a file was.
        let mut input: Vec<u8> = entries
            .keys()
            .flat_map(|name| [b"0 ", zeros.as_bytes(), b"\t", &name.0, b"\0"].concat())
            .collect();
        let mut files = Vec::new();
        for (name, entry) in entries {
            match entry {
                Some(ManifestEntry::File { mode, content }) => files.push((*name, *mode, content)),
                Some(ManifestEntry::Link { target }) => {
                    let entry = format!("{LINK} {}\t", repository.write_blob(&target.0)?);
                    input.extend([entry.as_bytes(), &name.0, b"\0"].concat());
                }
                // No file and no link: in no commit.
                Some(ManifestEntry::Other) | None => {}
            }
        }
        let mut paths = Vec::new();
        for (name, _, content) in &files {
            if !self.store.contains(content) {
                return Err(RestoreError::SnapshotGone(self.project_path(name)));
            }
            paths.push(self.store.path(content));
        }
        for ((name, mode, _), object) in files
            .into_iter()
            .zip(repository.hash_files(&["-w"], &paths)?)
        {
            let mode = if mode & 0o111 == 0 {
                REGULAR
            } else {
                EXECUTABLE
            };
            input.extend([format!("{mode} {object}\t").as_bytes(), &name.0, b"\0"].concat());
        }
        Ok(input)
    }
}
