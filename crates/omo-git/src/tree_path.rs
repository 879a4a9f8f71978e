//! Conversion between paths from a work tree's top, as git writes them, and from a project within.

use std::path::{Component, Path};

use omo_state::git_worktree::GitWorktree;
use serde::{Deserialize, Serialize};

use crate::platform::path_of;

/// Path from the top of a work tree, as git writes it: bytes, with `/` between its parts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub(crate) struct TreePath(pub(crate) Vec<u8>);

/// In JSON, each byte is the character of its number: plain paths stay readable, and none is lost.
impl From<String> for TreePath {
    fn from(text: String) -> Self {
        Self(
            text.chars()
                .map(|letter| u8::try_from(u32::from(letter)).unwrap_or(b'?'))
                .collect(),
        )
    }
}

impl From<TreePath> for String {
    fn from(name: TreePath) -> Self {
        name.0.into_iter().map(char::from).collect()
    }
}

impl TreePath {
    pub(crate) fn is_at_or_below(&self, folder: &[u8]) -> bool {
        let folder = folder.strip_suffix(b"/").unwrap_or(folder);
        let rest = self.0.strip_prefix(folder);
        folder.is_empty() || rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
    }
}

pub(crate) fn is_safe(name: &TreePath) -> bool {
    let path = path_of(&name.0);
    let parts = name.0.split(|byte| *byte == b'/').count();
    !name.0.is_empty()
        && path.components().count() == parts
        && path.components().all(
            |part| matches!(part, Component::Normal(part) if !part.eq_ignore_ascii_case(".git")),
        )
}

/// Path from the top of the work tree, of a path from the project's top in the folder `project`; `None` for one out of
/// the work tree or in its repository.
pub(crate) fn tree_path(project: &str, path: &str) -> Option<TreePath> {
    if path.starts_with('/') || Path::new(path).is_absolute() {
        return None;
    }
    let mut parts: Vec<&str> = project.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            part => parts.push(part),
        }
    }
    let name = TreePath(parts.join("/").into_bytes());
    (name.0.is_empty() || is_safe(&name)).then_some(name)
}

/// Folder of the project from the top of the work tree; empty for the top itself.
pub(crate) fn project_folder(root: &Path, work_tree: &GitWorktree) -> Option<String> {
    Some(
        root.strip_prefix(&work_tree.top)
            .ok()?
            .to_string_lossy()
            .replace('\\', "/"),
    )
}

pub(crate) fn relative_path(folder: &str, path: &str) -> String {
    let base: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let parts: Vec<&str> = path.split('/').collect();
    let shared = base
        .iter()
        .zip(&parts)
        .take_while(|(one, other)| one == other)
        .count();
    let up = base.iter().skip(shared).map(|_| "..");
    up.chain(parts.into_iter().skip(shared))
        .collect::<Vec<_>>()
        .join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leads_out_or_into_the_repository() {
        for (path, expected) in [
            ("a", true),
            ("a/b c/..d", true),
            (".github/x", true),
            ("", false),
            ("/a", false),
            ("../a", false),
            ("a/../b", false),
            ("a//b", false),
            ("./a", false),
            (".git/config", false),
            ("a/.GIT/hooks/x", false),
        ] {
            assert_eq!(
                is_safe(&TreePath(path.as_bytes().to_vec())),
                expected,
                "{path}"
            );
        }
    }

    #[test]
    fn a_path_is_told_as_it_is_seen_from_the_project() {
        for (folder, path, expected) in [
            ("", "a/b", "a/b"),
            ("web", "web/a", "a"),
            ("web/app", "web/lib/a", "../lib/a"),
            ("web/app", "a", "../../a"),
            ("web", "web2/a", "../web2/a"),
        ] {
            assert_eq!(
                relative_path(folder, path),
                expected,
                "{path} from {folder}"
            );
        }
    }

    #[test]
    fn no_name_is_lost_in_json() {
        let odd = TreePath((1..=255).collect());
        let text = serde_json::to_string(&odd).unwrap();
        assert_eq!(serde_json::from_str::<TreePath>(&text).unwrap(), odd);
    }
}
