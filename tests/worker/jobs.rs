//! Workers with a name: started, listed, cancelled, and what they said.

use std::fs;
use std::process::Stdio;

use anyhow::{Result, ensure};
use omo_testkit::wait_until;
use omo_tests::plan_project::Said;

use crate::two_machines::TwoMachines;

/// `omo worker …` where the jobs are.
fn jobs(machines: &TwoMachines, arguments: &[&str]) -> Result<Said> {
    let scratch = machines.path("scratch").display().to_string();
    let words = [["worker"].as_slice(), arguments, &["--scratch", &scratch]].concat();
    Ok(Said::of(&machines.command(&words).output()?))
}

fn wait_for_end(machines: &TwoMachines, name: &str) -> Result<()> {
    let line = format!("{name} ended");
    let has_ended = || {
        jobs(machines, &["list"])
            .is_ok_and(|said| said.out.contains(&line))
            .then_some(())
    };
    wait_until("the end of the job", has_ended)
}

#[test]
fn a_job_is_started_once_and_says_what_it_does() -> Result<()> {
    let machines = TwoMachines::new("")?;
    let go = machines.path("go");
    machines.set_client(&format!(
        "until [ -e '{}' ]; do sleep 0.1; done; echo 1 >a; commit 1",
        go.display()
    ))?;
    let brief = machines.push_brief(&machines.brief(&["1"]))?;
    let said = machines.run(&brief, &["start", "--name", "omo-r1.1"])?;
    ensure!(
        said.status == 0 && said.out.contains("started omo-r1.1"),
        "{said:?}"
    );
    ensure!(jobs(&machines, &["list"])?.out == "omo-r1.1 running\n");
    ensure!(
        machines
            .run(&brief, &["start", "--name", "omo-r1.1"])?
            .status
            == 6
    );
    ensure!(machines.run(&brief, &["--name", "omo-r1.1"])?.status == 6);
    fs::write(go, "")?;
    wait_for_end(&machines, "omo-r1.1")?;
    ensure!(
        machines.subjects()? == ["feat: task 1"],
        "{:?}",
        machines.subjects()
    );
    ensure!(
        machines
            .run(&brief, &["start", "--name", "omo-r1.1"])?
            .status
            == 6,
        "never a second time"
    );
    let log = jobs(&machines, &["logs", "omo-r1.1"])?;
    ensure!(
        log.out.contains("the client is at work") && log.out.contains("ended with status 0"),
        "{log:?}"
    );
    ensure!(
        jobs(&machines, &["cancel", "omo-r1.1"])?.status == 0,
        "it has ended already"
    );
    machines.require_tidy()
}

#[test]
fn of_many_starts_of_a_job_at_once_one_succeeds() -> Result<()> {
    let machines = TwoMachines::new("sleep 60")?;
    let brief = machines.push_brief(&machines.brief(&["1"]))?;
    let starts: Vec<_> = (0..4)
        .map(|_| {
            machines
                .worker(&brief, &["start", "--name", "a"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
        })
        .collect::<Result<_, _>>()?;
    let statuses = starts
        .into_iter()
        .map(|mut start| Ok(start.wait()?.code()))
        .collect::<Result<Vec<_>>>()?;
    let of = |status| statuses.iter().filter(|it| **it == Some(status)).count();
    ensure!((of(0), of(6)) == (1, 3), "{statuses:?}");
    ensure!(jobs(&machines, &["cancel", "a"])?.status == 0);
    machines.require_tidy()
}

#[test]
fn a_job_that_is_cancelled_ends_with_all_that_it_started() -> Result<()> {
    let machines = TwoMachines::new("")?;
    let begun = machines.path("begun");
    let lines = format!(
        "echo 1 >a; commit 1; (trap '' TERM; sleep 600) & touch '{}'; sleep 600",
        begun.display()
    );
    machines.set_client(&lines)?;
    let brief = machines.push_brief(&machines.brief(&["1", "2"]))?;
    ensure!(machines.run(&brief, &["start", "--name", "a"])?.status == 0);
    machines.wait_for("begun")?;
    let said = jobs(&machines, &["cancel", "a"])?;
    ensure!(said.status == 0, "{said:?}");
    ensure!(jobs(&machines, &["list"])?.out == "a ended\n");
    ensure!(
        machines.subjects()? == ["feat: task 1"],
        "{:?}",
        machines.subjects()
    );
    machines.require_tidy()
}

#[test]
fn a_job_that_is_not_there_is_told_from_one_that_has_ended() -> Result<()> {
    let machines = TwoMachines::new("")?;
    let said = jobs(&machines, &["list"])?;
    ensure!(said.status == 0 && said.out.is_empty(), "{said:?}");
    for verb in ["cancel", "logs"] {
        ensure!(jobs(&machines, &[verb, "a"])?.status == 3, "{verb}");
        ensure!(jobs(&machines, &[verb, "../a"])?.status == 2, "{verb}");
    }
    let brief = "0".repeat(40);
    ensure!(
        machines.run(&brief, &["start"])?.status == 2,
        "it needs a name"
    );
    // One whose start fails at once has ended, and says why.
    ensure!(machines.run(&brief, &["start", "--name", "a"])?.status == 0);
    wait_for_end(&machines, "a")?;
    ensure!(
        jobs(&machines, &["logs", "a"])?
            .out
            .contains("ended with status 3")
    );
    machines.require_tidy()
}
