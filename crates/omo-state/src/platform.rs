//! File operations that differ between systems: a module for each kind, with the same names in it.
//!
//! [`Directory`] is an open folder, from which paths are resolved: links below it are refused, and
//! no other process can swap a part of its path. docs/adr/0013 lists the guarantees by system.

use std::fs::File;
use std::io;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{link_folder, make_removable, may_write};
#[cfg(windows)]
pub use windows::{link_folder, make_removable, may_write};

#[cfg(unix)]
pub(crate) use unix::{
    PROGRAM_ENDINGS, UnixDirectory as Directory, check_regular_file, config_home, data_home,
    exchange, inode, made_at, open_for_reading, reserve, same_variable, state_home, user_number,
};
#[cfg(windows)]
pub(crate) use windows::{
    PROGRAM_ENDINGS, WindowsDirectory as Directory, check_regular_file, config_home, data_home,
    exchange, inode, made_at, open_for_reading, reserve, same_variable, state_home, user_number,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Read,
    Overwrite,
    /// Writing at the end of a file, which is created where missing.
    Append,
    New,
    /// A lock file, which is created where missing.
    Lock,
}

#[derive(Debug)]
pub(crate) enum Trouble {
    System(io::Error),
    /// A link, a FIFO, or another user's file in place of the regular file.
    Refused(&'static str),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// The policy for a link in place of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// For the user's own files, whose links are the user's choice.
    Followed,
    /// For files of a repository, whose author could link to files of the user.
    Refused,
}

#[derive(Debug)]
pub(crate) enum Opened {
    File(File),
    Link,
    Other,
}
