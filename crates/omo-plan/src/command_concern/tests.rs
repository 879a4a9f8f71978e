//! Commands that can judge something, and commands that cannot.

use super::*;

#[test]
fn what_cannot_judge_is_found() {
    use CommandConcern::{
        AlwaysGreen, Constant, ControlCharacter, NeverEnds, OnlyPrints, OtherShell, Placeholder,
    };
    for (command, expected) in [
        ("npm test || true", Some(AlwaysGreen)),
        ("npm test; exit 0", Some(AlwaysGreen)),
        ("npm test | cat", Some(OnlyPrints)),
        ("npm test &", Some(AlwaysGreen)),
        ("sh -c true", Some(AlwaysGreen)),
        ("bash -c 'exit 0'", Some(AlwaysGreen)),
        ("python3 -c \"pass\"", Some(AlwaysGreen)),
        ("pytest --version", Some(AlwaysGreen)),
        ("make -n test", Some(AlwaysGreen)),
        ("exit 0", Some(AlwaysGreen)),
        ("npm test && echo ok", None),
        ("git diff --exit-code || exit 1", None),
        ("sh -c 'test -f a'", None),
        ("go test ./...", None),
        ("bazel test //...", None),
        ("npm test 2>&1 | grep -q ok", None),
        ("ls <dir>", Some(Placeholder)),
        ("pytest tests/{{module}}", Some(Placeholder)),
        ("curl -H x-key:YOUR_KEY localhost", Some(Placeholder)),
        ("node path/to/script.js", Some(Placeholder)),
        ("cargo test ...", Some(Placeholder)),
        ("grep -q '<div>' index.html", None),
        ("diff < in.txt out.txt", None),
        ("test 1 -lt 2", Some(Constant)),
        ("echo done", Some(AlwaysGreen)),
        ("cd app && git status", Some(OnlyPrints)),
        ("git diff --exit-code", None),
        ("git log | grep -q fix", None),
        ("echo x && npm test", None),
        ("npm run dev", Some(NeverEnds)),
        ("PORT=1 npm start", Some(NeverEnds)),
        ("cd app && yarn dev:web", Some(NeverEnds)),
        ("npm run start-server-and-test", None),
        ("timeout 5 npm start", None),
        ("vite", Some(NeverEnds)),
        ("vite build", None),
        ("npx vitest --watch", Some(NeverEnds)),
        ("npx vitest run", None),
        ("tsc -w", Some(NeverEnds)),
        ("python -m http.server 8000", Some(NeverEnds)),
        ("uv run uvicorn app:app", Some(NeverEnds)),
        ("tail -f log", Some(NeverEnds)),
        ("tail -n 5 log", Some(OnlyPrints)),
        ("docker compose up", Some(NeverEnds)),
        ("docker compose up -d", None),
        ("Get-ChildItem src", Some(OtherShell)),
        ("$env:CI='1'; npm test", Some(OtherShell)),
        (".\\gradlew.bat test", Some(OtherShell)),
        ("./gradlew test", None),
        ("[ -f a.txt ]", None),
        ("npm test", None),
        ("", Some(AlwaysGreen)),
        ("npm \u{1b}[1mtest", Some(ControlCharacter)),
    ] {
        assert_eq!(find_concern(command), expected, "{command}");
    }
}

#[test]
fn what_nothing_can_make_fail_is_found_in_every_spelling() {
    use CommandConcern::{AlwaysGreen, Constant, NeverEnds, OnlyPrints};
    for (command, expected) in [
        // Printouts without a reader.
        ("ls", Some(OnlyPrints)),
        ("ls -la .", Some(OnlyPrints)),
        ("ls -la dist/index.js", None),
        ("cat README.md", Some(OnlyPrints)),
        ("cat README.md # see it", Some(OnlyPrints)),
        ("cat a | sort | head -3", Some(OnlyPrints)),
        ("npm test 2>&1 | tail -5", Some(OnlyPrints)),
        ("find src -name '*.ts' | wc -l", Some(OnlyPrints)),
        ("find src -name '*.ts' | grep -q .", None),
        ("git -C app log --oneline", Some(OnlyPrints)),
        ("git diff --stat; git diff --check", None),
        ("timeout 5 cat a", Some(OnlyPrints)),
        // Commands that nothing can make fail.
        ("true", Some(AlwaysGreen)),
        (":", Some(AlwaysGreen)),
        ("(true)", Some(AlwaysGreen)),
        ("{ true; }", Some(AlwaysGreen)),
        ("A=1 true", Some(AlwaysGreen)),
        ("true # npm test", Some(AlwaysGreen)),
        ("true || npm test", Some(AlwaysGreen)),
        ("exit 0; npm test", Some(AlwaysGreen)),
        ("exit 0 && npm test", Some(AlwaysGreen)),
        ("npm test\necho done", Some(AlwaysGreen)),
        ("npm test || exit 1\necho done", None),
        ("set -e\nnpm test\necho done", None),
        ("npm test || { true; }", Some(AlwaysGreen)),
        ("eval 'true'", Some(AlwaysGreen)),
        ("bash -lc \"npm test || true\"", Some(AlwaysGreen)),
        ("bash -c \"bash -c 'npm test'\"", None),
        ("npm start & npm test", Some(NeverEnds)),
        ("node a.js & npm test", None),
        ("for f in a b; do test -f $f; done", None),
        ("npm test &&", None),
        ("npm test &&\nnpm run lint", None),
        ("npm test |\n tail", Some(OnlyPrints)),
        ("false", None),
        ("exit 1", None),
        // Comparisons of constants.
        ("test -z \"\"", Some(Constant)),
        ("[ 1 -eq 1 ]", Some(Constant)),
        ("[[ a == a ]]", Some(Constant)),
        ("! true", Some(Constant)),
        ("test a = a && echo ok", Some(Constant)),
        ("test a = a && npm test", None),
        ("test -z \"$(git status --porcelain)\"", None),
        ("test -z `git status --porcelain`", None),
        ("[ $(wc -l < a) -gt 3 ]", None),
        ("test -d src -a -f a", None),
        ("! grep -q TODO a", None),
        ("[ -n \"$A\" ]", None),
    ] {
        assert_eq!(find_concern(command), expected, "{command}");
    }
}

#[test]
fn what_only_prints_is_judged_by_the_output_that_is_expected() {
    for (command, expected, is_refused) in [
        ("cat a", Some("words"), false),
        ("cat a", Some(" "), true),
        ("cat a", None, true),
        ("npm test | tail", Some("0 failed"), false),
        ("echo words", Some("words"), true),
    ] {
        let mut check = TaskCheck::new(command);
        check.expect.stdout_has = expected.map(str::to_owned);
        assert_eq!(
            find_check_concern(&check).is_some(),
            is_refused,
            "{command} {expected:?}"
        );
    }
}

#[test]
fn every_text_can_be_looked_at() {
    for command in [
        "(",
        "{",
        "'",
        "\"",
        "`",
        "$(",
        "\\",
        "a |",
        "|| a",
        "&&",
        "&",
        "é\\é",
        "! ",
        "[",
        "[[",
        "#",
        "sh -c",
        "-c ''",
        "a;;b",
        "sh -c \"\\\"",
    ] {
        let _ = find_concern(command);
        let _ = find_concern(&command.repeat(20_000));
    }
}
