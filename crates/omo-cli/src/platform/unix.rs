//! Linux and macOS: rights are mode bits.

pub(crate) mod terminal;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::Rights;

pub(crate) fn is_open_to_others(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

pub(crate) fn file_of_program(named: PathBuf) -> PathBuf {
    named
}

pub(crate) fn set_rights(file: &File, rights: Rights) -> io::Result<()> {
    file.set_permissions(fs::Permissions::from_mode(mode(rights)))
}

pub(crate) fn has_rights(path: &Path, rights: Rights) -> bool {
    path.metadata()
        .is_ok_and(|found| found.permissions().mode() & 0o777 == mode(rights))
}

fn mode(rights: Rights) -> u32 {
    match rights {
        Rights::Run => 0o755,
        Rights::Read => 0o644,
    }
}

/// The user's program folder, `~/.local/bin`.
pub(crate) fn terminal_folder() -> Option<PathBuf> {
    Some(omo_state::env::home()?.join(".local").join("bin"))
}

pub(crate) fn link(to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

/// A path with `/` separators; `None` if not UTF-8.
pub(crate) fn with_slashes(path: &Path) -> Option<String> {
    path.to_str().map(str::to_owned)
}
