//! The supervisor is killed at any moment: nothing is left running, the repository is sound, the user's branch is
//! untouched or has all of it, and the next command brings the run to the same end.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use omo_testkit::wait_until;
use omo_tests::exhaustive::is_exhaustive;

use crate::parallel_repository::{Ground, WELL, four_sessions, on_repository};

/// A moment that comes later than this does not come.
const LIMIT: Duration = Duration::from_mins(1);

/// The processes that stand in the project, or below it: clients in their worktrees, and a git that was making one.
fn at_work(ground: &Ground) -> Vec<u32> {
    let of = |entry: fs::DirEntry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        fs::read_link(entry.path().join("cwd"))
            .ok()?
            .starts_with(ground.project())
            .then_some(pid)
    };
    omo_tests::processes::processes().filter_map(of).collect()
}

/// Waits until so many events have happened in the run, without a pause: `false` where it has ended before.
fn reaches(ground: &Ground, events: u64) -> Result<bool> {
    let (run, start) = (ground.run()?, Instant::now());
    while start.elapsed() < LIMIT {
        let state = run.state()?;
        if state.seq >= events {
            return Ok(true);
        }
        if state.phase != omo_engine::state::RunPhase::Executing {
            return Ok(false);
        }
        std::thread::yield_now();
    }
    bail!("event {events} did not come")
}

/// Kills the supervisor, and waits for the end of all that it had started.
pub(crate) fn kill_supervisor(ground: &Ground) -> Result<()> {
    ground.kill_supervisor()?;
    wait_until("the end of all that it had started", || {
        at_work(ground).is_empty().then_some(())
    })
}

/// Kills the supervisor after so many events, and looks at what is left.
fn killed_after(ground: &Ground, events: u64) -> Result<()> {
    let before = ground.git(&["rev-parse", "HEAD"])?;
    ground.open(&[])?;
    ground.omo(&["agent", "workers", "start"])?.exits_with(0)?;
    ensure!(reaches(ground, events)?, "the run has no {events} events");
    kill_supervisor(ground)?;
    ensure!(
        ground
            .git(&["fsck", "--strict", "--no-dangling"])?
            .is_empty()
    );
    let head = ground.git(&["rev-parse", "HEAD"])?;
    let state = ground.state()?;
    let tip = state.parallel.as_ref().map(|parallel| parallel.tip.clone());
    ensure!(
        head == before || Some(&head) == tip.as_ref(),
        "the user's branch is halfway, at {head}"
    );
    let said = ground.omo(&["run", "watch"])?;
    ensure!(
        said.status == 0,
        "{}\n{}\n{}",
        said.status,
        said.out,
        said.err
    );
    let attempts: Vec<u32> = ground
        .state()?
        .tasks
        .values()
        .map(|task| task.attempts)
        .collect();
    ensure!(attempts == [1; 5], "attempts were used: {attempts:?}");
    ground.require_complete(&WELL)
}

/// One of four threads' share of the moments.
fn moments(share: u64) {
    // A run that is never disturbed writes more than 40 events. Six moments of the sample are five events apart.
    let (first, step) = if is_exhaustive() { (0, 1) } else { (share, 3) };
    for events in (first..5)
        .step_by(step)
        .map(|place| 3 + share * 2 + place * 8)
    {
        on_repository(
            &four_sessions(),
            "test -f a.txt && test -f e.txt",
            |ground| {
                killed_after(ground, events).with_context(|| format!("killed after event {events}"))
            },
        );
    }
}

#[test]
fn a_supervisor_that_is_killed_loses_nothing_1() {
    moments(0);
}

#[test]
fn a_supervisor_that_is_killed_loses_nothing_2() {
    moments(1);
}

#[test]
fn a_supervisor_that_is_killed_loses_nothing_3() {
    moments(2);
}

#[test]
fn a_supervisor_that_is_killed_loses_nothing_4() {
    moments(3);
}

#[test]
fn a_supervisor_that_is_killed_while_a_wave_is_checked_has_it_checked_again() {
    let check = "echo ran >> ../../../../checked; [ -f ../../../../once ] || { touch ../../../../once; sleep 600; }";
    on_repository(&four_sessions(), check, |ground| {
        let outside = ground.project().join("..");
        ground.open(&[])?;
        ground.omo(&["agent", "workers", "start"])?.exits_with(0)?;
        wait_until("the check of the first wave", || {
            outside.join("once").exists().then_some(())
        })?;
        let merged = ground.state()?.parallel.context("no workers")?.merged;
        ensure!(
            merged.len() == 2 && ground.started_sessions().len() == 2,
            "{merged:?}"
        );
        kill_supervisor(ground)?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        // The one that was killed, its wave, and the whole.
        let checked = fs::read_to_string(outside.join("checked"))?;
        ensure!(checked.lines().count() == 3, "checked {checked:?}");
        ensure!(
            ground.started_sessions().len() == 4,
            "{:?}",
            ground.started_sessions()
        );
        ground.require_complete(&WELL)
    });
}
