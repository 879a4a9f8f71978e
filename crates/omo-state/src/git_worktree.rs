//! Finds a git work tree, its repository and its `HEAD` by reading `.git`, without running git.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use omo_core::session::ProjectMark;
use serde::{Deserialize, Serialize};

use crate::files::regular_file;
use crate::platform;

const MAX_LINE: u64 = 8 * 1024;
/// Maximum bytes of `packed-refs`.
const MAX_PACKED: u64 = 64 * 1024 * 1024;
const MAX_LINKED: usize = 1_000;

/// Folders of a work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitWorktree {
    pub top: PathBuf,
    /// git's folder with the index of this work tree.
    pub git: PathBuf,
    /// git's folder with the objects, which several work trees may share.
    pub common: PathBuf,
}

/// Identity of a work tree among those of its repository, also after a move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorktreeIdentity {
    Main,
    /// Inode and time of creation of git's folder, unlike those of a later one of the same name.
    Linked(String),
}

impl GitWorktree {
    pub fn identity(&self) -> WorktreeIdentity {
        if real_path(&self.git) == real_path(&self.common) {
            return WorktreeIdentity::Main;
        }
        WorktreeIdentity::Linked(folder_identity(&self.git))
    }

    pub fn find(folder: &Path) -> Option<Self> {
        folder.ancestors().find_map(Self::at)
    }

    pub fn at(top: &Path) -> Option<Self> {
        let dot = top.join(".git");
        let kind = fs::metadata(&dot).ok()?;
        let git = if kind.is_dir() {
            dot
        } else {
            linked(top, &read_line(&dot)?)?
        };
        // `HEAD` must be a file: git would wait for a FIFO.
        let head = git.join("HEAD");
        head.symlink_metadata().ok()?;
        if fs::metadata(head).is_ok_and(|head| !head.is_file()) {
            return None;
        }
        let common = read_line(&git.join("commondir"))
            .map_or_else(|| git.clone(), |common| git.join(common));
        Some(Self {
            top: top.to_owned(),
            git,
            common,
        })
    }

    /// `true` for the same common folder, with links resolved.
    pub fn is_of_same_repository(&self, other: &Self) -> bool {
        real_path(&self.common) == real_path(&other.common)
    }

    /// Tops of the repository's existing work trees, this one first.
    pub fn all_tops(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.common.join("worktrees"))
            .into_iter()
            .flatten()
            .flatten()
            .take(MAX_LINKED);
        let linked = folders.filter_map(|folder| linked_top(&folder.path()));
        let main = fs::canonicalize(&self.common)
            .ok()
            .and_then(|common| Some(common.parent()?.to_owned()));
        let others = main
            .into_iter()
            .chain(linked)
            .filter(|top| *top != self.top);
        std::iter::once(self.top.clone())
            .chain(
                others.filter(|top| {
                    Self::at(top).is_some_and(|tree| tree.is_of_same_repository(self))
                }),
            )
            .collect()
    }
}

fn linked_top(folder: &Path) -> Option<PathBuf> {
    let noted = PathBuf::from(read_line(&folder.join("gitdir"))?);
    let dot = if noted.is_absolute() {
        noted
    } else {
        fs::canonicalize(folder.join(noted)).ok()?
    };
    Some(dot.parent()?.to_owned())
}

fn real_path(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Folder in a line `gitdir: path`, which `.git` of a worktree or a submodule holds.
fn linked(top: &Path, line: &str) -> Option<PathBuf> {
    Some(top.join(line.strip_prefix("gitdir:")?.trim()))
}

impl GitWorktree {
    /// Checked-out commit, if known.
    pub fn head(&self) -> Option<String> {
        let head = read_line(&self.git.join("HEAD"))?;
        let Some(name) = head.strip_prefix("ref: ") else {
            return Some(head).filter(|head| is_commit(head));
        };
        let loose = [&self.git, &self.common]
            .into_iter()
            .find_map(|folder| read_line(&folder.join(name)));
        loose
            .or_else(|| self.packed(name))
            .filter(|commit| is_commit(commit))
    }

    fn packed(&self, name: &str) -> Option<String> {
        let file = regular_file::open(&self.common.join("packed-refs")).ok()??;
        let mut list = BufReader::new(file.take(MAX_PACKED));
        loop {
            let mut line = String::new();
            if list.by_ref().take(MAX_LINE).read_line(&mut line).ok()? == 0 {
                return None;
            }
            let commit = line
                .trim_end_matches('\n')
                .strip_suffix(name)
                .and_then(|line| line.strip_suffix(' '));
            if let Some(commit) = commit {
                return Some(commit.to_owned());
            }
        }
    }
}

/// Inode and time of creation: another one for a later repository at the same path, or a clone.
pub(crate) fn repository_identity(folder: &Path) -> String {
    folder_identity(
        &GitWorktree::find(folder).map_or_else(|| folder.to_owned(), |tree| tree.common),
    )
}

pub(crate) fn project_mark(root: &Path) -> ProjectMark {
    ProjectMark {
        path: root.to_string_lossy().into_owned(),
        folder: folder_identity(root),
    }
}

pub(crate) fn is_project(root: &Path, mark: &ProjectMark) -> bool {
    mark.path == root.to_string_lossy() || mark.folder == folder_identity(root)
}

/// Inode and time of creation; empty without a folder.
fn folder_identity(folder: &Path) -> String {
    // Not every file system knows the time of creation.
    let made = platform::made_at(folder).and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    let Ok(found) = fs::metadata(folder) else {
        return String::new();
    };
    format!(
        "{} {}",
        platform::inode(&found),
        made.map_or(0, |made| made.as_nanos())
    )
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn read_line(path: &Path) -> Option<String> {
    let mut text = String::new();
    regular_file::open(path)
        .ok()??
        .take(MAX_LINE)
        .read_to_string(&mut text)
        .ok()?;
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}
