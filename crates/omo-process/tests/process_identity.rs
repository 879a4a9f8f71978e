//! Whether processes live, with real ones. There is nothing to tell on Windows.
#![cfg(unix)]

use std::process::{Command, Stdio};

use omo_process::process_identity::{is_alive, start_mark};

#[test]
fn a_process_lives_until_it_has_ended() {
    let mut child = Command::new("/bin/cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let pid = child.id();
    assert_eq!(is_alive(pid), Some(true));
    let mark = start_mark(pid);
    assert_eq!(start_mark(pid), mark);
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!((is_alive(pid), start_mark(pid)), (Some(false), None));
    // Another user's.
    assert_eq!(is_alive(1), Some(true));
    for no_process in [0, u32::MAX, i32::MAX.unsigned_abs()] {
        assert_eq!(
            (is_alive(no_process), start_mark(no_process)),
            (Some(false), None),
            "{no_process}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn one_that_has_ended_is_dead_before_it_is_waited_for() {
    let mut child = Command::new("/bin/true")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (pid, mut stdout) = (child.id(), child.stdout.take().unwrap());
    // Its stdout ends with it, or a moment before.
    std::io::copy(&mut stdout, &mut std::io::sink()).unwrap();
    let start = std::time::Instant::now();
    while is_alive(pid) == Some(true) {
        assert!(start.elapsed().as_secs() < 20, "a zombie lives");
        std::thread::yield_now();
    }
    assert_eq!(is_alive(pid), Some(false));
    child.wait().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn two_processes_have_two_marks_or_began_together() {
    let own = start_mark(std::process::id()).unwrap();
    assert!(own.bytes().all(|byte| byte.is_ascii_digit()), "{own}");
    assert_ne!(start_mark(1).unwrap(), own);
}
