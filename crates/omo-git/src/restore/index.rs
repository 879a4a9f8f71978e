//! Restores the git index of a work tree, as a whole file or for some paths, under `index.lock`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

use omo_state::files::regular_file::{self, Links};
use omo_state::git_worktree::GitWorktree;

use super::RestoreError;
use super::manifest::RestoreSelection;
use super::store::SnapshotStore;
use crate::git_command::{git, git_in, tree_variables};
use crate::git_output::{parts, split_entry};
use crate::index_lock::{IndexLock, lock_file, remove_file};
use crate::tree_path::TreePath;

/// Content of the lock file of an older omo.
const OLDER: &[u8] = b"omo puts the index back\n";
const NEW: &str = "index.omo";

/// Entries of an index by path, as for `git update-index --index-info`.
pub(crate) type IndexEntries = BTreeMap<TreePath, Vec<u8>>;

pub(super) fn open_index(tree: &GitWorktree) -> Result<Option<File>, RestoreError> {
    let path = tree.git.join("index");
    match regular_file::open(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        opened => opened.map_err(RestoreError::io("read", &path)),
    }
}

/// Takes git's lock on the index. The caller holds the store, so a lock of an older omo is a leftover.
pub(super) fn lock_index(tree: &GitWorktree) -> Result<IndexLock, RestoreError> {
    let path = lock_file(&tree.git);
    if regular_file::read(&path, 64, Links::Refused)
        .is_ok_and(|text| text.as_deref() == Some(OLDER))
    {
        let _ = fs::remove_file(&path);
    }
    let lock =
        IndexLock::take(&tree.git, Duration::ZERO).map_err(RestoreError::io("create", &path))?;
    lock.ok_or(RestoreError::IndexLocked(path))
}

/// Restores the index from a stored file; `None` removes it. The caller holds the lock.
pub(super) fn restore_index(
    tree: &GitWorktree,
    store: &SnapshotStore,
    content: Option<&str>,
) -> Result<(), RestoreError> {
    let (index, new) = (tree.git.join("index"), tree.git.join(NEW));
    let restored = match content {
        None => remove_file(&index),
        Some(content) => replace_index(store, content, &new, &index),
    };
    restored.map_err(RestoreError::io("put back", &index))
}

fn replace_index(store: &SnapshotStore, content: &str, new: &Path, index: &Path) -> io::Result<()> {
    // A link there goes.
    let _ = fs::remove_file(new);
    store.write_file(content, &mut File::create_new(new)?)?;
    fs::rename(new, index)
}

/// Entries of an index file, by path; none without a file.
pub(crate) fn read_index(
    tree: &GitWorktree,
    file: Option<&Path>,
) -> Result<IndexEntries, RestoreError> {
    let Some(file) = file else {
        return Ok(IndexEntries::new());
    };
    let [git_dir, top] = tree_variables(tree);
    let variables = [git_dir, top, ("GIT_INDEX_FILE", file.as_os_str())];
    let listed = git(&tree.top, &["ls-files", "-s", "-z"], &variables, &[])
        .ok_or(RestoreError::Git("ls-files"))?;
    Ok(parse_entries(parts(&listed)))
}

pub(crate) fn read_index_and_untracked(
    tree: &GitWorktree,
) -> Result<(IndexEntries, BTreeSet<TreePath>), RestoreError> {
    let all = [
        "ls-files",
        "-t",
        "-s",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ];
    let listed = git_in(tree, &all, &[]).ok_or(RestoreError::Git("ls-files"))?;
    // Each has a tag before it, and untracked ones `?`.
    let tagged = parts(&listed).filter_map(|entry| entry.split_at_checked(2));
    let (others, known): (Vec<_>, Vec<_>) = tagged.partition(|(tag, _)| *tag == b"? ");
    let others = others
        .into_iter()
        .map(|(_, name)| TreePath(name.to_vec()))
        .collect();
    Ok((
        parse_entries(known.into_iter().map(|(_, entry)| entry)),
        others,
    ))
}

fn parse_entries<'e>(entries: impl Iterator<Item = &'e [u8]>) -> IndexEntries {
    let mut by_path = IndexEntries::new();
    for (about, name) in entries.filter_map(split_entry) {
        // A path in conflict has up to three entries.
        by_path
            .entry(TreePath(name.to_vec()))
            .or_default()
            .extend([about, b"\t", name, b"\0"].concat());
    }
    by_path
}

pub(crate) fn differing_paths(
    before: &IndexEntries,
    after: Option<&IndexEntries>,
    now: &IndexEntries,
    scope: RestoreSelection<'_>,
) -> BTreeSet<TreePath> {
    before
        .keys()
        .chain(now.keys())
        .filter(|name| before.get(*name) != now.get(*name))
        .filter(|name| match (scope, after) {
            (RestoreSelection::Until(_, own), Some(after)) => {
                after.get(*name) != before.get(*name)
                    && after.get(*name) == now.get(*name)
                    && own.is_none_or(|is_own| is_own(name))
            }
            (RestoreSelection::Paths(paths), _) => {
                paths.iter().any(|path| name.is_at_or_below(&path.0))
            }
            _ => true,
        })
        .cloned()
        .collect()
}

/// Restores some paths in one step: a half could not be told from edits of another process.
pub(crate) fn restore_index_paths(
    tree: &GitWorktree,
    before: &IndexEntries,
    now: &IndexEntries,
    names: &BTreeSet<TreePath>,
) -> Result<(), RestoreError> {
    if names.is_empty() {
        return Ok(());
    }
    let mut input = Vec::new();
    for name in names {
        if let Some(output) = now.get(name) {
            // Mode 0 removes a path.
            input.extend([b"0 ", zero_object(output).as_slice(), b"\t", &name.0, b"\0"].concat());
        }
    }
    input.extend(names.iter().filter_map(|name| before.get(name)).flatten());
    let done = git_in(tree, &["update-index", "-z", "--index-info"], &input);
    done.map(drop).ok_or(RestoreError::Git("update-index"))
}

fn zero_object(output: &[u8]) -> Vec<u8> {
    vec![
        b'0';
        output
            .split(|byte| *byte == b' ')
            .nth(1)
            .map_or(0, <[u8]>::len)
    ]
}
