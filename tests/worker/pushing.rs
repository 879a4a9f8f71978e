//! What a client does is pushed, task by task, and told.

use anyhow::{Context as _, Result, ensure};
use omo_remote::exchange::{WorkerEnd, WorkerPhase};

use crate::two_machines::{BRANCH, TwoMachines};

#[test]
fn every_task_is_pushed_and_told() -> Result<()> {
    let machines = TwoMachines::new("echo 1 >a; commit 1; sleep 2; echo 2 >b; commit 2")?;
    let brief = machines.push_brief(&machines.brief(&["1", "2"]))?;
    let said = machines.run(&brief, &[])?;
    ensure!(said.status == 0, "{said:?}");
    ensure!(
        machines.subjects()? == ["feat: task 1", "feat: task 2"],
        "{:?}",
        machines.subjects()
    );
    let report = machines.report()?;
    ensure!(
        report.pushed == ["1", "2"] && report.cost.told == Some(250_000),
        "{report:?}"
    );
    let pushed = WorkerPhase::Ended {
        end: WorkerEnd::Pushed,
        detail: String::new(),
    };
    ensure!(report.phase == pushed, "{report:?}");
    ensure!(
        said.out.contains("tasks with a commit: 1\n"),
        "pushed one by one: {}",
        said.out
    );
    machines.require_tidy()
}

#[test]
fn what_the_client_leaves_is_committed_as_the_last_task_and_no_other_one() -> Result<()> {
    let machines =
        TwoMachines::new("echo 1 >a; commit 1; echo 2 >b; echo x >b.ignored; git rm -q README")?;
    let brief = machines.brief(&["1", "2"]);
    let prepared = omo_remote::exchange::WorkerBrief {
        setup: Some("echo made >from-set-up".into()),
        ..brief
    };
    let commit = machines.push_brief(&prepared)?;
    ensure!(
        machines.run(&commit, &[])?.status == 0,
        "{:?}",
        machines.report()
    );
    ensure!(
        machines.subjects()? == ["feat: task 1", "feat: the rest of 2"],
        "{:?}",
        machines.subjects()
    );
    ensure!(
        machines.files()? == [".gitignore", "a", "b"],
        "{:?}",
        machines.files()
    );
    // Of two tasks it cannot be told which one it belongs to.
    let machines = TwoMachines::new("echo 1 >a")?;
    let brief = machines.push_brief(&machines.brief(&["1", "2"]))?;
    ensure!(
        machines.run(&brief, &[])?.status == 1,
        "{:?}",
        machines.report()
    );
    ensure!(machines.subjects()?.is_empty(), "{:?}", machines.subjects());
    // Nothing is no work.
    let machines = TwoMachines::new(":")?;
    let brief = machines.brief(&["1"]);
    let prepared = omo_remote::exchange::WorkerBrief {
        setup: Some("echo made >>README".into()),
        ..brief
    };
    let commit = machines.push_brief(&prepared)?;
    ensure!(
        machines.run(&commit, &[])?.status == 1,
        "{:?}",
        machines.report()
    );
    ensure!(machines.subjects()?.is_empty(), "{:?}", machines.subjects());
    machines.require_tidy()
}

#[test]
fn commits_without_trailers_count_for_the_last_task() -> Result<()> {
    let machines = TwoMachines::new("echo 1 >a; git add a; git commit -q -m 'feat: mine'")?;
    let brief = machines.push_brief(&machines.brief(&["1"]))?;
    ensure!(
        machines.run(&brief, &[])?.status == 0,
        "{:?}",
        machines.report()
    );
    ensure!(
        machines.subjects()? == ["feat: mine", "feat: the rest of 1"],
        "{:?}",
        machines.subjects()
    );
    machines.require_tidy()
}

#[test]
fn a_client_that_rewrites_what_was_pushed_is_ended_and_harms_nothing() -> Result<()> {
    let lines = "echo 1 >a; commit 1; until git --git-dir \"$HUB\" log -1 --format=%s omo/r1/session-1 | grep -q 'task 1'; \
                 do sleep 0.1; done; git reset -q --hard HEAD~1; echo other >c; commit 1; sleep 60";
    let machines = TwoMachines::new("")?;
    machines.set_client(&format!("HUB='{}'; {lines}", machines.hub().display()))?;
    let brief = machines.push_brief(&machines.brief(&["1", "2"]))?;
    let said = machines.run(&brief, &[])?;
    ensure!(said.status == 10, "{said:?}");
    ensure!(
        machines.files()? == [".gitignore", "README", "a"],
        "{:?}",
        machines.files()
    );
    let report = machines.report()?;
    ensure!(
        matches!(
            report.phase,
            WorkerPhase::Ended {
                end: WorkerEnd::TasksLeft,
                ..
            }
        ),
        "{report:?}"
    );
    ensure!(report.pushed == ["1"], "{report:?}");
    require_kept(&machines, &said.out, "feat: task 1")
}

/// The clone stays where the worker says so.
fn require_kept(machines: &TwoMachines, said: &str, subject: &str) -> Result<()> {
    let folder = said
        .split_once("its work is kept in ")
        .with_context(|| said.to_owned())?
        .1;
    let folder = folder
        .lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches(';');
    ensure!(
        machines
            .git(&["-C", folder, "log", "-1", "--format=%s"])?
            .trim()
            == subject,
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
fn commits_that_belong_to_no_task_are_kept_where_the_worker_says() -> Result<()> {
    let mine = "echo x >x; git add x; git commit -q -m 'feat: mine'";
    for (script, status, pushed) in [
        (format!("{mine}; exit 3"), 1, 0),
        (format!("commit 1; commit 2; {mine}"), 0, 2),
    ] {
        let machines = TwoMachines::new(&script)?;
        let brief = machines.push_brief(&machines.brief(&["1", "2"]))?;
        let said = machines.run(&brief, &[])?;
        ensure!(
            said.status == status && machines.subjects()?.len() == pushed,
            "{said:?}"
        );
        let report = machines.report()?;
        let tells =
            |detail: &str| detail.contains("it has commits of no task; its work is kept in ");
        ensure!(
            matches!(&report.phase, WorkerPhase::Ended { detail, .. } if tells(detail)),
            "{report:?}"
        );
        require_kept(&machines, &said.out, "feat: mine")?;
    }
    Ok(())
}

#[test]
fn a_client_that_turns_the_clone_to_another_remote_pushes_nothing_there() -> Result<()> {
    let machines = TwoMachines::new("")?;
    let other = machines.path("other.git").display().to_string();
    machines.git(&["init", "-q", "--bare", &other])?;
    machines.set_client(&format!(
        "git config remote.origin.pushurl '{other}'; echo 1 >a; commit 1"
    ))?;
    let brief = machines.push_brief(&machines.brief(&["1"]))?;
    ensure!(machines.run(&brief, &[])?.status == 9);
    ensure!(machines.git(&["ls-remote", &other])?.is_empty() && machines.subjects()?.is_empty());
    // Nor does a program run that the clone's own settings name.
    machines.set_client("git config core.sshCommand 'touch ran'; echo 1 >a; commit 1")?;
    ensure!(machines.run(&brief, &[])?.status == 9);
    ensure!(
        machines.subjects()?.is_empty() && !machines.there(&format!("{BRANCH}.report"))?.is_empty()
    );
    machines.require_tidy()
}
