//! Names of a run's material for its reviewer: a text, and a folder for large files.

use omo_core::session::id::SessionId;

use crate::files::folder::GuardedFolder;

/// File name such as `review-ID.md`.
pub fn file_name(id: &SessionId) -> String {
    format!("review-{}.md", id.as_str())
}

/// Name of the folder for large files.
pub fn versions_folder_name(id: &SessionId) -> String {
    format!("review-{}", id.as_str())
}

pub(crate) fn forget(folder: &GuardedFolder, id: &SessionId) {
    let _ = folder.remove(&file_name(id));
    let _ = folder.remove_folder(&versions_folder_name(id));
}
