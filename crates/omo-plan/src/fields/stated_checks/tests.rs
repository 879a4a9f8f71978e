//! Contents of a `Verify`.

use omo_core::check::task_check::ExpectedExit::{self, Exactly, NonZero, Zero};

use super::*;

fn found(text: &str) -> Vec<StatedCheck> {
    let document = MarkdownDocument::read(text);
    read_checks(&document, 0..text.len())
}

fn commands(text: &str) -> Vec<String> {
    found(text)
        .into_iter()
        .map(|found| found.check.command)
        .collect()
}

#[test]
fn a_command_is_known_in_every_form() {
    for text in [
        "Run: `cargo test -p x`\nExpected: exit 0",
        "- Run: `cargo test -p x`\n- Expected: PASS",
        "**Run:** `cargo test -p x`",
        "Run `cargo test -p x`",
        "Run: cargo test -p x",
        "Run:\n```bash\ncargo test -p x\n```\nExpected: PASS",
        "```\n$ cargo test -p x\nok\n```",
        "```sh\n# all of it\ncargo test -p x\n```",
        "`cargo test -p x`",
        "- `cargo test -p x` → exits 0",
        "cargo test -p x",
        "Command: `` cargo test -p x ``",
        "Run from the root: `cargo test -p x`",
        "1. Run: `cargo test -p x`",
        "Run:\n`cargo test -p x`",
    ] {
        assert_eq!(commands(text), ["cargo test -p x"], "{text}");
    }
    assert_eq!(
        commands("Run: `a b`\nExpected: exit 0\n\nRun: `c d`\nExpected: exit 1"),
        ["a b", "c d"]
    );
    assert_eq!(commands("```bash\ncd x\nmake\n```"), ["cd x\nmake"]);
}

#[test]
fn a_sentence_is_no_command() {
    for text in [
        "The page loads.",
        "Open the app and look at `Settings`",
        "`Settings` has a new row",
        "N/A",
        "none (docs only)",
        "Manual check",
        "```json\n{}\n```",
        "Expected: exit 0",
        "打开应用",
    ] {
        assert_eq!(commands(text), Vec::<String>::new(), "{text}");
    }
    for (text, is_prose) in [
        ("Run: Open the app and look", true),
        ("Run: `the tests of all modules`", true),
        ("Run: `grep -n the a in docs/x`", false),
        ("Run: `PYTHONPATH=. pytest`", false),
    ] {
        assert_eq!(
            found(text)
                .iter()
                .map(|found| found.is_prose)
                .collect::<Vec<_>>(),
            [is_prose],
            "{text}"
        );
    }
}

/// The exit, the text, and `true` for prose, of an expectation.
fn expected(command: &str, text: &str) -> (ExpectedExit, Option<String>, bool) {
    let found = found(&format!("Run: `{command}`\nExpected: {text}\n"));
    let first = &found[0];
    (
        first.check.expect.exit,
        first.check.expect.stdout_has.clone(),
        first.is_expected_in_prose,
    )
}

#[test]
fn an_expectation_is_held_to_what_it_surely_says() {
    for (text, exit, has, is_prose) in [
        ("exit 0", Zero, None, false),
        ("exit code 0", Zero, None, false),
        ("Exits with status 2.", Exactly(2), None, false),
        ("`exit 1`", Exactly(1), None, false),
        ("exit 0 or 1", Zero, None, true),
        ("exits non-zero", NonZero, None, false),
        ("PASS", Zero, None, false),
        ("3 passed", Zero, None, false),
        ("All tests pass with zero failures", Zero, None, false),
        ("3 passed, 0 failed", Zero, None, false),
        ("FAIL", NonZero, None, false),
        (
            "FAIL with `ReferenceError`",
            NonZero,
            Some("ReferenceError"),
            false,
        ),
        ("FAIL — `x` has no attribute", NonZero, None, false),
        ("not all tests pass", Zero, None, true),
        (
            "`** BUILD SUCCEEDED **`",
            Zero,
            Some("** BUILD SUCCEEDED **"),
            false,
        ),
        ("output contains \"done\"", Zero, Some("done"), false),
        ("exit 0 and prints `ready`", Zero, Some("ready"), false),
        ("output shows “all good”", Zero, Some("all good"), false),
        ("no `CoreData` in the output", Zero, None, true),
        ("doesn't print `x`", Zero, None, true),
        ("output shows `a` and `b`", Zero, None, true),
        ("valid JSON", Zero, None, true),
        ("``", Zero, None, true),
    ] {
        let (found, text_found, prose) = expected("make check", text);
        assert_eq!(
            (found, text_found.as_deref(), prose),
            (exit, has, is_prose),
            "{text}"
        );
    }
}

#[test]
fn a_search_that_is_to_find_nothing_ends_with_one() {
    for text in [
        "no output",
        "no matches",
        "0 matches",
        "nothing",
        "empty output",
        "(no results)",
    ] {
        assert_eq!(
            expected("grep -rn CoreData src", text).0,
            Exactly(1),
            "{text}"
        );
        assert_eq!(expected("git grep x", text).0, Exactly(1), "{text}");
        assert_eq!(expected("make check", text).0, Zero, "{text}");
        assert_eq!(expected("grep x a | head", text).0, Zero, "{text}");
    }
    assert_eq!(expected("grep -c x a", "`0`").0, Exactly(1));
    assert_eq!(
        expected("grep -c x a", "`3`"),
        (Zero, Some("3".to_owned()), false)
    );
}

#[test]
fn an_expected_output_is_no_command() {
    let checks = found("Run: `make`\n\nExpected output:\n```\nall done\n```\n");
    assert_eq!(checks.len(), 1);
    assert_eq!(
        checks[0].check.expect.stdout_has.as_deref(),
        Some("all done")
    );
    let checks = found("Run: `make`\nExpected:\n```\na\nb\n```\n");
    assert_eq!(
        (checks.len(), checks[0].check.expect.stdout_has.clone()),
        (1, None)
    );
}
