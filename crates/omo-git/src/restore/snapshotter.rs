//! Takes and restores snapshots of a work tree, whose files git lists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;

use omo_state::git_worktree::GitWorktree;

use super::index::{self, IndexEntries};
use super::manifest::{
    ManifestEntry, RestoreSelection, RestoreSteps, SnapshotManifest, restore_steps,
};
use super::store::{SnapshotStore, digest_of};
use super::{OwnProjectPaths, RestoreError, RestoreResult, RestoreScope};
use crate::changes::is_omo_path;
use crate::git_command::{answer, git_in, tree_variables};
use crate::git_output::tree_paths;
use crate::platform::{FolderEntry, path_of};
use crate::repository::GitRepository;
use crate::restore::worktree_files::{TEMPORARY, WorktreeFiles};
use crate::snapshots::Snapshots;
use crate::tree_path::{TreePath, is_safe, relative_path, tree_path};

/// Maximum rounds of a restore: a restored `.gitignore` may reveal new files.
const ROUNDS: usize = 4;

/// Work tree of a project with the store of its snapshots.
pub(super) struct Snapshotter<'a> {
    place: &'a Snapshots<'a>,
    pub(super) tree: GitWorktree,
    project: String,
    pub(super) ground: WorktreeFiles,
    pub(super) store: SnapshotStore,
}

impl<'a> Snapshotter<'a> {
    pub(super) fn open(place: &'a Snapshots<'a>) -> Result<Self, RestoreError> {
        let no_work_tree = || RestoreError::NoWorkTree(place.worktree.root().to_owned());
        let (tree, project) = place.worktree.project().ok_or_else(no_work_tree)?;
        let tree = tree.clone();
        let ground = WorktreeFiles::open(&tree.top).map_err(RestoreError::io("open", &tree.top))?;
        let store = SnapshotStore::open(&tree.top, place.state_home, place.run_id)?;
        let snapshotter = Self {
            place,
            tree,
            project,
            ground,
            store,
        };
        if !snapshotter.project.is_empty() && snapshotter.is_ignored()? {
            return Err(no_work_tree());
        }
        Ok(snapshotter)
    }

    pub(super) fn repository(&self) -> Result<GitRepository, RestoreError> {
        GitRepository::of(&self.tree).ok_or_else(|| RestoreError::NoWorkTree(self.tree.top.clone()))
    }

    fn is_ignored(&self) -> Result<bool, RestoreError> {
        let path = format!("{}/\0", self.project);
        let asked = answer(
            &self.tree.top,
            &["check-ignore", "-z", "--stdin"],
            &tree_variables(&self.tree),
            path.as_bytes(),
        );
        asked
            .map(|(status, _)| status == 0)
            .ok_or(RestoreError::Git("check-ignore"))
    }

    pub(super) fn list(&self, options: &[&str]) -> Result<Vec<TreePath>, RestoreError> {
        let arguments = [["ls-files", "-z", "--exclude-standard"].as_slice(), options].concat();
        let listed = git_in(&self.tree, &arguments, &[]).ok_or(RestoreError::Git("ls-files"))?;
        Ok(tree_paths(&listed).collect())
    }

    /// List of the work tree's files without its index, and leftovers of a killed process.
    pub(super) fn scan(
        &self,
        content: impl Fn(File) -> Result<String, RestoreError>,
    ) -> Result<(SnapshotManifest, Vec<TreePath>), RestoreError> {
        let mut manifest = SnapshotManifest {
            head: self.tree.head(),
            ..SnapshotManifest::default()
        };
        let mut left = Vec::new();
        manifest
            .ignored
            .extend(self.list(&["--others", "--ignored", "--directory"])?);
        for name in self.list(&["--cached", "--others"])? {
            if let Some(folder) = name.0.strip_suffix(b"/") {
                manifest.nested.insert(TreePath(folder.to_vec()));
            } else if name.0.rsplit(|byte| *byte == b'/').next() == Some(TEMPORARY.as_bytes()) {
                left.push(name);
            } else if self.is_covered(&name) {
                self.scan_entry(name, &mut manifest, &content)?;
            }
        }
        Ok((manifest, left))
    }

    pub(super) fn is_covered(&self, name: &TreePath) -> bool {
        is_safe(name) && !is_omo_path(&self.project_path(name), self.place.own)
    }

    pub(super) fn scan_entry(
        &self,
        name: TreePath,
        manifest: &mut SnapshotManifest,
        content: impl Fn(File) -> Result<String, RestoreError>,
    ) -> Result<(), RestoreError> {
        let failed = self.read_error(&name);
        let entry = match self.ground.look(&name).map_err(&failed)? {
            FolderEntry::File { mode } => match self.ground.read(&name) {
                // Another process works here, and has just removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                file => ManifestEntry::File {
                    mode,
                    content: content(file.map_err(&failed)?)?,
                },
            },
            FolderEntry::Link(target) => ManifestEntry::Link {
                target: TreePath(target.as_encoded_bytes().to_vec()),
            },
            FolderEntry::Folder if self.ground.is_repository(&name).map_err(&failed)? => {
                manifest.nested.insert(name);
                return Ok(());
            }
            FolderEntry::Nothing | FolderEntry::Folder => return Ok(()),
            FolderEntry::Other => ManifestEntry::Other,
        };
        manifest.entries.insert(name, entry);
        Ok(())
    }

    pub(super) fn read_error(&self, name: &TreePath) -> impl Fn(io::Error) -> RestoreError + use<> {
        RestoreError::io("read", &self.tree.top.join(path_of(&name.0)))
    }

    pub(super) fn with_selection<T>(
        &self,
        scope: RestoreScope<'_>,
        act: impl FnOnce(RestoreSelection<'_>) -> Result<T, RestoreError>,
    ) -> Result<T, RestoreError> {
        match scope {
            RestoreScope::All => act(RestoreSelection::All),
            RestoreScope::Until(after) => act(RestoreSelection::Until(
                &self.store.load_manifest(&after.id)?,
                None,
            )),
            RestoreScope::OwnUntil(after, OwnProjectPaths(is_own)) => act(RestoreSelection::Until(
                &self.store.load_manifest(&after.id)?,
                Some(&|name: &TreePath| is_own(&self.project_path(name))),
            )),
            RestoreScope::Paths(paths) => act(RestoreSelection::Paths(
                &self.tree_paths_of::<Vec<_>>(paths)?,
            )),
        }
    }

    pub(super) fn restore_to(
        &self,
        before: &SnapshotManifest,
        scope: RestoreSelection<'_>,
    ) -> Result<RestoreResult, RestoreError> {
        let now = index::open_index(&self.tree)?.map(digest_of).transpose();
        let now = now.map_err(RestoreError::io("read", &self.tree.git.join("index")))?;
        let as_a_whole = match scope {
            RestoreSelection::All => true,
            RestoreSelection::Until(after, own) => own.is_none() && after.index == now,
            RestoreSelection::Paths(_) => false,
        };
        // First: while another git is at work nothing is put back.
        let lock = match scope {
            RestoreSelection::Paths(_) => None,
            RestoreSelection::All | RestoreSelection::Until(..) => {
                Some(index::lock_index(&self.tree)?)
            }
        };
        let mut end = RestoreResult {
            head_moved: before.head != self.tree.head(),
            ..RestoreResult::default()
        };
        self.restore_files(before, scope, &mut end)?;
        match lock {
            Some(_) if as_a_whole && now != before.index => {
                index::restore_index(&self.tree, &self.store, before.index.as_deref())?;
                end.index_put_back = true;
            }
            Some(_) if as_a_whole => {}
            lock => {
                // git takes its own lock for some paths.
                drop(lock);
                end.index_put_back = self.restore_index_entries(before, scope)?;
            }
        }
        Ok(end)
    }

    fn restore_files(
        &self,
        before: &SnapshotManifest,
        scope: RestoreSelection<'_>,
        end: &mut RestoreResult,
    ) -> Result<(), RestoreError> {
        let mut done = BTreeSet::new();
        for _ in 0..ROUNDS {
            let failed = RestoreError::io("read", &self.tree.top);
            let (now, left) = self.scan(|file| digest_of(file).map_err(&failed))?;
            for name in &left {
                // A remaining one is in the way of nothing.
                let _ = self.ground.remove(name);
            }
            let mut steps = restore_steps(before, &now, scope);
            self.require_contents(before, &steps)?;
            [end.left_alone, end.of_others, end.uncovered] =
                [&steps.left_alone, &steps.of_others, &steps.uncovered]
                    .map(|names| names.iter().map(|name| self.project_path(name)).collect());
            steps.remove.retain(|name| !done.contains(name));
            steps.put.retain(|name| !done.contains(name));
            if steps.remove.is_empty() && steps.put.is_empty() {
                break;
            }
            // Removals first, to make room: a folder may stand where a file was.
            for name in &steps.remove {
                self.record_result(
                    name,
                    self.ground.remove(name),
                    &mut end.removed,
                    &mut end.failed,
                );
            }
            for name in &steps.put {
                let result = before
                    .entries
                    .get(name)
                    .map_or(Ok(()), |entry| self.write_entry(name, entry));
                self.record_result(name, result, &mut end.put_back, &mut end.failed);
            }
            done.extend(steps.remove);
            done.extend(steps.put);
        }
        Ok(())
    }

    fn record_result(
        &self,
        name: &TreePath,
        result: io::Result<()>,
        list: &mut Vec<String>,
        failed: &mut BTreeMap<String, String>,
    ) {
        match result {
            Ok(()) => list.push(self.project_path(name)),
            Err(error) => _ = failed.insert(self.project_path(name), error.to_string()),
        }
    }

    fn write_entry(&self, name: &TreePath, entry: &ManifestEntry) -> io::Result<()> {
        match entry {
            ManifestEntry::File { mode, content } => self
                .ground
                .write_file(name, *mode, |file| self.store.write_file(content, file)),
            ManifestEntry::Link { target } => {
                self.ground.write_link(name, path_of(&target.0).as_os_str())
            }
            ManifestEntry::Other => Ok(()),
        }
    }

    fn require_contents(
        &self,
        before: &SnapshotManifest,
        steps: &RestoreSteps,
    ) -> Result<(), RestoreError> {
        for name in &steps.put {
            if let Some(ManifestEntry::File { content, .. }) = before.entries.get(name)
                && !self.store.contains(content)
            {
                return Err(RestoreError::SnapshotGone(self.project_path(name)));
            }
        }
        match &before.index {
            Some(content) if !self.store.contains(content) => {
                Err(RestoreError::SnapshotGone("the index".to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn restore_index_entries(
        &self,
        before: &SnapshotManifest,
        scope: RestoreSelection<'_>,
    ) -> Result<bool, RestoreError> {
        let kept_index = self.kept_index(before)?;
        let then = match scope {
            RestoreSelection::Until(after, _) => Some(self.kept_index(after)?),
            RestoreSelection::All | RestoreSelection::Paths(_) => None,
        };
        let is = index::open_index(&self.tree)?.map(|_| self.tree.git.join("index"));
        let is = index::read_index(&self.tree, is.as_deref())?;
        let names = index::differing_paths(&kept_index, then.as_ref(), &is, scope);
        index::restore_index_paths(&self.tree, &kept_index, &is, &names)?;
        Ok(!names.is_empty())
    }

    /// Index entries to undo, in the form of `git update-index --index-info`, without conflicts.
    pub(super) fn staged_since(
        &self,
        before: &SnapshotManifest,
        after: &SnapshotManifest,
        scope: RestoreSelection<'_>,
    ) -> Result<Vec<u8>, RestoreError> {
        let (was, then) = (self.kept_index(before)?, self.kept_index(after)?);
        let names = index::differing_paths(&was, Some(&then), &then, scope);
        let entries = names.iter().filter_map(|name| then.get(name));
        let without_conflicts = entries.filter(|entry| {
            entry
                .split_last()
                .is_some_and(|(_, rest)| !rest.contains(&0))
        });
        Ok(without_conflicts.flatten().copied().collect())
    }

    fn kept_index(&self, manifest: &SnapshotManifest) -> Result<IndexEntries, RestoreError> {
        let file = manifest
            .index
            .as_ref()
            .map(|content| self.store.path(content));
        index::read_index(&self.tree, file.as_deref())
    }

    pub(super) fn project_path(&self, name: &TreePath) -> String {
        relative_path(&self.project, &String::from_utf8_lossy(&name.0))
    }

    pub(super) fn tree_paths_of<C: FromIterator<TreePath>>(
        &self,
        paths: &[&str],
    ) -> Result<C, RestoreError> {
        paths
            .iter()
            .map(|path| {
                tree_path(&self.project, path)
                    .ok_or_else(|| RestoreError::Outside((*path).to_owned()))
            })
            .collect()
    }
}
