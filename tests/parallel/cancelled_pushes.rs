//! A run that is cancelled while something is pushed to the remote repository: by omo, which hands workers over, or by a
//! worker. Nothing is handed over behind that, and nothing stays on the remote.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use omo_engine::event::EventKind;
use omo_engine::state::RunPhase;
use omo_testkit::wait_until;

use crate::launchers::{Engine, on_local};

/// The remote holds up a push in which there is such a line for a branch, after its mark and up to another one.
fn hold_up_pushes(engine: &Engine, is_held_up: &str) -> Result<()> {
    let (hub, home) = (
        engine.host.files().folder().join("hub.git"),
        engine.host.home(),
    );
    let hook = hub.join("hooks/pre-receive");
    fs::create_dir_all(hub.join("hooks"))?;
    let wait = format!(
        "touch '{0}/pushing'; until [ -e '{0}/go' ]; do sleep 0.1; done",
        home.display()
    );
    let text = format!("#!/bin/sh\nif {is_held_up}; then {wait}; fi\n");
    fs::write(&hook, text)?;
    Ok(fs::set_permissions(
        &hook,
        fs::Permissions::from_mode(0o755),
    )?)
}

/// Cancels the run as soon as the push is held up, and has the push go on once the cancel is written down. How many
/// workers were handed over.
fn cancel_during_push(engine: &Engine, is_held_up: &str) -> Result<usize> {
    hold_up_pushes(engine, is_held_up)?;
    let before = engine.ground.git(&["rev-parse", "HEAD"])?;
    engine.open()?;
    engine
        .ground
        .omo(&["agent", "workers", "start"])?
        .exits_with(0)?;
    let home = engine.host.home();
    wait_until("a push", || home.join("pushing").exists().then_some(()))?;
    // It waits until the workers have ended.
    let mut cancel = engine
        .ground
        .command(&["run", "cancel"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let is_cancelled = || {
        engine
            .ground
            .state()
            .is_ok_and(|state| state.phase != RunPhase::Executing)
            .then_some(())
    };
    wait_until("the cancel", is_cancelled)?;
    fs::write(home.join("go"), "")?;
    ensure!(cancel.wait()?.success(), "the cancel failed");
    let has_ended = || {
        engine
            .ground
            .run()
            .ok()?
            .try_supervise()
            .ok()?
            .is_some()
            .then_some(())
    };
    wait_until("the end of the supervisor", has_ended)?;
    engine.require_idle()?;
    let state = engine.ground.state()?;
    ensure!(
        matches!(state.phase, RunPhase::Cancelled { .. }),
        "{:?}",
        state.phase
    );
    let parallel = state.parallel.context("no workers")?;
    ensure!(
        parallel.jobs().next().is_none(),
        "a worker is in the ledger: {:?}",
        parallel.groups
    );
    ensure!(
        parallel
            .groups
            .values()
            .all(|known| known.stray_workers.is_empty()),
        "{:?}",
        parallel.groups
    );
    ensure!(
        engine.ground.git(&["rev-parse", "HEAD"])? == before,
        "the user's branch has moved"
    );
    engine.ground.require_tidy()?;
    let events = engine.ground.run()?.events()?;
    let is_submitted = |kind: &EventKind| matches!(kind, EventKind::WorkerSubmitted { .. });
    let cancelled = events
        .iter()
        .position(|event| matches!(event.kind, EventKind::RunCancelled { .. }));
    let behind = events
        .get(cancelled.context("no cancel is written down")?..)
        .unwrap_or_default();
    ensure!(
        !behind.iter().any(|event| is_submitted(&event.kind)),
        "a worker was handed over: {behind:?}"
    );
    Ok(events
        .iter()
        .filter(|event| is_submitted(&event.kind))
        .count())
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_run_that_is_cancelled_while_its_briefs_are_pushed_hands_nothing_over() {
    on_local(|engine| {
        let submitted = cancel_during_push(engine, "grep -q '[.]brief$'")?;
        ensure!(submitted == 0, "{submitted} workers were handed over");
        Ok(())
    });
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_run_that_is_cancelled_while_a_worker_pushes_its_work_hands_nothing_over() {
    on_local(|engine| {
        // The branch is there by then.
        engine.script(3, "sleep 300\n")?;
        let submitted = cancel_during_push(engine, "grep -v '^00000000' | grep -q '/session-1$'")?;
        ensure!(submitted == 2, "{submitted} workers were handed over");
        Ok(())
    });
}
