//! What differs between the systems that omo runs on, as far as processes and work trees go: one
//! module for each kind of system, with the same names in it. Nothing else in this crate asks which
//! system it is on.
//!
//! - [`Shell`] runs the command of a check or of a status line, and [`bash`] finds a better one for
//!   checks.
//! - [`ProcessGroup`] is a process that runs, with all that it started; [`end_groups`] ends every one before this process
//!   ends, [`end_group`] one that another process has started. [`adopt_orphans`] and [`end_orphans`] are about what
//!   has left its group, and [`hide_memory`] keeps what is in it from looking into this process.
//! - [`CLIENTS`] are the names of the client's program, and [`is_executable`] tells whether a file is one.
//! - [`leave_session`] makes a process outlive the terminal that it was started from.
//! - [`own_program`], [`start_own_group`] and [`show_no_window`] are about omo's own processes; [`flag_termination`] is
//!   about being asked to end; [`lies_in`] tells which programs a project has brought along.
//! - [`is_alive`], [`start_mark`] and [`working_below`] are about processes that omo did not start;
//!   [`ancestors`], [`process_variable`], [`working_folder`], [`process_name`] and [`owner_home`] about those that started this one.
//! - [`TreeTop`] is the top of a work tree, at which one looks without git; [`path_of`] is what git calls
//!   a path, [`identity`] tells one state of a file from another, and [`make_removable`] makes read-only folders writable.
//! - [`link_folder`] makes a folder be found in a second place.
//! - [`FolderWatch`] tells of folders that were moved, even if they were moved back, and of what happened in them,
//!   which is [`PathEvent`].
//! - [`OpenFolder`] is a folder of a work tree that is put back as it was; [`variable`] is how a shell's command
//!   names a variable.
//!
//! docs/adr/0013 says what holds on which system, and what does not.

#[cfg(target_os = "linux")]
pub(crate) mod ancestors;
#[cfg(unix)]
mod groups;
#[cfg(target_os = "linux")]
mod moves;
#[cfg(unix)]
mod open_folder_unix;
#[cfg(windows)]
mod open_folder_windows;
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
pub(crate) use groups::{ProcessGroup, end_group, end_groups, flag_termination};
#[cfg(unix)]
pub(crate) use open_folder_unix::{OpenFolder, variable};
#[cfg(windows)]
pub(crate) use open_folder_windows::{OpenFolder, variable};
#[cfg(unix)]
pub(crate) use unix::{
    CLIENTS, Shell, TreeTop, bash, has_execute_bit, identity, is_alive, is_executable, leave_session, lies_in,
    link_folder, make_removable, own_program, path_of, show_no_window, start_mark, start_own_group,
};
#[cfg(windows)]
pub(crate) use windows::{
    CLIENTS, ProcessGroup, Shell, TreeTop, bash, end_group, end_groups, flag_termination, has_execute_bit, identity,
    is_alive, is_executable, leave_session, lies_in, link_folder, make_removable, own_program, path_of, show_no_window,
    start_mark, start_own_group,
};

#[cfg(target_os = "linux")]
pub(crate) use ancestors::{ancestors, owner_home, process_name, process_variable, working_folder};
#[cfg(target_os = "linux")]
pub(crate) use moves::FolderWatch;
#[cfg(target_os = "linux")]
pub(crate) use orphans::{adopt_orphans, end_orphans, hide_memory};
#[cfg(target_os = "linux")]
pub(crate) use working::working_below;

/// Elsewhere what has left its group is not seen.
#[cfg(not(target_os = "linux"))]
pub(crate) fn adopt_orphans() {}

/// Elsewhere the system alone says who may look into a process.
#[cfg(not(target_os = "linux"))]
pub(crate) fn hide_memory() {}

/// There are none.
#[cfg(not(target_os = "linux"))]
pub(crate) fn end_orphans() {}

/// Where a system does not say which folder another process works in, none is found.
#[cfg(not(target_os = "linux"))]
pub(crate) fn working_below(_folder: &std::path::Path) -> Vec<u32> {
    Vec::new()
}

/// Where a system does not say which process started another, none is known.
#[cfg(not(target_os = "linux"))]
pub(crate) fn ancestors() -> Vec<u32> {
    Vec::new()
}

/// What is in the environment of another process is not told.
#[cfg(not(target_os = "linux"))]
pub(crate) fn process_variable(_pid: u32, _name: &str) -> Option<String> {
    None
}

/// In which folder another process works is not told.
#[cfg(not(target_os = "linux"))]
pub(crate) fn working_folder(_pid: u32) -> Option<std::path::PathBuf> {
    None
}

/// What another process is called is not told.
#[cfg(not(target_os = "linux"))]
pub(crate) fn process_name(_pid: u32) -> Option<String> {
    None
}

/// Whose process another one is is not told.
#[cfg(not(target_os = "linux"))]
pub(crate) fn owner_home(_pid: u32) -> Option<std::path::PathBuf> {
    None
}

/// Other systems do not tell what happened in a folder and was taken back: there is no watch.
#[cfg(not(target_os = "linux"))]
pub(crate) enum FolderWatch {}

#[cfg(not(target_os = "linux"))]
impl FolderWatch {
    pub(crate) fn begin(
        _above: impl Iterator<Item = std::path::PathBuf>,
        _folders: impl Iterator<Item = std::path::PathBuf>,
    ) -> Option<Self> {
        None
    }

    pub(crate) fn look(&self) {
        match *self {}
    }

    pub(crate) fn moved(&self) -> Option<std::path::PathBuf> {
        match *self {}
    }

    pub(crate) fn touched(&self) -> std::collections::BTreeMap<std::path::PathBuf, PathEvent> {
        match *self {}
    }

    pub(crate) fn is_whole(&self) -> bool {
        match *self {}
    }
}

/// What happened at a path of a folder that is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathEvent {
    /// It came there.
    pub(crate) is_new: bool,
    /// It was a folder.
    pub(crate) is_folder: bool,
}

/// How a group of processes is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupEnding {
    /// It may put its things away.
    Asked,
    /// It had its time.
    AtOnce,
}

/// What becomes of what a process leaves running in its group when it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leftovers {
    /// It is ended.
    Ended,
    /// It goes on.
    Free,
}

/// What tells one state of a file or folder from another, as far as can be seen without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    /// When it was written, and when anything about it was changed: seconds since 1970, and nanoseconds.
    pub(crate) times: [(i64, u32); 2],
    /// Its number, its size, and what it is.
    pub(crate) numbers: [u64; 3],
}

impl FileStamp {
    /// How long it is as bytes.
    pub(crate) const BYTES: usize = 48;

    /// As bytes, the same for the same stamp.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let times = self.times.into_iter();
        let times = times.flat_map(|(seconds, nanos)| seconds.to_le_bytes().into_iter().chain(nanos.to_le_bytes()));
        times.chain(self.numbers.into_iter().flat_map(u64::to_le_bytes)).collect()
    }
}

/// What has a name in a folder.
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
