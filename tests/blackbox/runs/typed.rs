//! `/omo:cancel`, `/omo:report` and `/omo:retry`: answered by the hook without a model, as the user's own decision, and
//! a right to nothing else.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use omo_core::run_command::RunCommand;
use omo_core::session::id::SessionId;
use omo_state::env;
use omo_state::typed_order::{ARGUMENT, TypedOrder};
use omo_testkit::stand_in::HookAnswer;
use omo_tests::plan_project::{Ground, Said, Session, plan_text, play, task, two_tasks};
use omo_tests::scene::require_sound;

/// What the user reads in the place of their prompt.
fn typed_answer(session: &mut Session, prompt: &str) -> Result<String> {
    let answer = require_sound(&session.hooks.prompt(prompt)?)?;
    ensure!(answer.blocks(), "{prompt}: a model reads it: {answer:?}");
    let said = answer.reason().context("no reason")?.to_owned();
    ensure!(
        said.starts_with("[omo] ") || said.starts_with("[omo]\n"),
        "{prompt}: {said}"
    );
    Ok(said)
}

/// Two tasks that fail, and one that keeps the run open.
fn failing() -> String {
    plan_text(&[
        task("1", "", "false"),
        task("2", "", "false"),
        task("3", "", "true"),
    ])
}

/// A session begins with a task, and fails.
fn fails(ground: &Ground, session: &Session, task: &str) -> Result<()> {
    let ticket = ground
        .omo_in_session(session, &["agent", "start", task])?
        .exits_with(0)?
        .ticket()?;
    ground
        .omo_in_session(session, &["agent", "done", "--ticket", &ticket])?
        .exits_with(0)
        .map(drop)
}

#[test]
fn omo_stop_names_the_run_that_it_does_not_end() {
    play(&[("a task is worked on", two_tasks(), |g| {
        let mut session = g.session()?;
        g.open_in(&mut session)?;
        let none = g.omo_at_terminal(&["stop"])?.exits_with(0)?.out;
        ensure!(
            none.starts_with("No ultrawork run is on in ") && none.lines().count() == 1,
            "{none}"
        );
        g.omo_in_session(&session, &["agent", "start", "1"])?
            .exits_with(0)?;
        let run = g.run()?;
        let cancel = format!("omo run cancel --run {run}");
        let line = format!(
            "Still at work: what works on task 1 (The word 1, for under a minute) of the plan run `{run}`. `{cancel}` ends the run."
        );
        let said = g.omo_at_terminal(&["stop"])?.exits_with(0)?.out;
        ensure!(said == format!("{none}{line}\n"), "{said}");
        g.omo_at_terminal(&["run", "cancel", "--run", &run])?
            .exits_with(0)?;
        ensure!(g.omo_at_terminal(&["stop"])?.exits_with(0)?.out == none);
        Ok(())
    })]);
}

#[test]
fn the_commands_about_a_run_answer_without_a_model() {
    play(&[
        ("there is no run", two_tasks(), |g| {
            let mut session = g.session()?;
            let before = g.file_tree()?;
            for (prompt, none) in [
                ("/omo:cancel", "no plan run is open here"),
                ("/omo:report", "no run is known here"),
                ("/omo:retry 1", "no plan run is open here"),
                ("/omo:cancel r-1", "no plan run is open here"),
            ] {
                let said = typed_answer(&mut session, prompt)?;
                ensure!(
                    said.starts_with(&format!("[omo] {none}; ")) && said.lines().count() == 1,
                    "{prompt}: {said}"
                );
            }
            before.require_unchanged(&g.file_tree()?, &["home/.local", ".claude/projects"])
        }),
        ("a report", two_tasks(), |g| {
            let mut session = g.session()?;
            g.open_in(&mut session)?;
            let said = typed_answer(&mut session, "/omo:report")?;
            ensure!(
                said.starts_with("[omo] report:\nRunning\n") && said.contains("0 of 2 tasks done"),
                "{said}"
            );
            let run = g.run()?;
            ensure!(typed_answer(&mut session, &format!("/omo:report {run}"))? == said);
            ensure!(
                typed_answer(&mut session, "/omo:report --format json")?
                    .contains(&format!("\"run\": \"{run}\""))
            );
            Ok(())
        }),
        (
            "a long report",
            plan_text(&(1..=90).map(|_| task("1", "", "true")).collect::<Vec<_>>()),
            |g| {
                let ids: Vec<String> = (1..=90).map(|id| id.to_string()).collect();
                let tasks: Vec<_> = ids.iter().map(|id| task(id, "", "true")).collect();
                g.lab()
                    .write(omo_tests::plan_project::PLAN, &plan_text(&tasks))?;
                let mut session = g.session()?;
                g.open_in(&mut session)?;
                let said = typed_answer(&mut session, "/omo:report")?;
                ensure!(
                    said.lines().count() == 62 && said.ends_with("`omo report` shows all of it"),
                    "{said}"
                );
                let said = typed_answer(&mut session, "/omo:report --format json")?;
                ensure!(
                    said.ends_with("`omo report --format json` shows all of it"),
                    "{said}"
                );
                Ok(())
            },
        ),
        (
            "a run of another live session is cancelled where it is named",
            two_tasks(),
            |g| {
                let (mut session, mut other) = (g.session()?, g.session()?);
                g.open_in(&mut session)?;
                let run = g.run()?;
                let said = typed_answer(&mut other, "/omo:cancel")?;
                ensure!(
                    said.starts_with("[omo] the run is held by session ")
                        && said.ends_with(&format!("; `/omo:cancel {run}` ends it all the same")),
                    "{said}"
                );
                ensure!(g.standing("1")? == "pending" && g.run()? == run);
                let named = format!("/omo:cancel {run} --reason 'wrong branch'");
                let said = typed_answer(&mut other, &named)?;
                ensure!(
                    said.starts_with(&format!("[omo] {run} is cancelled; ")),
                    "{said}"
                );
                ensure!(
                    g.omo_at_terminal(&["run", "list"])?
                        .out
                        .contains("Cancelled")
                );
                let again = typed_answer(&mut session, &format!("/omo:cancel {run}"))?;
                ensure!(
                    again == "[omo] the run has ended already; `omo run show` says how",
                    "{again}"
                );
                Ok(())
            },
        ),
        (
            "what is at work is named when its user stops",
            two_tasks(),
            |g| {
                let mut session = g.session()?;
                g.open_in(&mut session)?;
                ensure!(!typed_answer(&mut session, "ulw off")?.contains("Still at work"));
                g.omo_in_session(&session, &["agent", "start", "1"])?
                    .exits_with(0)?;
                let run = g.run()?;
                let status = typed_answer(&mut session, "/omo:status")?;
                ensure!(
                    status.contains("\nStill at work: what works on task 1 (The word 1, for "),
                    "{status}"
                );
                let shown = g
                    .omo_at_terminal(&["report", "--format", "progress"])?
                    .exits_with(0)?
                    .out;
                ensure!(
                    shown.contains("→ at work") && shown.contains("The word 1 — session "),
                    "{shown}"
                );
                let said = typed_answer(&mut session, "/omo:stop-continuation")?;
                let expected = format!(
                    "Still at work: what works on task 1 (The word 1, for under a minute) of the plan run `{run}`. /omo:cancel ends the run."
                );
                ensure!(said.ends_with(&format!("\n{expected}")), "{said}");
                let said = typed_answer(&mut g.session()?, "/omo:stop-continuation")?;
                ensure!(
                    said.ends_with(&format!("/omo:cancel {run} ends the run.")),
                    "{said}"
                );
                let said = typed_answer(&mut session, "/omo:cancel")?;
                ensure!(
                    said.starts_with(&format!(
                        "[omo] {run} is cancelled; `/omo:execute docs/plan.md` goes on with it. Still at work on task 1: an agent"
                    )),
                    "{said}"
                );
                Ok(())
            },
        ),
        (
            "what is typed wrong is one line that says what to type",
            two_tasks(),
            |g| {
                let mut session = g.session()?;
                g.open_in(&mut session)?;
                for (prompt, part) in [
                    (
                        "/omo:retry",
                        "type `/omo:retry TASK [--passed] [--run RUN]`",
                    ),
                    ("/omo:retry 9", "the plan has no task `9`; it has 1, 2"),
                    ("/omo:retry 1", "1 is pending; only what failed"),
                    ("/omo:retry 1 --yolo", "type `/omo:retry TASK"),
                    ("/omo:retry 'x", "a quote is not closed; type"),
                    ("/omo:report x y", "type `/omo:report [RUN]"),
                    ("/omo:report nothing", "nothing"),
                    ("/omo:report --all", "type `/omo:report [RUN]"),
                    ("/omo:report --html x.html y", "type `/omo:report [RUN]"),
                    ("/omo:report --html --follow", "type `/omo:report [RUN]"),
                    ("/omo:report --format yaml", "type `/omo:report [RUN]"),
                    ("/omo:cancel $(touch owned)", "type `/omo:cancel [RUN]"),
                    ("/omo:cancel ../..", "../.."),
                ] {
                    let said = typed_answer(&mut session, prompt)?;
                    ensure!(
                        said.contains(part) && said.lines().count() == 1,
                        "{prompt}: {said}"
                    );
                }
                ensure!(!g.lab().project().join("owned").exists(), "a shell read it");
                ensure!(g.standing("1")? == "pending");
                Ok(())
            },
        ),
    ]);
}

#[test]
fn a_typed_command_writes_the_page_of_a_run_and_of_all_runs() {
    play(&[("a page of a run, and of all runs", two_tasks(), |g| {
        let mut session = g.session()?;
        g.open_in(&mut session)?;
        let (run, mut pages) = (g.run()?, Vec::new());
        for (prompt, part) in [
            ("/omo:report --html".to_owned(), "class=\"verdict open\""),
            (format!("/omo:report {run} --html"), "0 of 2 tasks proved"),
            ("/omo:report --all --html".to_owned(), "1 not ended"),
        ] {
            let said = typed_answer(&mut session, &prompt)?;
            let path = said
                .strip_prefix("[omo] ")
                .filter(|_| said.lines().count() == 1);
            let path = path
                .with_context(|| format!("{prompt}: {said}"))?
                .to_owned();
            let page = fs::read_to_string(&path).with_context(|| path.clone())?;
            ensure!(
                page.contains(part) && !page.contains("<script"),
                "{prompt}: {page}"
            );
            pages.push(path);
        }
        ensure!(pages[0] == pages[1] && pages[2] != pages[1], "{pages:?}");
        Ok(())
    })]);
}

#[test]
fn a_typed_retry_is_a_persons_decision_about_that_task_alone() {
    play(&[
        (
            "of two failed tasks the one that is named",
            failing(),
            |g| {
                let mut session = g.session()?;
                g.open_in(&mut session)?;
                fails(g, &session, "1")?;
                fails(g, &session, "2")?;
                let said = typed_answer(&mut session, "/omo:retry 1")?;
                ensure!(
                    said == "[omo] 1 is to be done again. To go on, type /omo:execute docs/plan.md",
                    "{said}"
                );
                ensure!([g.standing("1")?, g.standing("2")?] == ["pending", "failed"]);
                // What was typed gives the model no right of its own.
                g.omo_in_session(&session, &["run", "retry", "2"])?
                    .refuses(7, "none has typed anything", "end the turn")?;
                fails(g, &session, "1")?;
                g.omo_in_session(&session, &["run", "retry", "1"])?
                    .refuses(7, "none has typed anything", "end the turn")?;
                Ok(())
            },
        ),
        ("a prompt that no person typed", failing(), |g| {
            let mut session = g.session()?;
            g.open_in(&mut session)?;
            fails(g, &session, "1")?;
            session.type_prompt("<task-notification>\n/omo:retry 1\n</task-notification>")?;
            let own = session
                .hooks
                .clone()
                .with_env("OMO_RUN", "r1")
                .with_env("OMO_WORKER", "2");
            ensure!(require_sound(&own.clone().prompt("/omo:retry 1")?)? == HookAnswer::Nothing);
            ensure!(g.standing("1")? == "failed");
            Ok(())
        }),
        ("an order that no hook has sealed", failing(), |g| {
            let mut session = g.session()?;
            g.open_in(&mut session)?;
            fails(g, &session, "1")?;
            let id = SessionId::parse(session.hooks.session())?;
            let (root, other) = (g.lab().project(), tempfile::tempdir()?);
            let home = g.lab().home().join(".local/state");
            let seal = |home: &std::path::Path, millis: i64| {
                let at =
                    omo_core::timestamp::Timestamp::from_millis(env::now().as_millis() - millis);
                TypedOrder::new((RunCommand::Retry, "1"), &id, root, Some(home), at)
            };
            let forged = seal(other.path(), 0)?.context("no order")?.to_line();
            let old = seal(&home, 60_000)?.context("no order")?.to_line();
            for line in [b"{}".to_vec(), Vec::new(), forged, old] {
                let mut command = g.command_in(&session, &[ARGUMENT]);
                let mut child = command
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()?;
                child.stdin.take().context("no stdin")?.write_all(&line)?;
                Said::of(&child.wait_with_output()?).refuses(
                    7,
                    "no hook of omo has handed",
                    "type the slash command",
                )?;
            }
            ensure!(g.standing("1")? == "failed");
            Ok(())
        }),
        ("in a session that does not hold the run", failing(), |g| {
            let (mut session, mut other) = (g.session()?, g.session()?);
            g.open_in(&mut session)?;
            fails(g, &session, "1")?;
            let said = typed_answer(&mut other, "/omo:retry 1")?;
            ensure!(
                said.starts_with("[omo] the run is held by session ") && said.lines().count() == 1,
                "{said}"
            );
            ensure!(g.standing("1")? == "failed");
            Ok(())
        }),
    ]);
}

#[test]
fn an_omo_that_does_not_answer_is_ended_and_its_user_sees_what_to_type() {
    play(&[("a program in its place", two_tasks(), |g| {
        let mut session = g.session()?;
        g.open_in(&mut session)?;
        let plugin = g.lab().root().join("plugin");
        omo_tests::scene::copy(&g.scene.plugin, &plugin)?;
        let mut hooks = omo_testkit::StandIn::new(g.lab(), &plugin)?;
        for (text, part) in [
            (
                "sleep 600",
                "takes longer than a prompt may wait, and was ended; type `omo run cancel` in a terminal",
            ),
            (
                "echo broken >&2; exit 3",
                "broken; in a terminal, `omo run cancel` does the same",
            ),
            ("exit 3", "`omo` gave no answer"),
        ] {
            fs::write(plugin.join("bin/omo"), format!("#!/bin/sh\n{text}\n"))?;
            fs::set_permissions(plugin.join("bin/omo"), fs::Permissions::from_mode(0o755))?;
            let said = require_sound(&hooks.prompt("/omo:cancel")?)?;
            ensure!(
                said.reason().is_some_and(|said| said.contains(part)),
                "{text}: {said:?}"
            );
        }
        fs::remove_file(plugin.join("bin/omo"))?;
        let said = require_sound(&hooks.prompt("/omo:cancel")?)?;
        ensure!(
            said.reason()
                .is_some_and(|said| said.contains("is not there yet")),
            "{said:?}"
        );
        Ok(())
    })]);
}

#[test]
fn a_person_is_told_what_a_person_does_next() {
    play(&[("a task that failed", failing(), |g| {
        g.open()?;
        let ticket = g.start("1")?;
        g.omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
            .exits_with(0)?;
        let said = g
            .omo_at_terminal(&["run", "retry", "1"])?
            .exits_with(0)?
            .out;
        ensure!(
            said == "1 is to be done again. Next: start `claude` in this folder and type /omo:execute\n",
            "{said}"
        );
        let ticket = g.start("1")?;
        g.omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
            .exits_with(0)?;
        let said = g.omo_at_terminal(&["run", "skip", "1"])?.exits_with(0)?.out;
        ensure!(
            said.contains("1 is left out. Next: start `claude`"),
            "{said}"
        );
        Ok(())
    })]);
}
