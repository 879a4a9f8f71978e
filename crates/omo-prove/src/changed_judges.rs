//! The question whether a change of what may steer a check made it green: the check on the files of now, with what may
//! steer it as it was.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use omo_core::check::counterfactual::list_names;
use omo_core::check::session_check::{Check, CheckVerdict};
use omo_core::check::steering::{file_words, is_named_as_test, may_steer};
use omo_core::check::test_report::TestReport;
use omo_git::base_comparison::{BaseComparison, BaseError, ChangedFile, write_versions};

use omo_git::named_files::{NamedFile, NamingText, find_named_files};
use omo_state::env;
use omo_state::seal::hex_digest;

use crate::comparison::SideOutcome;
use crate::counterfactual::{ProofError, ProofWatcher};
use crate::private_tree::Side;
use crate::side_runner::SideRunner;
use crate::test_files::TestFiles;

/// A larger change of such files is not tried out, and said to be one.
const MAX_FILES: usize = 500;

/// Files that may steer the checks of a claim and that changed, with what they were.
pub(crate) struct ChangedJudges {
    files: Vec<ChangedFile>,
    /// Their paths from the project's top.
    names: Vec<String>,
}

impl ChangedJudges {
    /// Reads them from the copy of now and the base.
    pub(crate) fn read(
        comparison: &BaseComparison,
        with: &Path,
        checks: &[Check],
        tests: &TestFiles,
    ) -> Result<Self, BaseError> {
        let words: BTreeSet<String> = checks.iter().flat_map(|check| file_words(&check.command)).collect();
        let behind = scripts_behind(checks, &with.join(&comparison.project));
        let name_of = |path: &Path| comparison.name_in_project(path);
        let steers = |path: &Path| {
            let name = name_of(path);
            // A file that was not there when its user named it is what the check waits for.
            let is_run = || is_named(&name, &words) || behind.contains_key(&name);
            may_steer(&name) || (is_run() && comparison.was_there(path) && !tests.contains(&name))
        };
        let count = comparison.changed_paths().filter(|path| steers(path)).count();
        let files = if count > MAX_FILES { Vec::new() } else { comparison.read_changed(with, steers)? };
        let names = comparison.changed_paths().filter(|path| steers(path)).map(name_of).collect();
        Ok(Self { files, names })
    }

    /// Runs each check in the copy of now with these files as they were: one outcome a check, `None` where it could not
    /// be run; none at all where nothing changed, or too much.
    pub(crate) fn run_checks(
        &self,
        runner: &mut SideRunner,
        watcher: &mut impl ProofWatcher,
    ) -> Result<Vec<Option<SideOutcome>>, ProofError> {
        if self.files.is_empty() {
            return Ok(Vec::new());
        }
        let top = runner.top_of(Side::With)?;
        write_versions(&top, &self.files, env::file_time(), |file| file.base.as_ref())?;
        let checks = runner.checks().iter();
        let outcomes = checks.map(|check| Ok(runner.run(check, Side::With, watcher)?.ok())).collect();
        // Caches of modules tell files apart by their size and the second of their time.
        let later = env::file_time() + Duration::from_secs(1);
        write_versions(&top, &self.files, later, |file| file.now.as_ref())?;
        outcomes
    }

    /// The digest of the files as they are now.
    fn digest(&self) -> String {
        let parts = self.files.iter().flat_map(|file| {
            let content = file.now_bytes().map(hex_digest).unwrap_or_default();
            [file.path.to_string_lossy().into_owned(), content]
        });
        hex_digest(parts.collect::<Vec<_>>().join("\0").as_bytes())
    }

    /// A check that did this with these files as they were, and that with the change; `None` where it could not be run.
    pub(crate) fn compare(&self, judged: Option<&SideOutcome>, with: Option<&SideOutcome>) -> ClaimComparison {
        let now = with.map(|with| with.report.clone()).unwrap_or_default();
        let mut comparison = ClaimComparison { now, ..ClaimComparison::default() };
        if self.names.is_empty() {
            return comparison;
        }
        comparison.judging_digest = self.digest();
        match judged.filter(|_| with.is_some_and(is_green)) {
            Some(judged) if is_green(judged) => {}
            Some(_) => comparison.judged_by.clone_from(&self.names),
            None => {
                // Hidden files come last: there may be many of them.
                let (hidden, shown): (Vec<&String>, Vec<&String>) =
                    self.names.iter().partition(|name| name.starts_with('.') || name.contains("/."));
                let all: Vec<String> = shown.into_iter().chain(hidden).cloned().collect();
                let named = list_names(&all, all.len());
                comparison.notes.push(format!("it could not be run without the changes to {named}"));
            }
        }
        comparison
    }
}

fn is_green(side: &SideOutcome) -> bool {
    side.verdict == CheckVerdict::Green
}

/// The scripts of a project that the scripts of checks run, and those that their variables name.
fn scripts_behind(checks: &[Check], project: &Path) -> BTreeMap<String, String> {
    let text = |check: &Check| {
        let texts: Vec<&str> = std::iter::once(&check.command).chain(check.env.values()).map(String::as_str).collect();
        let origin = check.cwd.as_ref().map_or_else(|| project.to_owned(), |folder| project.join(folder));
        NamingText { text: texts.join("\n"), origin }
    };
    let is_wanted = |file: &NamedFile| {
        let is_judge = may_steer(file.name) || file.is_script();
        is_judge && file.path.starts_with(project) && !is_named_as_test(file.name)
    };
    find_named_files(checks.iter().map(text).collect(), project, &[], &is_wanted)
}

/// What is known of a check that is green with the change, beside what it is without it.
#[derive(Clone, Debug, Default)]
pub struct ClaimComparison {
    /// Files that may steer it and changed, where it is green only with them as they are now.
    pub judged_by: Vec<String>,
    /// The digest of all such files that changed, as they are.
    pub judging_digest: String,
    /// What could not be established.
    pub notes: Vec<String>,
    /// The tests of now.
    pub now: TestReport,
}

/// Whether one of the words of a command names the file at this path: as a path from any folder, as a pattern, or as a
/// module of Python.
pub fn is_named(path: &str, words: &BTreeSet<String>) -> bool {
    let is_below = |word: &str| path.strip_suffix(word).is_some_and(|above| above.is_empty() || above.ends_with('/'));
    let is_in_named_folder =
        || words.iter().any(|word| Path::new(path).parent().is_some_and(|folder| folder.starts_with(word)));
    let name = path.rsplit('/').next().unwrap_or(path);
    words.iter().any(|word| {
        let module = || format!("{}.py", word.replace('.', "/"));
        is_below(word)
            || (word.contains('*') && glob_match::glob_match(word, path))
            || (word.contains('*') && glob_match::glob_match(word, name) && is_in_named_folder())
            || is_below(&module())
            || is_below(&format!("{word}/__main__.py"))
    })
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
