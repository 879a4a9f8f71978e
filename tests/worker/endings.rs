//! How a worker ends where its client does not do the work, or it cannot begin.

use anyhow::{Result, ensure};
use omo_remote::exchange::{WorkerBrief, WorkerEnd, WorkerPhase};

use crate::two_machines::TwoMachines;

/// The exit status, and how the report says that it ended.
fn end_of(
    machines: &TwoMachines,
    brief: &WorkerBrief,
    more: &[&str],
) -> Result<(i32, WorkerEnd, String)> {
    let commit = machines.push_brief(brief)?;
    let said = machines.run(&commit, more)?;
    machines.require_tidy()?;
    match machines.report()?.phase {
        WorkerPhase::Ended { end, detail } => Ok((said.status, end, detail)),
        other => anyhow::bail!("{other:?}: {said:?}"),
    }
}

#[test]
fn each_way_in_which_a_client_ends_has_its_status() -> Result<()> {
    let result =
        |rest: &str| format!("printf '%s\\n' '{{\"type\":\"result\",{rest}}}' >&3; exit 1");
    for (client, status, expected) in [
        (
            result(r#""subtype":"error_max_budget_usd","is_error":true"#),
            8,
            WorkerEnd::BudgetSpent,
        ),
        (
            result(r#""subtype":"success","is_error":true,"api_error_status":429"#),
            8,
            WorkerEnd::UsageLimit { until: None },
        ),
        (
            result(r#""subtype":"success","is_error":true,"api_error_status":500"#),
            1,
            WorkerEnd::ApiFailed,
        ),
        ("kill -9 $$".to_owned(), 1, WorkerEnd::Killed),
        ("exit 3".to_owned(), 1, WorkerEnd::TasksLeft),
    ] {
        let machines = TwoMachines::new(&format!("echo half >a; {client}"))?;
        let (code, end, detail) = end_of(&machines, &machines.brief(&["1"]), &[])?;
        ensure!(
            (code, end) == (status, expected),
            "{client}: {code:?} {end:?} {detail}"
        );
        ensure!(
            machines.subjects()?.is_empty(),
            "{client}: {:?}",
            machines.subjects()
        );
    }
    Ok(())
}

#[test]
fn the_shorter_of_two_time_limits_holds() -> Result<()> {
    let machines = TwoMachines::new("sleep 50")?;
    let (code, end, _) = end_of(&machines, &machines.brief(&["1"]), &["--time-limit", "1"])?;
    ensure!((code, end) == (1, WorkerEnd::TimedOut), "{code:?} {end:?}");
    let brief = WorkerBrief {
        time_limit_seconds: 1,
        ..machines.brief(&["1"])
    };
    let (code, end, _) = end_of(&machines, &brief, &["--time-limit", "600"])?;
    ensure!((code, end) == (1, WorkerEnd::TimedOut), "{code:?} {end:?}");
    Ok(())
}

#[test]
fn what_keeps_it_from_beginning_is_told() -> Result<()> {
    let machines = TwoMachines::new("touch \"$HOME/started\"")?;
    let setup = |command: &str| WorkerBrief {
        setup: Some(command.to_owned()),
        ..machines.brief(&["1"])
    };
    for (brief, word) in [
        (setup("echo no such thing >&2; exit 7"), "no such thing"),
        (
            WorkerBrief {
                version: 99,
                ..machines.brief(&["1"])
            },
            "version 99",
        ),
        (
            WorkerBrief {
                base: "0".repeat(40),
                ..machines.brief(&["1"])
            },
            "does not go on from",
        ),
        (
            WorkerBrief {
                base: "--help".to_owned(),
                ..machines.brief(&["1"])
            },
            "not a commit",
        ),
        (
            WorkerBrief {
                skips_permissions: false,
                allow: vec!["--x".to_owned()],
                ..machines.brief(&["1"])
            },
            "not a rule",
        ),
    ] {
        let (code, end, detail) = end_of(&machines, &brief, &[])?;
        ensure!(
            (code, end) == (5, WorkerEnd::NotPrepared),
            "{word}: {code:?} {end:?} {detail}"
        );
        ensure!(detail.contains(word), "{word}: {detail}");
    }
    for client in ["/nowhere/client", "no-such-client"] {
        let (code, end, detail) =
            end_of(&machines, &machines.brief(&["1"]), &["--client", client])?;
        ensure!(
            (code, end) == (5, WorkerEnd::NotPrepared),
            "{client}: {code:?} {end:?} {detail}"
        );
    }
    ensure!(!machines.lab.home().join("started").exists());
    Ok(())
}

#[test]
fn a_branch_that_has_gone_far_is_followed_to_its_base() -> Result<()> {
    let machines = TwoMachines::new("[ -f f39 ] && echo 1 >a; commit 1")?;
    for number in 0..40 {
        machines.lab.write(&format!("f{number}"), "")?;
        machines.git(&["add", "-A"])?;
        machines.git(&["commit", "-q", "-m", "chore: more"])?;
    }
    machines.git(&[
        "push",
        "-q",
        &machines.remote(),
        &format!("HEAD:{}", crate::two_machines::BRANCH),
    ])?;
    let (code, end, detail) = end_of(&machines, &machines.brief(&["1"]), &[])?;
    ensure!(
        (code, end) == (0, WorkerEnd::Pushed),
        "{code:?} {end:?} {detail}"
    );
    ensure!(
        machines.subjects()?.len() == 41,
        "{:?}",
        machines.subjects()
    );
    Ok(())
}
