//! Worth of checks' ends, as a table.

use super::*;

fn seen(status: i32) -> ObservedResult {
    ObservedResult {
        end: CheckEnd::Exited(status),
        counts: None,
        heard: HeardOutput::default(),
        pipefail_matters: false,
    }
}

fn expecting(exit: ExpectedExit) -> ExpectedResult {
    ExpectedResult {
        exit,
        stdout_has: None,
    }
}

fn counting(status: i32, run: u64, failed: u64) -> ObservedResult {
    ObservedResult {
        counts: Some(TestCounts {
            run,
            failed,
            skipped: 0,
        }),
        ..seen(status)
    }
}

fn complaining(status: i32, complaint: ShellComplaint) -> ObservedResult {
    ObservedResult {
        heard: HeardOutput {
            complaint: Some(complaint),
            ..HeardOutput::default()
        },
        ..seen(status)
    }
}

fn missing(status: i32, command: &str) -> ObservedResult {
    complaining(status, ShellComplaint::NotFound(command.to_owned()))
}

#[test]
fn an_end_is_worth_what_was_expected_of_it() {
    use ExpectedExit::{Exactly, NonZero, Zero};
    use TaskCheckVerdict::{Environment, Green, NothingRan, Red, TimedOut};
    let without = |command: &str| Environment {
        command: Some(command.to_owned()),
    };
    let ended = |end| ObservedResult { end, ..seen(0) };
    for (exit, seen, expected) in [
        (Zero, seen(0), Green),
        (Zero, seen(1), Red),
        (Zero, counting(0, 0, 0), NothingRan),
        (Zero, counting(0, 3, 1), Red),
        (Zero, counting(0, 3, 0), Green),
        (Zero, missing(127, "gcc"), without("gcc")),
        (
            Zero,
            complaining(126, ShellComplaint::NotRun("./x".to_owned())),
            without("./x"),
        ),
        // A program that ends so is not a missing one.
        (Zero, seen(127), Red),
        (Zero, missing(1, "gcc"), Red),
        (Zero, missing(0, "gcc"), Green),
        (Zero, ended(CheckEnd::Killed(9)), Red),
        (Zero, ended(CheckEnd::TimedOut(600)), TimedOut),
        (
            Zero,
            ended(CheckEnd::NotStarted("no shell".to_owned())),
            Environment { command: None },
        ),
        (NonZero, seen(1), Green),
        (NonZero, seen(101), Green),
        (NonZero, seen(255), Green),
        (NonZero, counting(1, 3, 3), Green),
        // Tests that cannot even be loaded: their subject does not exist yet.
        (NonZero, counting(1, 0, 0), Green),
        (NonZero, counting(5, 0, 0), NothingRan),
        (NonZero, seen(5), Green),
        (NonZero, seen(0), Red),
        (NonZero, counting(0, 0, 0), Red),
        (NonZero, seen(126), Red),
        (NonZero, seen(127), Red),
        (NonZero, seen(137), Red),
        (NonZero, missing(127, "pytest"), without("pytest")),
        (NonZero, missing(1, "pytest"), without("pytest")),
        (
            NonZero,
            complaining(1, ShellComplaint::NotRun("cd".to_owned())),
            Green,
        ),
        (NonZero, complaining(2, ShellComplaint::Syntax), Red),
        (NonZero, ended(CheckEnd::Killed(6)), Red),
        (NonZero, ended(CheckEnd::TimedOut(600)), TimedOut),
        (
            NonZero,
            ended(CheckEnd::NotStarted("no shell".to_owned())),
            Environment { command: None },
        ),
        (Exactly(3), seen(3), Green),
        (Exactly(3), seen(1), Red),
        (Exactly(3), seen(0), Red),
        (Exactly(3), missing(127, "gcc"), without("gcc")),
        (Exactly(127), missing(127, "gcc"), Green),
        (Exactly(0), counting(0, 0, 0), NothingRan),
        (Exactly(0), seen(0), Green),
    ] {
        assert_eq!(
            judge_task_check(&expecting(exit), &seen).0,
            expected,
            "{exit:?} {seen:?}"
        );
    }
}

#[test]
fn the_expected_text_is_needed_beside_the_expected_end_and_never_instead_of_it() {
    use ExpectedExit::{Exactly, NonZero, Zero};
    for (exit, status) in [(Zero, 0), (NonZero, 1), (Exactly(4), 4)] {
        let expect = ExpectedResult {
            exit,
            stdout_has: Some("3 passed".to_owned()),
        };
        let with = |has_text, status| {
            let heard = HeardOutput {
                has_text,
                ..HeardOutput::default()
            };
            judge_task_check(
                &expect,
                &ObservedResult {
                    heard,
                    ..seen(status)
                },
            )
        };
        assert_eq!(with(true, status).0, TaskCheckVerdict::Green, "{exit:?}");
        let (verdict, words) = with(false, status);
        assert_eq!(verdict, TaskCheckVerdict::Red, "{exit:?}");
        assert!(
            words.ends_with(", but its output does not have `3 passed`"),
            "{words}"
        );
        let other = with(true, i32::from(status == 0));
        assert_eq!(other.0, TaskCheckVerdict::Red, "{exit:?}");
    }
}

#[test]
fn the_words_say_why() {
    for (exit, seen, expected) in [
        (
            ExpectedExit::NonZero,
            seen(0),
            "exit status 0: the tests pass before the implementation",
        ),
        (
            ExpectedExit::NonZero,
            seen(2),
            "exit status 2, as expected before the implementation",
        ),
        (
            ExpectedExit::NonZero,
            seen(139),
            "exit status 139: ended by signal 11",
        ),
        (
            ExpectedExit::Exactly(3),
            seen(1),
            "exit status 1, expected 3",
        ),
        (
            ExpectedExit::Zero,
            seen(0),
            "exit status 0, no count of tests",
        ),
        (
            ExpectedExit::Zero,
            missing(127, "gcc"),
            "exit status 127: `gcc` could not be run",
        ),
        (
            ExpectedExit::Zero,
            complaining(2, ShellComplaint::Syntax),
            "exit status 2: the shell cannot read the command",
        ),
        (
            ExpectedExit::Zero,
            ObservedResult {
                pipefail_matters: true,
                ..seen(141)
            },
            "exit status 141: what stands before a pipe was ended because what follows did not read all of it",
        ),
        (ExpectedExit::Zero, seen(141), "exit status 141"),
    ] {
        assert_eq!(judge_task_check(&expecting(exit), &seen).1, expected);
    }
}

#[test]
fn what_cannot_be_run_is_refused() {
    let check = TaskCheck::new("true");
    assert_eq!(check.invalid_reason(), None);
    assert_eq!(
        TaskCheck {
            cwd: Some("web/app".to_owned()),
            ..check.clone()
        }
        .invalid_reason(),
        None
    );
    for (bad, part) in [
        (TaskCheck::new(" \n"), "no command"),
        (TaskCheck::new("a\0b"), "NUL"),
        (
            TaskCheck {
                cwd: Some("../x".to_owned()),
                ..check.clone()
            },
            "`../x` is not a folder below",
        ),
        (
            TaskCheck {
                cwd: Some("/etc".to_owned()),
                ..check.clone()
            },
            "`/etc` is not a folder below",
        ),
    ] {
        assert!(
            bad.invalid_reason().is_some_and(|why| why.contains(part)),
            "{bad:?}"
        );
    }
    for (given, expected) in [(0, 1), (60, 60), (u32::MAX, MAX_TIMEOUT_SECONDS)] {
        assert_eq!(
            TaskCheck {
                timeout_seconds: given,
                ..check.clone()
            }
            .effective_timeout(),
            expected
        );
    }
}

#[test]
fn what_is_kept_is_read_again_and_what_is_missing_has_a_meaning() {
    let check: TaskCheck = serde_json::from_str(r#"{"command":"cargo test","unknown":1}"#).unwrap();
    assert_eq!(check, TaskCheck::new("cargo test"));
    let check = TaskCheck {
        expect: ExpectedResult {
            exit: ExpectedExit::Exactly(3),
            stdout_has: Some("x".to_owned()),
        },
        cwd: Some("web".to_owned()),
        ..check
    };
    let json = serde_json::to_string(&check).unwrap();
    assert_eq!(
        json,
        r#"{"command":"cargo test","expect":{"exit":{"exactly":3},"stdoutHas":"x"},"timeoutSeconds":600,"cwd":"web"}"#
    );
    assert_eq!(serde_json::from_str::<TaskCheck>(&json).unwrap(), check);
    let outcome: TaskCheckOutcome = serde_json::from_str(
        r#"{"verdict":{"environment":{"command":"gcc"}},"detail":"exit status 127","tookMillis":4}"#,
    )
    .unwrap();
    assert_eq!(
        outcome.verdict,
        TaskCheckVerdict::Environment {
            command: Some("gcc".to_owned())
        }
    );
    assert!(!outcome.is_green());
}
