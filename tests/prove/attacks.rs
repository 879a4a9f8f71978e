//! Tests that fail without a change and pass with it though they test nothing of it, and what else would have a change
//! look proved.

use anyhow::{Result, ensure};
use omo_testkit::Lab;
use omo_tests::scene::folder_of;

use crate::project::{Answer, Files, Project};

const FILES: Files = &[
    ("src/total.txt", Some("1\n")),
    ("tests/run.sh", Some("true\n")),
    (".gitignore", Some(".built\n")),
];

/// What a script says of a change to a file that it does not look at.
fn prove_by(script: &str) -> Result<Answer> {
    let project = Project::new(FILES)?;
    project.lab.write(".built", "once")?;
    project.change(&[
        ("src/total.txt", Some("2\n")),
        ("tests/run.sh", Some(script)),
    ])?;
    project.prove("sh tests/run.sh")
}

fn require_all(cases: &[(&str, &str, &str)]) {
    let mut wrong = Vec::new();
    for (name, script, expected) in cases {
        let is_as_expected = prove_by(script).and_then(|answer| {
            if *expected == "red with it" {
                ensure!(
                    answer.status == 1 && answer.check()["with"] == "red",
                    "{:#}",
                    answer.json
                );
                return Ok(());
            }
            answer.require(expected)
        });
        if let Err(error) = is_as_expected {
            wrong.push(format!("{name}: {error:#}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_check_does_not_learn_on_which_side_it_runs() {
    require_all(&[
        ("by what it tests", "grep -q 2 src/total.txt", "red"),
        (
            "by the message of the last commit",
            "git log -1 --format=%s | grep -q work && exit 1; true",
            "green",
        ),
        (
            "by the number of commits",
            "test \"$(git rev-list --count HEAD)\" -gt 1",
            "red with it",
        ),
        (
            "by what git says is changed",
            "git status --porcelain src | grep -q '^A  src/total.txt'",
            "green",
        ),
        (
            "by what git says is not changed",
            "git diff --exit-code && test -z \"$(git diff HEAD 2>&1 >/dev/null)\"",
            "red with it",
        ),
        (
            "by its folder",
            "case $PWD$0 in *without*) exit 1; esac",
            "green",
        ),
        (
            "by what lies beside it",
            "test -d ../../without && exit 0; test -d ../../with && exit 1; exit 0",
            "green",
        ),
        (
            "by the names beside it",
            "test \"$(ls ../.. | tr '\\n' ' ')\" = 'active alive.lock check.log waiting '",
            "green",
        ),
        (
            "by its variables",
            "env | grep -q 'with' && exit 1; true",
            "green",
        ),
        (
            "by its temporary folder",
            "case $TMPDIR in *without*) exit 1; esac; test -z \"$(ls -A $TMPDIR)\"",
            "green",
        ),
        (
            "by which file is newer",
            "test src/total.txt -nt tests/run.sh && exit 1; test tests/run.sh -nt src/total.txt && exit 1; true",
            "green",
        ),
        (
            "by a file that is older than all work",
            "test $(($(date +%s) - $(date -r src/total.txt +%s))) -lt 3600",
            "green",
        ),
        (
            "by a file that git ignores",
            "test -e .built",
            "red with it",
        ),
        (
            "by a file that git ignores and that is not there",
            "test ! -e .built",
            "green",
        ),
    ]);
}

#[test]
fn a_check_that_goes_by_how_often_it_runs_proves_nothing() {
    let counts = "n=$(cat ~/n 2>/dev/null || echo 0); echo $((n + 1)) > ~/n; ";
    require_all(&[
        (
            "the first run alone passes",
            "test -e ~/ran && exit 1; touch ~/ran",
            "unknown",
        ),
        (
            "the same beside its project",
            "test -e ../../ran && exit 1; touch ../../ran",
            "unknown",
        ),
        (
            "every second run fails",
            "test -e ~/ran && rm ~/ran && exit 1; touch ~/ran",
            "unknown",
        ),
        (
            "the second run alone fails",
            &format!("{counts} test $n != 1"),
            "unknown",
        ),
        (
            "the first three runs alone fail",
            &format!("{counts} test $n -gt 2"),
            "red with it",
        ),
        (
            "what one run leaves in the temporary folder is there for its side alone",
            "test -e $TMPDIR/ran; touch $TMPDIR/ran; true",
            "green",
        ),
        (
            "what a run leaves in the project is not there for the other",
            "test -e ran && exit 1; touch ran",
            "green",
        ),
    ]);
}

#[test]
fn a_check_that_could_not_run_without_the_change_proves_nothing() {
    let only = |what: &str| format!("grep -q 2 src/total.txt && exit 0; {what}");
    require_all(&[
        ("ended by a signal", &only("kill -9 $$"), "unknown"),
        (
            "a program that is not there",
            &only("no-such-program-anywhere"),
            "unknown",
        ),
        (
            "a program that may not be run",
            &only("/dev/null"),
            "unknown",
        ),
        (
            "a compiler that fails",
            &only("echo 'src/a.c:1:5: error: expected ;'; exit 1"),
            "unknown",
        ),
        (
            "no test at all",
            &only("echo '=== no tests ran in 0.01s ==='; exit 5"),
            "unknown",
        ),
    ]);
}

const PYTHON: Files = &[
    ("shop/__init__.py", Some("")),
    (
        "shop/cart.py",
        Some("def total(lines):\n    return sum(price for price, count in lines)\n"),
    ),
    ("tests/__init__.py", Some("")),
    (
        "tests/test_cart.py",
        Some(
            "import unittest\n\nfrom shop.cart import total\n\n\nclass Cart(unittest.TestCase):\n    def test_empty(self):\n        self.assertEqual(total([]), 0)\n",
        ),
    ),
];
const FIXED: &str = "def total(lines):\n    return sum(price * count for price, count in lines)\n";

fn python_project(files: Files) -> Result<Project> {
    let python = folder_of("python3").ok_or_else(|| anyhow::anyhow!("no python3"))?;
    Project::in_lab(Lab::builder().path(python), files)
}

#[test]
#[ignore = "needs the built plugin and python3: cargo xtask test"]
fn what_only_came_with_its_tests_is_not_taken_for_missing() {
    // The tests moved into a file that is no test file, and nothing else was done.
    let project = python_project(PYTHON).unwrap();
    let moved = "import unittest\n\nfrom shop.cart import total\n\n\nclass Cart(unittest.TestCase):\n    def test_empty(self):\n        self.assertEqual(total([]), 0)\n";
    project
        .change(&[
            ("tests/test_cart.py", None),
            ("shop/checks.py", Some(moved)),
        ])
        .unwrap();
    let answer = project.prove("python3 -m unittest -v shop.checks").unwrap();
    answer.require("unknown").unwrap();
    answer.require_note("tests/test_cart.py").unwrap();
    // In a file that was there, where the runner is told to look.
    let project = python_project(PYTHON).unwrap();
    project
        .change(&[
            ("tests/test_cart.py", None),
            (
                "shop/cart.py",
                Some(&format!(
                    "{FIXED}\n\n{}",
                    moved.replace("from shop.cart import total\n", "")
                )),
            ),
        ])
        .unwrap();
    let answer = project.prove("python3 -m unittest -v shop.cart").unwrap();
    answer.require("unknown").unwrap();
}

#[test]
#[ignore = "needs the built plugin and python3: cargo xtask test"]
fn a_fixture_that_carries_the_fix_is_there_on_both_sides() {
    let project = python_project(PYTHON).unwrap();
    let test = "import unittest\n\nfrom tests.fixtures.fixed import total\n\n\nclass Pieces(unittest.TestCase):\n    def test_paid(self):\n        self.assertEqual(total([(5, 3)]), 15)\n";
    project
        .change(&[
            ("shop/cart.py", Some(FIXED)),
            ("tests/fixtures/__init__.py", Some("")),
            ("tests/fixtures/fixed.py", Some(FIXED)),
            ("tests/test_pieces.py", Some(test)),
        ])
        .unwrap();
    let answer = project.prove("python3 -m unittest -v").unwrap();
    answer.require("green").unwrap();
    answer
        .require_test(("tests.test_pieces.Pieces.test_paid", "passed", "passed"))
        .unwrap();
}

#[test]
#[ignore = "needs the built plugin and python3: cargo xtask test"]
fn a_base_that_was_broken_otherwise_proves_nothing() {
    for broken in [
        "def total(:\n",
        "import shop_of_another_name\n",
        "raise RuntimeError('not today')\n",
    ] {
        let project = python_project(PYTHON).unwrap();
        project.change(&[("shop/cart.py", Some(broken))]).unwrap();
        project.commit().unwrap();
        let vacuous = "import unittest\n\nfrom shop.cart import total\n\n\nclass Pieces(unittest.TestCase):\n    def test_paid(self):\n        total([(5, 3)])\n";
        project
            .change(&[
                ("shop/cart.py", Some(FIXED)),
                ("tests/test_pieces.py", Some(vacuous)),
            ])
            .unwrap();
        let answer = project.prove("python3 -m unittest -v").unwrap();
        answer.require("unknown").unwrap();
        answer
            .require_reason("names nothing that the change defines")
            .unwrap();
    }
}

#[test]
#[ignore = "needs the built plugin and node: cargo xtask test"]
fn tests_inside_of_a_source_file_that_is_not_rust_are_not_guessed() {
    let node = folder_of("node").unwrap();
    let files: Files = &[
        ("package.json", Some("{ \"type\": \"module\" }\n")),
        ("src/cart.js", Some("export const total = () => 1;\n")),
    ];
    let project = Project::in_lab(Lab::builder().path(node), files).unwrap();
    let with_test = "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n\nexport const total = () => 2;\n\ntest('it is two', () => assert.equal(total(), 2));\n";
    project.change(&[("src/cart.js", Some(with_test))]).unwrap();
    let answer = project.prove("node --test src/cart.js").unwrap();
    answer.require("unknown").unwrap();
    answer.require_reason("no test was run").unwrap();
}

#[test]
fn a_name_that_a_change_only_uses_explains_no_failure_to_build() {
    let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let project = rust_project(&[
        ("Cargo.toml", Some(manifest)),
        ("src/lib.rs", Some("pub fn total() -> u32 {\n    1\n}\n")),
        (".gitignore", Some("target\nCargo.lock\n")),
    ])
    .unwrap();
    let tool = "[package]\nname = \"tool\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let depends = format!("{manifest}\n[dev-dependencies]\ntool = {{ path = \"tool\" }}\n");
    project
        .change(&[
            ("Cargo.toml", Some(&depends)),
            ("tool/Cargo.toml", Some(tool)),
            ("tool/src/lib.rs", Some("pub fn check() {}\n")),
            (
                "src/lib.rs",
                Some("// Tested with tool.\npub fn total() -> u32 {\n    1\n}\n"),
            ),
            (
                "tests/uses.rs",
                Some("#[test]\nfn passes() {\n    tool::check();\n}\n"),
            ),
        ])
        .unwrap();
    let answer = project.prove("cargo test --offline").unwrap();
    answer.require("unknown").unwrap();
}

#[test]
fn a_module_of_tests_is_there_on_both_sides_whatever_its_file_is_called() {
    let project = rust_project(&[
        (
            "Cargo.toml",
            Some("[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ),
        ("src/lib.rs", Some("pub fn total() -> u32 {\n    1\n}\n")),
        (".gitignore", Some("target\nCargo.lock\n")),
    ])
    .unwrap();
    project
        .change(&[
            (
                "src/lib.rs",
                Some("pub fn total() -> u32 {\n    2\n}\n\n#[cfg(test)]\nmod cases;\n"),
            ),
            ("src/cases.rs", Some("#[test]\nfn asserts_nothing() {}\n")),
        ])
        .unwrap();
    project
        .prove("cargo test --offline")
        .unwrap()
        .require("green")
        .unwrap();
}

fn rust_project(files: Files) -> Result<Project> {
    let cargo = folder_of("cargo").ok_or_else(|| anyhow::anyhow!("no cargo"))?;
    Project::in_lab(Lab::builder().path(cargo), files)
}

#[test]
#[ignore = "needs the built plugin and npm: cargo xtask test"]
fn the_scripts_of_a_package_are_the_same_on_both_sides() {
    let package =
        |test: &str| format!("{{\"name\": \"a\", \"scripts\": {{\"test\": \"{test}\"}}}}\n");
    let (before, now, honest) = (
        package("exit 1"),
        package("exit 0"),
        package("grep -q 2 src/total.txt"),
    );
    let project = Project::new(&[
        ("src/total.txt", Some("1\n")),
        ("package.json", Some(&before)),
    ])
    .unwrap();
    project
        .change(&[("src/total.txt", Some("2\n")), ("package.json", Some(&now))])
        .unwrap();
    let answer = project.prove("npm test --silent").unwrap();
    answer.require("green").unwrap();
    answer.require_note("the scripts of package.json").unwrap();
    project.change(&[("package.json", Some(&honest))]).unwrap();
    project
        .prove("npm test --silent")
        .unwrap()
        .require("red")
        .unwrap();
}
