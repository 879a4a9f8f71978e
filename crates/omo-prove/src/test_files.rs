//! `TestFiles`: test files by the conventions of test runners and by a project's own patterns.

use omo_core::check::steering::is_expectation;

/// Folders of tests and of their data.
const TEST_FOLDERS: [&str; 11] = [
    "tests",
    "test",
    "__tests__",
    "__mocks__",
    "__snapshots__",
    "__fixtures__",
    "fixtures",
    "testdata",
    "snapshots",
    "spec",
    "e2e",
];
const RUNNER_FILES: [&str; 2] = ["conftest.py", "pytest.ini"];
/// Stems of configurations of test runners.
const RUNNER_CONFIGURATIONS: [&str; 3] = ["jest.config", "vitest.config", "vitest.setup"];
const JAVASCRIPT_ENDINGS: [&str; 8] = ["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"];

/// Endings of languages with test names such as `CartTest`, `test_cart` or `cart_spec`.
const OTHER_ENDINGS: [&str; 13] = [
    "c", "cc", "cpp", "rb", "java", "kt", "kts", "scala", "cs", "php", "swift", "ex", "exs",
];

#[derive(Clone, Debug, Default)]
pub struct TestFiles {
    patterns: Vec<String>,
}

impl TestFiles {
    /// The conventions, and further patterns; `*` stops at a `/`, `**` does not. An invalid pattern matches nothing.
    pub fn new(patterns: Vec<String>) -> Self {
        Self { patterns }
    }

    /// `true` for a test file; `path` is as git writes it, from the project's top.
    pub fn contains(&self, path: &str) -> bool {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        folders
            .split('/')
            .any(|folder| TEST_FOLDERS.contains(&folder))
            || is_test_name(name)
            || is_expectation(path)
            || self
                .patterns
                .iter()
                .any(|pattern| glob_match::glob_match(pattern, path))
    }
}

fn is_test_name(name: &str) -> bool {
    if RUNNER_FILES.contains(&name) {
        return true;
    }
    let Some((stem, ending)) = name.rsplit_once('.') else {
        return false;
    };
    match ending {
        "py" => {
            stem.starts_with("test_") || stem.ends_with("_test") || matches!(stem, "test" | "tests")
        }
        "go" => stem.ends_with("_test"),
        "rs" => {
            matches!(stem, "tests" | "test") || stem.ends_with("_tests") || stem.ends_with("_test")
        }
        "snap" => true,
        _ if JAVASCRIPT_ENDINGS.contains(&ending) => {
            RUNNER_CONFIGURATIONS.contains(&stem)
                || [".test", ".spec"].iter().any(|mark| stem.ends_with(mark))
                || matches!(stem, "test" | "tests")
        }
        _ if OTHER_ENDINGS.contains(&ending) => {
            ["Test", "Tests", "Spec"]
                .iter()
                .any(|end| stem.ends_with(end))
                || stem
                    .split(['_', '-'])
                    .any(|part| matches!(part, "test" | "tests" | "spec" | "unittest"))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conventions_of_each_runner_are_known() {
        let files = TestFiles::default();
        for path in [
            "tests/a.rs",
            "crates/x/tests/data/a.json",
            "src/parser/tests.rs",
            "src/parser_test.rs",
            "pkg/test_a.py",
            "pkg/a_test.py",
            "test.py",
            "shop/tests.py",
            "src/CartTest.java",
            "cart_spec.rb",
            "test_cart.c",
            "conftest.py",
            "pkg/a_test.go",
            "pkg/testdata/in.txt",
            "src/a.test.ts",
            "src/a.spec.tsx",
            "src/__tests__/a.js",
            "src/__snapshots__/a.snap",
            "expected.txt",
            "golden/a.json",
            "vitest.config.ts",
            "test.js",
        ] {
            assert!(files.contains(path), "{path}");
        }
        for path in [
            "src/a.rs",
            "src/testing.rs",
            "src/latest.py",
            "contest.go",
            "src/test-utils.ts",
            "a.md",
            "attest/a.py",
            "test",
        ] {
            assert!(!files.contains(path), "{path}");
        }
    }

    #[test]
    fn a_project_adds_patterns() {
        let files = TestFiles::new(
            ["checks/*.sh", "**/*.case", "a/["]
                .map(str::to_owned)
                .to_vec(),
        );
        assert!(
            files.contains("checks/a.sh")
                && files.contains("a/b/c.case")
                && files.contains("tests/a.rs")
        );
        assert!(
            !files.contains("checks/deep/a.sh")
                && !files.contains("src/a.sh")
                && !files.contains("a/b")
        );
    }
}
