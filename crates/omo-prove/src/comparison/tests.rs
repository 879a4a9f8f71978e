//! Comparisons of two sides.

use omo_core::check::session_check::{CheckEnd, TestCounts};
use omo_core::check::test_report::TestReport;

use super::*;

/// A side of a check of a known runner, from its output and its exit status.
fn side(status: i32, output: &str) -> SideOutcome {
    judged(CheckEnd::Exited(status), read(output), output)
}

/// As [`side`], where the counts are these.
fn outcome(end: CheckEnd, counts: Option<TestCounts>, output: &str) -> SideOutcome {
    let mut report = read(output);
    report.counts = counts;
    judged(end, report, output)
}

fn read(output: &str) -> TestReport {
    let mut reader = omo_core::check::test_runner::TestOutputReader::default();
    reader.read(output.as_bytes());
    reader.report()
}

fn judged(end: CheckEnd, report: TestReport, output: &str) -> SideOutcome {
    let (verdict, detail) = omo_core::check::session_check::judge_check(&end, report.counts);
    let lines = output.lines().map(str::to_owned).collect();
    SideOutcome {
        end,
        verdict,
        detail,
        report,
        lines,
    }
}

fn cargo(status: i32, tests: &[(&str, &str)]) -> SideOutcome {
    let count = |word: &str| tests.iter().filter(|(_, end)| *end == word).count();
    let lines: Vec<String> = tests
        .iter()
        .map(|(name, end)| format!("test {name} ... {end}\n"))
        .collect();
    let lines = lines.concat();
    let (ok, failed, ignored) = (count("ok"), count("FAILED"), count("ignored"));
    let output = format!(
        "running {} tests\n{lines}test result: x. {ok} passed; {failed} failed; {ignored} ignored; 0 measured; 0 filtered out\n",
        tests.len()
    );
    side(status, &output)
}

fn judge(with: &SideOutcome, without: &SideOutcome, defined: &[&str]) -> CheckProof {
    let words = ChangeFacts {
        defined: defined.iter().map(|word| (*word).to_owned()).collect(),
        ..ChangeFacts::default()
    };
    compare_sides("check", with, without, &words)
}

#[test]
fn a_test_that_fails_without_the_change_proves_it() {
    let proof = judge(
        &cargo(0, &[("a", "ok"), ("b", "ok")]),
        &cargo(101, &[("a", "ok"), ("b", "FAILED")]),
        &[],
    );
    assert!(proof.is_proved(), "{proof:?}");
    assert_eq!(proof.reason, "1 test fails without the change");
    assert_eq!(proof.lines, ["test b ... FAILED"]);
    assert_eq!(
        count_changes(&proof.tests),
        [("failing to passing", 1), ("passed before", 1)].into()
    );
}

#[test]
fn a_check_that_is_green_without_the_change_shows_nothing() {
    let same = cargo(0, &[("a", "ok")]);
    let proof = judge(&same, &same, &["anything"]);
    assert_eq!(
        (proof.with, proof.without),
        (WithChange::Green, WithoutChange::Green)
    );
    // A test that is gone with the change is told, and proves nothing.
    let proof = judge(
        &cargo(0, &[("a", "ok")]),
        &cargo(0, &[("a", "ok"), ("b", "ok")]),
        &[],
    );
    assert_eq!(proof.without, WithoutChange::Green);
    assert_eq!(count_changes(&proof.tests).get("gone"), Some(&1));
}

#[test]
fn tests_that_came_with_other_files_are_not_guessed_about() {
    let proof = judge(
        &cargo(0, &[("a", "ok"), ("new", "ok")]),
        &cargo(0, &[("a", "ok")]),
        &[],
    );
    assert_eq!(proof.without, WithoutChange::Unknown);
    assert!(
        proof
            .reason
            .starts_with("1 test is only there with the change"),
        "{}",
        proof.reason
    );
    // A runner that does not name what passed tells it by its counts.
    let counted = |run| {
        outcome(
            CheckEnd::Exited(0),
            Some(TestCounts {
                run,
                failed: 0,
                skipped: 0,
            }),
            "",
        )
    };
    assert_eq!(
        judge(&counted(3), &counted(2), &[]).without,
        WithoutChange::Unknown
    );
    assert_eq!(
        judge(&counted(3), &counted(3), &[]).without,
        WithoutChange::Green
    );
}

#[test]
fn a_build_that_fails_counts_only_for_what_the_change_defines() {
    let with = cargo(0, &[("a", "ok")]);
    let unbuilt = side(
        101,
        "error[E0425]: cannot find function `total` in this scope\nerror: could not compile `x`\n",
    );
    let mut proof = judge(&with, &unbuilt, &["total"]);
    assert_eq!(proof.without, WithoutChange::NotBuilt, "{proof:?}");
    assert!(
        !proof.is_proved() && !proof.is_refuted(),
        "nothing is shown by that alone"
    );
    proof.hollow = HollowAnswer::Green {
        functions: vec!["total".to_owned()],
        left_out: 0,
    };
    assert!(!proof.is_proved() && proof.is_refuted());
    proof.hollow = HollowAnswer::Red;
    assert!(proof.is_proved() && !proof.is_refuted());
    assert_eq!(
        proof.reason,
        "it cannot be built without the change: `total` is missing"
    );
    assert_eq!(
        judge(&with, &unbuilt, &["other"]).without,
        WithoutChange::Unknown
    );
    let other = side(
        101,
        "error[E0308]: mismatched types\nerror: could not compile `x`\n",
    );
    assert_eq!(
        judge(&with, &other, &["total", "types"]).without,
        WithoutChange::Unknown
    );
}

#[test]
fn a_test_that_fails_for_want_of_a_name_is_told_from_one_that_checks_something() {
    let with = side(0, "1..1\nok 1 - counts\n");
    let without = |why: &str| side(1, &format!("1..1\nnot ok 1 - counts\n  error: '{why}'\n"));
    for (why, answer) in [
        ("cart.total is not a function", WithoutChange::NotBuilt),
        ("cart.other is not a function", WithoutChange::Red),
        (
            "AssertionError: 3 != 4, cart.total is not a function",
            WithoutChange::Red,
        ),
    ] {
        assert_eq!(
            judge(&with, &without(why), &["total"]).without,
            answer,
            "{why}"
        );
    }
}

#[test]
fn a_check_that_could_not_run_proves_nothing() {
    let with = outcome(CheckEnd::Exited(0), None, "");
    for end in [
        CheckEnd::Exited(127),
        CheckEnd::Exited(126),
        CheckEnd::Killed(9),
        CheckEnd::TimedOut(300),
        CheckEnd::NotStarted("no shell".to_owned()),
    ] {
        let proof = judge(&with, &outcome(end.clone(), None, ""), &["x"]);
        assert_eq!(proof.without, WithoutChange::Unknown, "{end:?}");
    }
    // One that tests by its exit status alone is believed, unless it could not build.
    assert!(
        judge(
            &with,
            &outcome(CheckEnd::Exited(1), None, "wrong total\n"),
            &[]
        )
        .is_proved()
    );
    let unbuilt = outcome(
        CheckEnd::Exited(2),
        None,
        "a.c:1:10: fatal error: b.h: No such file or directory\n",
    );
    assert_eq!(judge(&with, &unbuilt, &[]).without, WithoutChange::Unknown);
}

#[test]
fn a_runner_that_names_only_failures_is_compared_by_them() {
    let with = outcome(
        CheckEnd::Exited(0),
        Some(TestCounts {
            run: 2,
            failed: 0,
            skipped: 0,
        }),
        "",
    );
    let without = outcome(
        CheckEnd::Exited(1),
        Some(TestCounts {
            run: 2,
            failed: 1,
            skipped: 0,
        }),
        " FAIL  src/a.test.ts > adds\n",
    );
    let proof = judge(&with, &without, &[]);
    assert!(proof.is_proved(), "{proof:?}");
    let expected = TestComparison {
        name: "src/a.test.ts > adds".to_owned(),
        with: TestState::Passed,
        without: TestState::Failed,
    };
    assert_eq!(proof.tests, [expected]);
}

#[test]
fn a_test_that_failed_on_both_sides_proves_nothing() {
    // The check is green all the same: its command forgives that test.
    let with = outcome(CheckEnd::Exited(0), None, "test a ... FAILED\n");
    let without = outcome(CheckEnd::Exited(127), None, "test a ... FAILED\n");
    assert_eq!(judge(&with, &without, &[]).without, WithoutChange::Unknown);
}

#[test]
fn what_a_shell_ended_by_a_signal_did_proves_nothing() {
    let with = side(0, "ok\n");
    for status in [130, 137, 143] {
        assert_eq!(
            judge(&with, &side(status, "Killed\n"), &[]).without,
            WithoutChange::Unknown,
            "{status}"
        );
    }
    for status in [1, 128, 255] {
        assert!(
            judge(&with, &side(status, "wrong total\n"), &[]).is_proved(),
            "{status}"
        );
    }
}

#[test]
fn what_the_check_itself_asks_for_is_not_missing() {
    let without = side(1, "ModuleNotFoundError: No module named 'shop.checks'\n");
    let words = ChangeFacts {
        defined: ["checks".to_owned()].into(),
        ..ChangeFacts::default()
    };
    let judge = |run: &str| compare_sides(run, &side(0, "ok\n"), &without, &words).without;
    assert_eq!(
        judge("python3 -m unittest shop.checks"),
        WithoutChange::Unknown
    );
    assert_eq!(judge("python3 -m unittest"), WithoutChange::NotBuilt);
}

#[test]
fn a_session_that_was_interrupted_got_to_no_test() {
    let with = side(
        0,
        "=== test session starts ===\nt.py::test_a PASSED [100%]\n=== 1 passed in 0.01s ===\n",
    );
    let said =
        "=== test session starts ===\nE   ImportError: cannot import name 'total' from 'shop'\n";
    let without = side(2, &format!("{said}ERROR t.py\n=== 1 error in 0.10s ===\n"));
    let proof = judge(&with, &without, &["total"]);
    assert_eq!(proof.without, WithoutChange::NotBuilt, "{proof:?}");
    assert_eq!(
        proof.tests.first().map(|test| test.without),
        Some(TestState::Absent)
    );
}

#[test]
fn what_could_not_be_separated_makes_a_green_answer_unknown() {
    let same = cargo(0, &[("a", "ok")]);
    let facts = |tests: Option<&str>, file: Option<&str>| ChangeFacts {
        defined: ["tax".to_owned()].into(),
        unseparated_tests: tests.map(str::to_owned),
        unknown_file: file.map(str::to_owned),
    };
    let told = |without: &SideOutcome, facts: &ChangeFacts| {
        let proof = compare_sides("check", &same, without, facts);
        (proof.without, proof.reason)
    };
    let (without, reason) = told(&same, &facts(Some("src/tax.rs"), None));
    assert_eq!(without, WithoutChange::Unknown);
    assert!(
        reason.starts_with("the tests in src/tax.rs could not be separated"),
        "{reason}"
    );
    // A test that fails without the change needs no other one.
    let red = cargo(101, &[("a", "FAILED")]);
    assert_eq!(
        told(&red, &facts(Some("src/tax.rs"), None)).0,
        WithoutChange::Red
    );
    // A failure with another possible reason: the form of a file.
    for without in [&same, &red, &outcome(CheckEnd::Exited(1), None, "")] {
        let (without, reason) = told(without, &facts(None, Some("model.bin")));
        assert_eq!(without, WithoutChange::Unknown);
        assert!(
            reason.starts_with("model.bin could not be separated"),
            "{reason}"
        );
    }
    // A side that cannot be built does not read the file.
    let broken = side(101, "error[E0432]: unresolved import `shop::tax`\n");
    assert_eq!(
        told(&broken, &facts(None, Some("model.bin"))).0,
        WithoutChange::NotBuilt
    );
}

#[test]
fn tests_that_cargo_did_not_come_to_are_not_called_absent() {
    let run = |name: &str, test: &str, end: &str| {
        format!(
            "     Running {name} (target/debug/deps/{test}-1)\nrunning 1 test\ntest {test} ... {end}\n"
        )
    };
    let result = |failed: u32| {
        format!(
            "test result: x. {} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out\n",
            1 - failed
        )
    };
    let with = [
        run("unittests src/lib.rs", "one", "ok"),
        result(0),
        run("tests/two.rs", "two", "ok"),
        result(0),
    ];
    let without = [run("unittests src/lib.rs", "one", "FAILED"), result(1)].concat();
    let states = |without: &str| -> Vec<TestState> {
        let proof = judge(&side(0, &with.concat()), &side(101, without), &[]);
        assert_eq!(proof.without, WithoutChange::Red);
        proof.tests.iter().map(|test| test.without).collect()
    };
    let early = format!("{without}error: test failed, to rerun pass `--lib`\n");
    assert_eq!(states(&early), [TestState::Failed, TestState::Unknown]);
}
