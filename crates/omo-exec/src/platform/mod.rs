//! What differs between the systems that omo runs on, as far as processes and work trees go: one
//! module for each kind of system, with the same names in it. Nothing else in this crate asks which
//! system it is on.
//!
//! - [`Shell`] runs the command of a gate, a check or a status line, and [`bash`] finds a better one for
//!   checks; [`Group`] is a gate that runs, with all that it started.
//! - [`CLIENTS`] are the names of the client's program, [`may_run`] tells whether a file is one, and
//!   [`end_group`] ends what was started as one that stands apart.
//! - [`leave_session`] makes a process outlive the terminal that it was started from.
//! - [`own_program`], [`stand_apart`] and [`show_no_window`] are about the keeper and git;
//!   [`note_endings`] and [`tell_ending`] are about being asked to end; [`lies_in`] tells which
//!   programs a project has brought along.
//! - [`is_alive`], [`start_mark`] and [`working_below`] are about processes that somebody else started.
//! - [`Top`] is the top of a work tree, at which one looks without git; [`path_of`] is what git calls
//!   a path, [`identity`] tells one state of a file from another, and [`let_remove`] opens what nobody may empty.
//! - [`Inside`] is a folder of a work tree that is put back as it was; [`variable`] is how a shell's command
//!   names a variable.
//!
//! docs/adr/0013 says what holds on which system, and what does not.

#[cfg(unix)]
mod inside_unix;
#[cfg(windows)]
mod inside_windows;
#[cfg(target_os = "linux")]
mod orphans;
#[cfg(target_os = "linux")]
mod stat;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;
#[cfg(target_os = "linux")]
mod working;

#[cfg(unix)]
pub(crate) use inside_unix::{Inside, variable};
#[cfg(windows)]
pub(crate) use inside_windows::{Inside, variable};
#[cfg(unix)]
pub(crate) use unix::{
    CLIENTS, Group, Shell, Top, bash, end_group, identity, is_alive, leave_session, let_remove, lies_in, may_run,
    note_endings, own_program, path_of, show_no_window, stand_apart, start_mark, tell_ending,
};
#[cfg(windows)]
pub(crate) use windows::{
    CLIENTS, Group, Shell, Top, bash, end_group, identity, is_alive, leave_session, let_remove, lies_in, may_run,
    note_endings, own_program, path_of, show_no_window, stand_apart, start_mark, tell_ending,
};

#[cfg(target_os = "linux")]
pub(crate) use working::working_below;

/// Where a system does not say which folder another process works in, nobody is seen.
#[cfg(not(target_os = "linux"))]
pub(crate) fn working_below(_folder: &std::path::Path) -> Vec<u32> {
    Vec::new()
}

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

/// What has a name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
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
