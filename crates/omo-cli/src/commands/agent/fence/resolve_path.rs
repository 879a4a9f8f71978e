//! Resolution of a path through all its links, also of a path at which nothing exists yet.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use crate::platform;

const MAX_BYTES: usize = 4_096;
/// Maximum dangling links in a row, `a -> b -> c`.
const MAX_LINKS: u8 = 40;

/// Absolute path with `/` separators; `None` where it cannot be resolved.
pub(super) fn resolve_path(path: &Path) -> Option<String> {
    let is_absolute_and_short = path.is_absolute() && path.as_os_str().len() <= MAX_BYTES;
    if is_absolute_and_short {
        platform::with_slashes(&follow_links(path, MAX_LINKS)?)
    } else {
        None
    }
}

fn follow_links(path: &Path, links_left: u8) -> Option<PathBuf> {
    match path.canonicalize() {
        Ok(real) => return Some(real),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
        Err(_) => return None,
    }
    // Writing through a dangling link creates its target.
    if let Ok(target) = path.read_link() {
        return follow_links(&path.parent()?.join(target), links_left.checked_sub(1)?);
    }
    let folder = follow_links(path.parent()?, links_left)?;
    match path.components().next_back()? {
        Component::Normal(name) => Some(folder.join(name)),
        Component::ParentDir => Some(folder.parent().unwrap_or(&folder).to_owned()),
        _ => None,
    }
}

// Links and paths differ on Windows.
#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_link_is_followed_even_to_what_is_not_there_yet() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        let (main, tree) = (top.join("main"), top.join("tree"));
        std::fs::create_dir_all(main.join("src")).unwrap();
        std::fs::create_dir_all(&tree).unwrap();
        std::fs::write(tree.join("file"), "").unwrap();
        for (link, target) in [
            ("out", main.clone()),
            ("new", main.join("new.txt")),
            ("again", "new".into()),
            ("up", "../main/src".into()),
            ("circle", "circle".into()),
        ] {
            symlink(target, tree.join(link)).unwrap();
        }
        for (path, expected) in [
            ("a.txt", Some("tree/a.txt")),
            ("a/b/c.txt", Some("tree/a/b/c.txt")),
            ("a/../b", Some("tree/b")),
            ("out/a.txt", Some("main/a.txt")),
            ("out/../x/y", Some("x/y")),
            ("new", Some("main/new.txt")),
            ("again", Some("main/new.txt")),
            ("up/../a", Some("main/a")),
            ("file/x", Some("tree/file/x")),
            ("circle/a", None),
            ("", Some("tree")),
        ] {
            let expected = expected.map(|path| top.join(path).to_str().unwrap().to_owned());
            assert_eq!(resolve_path(&tree.join(path)), expected, "{path}");
        }
        assert_eq!(resolve_path(Path::new("tree")), None);
        assert_eq!(resolve_path(&tree.join("a/".repeat(3_000))), None);
    }
}
