//! Remembers the plugin's data folder, which the client names only to hooks: the hook of prompts
//! notes it in the user's state, where `omo` finds it.

use std::path::{Path, PathBuf};

use crate::env;
use crate::files::folder::{FolderError, GuardedFolder};

const FILE: &str = "plugin-data";
const MAX_BYTES: u64 = 4096;

/// Notes the folder if it is new; a path that is no text is left out.
///
/// # Errors
///
/// State of the user that cannot be read or written.
pub fn remember_plugin_data(state_home: Option<&Path>) -> Result<(), FolderError> {
    let [data, _] = env::plugin_folders();
    let (Some(state_home), Some(data)) = (state_home, data.as_deref().and_then(Path::to_str))
    else {
        return Ok(());
    };
    let folder = GuardedFolder::create_user(state_home)?;
    if folder.read(FILE, MAX_BYTES)?.as_deref() == Some(data.as_bytes()) {
        return Ok(());
    }
    folder.replace(FILE, data.as_bytes())
}

/// Data folder of the plugin, from this process's environment or the note.
pub fn find_plugin_data(state_home: &Path) -> Option<PathBuf> {
    let [named, _] = env::plugin_folders();
    named.or_else(|| {
        let noted = GuardedFolder::open_user(state_home)
            .ok()??
            .read(FILE, MAX_BYTES)
            .ok()??;
        let path = PathBuf::from(String::from_utf8(noted).ok()?);
        path.is_absolute().then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_absolute_path_that_was_noted_is_found() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(find_plugin_data(home.path()), None);
        let folder = GuardedFolder::create_user(home.path()).unwrap();
        for (noted, expected) in [
            ("/data/omo-inline", Some("/data/omo-inline")),
            ("data", None),
            ("", None),
        ] {
            folder.replace(FILE, noted.as_bytes()).unwrap();
            assert_eq!(
                find_plugin_data(home.path()),
                expected.map(PathBuf::from),
                "{noted:?}"
            );
        }
    }
}
