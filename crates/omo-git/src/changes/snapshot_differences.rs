//! What tasks without a commit changed, as git prints a difference.

use std::collections::BTreeMap;

use super::{TreeSnapshot, scratch};
use crate::commit_difference::{PATCH_ARGUMENTS, split_by_header};
use crate::git_command::GitCalls;
use crate::repository::is_object_name;
use crate::snapshots::Snapshots;
use crate::tree_path::relative_path;

/// What is asked of two snapshots.
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
        let is_header =
            |line: &str| line.split_once(' ').is_some_and(|(one, other)| is_object_name(one) && is_object_name(other));
        let asked: String =
            pairs.iter().map(SnapshotPair::header).filter(|pair| is_header(pair)).map(|pair| pair + "\n").collect();
        let calls = GitCalls::default();
        let said = scratch(work_tree, self.state_home, &calls, self.run_id)?.git(&PATCH_ARGUMENTS, asked.as_bytes())?;
        let known: BTreeMap<String, String> = split_by_header(&String::from_utf8_lossy(&said), is_header);
        let shown = |pair: &SnapshotPair<'_>| {
            let whole = known.get(&pair.header()).map(String::as_str).unwrap_or_default();
            files_of_patch(whole)
                .filter(|(path, _)| pair.files.contains(&relative_path(&project, path)))
                .map(|(_, part)| part)
                .collect()
        };
        Some(pairs.iter().map(shown).collect())
    }
}

/// The parts of a difference, each with the path of its file. No line of a file's own begins like a head.
fn files_of_patch(whole: &str) -> impl Iterator<Item = (&str, &str)> {
    const HEAD: &str = "diff --git a/";
    let mut begins: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in whole.split_inclusive('\n') {
        if line.starts_with(HEAD) {
            begins.push(at);
        }
        at += line.len();
    }
    let ends = begins.iter().skip(1).copied().chain([at]).collect::<Vec<_>>();
    begins.into_iter().zip(ends).filter_map(move |(from, to)| {
        let part = whole.get(from..to)?;
        // Without renames the two names are the same one.
        let names = part.lines().next()?.strip_prefix(HEAD)?;
        let path = names.get(..names.len().checked_sub(" b/".len())? / 2)?;
        names.ends_with(path).then_some((path, part))
    })
}
