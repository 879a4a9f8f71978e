//! Changes of a task of a plan: the work tree before, the work tree after, and the paths that
//! differ.
//!
//! A snapshot is a tree of git's, as the id of a work tree is (`tree`), and outlasts the process:
//! another may ask for the difference later. It lies in the user's own state folder, in a folder
//! for each run, and never in the repository.
//!
//! Files that git ignores are not seen, nor is a change that was set back between two snapshots. A
//! change inside a submodule is seen as a change of the submodule.

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

/// A work tree at one moment, as a tree of git (`git write-tree`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TreeSnapshot {
    tree: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    submodules: BTreeMap<String, String>,
}

/// Kind of a `PathChange`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PathChangeKind {
    /// A new file.
    Added,
    /// Another content, or another kind: a file that may be run, a link.
    Modified,
    /// A removed file.
    Deleted,
}

/// A path that differs between two `TreeSnapshot`s.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PathChange {
    /// The path from the project's top, with `/` between its parts; what lies beside the project in
    /// the same repository begins with `../`. Bytes that are no UTF-8 are shown as `U+FFFD`.
    pub path: String,
    /// Kind of the change.
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
    /// Takes the present content of the work tree that the project lies in, as git would commit it; `None` where it lies in
    /// none, or git cannot say.
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

    /// Differences between two snapshots, sorted by path; `None` where that cannot be told, because
    /// the run's snapshots are gone for example. A renamed file is a deleted and an added one. Left
    /// out are omo's own files.
    pub fn changed_paths(&self, from: &TreeSnapshot, to: &TreeSnapshot) -> Option<Vec<PathChange>> {
        let differing = [
            "diff-tree",
            "-r",
            "-z",
            "--no-renames",
            "--raw",
            "--ignore-submodules=none",
        ];
        let found = parse_changes(&self.diff(&differing, [from, to])?)?.into_iter();
        let mut found: Vec<PathChange> = found.map(PathChange::from).collect();
        for (path, inner) in &from.submodules {
            let is_other = to.submodules.get(path).is_some_and(|now| now != inner);
            if is_other && !found.iter().any(|change| change.path == *path) {
                found.push(PathChange {
                    path: path.clone(),
                    kind: PathChangeKind::Modified,
                });
            }
        }
        let (_, project) = self.worktree.project()?;
        for change in &mut found {
            change.path = relative_path(&project, &change.path);
        }
        found.retain(|change| !is_omo_path(&change.path, self.own));
        found.sort();
        Some(found)
    }

    /// Content of a file at one moment, by its path from the project's top; `None` for no file, or
    /// where that cannot be told.
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

    /// Output of `git diff` between two snapshots.
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

/// git's name for the tree of a snapshot, and the folder that has what the repository's own objects lack of it; `None`
/// where it is gone.
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

/// A path of omo's own, or one of those that it writes for a run.
pub fn is_omo_path(path: &str, own: &[&str]) -> bool {
    own.iter()
        .chain([&OWN])
        .any(|own| is_at_or_below(path, own))
}

/// The digest of a file's content, to see whether it is touched later; `None` where there is no regular
/// file, or one that lies outside of the project, behind a link for example.
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

fn is_at_or_below(path: &str, own: &str) -> bool {
    let own = own.trim_end_matches('/');
    path.strip_prefix(own)
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
