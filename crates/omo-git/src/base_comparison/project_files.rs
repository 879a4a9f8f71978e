//! Present and changed files of a project since a base, in it and in each repository within. git
//! looks through a `ScratchTree`: it runs nothing of a repository's settings, and writes neither
//! its index nor its objects.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::thread::{self, ScopedJoinHandle};

use omo_state::git_worktree::GitWorktree;

use super::{BaseError, ScratchFolder, is_plain};
use crate::git_command::GitCalls;
use crate::git_output::{GitEntry, SUBMODULE, entries, folders, parse_changes};
use crate::platform::path_of;
use crate::repository::GitFailed;
use crate::repository_base::RepositoryBase;
use crate::tree::ScratchTree;

const MAX_DEPTH: usize = 8;

#[derive(Clone, Debug)]
pub(super) struct BaseFile {
    pub(super) mode: String,
    pub(super) object: String,
    pub(super) repository: usize,
}

pub(super) struct RepositoryView<'a> {
    scratch: ScratchTree<'a>,
    top: PathBuf,
}

impl RepositoryView<'_> {
    pub(super) fn git(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, GitFailed> {
        self.scratch
            .git_with_objects(arguments, input)
            .ok_or_else(|| self.failure_of(arguments))
    }

    pub(super) fn contents<'o>(
        &self,
        objects: impl Iterator<Item = &'o str>,
    ) -> Result<Vec<Vec<u8>>, GitFailed> {
        self.scratch
            .contents(objects)
            .ok_or_else(|| self.failure_of(&["cat-file", "--batch"]))
    }

    pub(super) fn answer(
        &self,
        arguments: &[&str],
        input: &[u8],
    ) -> Result<(i32, Vec<u8>), GitFailed> {
        self.scratch
            .answer(None, arguments, input)
            .ok_or_else(|| self.failure_of(arguments))
    }

    pub(super) fn failure_of(&self, arguments: &[&str]) -> GitFailed {
        GitFailed::new(arguments.join(" "), &self.top)
    }
}

#[derive(Default)]
pub(super) struct ProjectFiles<'a> {
    pub(super) present: BTreeSet<PathBuf>,
    /// Changed files, each with its base version; `None` for a new file.
    pub(super) changed: BTreeMap<PathBuf, Option<BaseFile>>,
    repositories: Vec<RepositoryView<'a>>,
}

#[derive(Default)]
struct InnerRepositories {
    /// Present repositories with their checked-out commits.
    now: BTreeMap<PathBuf, Option<String>>,
    changed: BTreeMap<PathBuf, Option<String>>,
}

impl<'a> ProjectFiles<'a> {
    pub(super) fn read(
        tree: &GitWorktree,
        base: &RepositoryBase,
        folder: ScratchFolder,
        calls: &'a GitCalls,
    ) -> Result<Self, BaseError> {
        let mut files = Self::default();
        files.collect((tree, Path::new("")), base, (folder, calls), 0)?;
        Ok(files)
    }

    pub(super) fn outermost(&self) -> Result<&RepositoryView<'a>, BaseError> {
        self.repository(0)
    }

    pub(super) fn repository(&self, number: usize) -> Result<&RepositoryView<'a>, BaseError> {
        self.repositories.get(number).ok_or(BaseError::NoBase)
    }

    fn collect(
        &mut self,
        (tree, at): (&GitWorktree, &Path),
        base: &RepositoryBase,
        (folder, calls): (ScratchFolder, &'a GitCalls),
        depth: usize,
    ) -> Result<(), BaseError> {
        let scratch = base.open_scratch(tree, folder.state_home, calls, folder.parts);
        let mut scratch = scratch.ok_or_else(|| GitFailed::new("config", &tree.top))?;
        scratch
            .record_index()
            .ok_or_else(|| GitFailed::new("update-index", &tree.top))?;
        scratch.add_object_folders(base.objects());
        let repository = RepositoryView {
            scratch,
            top: tree.top.clone(),
        };
        if let RepositoryBase::Commit(commit) = base
            && depth > 0
            && repository
                .git(&["cat-file", "-e", &format!("{commit}^{{commit}}")], &[])
                .is_err()
        {
            return Err(BaseError::Submodule {
                path: at.to_owned(),
                commit: (*commit).to_owned(),
            });
        }
        let inner = self.list(&repository, at, base)?;
        self.repositories.push(repository);
        for (path, commit) in inner.now.iter().filter(|_| depth < MAX_DEPTH) {
            // Without a checkout there are no files on either side.
            let Some(within) = GitWorktree::at(&tree.top.join(path)) else {
                continue;
            };
            // An unchanged place is as it was.
            let old_commit = inner.changed.get(path).unwrap_or(commit).as_deref();
            let base = base
                .of_inner(path, old_commit)
                .ok_or(BaseError::NotRecorded)?;
            self.collect((&within, &at.join(path)), &base, (folder, calls), depth + 1)?;
        }
        Ok(())
    }

    fn list(
        &mut self,
        repository: &RepositoryView,
        at: &Path,
        base: &RepositoryBase,
    ) -> Result<InnerRepositories, BaseError> {
        let mut inner = InnerRepositories::default();
        let compare = [
            "diff-index",
            "--cached",
            "--raw",
            "-z",
            "--no-renames",
            "--no-abbrev",
            base.name(),
        ];
        // Each takes its time where there are many files.
        let (listed, new, differing) = thread::scope(|scope| {
            let new = scope.spawn(|| {
                repository.git(&["ls-files", "-z", "--others", "--exclude-standard"], &[])
            });
            let is_compared = !matches!(base, RepositoryBase::Nothing);
            let differing = is_compared.then(|| scope.spawn(|| repository.git(&compare, &[])));
            let listed = repository.git(&["ls-files", "-z", "--stage"], &[]);
            let listed = listed.map(|listed| self.add_present(&listed, at, &mut inner));
            (
                listed,
                joined(new, repository, "ls-files"),
                differing.map(|thread| joined(thread, repository, "diff-index")),
            )
        });
        listed?;
        // All new files are in the index, except for repositories without a commit, which are listed as folders.
        let new = new?;
        let new = folders(&new);
        inner.now.extend(
            new.map(path_of)
                .filter(|path| is_plain(path))
                .map(|path| (path, None)),
        );
        if let Some(differing) = differing {
            self.add_changed(&differing?, at, &mut inner)
                .ok_or_else(|| repository.failure_of(&compare))?;
        } else {
            let present = self.present.iter().filter(|path| path.starts_with(at));
            self.changed
                .extend(present.map(|path| (path.clone(), None)));
        }
        Ok(inner)
    }

    fn add_present(&mut self, listed: &[u8], at: &Path, inner: &mut InnerRepositories) {
        let mut present = Vec::new();
        for (about, path) in entries(listed) {
            let path = path_of(path);
            let about = String::from_utf8_lossy(about);
            match about.split_once(' ') {
                _ if !is_plain(&path) => {}
                Some((SUBMODULE, rest)) => {
                    let commit = rest.split(' ').next().map(str::to_owned);
                    inner.now.insert(path, commit);
                }
                _ => present.push(at.join(path)),
            }
        }
        // All at once: git has sorted them already.
        self.present.append(&mut BTreeSet::from_iter(present));
    }

    fn add_changed(
        &mut self,
        differing: &[u8],
        at: &Path,
        inner: &mut InnerRepositories,
    ) -> Option<()> {
        for changed in parse_changes(differing)? {
            let path = path_of(&changed.path.0);
            if !is_plain(&path) {
                continue;
            }
            let (was_inner, was) = changed.before.map_or((None, None), |was| {
                if is_submodule(&was) {
                    (Some(was.object), None)
                } else {
                    (None, Some(was))
                }
            });
            if was_inner.is_some() || changed.after.as_ref().is_some_and(is_submodule) {
                inner.changed.insert(path.clone(), was_inner);
            }
            let repository = self.repositories.len();
            let base = was.map(|GitEntry { mode, object }| BaseFile {
                mode,
                object,
                repository,
            });
            if base.is_some() || changed.after.is_some_and(|now| !is_submodule(&now)) {
                self.changed.insert(at.join(path), base);
            }
        }
        Some(())
    }
}

fn joined(
    thread: ScopedJoinHandle<Result<Vec<u8>, GitFailed>>,
    repository: &RepositoryView,
    command: &str,
) -> Result<Vec<u8>, GitFailed> {
    thread
        .join()
        .unwrap_or_else(|_| Err(repository.failure_of(&[command])))
}

fn is_submodule(entry: &GitEntry) -> bool {
    entry.mode == SUBMODULE
}
