//! A test in a process of its own that no other stands above, but for the first of the system.
//!
//! omo asks of each process above it whether it is a client. A test that has each of its calls fail would ask the same
//! of every shell and task that it was started by, and play hundreds of cases more where more of them are.

use std::io::{Read, stdin};
use std::process::{Command, Stdio};
use std::thread;

/// What says to a test that it is the orphan.
const IS_ORPHAN: &str = "OMO_TEST_IS_ORPHAN";

/// Plays a test as an orphan; `name` is its whole name, with its modules.
///
/// # Panics
///
/// Where it fails, or where no test has that name.
pub fn run_as_orphan(name: &str, test: impl FnOnce()) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test that starts this one says so"
    )]
    let is_orphan = std::env::var_os(IS_ORPHAN).is_some();
    if is_orphan {
        end_with_the_one_that_waits();
        return test();
    }
    let (status, said) = started(name);
    assert!(
        status && said.contains("test result: ok. 1 passed"),
        "{said}"
    );
}

/// Starts the test once more, under no parent, and waits until it has ended.
#[expect(clippy::expect_used, reason = "a test's helper fails as a test does")]
fn started(name: &str) -> (bool, String) {
    let mut command = Command::new("setsid");
    command
        .arg("--fork")
        .arg(std::env::current_exe().expect("the path of this test"));
    command
        .args(["--exact", name, "--include-ignored", "--nocapture"])
        .env(IS_ORPHAN, "1");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("start setsid");
    // Open for as long as the test is waited for.
    let open = child.stdin.take();
    let output = child.wait_with_output().expect("wait for the test");
    drop(open);
    let said = [output.stdout, output.stderr]
        .map(|said| String::from_utf8_lossy(&said).into_owned())
        .concat();
    (output.status.success(), said)
}

/// Ends this process with the one that has started it: that one is not above it any more, and takes nothing down.
fn end_with_the_one_that_waits() {
    thread::spawn(|| {
        let _ = stdin().read(&mut [0]);
        #[expect(clippy::exit, reason = "a thread beside the test ends it")]
        std::process::exit(1)
    });
}
