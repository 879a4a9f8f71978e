//! What is not there, or not this caller's: tasks, runs, questions, options, tickets, persons.

use std::fs;

use anyhow::{Context, Result, ensure};
use omo_tests::plan_project::{Ground, ONE_TASK_BATCHES, play, two_tasks, two_tasks_with_stop};

/// One line that is refused: what is typed, the status, what is wrong, and what to do.
type Line<'a> = (&'a [&'a str], i32, &'a str, &'a str);

/// A task that keeps the run open when the others have ended.
const LAST: &str = "### Task 3: Last\n\n**Task Contract:** nothing.\n";

/// Each of them changes nothing: not for a person, not for a session that has nothing to do with it.
fn all_refused(ground: &Ground, lines: &[Line]) -> Result<()> {
    let before = ground.file_tree()?;
    for (arguments, status, message, hint) in lines {
        let said = ground
            .omo_at_terminal(arguments)?
            .refuses(*status, message, hint);
        said.with_context(|| format!("{arguments:?}"))?;
        // A lock is an empty file.
        before
            .require_unchanged(&ground.file_tree()?, &[".lock"])
            .with_context(|| format!("{arguments:?}"))?;
    }
    Ok(())
}

#[test]
fn what_a_run_does_not_have_is_named_and_nothing_changes() {
    play(&[
        ("no run at all", two_tasks(), |g| {
            all_refused(
                g,
                &[
                    (
                        &["agent", "next"],
                        3,
                        "no plan run is open here",
                        "omo run start",
                    ),
                    (
                        &["agent", "start", "1"],
                        3,
                        "no plan run is open here",
                        "omo run start",
                    ),
                    (
                        &["agent", "done", "--ticket", "x"],
                        3,
                        "no plan run is open here",
                        "omo run start",
                    ),
                    (
                        &["answer", "hs-1", "continue"],
                        3,
                        "no plan run is open here",
                        "omo run start",
                    ),
                    (
                        &["run", "resume"],
                        3,
                        "no plan run is open here",
                        "omo run start",
                    ),
                    (
                        &["run", "cancel"],
                        3,
                        "no plan run is open here",
                        "omo run start",
                    ),
                    (&["report"], 3, "no run is known here", "omo run start"),
                ],
            )
        }),
        ("units", two_tasks(), |g| {
            g.open()?;
            for id in [
                "9",
                "../../etc/passwd",
                "..",
                "1/../1",
                "",
                "-- 1",
                "1\u{1b}[2J",
                "١",
            ] {
                for (group, verb) in [
                    ("agent", "start"),
                    ("agent", "brief"),
                    ("run", "skip"),
                    ("run", "retry"),
                ] {
                    all_refused(
                        g,
                        &[(
                            &[group, verb, "--", id],
                            3,
                            "the plan has no task `",
                            "it has 1, 2",
                        )],
                    )?;
                }
                all_refused(
                    g,
                    &[
                        (
                            &["verify", "--task", id],
                            3,
                            "the plan has no task `",
                            "it has 1, 2",
                        ),
                        (
                            &["agent", "fail", &format!("--lost={id}")],
                            3,
                            "the plan has no task `",
                            "it has 1, 2",
                        ),
                    ],
                )?;
            }
            Ok(())
        }),
        ("runs", two_tasks(), |g| {
            g.open()?;
            let strange = [
                ("../../../../etc", 2),
                ("..", 2),
                ("", 2),
                ("a/b", 2),
                ("20200101-000000-abcd", 3),
                (".new-x", 2),
            ];
            for (id, status) in strange {
                let hint = "`omo run list` names the runs";
                let run = format!("--run={id}");
                for line in [
                    &["agent", "next", &run][..],
                    &["run", "show", &run],
                    &["run", "resume", &run],
                    &["run", "cancel", &run],
                    &["agent", "start", "1", &run],
                    &["agent", "done", "--ticket", "x", &run],
                    &["answer", "hs-1", "continue", &run],
                    &["report", "--format", "summary", &run],
                ] {
                    all_refused(g, &[(line, status, "", hint)])?;
                }
            }
            Ok(())
        }),
    ]);
}

#[test]
fn the_beginning_of_an_id_names_a_run_where_no_other_begins_like_that() {
    play(&[("runs", two_tasks(), |g| {
        g.open()?;
        let first = g.run()?;
        let begins = first.get(..first.len() - 2).context("a short id")?;
        let said = g
            .omo_at_terminal(&["run", "show", "--run", begins])?
            .exits_with(0)?;
        ensure!(said.out.contains(&first), "{}", said.out);
        g.omo_at_terminal(&["run", "cancel", "--run", begins])?
            .exits_with(0)?;
        g.open_again()?;
        let second = g.run()?;
        let of_both = first.get(..4).context("a short id")?;
        let hint = format!("--run {}", first.as_str().min(&second));
        all_refused(
            g,
            &[(
                &["run", "show", "--run", of_both],
                2,
                &format!("2 runs begin with `{of_both}`"),
                &hint,
            )],
        )?;
        let longer = format!("{second}x");
        all_refused(
            g,
            &[(
                &["run", "cancel", "--run", &longer],
                3,
                &longer,
                "`omo run list` names the runs",
            )],
        )
    })]);
}

#[test]
fn what_is_not_to_be_done_now_is_said_and_nothing_changes() {
    play(&[
        ("questions and options", two_tasks_with_stop(), |g| {
            g.options = ONE_TASK_BATCHES;
            g.open()?;
            g.pass("1", "one")?;
            let said = g.omo_at_terminal(&["agent", "next"])?.exits_with(7)?;
            ensure!(
                said.out.starts_with("STOP\n") && said.out.contains("Paused at hard-stop"),
                "{}",
                said.out
            );
            let question = g.report()?["questions"][0]["id"]
                .as_str()
                .context("no question")?
                .to_owned();
            all_refused(
                g,
                &[
                    (
                        &["answer", "x-9", "continue"],
                        3,
                        "the run has no question `x-9`",
                        "omo agent next",
                    ),
                    (
                        &["answer", "../x", "continue"],
                        3,
                        "the run has no question `../x`",
                        "omo agent next",
                    ),
                    (
                        &["answer", &question, "yes"],
                        3,
                        "has no option `yes`",
                        "it has continue",
                    ),
                    (
                        &["answer", &question, ""],
                        3,
                        "has no option ``",
                        "it has continue",
                    ),
                    (
                        &["answer", &question, "withdrawn"],
                        3,
                        "has no option",
                        "it has continue",
                    ),
                    (
                        &["agent", "start", "2"],
                        7,
                        "waits for an answer",
                        "omo agent next",
                    ),
                ],
            )?;
            g.omo_at_terminal(&["answer", &question, "continue"])?
                .exits_with(0)?;
            all_refused(
                g,
                &[(
                    &["answer", &question, "continue"],
                    5,
                    "was answered: continue",
                    "omo agent next",
                )],
            )
        }),
        ("its turn", format!("{}\n{LAST}", two_tasks()), |g| {
            g.open()?;
            all_refused(
                g,
                &[
                    (
                        &["agent", "start", "2"],
                        5,
                        "it is not the turn of 2",
                        "omo agent next",
                    ),
                    (
                        &["run", "retry", "1"],
                        5,
                        "1 is pending",
                        "only what failed",
                    ),
                    (
                        &["agent", "fail", "--lost", "1"],
                        5,
                        "no worker is at task 1",
                        "omo agent next",
                    ),
                ],
            )?;
            let ticket = g.start("1")?;
            all_refused(
                g,
                &[
                    (
                        &["agent", "start", "1"],
                        6,
                        "a worker is at task 1 already",
                        "omo agent fail --lost 1",
                    ),
                    (&["run", "skip", "1"], 5, "1 is running", ""),
                ],
            )?;
            g.omo_at_terminal(&["agent", "fail", "--ticket", &ticket])?
                .exits_with(0)?;
            all_refused(
                g,
                &[
                    (
                        &["agent", "start", "1"],
                        5,
                        "1 is failed; `omo run retry 1`",
                        "omo agent next",
                    ),
                    (&["run", "retry", "2"], 5, "2 is blocked", "omo run retry 1"),
                ],
            )
        }),
    ]);
}

#[test]
fn only_the_ticket_of_this_attempt_of_this_run_counts_and_only_once() {
    play(&[
        ("of nothing", two_tasks(), |g| {
            g.open()?;
            g.start("1")?;
            g.lab().write("words/1.txt", "one\n")?;
            for ticket in ["", "x", "../x", &"a".repeat(28), &"0".repeat(100_000)] {
                let ticket = format!("--ticket={ticket}");
                all_refused(
                    g,
                    &[
                        (
                            &["agent", "done", &ticket],
                            5,
                            "that ticket is not valid",
                            "omo agent next",
                        ),
                        (
                            &["agent", "fail", &ticket],
                            5,
                            "that ticket is not valid",
                            "omo agent next",
                        ),
                    ],
                )?;
            }
            ensure!(g.standing("1")? == "running");
            Ok(())
        }),
        ("its digest, which the ledger has", two_tasks(), |g| {
            g.open()?;
            let ticket = g.start("1")?;
            let ledger = fs::read_to_string(g.runs().join(g.run()?).join("events.jsonl"))?;
            ensure!(
                !ledger.contains(&ticket),
                "the ledger has the ticket itself"
            );
            let event = ledger
                .lines()
                .find(|line| line.contains("\"ticket\":\""))
                .context("no event")?;
            let digest = event
                .split("\"ticket\":\"")
                .nth(1)
                .and_then(|rest| rest.split('"').next())
                .context("none")?;
            all_refused(
                g,
                &[(
                    &["agent", "done", "--ticket", digest],
                    5,
                    "that ticket is not valid",
                    "omo agent next",
                )],
            )
        }),
        ("used, and of an attempt that has ended", two_tasks(), |g| {
            g.open()?;
            let first = g.start("1")?;
            g.omo_at_terminal(&["agent", "fail", "--lost", "1"])?
                .exits_with(0)?;
            g.lab().write("words/1.txt", "one\n")?;
            all_refused(
                g,
                &[(
                    &["agent", "done", "--ticket", &first],
                    5,
                    "that ticket is not valid",
                    "omo agent next",
                )],
            )?;
            let second = g.start("1")?;
            all_refused(
                g,
                &[(
                    &["agent", "done", "--ticket", &first],
                    5,
                    "that ticket is not valid",
                    "omo agent next",
                )],
            )?;
            g.omo_at_terminal(&["agent", "done", "--ticket", &second])?
                .exits_with(0)?;
            all_refused(
                g,
                &[
                    (
                        &["agent", "done", "--ticket", &second],
                        5,
                        "that ticket is not valid",
                        "omo agent next",
                    ),
                    (
                        &["agent", "fail", "--ticket", &second],
                        5,
                        "that ticket is not valid",
                        "omo agent next",
                    ),
                ],
            )?;
            ensure!(g.standing("1")? == "passed");
            Ok(())
        }),
        ("of another run", two_tasks(), |g| {
            g.open()?;
            let (foreign, first) = (g.start("1")?, g.run()?);
            g.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
            g.open_again()?;
            g.start("1")?;
            g.lab().write("words/1.txt", "one\n")?;
            all_refused(
                g,
                &[
                    (
                        &["agent", "done", "--ticket", &foreign],
                        5,
                        "that ticket is not valid",
                        "omo agent next",
                    ),
                    (
                        &["agent", "done", "--ticket", &foreign, "--run", &first],
                        5,
                        "that ticket is not valid",
                        "omo agent next",
                    ),
                ],
            )
        }),
    ]);
}
