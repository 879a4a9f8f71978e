//! What differs between the systems that omo runs on, as far as processes go: one module for each kind of system, with
//! the same names in it. Nothing else in this crate asks which system it is on.
//!
//! - [`Shell`] runs the command of a check or of a status line, [`bash`] finds a better one for checks, and
//!   [`shell_variable`] is how a command names a variable. [`IN_PLACE_OF_SHELL`] begins one that needs no shell around
//!   it.
//! - [`ProcessGroup`] is a process that runs, with all that it started; [`end_groups`] ends every one before this process
//!   ends, [`end_group`] one that another process has started. [`adopt_orphans`] and [`end_orphans`] are about what
//!   has left its group, and [`hide_memory`] keeps what is in it from looking into this process.
//! - [`FILE_OPENER`] is the program that shows a file to its user, with what stands before the file.
//! - [`is_executable`] tells whether a file is a program.
//! - [`leave_session`] makes a process outlive the terminal that it was started from.
//! - [`own_program`], [`start_own_group`] and [`show_no_window`] are about omo's own processes; [`flag_termination`] is
//!   about being asked to end.
//! - [`is_alive`], [`start_mark`] and [`working_below`] are about processes that omo did not start;
//!   [`ancestors`], [`process_variable`], [`working_folder`], [`process_name`] and [`owner_home`] about those that started this one.
//! - [`outlive_size_limit`] keeps a limit on the size of files from ending the process; [`timer`] ends the process without
//!   a thread, where the system has such a thing.
//!
//! docs/adr/0013 says what holds on which system, and what does not.

#[cfg(target_os = "linux")]
mod ancestors;
#[cfg(unix)]
mod groups;
#[cfg(target_os = "linux")]
mod orphans;
#[cfg(target_os = "linux")]
mod stat;
#[cfg_attr(not(target_os = "linux"), path = "platform/no_timer.rs")]
pub(crate) mod timer;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;
#[cfg(target_os = "linux")]
mod working_processes;

#[cfg(unix)]
pub use groups::{ProcessGroup, end_group};
#[cfg(unix)]
pub(crate) use groups::{end_groups, flag_termination, reset_signals_of_started_programs};
#[cfg(unix)]
pub(crate) use unix::{FILE_OPENER, Shell, is_alive, leave_session, outlive_size_limit, show_no_window, start_mark};
#[cfg(unix)]
pub use unix::{IN_PLACE_OF_SHELL, bash, is_executable, own_program, shell_variable, start_own_group};
#[cfg(windows)]
pub(crate) use windows::{
    FILE_OPENER, Shell, end_groups, flag_termination, is_alive, leave_session, outlive_size_limit,
    reset_signals_of_started_programs, show_no_window, start_mark,
};
#[cfg(windows)]
pub use windows::{
    IN_PLACE_OF_SHELL, ProcessGroup, bash, end_group, is_executable, own_program, shell_variable, start_own_group,
};

#[cfg(target_os = "linux")]
pub use ancestors::{ancestors, owner_home, process_name, process_variable, working_folder};
#[cfg(target_os = "linux")]
pub(crate) use orphans::{adopt_orphans, end_orphans, hide_memory};
#[cfg(target_os = "linux")]
pub use working_processes::working_below;

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
pub fn working_below(_folder: &std::path::Path) -> Vec<u32> {
    Vec::new()
}

/// Where a system does not say which process started another, none is known.
#[cfg(not(target_os = "linux"))]
pub fn ancestors() -> Vec<u32> {
    Vec::new()
}

/// What is in the environment of another process is not told.
#[cfg(not(target_os = "linux"))]
pub fn process_variable(_pid: u32, _name: &str) -> Option<String> {
    None
}

/// In which folder another process works is not told.
#[cfg(not(target_os = "linux"))]
pub fn working_folder(_pid: u32) -> Option<std::path::PathBuf> {
    None
}

/// What another process is called is not told.
#[cfg(not(target_os = "linux"))]
pub fn process_name(_pid: u32) -> Option<String> {
    None
}

/// Whose process another one is is not told.
#[cfg(not(target_os = "linux"))]
pub fn owner_home(_pid: u32) -> Option<std::path::PathBuf> {
    None
}

/// How a group of processes is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupEnding {
    /// It may say what came of it so far, as it does where a person interrupts it.
    Interrupted,
    /// It may put its things away.
    Asked,
    /// It had its time.
    AtOnce,
}

/// What becomes of what a process leaves running in its group when it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leftovers {
    /// It is ended.
    Ended,
    /// It goes on.
    Free,
}
