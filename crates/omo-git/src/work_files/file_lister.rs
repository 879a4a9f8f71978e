//! Lists the files that count as work, by `git ls-files`, or by a walk where there is no git.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use omo_state::files::regular_file;
use omo_state::git_worktree::GitWorktree;

use super::MAX_FILES;
use super::cache::FilesCache;
use crate::git_command::GitCalls;
use crate::git_output::{parts, split_entry};
use crate::made_folders::is_left_out;
use crate::own_git_dir::{self, RepositorySettings, quote_path};
use crate::tree::is_index;

/// Listed paths from the top of the work tree.
#[derive(Debug, Default)]
pub(super) struct ListedFiles {
    pub(super) tracked: BTreeSet<Vec<u8>>,
    /// Paths of the index that git was told not to look at.
    pub(super) unwatched: BTreeSet<Vec<u8>>,
    pub(super) files: BTreeSet<Vec<u8>>,
    pub(super) inner: BTreeSet<Vec<u8>>,
}

pub(super) struct FileLister<'a> {
    pub(super) tree: Option<GitWorktree>,
    pub(super) top: PathBuf,
    pub(super) settings: RepositorySettings,
    calls: &'a GitCalls,
    git: PathBuf,
    index: PathBuf,
    objects: std::ffi::OsString,
}

impl<'a> FileLister<'a> {
    pub(super) fn new(
        top: PathBuf,
        tree: Option<GitWorktree>,
        memory: &FilesCache,
        settings: RepositorySettings,
        calls: &'a GitCalls,
    ) -> Option<Self> {
        let git = own_git_dir::make(&memory.private.folder, tree.as_ref(), &settings.for_names())?;
        let index = tree
            .as_ref()
            .map(|tree| tree.git.join("index"))
            .filter(|index| {
                let file = regular_file::open(index).ok().flatten();
                file.is_some_and(|file| is_index(&file) == Some(true))
            })
            .unwrap_or_else(|| git.join("index"));
        let objects = tree
            .as_ref()
            .map(|tree| quote_path(&tree.common.join("objects")))
            .unwrap_or_default();
        Some(Self {
            tree,
            top,
            settings,
            calls,
            git,
            index,
            objects,
        })
    }

    fn answer(&self, arguments: &[&str], index: &Path, input: &[u8]) -> Option<(i32, Vec<u8>)> {
        let own = [
            ("GIT_INDEX_FILE", index.as_os_str()),
            // For a sparse index; nothing is written.
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.objects.as_os_str()),
        ];
        let variables: Vec<_> = own_git_dir::variables(&self.git, &self.top)
            .into_iter()
            .chain(own)
            .collect();
        self.calls.answer(&self.top, arguments, &variables, input)
    }

    pub(super) fn git(&self, arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
        let (status, output) = self.answer(arguments, &self.index, input)?;
        (status == 0).then_some(output)
    }

    pub(super) fn ignored_folders(&self, folders: &[u8]) -> Option<Vec<u8>> {
        let (status, output) =
            self.answer(&["check-ignore", "-z", "--stdin"], &self.index, folders)?;
        // 1: none of them.
        matches!(status, 0 | 1).then_some(output)
    }

    /// Lists files with git; without an answer, or with an empty one, every file counts.
    pub(super) fn list(&self) -> Option<ListedFiles> {
        const ARGUMENTS: [&str; 7] = [
            "ls-files",
            "-z",
            "-s",
            "-v",
            "-c",
            "-o",
            "--exclude-standard",
        ];
        // An unreadable index keeps nothing from counting.
        let output = [&self.index, &self.git.join("index")]
            .into_iter()
            .find_map(|index| {
                let (status, output) = self.answer(&ARGUMENTS, index, &[])?;
                (status == 0).then_some(output)
            });
        let listed = output.map(|output| parse(&output)).unwrap_or_default();
        if listed.files.is_empty() && listed.inner.is_empty() {
            return self.walk();
        }
        Some(listed)
    }

    /// Files without git: all but built ones, and those left behind by programs.
    fn walk(&self) -> Option<ListedFiles> {
        let mut files = BTreeSet::new();
        let mut folders = vec![self.top.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let name = entry.file_name();
                let name = name.to_str().unwrap_or_default();
                if matches!(name, ".git" | ".sisyphus") || is_left_out(name) {
                    continue;
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(path);
                } else {
                    let below = path.strip_prefix(&self.top).ok()?;
                    files.insert(below.as_os_str().as_encoded_bytes().to_vec());
                }
            }
            if files.len() + folders.len() > MAX_FILES {
                return None;
            }
        }
        Some(ListedFiles {
            files,
            ..ListedFiles::default()
        })
    }
}

/// Rows of `git ls-files`: tag, mode, object and stage of an indexed path, and the path.
fn parse(output: &[u8]) -> ListedFiles {
    let mut listed = ListedFiles::default();
    for entry in parts(output) {
        if let Some(path) = entry.strip_prefix(b"? ") {
            match path.strip_suffix(b"/") {
                Some(path) => listed.inner.insert(path.to_vec()),
                None => listed.files.insert(path.to_vec()),
            };
            continue;
        }
        let Some((about, path)) = split_entry(entry) else {
            continue;
        };
        let path = path.to_vec();
        if about
            .get(2..)
            .is_some_and(|about| about.starts_with(b"160000 "))
        {
            listed.inner.insert(path);
            continue;
        }
        if about
            .first()
            .is_some_and(|letter| letter.eq_ignore_ascii_case(&b'S'))
        {
            listed.unwatched.insert(path.clone());
        }
        listed.tracked.insert(path.clone());
        listed.files.insert(path);
    }
    listed
}
