//! Runs checks on the new code with the old test files and configuration: is a check green only
//! because the change altered them?

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
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
use crate::proof_request::{ProofError, ProofRequest, ProofWatcher};
use crate::side_outcome::SideOutcome;
use crate::side_runner::SideRunner;
use crate::test_files::TestFiles;

/// Maximum files; a larger change is not tried, and reported as such.
const MAX_FILES: usize = 500;

/// Files that may steer checks, such as `conftest.py`, as before the change.
pub(crate) struct ChangedJudges {
    files: Vec<ChangedFile>,
    names: Vec<String>,
    /// `true` where all are test files, which only tests load.
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
        let helpers: BTreeSet<&Path> = change
            .sources()
            .filter(|file| {
                file.base_bytes()
                    .is_some_and(|text| is_test_helper(&file.path, &String::from_utf8_lossy(text)))
            })
            .map(|file| file.path.as_path())
            .collect();
        let steering = SteeringFiles {
            comparison,
            with,
            request,
            behind: scripts_behind(checks, &words, &project, &tracked),
            helpers,
            loaded: words_of_configurations(&project),
            words,
        };
        let count = comparison
            .changed_paths()
            .filter(|path| steering.contains(path))
            .count();
        let mut files = if count > MAX_FILES {
            Vec::new()
        } else {
            comparison.read_changed(with, |path| steering.contains(path))?
        };
        let added: BTreeSet<PathBuf> = files
            .extract_if(.., |file| {
                let path = file.path.to_string_lossy();
                only_adds_dependencies(&path, file.base_bytes(), file.now_bytes())
            })
            .map(|file| file.path)
            .collect();
        let mut names: Vec<String> = comparison
            .changed_paths()
            .filter(|path| steering.contains(path) && !added.contains(*path))
            .map(|path| comparison.name_in_project(path))
            .collect();
        // Hidden files come last: there may be many of them.
        names.sort_by_key(|name| name.starts_with('.') || name.contains("/."));
        let are_tests = names.iter().all(|name| {
            let is_setting = name.contains("config") || name.contains("pytest.ini");
            tests.contains(name) && !is_setting
        });
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

    /// Outcome of each wanted check with the old files; empty where none changed, or too many.
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
        let outcomes: Result<Vec<_>, ProofError> = checks
            .iter()
            .zip(wanted)
            .map(|(check, is_wanted)| {
                let outcome = is_wanted
                    .then(|| runner.run(check, Side::With, watcher))
                    .transpose()?;
                Ok(outcome.and_then(Result::ok))
            })
            .collect();
        // Module caches compare size and the second of the time.
        let later = env::file_time() + Duration::from_secs(1);
        write_versions(&top, &self.files, later, |file| file.now.as_ref())?;
        outcomes
    }

    fn digest(&self) -> String {
        let parts = self.files.iter().flat_map(|file| {
            let content = file.now_bytes().map(hex_digest).unwrap_or_default();
            [file.path.to_string_lossy().into_owned(), content]
        });
        hex_digest(parts.collect::<Vec<_>>().join("\0").as_bytes())
    }

    /// Comparison of a check: `judged` with the old files, `with` with the new ones.
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

struct SteeringFiles<'a> {
    comparison: &'a BaseComparison<'a>,
    with: &'a Path,
    request: &'a ProofRequest<'a>,
    /// Words of each check that may name files.
    words: Vec<BTreeSet<String>>,
    behind: BTreeMap<String, String>,
    helpers: BTreeSet<&'a Path>,
    loaded: BTreeSet<String>,
}

impl SteeringFiles<'_> {
    fn contains(&self, path: &Path) -> bool {
        let name = self.comparison.name_in_project(path);
        // A file that the checks of a plan read is the work, unless its name says otherwise.
        if self.request.task.is_some_and(|task| {
            !task.files.contains(&name) || !(may_steer(&name) || is_shell_script(&name))
        }) {
            return false;
        }
        // A named file that was not there before is what the check waits for.
        let was_there = self.comparison.was_there(path);
        may_steer(&name)
            || was_there && self.behind.contains_key(&name)
            || was_there && self.helpers.contains(path)
            || was_there && self.is_named(&name)
            || self.comparison.was_link(path)
            || self.with.join(path).is_symlink()
    }

    fn is_named(&self, name: &str) -> bool {
        if self.request.tests.contains(name) {
            return false;
        }
        is_loaded(name, &self.loaded)
            || self
                .request
                .checks
                .iter()
                .zip(&self.words)
                .any(|(check, words)| {
                    naming_words(name, words).any(|word| !is_judged(&check.command, word, name))
                })
    }
}

/// Words by which configurations at the top and beside the tests name loaded files.
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

/// `true` for a path in `words`, with or without its ending.
fn is_loaded(path: &str, words: &BTreeSet<String>) -> bool {
    let without_ending = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    is_named(path, words) || is_named(without_ending, words)
}

/// Files that commands, scripts and variables of checks name: what they run and read. What a test runs is its subject.
fn scripts_behind(
    checks: &[Check],
    words: &[BTreeSet<String>],
    project: &Path,
    tracked: &BTreeSet<String>,
) -> BTreeMap<String, String> {
    let texts = checks.iter().map(|check| {
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
    });
    find_named_files(texts.collect(), project, &[], &|file| {
        is_behind(file, words, project, tracked)
    })
}

fn is_behind(
    file: &NamedFile,
    words: &[BTreeSet<String>],
    project: &Path,
    tracked: &BTreeSet<String>,
) -> bool {
    if !file.path.starts_with(project) || file.is_installed() && !tracked.contains(file.name) {
        return false;
    }
    if is_named_as_test(file.name) {
        return file.is_run;
    }
    let caller = file
        .by
        .strip_prefix(project)
        .unwrap_or(file.by)
        .to_string_lossy();
    if is_named_as_test(&caller) {
        return !is_code(file.name) && !file.is_script() && !is_code(&caller);
    }
    if may_steer(file.name) || file.is_imported && is_named_as_judge(file.name) {
        return true;
    }
    // A script may run the work as well, for another of its tasks.
    !file.is_judged
        && (!is_code(file.name)
            || file.is_script()
            || words.iter().any(|words| is_named(file.name, words))
            || is_named_as_judge(file.name))
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
