//! Number of tracked files in a folder, and whether git ignores new ones there.

use std::path::Path;

use crate::git_command;
use crate::git_output::parts;

/// Status of a folder for git.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderStatus {
    /// Tracked files.
    pub files: usize,
    /// `true` where git would ignore a new file.
    pub ignores: bool,
}

/// Status of `folder`, a path from the top of a project; `None` where git gives no answer.
pub fn read_folder_status(root: &Path, folder: &str) -> Option<FolderStatus> {
    let listed = git_command::git(root, &["ls-files", "-z", "--", folder], &[], b"")?;
    let probe = format!("{folder}/anything");
    let (status, _) = git_command::answer(
        root,
        &["check-ignore", "-q", "--no-index", "--", &probe],
        &[],
        b"",
    )?;
    Some(FolderStatus {
        files: parts(&listed).count(),
        ignores: status == 0,
    })
}
