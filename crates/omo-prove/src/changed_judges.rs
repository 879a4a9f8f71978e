//! The question whether a change of what may steer a check made it green: the check on the files of now, with what may
//! steer it as it was.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use omo_core::check::counterfactual::list_names;
use omo_core::check::file_use::{is_judged, is_named_as_judge};
use omo_core::check::session_check::Check;
use omo_core::check::steering::{
    file_words, is_code, is_named_as_test, is_shell_script, is_test_helper, loaded_words, may_steer,
};
use omo_git::base_comparison::{BaseComparison, BaseError, ChangedFile, write_versions};

use omo_git::named_files::{NamedFile, NamingText, find_named_files};
use omo_state::env;
use omo_state::seal::hex_digest;

use crate::added_dependencies::only_adds_dependencies;
use crate::change::Change;
use crate::claim_comparison::ClaimComparison;
use crate::naming_words::{is_named, naming_words};
use crate::private_tree::Side;
use crate::proof_request::{ProofError, ProofRequest, ProofWatcher, TaskScope};
use crate::side_outcome::SideOutcome;
use crate::side_runner::SideRunner;
use crate::test_files::TestFiles;

/// Maximum files of such a change; a larger one is not tried out, and said to be one.
const MAX_FILES: usize = 500;

/// Files that may steer checks, such as `conftest.py`, with their content before the change.
pub(crate) struct ChangedJudges {
    files: Vec<ChangedFile>,
    names: Vec<String>,
    /// All of them are test files, which tests alone load.
    are_tests: bool,
}

impl ChangedJudges {
    pub(crate) fn add_to(&self, comparison: &mut ClaimComparison, outcome: SideOutcome) {
        if !outcome.is_green() {
            comparison.judging_digest =
                hex_digest(format!("{}{}", comparison.judging_digest, self.digest()).as_bytes());
            comparison.with_tests_of_then = Some((outcome.report, self.names.clone()));
        }
    }

    /// Reads `ChangedJudges` from the copy of now and the base.
    pub(crate) fn read(
        comparison: &BaseComparison,
        with: &Path,
        request: &ProofRequest,
        change: &Change,
    ) -> Result<Self, BaseError> {
        let (checks, tests) = (request.checks, request.tests);
        let words: Vec<BTreeSet<String>> = checks
            .iter()
            .map(|check| file_words(&check.command))
            .collect();
        let project = with.join(&comparison.project);
        let tracked: BTreeSet<String> = comparison
            .changed_paths()
            .filter(|path| comparison.was_there(path))
            .map(|path| comparison.name_in_project(path))
            .collect();
        let behind = scripts_behind(checks, &words, &project, &tracked);
        let is_helper = |file: &&ChangedFile| {
            file.base_bytes()
                .is_some_and(|text| is_test_helper(&file.path, &String::from_utf8_lossy(text)))
        };
        let helpers: BTreeSet<&Path> = change
            .sources()
            .filter(is_helper)
            .map(|file| file.path.as_path())
            .collect();
        let loaded = words_of_configurations(&project);
        let name_of = |path: &Path| comparison.name_in_project(path);
        let steers = |path: &Path| {
            let name = name_of(path);
            // A file that the checks of a plan read is the work, where nothing in its name says
            // otherwise.
            let is_of = |task: TaskScope| {
                task.files.contains(&name) && (may_steer(&name) || is_shell_script(&name))
            };
            if !request.task.is_none_or(is_of) {
                return false;
            }
            // A file that was not there when its user named it is what the check waits for.
            let mut named = checks.iter().zip(&words);
            let is_judge = |(check, words): (&Check, &BTreeSet<String>)| {
                naming_words(&name, words).any(|word| !is_judged(&check.command, word, &name))
            };
            let mut is_named =
                || (is_loaded(&name, &loaded) || named.any(is_judge)) && !tests.contains(&name);
            may_steer(&name)
                || comparison.was_there(path)
                    && (behind.contains_key(&name) || helpers.contains(path) || is_named())
                || comparison.was_link(path)
                || with.join(path).is_symlink()
        };
        let count = comparison
            .changed_paths()
            .filter(|path| steers(path))
            .count();
        let mut files = if count > MAX_FILES {
            Vec::new()
        } else {
            comparison.read_changed(with, steers)?
        };
        let only_adds = |file: &ChangedFile| {
            let path = file.path.to_string_lossy();
            only_adds_dependencies(&path, file.base_bytes(), file.now_bytes())
        };
        let added: Vec<ChangedFile> = files.extract_if(.., |file| only_adds(file)).collect();
        let is_judge = |path: &&Path| steers(path) && !added.iter().any(|file| file.path == **path);
        let mut names: Vec<String> = comparison
            .changed_paths()
            .filter(is_judge)
            .map(name_of)
            .collect();
        // Hidden files come last: there may be many of them.
        names.sort_by_key(|name| name.starts_with('.') || name.contains("/."));
        let is_setting = |name: &str| name.contains("config") || name.contains("pytest.ini");
        let are_tests = names
            .iter()
            .all(|name| tests.contains(name) && !is_setting(name));
        Ok(Self {
            files,
            names,
            are_tests,
        })
    }

    pub(crate) fn read_tests(
        &self,
        comparison: &BaseComparison,
        with: &Path,
        tests: &TestFiles,
    ) -> Result<Self, BaseError> {
        let is_test = |path: &Path| {
            let name = comparison.name_in_project(path);
            comparison.was_there(path) && tests.contains(&name) && !self.names.contains(&name)
        };
        let names: Vec<String> = comparison
            .changed_paths()
            .filter(|path| is_test(path))
            .map(|path| comparison.name_in_project(path))
            .collect();
        let files = if names.len() > MAX_FILES {
            Vec::new()
        } else {
            comparison.read_changed(with, is_test)?
        };
        Ok(Self {
            files,
            names,
            are_tests: true,
        })
    }

    /// Runs each check that is wanted in the copy of now with these files as they were: one outcome a check, `None` where
    /// it was not run; none at all where nothing changed, or too much.
    pub(crate) fn run_checks(
        &self,
        runner: &mut SideRunner,
        watcher: &mut impl ProofWatcher,
        wanted: &[bool],
    ) -> Result<Vec<Option<SideOutcome>>, ProofError> {
        if self.files.is_empty() || !wanted.contains(&true) {
            return Ok(Vec::new());
        }
        let top = runner.top_of(Side::With)?;
        write_versions(&top, &self.files, env::file_time(), |file| {
            file.base.as_ref()
        })?;
        let checks = runner.checks();
        let mut run = |check, is_wanted: bool| {
            let outcome = is_wanted
                .then(|| runner.run(check, Side::With, watcher))
                .transpose()?;
            Ok(outcome.and_then(Result::ok))
        };
        let outcomes = checks
            .iter()
            .zip(wanted)
            .map(|(check, is_wanted)| run(check, *is_wanted))
            .collect();
        // Caches of modules tell files apart by their size and the second of their time.
        let later = env::file_time() + Duration::from_secs(1);
        write_versions(&top, &self.files, later, |file| file.now.as_ref())?;
        outcomes
    }

    /// `hex_digest` of the files as they are now.
    fn digest(&self) -> String {
        let parts = self.files.iter().flat_map(|file| {
            let content = file.now_bytes().map(hex_digest).unwrap_or_default();
            [file.path.to_string_lossy().into_owned(), content]
        });
        hex_digest(parts.collect::<Vec<_>>().join("\0").as_bytes())
    }

    /// A check that did this with these files as they were, and that with the change; `None` where it could not be run.
    pub(crate) fn compare(
        &self,
        judged: Option<&SideOutcome>,
        with: Option<&SideOutcome>,
    ) -> ClaimComparison {
        let now = with.map(|with| with.report.clone()).unwrap_or_default();
        let mut comparison = ClaimComparison {
            now,
            ..ClaimComparison::default()
        };
        if self.names.is_empty() {
            return comparison;
        }
        comparison.judging_digest = self.digest();
        match judged.filter(|_| with.is_some_and(SideOutcome::is_green)) {
            Some(judged) if judged.is_green() => {}
            Some(judged) => {
                comparison.judged_by.clone_from(&self.names);
                comparison.with_judges_of_then = self.are_tests.then(|| judged.report.clone());
            }
            None => {
                let named = list_names(&self.names, self.names.len());
                comparison.notes.push(format!(
                    "it could not be run without the changes to {named}"
                ));
            }
        }
        comparison
    }
}

/// The words of configurations at a project's top, and beside its tests, that name files which runners load.
fn words_of_configurations(project: &Path) -> BTreeSet<String> {
    const FOLDERS: [&str; 3] = ["", "tests", "test"];
    const MAX_BYTES: u64 = 256 * 1024;
    let files = FOLDERS
        .iter()
        .filter_map(|folder| std::fs::read_dir(project.join(folder)).ok())
        .flatten()
        .flatten();
    let names = files.filter(|file| {
        let is_file = file
            .metadata()
            .is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_BYTES);
        is_file && may_steer(&file.file_name().to_string_lossy())
    });
    let texts = names.filter_map(|file| std::fs::read_to_string(file.path()).ok());
    texts.flat_map(|text| loaded_words(&text)).collect()
}

/// `true` for a path that one of these words names, with or without its ending.
fn is_loaded(path: &str, words: &BTreeSet<String>) -> bool {
    let without_ending = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    is_named(path, words) || is_named(without_ending, words)
}

/// The files that the commands and the scripts of checks name, and those that their variables name: what they run, and
/// the data that they read. What a test runs is what it tests.
fn scripts_behind(
    checks: &[Check],
    words: &[BTreeSet<String>],
    project: &Path,
    tracked: &BTreeSet<String>,
) -> BTreeMap<String, String> {
    let text = |check: &Check| {
        let texts: Vec<&str> = std::iter::once(&check.command)
            .chain(check.env.values())
            .map(String::as_str)
            .collect();
        let origin = check
            .cwd
            .as_ref()
            .map_or_else(|| project.to_owned(), |folder| project.join(folder));
        NamingText {
            text: texts.join("\n"),
            origin,
        }
    };
    let is_wanted = |file: &NamedFile| {
        if !file.path.starts_with(project) || file.is_installed() && !tracked.contains(file.name) {
            return false;
        }
        let is_data = || !is_code(file.name) && !file.is_script();
        let by = file
            .by
            .strip_prefix(project)
            .unwrap_or(file.by)
            .to_string_lossy();
        if is_named_as_test(file.name) {
            return file.is_run;
        }
        if is_named_as_test(&by) {
            return is_data() && !is_code(&by);
        }
        // A script may run the work as well, for another of its tasks.
        let is_direct = || words.iter().any(|words| is_named(file.name, words));
        let is_used = || {
            !is_code(file.name) || file.is_script() || is_direct() || is_named_as_judge(file.name)
        };
        may_steer(file.name)
            || file.is_imported && is_named_as_judge(file.name)
            || !file.is_judged && is_used()
    };
    find_named_files(checks.iter().map(text).collect(), project, &[], &is_wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_a_path_a_pattern_or_a_module() {
        for (command, path) in [
            ("sh ci/check", "ci/check"),
            ("cd ci && sh check", "ci/check"),
            ("for f in ci.d/*; do sh $f; done", "ci.d/a"),
            ("find ci.d -name '*.sh' -exec sh {} +", "ci.d/b/a.sh"),
            ("python3 -m checks.run", "checks/run.py"),
            ("python3 checks", "checks/__main__.py"),
            ("python3 app.py | diff - expected.txt", "expected.txt"),
        ] {
            assert!(is_named(path, &file_words(command)), "{command}");
        }
        assert!(!is_named("src/cart.py", &file_words("pytest src")));
        assert!(!is_named("recheck", &file_words("sh check")));
    }
}
