//! Linux and macOS: rights as bits, process groups, and signals.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::{Ending, Rights};

/// The client's settings that only the machine's administrator writes.
pub(crate) const MANAGED_SETTINGS: &str =
    if cfg!(target_os = "macos") { "/Library/Application Support/ClaudeCode" } else { "/etc/claude-code" };

/// The shell of a status line.
pub(crate) const SHELL: &str = "/bin/sh";

const ENDINGS: [i32; 3] = [SIGTERM, SIGINT, SIGHUP];

/// Whether others than its owner may do anything with it.
pub(crate) fn is_open_to_others(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

/// Whether a file may be run.
pub(crate) fn may_run(found: &Metadata) -> bool {
    found.is_file() && found.permissions().mode() & 0o111 != 0
}

/// The file that is run where a program is named.
pub(crate) fn file_of_program(named: PathBuf) -> PathBuf {
    named
}

/// Gives a file its rights.
pub(crate) fn set_rights(file: &File, rights: Rights) -> io::Result<()> {
    file.set_permissions(fs::Permissions::from_mode(mode(rights)))
}

/// Whether a file has exactly these rights.
pub(crate) fn has_rights(path: &Path, rights: Rights) -> bool {
    path.metadata().is_ok_and(|found| found.permissions().mode() & 0o777 == mode(rights))
}

fn mode(rights: Rights) -> u32 {
    match rights {
        Rights::Run => 0o755,
        Rights::Read => 0o644,
    }
}

/// Makes a link at a path to another one.
pub(crate) fn link(to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

/// Has a command run in a group of its own.
pub(crate) fn stand_apart(command: &mut Command) {
    command.process_group(0);
}

/// Ends a process that was started in a group of its own, and all of the group.
pub(crate) fn end_group(group: u32, ending: Ending) {
    let signal = match ending {
        Ending::Asked => Signal::TERM,
        Ending::AtOnce => Signal::KILL,
    };
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, signal);
    }
}

/// From now on what asks this process to end is noted, instead of ending it.
pub(crate) fn note_interrupt(interrupted: &Arc<AtomicBool>) {
    for signal in ENDINGS {
        // Where it cannot be watched for, the signal ends this process as it always did.
        let _ = signal_hook::flag::register(signal, Arc::clone(interrupted));
    }
}

/// From now on what asks this process to end is told in a thread of its own, instead of ending it.
pub(crate) fn tell_when_ended(tell: impl FnOnce() + Send + 'static) {
    let Ok((mut signals, writer)) = io::pipe() else { return };
    for signal in ENDINGS {
        let _ = writer.try_clone().and_then(|writer| signal_hook::low_level::pipe::register(signal, writer));
    }
    std::thread::spawn(move || {
        if matches!(signals.read(&mut [0]), Ok(1..)) {
            tell();
        }
    });
}
