//! The client's settings files.

use std::path::{Path, PathBuf};

use super::super::facts::{Scope, Settings};
use crate::json_file::read_json;
use crate::platform::MANAGED_SETTINGS;

/// Reads those that are there.
pub(super) fn gather_settings(client_home: Option<&Path>, root: Option<&Path>) -> Vec<Settings> {
    let mut places: Vec<(Scope, PathBuf)> = Vec::new();
    places.extend(client_home.map(|home| (Scope::User, home.join("settings.json"))));
    let project = root.map(|root| root.join(".claude"));
    // In a home folder both are the same file.
    let project = project.filter(|project| client_home != Some(project.as_path()));
    for (scope, name) in [(Scope::Project, "settings.json"), (Scope::Local, "settings.local.json")] {
        places.extend(project.as_ref().map(|project| (scope, project.join(name))));
    }
    places.extend(managed_settings_paths().into_iter().map(|file| (Scope::Managed, file)));
    let read = |(scope, file): (Scope, PathBuf)| read_json(&file).map(|value| Settings { scope, file, value });
    places.into_iter().filter_map(read).collect()
}

/// The files of the machine's administrator.
fn managed_settings_paths() -> Vec<PathBuf> {
    let folder = Path::new(MANAGED_SETTINGS);
    let parts = std::fs::read_dir(folder.join("managed-settings.d")).into_iter().flatten().flatten();
    let mut parts: Vec<PathBuf> =
        parts.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    parts.sort();
    parts.insert(0, folder.join("managed-settings.json"));
    parts
}
