//! Kept files written into a work tree again: only where it holds what they were before, so nothing newer is lost.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use super::keep::{KEPT_SUBJECT, keep_paths};
use super::manifest::TreePath;
use super::snapshotter::Snapshotter;
use super::{RestoreError, SnapshotContext};
use crate::changes::{PathChange, PathChangeKind};
use crate::kept_work::{ChangedEntry, GitEntry, KeptWork, changed_entries};
use crate::platform::{FolderEntry, path_of};
use crate::repository::{GitFailed, GitRepository, trimmed_line};
use crate::worktree::WorkerName;

/// The outcome of bringing kept files back. Paths are from the project's top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BroughtBack {
    /// Written or removed, as they were kept.
    pub restored: Vec<String>,
    /// As they were kept already.
    pub unchanged: Vec<String>,
    /// Something else by now: left as they are.
    pub differing: Vec<String>,
    /// Those that could not be written, each with the reason.
    pub failed: BTreeMap<String, String>,
    /// The commit that keeps what was overwritten.
    pub overwritten: Option<KeptWork>,
}

const LINK: &str = "120000";
const EXECUTABLE: &str = "100755";

/// As [`crate::kept_work::bring_back`].
pub(crate) fn bring_back(
    place: &SnapshotContext<'_>,
    kept: &KeptWork,
    overwritten: Option<&WorkerName>,
) -> Result<BroughtBack, RestoreError> {
    let mut end = BroughtBack::default();
    let mut to_write = Vec::new();
    {
        let it = Snapshotter::open(place)?;
        let repository = repository_of(&it)?;
        for ChangedEntry { path, before, after } in kept_entries(&repository, kept)? {
            let name = TreePath(path);
            if !it.is_covered(&name) {
                continue;
            }
            match it.entry_now(&repository, &name)? {
                EntryNow::Entry(now) if now == after => end.unchanged.push(it.project_path(&name)),
                EntryNow::Entry(now) if now == before => to_write.push((name, after)),
                // No file in it is overwritten: it has to be empty.
                EntryNow::Folder if overwritten.is_some() => to_write.push((name, after)),
                EntryNow::Other if overwritten.is_some() => {
                    let why = "what is there can be in no commit; move it away".to_owned();
                    end.failed.insert(it.project_path(&name), why);
                }
                EntryNow::Entry(_) | EntryNow::Folder | EntryNow::Other => {
                    end.differing.push(it.project_path(&name));
                    to_write.extend(overwritten.is_some().then_some((name, after)));
                }
            }
        }
    }
    if let Some(name) = overwritten.filter(|_| !end.differing.is_empty()) {
        let paths = std::mem::take(&mut end.differing);
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        end.overwritten = Some(keep_paths(place, name, &paths)?);
    }
    let it = Snapshotter::open(place)?;
    let repository = repository_of(&it)?;
    // What is gone makes room: a folder may stand where a file was.
    to_write.sort_by_key(|(_, kept)| kept.is_some());
    for (name, kept) in &to_write {
        let shown = it.project_path(name);
        match it.write_kept(&repository, name, kept.as_ref()) {
            Ok(()) => end.restored.push(shown),
            Err(error) => _ = end.failed.insert(shown, error.to_string()),
        }
    }
    end.restored.sort();
    Ok(end)
}

/// As [`crate::kept_work::kept_changes`].
pub(crate) fn kept_changes(repository: &GitRepository, kept: &KeptWork) -> Result<Vec<PathChange>, GitFailed> {
    let changed = kept_entries(repository, kept)?.into_iter().map(|ChangedEntry { path, before, after }| PathChange {
        path: String::from_utf8_lossy(&path).into_owned(),
        kind: match (before, after) {
            (None, _) => PathChangeKind::Added,
            (_, None) => PathChangeKind::Deleted,
            _ => PathChangeKind::Modified,
        },
    });
    Ok(changed.collect())
}

fn repository_of(it: &Snapshotter<'_>) -> Result<GitRepository, RestoreError> {
    GitRepository::of(&it.tree).ok_or_else(|| RestoreError::NoWorkTree(it.tree.top.clone()))
}

/// The change that a commit keeps. The work of a worker is all that it did since it left the branch that is checked
/// out.
fn kept_entries(repository: &GitRepository, kept: &KeptWork) -> Result<Vec<ChangedEntry>, GitFailed> {
    let commit = kept.commit.as_str();
    let parent = format!("{commit}^1");
    let subject = ["rev-list", "--max-count=1", "--no-commit-header", "--format=%s", commit];
    let base = if repository.git_line(&subject)?.starts_with(KEPT_SUBJECT) {
        parent
    } else {
        match repository.answer(&["merge-base", "HEAD", commit], &[], &[])? {
            (0, base) => trimmed_line(&base),
            _ => parent,
        }
    };
    changed_entries(repository, &base, commit)
}

/// What a path has in the work tree.
enum EntryNow {
    Entry(Option<GitEntry>),
    Folder,
    /// Something that no commit holds, such as a FIFO.
    Other,
}

impl Snapshotter<'_> {
    fn entry_now(&self, repository: &GitRepository, name: &TreePath) -> Result<EntryNow, RestoreError> {
        let failed = |source| RestoreError::Io { action: "read", path: self.tree.top.join(path_of(&name.0)), source };
        let (mode, bytes) = match self.ground.look(name).map_err(failed)? {
            FolderEntry::Nothing => return Ok(EntryNow::Entry(None)),
            FolderEntry::Folder => return Ok(EntryNow::Folder),
            FolderEntry::Other => return Ok(EntryNow::Other),
            FolderEntry::Link(target) => (LINK, target.as_encoded_bytes().to_vec()),
            FolderEntry::File { mode } => {
                let mut bytes = Vec::new();
                self.ground.read(name).and_then(|mut file| file.read_to_end(&mut bytes)).map_err(failed)?;
                (if mode & 0o111 == 0 { "100644" } else { EXECUTABLE }, bytes)
            }
        };
        let object = trimmed_line(&repository.git_with(&["hash-object", "--stdin"], &[], &bytes)?);
        Ok(EntryNow::Entry(Some(GitEntry { mode: mode.to_owned(), object })))
    }

    fn write_kept(&self, repository: &GitRepository, name: &TreePath, kept: Option<&GitEntry>) -> io::Result<()> {
        let Some(GitEntry { mode, object }) = kept else { return self.ground.remove(name) };
        if mode == "160000" {
            return Err(io::Error::other("it is a submodule"));
        }
        let bytes = repository.git_with(&["cat-file", "blob", object], &[], &[]).map_err(io::Error::other)?;
        if mode == LINK {
            return self.ground.write_link(name, path_of(&bytes).as_os_str());
        }
        // The rights of a file that is there stay, but for the one to run it.
        let rights = match self.ground.look(name)? {
            FolderEntry::File { mode } => mode,
            _ => 0o644,
        };
        let readers = rights & 0o444;
        let rights = if mode == EXECUTABLE { rights | readers >> 2 } else { rights & !0o111 };
        self.ground.write_file(name, rights, |file| file.write_all(&bytes))
    }
}
