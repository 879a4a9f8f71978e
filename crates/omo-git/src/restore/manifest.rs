//! List of a work tree's files at one moment, and the steps that restore such a list: plain data.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::tree_path::TreePath;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ManifestEntry {
    /// Regular file with its mode and the digest of its bytes.
    File {
        mode: u32,
        content: String,
    },
    Link {
        target: TreePath,
    },
    /// Special file such as a FIFO, which is not kept.
    Other,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SnapshotManifest {
    /// Tracked files, and new ones that git does not ignore.
    pub(crate) entries: BTreeMap<TreePath, ManifestEntry>,
    /// Ignored paths, folders as a whole: never touched.
    pub(crate) ignored: BTreeSet<TreePath>,
    /// Inner repositories: never touched.
    pub(crate) nested: BTreeSet<TreePath>,
    /// Digest of the index file.
    pub(crate) index: Option<String>,
    pub(crate) head: Option<String>,
}

pub(crate) type PathEntries<'a> = BTreeMap<&'a TreePath, Option<&'a ManifestEntry>>;

impl SnapshotManifest {
    pub(crate) fn entries_at<'a>(&'a self, names: &'a BTreeSet<TreePath>) -> PathEntries<'a> {
        names
            .iter()
            .map(|name| (name, self.entries.get(name)))
            .collect()
    }
}

/// Predicate for the caller's own paths.
pub(crate) type OwnPaths<'a> = &'a dyn Fn(&TreePath) -> bool;

/// Differences that a restore undoes.
#[derive(Clone, Copy)]
pub(crate) enum RestoreSelection<'a> {
    All,
    /// Changes up to a later snapshot that still stand; with [`OwnPaths`], those of its paths alone.
    Until(&'a SnapshotManifest, Option<OwnPaths<'a>>),
    /// Changes at or below these paths.
    Paths(&'a [TreePath]),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RestoreSteps {
    /// Paths that did not exist before.
    pub(crate) remove: BTreeSet<TreePath>,
    pub(crate) put: BTreeSet<TreePath>,
    /// Paths that changed again since, and stay.
    pub(crate) left_alone: BTreeSet<TreePath>,
    /// Paths of others, which stay.
    pub(crate) of_others: BTreeSet<TreePath>,
    /// Paths that cannot be restored.
    pub(crate) uncovered: BTreeSet<TreePath>,
}

pub(crate) fn restore_steps(
    before: &SnapshotManifest,
    now: &SnapshotManifest,
    scope: RestoreSelection<'_>,
) -> RestoreSteps {
    let mut steps = RestoreSteps::default();
    let names: BTreeSet<&TreePath> = before.entries.keys().chain(now.entries.keys()).collect();
    for name in names {
        let (was, is) = (before.entries.get(name), now.entries.get(name));
        if was == is {
            continue;
        }
        let goes_into = match (difference_owner(name, (was, is), scope), was) {
            (DifferenceOwner::NotAsked, _) => continue,
            (DifferenceOwner::ChangedAgain, _) => &mut steps.left_alone,
            (DifferenceOwner::Others, _) => &mut steps.of_others,
            (DifferenceOwner::Ours, Some(ManifestEntry::Other)) => &mut steps.uncovered,
            (DifferenceOwner::Ours, Some(_)) => &mut steps.put,
            // It was there, and ignored: a changed `.gitignore` shows it now.
            (DifferenceOwner::Ours, None) if is_within(name, &before.ignored) => {
                &mut steps.uncovered
            }
            (DifferenceOwner::Ours, None) if is_within(name, &before.nested) => {
                &mut steps.uncovered
            }
            (DifferenceOwner::Ours, None) => &mut steps.remove,
        };
        goes_into.insert(name.clone());
    }
    steps
        .uncovered
        .extend(now.nested.difference(&before.nested).cloned());
    steps
}

enum DifferenceOwner {
    Ours,
    /// Own path that changed again since.
    ChangedAgain,
    Others,
    NotAsked,
}

fn difference_owner(
    name: &TreePath,
    (was, is): (Option<&ManifestEntry>, Option<&ManifestEntry>),
    scope: RestoreSelection<'_>,
) -> DifferenceOwner {
    match scope {
        RestoreSelection::All => DifferenceOwner::Ours,
        RestoreSelection::Paths(paths) if paths.iter().any(|path| name.is_at_or_below(&path.0)) => {
            DifferenceOwner::Ours
        }
        RestoreSelection::Paths(_) => DifferenceOwner::NotAsked,
        RestoreSelection::Until(after, own) => match after.entries.get(name) {
            then if then == was => DifferenceOwner::NotAsked,
            _ if own.is_some_and(|is_own| !is_own(name)) => DifferenceOwner::Others,
            then if then == is => DifferenceOwner::Ours,
            _ => DifferenceOwner::ChangedAgain,
        },
    }
}

fn is_within(name: &TreePath, folders: &BTreeSet<TreePath>) -> bool {
    folders.iter().any(|folder| name.is_at_or_below(&folder.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> TreePath {
        TreePath(text.as_bytes().to_vec())
    }

    /// `path=content`, with a space between them.
    fn holding(files: &str) -> SnapshotManifest {
        let entry = |file: &str| {
            let (path, content) = file.split_once('=').unwrap();
            (
                name(path),
                ManifestEntry::File {
                    mode: 0o644,
                    content: content.to_owned(),
                },
            )
        };
        SnapshotManifest {
            entries: files.split_whitespace().map(entry).collect(),
            ..SnapshotManifest::default()
        }
    }

    fn shown(names: &BTreeSet<TreePath>) -> String {
        names
            .iter()
            .map(|name| String::from(name.clone()))
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn only_what_is_ours_is_taken_back() {
        let before = holding("a=1 b=1 c=1 d=1");
        let after = holding("a=2 b=2 c=1 d=1 new=1 later=1");
        let now = holding("a=2 b=3 c=2 new=1 later=2 other=1");
        let paths = [name("c"), name("new")];
        let is_own = |name: &TreePath| matches!(name.0.as_slice(), b"a" | b"b" | b"c");
        let own: Option<OwnPaths> = Some(&is_own);
        for (scope, expected) in [
            (
                RestoreSelection::All,
                ["later new other", "a b c d", "", ""],
            ),
            (
                RestoreSelection::Until(&after, None),
                ["new", "a", "b later", ""],
            ),
            (
                RestoreSelection::Until(&after, own),
                ["", "a", "b", "later new"],
            ),
            (RestoreSelection::Paths(&paths), ["new", "c", "", ""]),
        ] {
            let steps = restore_steps(&before, &now, scope);
            let found = [
                &steps.remove,
                &steps.put,
                &steps.left_alone,
                &steps.of_others,
            ]
            .map(shown);
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn what_was_ignored_is_not_removed_when_it_shows() {
        let before = SnapshotManifest {
            ignored: [name("target/"), name(".env")].into(),
            ..holding("a=1")
        };
        let steps = restore_steps(
            &before,
            &holding("a=1 .env=1 target/x=1 .env2=1"),
            RestoreSelection::All,
        );
        assert_eq!(
            (shown(&steps.remove), shown(&steps.uncovered)),
            (".env2".to_owned(), ".env target/x".to_owned())
        );
    }
}
