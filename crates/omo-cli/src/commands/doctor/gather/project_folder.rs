//! Facts about the project folder: its root, `CLAUDE_PROJECT_DIR`, and missing write permission.

use std::path::Path;

use omo_state::env::ProcessEnv;
use omo_state::files::folder::unwritable_folder;
use omo_state::project_root;

use super::super::facts::{ProjectDirKind, ProjectFolderFacts};
use super::Surroundings;

pub(super) fn gather_project_folder(
    env: &ProcessEnv,
    surroundings: &Surroundings,
) -> ProjectFolderFacts {
    let folder = std::env::current_dir().ok();
    let variable = surroundings.text("CLAUDE_PROJECT_DIR").map(|text| {
        let kind = classify_project_dir(Path::new(&text));
        (text, kind)
    });
    let root = env
        .project_dir
        .clone()
        .or_else(|| project_root::find_project(folder.as_deref()?));
    let unwritable = root.as_deref().and_then(unwritable_folder);
    ProjectFolderFacts {
        project_dir_variable: variable,
        folder,
        root,
        home: surroundings.home.clone(),
        unwritable,
    }
}

fn classify_project_dir(given: &Path) -> ProjectDirKind {
    match given.metadata() {
        _ if !given.is_absolute() => ProjectDirKind::Relative,
        Ok(found) if found.is_dir() => ProjectDirKind::Folder,
        Ok(_) => ProjectDirKind::NotAFolder,
        Err(_) => ProjectDirKind::Missing,
    }
}
