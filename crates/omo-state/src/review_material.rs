//! What a reviewer reads of a session's run: a file in the project's folder, and beside it a folder with what is too
//! large for that. Both go with the run.

use omo_core::session::id::SessionId;

use crate::files::folder::GuardedFolder;

/// The name of the file.
pub fn file_name(id: &SessionId) -> String {
    format!("review-{}.md", id.as_str())
}

/// The name of the folder.
pub fn versions_folder_name(id: &SessionId) -> String {
    format!("review-{}", id.as_str())
}

/// Removes both.
pub(crate) fn forget(folder: &GuardedFolder, id: &SessionId) {
    // What cannot be removed does no harm: it no longer belongs to a run.
    let _ = folder.remove(&file_name(id));
    let _ = folder.remove_folder(&versions_folder_name(id));
}
