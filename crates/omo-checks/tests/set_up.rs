//! The set-up command of a worktree, as a real process under a real keeper.
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use std::fs::{self, File};
use std::process::ExitCode;

use omo_checks::set_up::{SetUpError, set_up_worktree};
use omo_checks::task_check::CheckLog;
use omo_process::environment::CheckEnvironment;
use omo_testkit::main_tests;
use tempfile::TempDir;

fn main() -> ExitCode {
    omo_process::keeper::run_if_asked();
    let tests: Vec<(&str, fn())> = if cfg!(unix) {
        vec![
            (
                "it_works_in_the_worktree_and_keeps_what_it_says",
                it_works_in_the_worktree_and_keeps_what_it_says,
            ),
            ("why_it_failed_is_reported", why_it_failed_is_reported),
            (
                "a_set_up_that_is_not_wanted_any_more_is_ended",
                a_set_up_that_is_not_wanted_any_more_is_ended,
            ),
        ]
    } else {
        Vec::new()
    };
    main_tests::run(tests)
}

fn run(temp: &TempDir, command: &str, goes_on: impl FnMut() -> bool) -> Result<(), SetUpError> {
    let (worktree, path) = (temp.path().join("tree"), temp.path().join("setup.log"));
    fs::create_dir_all(&worktree).unwrap();
    let log = CheckLog {
        file: File::create(&path).unwrap(),
        path,
    };
    let variables = [
        ("PATH", "/usr/bin:/bin"),
        ("LC_ALL", "C"),
        ("ANTHROPIC_API_KEY", "secret"),
    ];
    let environment = CheckEnvironment::from_variables(
        variables
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
        &worktree,
    );
    set_up_worktree(command, &worktree, &environment, log, goes_on)
}

fn it_works_in_the_worktree_and_keeps_what_it_says() {
    let temp = tempfile::tempdir().unwrap();
    run(
        &temp,
        "echo \"key: $ANTHROPIC_API_KEY\"; echo ok > made; echo 'running 0 tests'",
        || true,
    )
    .unwrap();
    assert_eq!(
        fs::read_to_string(temp.path().join("tree/made")).unwrap(),
        "ok\n"
    );
    assert_eq!(
        fs::read_to_string(temp.path().join("setup.log")).unwrap(),
        "key: \nrunning 0 tests\n"
    );
}

fn why_it_failed_is_reported() {
    let temp = tempfile::tempdir().unwrap();
    let log = temp.path().join("setup.log").display().to_string();
    for (command, expected) in [
        (
            "echo a; echo 'no such package' >&2; exit 3",
            "`echo a; echo 'no such package' >&2; exit 3` failed: exit status 3; it said: no such package",
        ),
        ("no-such-tool ci", "`no-such-tool ci` could not be run: "),
        ("", "`` could not be run: the check has no command"),
    ] {
        let said = run(&temp, command, || true).unwrap_err().to_string();
        assert!(
            said.starts_with(&format!("the set-up command {expected}")),
            "{said}"
        );
        assert!(
            said.ends_with(&format!("; its output is in {log}")),
            "{said}"
        );
    }
}

fn a_set_up_that_is_not_wanted_any_more_is_ended() {
    let temp = tempfile::tempdir().unwrap();
    let begun = temp.path().join("tree/begun");
    let error = run(&temp, "echo > begun; sleep 600", || !begun.exists()).unwrap_err();
    assert!(matches!(error, SetUpError::Cancelled), "{error}");
}
