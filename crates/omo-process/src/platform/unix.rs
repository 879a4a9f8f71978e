//! Linux and macOS: `/bin/sh` or bash for a check, sessions of processes, and marks of their start.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use omo_state::search_path::{ProjectFolders, SearchPath};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

pub(crate) enum UnixShell {
    /// `/bin/sh`.
    Posix,
    /// bash with `pipefail`.
    Bash(PathBuf),
}

impl UnixShell {
    pub(crate) fn find() -> Self {
        Self::Posix
    }

    pub(crate) fn bash(program: PathBuf) -> Self {
        Self::Bash(program)
    }

    pub(crate) fn program(&self) -> PathBuf {
        match self {
            Self::Posix => PathBuf::from("/bin/sh"),
            Self::Bash(program) => program.clone(),
        }
    }

    /// Adds the arguments that have the shell execute `run`.
    #[expect(
        clippy::unnecessary_wraps,
        reason = "on other systems one of them cannot take everything"
    )]
    pub(crate) fn give(&self, command: &mut Command, run: &str) -> io::Result<()> {
        if matches!(self, Self::Bash(_)) {
            command.args(["-o", "pipefail"]);
        }
        command.arg("-c").arg(run);
        Ok(())
    }
}

/// A variable as one word of a shell command.
pub fn shell_variable(name: &str) -> String {
    format!("\"${name}\"")
}

/// Prefix that replaces the shell by the program, so that what ends the shell ends the program.
pub const IN_PLACE_OF_SHELL: &str = "exec ";

/// The machine's bash for checks: never a file of the project, however its path is written.
pub fn bash(search: &SearchPath, project: &Path) -> Option<PathBuf> {
    let project = ProjectFolders::from_iter([project.to_owned()]);
    let search = search.clone().outside(&project);
    search
        .find_all("bash")
        .find(|bash| !project.contain(bash) && is_executable(bash))
}

pub(crate) fn is_alive(pid: u32) -> Option<bool> {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return Some(false);
    };
    match test_kill_process(pid) {
        // A process of another user refuses the signal, and so is there.
        Ok(()) | Err(Errno::PERM) => Some(!has_ended(pid)),
        Err(Errno::SRCH) => Some(false),
        Err(_) => None,
    }
}

/// `true` for a zombie.
#[cfg(target_os = "linux")]
fn has_ended(pid: Pid) -> bool {
    super::stat::stat_of(pid.as_raw_nonzero().get())
        .is_some_and(|stat| matches!(stat.state.as_str(), "Z" | "X"))
}

#[cfg(not(target_os = "linux"))]
fn has_ended(_pid: Pid) -> bool {
    false
}

#[cfg(target_os = "linux")]
pub(crate) fn start_mark(pid: u32) -> Option<String> {
    super::stat::stat_of(i32::try_from(pid).ok()?).map(|stat| stat.start)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn start_mark(_pid: u32) -> Option<String> {
    None
}

pub fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
}

/// Program that shows a file to its user, with its arguments.
pub(crate) const FILE_OPENER: (&str, &[&str]) = if cfg!(target_os = "macos") {
    ("open", &[])
} else {
    ("xdg-open", &[])
};

/// This very program, even once an update has replaced its file (`/proc`).
pub fn own_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        Ok(PathBuf::from("/proc/self/exe"))
    } else {
        std::env::current_exe()
    }
}

/// Lets a process outlive the group of its caller.
pub fn start_own_group(command: &mut Command) {
    command.process_group(0);
}

/// Moves this process into a session of its own (`setsid`).
pub(crate) fn leave_session() -> io::Result<()> {
    rustix::process::setsid().map(drop).map_err(io::Error::from)
}

pub(crate) fn step_back() {
    const LOWEST: i32 = 19;
    let _ = rustix::process::setpriority_process(None, LOWEST);
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
        let Ok(allowed) = sched_getaffinity(None) else {
            return;
        };
        let mut one = CpuSet::new();
        if let Some(last) = (0..CpuSet::MAX_CPU).rev().find(|&cpu| allowed.is_set(cpu)) {
            one.set(last);
            let _ = sched_setaffinity(None, &one);
        }
    }
}

pub(crate) fn show_no_window(_command: &mut Command) {}

pub(crate) fn outlive_size_limit() {
    use nix::sys::signal::{SigSet, Signal};
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    // Without this block everything else still holds.
    let _ = signals.thread_block();
}
