//! Project folders: that of a session, that of a terminal, and all those with sessions in a repository.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::env;
use crate::git_worktree::GitWorktree;

/// Project of a session: `CLAUDE_PROJECT_DIR`, else the work tree of `cwd`, else `cwd`.
///
/// The state of the session is kept below it. `None` without an absolute path.
pub fn find_root(project_dir: Option<&Path>, cwd: Option<&Path>) -> Option<PathBuf> {
    if let Some(dir) = project_dir.filter(|dir| dir.is_absolute()) {
        return Some(dir.to_owned());
    }
    let cwd = cwd.filter(|dir| dir.is_absolute())?;
    Some(work_tree(cwd).unwrap_or(cwd).to_owned())
}

/// Project of a terminal: the nearest folder upwards in which omo was used, else the top of the
/// work tree, else the folder. Without a work tree, the home folder is no project of its sub-folders.
pub fn find_project(folder: &Path) -> Option<PathBuf> {
    find_project_below(folder, env::home().as_deref())
}

fn find_project_below(folder: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let top = work_tree(folder);
    let used = up_to(folder, top).find(|dir| {
        let is_home = top.is_none() && *dir != folder && Some(*dir) == home;
        is_used(dir) && !is_home
    });
    used.map(Path::to_owned)
        .or_else(|| find_root(None, Some(folder)))
}

/// Folders with sessions: the project, then used folders up to the top of the work tree, used tops
/// of the repository's other work trees, and folders of `started_in` in this repository.
pub fn session_folders(folder: &Path, started_in: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = find_project(folder).into_iter().collect();
    if let Some(tree) = GitWorktree::find(folder) {
        let above = up_to(folder, Some(&tree.top)).map(Path::to_owned);
        folders.extend(above.chain(tree.all_tops()).filter(|dir| is_used(dir)));
        folders.extend(
            started_in
                .iter()
                .filter(|dir| {
                    GitWorktree::find(dir).is_some_and(|other| other.is_of_same_repository(&tree))
                })
                .cloned(),
        );
    }
    let mut seen = BTreeSet::new();
    folders.retain(|dir| seen.insert(dir.canonicalize().unwrap_or_else(|_| dir.clone())));
    folders
}

fn is_used(dir: &Path) -> bool {
    dir.join(".sisyphus").join("cc-omo").is_dir()
}

/// A folder and those above it, up to `top`, or all of them.
fn up_to<'a>(folder: &'a Path, top: Option<&'a Path>) -> impl Iterator<Item = &'a Path> {
    folder
        .ancestors()
        .take_while(move |dir| top.is_none_or(|top| dir.starts_with(top)))
}

/// The nearest folder upwards with a `.git`: a folder in a checkout, a file in a worktree.
fn work_tree(cwd: &Path) -> Option<&Path> {
    cwd.ancestors()
        .find(|dir| dir.join(".git").symlink_metadata().is_ok())
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
        assert_eq!(
            find_root(Some(Path::new("relative")), Some(&deep)),
            Some(tree)
        );
        let (windows, unix) = (Path::new(r"C:\Users\me\x"), Path::new("/home/me/x"));
        let (native, strange) = if cfg!(windows) {
            (windows, unix)
        } else {
            (unix, windows)
        };
        assert_eq!(find_root(None, Some(strange)), None);
        assert_eq!(find_root(None, Some(native)), Some(native.to_owned()));
        assert_eq!(find_root(None, None), None);
    }

    #[test]
    fn a_folder_that_was_used_is_found_from_below_and_never_above_the_work_tree() {
        let temp = tempfile::tempdir().unwrap();
        let (tree, started) = (temp.path().join("tree"), temp.path().join("tree/part"));
        let deep = started.join("deep/er");
        std::fs::create_dir_all(started.join(".sisyphus/cc-omo")).unwrap();
        std::fs::create_dir_all(&deep).unwrap();
        assert_eq!(find_project(&deep), Some(started.clone()));
        // Something was used above it once.
        std::fs::create_dir_all(temp.path().join(".sisyphus/cc-omo")).unwrap();
        assert_eq!(
            find_project(&tree),
            Some(temp.path().to_owned()),
            "outside of a worktree the nearest one"
        );
        assert_eq!(
            find_project_below(&tree, Some(temp.path())),
            Some(tree.clone()),
            "the home is no project"
        );
        assert_eq!(
            find_project_below(temp.path(), Some(temp.path())),
            Some(temp.path().to_owned()),
            "but for itself"
        );
        std::fs::create_dir(tree.join(".git")).unwrap();
        assert_eq!(find_project(&tree), Some(tree), "the worktree is nearer");
        assert_eq!(find_project(&deep), Some(started));
    }

    /// A work tree as git makes it.
    fn checkout(top: &Path, git: &Path, common: Option<&Path>) {
        std::fs::create_dir_all(top).unwrap();
        std::fs::create_dir_all(git).unwrap();
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        if let Some(common) = common {
            std::fs::write(top.join(".git"), format!("gitdir: {}\n", git.display())).unwrap();
            std::fs::write(
                git.join("gitdir"),
                format!("{}\n", top.join(".git").display()),
            )
            .unwrap();
            std::fs::write(git.join("commondir"), format!("{}\n", common.display())).unwrap();
        }
    }

    #[test]
    fn the_folders_of_a_repository_are_those_of_all_its_work_trees_and_of_no_other() {
        let temp = tempfile::tempdir().unwrap();
        let [main, linked, gone, other] =
            ["main", "linked", "gone", "main/other"].map(|name| temp.path().join(name));
        let common = main.join(".git");
        checkout(&main, &common, None);
        checkout(&linked, &common.join("worktrees/linked"), Some(&common));
        checkout(&gone, &common.join("worktrees/gone"), Some(&common));
        std::fs::remove_dir_all(&gone).unwrap();
        checkout(&other, &other.join(".git"), None);
        let [part, deep, used] = ["part", "part/deep", "used"].map(|name| main.join(name));
        std::fs::create_dir_all(&deep).unwrap();
        for folder in [&linked, &part, &used] {
            std::fs::create_dir_all(folder.join(".sisyphus/cc-omo")).unwrap();
        }
        let sorted = |folder: &Path, started: &[PathBuf]| {
            let mut folders = session_folders(folder, started);
            folders.sort();
            folders
        };
        assert_eq!(
            session_folders(&deep, &[]),
            [part.clone(), linked.clone()],
            "the project is the first one"
        );
        assert_eq!(
            sorted(&main, &[]),
            [linked.clone(), main.clone()],
            "what lies below is not looked for"
        );
        let started = [
            used.clone(),
            other.clone(),
            temp.path().join("elsewhere"),
            linked.clone(),
        ];
        assert_eq!(sorted(&linked, &started), [linked.clone(), used.clone()]);
        assert_eq!(
            sorted(&main, &started),
            [linked.clone(), main.clone(), used.clone()]
        );
        assert_eq!(sorted(&deep, &started), [linked, part, used]);
        assert_eq!(sorted(&other, &[]), [other]);
        let plain = temp.path().join("plain");
        std::fs::create_dir_all(plain.join("below")).unwrap();
        assert_eq!(
            sorted(&plain, &[plain.join("below")]),
            [plain],
            "no repository has it"
        );
    }
}
