//! Repairs worktrees of a project whose folder was renamed, as `git worktree repair` does.

use std::fs;
use std::path::Path;

use super::create::write_dot_git;
use super::{READY, WorktreeError, file_error, git_folders, noted_place};
use crate::repository::GitRepository;

/// Updates worktrees of groups that lay below `old` and are now below the repository's top, and the
/// way back from those elsewhere. Worktrees of others are left to their users.
pub fn follow_renamed_folder(repository: &GitRepository, old: &Path) -> Result<(), WorktreeError> {
    for folder in git_folders(repository) {
        let noted = noted_place(&folder);
        let Some(before) = noted.parent() else {
            continue;
        };
        let (now, is_lost) = match before.strip_prefix(old) {
            Ok(below) => (repository.top().join(below), !before.exists()),
            Err(_) => (before.to_owned(), leads_below(before, old)),
        };
        if !folder.join(READY).is_file() || !is_lost || !now.join(".git").is_file() {
            continue;
        }
        let gitdir = folder.join("gitdir");
        let text = [now.join(".git").as_os_str().as_encoded_bytes(), b"\n"].concat();
        fs::write(&gitdir, text).map_err(file_error(&gitdir))?;
        write_dot_git(&now, &folder)?;
    }
    Ok(())
}

fn leads_below(path: &Path, folder: &Path) -> bool {
    let text = fs::read_to_string(path.join(".git")).unwrap_or_default();
    text.strip_prefix("gitdir: ")
        .is_some_and(|leads_to| Path::new(leads_to.trim_end()).starts_with(folder))
}
