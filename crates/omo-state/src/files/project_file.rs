//! Files of a project for people and other tools: with normal permissions, replaced whole or not at
//! all. A symbolic link on the way from the top is refused.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Component, Path, PathBuf};

use crate::files::regular_file::{self, Links};

#[derive(Debug, thiserror::Error)]
pub enum ProjectFileError {
    #[error("{action} {path}: {source}")]
    Io {
        /// Verb such as `read`.
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{path} {what}; omo leaves it as it is")]
    Refused { path: PathBuf, what: String },
}

/// Path of a file within a project.
#[derive(Clone, Debug)]
pub struct ProjectFile {
    root: PathBuf,
    folders: Vec<PathBuf>,
    path: PathBuf,
}

impl ProjectFile {
    /// File at a relative `path`; `None` for a path out of the project, or an empty one.
    pub fn at(root: &Path, path: &str) -> Option<Self> {
        let parts: Vec<_> = Path::new(path).components().collect();
        let is_plain = parts
            .iter()
            .all(|part| matches!(part, Component::Normal(_)));
        let (_, inner) = parts.split_last().filter(|_| is_plain)?;
        let mut folder = root.to_owned();
        let mut folders = Vec::new();
        for part in inner {
            folder.push(part);
            folders.push(folder.clone());
        }
        Some(Self {
            root: root.to_owned(),
            folders,
            path: root.join(path),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Content of at most `limit` bytes; `None` without a file.
    pub fn read(&self, limit: u64) -> Result<Option<Vec<u8>>, ProjectFileError> {
        for folder in &self.folders {
            match kind(folder)? {
                Some(Kind::Folder) => {}
                None => return Ok(None),
                Some(Kind::Other) => return Err(refused(folder, "is not a folder")),
            }
        }
        regular_file::read(&self.path, limit, Links::Refused)
            .map_err(|what| refused(&self.path, what))
    }

    /// Checks write access, and leaves nothing behind.
    pub fn check_writable(&self) -> Result<(), ProjectFileError> {
        let mut deepest = self.root.as_path();
        for folder in &self.folders {
            match kind(folder)? {
                Some(Kind::Folder) => deepest = folder,
                None => break,
                Some(Kind::Other) => return Err(refused(folder, "is not a folder")),
            }
        }
        if fs::symlink_metadata(&self.path).is_ok_and(|found| !found.is_file()) {
            return Err(refused(&self.path, "is not a regular file"));
        }
        // Rights do not tell: a file system may be read-only.
        let probe = deepest.join(".omo-probe");
        let _ = fs::remove_file(&probe);
        for done in [new_file(&probe).map(drop), fs::remove_file(&probe)] {
            match done {
                Err(error)
                    if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {}
                Err(source) => return Err(io_error("write in", deepest, source)),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    pub fn replace(&self, bytes: &[u8]) -> Result<(), ProjectFileError> {
        self.replace_if(bytes, || true).map(drop)
    }

    /// Replaces the content if it still is `before`; `false` where it has changed.
    pub fn replace_unchanged(&self, before: &[u8], bytes: &[u8]) -> Result<bool, ProjectFileError> {
        self.replace_if(bytes, || {
            fs::read(&self.path).is_ok_and(|now| now == before)
        })
    }

    fn replace_if(
        &self,
        bytes: &[u8],
        is_meant: impl FnOnce() -> bool,
    ) -> Result<bool, ProjectFileError> {
        for folder in &self.folders {
            match kind(folder)? {
                Some(Kind::Folder) => {}
                Some(Kind::Other) => return Err(refused(folder, "is not a folder")),
                None => match fs::create_dir(folder) {
                    Err(source) if source.kind() != ErrorKind::AlreadyExists => {
                        return Err(io_error("create", folder, source));
                    }
                    _ => {}
                },
            }
        }
        if fs::symlink_metadata(&self.path).is_ok_and(|found| !found.is_file()) {
            return Err(refused(&self.path, "is not a regular file"));
        }
        let temporary = self.temporary();
        let written = self.write(&temporary, bytes, is_meant);
        if !matches!(written, Ok(true)) {
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    fn write(
        &self,
        temporary: &Path,
        bytes: &[u8],
        is_meant: impl FnOnce() -> bool,
    ) -> Result<bool, ProjectFileError> {
        let _ = fs::remove_file(temporary);
        let mut file =
            new_file(temporary).map_err(|source| io_error("create", temporary, source))?;
        if let Ok(old) = fs::metadata(&self.path) {
            // A file system without rights keeps none.
            let _ = file.set_permissions(old.permissions());
        }
        file.write_all(bytes)
            .map_err(|source| io_error("write", temporary, source))?;
        file.sync_data()
            .map_err(|source| io_error("write", temporary, source))?;
        // As late as possible.
        if !is_meant() {
            return Ok(false);
        }
        fs::rename(temporary, &self.path)
            .map_err(|source| io_error("replace", &self.path, source))?;
        Ok(true)
    }

    /// Removes the file; a missing one is no error.
    pub fn remove(&self) -> Result<(), ProjectFileError> {
        match fs::remove_file(&self.path) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                Err(io_error("remove", &self.path, source))
            }
            _ => Ok(()),
        }
    }

    fn temporary(&self) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!(".{name}.omo-tmp"))
    }
}

fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

enum Kind {
    Folder,
    Other,
}

fn kind(path: &Path) -> Result<Option<Kind>, ProjectFileError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Ok(Some(Kind::Folder)),
        Ok(_) => Ok(Some(Kind::Other)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(io_error("look at", path, source)),
    }
}

fn io_error(action: &'static str, path: &Path, source: io::Error) -> ProjectFileError {
    ProjectFileError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

fn refused(path: &Path, what: impl Into<String>) -> ProjectFileError {
    ProjectFileError::Refused {
        path: path.to_owned(),
        what: what.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_its_folders_are_made() {
        let temp = tempfile::tempdir().unwrap();
        let file = ProjectFile::at(temp.path(), "docs/06-plans/report.md").unwrap();
        assert_eq!(file.read(100).unwrap(), None);
        file.check_writable().unwrap();
        assert_eq!(
            fs::read_dir(temp.path()).unwrap().count(),
            0,
            "asking leaves nothing"
        );
        for text in ["one", "two"] {
            file.replace(text.as_bytes()).unwrap();
            assert_eq!(file.read(100).unwrap().unwrap(), text.as_bytes());
        }
        let names = fs::read_dir(temp.path().join("docs/06-plans"))
            .unwrap()
            .count();
        assert_eq!(names, 1, "nothing but the file");
        assert!(file.read(2).is_err(), "too large");
        file.remove().unwrap();
        file.remove().unwrap();
        assert_eq!(file.read(100).unwrap(), None);
    }

    #[test]
    fn what_was_written_meanwhile_stays() {
        let temp = tempfile::tempdir().unwrap();
        let file = ProjectFile::at(temp.path(), "plan.md").unwrap();
        assert!(
            !file.replace_unchanged(b"one", b"two").unwrap(),
            "it is gone"
        );
        file.replace(b"one").unwrap();
        assert!(file.replace_unchanged(b"one", b"two").unwrap());
        assert!(!file.replace_unchanged(b"one", b"three").unwrap());
        assert_eq!(file.read(100).unwrap().unwrap(), b"two");
        assert_eq!(
            fs::read_dir(temp.path()).unwrap().count(),
            1,
            "nothing but the file"
        );
    }

    #[test]
    fn a_path_stays_in_the_project() {
        for path in ["", "/etc/x", "../x", "a/../../x", "a/./../x"] {
            assert!(ProjectFile::at(Path::new("/p"), path).is_none(), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed_and_what_is_no_file_is_left() {
        let temp = tempfile::tempdir().unwrap();
        let (root, outside) = (temp.path().join("root"), temp.path().join("outside"));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("docs")).unwrap();
        let file = ProjectFile::at(&root, "docs/x.md").unwrap();
        assert!(
            file.replace(b"x").is_err() && file.check_writable().is_err() && file.read(10).is_err()
        );
        fs::write(outside.join("y"), "y").unwrap();
        std::os::unix::fs::symlink(outside.join("y"), root.join("y")).unwrap();
        let file = ProjectFile::at(&root, "y").unwrap();
        assert!(file.replace(b"x").is_err() && file.read(10).is_err());
        fs::create_dir(root.join("z")).unwrap();
        assert!(ProjectFile::at(&root, "z").unwrap().replace(b"x").is_err());
        assert_eq!(fs::read(outside.join("y")).unwrap(), b"y");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    }
}
