//! The goal of a plan, read from the files that stand beside it.

use std::path::{Path, PathBuf};

use omo_plan::dialects::goal::{self, GoalFile, GoalPart};
use omo_plan::model::Dialect;
use omo_state::files::regular_file::{self, Links};

const MAX_BYTES: u64 = 256 * 1024;
const MAX_FOLDERS: usize = 30;

pub(super) fn read(folder: &Path, dialect: Dialect) -> String {
    let files = dialect
        .rules()
        .goal_files()
        .iter()
        .flat_map(|file| read_files(folder, *file));
    let texts: Vec<(GoalPart, String)> = files.collect();
    goal::read_goal(texts.iter().map(|(part, text)| (*part, text.as_str())))
}

/// The texts of the files that a path means. An unreadable one says nothing of the goal.
fn read_files(folder: &Path, file: GoalFile) -> Vec<(GoalPart, String)> {
    let paths = match file.path.split_once("/*/") {
        None => vec![folder.join(file.path)],
        Some((above, below)) => folders_in(&folder.join(above))
            .into_iter()
            .map(|inner| inner.join(below))
            .collect(),
    };
    paths
        .into_iter()
        .filter_map(|path| {
            let bytes = regular_file::read(&path, MAX_BYTES, Links::Refused).ok()??;
            Some((file.part, String::from_utf8(bytes).ok()?))
        })
        .collect()
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .take(MAX_FOLDERS * 10)
        .flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut found: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
    found.sort();
    found.truncate(MAX_FOLDERS);
    found
}
