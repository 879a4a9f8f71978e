//! Facts about omo's folder in the state home, with its key and approvals. Creates nothing.

use std::path::{Path, PathBuf};

use omo_state::files::folder::GuardedFolder;
use omo_state::seal::SealKey;
use omo_state::trust::ApprovalList;

use super::super::facts::UserFolder;
use crate::platform;

pub(super) fn gather_user_folder(state_home: Option<&Path>) -> UserFolder {
    let Some(state_home) = state_home else {
        return UserFolder::NoHome;
    };
    let path = state_home.join("omo");
    if path.symlink_metadata().is_err() {
        return absent_folder(path);
    }
    let (key, trust) = (path.join("key"), path.join("trust.json"));
    let mut problems = Vec::new();
    if let Err(error) = GuardedFolder::open_user(state_home) {
        problems.push((error.to_string(), path.clone()));
    } else {
        // Loading a missing key would create one.
        if key.symlink_metadata().is_ok()
            && let Err(error) = SealKey::load(Some(state_home))
        {
            problems.push((error.to_string(), key.clone()));
        }
        if let Err(error) = ApprovalList::load(Some(state_home)) {
            problems.push((error.to_string(), trust.clone()));
        }
    }
    let open_to_others = [path.clone(), key, trust]
        .into_iter()
        .filter(|part| platform::is_open_to_others(part))
        .collect();
    UserFolder::Open {
        path,
        open_to_others,
        problems,
    }
}

fn absent_folder(path: PathBuf) -> UserFolder {
    let above = path
        .ancestors()
        .skip(1)
        .find_map(|folder| Some((folder.to_owned(), folder.metadata().ok()?)));
    match above {
        Some((folder, found)) if !found.is_dir() || found.permissions().readonly() => {
            UserFolder::Unwritable { path, folder }
        }
        _ => UserFolder::Absent(path),
    }
}
