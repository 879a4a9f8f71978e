//! Gathering of the client's settings files, of each scope.

use std::path::Path;

use omo_claude::settings::settings_paths;

use super::super::facts::Settings;
use crate::json_file::read_json;

pub(super) fn gather_settings(client_home: Option<&Path>, root: Option<&Path>) -> Vec<Settings> {
    let places = settings_paths(client_home, root).into_iter();
    places
        .filter_map(|(scope, file)| read_json(&file).map(|value| Settings { scope, file, value }))
        .collect()
}
