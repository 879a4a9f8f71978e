//! Commands in every spelling that plans have for them.

use omo_core::check::task_check::ExpectedExit;

use super::*;

fn commands(value: &str) -> Vec<VerifyCommand> {
    super::read_commands(&MarkdownDocument::read(value), 0..value.len())
}

fn shown(value: &str) -> Vec<(String, Option<String>, Option<String>)> {
    let found = commands(value).into_iter();
    found
        .map(|command| {
            (
                command.check.command,
                command.check.expect.stdout_has,
                command.expected_sentence,
            )
        })
        .collect()
}

#[test]
fn a_command_and_what_its_output_must_have() {
    for (value, command, text, outcome) in [
        ("`cargo test -q`", "cargo test -q", None, None),
        (
            "`cargo test` → expected: `3 passed`",
            "cargo test",
            Some("3 passed"),
            None,
        ),
        ("`cargo test` -> `ok`", "cargo test", Some("ok"), None),
        (
            "`cargo test` (expected: `ok`)",
            "cargo test",
            Some("ok"),
            None,
        ),
        (
            "`cargo test` — expected output: \"a b\"",
            "cargo test",
            Some("a b"),
            None,
        ),
        (
            "`cargo test` → expected: 3 passed",
            "cargo test",
            Some("3 passed"),
            None,
        ),
        (
            "`cargo test` should print `ok`",
            "cargo test",
            Some("ok"),
            None,
        ),
        (
            "`cargo test` → all tests pass",
            "cargo test",
            None,
            Some("all tests pass"),
        ),
        ("`cargo test` → exit 0", "cargo test", None, None),
        ("`cargo test` in `crates/a`", "cargo test", None, None),
        (
            "`cargo test` with no unexpected `x`",
            "cargo test",
            None,
            None,
        ),
        ("`grep '->' f`", "grep '->' f", None, None),
        ("cargo test -q", "cargo test -q", None, None),
        (
            "cargo test → expected: `ok`",
            "cargo test",
            Some("ok"),
            None,
        ),
        ("``echo `id` ``", "echo `id`", None, None),
        ("`./x`\n  - Expected: `ok`", "./x", Some("ok"), None),
        ("```\n./x\n```\nExpected: `ok`", "./x", Some("ok"), None),
        ("Run: `./x`\nExpected: \"ok\"", "./x", Some("ok"), None),
        ("`./x`\n  expected: `ok`", "./x", Some("ok"), None),
        (
            "`cargo test 認証` → expected: `成功`",
            "cargo test 認証",
            Some("成功"),
            None,
        ),
        ("```cargo test```", "cargo test", None, None),
    ] {
        let expected = (
            command.to_owned(),
            text.map(str::to_owned),
            outcome.map(str::to_owned),
        );
        assert_eq!(shown(value), [expected], "{value}");
    }
    assert_eq!(shown("none"), []);
    assert_eq!(shown(" → expected: `x`"), []);
}

#[test]
fn what_an_exit_is_expected_to_be_is_no_text() {
    use ExpectedExit::{Exactly, NonZero, Zero};
    for (value, exit) in [
        ("`a` → exit code 0", Zero),
        ("`a` → expected: exit 2", Exactly(2)),
        ("`a` → exits with status 1", Exactly(1)),
        ("`a` → non-zero exit", NonZero),
        ("`a` → expected: fails", NonZero),
        ("`a` → expected: `0 failed`", Zero),
    ] {
        assert_eq!(
            commands(value).first().unwrap().check.expect.exit,
            exit,
            "{value}"
        );
    }
}

#[test]
fn several_commands_are_several_checks() {
    for (value, expected) in [
        ("`a b` and `c d`", vec!["a b", "c d"]),
        ("- `a b`\n- [ ] `c d` → expected: `e`", vec!["a b", "c d"]),
        ("1. `a b`\n2. `c d`", vec!["a b", "c d"]),
        ("```bash\n$ a b\n\n# why\nc d\n```", vec!["a b", "c d"]),
        ("~~~\na b \\\n  c\n~~~", vec!["set -e\na b \\\n  c"]),
        ("```\ncd x\nmake\n```", vec!["set -e\ncd x\nmake"]),
        ("```\nnever closed", vec!["never closed"]),
        ("`a b`\n```\nc d\n```\n- `e f`", vec!["a b", "c d", "e f"]),
        ("```\n```", vec![]),
    ] {
        let found: Vec<String> = commands(value)
            .into_iter()
            .map(|command| command.check.command)
            .collect();
        assert_eq!(found, expected, "{value}");
    }
}

#[test]
fn a_sentence_is_told_from_a_command() {
    for (value, is_prose) in [
        ("Run the tests", true),
        ("open the page and look.", true),
        ("check that it works", true),
        ("cargo test -q limit::", false),
        ("RUST_LOG=x cargo test", false),
        ("grep -q x .", false),
        ("make", false),
        ("`Run it`", false),
        ("`src/a.rs` compiles", true),
        ("`src/a.rs` compiles: `cargo check`", false),
        ("`./check.sh`", false),
    ] {
        assert_eq!(
            commands(value).first().unwrap().is_prose,
            is_prose,
            "{value}"
        );
    }
}
