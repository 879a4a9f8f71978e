//! Windows: rights are lists that the user's profile gives.

pub(crate) mod terminal;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::Rights;

/// What a file's list of rights says is not read, and nothing is said of it.
pub(crate) fn is_open_to_others(_path: &Path) -> bool {
    false
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

/// No folder is usual here, and links need rights of their own.
pub(crate) fn terminal_folder() -> Option<PathBuf> {
    None
}

/// Only what launchers run is linked, and launchers are scripts of a shell, which the client does
/// not run here.
#[expect(clippy::unnecessary_wraps, reason = "on other systems it can fail")]
pub(crate) fn link(_to: &Path, _at: &Path) -> io::Result<()> {
    Ok(())
}

/// A path as a text with `/` between its parts; `None` where it is none.
pub(crate) fn with_slashes(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    Some(text.strip_prefix(r"\\?\").unwrap_or(text).replace('\\', "/"))
}
