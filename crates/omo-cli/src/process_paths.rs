//! `current_folder` and `own_program`: where this process runs, and the program file that it runs.

use std::path::PathBuf;

use crate::error::CommandError;

pub(crate) fn current_folder() -> Result<PathBuf, CommandError> {
    std::env::current_dir().map_err(|error| {
        CommandError::io(
            format!("the current folder cannot be found: {error}"),
            "`cd` to a folder that is there, then run this again",
        )
    })
}

/// Absolute path of the running `omo`, links followed.
pub(crate) fn own_program() -> Result<PathBuf, CommandError> {
    std::env::current_exe()
        .and_then(|program| program.canonicalize())
        .map_err(|error| {
            CommandError::io(
                format!("the file of this program cannot be found: {error}"),
                "start `omo` by its full path; if it was replaced meanwhile, run this again",
            )
        })
}
