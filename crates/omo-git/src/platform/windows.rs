//! The functions of `platform` for Windows, which has no reliable time of change of a file.

use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::FileStamp;

pub(crate) fn has_execute_bit(_meta: &std::fs::Metadata) -> bool {
    false
}

pub(crate) fn may_be_run(_meta: &std::fs::Metadata) -> bool {
    true
}

pub(crate) fn is_of_other_user(_path: &Path) -> bool {
    false
}

/// `true` for a path in or below the folder, without regard to case.
pub(crate) fn lies_in(path: &Path, folder: &Path) -> bool {
    lower_path(path).starts_with(lower_path(folder))
}

fn lower_path(path: &Path) -> PathBuf {
    PathBuf::from(path.to_string_lossy().to_lowercase())
}

pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

pub(crate) fn identity(file: &File) -> io::Result<String> {
    let known = winapi_util::file::information(file)?;
    let (volume, index) = (known.volume_serial_number(), known.file_index());
    Ok(format!(
        "{volume}:{index}:{}:{:?}",
        known.file_size(),
        known.last_write_time()
    ))
}

/// A work tree that is never opened: safe code cannot read the time of change here, and any program can set back the
/// time of writing. So `git` is asked each time.
pub(crate) struct WindowsTreeTop(Infallible);

impl WindowsTreeTop {
    pub(crate) fn open(_path: &Path) -> Option<Self> {
        None
    }

    #[expect(clippy::option_option, reason = "as on other systems")]
    pub(crate) fn look(&self, _path: &[u8]) -> Option<Option<FileStamp>> {
        match self.0 {}
    }

    pub(crate) fn folders(&self, _folder: &[u8]) -> Option<Vec<Vec<u8>>> {
        match self.0 {}
    }
}
