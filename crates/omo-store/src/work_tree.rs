//! A work tree of git, and what can be read of it without git.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A work tree, and where git keeps what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkTree {
    /// Its top folder.
    pub top: PathBuf,
    /// The folder with its own index.
    pub git: PathBuf,
    /// The folder with the objects, which several work trees may share.
    pub common: PathBuf,
}

impl WorkTree {
    /// The work tree that a folder lies in.
    pub fn find(folder: &Path) -> Option<Self> {
        folder.ancestors().find_map(Self::at)
    }

    /// The work tree whose top this is.
    pub fn at(top: &Path) -> Option<Self> {
        let dot = top.join(".git");
        let kind = fs::metadata(&dot).ok()?;
        let git = if kind.is_dir() { dot } else { linked(top, &read_line(&dot)?)? };
        // A folder that only looks like one is none.
        git.join("HEAD").symlink_metadata().ok()?;
        let common = read_line(&git.join("commondir")).map_or_else(|| git.clone(), |common| git.join(common));
        Some(Self { top: top.to_owned(), git, common })
    }
}

/// `gitdir: path`, as a worktree and a submodule have it in place of a folder.
fn linked(top: &Path, line: &str) -> Option<PathBuf> {
    Some(top.join(line.strip_prefix("gitdir:")?.trim()))
}

impl WorkTree {
    /// The commit that is checked out; `None` where there is none yet, or it cannot be told.
    pub fn head(&self) -> Option<String> {
        let head = read_line(&self.git.join("HEAD"))?;
        let Some(name) = head.strip_prefix("ref: ") else { return Some(head).filter(|head| is_commit(head)) };
        let loose = [&self.git, &self.common].into_iter().find_map(|folder| read_line(&folder.join(name)));
        loose.or_else(|| self.packed(name)).filter(|commit| is_commit(commit))
    }

    fn packed(&self, name: &str) -> Option<String> {
        let text = fs::read_to_string(self.common.join("packed-refs")).ok()?;
        text.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix(' ').map(str::to_owned))
    }
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn read_line(path: &Path) -> Option<String> {
    let mut text = String::new();
    fs::File::open(path).ok()?.take(8 * 1024).read_to_string(&mut text).ok()?;
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}
