//! Worth of a failure before any tested code runs.

use omo_core::check::printed_output::PrintedOutput;
use omo_core::check::task_check::TaskCheckVerdict;
use omo_core::check::test_runner::TestOutputReader;

use super::*;

/// Answer about tests that were written first, from the output of their check.
fn judge(command: &str, status: i32, output: &str) -> Result<Option<String>, String> {
    let mut reader = TestOutputReader::default();
    reader.read(output.as_bytes());
    let outcome = TaskCheckOutcome {
        verdict: TaskCheckVerdict::Green,
        detail: format!("exit status {status}, as expected before the implementation"),
        exit: Some(status),
        took_millis: 1,
        printed: PrintedOutput::default(),
        log: None,
        counts: reader.report().counts,
        has_pipe_without_pipefail: false,
        setting: String::new(),
    };
    judge_tests_first(
        &TaskCheck::new(command),
        command.contains("test"),
        &outcome,
        output.as_bytes(),
    )
}

#[test]
fn tests_that_fail_are_red_with_and_without_their_names() {
    for (command, output) in [
        (
            "cargo test",
            "test search::finds ... FAILED\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        ),
        (
            "cargo test | tail -1",
            "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        ),
        (
            "pytest | tail -1",
            "========================= 1 failed in 0.02s =========================\n",
        ),
    ] {
        assert_eq!(
            judge(command, 1, output),
            Ok(Some("1 test fails before the implementation".to_owned())),
            "{command}"
        );
    }
    let of_no_runner = judge("sh check.sh", 1, "no such feature\n");
    assert_eq!(of_no_runner, Ok(None));
}

#[test]
fn what_cannot_be_built_is_red_where_it_names_what_is_missing() {
    for (command, output, name) in [
        (
            "cargo test",
            "error[E0425]: cannot find function `find` in crate `search`\nerror: could not compile `search`\n",
            "find",
        ),
        (
            "pytest",
            "E   ImportError: cannot import name 'find' from 'search'\n=== 1 error in 0.02s ===\n",
            "find",
        ),
        (
            "python3 -m unittest tests.test_search",
            "ImportError: Failed to import test module: test_search\nModuleNotFoundError: No module named 'search'\n",
            "search",
        ),
        (
            "node tests/search.js",
            "Error: Cannot find module '../search.js'\n",
            "search",
        ),
        (
            "go test ./...",
            "./a_test.go:3:5: undefined: Find\nFAIL\tsearch [build failed]\n",
            "Find",
        ),
        (
            "mvn test",
            "ATest.java:3: error: cannot find symbol\n  symbol:   class Search\n",
            "Search",
        ),
    ] {
        let said = format!("it cannot be built before the implementation: `{name}` is missing");
        assert_eq!(judge(command, 2, output), Ok(Some(said)), "{command}");
    }
}

#[test]
fn a_failure_of_anything_else_is_not_red() {
    for (command, status, output) in [
        (
            "pytest | tail -2",
            2,
            "!!! Interrupted: 1 error during collection !!!\n=== 1 error in 0.02s ===\n",
        ),
        (
            "pytest",
            2,
            "E     File \"tests/test_a.py\", line 3\nE   SyntaxError: invalid syntax\n=== 1 error in 0.02s ===\n",
        ),
        (
            "cargo test",
            101,
            "error: expected one of `!` or `::`, found `x`\nerror: could not compile `search`\n",
        ),
        ("cargo test", 101, "error: failed to parse manifest\n"),
        (
            "npx vitest run",
            1,
            " Test Files  1 failed (1)\n      Tests  no tests\n",
        ),
        (
            "python3 -m unittest tests.find",
            1,
            "ModuleNotFoundError: No module named 'tests.find'\n",
        ),
        (
            "python3 -m unittest tests.find",
            1,
            "ModuleNotFoundError: No module named 'tests'\n",
        ),
        (
            "node tests/a.js",
            1,
            "Error: Cannot find module '/home/user/project/tests/a.js'\n",
        ),
        ("sh check.sh", 127, "sh: 1: frobnicate: not found\n"),
        ("sh check.sh", 126, ""),
        ("sh check.sh", 137, ""),
    ] {
        assert!(
            judge(command, status, output).is_err(),
            "{command} {status} {output}"
        );
    }
}
