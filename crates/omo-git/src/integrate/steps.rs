//! `Landing`: the git steps that move a checkout from one commit to another, on an index beside the user's.

use std::collections::BTreeSet;
use std::fs;

use super::error::LandError;
use super::journal::LandingFiles;
use crate::git_output::{list, lossy_text, parts, split_entry};
use crate::platform::path_of;
use crate::private_index::PrivateIndex;
use crate::repository::{GitFailed, GitRepository};

fn touched_paths(
    repository: &GitRepository,
    old: &str,
    new: &str,
) -> Result<BTreeSet<Vec<u8>>, GitFailed> {
    let differing = [
        "diff-tree",
        "-r",
        "-z",
        "--no-renames",
        "--name-only",
        "--ignore-submodules=none",
        old,
        new,
    ];
    Ok(owned_parts(&repository.git(&differing)?).collect())
}

fn owned_parts(listed: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    parts(listed).map(<[u8]>::to_vec)
}

pub(super) struct Landing<'a> {
    repository: &'a GitRepository,
    files: &'a LandingFiles,
    old: &'a str,
    new: &'a str,
    touched: BTreeSet<Vec<u8>>,
}

impl<'a> Landing<'a> {
    pub(super) fn new(
        repository: &'a GitRepository,
        files: &'a LandingFiles,
        old: &'a str,
        new: &'a str,
    ) -> Result<Self, GitFailed> {
        Ok(Self {
            repository,
            files,
            old,
            new,
            touched: touched_paths(repository, old, new)?,
        })
    }

    fn new_index(&self) -> PrivateIndex<'_> {
        PrivateIndex::new(self.repository, self.files.new_index())
    }

    fn git(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, GitFailed> {
        self.new_index().git(arguments, input)
    }

    pub(super) fn read_tree(&self, arguments: &[&str]) -> Result<(), GitFailed> {
        self.git(&[["read-tree", "-m"].as_slice(), arguments].concat(), &[])
            .map(drop)
    }

    pub(super) fn copy_index(&self) -> Result<(), LandError> {
        fs::copy(self.files.index(), self.files.new_index())?;
        self.refresh()?;
        Ok(())
    }

    fn refresh(&self) -> Result<(), GitFailed> {
        // Exit status 1: some files differ.
        self.new_index()
            .answer(&["update-index", "-q", "--really-refresh"], &[])
            .map(drop)
    }

    pub(super) fn update_entries(&self, except: &BTreeSet<Vec<u8>>) -> Result<(), GitFailed> {
        let entries = self.entries(self.new, except)?;
        self.git(&["update-index", "-z", "--index-info"], &entries)?;
        self.refresh()
    }

    fn differing_from(&self, commit: &str) -> Result<BTreeSet<Vec<u8>>, LandError> {
        let index = PrivateIndex::new(self.repository, self.files.compared_index());
        index.git(&["read-tree", commit], &[])?;
        // Exit status 1: some files differ.
        index.answer(&["update-index", "-q", "--refresh"], &[])?;
        let changed = index.git(
            &["diff-files", "-z", "--name-only", "--ignore-submodules=all"],
            &[],
        )?;
        let mut differing: BTreeSet<Vec<u8>> = owned_parts(&changed).collect();
        // `diff-files` lists no file without an index entry, such as one that should be gone.
        let listed: BTreeSet<Vec<u8>> =
            owned_parts(&index.git(&["ls-files", "-z"], &[])?).collect();
        index.remove()?;
        let remaining = self
            .touched
            .difference(&listed)
            .filter(|path| self.is_present(path));
        differing.extend(remaining.cloned());
        differing.retain(|path| self.touched.contains(path));
        Ok(differing)
    }

    fn is_present(&self, path: &[u8]) -> bool {
        self.repository
            .top()
            .join(path_of(path))
            .symlink_metadata()
            .is_ok()
    }

    fn entries(&self, commit: &str, except: &BTreeSet<Vec<u8>>) -> Result<Vec<u8>, GitFailed> {
        let listed = self.repository.git(&["ls-tree", "-r", "-z", commit])?;
        let mut removed_paths: BTreeSet<&Vec<u8>> = self.touched.difference(except).collect();
        let entries = list(parts(&listed).filter(|entry| {
            split_entry(entry).is_some_and(|(_, path)| removed_paths.remove(&path.to_vec()))
        }));
        // Mode 0 removes a path. Removals go first: a new path may lie where a file was.
        let zero_id = "0".repeat(commit.len());
        let removed = removed_paths
            .into_iter()
            .flat_map(|path| [b"0 ", zero_id.as_bytes(), b"\t", path, b"\0"].concat());
        Ok(removed.chain(entries).collect())
    }

    /// Refuses the move where changes or files of the user are in its way; changes no file.
    pub(super) fn refuse_dirty(&self) -> Result<(), LandError> {
        let obstacles = self.obstacles()?;
        if obstacles.is_empty()
            && self
                .read_tree(&["-u", "--dry-run", self.old, self.new])
                .is_ok()
        {
            return Ok(());
        }
        // Paths that are flagged in the index stop git, which does not list them. This index is a copy, dropped below.
        let listed = self.git(&["ls-files", "-z"], &[])?;
        let known = list(
            owned_parts(&listed)
                .filter(|path| self.touched.contains(path) && self.is_present(path)),
        );
        for flag in ["--no-assume-unchanged", "--no-skip-worktree"] {
            self.git(&["update-index", flag, "-z", "--stdin"], &known)?;
        }
        // Changes within a submodule are not touched, and to look at them would run its settings.
        let edited = self.git(
            &[
                "diff-files",
                "-z",
                "--name-only",
                "--ignore-submodules=dirty",
            ],
            &[],
        )?;
        let staged = self.git(
            &[
                "diff-index",
                "-z",
                "--cached",
                "--name-only",
                "--no-renames",
                self.old,
            ],
            &[],
        )?;
        let changed = owned_parts(&edited).chain(owned_parts(&staged));
        let in_way = changed
            .filter(|path| {
                self.touched
                    .iter()
                    .any(|touched| do_paths_overlap(path, touched))
            })
            .chain(obstacles);
        let paths: BTreeSet<String> = in_way.map(|path| lossy_text(&path)).collect();
        self.files.forget_landing()?;
        Err(LandError::Dirty {
            paths: paths.into_iter().collect(),
        })
    }

    /// Untracked and ignored paths that git would overwrite.
    fn obstacles(&self) -> Result<BTreeSet<Vec<u8>>, GitFailed> {
        let known: BTreeSet<Vec<u8>> = owned_parts(&self.git(&["ls-files", "-z"], &[])?).collect();
        let mut obstacles = BTreeSet::new();
        for path in self.touched.difference(&known) {
            let ends = path
                .iter()
                .enumerate()
                .filter(|(_, byte)| **byte == b'/')
                .map(|(at, _)| at);
            for end in ends.chain([path.len()]) {
                let part = path.get(..end).unwrap_or_default();
                let kind = self.repository.top().join(path_of(part)).symlink_metadata();
                let is_file =
                    kind.as_ref().is_ok_and(|kind| !kind.is_dir()) && !known.contains(part);
                let is_folder_in_place = end == path.len() && kind.is_ok_and(|kind| kind.is_dir());
                if is_file || (is_folder_in_place && self.has_others(part)?) {
                    obstacles.insert(part.to_vec());
                }
            }
        }
        Ok(obstacles)
    }

    fn has_others(&self, folder: &[u8]) -> Result<bool, GitFailed> {
        let Ok(folder) = std::str::from_utf8(folder) else {
            return Ok(true);
        };
        let only = format!(":(literal,top){folder}");
        Ok(!self
            .git(&["ls-files", "-z", "--others", "--", &only], &[])?
            .is_empty())
    }

    /// Puts the moved files back to `old`; later changes of the user stay.
    pub(super) fn undo_landing(&self) -> Result<(), LandError> {
        self.remove_begun_files()?;
        let differing = self.differing_from(self.new)?;
        // `now` is `old` with the touched files of `new`, but for those that the user has changed since.
        fs::copy(self.files.index(), self.files.new_index())?;
        self.git(&["read-tree", self.old], &[])?;
        self.update_entries(&differing)?;
        let now = self.new_index().tree()?;
        self.copy_index()?;
        self.update_entries(&differing)?;
        self.read_tree(&["-u", &now, self.old])?;
        // Writes the touched files that are missing, and no others.
        self.new_index().answer(
            &["checkout-index", "--quiet", "-z", "--stdin"],
            &list(&self.touched),
        )?;
        Ok(self.files.forget_landing()?)
    }

    /// Removes files that git left half-written under their final names; they hold no work of the user.
    fn remove_begun_files(&self) -> Result<(), LandError> {
        let differing = self.differing_from(self.new)?;
        for path in differing.intersection(&self.differing_from(self.old)?) {
            let (file, Ok(name)) = (
                self.repository.top().join(path_of(path)),
                std::str::from_utf8(path),
            ) else {
                continue;
            };
            if !file.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
                continue;
            }
            let object = format!("{}:{name}", self.new);
            let (status, whole) =
                self.repository
                    .status_and_output(&["cat-file", "--filters", &object])?;
            if status == 0 && whole.starts_with(&fs::read(&file)?) {
                fs::remove_file(&file)?;
            }
        }
        Ok(())
    }
}

fn do_paths_overlap(one: &[u8], other: &[u8]) -> bool {
    is_at_or_below(one, other) || is_at_or_below(other, one)
}

fn is_at_or_below(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}
