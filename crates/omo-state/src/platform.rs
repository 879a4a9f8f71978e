//! What differs between the systems that omo runs on, as far as its files go: one module for each
//! kind of system, with the same names in it. Nothing else in this crate asks which system it is on.
//!
//! - [`Directory`] is an open folder, and every step into it is taken from there: links below it
//!   are refused by all of its functions, and no other process can swap a part of its path in between.
//! - [`check`] tells whether an open file is one that omo made, and its size; [`reserve`] has room
//!   made for a new one.
//! - [`exchange`] puts a folder in the place of another one; [`open_for_reading`] opens a file that is not omo's own.
//! - [`config_home`], [`state_home`] and [`data_home`] are where programs keep things for their user, and
//!   [`same_variable`] is how variables are told apart; [`PROGRAM_ENDINGS`] is what the file of a
//!   program may end with.
//! - [`link_folder`] makes a folder be found in a second place, [`may_write`] tells whether files can be made in one, and
//!   [`make_removable`] makes read-only folders writable.
//!
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
    Directory, PROGRAM_ENDINGS, check, config_home, data_home, exchange, made_at, number, open_for_reading, reserve,
    same_variable, state_home, user_number,
};
#[cfg(windows)]
pub(crate) use windows::{
    Directory, PROGRAM_ENDINGS, check, config_home, data_home, exchange, made_at, number, open_for_reading, reserve,
    same_variable, state_home, user_number,
};

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To read one that is there.
    Read,
    /// To write over one that is there.
    Overwrite,
    /// To write at its end, making it where there is none.
    Append,
    /// To write one that was not there.
    New,
    /// To lock it, making it where there is none.
    Lock,
}

/// Why something in a folder could not be used.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The system refused.
    System(io::Error),
    /// It is something else than what belongs there.
    Refused(&'static str),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// What becomes of a symbolic link in the place of a file that is not omo's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// It is its owner's affair, and is followed.
    Followed,
    /// It is in a repository, whose author must not have omo read the files of its user.
    Refused,
}

/// What stands in the place of a file that is not omo's own.
#[derive(Debug)]
pub(crate) enum Opened {
    /// A regular file.
    File(File),
    /// A link, where those are refused.
    Link,
    /// Something else.
    Other,
}
