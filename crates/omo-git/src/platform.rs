//! Differences between the systems that omo runs on, as far as work trees go: one module for each
//! kind of system, with the same names in it. Nothing else in this crate asks which system it is
//! on.
//!
//! [`TreeTop`] looks at a work tree without git, and [`OpenFolder`] is a folder of a work tree that
//! is put back as it was. docs/adr/0013 says what holds on which system, and what does not.

#[cfg(unix)]
mod open_folder_unix;
#[cfg(windows)]
mod open_folder_windows;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use open_folder_unix::OpenFolder;
#[cfg(windows)]
pub(crate) use open_folder_windows::OpenFolder;
#[cfg(unix)]
pub(crate) use unix::{
    TreeTop, has_execute_bit, identity, is_of_other_user, lies_in, may_be_run, path_of,
};
#[cfg(windows)]
pub(crate) use windows::{
    TreeTop, has_execute_bit, identity, is_of_other_user, lies_in, may_be_run, path_of,
};

/// State of a file or folder, as far as can be seen without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    /// Times of content and of status: seconds since 1970, and nanoseconds.
    pub(crate) times: [(i64, u32); 2],
    /// Inode, size and mode.
    pub(crate) numbers: [u64; 3],
}

impl FileStamp {
    /// Length of [`FileStamp::to_bytes`].
    pub(crate) const BYTES: usize = 48;

    /// As bytes, the same for the same stamp.
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

/// A folder entry, opened to read it where it is a file.
#[derive(Debug)]
pub(crate) enum OpenedEntry {
    /// A file.
    File {
        /// To read it.
        file: std::fs::File,
        /// Execute bit.
        is_executable: bool,
        /// Size at the opening, in bytes.
        size: u64,
    },
    /// A link, and where it points.
    Link(std::ffi::OsString),
    /// Nothing, or something that is neither.
    Other,
}

/// A folder entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FolderEntry {
    /// Nothing.
    Nothing,
    /// A folder.
    Folder,
    /// A file, and who may do what with it.
    File { mode: u32 },
    /// A link, and where it points.
    Link(std::ffi::OsString),
    /// Something that no work tree keeps: a FIFO say.
    Other,
}
