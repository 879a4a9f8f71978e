//! Copies installed packages such as `node_modules`, once for both sides: checks may write there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use omo_git::file_copier::{CopyError, CopyKind, CopyOptions, FileCopier};
use omo_git::made_folders::INSTALLED;

/// Folders of installed packages among ignored paths.
pub(crate) fn installed_folders(ignored: Vec<PathBuf>) -> BTreeSet<PathBuf> {
    ignored
        .into_iter()
        .filter(|path| {
            path.file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|name| INSTALLED.contains(&name))
        })
        .collect()
}

/// Copies installed packages at ignored paths into another work tree.
///
/// # Errors
///
/// Packages that are too large, unreadable, not writable, or a cancellation.
pub fn copy_installed(
    from: &Path,
    to: &Path,
    ignored: Vec<PathBuf>,
    should_continue: impl FnMut() -> bool,
) -> Result<(), CopyError> {
    copy_paths((from, to), &installed_folders(ignored), should_continue)
}

/// Copies missing paths. Texts that name the project's path name that of the copy.
pub(crate) fn copy_paths<'p>(
    (from, to): (&Path, &Path),
    paths: impl IntoIterator<Item = &'p PathBuf>,
    mut should_continue: impl FnMut() -> bool,
) -> Result<(), CopyError> {
    let options = CopyOptions {
        max_files: 300_000,
        max_bytes: 4 * 1024 * 1024 * 1024,
        max_depth: 128,
        ..CopyOptions::all(CopyKind::Installed(from, to))
    };
    let mut copier = FileCopier::open(from, &[to], options)?;
    paths
        .into_iter()
        .try_for_each(|path| copier.copy_real(path, &mut should_continue))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_installed_is_copied_and_names_the_copy() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let (from, to) = (base.join("from"), base.join("to"));
        fs::create_dir_all(from.join(".venv/bin")).unwrap();
        fs::create_dir_all(&to).unwrap();
        let top = from.display().to_string();
        fs::write(
            from.join(".venv/bin/tool"),
            format!("#!{top}/.venv/bin/python\n"),
        )
        .unwrap();
        fs::write(from.join(".venv/project.pth"), format!("{top}/src\n")).unwrap();
        fs::write(from.join(".venv/data.txt"), &top).unwrap();
        std::os::unix::fs::symlink(from.join("src"), from.join(".venv/src")).unwrap();
        std::os::unix::fs::symlink("../lib", from.join(".venv/lib")).unwrap();
        copy_paths((&from, &to), &[PathBuf::from(".venv")], || true).unwrap();
        let shown = to.display();
        let read = |path: &str| fs::read_to_string(to.join(path)).unwrap();
        assert_eq!(
            read(".venv/bin/tool"),
            format!("#!{shown}/.venv/bin/python\n")
        );
        assert_eq!(read(".venv/project.pth"), format!("{shown}/src\n"));
        assert_eq!(read(".venv/data.txt"), top);
        assert_eq!(fs::read_link(to.join(".venv/src")).unwrap(), to.join("src"));
        assert_eq!(
            fs::read_link(to.join(".venv/lib")).unwrap(),
            Path::new("../lib")
        );
    }

    #[test]
    fn only_what_is_installed_is_copied() {
        let ignored = [
            "node_modules",
            "packages/a/node_modules",
            "target",
            "dist",
            ".env",
        ]
        .map(PathBuf::from);
        let found: Vec<PathBuf> = installed_folders(ignored.to_vec()).into_iter().collect();
        assert_eq!(
            found,
            [
                PathBuf::from("node_modules"),
                PathBuf::from("packages/a/node_modules")
            ]
        );
    }
}
