//! Which folder a session's state belongs to.

use std::path::{Path, PathBuf};

/// `CLAUDE_PROJECT_DIR`, else the work tree that holds `cwd`, else `cwd`.
///
/// A session that changes into a sub-folder keeps its state. `None` where nothing absolute is
/// known, as with a `cwd` of another system's spelling.
pub fn find_root(project_dir: Option<&Path>, cwd: Option<&Path>) -> Option<PathBuf> {
    if let Some(dir) = project_dir.filter(|dir| dir.is_absolute()) {
        return Some(dir.to_owned());
    }
    let cwd = cwd.filter(|dir| dir.is_absolute())?;
    Some(work_tree(cwd).unwrap_or(cwd).to_owned())
}

/// The nearest folder upwards that omo was used in. A session may have been started anywhere in a
/// work tree, and a terminal stands somewhere below that.
pub fn find_used_root(cwd: &Path) -> Option<PathBuf> {
    let is_used = |dir: &&Path| dir.join(".sisyphus").join("cc-omo").is_dir();
    cwd.ancestors().find(is_used).map(Path::to_owned)
}

/// The nearest folder upwards with a `.git` in it: a folder in a checkout, a file in a worktree.
fn work_tree(cwd: &Path) -> Option<&Path> {
    cwd.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_wins_then_the_work_tree_then_the_folder() {
        let temp = tempfile::tempdir().unwrap();
        let (tree, plain) = (temp.path().join("tree"), temp.path().join("plain"));
        let deep = tree.join("a/b");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir_all(&plain).unwrap();
        std::fs::write(tree.join(".git"), "gitdir: elsewhere").unwrap();
        assert_eq!(find_root(Some(&plain), Some(&deep)), Some(plain.clone()));
        assert_eq!(find_root(None, Some(&deep)), Some(tree.clone()));
        assert_eq!(find_root(Some(Path::new("relative")), Some(&deep)), Some(tree));
        let (windows, unix) = (Path::new(r"C:\Users\me\x"), Path::new("/home/me/x"));
        let (native, strange) = if cfg!(windows) { (windows, unix) } else { (unix, windows) };
        assert_eq!(find_root(None, Some(strange)), None);
        assert_eq!(find_root(None, Some(native)), Some(native.to_owned()));
        assert_eq!(find_root(None, None), None);
    }

    #[test]
    fn a_folder_that_was_used_is_found_from_below() {
        let temp = tempfile::tempdir().unwrap();
        let started = temp.path().join("tree/part");
        std::fs::create_dir_all(started.join(".sisyphus/cc-omo")).unwrap();
        std::fs::create_dir_all(started.join("deep/er")).unwrap();
        assert_eq!(find_used_root(&started.join("deep/er")), Some(started));
        assert_eq!(find_used_root(temp.path()), None);
    }
}
