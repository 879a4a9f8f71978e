//! Platform code about processes, in which each system exports the same names (docs/adr/0013).
//! Nothing else in this crate asks which system it is on.

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
pub use groups::{UnixProcessGroup as ProcessGroup, end_group};
#[cfg(unix)]
pub(crate) use groups::{end_groups, flag_termination, reset_signals_of_started_programs};
#[cfg(unix)]
pub(crate) use unix::{
    FILE_OPENER, UnixShell as Shell, is_alive, leave_session, outlive_size_limit, show_no_window,
    start_mark, step_back,
};
#[cfg(unix)]
pub use unix::{
    IN_PLACE_OF_SHELL, bash, is_executable, own_program, shell_variable, start_own_group,
};
#[cfg(windows)]
pub(crate) use windows::{
    FILE_OPENER, WindowsShell as Shell, end_groups, flag_termination, is_alive, leave_session,
    outlive_size_limit, reset_signals_of_started_programs, show_no_window, start_mark, step_back,
};
#[cfg(windows)]
pub use windows::{
    IN_PLACE_OF_SHELL, WindowsProcessGroup as ProcessGroup, bash, end_group, is_executable,
    own_program, shell_variable, start_own_group,
};

#[cfg(target_os = "linux")]
pub use ancestors::{ancestors, owner_home, process_name, process_variable, working_folder};
#[cfg(target_os = "linux")]
pub(crate) use orphans::{adopt_orphans, end_orphans, hide_memory};
#[cfg(target_os = "linux")]
pub use working_processes::working_below;

#[cfg(not(target_os = "linux"))]
pub(crate) fn adopt_orphans() {}

#[cfg(not(target_os = "linux"))]
pub(crate) fn hide_memory() {}

#[cfg(not(target_os = "linux"))]
pub(crate) fn end_orphans() {}

#[cfg(not(target_os = "linux"))]
pub fn working_below(_folder: &std::path::Path) -> Vec<u32> {
    Vec::new()
}

/// Empty: the parent of a process is unknown here.
#[cfg(not(target_os = "linux"))]
pub fn ancestors() -> Vec<u32> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
pub fn process_variable(_pid: u32, _name: &str) -> Option<String> {
    None
}

#[cfg(not(target_os = "linux"))]
pub fn working_folder(_pid: u32) -> Option<std::path::PathBuf> {
    None
}

#[cfg(not(target_os = "linux"))]
pub fn process_name(_pid: u32) -> Option<String> {
    None
}

#[cfg(not(target_os = "linux"))]
pub fn owner_home(_pid: u32) -> Option<std::path::PathBuf> {
    None
}

/// Ways to end a process group, the gentlest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupEnding {
    /// `SIGINT`: time for a last report.
    Interrupted,
    /// `SIGTERM`: time to clean up.
    Asked,
    /// `SIGKILL`.
    AtOnce,
}

/// Fate of processes left in a `ProcessGroup` at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leftovers {
    Ended,
    Free,
}
