//! Which paths a snapshot does not cover, told before a step is begun that would change them.

use std::collections::BTreeMap;
use std::io;

use omo_state::git_worktree::GitWorktree;

use super::RestoreError;
use super::index::read_index;
use super::manifest::TreePath;
use crate::git_command::answer;
use crate::platform::FolderEntry;
use crate::proved_worktree::ProvedWorktree;
use crate::restore::worktree_files::{WorktreeFiles, tree_path};

/// Why a path is not covered: what is changed there can be neither put back nor committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UncoveredReason {
    /// git ignores it.
    Ignored,
    /// It lies in a repository within the work tree, a submodule say.
    InRepository,
    /// It lies outside of the work tree, behind a link for example, or in git's own folder.
    Outside,
}

/// Those of some paths from a project's top that no snapshot covers, each with the reason. A path that is not
/// there yet is taken for a file to come.
pub fn find_uncovered(
    worktree: &ProvedWorktree,
    paths: &[&str],
) -> Result<BTreeMap<String, UncoveredReason>, RestoreError> {
    let none = || RestoreError::NoWorkTree(worktree.root().to_owned());
    let (tree, project) = worktree.project().ok_or_else(none)?;
    let failed = |source| RestoreError::Io { action: "look at", path: tree.top.clone(), source };
    let ground = WorktreeFiles::open(&tree.top).map_err(failed)?;
    let index = tree.git.join("index");
    let listed = read_index(tree, index.exists().then_some(index.as_path()))?;
    let is_module = |name: &TreePath| listed.get(name).is_some_and(|said| said.starts_with(b"160000 "));
    let mut found = BTreeMap::new();
    let mut rest = Vec::new();
    for path in paths {
        let why = match tree_path(&project, path) {
            None => Some(UncoveredReason::Outside),
            Some(name) => match find_obstacle(&ground, &name, &is_module).map_err(failed)? {
                None => {
                    rest.push((name, *path));
                    None
                }
                why => why,
            },
        };
        found.extend(why.map(|why| ((*path).to_owned(), why)));
    }
    let ignored = ignored_paths(tree, &rest)?;
    found.extend(ignored.into_iter().map(|path| (path, UncoveredReason::Ignored)));
    Ok(found)
}

/// What stands in the way of a path, from the top on.
fn find_obstacle(
    ground: &WorktreeFiles,
    name: &TreePath,
    is_module: &impl Fn(&TreePath) -> bool,
) -> io::Result<Option<UncoveredReason>> {
    let ends = name.0.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    for end in ends.chain([name.0.len()]) {
        let part = TreePath(name.0.get(..end).unwrap_or_default().to_vec());
        if part.0.is_empty() {
            continue;
        }
        if is_module(&part) || ground.is_repository(&part)? {
            return Ok(Some(UncoveredReason::InRepository));
        }
        if end < name.0.len() && matches!(ground.look(&part)?, FolderEntry::Link(_)) {
            return Ok(Some(UncoveredReason::Outside));
        }
    }
    Ok(None)
}

/// Those that git ignores; a file that it knows is none of them, whatever the rules say.
fn ignored_paths(tree: &GitWorktree, paths: &[(TreePath, &str)]) -> Result<Vec<String>, RestoreError> {
    let paths: Vec<_> = paths.iter().filter(|(name, _)| !name.0.is_empty()).collect();
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let place = [("GIT_DIR", tree.git.as_os_str()), ("GIT_WORK_TREE", tree.top.as_os_str())];
    let asked: Vec<u8> = paths.iter().flat_map(|(name, _)| [name.0.as_slice(), b"\0"].concat()).collect();
    let said = answer(&tree.top, &["check-ignore", "-z", "--stdin"], &place, &asked);
    // 1 says that none of them is.
    let (_, said) = said.filter(|(status, _)| matches!(status, 0 | 1)).ok_or(RestoreError::Git("check-ignore"))?;
    let said: Vec<&[u8]> = said.split(|byte| *byte == 0).collect();
    let is_ignored = |(name, _): &&&(TreePath, &str)| said.contains(&name.0.as_slice());
    Ok(paths.iter().filter(is_ignored).map(|(_, path)| (*path).to_owned()).collect())
}
