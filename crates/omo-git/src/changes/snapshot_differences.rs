//! Differences of tasks without a commit, as git prints them.

use std::collections::BTreeMap;

use super::{TreeSnapshot, scratch};
use crate::commit_difference::{PATCH_ARGUMENTS, split_by_header, split_patches};
use crate::git_command::GitCalls;
use crate::repository::is_object_name;
use crate::snapshots::Snapshots;
use crate::tree_path::relative_path;

/// Two `TreeSnapshot`s to compare.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotPair<'a> {
    /// The work tree before.
    pub from: &'a TreeSnapshot,
    /// The work tree after.
    pub to: &'a TreeSnapshot,
    /// The files that are shown, by their paths from the project's top: others may have worked there meanwhile.
    pub files: &'a [String],
}

impl SnapshotPair<'_> {
    fn header(&self) -> String {
        format!("{} {}", self.from.tree, self.to.tree)
    }
}

impl Snapshots<'_> {
    /// The difference of each pair, in their order; `None` where git cannot say, because the run's snapshots are gone for
    /// example. A file whose name git has to quote is left out.
    pub fn differences(&self, pairs: &[SnapshotPair<'_>]) -> Option<Vec<String>> {
        let (work_tree, project) = self.worktree.project()?;
        let is_header = |line: &str| {
            line.split_once(' ')
                .is_some_and(|(one, other)| is_object_name(one) && is_object_name(other))
        };
        let asked: String = pairs
            .iter()
            .map(SnapshotPair::header)
            .filter(|pair| is_header(pair))
            .map(|pair| pair + "\n")
            .collect();
        let calls = GitCalls::default();
        let said = scratch(work_tree, self.state_home, &calls, self.run_id)?
            .git(&PATCH_ARGUMENTS, asked.as_bytes())?;
        let known: BTreeMap<String, String> =
            split_by_header(&String::from_utf8_lossy(&said), is_header);
        let shown = |pair: &SnapshotPair<'_>| {
            let whole = known
                .get(&pair.header())
                .map(String::as_str)
                .unwrap_or_default();
            let is_shown = |part: &&str| {
                path_of_patch(part)
                    .is_some_and(|path| pair.files.contains(&relative_path(&project, path)))
            };
            split_patches(whole.as_bytes())
                .into_iter()
                .filter_map(|part| str::from_utf8(part).ok())
                .filter(is_shown)
                .collect()
        };
        Some(pairs.iter().map(shown).collect())
    }
}

/// File of a part of a difference; `None` for a quoted path.
fn path_of_patch(part: &str) -> Option<&str> {
    let names = part.lines().next()?.strip_prefix("diff --git a/")?;
    // Without renames the two names are the same one.
    let path = names.get(..names.len().checked_sub(" b/".len())? / 2)?;
    names.ends_with(path).then_some(path)
}
