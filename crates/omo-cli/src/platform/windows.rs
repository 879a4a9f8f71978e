//! Windows: no file modes are set or read, since rights come from the user's profile.

pub(crate) mod terminal;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::Rights;

/// Always `false`, since access control lists are not read.
pub(crate) fn is_open_to_others(_path: &Path) -> bool {
    false
}

/// Path of a program, such as `omo-stop.exe` for `omo-stop`.
pub(crate) fn file_of_program(named: PathBuf) -> PathBuf {
    if named.is_file() {
        named
    } else {
        named.with_extension("exe")
    }
}

#[expect(clippy::unnecessary_wraps, reason = "on other systems it can fail")]
pub(crate) fn set_rights(_file: &File, _rights: Rights) -> io::Result<()> {
    Ok(())
}

pub(crate) fn has_rights(_path: &Path, _rights: Rights) -> bool {
    true
}

pub(crate) fn terminal_folder() -> Option<PathBuf> {
    None
}

/// No link: only launchers need one, and these are shell scripts, which the client does not run on Windows.
#[expect(clippy::unnecessary_wraps, reason = "on other systems it can fail")]
pub(crate) fn link(_to: &Path, _at: &Path) -> io::Result<()> {
    Ok(())
}

pub(crate) fn with_slashes(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    Some(
        text.strip_prefix(r"\\?\")
            .unwrap_or(text)
            .replace('\\', "/"),
    )
}
