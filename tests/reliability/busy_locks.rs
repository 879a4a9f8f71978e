//! A lock that another process holds: one that never releases it, is stopped, or is dead.

use omo_tests::all_good;
use std::fs;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Result, ensure};
use omo_testkit::{HookRun, run_command, wait_until};
use omo_tests::lock_holder::Holder;
use omo_tests::scene::{Scene, plugin};

use crate::fault_operations::{By, FAULT_OPERATIONS, FaultOperation, is_documented};

/// What a hook may take, whatever hangs.
const BOUND: Duration = Duration::from_millis(1_500);
/// A person's command waits longer for the lock, and then says so.
const COMMAND_BOUND: Duration = Duration::from_secs(5);

/// Runs an operation. Where it took longer than it may, the machine may have been busy: it gets more chances, none of which
/// helps one that waits for too long.
fn run_within(bound: Duration, mut operation: impl FnMut() -> Result<HookRun>) -> Result<HookRun> {
    let mut run = operation()?;
    for _ in 0..20 {
        if run.duration <= bound {
            break;
        }
        run = operation()?;
    }
    ensure!(run.duration <= bound, "it took {:?}", run.duration);
    Ok(run)
}

/// Each operation against a busy lock.
#[track_caller]
fn against(lock: &str, stopped: bool) {
    let plugin = plugin();
    let (hooks, others): (Vec<&FaultOperation>, Vec<&FaultOperation>) = FAULT_OPERATIONS
        .iter()
        .partition(|operation| operation.by == By::Hook);
    // A command waits for seconds, all of them in one way.
    all_good(
        hooks
            .into_iter()
            .chain(others.into_iter().step_by(5))
            .map(|operation| {
                (
                    operation.name.to_owned(),
                    waits_and_releases(&plugin, operation, lock, stopped),
                )
            }),
    );
}

fn waits_and_releases(
    plugin: &std::path::Path,
    operation: &FaultOperation,
    lock: &str,
    stopped: bool,
) -> Result<()> {
    let mut scene = Scene::new(plugin)?;
    scene.lab.write("check.sh", "exit 0\n")?;
    (operation.prepare)(&mut scene)?;
    let (command, input) = (operation.process)(&scene)?;
    let holder = Holder::take(&scene.lab.root().join(lock))?;
    if stopped {
        holder.signal("-STOP")?;
    }
    let before = fs::read(scene.state_file()).ok();
    let bound = if operation.by == By::Hook {
        BOUND
    } else {
        COMMAND_BOUND
    };
    let run = run_within(bound, || run_command(&command, &input))?;
    let is_same = fs::read(scene.state_file()).ok() == before;
    match operation.by {
        By::Hook => {
            ensure!(run.status.success() && run.stderr.is_empty(), "{run:?}");
            ensure!(
                is_same || !lock.contains("project"),
                "the state was written without the lock"
            );
            ensure!(
                !is_same || !run.stdout.contains("is continued, at most"),
                "not written: {}",
                run.stdout
            );
        }
        By::Command => {
            let said = run.stderr.contains("error: ") && run.stderr.contains("hint: ");
            ensure!(
                run.status.success() || is_documented(&run) && said,
                "{run:?}"
            );
            ensure!(
                is_same || run.status.success(),
                "it failed, and wrote the state"
            );
        }
    }
    if stopped {
        holder.signal("-CONT")?;
    }
    drop(holder);
    // Once the holder is gone nothing is in the way any more.
    let run = run_command(&command, &input)?;
    let is_right =
        run.status.success() || operation.by == By::Command && run.status.code() == Some(3);
    ensure!(is_right, "afterwards: {run:?}");
    Ok(())
}

#[test]
fn a_lock_that_is_never_released_releases_every_session_in_time() {
    against("lab/project/.sisyphus/cc-omo/runtime.lock", false);
}

#[test]
fn a_lock_of_a_stopped_process_releases_every_session_in_time() {
    against("lab/project/.sisyphus/cc-omo/runtime.lock", true);
}

#[test]
fn a_busy_lock_of_the_users_own_folder_releases_every_session_in_time() {
    against("lab/home/.local/state/omo/runtime.lock", false);
}

#[test]
fn the_lock_of_a_dead_process_is_free() {
    let plugin = plugin();
    let mut scene = Scene::new(&plugin).unwrap();
    crate::fault_operations::armed(&mut scene).unwrap();
    let holder = Holder::take(&scene.lab.state_folder().join("runtime.lock")).unwrap();
    holder.signal("-KILL").unwrap();
    let pid = holder.id();
    let status = || fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    wait_until("the holder is dead", || {
        status().contains(") Z ").then_some(())
    })
    .unwrap();
    scene.blocks(&serde_json::json!({})).unwrap();
}

#[test]
fn a_stream_that_does_not_wait_gets_the_whole_answer_once_it_is_read() {
    let plugin = plugin();
    let mut scene = Scene::new(&plugin).unwrap();
    crate::fault_operations::armed(&mut scene).unwrap();
    let operation = FAULT_OPERATIONS
        .iter()
        .find(|operation| operation.name == "a stop without a claim")
        .unwrap();
    let (mut command, input) = (operation.process)(&scene).unwrap();
    let (mut reader, mut writer) = UnixStream::pair().unwrap();
    writer.set_nonblocking(true).unwrap();
    let mut filled = 0;
    while let Ok(more) = writer.write(&[b' '; 256]) {
        filled += more;
    }
    command.stdin(Stdio::piped()).stdout(OwnedFd::from(writer));
    let mut child = command.spawn().unwrap();
    drop(command);
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let counted = || (scene.blocks_counted().ok()? == 1).then_some(());
    wait_until("the block is counted", counted).unwrap();
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    let answer: serde_json::Value = serde_json::from_str(text.split_at(filled).1).unwrap();
    assert_eq!(answer["decision"], "block");
}
