//! Saves files byte for byte as a commit below `refs/omo/keep`, without any filter.
//!
//! ```text
//! HEAD <- files before <- files as kept   refs/omo/keep/RUN/NAME
//! ```
//!
//! The last commit is the change alone, as `git show` prints it. That of the files before is left out where `HEAD`
//! holds them. Other staged content is a last parent, which `bring_back` applies where nothing else was kept.

use std::collections::{BTreeMap, BTreeSet};

use super::RestoreError;
use super::index::read_index;
use super::manifest::{ManifestEntry, PathEntries, SnapshotManifest};
use super::snapshotter::Snapshotter;
use crate::folder_path::{EXECUTABLE, LINK, REGULAR};
use crate::kept_work::{KeptWork, WorkToKeep, make_commit};
use crate::private_index::PrivateIndex;
use crate::repository::GitRepository;
use crate::snapshots::Snapshots;
use crate::tree_path::TreePath;
use crate::worktree::WorkerName;

/// Subject of a commit whose first parent holds the files as they were before.
pub(super) const KEPT_SUBJECT: &str = "Kept by omo: ";

/// Start of a line with modes of files that not everybody may read: git has no such mode.
pub(super) const MODES: &str = "Modes: ";

fn private_mode(entry: &ManifestEntry) -> Option<u32> {
    let ManifestEntry::File { mode, .. } = entry else {
        return None;
    };
    (mode & 0o044 != 0o044).then_some(mode & 0o777)
}

impl Snapshots<'_> {
    /// Keeps files as they are now, from the project's top and with everything below, in a commit on `HEAD`
    /// ([`WorkerName::keep_reference`]); a missing path is kept as deleted. Work tree and index stay. What a used name
    /// kept before stays reachable.
    pub fn keep_paths(&self, name: &WorkerName, paths: &[&str]) -> Result<KeptWork, RestoreError> {
        let snapshotter = Snapshotter::open(self)?;
        snapshotter.keep_files(name, &snapshotter.tree_paths_of(paths)?)
    }

    /// Saves staged content that is neither in the work tree nor in `HEAD`; `None` for nothing.
    pub fn keep_staged(
        &self,
        name: &WorkerName,
        paths: &[&str],
    ) -> Result<Option<KeptWork>, RestoreError> {
        let snapshotter = Snapshotter::open(self)?;
        let status = snapshotter
            .repository()?
            .status(&[])?
            .into_iter()
            .filter(|entry| matches!(entry.letters, [b'M' | b'A' | b'T', b'M' | b'D' | b'T']));
        let paths: BTreeSet<TreePath> = snapshotter.tree_paths_of(paths)?;
        let mut names: BTreeSet<TreePath> = status.map(|entry| TreePath(entry.path)).collect();
        names.retain(|name| paths.contains(name) && snapshotter.is_covered(name));
        if names.is_empty() {
            return Ok(None);
        }
        let index = read_index(&snapshotter.tree, Some(&snapshotter.tree.git.join("index")))?;
        let staged: Vec<u8> = names
            .iter()
            .filter_map(|name| index.get(name))
            .flatten()
            .copied()
            .collect();
        snapshotter
            .keep(
                name,
                &snapshotter.read_files(&names)?.entries_at(&names),
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
        // The tag `S` marks files outside of the sparse set: missing, and not deleted.
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

    /// Keeps files, whose bytes are in the store, with their former state; `staged` are entries of an index.
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
        let options = ["--replace", "--index-info"];
        let tree_before = index.tree_with(
            &head_tree,
            &options,
            &self.index_input(&repository, before)?,
        )?;
        let tree = index.tree_with(
            &tree_before,
            &options,
            &self.index_input(&repository, kept)?,
        )?;
        let staged = index.tree_with(&tree, &options, staged)?;
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
        let commit = work.keep(
            &repository,
            |commit| {
                let parent = repository.tree_of(&format!("{commit}^"));
                Ok(parent.is_ok_and(|tree| tree == tree_before))
            },
            || {
                let head: Vec<String> = head.iter().cloned().collect();
                if tree_before == head_tree && !head.is_empty() {
                    return Ok(head);
                }
                let message = "Before the change that is kept";
                make_commit(&repository, &tree_before, &head, message).map(|commit| vec![commit])
            },
        )?;
        Ok(KeptWork {
            commit,
            reference: name.keep_reference(),
            name: name.worker().to_owned(),
            is_in_branch: false,
        })
    }

    /// Input of `git update-index --index-info`, with the content written to the repository.
    fn index_input(
        &self,
        repository: &GitRepository,
        entries: &PathEntries<'_>,
    ) -> Result<Vec<u8>, RestoreError> {
        let zeros = "0".repeat(repository.empty_tree()?.len());
        // Removals first: a folder may stand where a file was.
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
                // Neither file nor link: in no commit.
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
