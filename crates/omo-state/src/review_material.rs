//! Review material of a run: a file in the state folder, and beside it a folder for large files.
//! Both go with the run.

use omo_core::session::id::SessionId;

use crate::files::folder::GuardedFolder;

/// File name, such as `review-ID.md`.
pub fn file_name(id: &SessionId) -> String {
    format!("review-{}.md", id.as_str())
}

/// Name of the folder with large files.
pub fn versions_folder_name(id: &SessionId) -> String {
    format!("review-{}", id.as_str())
}

pub(crate) fn forget(folder: &GuardedFolder, id: &SessionId) {
    // A leftover does no harm: it no longer belongs to a run.
    let _ = folder.remove(&file_name(id));
    let _ = folder.remove_folder(&versions_folder_name(id));
}
