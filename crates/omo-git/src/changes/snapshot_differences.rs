//! Patches between snapshots of tasks that have no commit, as `git diff-tree` prints them.

use std::collections::BTreeMap;

use super::{TreeSnapshot, scratch};
use crate::commit_difference::{PATCH_ARGUMENTS, split_by_header, split_patches};
use crate::git_command::GitCalls;
use crate::repository::is_object_name;
use crate::snapshots::Snapshots;
use crate::tree_path::relative_path;

/// Two snapshots of a task to compare, and the files to show.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotPair<'a> {
    pub from: &'a TreeSnapshot,
    pub to: &'a TreeSnapshot,
    /// Shown paths, from the project's top: others may have worked elsewhere meanwhile.
    pub files: &'a [String],
}

impl SnapshotPair<'_> {
    fn header(&self) -> String {
        format!("{} {}", self.from.tree, self.to.tree)
    }
}

impl Snapshots<'_> {
    /// Patch of each pair, without files whose names git quotes; `None` where a snapshot is gone,
    /// for example.
    pub fn differences(&self, pairs: &[SnapshotPair<'_>]) -> Option<Vec<String>> {
        let (work_tree, project) = self.worktree.project()?;
        let input: String = pairs
            .iter()
            .map(SnapshotPair::header)
            .filter(|pair| is_header(pair))
            .map(|pair| pair + "\n")
            .collect();
        let calls = GitCalls::default();
        let output = scratch(work_tree, self.state_home, &calls, self.run_id)?
            .git(&PATCH_ARGUMENTS, input.as_bytes())?;
        let differences: BTreeMap<String, String> =
            split_by_header(&String::from_utf8_lossy(&output), is_header);
        let shown_parts = pairs.iter().map(|pair| {
            let patch = differences.get(&pair.header()).map(String::as_str);
            split_patches(patch.unwrap_or_default().as_bytes())
                .into_iter()
                .filter_map(|part| str::from_utf8(part).ok())
                .filter(|part| {
                    path_of_patch(part)
                        .is_some_and(|path| pair.files.contains(&relative_path(&project, path)))
                })
                .collect()
        });
        Some(shown_parts.collect())
    }
}

/// Two tree ids.
fn is_header(line: &str) -> bool {
    line.split_once(' ')
        .is_some_and(|(from, to)| is_object_name(from) && is_object_name(to))
}

/// File of a part of a difference; `None` for a quoted path.
fn path_of_patch(part: &str) -> Option<&str> {
    let names = part.lines().next()?.strip_prefix("diff --git a/")?;
    // Without renames both names are the same.
    let path = names.get(..names.len().checked_sub(" b/".len())? / 2)?;
    names.ends_with(path).then_some(path)
}
