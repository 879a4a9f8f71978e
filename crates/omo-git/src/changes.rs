//! Changes of a plan's task: two snapshots of the work tree, and the paths that differ. Ignored
//! files, edits that were undone in between, and files inside a submodule are not seen.

mod added_lines;
mod snapshot_differences;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use omo_state::files::regular_file;
use omo_state::git_worktree::GitWorktree;
use omo_state::seal::hex_digest_of_reader;
use serde::{Deserialize, Serialize};

use crate::git_command::GitCalls;
use crate::git_output::{ChangedEntry, lossy_text, parse_changes};
use crate::platform::lies_in;
use crate::private_folder::{CHANGES, OMO, run_name};
use crate::repository::is_object_name;
use crate::snapshots::Snapshots;
use crate::tree::{Look, ScratchTree, id_of_submodule};
use crate::tree_path::{relative_path, tree_path};

pub use added_lines::{AddedLine, AddedLines};
pub use snapshot_differences::SnapshotPair;

const OWN: &str = ".sisyphus/cc-omo";

/// A tree of git (`git write-tree`) with the ids of submodules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TreeSnapshot {
    tree: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    submodules: BTreeMap<String, String>,
}

/// Kind of a change between two snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PathChangeKind {
    Added,
    /// Another content, or another kind, such as an executable file or a link.
    Modified,
    Deleted,
}

/// A path that differs between two `TreeSnapshot`s.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PathChange {
    /// Path from the project's top, or `../` beside it; a byte that is no UTF-8 is `U+FFFD`.
    pub path: String,
    pub kind: PathChangeKind,
}

impl From<ChangedEntry> for PathChange {
    fn from(
        ChangedEntry {
            path,
            before,
            after,
        }: ChangedEntry,
    ) -> Self {
        let kind = match (before, after) {
            (None, _) => PathChangeKind::Added,
            (_, None) => PathChangeKind::Deleted,
            _ => PathChangeKind::Modified,
        };
        Self {
            path: lossy_text(&path.0),
            kind,
        }
    }
}

impl Snapshots<'_> {
    /// Present content of the project's work tree as git would commit it; `None` without one, or without an answer of
    /// git.
    pub fn take_tree(&self) -> Option<TreeSnapshot> {
        let (root, work_tree) = (self.worktree.root(), self.worktree.git()?);
        let calls = GitCalls::default();
        let scratch = scratch(work_tree, self.state_home, &calls, self.run_id)?;
        // Ignored by the repository around the project: never seen.
        if root != work_tree.top && scratch.ignores(root)? {
            return None;
        }
        let kept = scratch.read_state()?;
        let mut submodules = BTreeMap::<String, String>::new();
        for path in &kept.submodules {
            let inner = id_of_submodule(work_tree, path, self.state_home, &calls);
            // Two paths that are no UTF-8 may look the same; then both count.
            submodules
                .entry(path.to_string_lossy().into_owned())
                .or_default()
                .push_str(&inner);
        }
        Some(TreeSnapshot {
            tree: kept.tree,
            submodules,
        })
    }

    /// Differences without omo's own files, sorted by path; a renamed file is a deleted and an added one. `None` where
    /// the run's snapshots are gone, for example.
    pub fn changed_paths(&self, from: &TreeSnapshot, to: &TreeSnapshot) -> Option<Vec<PathChange>> {
        let differing = [
            "diff-tree",
            "-r",
            "-z",
            "--no-renames",
            "--raw",
            "--ignore-submodules=none",
        ];
        let entries = parse_changes(&self.diff(&differing, [from, to])?)?.into_iter();
        let mut changes: Vec<PathChange> = entries.map(PathChange::from).collect();
        for (path, inner) in &from.submodules {
            let is_other = to.submodules.get(path).is_some_and(|now| now != inner);
            if is_other && !changes.iter().any(|change| change.path == *path) {
                changes.push(PathChange {
                    path: path.clone(),
                    kind: PathChangeKind::Modified,
                });
            }
        }
        let (_, project) = self.worktree.project()?;
        for change in &mut changes {
            change.path = relative_path(&project, &change.path);
        }
        changes.retain(|change| !is_omo_path(&change.path, self.own));
        changes.sort();
        Some(changes)
    }

    /// Content of a file, by its path from the project's top; `None` without it, or without an answer.
    pub fn file(&self, snapshot: &TreeSnapshot, path: &str) -> Option<Vec<u8>> {
        let (work_tree, project) = self.worktree.project()?;
        let name = tree_path(&project, path)?;
        let place = format!("{}:{}", snapshot.tree, std::str::from_utf8(&name.0).ok()?);
        let calls = GitCalls::default();
        let scratch = scratch(work_tree, self.state_home, &calls, self.run_id);
        scratch
            .filter(|_| is_object_name(&snapshot.tree))?
            .git(&["cat-file", "blob", &place], &[])
    }

    fn diff(&self, arguments: &[&str], [from, to]: [&TreeSnapshot; 2]) -> Option<Vec<u8>> {
        if !is_object_name(&from.tree) || !is_object_name(&to.tree) {
            return None;
        }
        let arguments = [arguments, &[&from.tree, &to.tree]].concat();
        scratch(
            self.worktree.git()?,
            self.state_home,
            &GitCalls::default(),
            self.run_id,
        )?
        .git(&arguments, &[])
    }
}

/// Tree id of a snapshot, and the folder of objects that the repository lacks; `None` for one that is gone.
pub(crate) fn snapshot_objects(
    work_tree: &GitWorktree,
    state_home: &Path,
    run_id: &str,
    snapshot: &TreeSnapshot,
) -> Option<(String, PathBuf)> {
    let calls = GitCalls::default();
    let scratch = scratch(work_tree, state_home, &calls, run_id)
        .filter(|_| is_object_name(&snapshot.tree))?;
    let listed = scratch.git(&["ls-tree", "--name-only", "-z", &snapshot.tree], &[]);
    listed.map(|_| (snapshot.tree.clone(), scratch.objects_folder()))
}

/// `true` for a path that omo writes; `own_paths` are further ones of a run.
pub fn is_omo_path(path: &str, own_paths: &[&str]) -> bool {
    own_paths
        .iter()
        .chain([&OWN])
        .any(|own_path| is_at_or_below(path, own_path))
}

/// Digest of a regular file in the project; `None` for any other path, such as one behind a link.
pub fn file_digest(root: &Path, path: &str) -> Option<String> {
    let path = Path::new(path);
    if !path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    {
        return None;
    }
    let (root, file) = (
        root.canonicalize().ok()?,
        root.join(path).canonicalize().ok()?,
    );
    hex_digest_of_reader(
        regular_file::open(&file)
            .ok()?
            .filter(|_| lies_in(&file, &root))?,
        u64::MAX,
    )
}

fn scratch<'a>(
    work_tree: &'a GitWorktree,
    state_home: &Path,
    calls: &'a GitCalls,
    run_id: &str,
) -> Option<ScratchTree<'a>> {
    ScratchTree::open(
        work_tree,
        state_home,
        calls,
        &[OMO, CHANGES, &run_name(run_id)],
        Look::Lasting,
    )
}

fn is_at_or_below(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_our_own_is_so_with_all_that_lies_below() {
        for (path, own, expected) in [
            (".sisyphus/cc-omo", OWN, true),
            (".sisyphus/cc-omo/state.json", OWN, true),
            (".sisyphus/cc-omo2/x", OWN, false),
            ("report.md", "report.md", true),
            ("docs/report.md", "docs/", true),
            ("report.md.bak", "report.md", false),
        ] {
            assert_eq!(is_at_or_below(path, own), expected, "{path}");
        }
    }
}
