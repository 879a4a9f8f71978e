//! The marker that a plan run is open in a project, for the start of a session of the client.
//!
//! Where a run stands is in its ledger, which is not looked up at every start of a session. This one small file says
//! that it is worth asking. It decides nothing: one that a repository brings along only has the ledgers asked.

use std::path::Path;

use crate::files::folder::{FolderError, GuardedFolder};

/// The marker's file.
pub const FILE: &str = "open-plan-run";
const MAX_BYTES: u64 = 1_024;

/// The marker `open-plan-run` in the state folder of a project.
///
/// # Errors
///
/// The folder of the state cannot be read.
pub fn is_set(root: &Path) -> Result<bool, FolderError> {
    let Some(folder) = GuardedFolder::open_state(root)? else {
        return Ok(false);
    };
    Ok(folder.read(FILE, MAX_BYTES)?.is_some())
}

/// Sets the marker of a project, or removes it. Nothing is written where it is so already.
///
/// # Errors
///
/// The folder of the state cannot be read or written.
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
