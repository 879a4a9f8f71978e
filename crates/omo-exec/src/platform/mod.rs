//! What differs between the systems that omo runs on, as far as processes and work trees go: one
//! module for each kind of system, with the same names in it. Nothing else in this crate asks which
//! system it is on.
//!
//! - [`Shell`] runs the command of a gate, a check or a status line, and [`bash`] finds a better one for
//!   checks; [`Group`] is a gate that runs, with all that it started.
//! - [`CLIENTS`] are the names of the client's program, [`may_run`] tells whether a file is one, and
//!   [`end_group`] ends what was started as one that stands apart.
//! - [`own_program`], [`stand_apart`] and [`show_no_window`] are about the keeper and git;
//!   [`note_endings`] and [`tell_ending`] are about being asked to end; [`lies_in`] tells which
//!   programs a project has brought along.
//! - [`is_alive`] and [`start_mark`] are about a process that somebody else started.
//! - [`Top`] is the top of a work tree, at which one looks without git; [`path_of`] is what git calls
//!   a path, and [`identity`] tells one state of a file from another.
//!
//! docs/adr/0013 says what holds on which system, and what does not.

#[cfg(target_os = "linux")]
mod orphans;
#[cfg(target_os = "linux")]
mod stat;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{
    CLIENTS, Group, Shell, Top, bash, end_group, identity, is_alive, lies_in, may_run, note_endings, own_program,
    path_of, show_no_window, stand_apart, start_mark, tell_ending,
};
#[cfg(windows)]
pub(crate) use windows::{
    CLIENTS, Group, Shell, Top, bash, end_group, identity, is_alive, lies_in, may_run, note_endings, own_program,
    path_of, show_no_window, stand_apart, start_mark, tell_ending,
};

/// How a group of processes is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It may put its things away.
    Asked,
    /// It had its time.
    AtOnce,
}

/// What tells one state of a file or folder from another, as far as can be seen without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// When it was written, and when anything about it was changed: seconds since 1970, and nanoseconds.
    pub(crate) times: [(i64, u32); 2],
    /// Its number, its size, and what it is.
    pub(crate) numbers: [u64; 3],
}
