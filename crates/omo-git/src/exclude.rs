//! Hides omo's files from `git status` by `.git/info/exclude`, which is in no commit.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::path::PathBuf;

use omo_state::files::regular_file;
use omo_state::git_worktree::GitWorktree;

const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Path of `info/exclude` in the common git folder.
pub(crate) fn exclude_file(tree: &GitWorktree) -> PathBuf {
    tree.common.join("info").join("exclude")
}

/// Appends `line` to `info/exclude`, which all worktrees share, unless it is there.
pub fn add_exclude_line(tree: &GitWorktree, line: &str) -> io::Result<()> {
    let path = exclude_file(tree);
    let mut text = Vec::new();
    match regular_file::open(&path) {
        Ok(Some(file)) => _ = file.take(MAX_BYTES).read_to_end(&mut text)?,
        // A FIFO may have no end.
        Ok(None) => return Err(io::Error::other("it is not a regular file")),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    if text
        .split(|byte| *byte == b'\n')
        .any(|existing| existing.trim_ascii() == line.as_bytes())
    {
        return Ok(());
    }
    fs::create_dir_all(tree.common.join("info"))?;
    let separator = if text.last().is_none_or(|last| *last == b'\n') {
        ""
    } else {
        "\n"
    };
    let mut open = fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)?;
    open.write_all(format!("{separator}{line}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_added_once_and_behind_what_is_there() {
        let temp = tempfile::tempdir().unwrap();
        let tree = GitWorktree {
            top: temp.path().into(),
            git: temp.path().into(),
            common: temp.path().join("git"),
        };
        add_exclude_line(&tree, "/a").unwrap();
        fs::write(exclude_file(&tree), "mine").unwrap();
        for _ in 0..2 {
            add_exclude_line(&tree, "/a").unwrap();
            add_exclude_line(&tree, "b*").unwrap();
        }
        assert_eq!(
            fs::read_to_string(exclude_file(&tree)).unwrap(),
            "mine\n/a\nb*\n"
        );
        fs::remove_file(exclude_file(&tree)).unwrap();
        fs::create_dir(exclude_file(&tree)).unwrap();
        assert!(add_exclude_line(&tree, "/a").is_err());
    }
}
