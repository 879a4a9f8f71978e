//! The remote is away when a client has ended.

use std::fs;
use std::process::{Child, Stdio};

use anyhow::{Context, Result, ensure};
use omo_testkit::wait_until;
use rustix::process::Signal;

use crate::two_machines::{TwoMachines, signal};

/// A worker whose client commits its task while the remote is away, once the worker waits for the remote. What it says
/// goes into the file `said`.
fn waiting_worker(machines: &TwoMachines) -> Result<Child> {
    let (begun, go) = (machines.path("begun"), machines.path("go"));
    let waits = format!(
        "touch '{}'; until [ -e '{}' ]; do sleep 0.1; done",
        begun.display(),
        go.display()
    );
    machines.set_client(&format!("{waits}; echo 1 >a; commit 1"))?;
    let brief = machines.push_brief(&machines.brief(&["1"]))?;
    let said = fs::File::create(machines.path("said"))?;
    let worker = machines
        .worker(&brief, &[])
        .stdout(said)
        .stderr(Stdio::null())
        .spawn()?;
    machines.wait_for("begun")?;
    fs::rename(machines.hub(), machines.path("away"))?;
    fs::write(go, "")?;
    let is_waiting = || {
        said_so_far(machines)
            .is_ok_and(|said| said.contains("it waits for the remote"))
            .then_some(())
    };
    wait_until("the worker to wait", is_waiting)?;
    Ok(worker)
}

fn said_so_far(machines: &TwoMachines) -> Result<String> {
    Ok(fs::read_to_string(machines.path("said"))?)
}

#[test]
fn a_remote_that_comes_back_gets_all_of_the_work() -> Result<()> {
    let machines = TwoMachines::new("")?;
    let mut worker = waiting_worker(&machines)?;
    fs::rename(machines.path("away"), machines.hub())?;
    ensure!(
        worker.wait()?.code() == Some(0),
        "{}",
        said_so_far(&machines)?
    );
    ensure!(
        machines.subjects()? == ["feat: task 1"],
        "{:?}",
        machines.subjects()
    );
    ensure!(
        machines.report()?.pushed == ["1"],
        "{:?}",
        machines.report()
    );
    machines.require_tidy()
}

#[test]
fn work_that_could_not_be_pushed_is_kept_where_the_worker_says() -> Result<()> {
    let machines = TwoMachines::new("")?;
    let mut worker = waiting_worker(&machines)?;
    signal(&worker, Signal::TERM)?;
    ensure!(
        worker.wait()?.code() == Some(9),
        "{}",
        said_so_far(&machines)?
    );
    let said = said_so_far(&machines)?;
    let folder = said
        .trim_end()
        .rsplit_once("its work is kept in ")
        .context(said.clone())?
        .1;
    // The next start of a worker leaves it as well.
    machines.run(&"0".repeat(40), &[])?;
    ensure!(
        machines
            .git(&["-C", folder, "log", "-1", "--format=%s"])?
            .trim()
            == "feat: task 1",
        "{said}"
    );
    ensure!(
        machines.scratch_folders().len() == 1,
        "{:?}",
        machines.scratch_folders()
    );
    Ok(())
}

#[test]
fn a_worker_that_is_killed_before_its_work_is_pushed_leaves_that_to_its_user() -> Result<()> {
    let machines = TwoMachines::new("")?;
    let mut worker = waiting_worker(&machines)?;
    signal(&worker, Signal::KILL)?;
    worker.wait()?;
    let kept = machines.scratch_folders();
    machines.run(&"0".repeat(40), &[])?;
    ensure!(
        kept.len() == 1 && machines.scratch_folders() == kept,
        "{kept:?} {:?}",
        machines.scratch_folders()
    );
    Ok(())
}
