//! Surroundings of a suite, as a program sees them that is started as one.

use std::process::{Command, Output, Stdio};

fn task() -> Command {
    let mut task = Command::new(env!("CARGO_BIN_EXE_xtask"));
    task.stdin(Stdio::null()).arg("suite");
    task
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_suite_has_no_variable_that_steers_other_programs_and_a_known_locale() {
    let stray = [
        "GIT_DIR",
        "CLAUDECODE",
        "ANTHROPIC_BASE_URL",
        "OMO_DISABLE",
        "CARGO_BUILD_TARGET",
    ];
    let given = [
        "CARGO_HOME",
        "CARGO_MANIFEST_DIR",
        "OMO_TEST_PLUGIN",
        "RUSTUP_HOME",
        "TMPDIR",
    ];
    let mut task = task();
    task.arg("env")
        .envs(stray.iter().chain(&given).map(|name| (name, "stray")));
    let variables = said(
        &task
            .env("LC_ALL", "de_DE")
            .env("LANG", "tr_TR")
            .output()
            .unwrap(),
    );
    let value = |name: &str| {
        variables
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
    };
    assert!(
        stray.iter().all(|name| value(name).is_none()),
        "{variables}"
    );
    assert!(
        given.iter().all(|name| value(name) == Some("stray")),
        "{variables}"
    );
    assert_eq!(
        (value("LC_ALL"), value("LANG")),
        (Some("C.UTF-8"), Some("C.UTF-8"))
    );
}

#[test]
fn a_suite_has_a_known_umask_and_its_own_arguments_and_status() {
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        "umask 077; exec \"$@\"",
        "sh",
        env!("CARGO_BIN_EXE_xtask"),
        "suite",
        "sh",
        "-c",
    ]);
    let output = shell
        .args(["umask; echo \"$@\"; exit 7", "sh", "--skip", "one"])
        .output()
        .unwrap();
    assert_eq!(
        (output.stdout.as_slice(), output.status.code()),
        (&b"0022\n--skip one\n"[..], Some(7))
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_suite_of_a_task_in_the_background_can_be_interrupted() {
    let mut shell = Command::new("sh");
    let task = [
        env!("CARGO_BIN_EXE_xtask"),
        "suite",
        "grep",
        "SigIgn",
        "/proc/self/status",
    ];
    let output = shell
        .args(["-c", "trap '' HUP INT QUIT TERM PIPE; exec \"$@\"", "sh"])
        .args(task)
        .output()
        .unwrap();
    let said = said(&output);
    let ignored = u64::from_str_radix(said.rsplit_once('\t').unwrap().1.trim(), 16).unwrap();
    assert_eq!(ignored & 0x5007, 0, "HUP, INT, QUIT, PIPE and TERM: {said}");
}

/// Field 6 of a process's `stat` is its session, field 7 its terminal. The leader of a session gets the terminal that
/// it opens, and is hung up with it.
#[cfg(target_os = "linux")]
#[test]
fn a_suite_has_a_session_of_its_own_without_a_terminal_and_is_not_its_leader() {
    let own = std::fs::read_to_string("/proc/self/stat").unwrap();
    let said = said(&task().args(["cat", "/proc/self/stat"]).output().unwrap());
    let (own, fields): (Vec<&str>, Vec<&str>) =
        (own.split(' ').collect(), said.split(' ').collect());
    assert_eq!(fields[6], "0", "{said}");
    assert!(fields[5] != fields[0] && fields[5] != own[5], "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_suite_ends_with_its_task() {
    use std::io::{BufRead, BufReader, Read};

    let suite = "trap 'kill $!; echo ended; exit' TERM; sleep 60 >/dev/null 2>&1 & echo begun; wait; echo went on";
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        "\"$@\" & wait",
        "sh",
        env!("CARGO_BIN_EXE_xtask"),
        "suite",
        "sh",
        "-c",
        suite,
    ]);
    let mut task = shell.stdout(Stdio::piped()).spawn().unwrap();
    let (mut out, mut begun, mut rest) = (
        BufReader::new(task.stdout.take().unwrap()),
        String::new(),
        String::new(),
    );
    out.read_line(&mut begun).unwrap();
    task.kill().unwrap();
    task.wait().unwrap();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!((begun.as_str(), rest.as_str()), ("begun\n", "ended\n"));
}
