//! The index of a work tree as it was: the file as a whole, under git's own lock, or some of its paths.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use omo_state::files::regular_file;
use omo_state::git_worktree::GitWorktree;

use super::RestoreError;
use super::manifest::{OwnPaths, RestoreSelection};
use super::store::SnapshotStore;
use crate::git_command::git;
use crate::git_output::{parts, split_entry};
use crate::tree_path::TreePath;

/// What our lock holds, by which one that was left by a process that was ended is known.
const OURS: &[u8] = b"omo puts the index back\n";

/// What is put in its place once it is whole.
const NEW: &str = "index.omo";

/// What an index says of each of its paths.
pub(crate) type IndexEntries = BTreeMap<TreePath, Vec<u8>>;

/// The index file; `None` where there is none.
pub(super) fn open_index(tree: &GitWorktree) -> Result<Option<File>, RestoreError> {
    let path = tree.git.join("index");
    match regular_file::open(&path) {
        Ok(file) => Ok(file),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(RestoreError::Io { action: "read", path, source }),
    }
}

/// git's lock on an index. Dropping it gives it back.
pub(super) struct IndexLock {
    git: PathBuf,
    path: PathBuf,
}

impl IndexLock {
    /// Takes it. The caller holds the store, so a lock of ours is one that was left.
    pub(super) fn take(tree: &GitWorktree) -> Result<Self, RestoreError> {
        let path = tree.git.join("index.lock");
        if is_ours(&path) {
            let _ = fs::remove_file(&path);
        }
        let new = tree.git.join(NEW);
        // At no moment is there a lock of ours that looks like another program's.
        let taken = create(&new, OURS).and_then(|_| match fs::hard_link(&new, &path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => create_new(&path, OURS).map(drop),
            taken => taken,
        });
        let _ = fs::remove_file(&new);
        match taken {
            Ok(()) => Ok(Self { git: tree.git.clone(), path }),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(RestoreError::IndexLocked(path)),
            Err(source) => Err(RestoreError::Io { action: "create", path, source }),
        }
    }

    /// Puts the index back as it was; `None` for none.
    pub(super) fn restore_index(self, store: &SnapshotStore, content: Option<&str>) -> Result<(), RestoreError> {
        let (index, new) = (self.git.join("index"), self.git.join(NEW));
        let put = || match content {
            None => fs::remove_file(&index).or_else(|error| match error.kind() {
                ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            }),
            Some(content) => {
                store.write_file(content, &mut create(&new, &[])?)?;
                fs::rename(&new, &index)
            }
        };
        put().map_err(|source| RestoreError::Io { action: "put back", path: index.clone(), source })
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Makes a file in the place of one that was left; a link there goes.
fn create(path: &Path, bytes: &[u8]) -> io::Result<File> {
    let _ = fs::remove_file(path);
    create_new(path, bytes)
}

fn create_new(path: &Path, bytes: &[u8]) -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    Ok(file)
}

fn is_ours(path: &Path) -> bool {
    let mut bytes = Vec::new();
    let file = regular_file::open(path).ok().flatten();
    file.is_some_and(|file| file.take(64).read_to_end(&mut bytes).is_ok()) && bytes == OURS
}

/// What an index file says; nothing for `None`.
pub(crate) fn read_index(tree: &GitWorktree, file: Option<&Path>) -> Result<IndexEntries, RestoreError> {
    let Some(file) = file else { return Ok(IndexEntries::new()) };
    let variables = [
        ("GIT_DIR", tree.git.as_os_str()),
        ("GIT_WORK_TREE", tree.top.as_os_str()),
        ("GIT_INDEX_FILE", file.as_os_str()),
    ];
    let listed = git(&tree.top, &["ls-files", "-s", "-z"], &variables, &[]).ok_or(RestoreError::Git("ls-files"))?;
    Ok(parse_entries(parts(&listed)))
}

/// What the index of a work tree says, and the files that it knows nothing of and git does not ignore.
pub(crate) fn read_index_and_untracked(tree: &GitWorktree) -> Result<(IndexEntries, BTreeSet<TreePath>), RestoreError> {
    let variables = [("GIT_DIR", tree.git.as_os_str()), ("GIT_WORK_TREE", tree.top.as_os_str())];
    let all = ["ls-files", "-t", "-s", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = git(&tree.top, &all, &variables, &[]).ok_or(RestoreError::Git("ls-files"))?;
    // Each has a letter before it, and those are `?`.
    let tagged = parts(&listed).filter_map(|entry| entry.split_at_checked(2));
    let (others, known): (Vec<_>, Vec<_>) = tagged.partition(|(tag, _)| *tag == b"? ");
    let others = others.into_iter().map(|(_, name)| TreePath(name.to_vec())).collect();
    Ok((parse_entries(known.into_iter().map(|(_, entry)| entry)), others))
}

fn parse_entries<'e>(entries: impl Iterator<Item = &'e [u8]>) -> IndexEntries {
    let mut found = IndexEntries::new();
    for (said, name) in entries.filter_map(split_entry) {
        // One path has up to three entries while a conflict is open.
        found.entry(TreePath(name.to_vec())).or_default().extend([said, b"\t", name, b"\0"].concat());
    }
    found
}

/// Which paths of the index are put back: ours among those that differ.
pub(crate) fn differing_paths(
    before: &IndexEntries,
    after: Option<&IndexEntries>,
    now: &IndexEntries,
    scope: RestoreSelection<'_>,
) -> BTreeSet<TreePath> {
    let is_ours = |name: &TreePath| match (scope, after) {
        (RestoreSelection::Until(_, own), Some(after)) => {
            after.get(name) != before.get(name)
                && after.get(name) == now.get(name)
                && own.is_none_or(|OwnPaths(is_own)| is_own(name))
        }
        (RestoreSelection::Paths(paths), _) => paths.iter().any(|path| name.is_at_or_below(&path.0)),
        _ => true,
    };
    let names = before.keys().chain(now.keys());
    names.filter(|name| before.get(*name) != now.get(*name) && is_ours(name)).cloned().collect()
}

/// Puts some paths of the index back, and leaves all others. All of them in one step: half of it could not be
/// told from what another process has staged.
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
        if let Some(said) = now.get(name) {
            // A mode of 0 has the path go.
            input.extend([b"0 ", zero_object(said).as_slice(), b"\t", &name.0, b"\0"].concat());
        }
    }
    input.extend(names.iter().filter_map(|name| before.get(name)).flatten());
    let place = [("GIT_DIR", tree.git.as_os_str()), ("GIT_WORK_TREE", tree.top.as_os_str())];
    let done = git(&tree.top, &["update-index", "-z", "--index-info"], &place, &input);
    done.map(drop).ok_or(RestoreError::Git("update-index"))
}

/// git's name for nothing, as long as the one in an entry.
fn zero_object(said: &[u8]) -> Vec<u8> {
    vec![b'0'; said.split(|byte| *byte == b' ').nth(1).map_or(0, <[u8]>::len)]
}
