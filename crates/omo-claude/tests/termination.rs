//! A process that is about to end, with what it has started. No other test may run in it.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use omo_claude::client::ClaudeClient;
use omo_process::process_identity::is_alive;
use omo_process::termination;
use omo_testkit::wait_until;

#[test]
fn all_that_was_started_is_ended_and_nothing_comes_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let (program, started) = (folder.path().join("claude"), folder.path().join("started"));
    fs::write(
        &program,
        format!(
            "#!/bin/sh\necho $$ >'{}'; exec sleep 600\n",
            started.display()
        ),
    )
    .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let search = [folder.path().to_owned(), "/usr/bin".into(), "/bin".into()]
        .into_iter()
        .collect();
    let claude = ClaudeClient::find(&search, folder.path()).unwrap();
    let asking = std::thread::spawn(move || claude.version().is_ok());
    let pid = || {
        fs::read_to_string(&started)
            .ok()?
            .trim()
            .parse::<u32>()
            .ok()
    };
    let pid = wait_until("the client runs", pid).unwrap();
    termination::end_started_processes();
    wait_until("its end", || (is_alive(pid) == Some(false)).then_some(())).unwrap();
    assert!(
        !asking.is_finished(),
        "an end that this process caused was taken for an answer"
    );
}
