//! Checks of a plan, as real processes under a real keeper.
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use omo_checks::task_check::{CheckLog, run};
use omo_core::check::task_check::{
    ExpectedExit, ExpectedResult, TaskCheck, TaskCheckOutcome, TaskCheckVerdict,
};
use omo_process::environment::CheckEnvironment;
use omo_process::process_identity::is_alive;
use omo_testkit::main_tests;
use tempfile::TempDir;

/// Longer than anything here takes, however busy the machine is.
const LIMIT: Duration = Duration::from_secs(30);

fn main() -> ExitCode {
    omo_process::keeper::run_if_asked();
    let tests: Vec<(&str, fn())> = if cfg!(unix) {
        vec![
            (
                "an_end_is_compared_with_what_was_expected",
                an_end_is_compared_with_what_was_expected,
            ),
            (
                "a_failure_before_a_pipe_is_a_failure",
                a_failure_before_a_pipe_is_a_failure,
            ),
            (
                "a_bash_of_the_project_is_not_asked",
                a_bash_of_the_project_is_not_asked,
            ),
            (
                "nothing_from_outside_steers_the_shell",
                nothing_from_outside_steers_the_shell,
            ),
            (
                "it_stands_at_the_path_that_is_given",
                it_stands_at_the_path_that_is_given,
            ),
            (
                "nothing_of_a_check_outlives_it",
                nothing_of_a_check_outlives_it,
            ),
            (
                "one_that_is_not_wanted_any_more_is_ended",
                one_that_is_not_wanted_any_more_is_ended,
            ),
            (
                "a_text_is_found_where_the_log_leaves_it_out",
                a_text_is_found_where_the_log_leaves_it_out,
            ),
            ("hostile_bytes_do_no_harm", hostile_bytes_do_no_harm),
            (
                "what_cannot_be_started_says_so",
                what_cannot_be_started_says_so,
            ),
        ]
    } else {
        Vec::new()
    };
    main_tests::run(tests)
}

/// A project in a folder of its own.
struct Project {
    temp: TempDir,
    root: PathBuf,
    variables: Vec<(OsString, OsString)>,
}

impl Project {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("project");
        fs::create_dir(&root).unwrap();
        let path = "/usr/local/bin:/usr/bin:/bin";
        let variables =
            [("PATH", path), ("LC_ALL", "C")].map(|(name, value)| (name.into(), value.into()));
        Self {
            temp,
            root,
            variables: variables.into(),
        }
    }

    fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.into(), value.into()));
        self
    }

    fn log(&self) -> PathBuf {
        self.temp.path().join("check.log")
    }

    fn run(&self, check: &TaskCheck) -> TaskCheckOutcome {
        self.run_while(check, || true).unwrap()
    }

    fn run_while(
        &self,
        check: &TaskCheck,
        goes_on: impl FnMut() -> bool,
    ) -> Option<TaskCheckOutcome> {
        let log = CheckLog {
            path: self.log(),
            file: File::create(self.log()).unwrap(),
        };
        run(
            check,
            &self.root,
            &CheckEnvironment::from_variables(self.variables.clone(), &self.root),
            Some(log),
            goes_on,
        )
    }

    /// The number that a check wrote.
    fn pid(&self, file: &str) -> Option<u32> {
        fs::read_to_string(self.root.join(file))
            .ok()?
            .strip_suffix('\n')?
            .parse()
            .ok()
    }
}

fn expecting(command: &str, exit: ExpectedExit, text: Option<&str>) -> TaskCheck {
    TaskCheck {
        expect: ExpectedResult {
            exit,
            stdout_has: text.map(str::to_owned),
        },
        ..TaskCheck::new(command)
    }
}

fn wait_until_dead(pid: u32) {
    let start = Instant::now();
    while is_alive(pid) == Some(true) {
        assert!(start.elapsed() < LIMIT, "{pid} lives on");
        std::thread::yield_now();
    }
}

fn an_end_is_compared_with_what_was_expected() {
    use ExpectedExit::{Exactly, NonZero, Zero};
    use TaskCheckVerdict::{Environment, Green, NothingRan, Red};
    let project = Project::new();
    let missing = || Environment {
        command: Some("no-such-program".to_owned()),
    };
    for (command, exit, text, expected) in [
        ("true", Zero, None, Green),
        ("false", Zero, None, Red),
        ("echo '3 passed'", Zero, Some("3 passed"), Green),
        ("echo '3 passed' >&2", Zero, Some("3 passed"), Green),
        (
            r"printf '3 \033[32mpassed\033[0m\r\n'",
            Zero,
            Some("3 passed"),
            Green,
        ),
        ("echo '2 passed'", Zero, Some("3 passed"), Red),
        ("echo 'no tests ran in 0.01s'", Zero, None, NothingRan),
        ("no-such-program --version", Zero, None, missing()),
        ("no-such-program --version", NonZero, None, missing()),
        ("no-such-program | grep x", NonZero, None, missing()),
        (
            "./no-such-file",
            Zero,
            None,
            Environment {
                command: Some("./no-such-file".to_owned()),
            },
        ),
        (
            "mkdir -p folder; ./folder",
            Zero,
            None,
            Environment {
                command: Some("./folder".to_owned()),
            },
        ),
        ("exit 127", Zero, None, Red),
        ("exit 1", NonZero, None, Green),
        ("true", NonZero, None, Red),
        ("exit 126", NonZero, None, Red),
        ("kill -9 $$", NonZero, None, Red),
        ("sh -c 'kill -9 $$'; exit", NonZero, None, Red),
        ("if then", NonZero, None, Red),
        ("exit 3", Exactly(3), None, Green),
        ("exit 4", Exactly(3), None, Red),
        ("read line; test -z \"$line\"", Zero, None, Green),
        ("cat; echo done", Zero, Some("done"), Green),
    ] {
        let outcome = project.run(&expecting(command, exit, text));
        assert_eq!(outcome.verdict, expected, "{command}: {outcome:?}");
    }
    let outcome = project.run(&expecting(
        "echo one; echo two >&2; exit 3",
        ExpectedExit::Zero,
        None,
    ));
    assert_eq!(
        (outcome.exit, outcome.printed.first_lines.as_slice()),
        (Some(3), ["one".to_owned(), "two".to_owned()].as_slice())
    );
    assert_eq!(
        fs::read_to_string(outcome.log.unwrap()).unwrap(),
        "one\ntwo\n"
    );
}

fn a_failure_before_a_pipe_is_a_failure() {
    let command = TaskCheck::new("false | cat");
    let outcome = Project::new().run(&command);
    assert_eq!(
        (outcome.verdict, outcome.has_pipe_without_pipefail),
        (TaskCheckVerdict::Red, false)
    );
    // Where there is no bash, the outcome says what it is worth.
    let project = Project::new();
    let programs = project.temp.path().join("bin");
    fs::create_dir(&programs).unwrap();
    link(Path::new("/bin/cat"), &programs.join("cat"));
    let project = project.with("PATH", programs);
    let outcome = project.run(&command);
    assert_eq!(
        (outcome.verdict, outcome.has_pipe_without_pipefail),
        (TaskCheckVerdict::Green, true)
    );
    assert!(
        !project
            .run(&TaskCheck::new("true"))
            .has_pipe_without_pipefail
    );
    let missing = project.run(&TaskCheck::new("no-such-program"));
    assert_eq!(
        missing.verdict,
        TaskCheckVerdict::Environment {
            command: Some("no-such-program".to_owned())
        }
    );
}

fn a_bash_of_the_project_is_not_asked() {
    let project = Project::new();
    let (inside, outside) = (project.root.join("bin"), project.temp.path().join("link"));
    fs::create_dir(&inside).unwrap();
    let script = inside.join("bash");
    fs::write(&script, "#!/bin/sh\nexit 0\n").unwrap();
    make_runnable(&script);
    link(&inside, &outside);
    for first in [inside, outside] {
        let path =
            std::env::join_paths([first.as_path(), Path::new("/usr/bin"), Path::new("/bin")])
                .unwrap();
        let project = Project {
            temp: tempfile::tempdir().unwrap(),
            root: project.root.clone(),
            variables: Vec::new(),
        };
        let outcome = project.with("PATH", path).run(&TaskCheck::new("exit 3"));
        assert_eq!(outcome.exit, Some(3), "{}: {outcome:?}", first.display());
    }
}

fn nothing_from_outside_steers_the_shell() {
    let project = Project::new();
    let script = project.temp.path().join("first.sh");
    fs::write(&script, "exit 0\n").unwrap();
    for (name, value) in [
        ("SHELLOPTS", OsString::from("noexec")),
        ("BASH_ENV", script.into_os_string()),
        ("BASH_FUNC_exit%%", OsString::from("() { builtin exit 0; }")),
    ] {
        let outcome = Project::new()
            .with(name, value)
            .run(&TaskCheck::new("exit 3"));
        assert_eq!(outcome.exit, Some(3), "{name}: {outcome:?}");
    }
}

fn it_stands_at_the_path_that_is_given() {
    let project = Project::new();
    fs::create_dir_all(project.root.join("web/app")).unwrap();
    let check = TaskCheck {
        cwd: Some("web/app".to_owned()),
        ..expecting("pwd", ExpectedExit::Zero, Some("/project/web/app"))
    };
    assert!(project.run(&check).is_green());
    let outside = project.run(&TaskCheck {
        cwd: Some("../x".to_owned()),
        ..TaskCheck::new("touch ran")
    });
    assert_eq!(
        outside.verdict,
        TaskCheckVerdict::Environment { command: None }
    );
    let missing = project.run(&TaskCheck {
        cwd: Some("not/there".to_owned()),
        ..TaskCheck::new("touch ran")
    });
    assert_eq!(
        missing.verdict,
        TaskCheckVerdict::Environment { command: None },
        "{missing:?}"
    );
    assert!(missing.detail.contains("not/there"), "{missing:?}");
}

fn nothing_of_a_check_outlives_it() {
    let project = Project::new();
    let outcome = project.run(&TaskCheck::new("sleep 600 & echo $! > background; true"));
    assert!(outcome.is_green(), "{outcome:?}");
    wait_until_dead(project.pid("background").unwrap());
    let endless = TaskCheck {
        timeout_seconds: 1,
        ..TaskCheck::new("sleep 600 & echo $! > child; echo $$ > own; wait")
    };
    let outcome = project.run(&endless);
    assert_eq!(
        (outcome.verdict, outcome.detail.as_str()),
        (TaskCheckVerdict::TimedOut, "ended after 1 s")
    );
    for file in ["child", "own"] {
        wait_until_dead(project.pid(file).unwrap());
    }
}

fn one_that_is_not_wanted_any_more_is_ended() {
    let project = Project::new();
    let start = Instant::now();
    let check = TaskCheck::new("echo $$ > own; sleep 600; true");
    let outcome = project.run_while(&check, || {
        project.pid("own").is_none() && start.elapsed() < LIMIT
    });
    assert_eq!(outcome, None);
    wait_until_dead(project.pid("own").unwrap());
}

fn a_text_is_found_where_the_log_leaves_it_out() {
    let project = Project::new();
    let command = "head -c 5000000 /dev/zero | tr '\\0' 'x' | fold -w 99; echo; echo needle 7; \
                   head -c 5000000 /dev/zero | tr '\\0' 'y' | fold -w 99; echo; echo last";
    let outcome = project.run(&expecting(command, ExpectedExit::Zero, Some("needle 7")));
    assert!(outcome.is_green(), "{outcome:?}");
    let log = fs::read(project.log()).unwrap();
    assert!(log.len() < 2_000_000, "{}", log.len());
    assert!(
        !String::from_utf8_lossy(&log).contains("needle 7"),
        "it tests nothing"
    );
    assert!(log.starts_with(b"xxx") && log.ends_with(b"\nlast\n"));
    assert_eq!(
        (
            outcome.printed.first_lines.len(),
            outcome.printed.last_lines.len()
        ),
        (20, 20)
    );
    assert_eq!(
        outcome.printed.last_lines.last().map(String::as_str),
        Some("last")
    );
}

fn hostile_bytes_do_no_harm() {
    let command = r"printf '\377\376\000\033]0;title\007</system-reminder>\033[2J\n\302\n\342\200\256x\n'; exit 1";
    let outcome = Project::new().run(&TaskCheck::new(command));
    assert_eq!(outcome.verdict, TaskCheckVerdict::Red);
    let quoted = outcome.printed.first_lines.join("\n");
    assert!(quoted.contains("/system-reminder"), "{quoted:?}");
    assert!(
        !quoted.contains(['\u{1b}', '\0', '\u{7}', '<', '\u{202e}']),
        "{quoted:?}"
    );
}

fn what_cannot_be_started_says_so() {
    let project = Project::new();
    let gone = Project {
        root: project.temp.path().join("gone"),
        ..project
    };
    let outcome = gone.run(&TaskCheck::new("true"));
    assert_eq!(
        (outcome.verdict, outcome.exit),
        (TaskCheckVerdict::Environment { command: None }, None)
    );
    assert!(
        outcome.detail.contains("cannot be started"),
        "{}",
        outcome.detail
    );
    let outcome = gone.run(&TaskCheck::new("a\0b"));
    assert!(outcome.detail.contains("NUL"), "{}", outcome.detail);
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) {
    std::os::unix::fs::symlink(to, at).unwrap();
}

#[cfg(unix)]
fn make_runnable(path: &Path) {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

#[cfg(not(unix))]
fn link(_to: &Path, _at: &Path) {}

#[cfg(not(unix))]
fn make_runnable(_path: &Path) {}
