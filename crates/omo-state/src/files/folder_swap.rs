//! The exchange of a folder for a finished new one, in one step if the file system can.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::platform;

/// Exchanges the folders `new` and `place`; the caller removes the old one, which is then at `new`.
/// On a file system that cannot exchange names, `place` is missing for a moment.
pub fn swap_folders(new: &Path, place: &Path) -> io::Result<()> {
    if fs::symlink_metadata(place).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return fs::rename(new, place);
    }
    platform::exchange(new, place).or_else(|_| in_two_steps(new, place))
}

/// Two renames; the first is undone when the second fails.
fn in_two_steps(new: &Path, place: &Path) -> io::Result<()> {
    let aside = aside(new);
    fs::rename(place, &aside)?;
    if let Err(error) = fs::rename(new, place) {
        fs::rename(&aside, place)?;
        return Err(error);
    }
    fs::rename(&aside, new)
}

fn aside(new: &Path) -> PathBuf {
    let mut name = OsString::from(new);
    name.push(".old");
    PathBuf::from(name)
}

/// Removes the leftovers of an earlier [`swap_folders`] of `new`.
pub fn clear_leftovers(new: &Path) -> io::Result<()> {
    for left in [new.to_owned(), aside(new)] {
        match fs::remove_dir_all(&left) {
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => fs::remove_file(&left)?,
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A way of putting a folder in a place.
    type Way = fn(&Path, &Path) -> io::Result<()>;

    #[test]
    fn the_new_folder_is_there_and_the_old_one_is_handed_back() {
        for way in [swap_folders as Way, in_two_steps] {
            let temp = tempfile::tempdir().unwrap();
            let (new, place) = (temp.path().join("new"), temp.path().join("place"));
            for (folder, text) in [(&new, "2"), (&place, "1")] {
                fs::create_dir(folder).unwrap();
                fs::write(folder.join("file"), text).unwrap();
            }
            way(&new, &place).unwrap();
            assert_eq!(fs::read_to_string(place.join("file")).unwrap(), "2");
            assert_eq!(fs::read_to_string(new.join("file")).unwrap(), "1");
            clear_leftovers(&new).unwrap();
            clear_leftovers(&new).unwrap();
            assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_place_that_is_free_is_taken() {
        let temp = tempfile::tempdir().unwrap();
        let (new, place) = (temp.path().join("new"), temp.path().join("place"));
        fs::create_dir(&new).unwrap();
        swap_folders(&new, &place).unwrap();
        assert!(place.is_dir() && !new.exists());
    }

    #[test]
    fn what_cannot_be_put_leaves_the_old_one_in_its_place() {
        for way in [swap_folders as Way, in_two_steps] {
            let temp = tempfile::tempdir().unwrap();
            let (new, place) = (temp.path().join("new"), temp.path().join("place"));
            fs::create_dir(&place).unwrap();
            assert!(way(&new, &place).is_err());
            assert!(place.is_dir());
        }
    }

    #[test]
    fn what_lies_in_the_way_is_cleared() {
        let temp = tempfile::tempdir().unwrap();
        let new = temp.path().join("new");
        fs::write(&new, "a file").unwrap();
        fs::create_dir(aside(&new)).unwrap();
        clear_leftovers(&new).unwrap();
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
    }
}
