//! Windows: rights are lists that the user's profile gives, and nobody is asked to end.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{Ending, Rights};

/// The client's settings that only the machine's administrator writes.
pub(crate) const MANAGED_SETTINGS: &str = r"C:\Program Files\ClaudeCode";

/// The shell of a status line, which Git for Windows brings along.
pub(crate) const SHELL: &str = "sh";

/// What a file's list of rights says is not read, and nothing is said of it.
pub(crate) fn is_open_to_others(_path: &Path) -> bool {
    false
}

/// Whether a file may be run: every one may be tried.
pub(crate) fn may_run(found: &Metadata) -> bool {
    found.is_file()
}

/// The file that is run where a program is named: `omo-stop.exe` for `omo-stop`.
pub(crate) fn file_of_program(named: PathBuf) -> PathBuf {
    if named.is_file() { named } else { named.with_extension("exe") }
}

/// A file has the rights of the folder that it is made in.
#[expect(clippy::unnecessary_wraps, reason = "on other systems it can fail")]
pub(crate) fn set_rights(_file: &File, _rights: Rights) -> io::Result<()> {
    Ok(())
}

/// A file has the rights of the folder that it was made in.
pub(crate) fn has_rights(_path: &Path, _rights: Rights) -> bool {
    true
}

/// Only what launchers run is linked, and launchers are scripts of a shell, which the client does
/// not run here.
#[expect(clippy::unnecessary_wraps, reason = "on other systems it can fail")]
pub(crate) fn link(_to: &Path, _at: &Path) -> io::Result<()> {
    Ok(())
}

/// There are no groups of processes to be in.
pub(crate) fn stand_apart(_command: &mut Command) {}

/// What it has started in the background is its own affair.
pub(crate) fn end_group(_group: u32, _ending: Ending) {}

/// Ctrl-C ends this process at once, and its temporary folder is left to the system.
pub(crate) fn note_interrupt(_interrupted: &Arc<AtomicBool>) {}

/// Whoever wants no more of this process ends it.
pub(crate) fn tell_when_ended(_tell: impl FnOnce() + Send + 'static) {}
