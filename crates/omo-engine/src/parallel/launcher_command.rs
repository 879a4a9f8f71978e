//! The program that a filled-in command of a launcher names.

use std::path::{Path, PathBuf};

use omo_core::text::sanitize;
use omo_state::search_path::SearchPath;

use crate::launcher::{LauncherPlaceholder, LauncherTemplate};

/// The program of a template and its arguments, with these values in them. A program that is named by a path lies where
/// the project does, and another one on the PATH.
///
/// # Errors
///
/// The template cannot be filled in, or there is no such program; in words.
pub(super) fn find_command<'v>(
    template: &str,
    root: &Path,
    value_of: impl Fn(LauncherPlaceholder) -> &'v str,
) -> Result<(PathBuf, Vec<String>), String> {
    let words = LauncherTemplate::parse(template).and_then(|launcher| launcher.fill(value_of));
    let mut words = words.map_err(|error| error.to_string())?.into_iter();
    let program = words.next().unwrap_or_default();
    let found = if program.contains(['/', '\\']) {
        Some(root.join(&program))
    } else {
        SearchPath::from_process().find(&program)
    };
    let found = found.ok_or_else(|| format!("no `{}` is on the PATH", sanitize(&program, 60)))?;
    Ok((found, words.collect()))
}
