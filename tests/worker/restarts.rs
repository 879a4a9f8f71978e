//! An engine kills a worker, starts it again, or runs it twice.

use std::fs;

use anyhow::{Result, ensure};
use omo_engine::client_policy::ClientCost;
use omo_remote::exchange::{WorkerBrief, WorkerEnd, WorkerPhase};
use omo_testkit::wait_until;
use rustix::process::Signal;

use crate::two_machines::{TwoMachines, signal};

#[test]
fn one_that_was_killed_goes_on_where_it_was_and_leaves_nothing() -> Result<()> {
    let machines = TwoMachines::new("echo 1 >a; commit 1; sleep 60")?;
    let brief = machines.push_brief(&machines.brief(&["1", "2"]))?;
    let mut first = machines.spawn(&brief)?;
    machines.wait_until_pushed(1)?;
    machines.wait_until_unmarked()?;
    signal(&first, Signal::KILL)?;
    first.wait()?;
    ensure!(
        machines.scratch_folders().len() == 1,
        "{:?}",
        machines.scratch_folders()
    );
    machines.set_client("[ -f a ] && echo 2 >b; commit 2")?;
    ensure!(
        machines.run(&brief, &[])?.status == 0,
        "{:?}",
        machines.report()
    );
    ensure!(
        machines.subjects()? == ["feat: task 1", "feat: task 2"],
        "{:?}",
        machines.subjects()
    );
    let prompt = fs::read_to_string(machines.path("prompt"))?;
    ensure!(
        prompt.contains("`1` is done already") && prompt.contains("go on with `2`"),
        "{prompt}"
    );
    machines.require_tidy()?;
    // A third start finds everything there, and starts no client.
    machines.set_client("touch \"$HOME/started\"")?;
    ensure!(machines.run(&brief, &[])?.status == 0);
    ensure!(!machines.lab.home().join("started").exists());
    ensure!(
        machines.report()?.pushed == ["1", "2"],
        "{:?}",
        machines.report()
    );
    machines.require_tidy()
}

#[test]
fn what_its_earlier_starts_have_cost_is_told_and_not_granted_again() -> Result<()> {
    let machines = TwoMachines::new("")?;
    let words = machines.path("words");
    let ends_with = |task: u32, dollars: f64| {
        machines.set_client(&format!(
            "printf '%s ' \"$@\" >'{}'; echo {task} >a; commit {task}\n\
             printf '%s\\n' '{{\"type\":\"result\",\"subtype\":\"success\",\"total_cost_usd\":{dollars}}}' >&3; exit 0",
            words.display()
        ))
    };
    let brief = WorkerBrief {
        budget_micros: Some(2_500_000),
        ..machines.brief(&["1", "2", "3"])
    };
    let brief = machines.push_brief(&brief)?;
    for (task, dollars, granted, told) in [
        (1, 2.0, "2.500000", 2_000_000),
        (2, 0.5, "0.500000", 2_500_000),
    ] {
        ends_with(task, dollars)?;
        ensure!(
            machines.run(&brief, &[])?.status == 1,
            "{:?}",
            machines.report()
        );
        let words = fs::read_to_string(&words)?;
        ensure!(
            words.contains(&format!("--max-budget-usd {granted} ")),
            "{words}"
        );
        ensure!(
            machines.report()?.cost
                == ClientCost {
                    told: Some(told),
                    untold: 0
                },
            "{:?}",
            machines.report()
        );
    }
    machines.set_client("touch \"$HOME/started\"")?;
    ensure!(
        machines.run(&brief, &[])?.status == 8,
        "{:?}",
        machines.report()
    );
    ensure!(!machines.lab.home().join("started").exists());
    let report = machines.report()?;
    ensure!(
        report.cost.told == Some(2_500_000) && report.pushed == ["1", "2"],
        "{report:?}"
    );
    ensure!(
        matches!(
            report.phase,
            WorkerPhase::Ended {
                end: WorkerEnd::BudgetSpent,
                ..
            }
        ),
        "{report:?}"
    );
    machines.require_tidy()
}

#[test]
fn an_earlier_start_that_was_killed_counts_with_all_that_it_was_allowed() -> Result<()> {
    let machines = TwoMachines::new("echo 1 >a; commit 1; sleep 60")?;
    let brief = machines.push_brief(&WorkerBrief {
        budget_micros: Some(2_500_000),
        ..machines.brief(&["1", "2"])
    })?;
    let mut first = machines.spawn(&brief)?;
    machines.wait_until_pushed(1)?;
    machines.wait_until_unmarked()?;
    signal(&first, Signal::KILL)?;
    first.wait()?;
    let killed = ClientCost {
        told: None,
        untold: 2_500_000,
    };
    ensure!(machines.report()?.cost == killed, "{:?}", machines.report());
    machines.set_client("touch \"$HOME/started\"")?;
    // It cannot tell whether the earlier one is still at work, and leaves it its report.
    let said = machines.run(&brief, &[])?;
    ensure!(
        said.status == 5 && said.out.contains("has not said what it has cost"),
        "{said:?}"
    );
    ensure!(!machines.lab.home().join("started").exists());
    let report = machines.report()?;
    ensure!(
        report.cost == killed && report.phase == WorkerPhase::Working,
        "{report:?}"
    );
    machines.require_tidy()
}

#[test]
fn of_two_at_once_the_later_one_goes_on_and_the_earlier_one_ends() -> Result<()> {
    let machines = TwoMachines::new("")?;
    let (go, begun) = (machines.path("go"), machines.path("begun"));
    machines.set_client(&format!(
        "touch '{}'; until [ -e '{}' ]; do sleep 0.1; done; echo $$ >a; commit 1; sleep 60",
        begun.display(),
        go.display()
    ))?;
    let brief = machines.push_brief(&machines.brief(&["1"]))?;
    let mut first = machines.spawn(&brief)?;
    machines.wait_for("begun")?;
    machines.set_client("echo second >a; commit 1")?;
    ensure!(
        machines.run(&brief, &[])?.status == 0,
        "{:?}",
        machines.report()
    );
    let (tip, report) = (
        machines.there(crate::two_machines::BRANCH)?,
        machines.report()?,
    );
    fs::write(go, "")?;
    ensure!(first.wait()?.code() == Some(6));
    ensure!(
        machines.there(crate::two_machines::BRANCH)? == tip && machines.report()? == report,
        "it pushed"
    );
    // Its commit is on no branch of the remote.
    ensure!(
        machines.scratch_folders().len() == 1,
        "{:?}",
        machines.scratch_folders()
    );
    Ok(())
}

#[test]
fn one_that_is_asked_to_end_pushes_what_is_committed() -> Result<()> {
    for asked in [Signal::TERM, Signal::INT, Signal::HUP] {
        let machines = TwoMachines::new("")?;
        let begun = machines.path("begun");
        machines.set_client(&format!(
            "echo 1 >a; commit 1; echo 2 >b; touch '{}'; sleep 60",
            begun.display()
        ))?;
        let brief = machines.push_brief(&machines.brief(&["1", "2"]))?;
        let mut worker = machines.spawn(&brief)?;
        machines.wait_for("begun")?;
        signal(&worker, asked)?;
        ensure!(worker.wait()?.code() == Some(1));
        ensure!(
            machines.subjects()? == ["feat: task 1"],
            "what is half done is no task: {:?}",
            machines.subjects()
        );
        let report = machines.report()?;
        ensure!(
            matches!(
                report.phase,
                WorkerPhase::Ended {
                    end: WorkerEnd::Stopped,
                    ..
                }
            ),
            "{report:?}"
        );
        ensure!(report.pushed == ["1"], "{report:?}");
        machines.require_tidy()?;
    }
    Ok(())
}

#[test]
fn a_set_up_is_ended_with_its_worker() -> Result<()> {
    let machines = TwoMachines::new("")?;
    let begun = machines.path("begun");
    let brief = machines.brief(&["1"]);
    let setup = Some(format!("touch '{}'; sleep 60", begun.display()));
    let brief = machines.push_brief(&omo_remote::exchange::WorkerBrief { setup, ..brief })?;
    let mut worker = machines.spawn(&brief)?;
    machines.wait_for("begun")?;
    signal(&worker, Signal::TERM)?;
    ensure!(worker.wait()?.code() == Some(1));
    let report = machines.report()?;
    ensure!(
        matches!(
            report.phase,
            WorkerPhase::Ended {
                end: WorkerEnd::Stopped,
                ..
            }
        ),
        "{report:?}"
    );
    machines.require_tidy()?;
    // Killed, it ends it as well, and the next one removes what is left.
    std::fs::remove_file(&begun)?;
    let mut worker = machines.spawn(&brief)?;
    machines.wait_for("begun")?;
    signal(&worker, Signal::KILL)?;
    worker.wait()?;
    let scratch = machines.path("scratch");
    wait_until("the end of the set-up", || {
        let stands_there = |entry: fs::DirEntry| {
            fs::read_link(entry.path().join("cwd")).is_ok_and(|folder| folder.starts_with(&scratch))
        };
        (!omo_tests::processes::processes().any(stands_there)).then_some(())
    })?;
    machines.run(&"0".repeat(40), &[])?;
    machines.require_tidy()
}
