//! Which files of the project a check runs, and what is in them.
//!
//! A command such as `./check.sh` or `make test` is only as good as the file behind it. When its
//! user agrees to a check, the programs and scripts of the project that it runs and the task file
//! that its runner reads are pinned by their digest. What differs later is reported and is not
//! green until the user agrees again. What those files run in turn is not followed, and files of
//! tests are not pinned: to write those is the work.

mod budget;
mod command_reading;
mod executed_scripts;
mod file_parts;
mod project;
mod python_modules;
mod shell_state;
mod steering;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use omo_core::check::session_check::Check;
use omo_state::env;
use omo_state::files::regular_file;
use omo_state::seal::hex_digest_of_reader;
use omo_state::search_path::SearchPath;

use self::budget::MAX_PINNED_BYTES;
use self::command_reading::CommandReading;
use self::project::Project;

/// So many commands of a plan are looked at.
const MAX_COMMANDS: usize = 100;
/// What stands for a file that cannot be read.
const UNREADABLE: &str = "unreadable";
/// What stands for all that is not looked at, where a command runs more than that.
const UNBOUNDED: &str = "what it runs (more than omo follows)";
/// State of a file that the command names, or that would steer it, and that is not there yet: its user has seen nothing
/// that it could be held to.
pub const ABSENT: &str = "absent";

/// The files that a check runs, by their path from the project's top, each with its digest.
/// `search` is the `PATH` that the check gets.
pub(crate) fn find_pins(check: &Check, root: &Path, search: &SearchPath) -> BTreeMap<String, String> {
    read_check(check, root, env::home(), &search.clone().without_disguised_folders(root)).pins()
}

/// Whether a check runs tests with a runner whose count is known here, by itself or by a script of `package.json`.
pub fn runs_tests(check: &Check, root: &Path) -> bool {
    read_check(check, root, env::home(), &SearchPath::default()).runs_tests
}

/// The files of the project that commands run, each in a folder from the top of the project, as far as that can be told:
/// by their path from the top, each with its digest.
pub fn files_of_commands<'a>(
    commands: impl Iterator<Item = (&'a str, Option<&'a str>)>,
    root: &Path,
    search: &SearchPath,
) -> BTreeMap<String, String> {
    let search = search.clone().without_disguised_folders(root);
    let commands: BTreeSet<(&str, Option<&str>)> = commands.collect();
    let mut found = BTreeMap::new();
    for (command, folder) in commands.into_iter().take(MAX_COMMANDS) {
        let folder = folder.map_or_else(|| root.to_owned(), |folder| root.join(folder));
        let project = Project::new(root, env::home());
        let reading = CommandReading::of(command, &folder, &BTreeMap::new(), project, &search);
        found.extend(reading.absent_task_files().into_iter().map(|name| (name, ABSENT.to_owned())));
        found.extend(reading.pins());
    }
    found.retain(|path, digest| path != UNBOUNDED && digest != UNREADABLE);
    found
}

/// Those of the files that commands run which were there before and are something else now.
pub fn changed_files(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let is_other = |(path, digest): &(&String, &String)| {
        before.get(*path).is_some_and(|known| known != *digest && known != ABSENT && *digest != ABSENT)
    };
    now.iter().filter(is_other).map(|(path, _)| path.clone()).collect()
}

fn read_check<'a>(check: &Check, root: &'a Path, home: Option<PathBuf>, search: &'a SearchPath) -> CommandReading<'a> {
    let folder = check.cwd.as_ref().map_or_else(|| root.to_owned(), |folder| root.join(folder));
    CommandReading::of(&check.command, &folder, &check.env, Project::new(root, home), search)
}

fn digest_of_file(path: &Path) -> Option<String> {
    hex_digest_of_reader(regular_file::open(path).ok()??, MAX_PINNED_BYTES)
}

#[cfg(test)]
mod tests;
