//! Marker file in a project with an open plan run, so that the start of a session finds out fast.
//! The marker is only a hint: where it is set, the ledgers are asked.

use std::path::Path;

use crate::files::folder::{FolderError, GuardedFolder};

pub const FILE: &str = "open-plan-run";
const MAX_BYTES: u64 = 1_024;

/// `true` for a project with the marker.
///
/// The error is a state folder that cannot be read.
pub fn is_set(root: &Path) -> Result<bool, FolderError> {
    let Some(folder) = GuardedFolder::open_state(root)? else {
        return Ok(false);
    };
    Ok(folder.read(FILE, MAX_BYTES)?.is_some())
}

/// Sets or removes the marker of a project, unless it is so already.
///
/// # Errors
///
/// Where the folder of the state cannot be read or written.
pub fn set(root: &Path, is_open: bool) -> Result<(), FolderError> {
    if is_set(root)? == is_open {
        return Ok(());
    }
    let folder = GuardedFolder::create_state(root)?;
    if is_open {
        folder.replace(FILE, b"a plan run is open here\n")
    } else {
        folder.remove(FILE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_there_from_when_it_is_set_until_it_is_removed() {
        let temp = tempfile::tempdir().unwrap();
        assert!(!is_set(temp.path()).unwrap());
        set(temp.path(), false).unwrap();
        assert!(
            GuardedFolder::open_state(temp.path()).unwrap().is_none(),
            "a folder was made for nothing"
        );
        for is_open in [true, true, false, false] {
            set(temp.path(), is_open).unwrap();
            assert_eq!(is_set(temp.path()).unwrap(), is_open);
        }
    }
}
