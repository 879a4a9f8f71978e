//! Differences between the systems that omo runs on, as far as its files go: one module for each
//! kind of system, with the same names in it. Nothing else in this crate asks which system it is
//! on.
//!
//! [`Directory`] is an open folder, and every step into it is taken from there: links below it are
//! refused by all of its functions, and no other process can swap a part of its path in between.
//! docs/adr/0013 says what holds on which system, and what does not.

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
    Directory, PROGRAM_ENDINGS, check, config_home, data_home, exchange, made_at, number,
    open_for_reading, reserve, same_variable, state_home, user_number,
};
#[cfg(windows)]
pub(crate) use windows::{
    Directory, PROGRAM_ENDINGS, check, config_home, data_home, exchange, made_at, number,
    open_for_reading, reserve, same_variable, state_home, user_number,
};

/// Access to a file of omo's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Reading an existing file.
    Read,
    /// Writing over an existing file.
    Overwrite,
    /// Writing at the end; made where missing.
    Append,
    /// Writing a new file; an existing one is an error.
    New,
    /// Locking; made where missing.
    Lock,
}

/// Failure of an access below a [`Directory`].
#[derive(Debug)]
pub(crate) enum Trouble {
    /// Error of the system.
    System(io::Error),
    /// Something else in its place: a link, a FIFO, another user's file.
    Refused(&'static str),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// Policy for a symbolic link in the place of a file that is not omo's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Followed: its owner's affair.
    Followed,
    /// Refused: the author of a repository must not have omo read the files of its user.
    Refused,
}

#[derive(Debug)]
pub(crate) enum Opened {
    File(File),
    /// A link, under `Links::Refused`.
    Link,
    Other,
}
