//! Preview of a task's commit, without a change of work tree, index or branch; and lists of the
//! paths that are in no commit.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use omo_core::text::sanitize;
use thiserror::Error;

use crate::git_output::{folders, list, lossy_text, parts};
use crate::integrate;
use crate::kept_work::{changed_entries, make_commit};
use crate::private_index::PrivateIndex;
use crate::proved_worktree::ProvedWorktree;
use crate::repository::{GitFailed, GitRepository, StatusEntry, trimmed_line};
use crate::restore::{RestoreError, SnapshotStore};
use crate::snapshots::Snapshots;
use crate::tree_path::{project_folder, relative_path, tree_path};

/// Failure to preview a commit or to list paths.
#[derive(Debug, Error)]
pub enum CommitPreviewError {
    #[error("{} is not in a git worktree", .0.display())]
    NoRepository(PathBuf),
    /// A path outside of the work tree, or with a name that is not Unicode.
    #[error("{} cannot be committed: it is outside of the worktree, or its name is not Unicode", sanitize(.0, 200))]
    Path(String),
    /// The private folder of the run could not be used.
    #[error(transparent)]
    Private(#[from] RestoreError),
    #[error(transparent)]
    Git(#[from] GitFailed),
}

fn open_project(worktree: &ProvedWorktree) -> Result<(GitRepository, String), CommitPreviewError> {
    let no_repository = || CommitPreviewError::NoRepository(worktree.root().to_owned());
    let repository = worktree.repository().ok_or_else(no_repository)?;
    let root = worktree
        .root()
        .canonicalize()
        .map_err(|_| no_repository())?;
    let project = project_folder(&root, repository.work_tree()).ok_or_else(no_repository)?;
    Ok((repository, project))
}

/// Commit of `HEAD`; `None` where it has none, or git gives no answer.
pub fn head_commit(worktree: &ProvedWorktree) -> Option<String> {
    open_project(worktree).ok()?.0.commit_of("HEAD").ok()?
}

/// Uncommitted paths from the project's top, with new files and without ignored ones; of a
/// submodule only its commit counts.
pub fn uncommitted_paths(worktree: &ProvedWorktree) -> Result<Vec<String>, CommitPreviewError> {
    status_paths(worktree, &[], |_| true)
}

/// Ignored paths from the project's top; an ignored folder, such as of installed files, ends with a `/`.
pub fn ignored_paths(worktree: &ProvedWorktree) -> Result<Vec<String>, CommitPreviewError> {
    status_paths(worktree, &["--ignored=matching"], |entry| {
        entry.letters == *b"!!"
    })
}

/// Paths of `files` that git ignores, also in ignored folders.
pub fn ignored_among(
    worktree: &ProvedWorktree,
    files: &[String],
) -> Result<Vec<String>, CommitPreviewError> {
    let (repository, project) = open_project(worktree)?;
    let names = files.iter().filter_map(|file| tree_path(&project, file));
    let names: Vec<String> = names.map(|name| lossy_text(&name.0)).collect();
    let ignored = integrate::ignored_paths(&repository, &names)?;
    Ok(ignored
        .iter()
        .map(|path| relative_path(&project, path))
        .collect())
}

fn status_paths(
    worktree: &ProvedWorktree,
    options: &[&str],
    is_listed: fn(&StatusEntry) -> bool,
) -> Result<Vec<String>, CommitPreviewError> {
    let (repository, project) = open_project(worktree)?;
    let entries = repository.status(options)?.into_iter().filter(is_listed);
    Ok(entries
        .map(|entry| relative_path(&project, &String::from_utf8_lossy(&entry.path)))
        .collect())
}

/// Folders that no commit takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UncommittedFolders {
    /// Folders without a file, each with a `/` at its end.
    pub empty: Vec<String>,
    pub repositories: Vec<String>,
}

const MAX_ENTRIES: usize = 20_000;

/// Folders, from the project's top, that no commit takes, except for ignored ones and those of submodules.
pub fn uncommitted_folders(
    worktree: &ProvedWorktree,
) -> Result<UncommittedFolders, CommitPreviewError> {
    let (repository, project) = open_project(worktree)?;
    let arguments = [
        "ls-files",
        "-z",
        "--others",
        "--directory",
        "--exclude-standard",
    ];
    let output = repository.git(&arguments)?;
    let mut uncommitted = UncommittedFolders::default();
    let mut entries_left = MAX_ENTRIES;
    for path in folders(&output) {
        let path = lossy_text(path);
        read_folder(repository.top(), &path, &mut uncommitted, &mut entries_left);
    }
    let UncommittedFolders {
        empty,
        repositories,
    } = &mut uncommitted;
    for path in empty.iter_mut().chain(repositories) {
        *path = relative_path(&project, path);
    }
    Ok(uncommitted)
}

/// `true` for a folder with a file in it.
fn read_folder(
    top: &Path,
    path: &str,
    uncommitted: &mut UncommittedFolders,
    entries_left: &mut usize,
) -> bool {
    let folder = top.join(path);
    if folder.join(".git").symlink_metadata().is_ok() {
        uncommitted.repositories.push(path.to_owned());
        return true;
    }
    let before = uncommitted.empty.len();
    let mut has_file = false;
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        *entries_left = entries_left.saturating_sub(1);
        let is_folder = *entries_left > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir());
        let inner = format!("{path}/{}", entry.file_name().to_string_lossy());
        has_file |= !is_folder || read_folder(top, &inner, uncommitted, entries_left);
    }
    if !has_file {
        uncommitted.empty.truncate(before);
        uncommitted.empty.push(format!("{path}/"));
    }
    has_file
}

impl Snapshots<'_> {
    /// Makes a commit of these paths as they are now, on `HEAD`; no reference names it.
    pub fn preview_commit(&self, paths: &[&str]) -> Result<String, CommitPreviewError> {
        let (repository, project) = open_project(self.worktree)?;
        let mut names: Vec<Vec<u8>> = Vec::new();
        for path in paths {
            let name =
                tree_path(&project, path).filter(|_| !path.contains(char::REPLACEMENT_CHARACTER));
            let name = name.ok_or_else(|| CommitPreviewError::Path((*path).to_owned()))?;
            names.push(name.0);
        }
        let head = repository.commit_of("HEAD")?;
        let base = head
            .as_deref()
            .map_or_else(|| repository.empty_tree(), |head| repository.tree_of(head))?;
        let store = SnapshotStore::open(repository.top(), self.state_home, self.run_id)?;
        let index = PrivateIndex::new(&repository, store.fresh_index()?);
        // Not `git add`, which looks into submodules by their settings.
        let tree = index.tree_with(
            &base,
            &["--add", "--remove", "--replace", "--stdin"],
            &list(names),
        )?;
        store.fresh_index()?;
        let parents: Vec<String> = head.into_iter().collect();
        Ok(make_commit(
            &repository,
            &tree,
            &parents,
            "What a commit would hold",
        )?)
    }
}

/// Files, from the project's top, in which two commits differ.
pub fn differing_files(
    worktree: &ProvedWorktree,
    old: &str,
    new: &str,
) -> Result<BTreeSet<String>, CommitPreviewError> {
    let (repository, project) = open_project(worktree)?;
    let changed = changed_entries(&repository, old, new)?.into_iter();
    Ok(changed
        .map(|changed| relative_path(&project, &String::from_utf8_lossy(&changed.path.0)))
        .collect())
}

/// Commits of `from..to`, oldest first, with their changed files from the project's top; of a merge those that are as
/// in none of its parents.
pub fn files_by_commit(
    worktree: &ProvedWorktree,
    from: &str,
    to: &str,
) -> Result<Vec<(String, Vec<String>)>, CommitPreviewError> {
    let (repository, project) = open_project(worktree)?;
    let range = format!("{from}..{to}");
    let commits = repository.git(&["rev-list", "--topo-order", "--reverse", &range, "--"])?;
    if commits.is_empty() {
        return Ok(Vec::new());
    }
    let differing = [
        "diff-tree",
        "--stdin",
        "-r",
        "-c",
        "-z",
        "--root",
        "--raw",
        "--no-renames",
        "--ignore-submodules=none",
    ];
    let mut commits = parse_files_by_commit(&repository.git_with(&differing, &[], &commits)?);
    for file in commits.iter_mut().flat_map(|(_, files)| files) {
        *file = relative_path(&project, file);
    }
    Ok(commits)
}

/// Parts with NUL at their ends: a commit, and for each of its files a part with `:` and the path. A path may look like
/// anything, and is known by its place alone.
fn parse_files_by_commit(output: &[u8]) -> Vec<(String, Vec<String>)> {
    let mut commits: Vec<(String, Vec<String>)> = Vec::new();
    let mut parts = parts(output);
    while let Some(part) = parts.next() {
        if part.starts_with(b":") {
            let path = parts.next().map(lossy_text);
            if let Some((_, files)) = commits.last_mut() {
                files.extend(path);
            }
        } else {
            commits.push((trimmed_line(part), Vec::new()));
        }
    }
    commits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_called_like_a_commit_or_a_line_of_git_is_a_file() {
        let output = b"aa\0:100644 100644 1 2 M\0bb\0:000000 100644 0 2 A\0:x y\0bb\0::100644 100644 100644 1 2 3 MM\0new\nline\0";
        let expected = [("aa", vec!["bb", ":x y"]), ("bb", vec!["new\nline"])];
        let found = parse_files_by_commit(output);
        let found: Vec<(&str, Vec<&str>)> = found
            .iter()
            .map(|(commit, files)| (commit.as_str(), files.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(parse_files_by_commit(b""), []);
    }
}
