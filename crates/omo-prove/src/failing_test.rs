//! Adds a test that must fail to the project's tests: a check that stays green was turned off.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use omo_core::check::counterfactual::WithoutChange;
use omo_core::check::session_check::Check;
use omo_core::check::steering::file_words;
use omo_core::check::test_report::TestOutcome;
use omo_git::base_comparison::BaseComparison;
use omo_state::files::regular_file::{self, Links};

use crate::change::Change;
use crate::comparison::CheckProof;
use crate::naming_words::is_named;
use crate::private_tree::{PrivateTreeError, Side};
use crate::proof_request::{ProofError, ProofRequest, ProofWatcher};
use crate::side_outcome::SideOutcome;
use crate::side_runner::SideRunner;

/// Part of the added test's name, as in `test_omo_has_to_fail`.
const MARK: &str = "omo_has_to_fail";
const MAX_FILES: usize = 8;
const MAX_BYTES: u64 = 1024 * 1024;
/// Words with which code may change or end a test runner; any of them costs one more run.
const WORDS: &str = "\
    assert expect unittest pytest exit atexit prototype process jest vitest testing macro_rules modules signal kill abort \
    builtins setattr globals TestCase globalThis test mocha chai sinon";

/// `true` for a change that may have turned off its tests, by its words.
fn may_reach_runner(change: &Change) -> bool {
    change
        .sources()
        .any(|file| count_runner_words(file.now_bytes()) > count_runner_words(file.base_bytes()))
}

fn count_runner_words(bytes: Option<&[u8]>) -> usize {
    String::from_utf8_lossy(bytes.unwrap_or_default())
        .split(|char: char| !char.is_ascii_alphanumeric())
        .filter(|part| {
            WORDS
                .split_ascii_whitespace()
                .any(|word| part.starts_with(word))
        })
        .count()
}

/// Files that may get such a test; none where the change cannot reach a runner.
#[derive(Debug, Default)]
pub(crate) struct FailingTests {
    test_files: Vec<PathBuf>,
    named: Vec<PathBuf>,
    /// Scripts that may exit before a test at their end.
    ending: BTreeSet<PathBuf>,
}

impl FailingTests {
    pub(crate) fn read(
        comparison: &BaseComparison,
        with: &Path,
        request: &ProofRequest,
        change: &Change,
    ) -> Self {
        if !may_reach_runner(change) {
            return Self::default();
        }
        let words: BTreeSet<String> = request
            .checks
            .iter()
            .flat_map(|check| file_words(&check.command))
            .collect();
        let mut test_files = Vec::new();
        let mut named = Vec::new();
        for path in comparison.present_paths() {
            let name = comparison.name_in_project(path);
            if request.tests.contains(&name) {
                test_files.push(path.to_owned());
            }
            if is_named(&name, &words) {
                named.push(path.to_owned());
            }
        }
        // Rust has tests beside the work.
        test_files.extend(
            change
                .sources()
                .map(|file| &file.path)
                .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
                .cloned(),
        );
        let ending = named
            .iter()
            .filter(|path| may_end(&with.join(path)))
            .cloned()
            .collect();
        Self {
            test_files,
            named,
            ending,
        }
    }

    /// Note on a check that proves the change, but stays green with a failing test.
    pub(crate) fn ask_check(
        &self,
        check: &Check,
        (with, proof): (&SideOutcome, &CheckProof),
        runner: &mut SideRunner,
        watcher: &mut impl ProofWatcher,
    ) -> Result<Option<String>, ProofError> {
        let names_tests = with.report.names_passed_tests();
        let paths: Vec<&PathBuf> = if names_tests {
            self.test_files.iter().collect()
        } else {
            self.named
                .iter()
                .filter(|path| !self.ending.contains(*path))
                .collect()
        };
        if paths.is_empty() || !with.is_green() || proof.without != WithoutChange::Red {
            return Ok(None);
        }
        let Some(now) = run_with_failing_test(check, &paths, Side::With, runner, watcher)? else {
            return Ok(None);
        };
        let passing = marked(&now, TestOutcome::Passed);
        let mut is_blind = now.is_green() || !passing.is_empty();
        if is_blind && names_tests {
            // The same test has to fail with the work as it was.
            let then = run_with_failing_test(check, &paths, Side::Without, runner, watcher)?;
            let failing = then
                .map(|then| marked(&then, TestOutcome::Failed))
                .unwrap_or_default();
            is_blind = failing
                .iter()
                .any(|name| passing.contains(name) || now.is_green());
        }
        Ok(is_blind.then(|| {
            "a test that has to fail is not noticed, by a change of the work itself".to_owned()
        }))
    }
}

fn may_end(script: &Path) -> bool {
    let bytes = regular_file::read(script, MAX_BYTES, Links::Refused)
        .ok()
        .flatten();
    let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default());
    ["exit", "Exit", "kill"]
        .iter()
        .any(|word| text.contains(word))
}

fn marked(outcome: &SideOutcome, wanted: TestOutcome) -> Vec<String> {
    let tests = outcome
        .report
        .iter()
        .filter(|(name, outcome)| name.contains(MARK) && *outcome == wanted);
    tests.map(|(name, _)| name.to_owned()).collect()
}

/// Outcome of a check with failing tests in the files of a side; `None` where none could be added.
fn run_with_failing_test(
    check: &Check,
    paths: &[&PathBuf],
    side: Side,
    runner: &mut SideRunner,
    watcher: &mut impl ProofWatcher,
) -> Result<Option<SideOutcome>, ProofError> {
    let top = runner.top_of(side)?;
    let real_top = top.canonicalize().unwrap_or_else(|_| top.clone());
    let mut changed = Vec::new();
    for (path, text, failing) in paths
        .iter()
        .filter_map(|path| read_with_failing_test(&real_top, path))
        .take(MAX_FILES)
    {
        write(&path, &failing)?;
        changed.push((path, text));
    }
    if changed.is_empty() {
        return Ok(None);
    }
    let outcome = runner.run(check, side, watcher)?.ok();
    for (path, text) in changed {
        write(&path, &text)?;
    }
    Ok(outcome)
}

/// Path, text and text with the test of a file; `None` behind a link, which may lead out of the
/// copy.
fn read_with_failing_test(real_top: &Path, path: &Path) -> Option<(PathBuf, String, String)> {
    let path = real_top.join(path);
    let bytes = regular_file::read(&path, MAX_BYTES, Links::Refused)
        .ok()
        .flatten();
    let text =
        String::from_utf8(bytes.filter(|_| path.canonicalize().is_ok_and(|real| real == path))?)
            .ok()?;
    let failing = with_failing_test(&path, &text)?;
    Some((path, text, failing))
}

fn write(path: &Path, text: &str) -> Result<(), PrivateTreeError> {
    std::fs::write(path, text).map_err(|source| PrivateTreeError::File {
        path: path.to_owned(),
        source,
    })
}

/// Text of a test file with one more test, which fails in the way that the others would.
fn with_failing_test(path: &Path, text: &str) -> Option<String> {
    match path.extension()?.to_str()? {
        "py" => {
            let more = if text.contains("TestCase") {
                format!(
                    "\nclass OmoHasToFail(__import__('unittest').TestCase):\n    \
                     def test_{MARK}_equal(self): self.assertEqual(1, 2)\n    \
                     def test_{MARK}_true(self): self.assertTrue(False)\n"
                )
            } else if text.lines().any(|line| line.starts_with("def test")) {
                format!("\ndef test_{MARK}():\n    assert 1 == 2\n")
            } else {
                text.contains("assert ")
                    .then(|| "\nassert 1 == 2\n".to_owned())?
            };
            let at = text.find("\nif __name__").unwrap_or(text.len());
            let (above, below) = text.split_at_checked(at)?;
            Some(format!("{above}\n{more}{below}"))
        }
        "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" => Some(format!(
            "{text}\n\
{{ const means = typeof expect === 'function' ? {{ expect: () => expect(1).toBe(2) }} \
             : typeof assert === 'undefined' ? {{}} \
             : Object.fromEntries(['equal', 'strictEqual', 'deepEqual', 'deepStrictEqual'].map((m) => [m, () => assert[m](1, 2)])); \
             for (const [name, fails] of Object.entries(means)) {{ \
             if (typeof test === 'function') test('{MARK} ' + name, () => fails()); \
             else if (typeof it === 'function') it('{MARK} ' + name, () => fails()); else fails(); }} \
             if (Object.keys(means).length === 0) throw new Error('{MARK}'); }}\n"
        )),
        "rs" if text.contains("#[test]") => Some(format!(
            "{text}\n#[test]\nfn {MARK}_equal() {{\n    assert_eq!(1, 2);\n}}\n#[test]\nfn {MARK}_true() {{\n    assert!(1 == 2);\n}}\n"
        )),
        "go" if text.contains("*testing.T)") => Some(format!(
            "{text}\nfunc Test_{MARK}(t *testing.T) {{\n\tt.Error(\"{MARK}\")\n}}\n"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn no_file_behind_a_link_gets_a_failing_test() {
        let temp = tempfile::tempdir().unwrap();
        let (top, text) = (temp.path().join("copy"), "def test_a():\n    assert True\n");
        std::fs::create_dir_all(top.join("tests")).unwrap();
        for file in ["outside.py", "copy/tests/test_a.py"] {
            std::fs::write(temp.path().join(file), text).unwrap();
        }
        std::os::unix::fs::symlink(temp.path(), top.join("folder")).unwrap();
        std::os::unix::fs::symlink(temp.path().join("outside.py"), top.join("tests/test_b.py"))
            .unwrap();
        let top = top.canonicalize().unwrap();
        let is_read = |path: &str| read_with_failing_test(&top, Path::new(path)).is_some();
        assert_eq!(
            ["tests/test_a.py", "tests/test_b.py", "folder/outside.py"].map(is_read),
            [true, false, false]
        );
    }

    #[test]
    fn a_failing_test_is_one_of_the_kind_that_a_file_has() {
        for (path, text, more) in [
            (
                "test_a.py",
                "class A(unittest.TestCase): pass\n",
                "self.assertEqual(1, 2)",
            ),
            (
                "test_a.py",
                "def test_a(): pass\n",
                "def test_omo_has_to_fail():",
            ),
            ("verify.py", "assert add(1, 1) == 2\n", "\nassert 1 == 2\n"),
            ("a.test.js", "test('a', () => {});\n", "expect(1).toBe(2)"),
            ("tests/a.rs", "#[test]\nfn a() {}\n", "assert_eq!(1, 2);"),
            ("a_test.go", "func TestA(t *testing.T) {}\n", "t.Error("),
        ] {
            let failing = with_failing_test(Path::new(path), text).unwrap_or_default();
            assert!(
                failing.starts_with(text) && failing.contains(more),
                "{path}: {failing}"
            );
        }
        for (path, text) in [
            ("tests/a.json", "{}"),
            ("tests/data.py", "X = 1\n"),
            ("tests/common.rs", "fn a() {}\n"),
        ] {
            assert_eq!(with_failing_test(Path::new(path), text), None, "{path}");
        }
        let main = "class A(TestCase): pass\n\nif __name__ == '__main__':\n    unittest.main()\n";
        let failing = with_failing_test(Path::new("test_a.py"), main).unwrap_or_default();
        assert!(
            failing.find("OmoHasToFail") < failing.find("__main__"),
            "{failing}"
        );
    }
}
