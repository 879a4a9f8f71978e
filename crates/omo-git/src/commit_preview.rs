//! The commit that a task would get, made of some paths without a change of the work tree, its index or its branch; and
//! what a work tree holds that is in no commit.

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

/// Failure to make the commit.
#[derive(Debug, Error)]
pub enum CommitPreviewError {
    /// The project lies in no repository.
    #[error("{} lies in no work tree of git", .0.display())]
    NoRepository(PathBuf),
    /// No commit takes such a path.
    #[error("{} cannot be committed: it lies outside of the work tree, or its name is no Unicode", sanitize(.0, 200))]
    Path(String),
    /// The private folder of the run could not be used.
    #[error(transparent)]
    Private(#[from] RestoreError),
    /// A step of git failed.
    #[error(transparent)]
    Git(#[from] GitFailed),
}

fn open_project(worktree: &ProvedWorktree) -> Result<(GitRepository, String), CommitPreviewError> {
    let none = || CommitPreviewError::NoRepository(worktree.root().to_owned());
    let repository = worktree.repository().ok_or_else(none)?;
    let root = worktree.root().canonicalize().map_err(|_| none())?;
    let project = project_folder(&root, repository.work_tree()).ok_or_else(none)?;
    Ok((repository, project))
}

/// The commit that is checked out where a project lies; `None` where there is none, or git cannot say.
pub fn head_commit(worktree: &ProvedWorktree) -> Option<String> {
    open_project(worktree).ok()?.0.commit_of("HEAD").ok()?
}

/// The paths, from the project's top, of what differs from the commit that is checked out, new files included. What git
/// ignores is not seen, and of a submodule only which commit is checked out in it.
///
/// # Errors
///
/// The project lies in no repository, or git fails.
pub fn uncommitted_paths(worktree: &ProvedWorktree) -> Result<Vec<String>, CommitPreviewError> {
    status_paths(worktree, &[], |_| true)
}

/// The paths, from the project's top, that git ignores. A folder that it ignores as such has a `/` behind it, and stands
/// for all that is in it: there lies what tools install and build.
///
/// # Errors
///
/// The project lies in no repository, or git fails.
pub fn ignored_paths(worktree: &ProvedWorktree) -> Result<Vec<String>, CommitPreviewError> {
    status_paths(worktree, &["--ignored=matching"], |entry| {
        entry.letters == *b"!!"
    })
}

/// Ignored files among some files of the project, also in folders that git ignores as such.
///
/// # Errors
///
/// The project lies in no repository, or git fails.
pub fn ignored_among(
    worktree: &ProvedWorktree,
    files: &[String],
) -> Result<Vec<String>, CommitPreviewError> {
    let (repository, project) = open_project(worktree)?;
    let names = files.iter().filter_map(|file| tree_path(&project, file));
    let names: Vec<String> = names.map(|name| lossy_text(&name.0)).collect();
    let found = integrate::ignored_paths(&repository, &names)?;
    Ok(found
        .iter()
        .map(|path| relative_path(&project, path))
        .collect())
}

fn status_paths(
    worktree: &ProvedWorktree,
    options: &[&str],
    is_meant: fn(&StatusEntry) -> bool,
) -> Result<Vec<String>, CommitPreviewError> {
    let (repository, project) = open_project(worktree)?;
    let found = repository.status(options)?.into_iter().filter(is_meant);
    Ok(found
        .map(|entry| relative_path(&project, &String::from_utf8_lossy(&entry.path)))
        .collect())
}

/// Result of `uncommitted_folders`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UncommittedFolders {
    /// Folders without a file in them, each with a `/` behind it: git keeps none.
    pub empty: Vec<String>,
    /// Repositories of their own.
    pub repositories: Vec<String>,
}

const MAX_ENTRIES: usize = 20_000;

/// The folders, from the project's top, that no commit takes: empty ones and repositories. Those that git ignores and
/// those of submodules are not looked at.
///
/// # Errors
///
/// The project lies in no repository, or git fails.
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
    let said = repository.git(&arguments)?;
    let mut found = UncommittedFolders::default();
    let mut left = MAX_ENTRIES;
    for path in folders(&said) {
        let path = lossy_text(path);
        read_folder(repository.top(), &path, &mut found, &mut left);
    }
    for path in found.empty.iter_mut().chain(&mut found.repositories) {
        *path = relative_path(&project, path);
    }
    Ok(found)
}

fn read_folder(top: &Path, path: &str, found: &mut UncommittedFolders, left: &mut usize) -> bool {
    let folder = top.join(path);
    if folder.join(".git").symlink_metadata().is_ok() {
        found.repositories.push(path.to_owned());
        return true;
    }
    let before = found.empty.len();
    let mut has_file = false;
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        *left = left.saturating_sub(1);
        let is_folder = *left > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir());
        let inner = format!("{path}/{}", entry.file_name().to_string_lossy());
        has_file |= !is_folder || read_folder(top, &inner, found, left);
    }
    if !has_file {
        found.empty.truncate(before);
        found.empty.push(format!("{path}/"));
    }
    has_file
}

impl Snapshots<'_> {
    /// Makes the commit that would hold these paths as they are now, on top of the one that is checked out. No reference
    /// names it.
    ///
    /// # Errors
    ///
    /// A path cannot be committed, or git fails.
    pub fn preview_commit(&self, paths: &[&str]) -> Result<String, CommitPreviewError> {
        let (repository, project) = open_project(self.worktree)?;
        let name = |path: &&str| {
            let name =
                tree_path(&project, path).filter(|_| !path.contains(char::REPLACEMENT_CHARACTER));
            name.map(|name| name.0)
                .ok_or_else(|| CommitPreviewError::Path((*path).to_owned()))
        };
        let names: Vec<Vec<u8>> = paths.iter().map(name).collect::<Result<_, _>>()?;
        let head = repository.commit_of("HEAD")?;
        let base = head
            .as_deref()
            .map_or_else(|| repository.empty_tree(), |head| repository.tree_of(head))?;
        let store = SnapshotStore::open(repository.top(), self.state_home, self.run_id)?;
        let index = PrivateIndex::new(&repository, store.fresh_index()?);
        // Not `git add`: that looks into submodules, where the settings of those count.
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

/// The files, from the project's top, in which two commits differ.
///
/// # Errors
///
/// One of the commits is not there, or the project lies in no repository.
pub fn differing_files(
    worktree: &ProvedWorktree,
    one: &str,
    other: &str,
) -> Result<BTreeSet<String>, CommitPreviewError> {
    let (repository, project) = open_project(worktree)?;
    let changed = changed_entries(&repository, one, other)?.into_iter();
    Ok(changed
        .map(|changed| relative_path(&project, &String::from_utf8_lossy(&changed.path.0)))
        .collect())
}

/// The commits that one commit has and another does not, oldest first, each with the files that it changes, from the
/// project's top. Of a merge these are the files that are as in none of its parents.
///
/// # Errors
///
/// One of the commits is not there, or the project lies in no repository.
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
    let mut found = parse_files_by_commit(&repository.git_with(&differing, &[], &commits)?);
    for file in found.iter_mut().flat_map(|(_, files)| files) {
        *file = relative_path(&project, file);
    }
    Ok(found)
}

/// Parts that end with a NUL: the name of a commit, then for each of its files what begins with `:` and the path. A path
/// may look like anything, and is known by its place alone.
fn parse_files_by_commit(said: &[u8]) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut parts = parts(said);
    while let Some(part) = parts.next() {
        if part.starts_with(b":") {
            let path = parts.next().map(lossy_text);
            if let Some((_, files)) = found.last_mut() {
                files.extend(path);
            }
        } else {
            found.push((trimmed_line(part), Vec::new()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_called_like_a_commit_or_a_line_of_git_is_a_file() {
        let said = b"aa\0:100644 100644 1 2 M\0bb\0:000000 100644 0 2 A\0:x y\0bb\0::100644 100644 100644 1 2 3 MM\0new\nline\0";
        let expected = [("aa", vec!["bb", ":x y"]), ("bb", vec!["new\nline"])];
        let found = parse_files_by_commit(said);
        let found: Vec<(&str, Vec<&str>)> = found
            .iter()
            .map(|(commit, files)| (commit.as_str(), files.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(parse_files_by_commit(b""), []);
    }
}
