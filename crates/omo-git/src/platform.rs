//! Differences between Unix and Windows in work trees: a module for each, with the same names in it
//! (docs/adr/0013). Nothing else in this crate asks which system it is on.

#[cfg(unix)]
mod open_folder_unix;
#[cfg(windows)]
mod open_folder_windows;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use open_folder_unix::UnixOpenFolder as OpenFolder;
#[cfg(windows)]
pub(crate) use open_folder_windows::WindowsOpenFolder as OpenFolder;
#[cfg(unix)]
pub(crate) use unix::{
    UnixTreeTop as TreeTop, has_execute_bit, identity, is_of_other_user, lies_in, may_be_run,
    path_of,
};
#[cfg(windows)]
pub(crate) use windows::{
    WindowsTreeTop as TreeTop, has_execute_bit, identity, is_of_other_user, lies_in, may_be_run,
    path_of,
};

/// State of a file or folder, without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    /// `mtime` and `ctime`: seconds since 1970, and nanoseconds.
    pub(crate) times: [(i64, u32); 2],
    /// Inode, size and mode.
    pub(crate) numbers: [u64; 3],
}

impl FileStamp {
    pub(crate) const BYTES: usize = 48;

    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let times = self.times.into_iter();
        let times = times.flat_map(|(seconds, nanos)| {
            seconds.to_le_bytes().into_iter().chain(nanos.to_le_bytes())
        });
        times
            .chain(self.numbers.into_iter().flat_map(u64::to_le_bytes))
            .collect()
    }
}

/// Entry of a folder, opened without a link being followed.
#[derive(Debug)]
pub(crate) enum OpenedEntry {
    File {
        file: std::fs::File,
        is_executable: bool,
        /// Size in bytes when the file was opened.
        size: u64,
    },
    /// Symbolic link with its target.
    Link(std::ffi::OsString),
    /// Missing path, or neither a file nor a link.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FolderEntry {
    Nothing,
    Folder,
    File {
        mode: u32,
    },
    /// Symbolic link with its target.
    Link(std::ffi::OsString),
    /// Special file such as a FIFO, which no work tree keeps.
    Other,
}
