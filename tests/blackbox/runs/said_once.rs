//! What a person says once: the name of a plan whose run was cancelled, a code alone, a number for an answer.

use anyhow::{Context, Result, ensure};
use omo_testkit::stand_in::HookAnswer;
use omo_tests::plan_project::{Ground, PLAN, Session, plan_text, play, task, two_tasks};

/// What stands in the place of a typed prompt.
fn shown(session: &mut Session, prompt: &str) -> Result<String> {
    let answer = session.type_prompt(prompt)?;
    ensure!(answer.blocks(), "{prompt}: {answer:?}");
    Ok(answer.reason().unwrap_or_default().to_owned())
}

/// What the command prints that the model runs behind a prompt that its user typed.
fn begun(ground: &Ground, session: &mut Session, prompt: &str) -> Result<String> {
    let answer = session.type_prompt(prompt)?;
    ensure!(!answer.blocks(), "{prompt}: {answer:?}");
    Ok(ground
        .omo_in_session(session, &["agent", "open", "--command", "execute"])?
        .exits_with(0)?
        .out)
}

#[test]
fn a_cancelled_run_goes_on_where_its_plan_is_named_and_keeps_what_has_passed() {
    play(&[
        ("with one of two tasks done", two_tasks(), |g| {
            g.open()?;
            g.pass("1", "one")?;
            let run = g.run()?;
            g.omo_at_terminal(&["run", "cancel", &run])?.exits_with(0)?;
            let said = g.omo_at_terminal(&["run", "start", PLAN])?.exits_with(0)?;
            let line = "docs/plan.md: its cancelled run goes on in batches";
            ensure!(
                said.out.contains(line) && said.out.contains("1 of 2 tasks done"),
                "{}",
                said.out
            );
            ensure!(
                g.run()? == run && g.standing("1")? == "passed",
                "{}",
                g.report()?
            );
            g.pass("2", "two")?;
            ensure!(g.standing("2")? == "passed");
            Ok(())
        }),
        ("but not with --again", two_tasks(), |g| {
            g.open()?;
            g.pass("1", "one")?;
            let run = g.run()?;
            g.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
            g.omo_at_terminal(&["run", "start", "--again", PLAN])?
                .exits_with(0)?;
            ensure!(g.run()? != run);
            Ok(())
        }),
        ("and not where nothing was done", two_tasks(), |g| {
            g.open()?;
            let run = g.run()?;
            g.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
            g.omo_at_terminal(&["run", "start", PLAN])?.exits_with(0)?;
            ensure!(g.run()? != run);
            Ok(())
        }),
    ]);
}

#[test]
fn the_only_plan_that_is_ready_is_offered_and_its_code_alone_begins_it() {
    play(&[
        ("one that waits for its approval", two_tasks(), |g| {
            let mut session = g.session()?;
            let screen = shown(&mut session, "/omo:execute")?;
            ensure!(
                screen.contains("[omo] Nothing has run yet: this plan waits for your approval."),
                "{screen}"
            );
            let line = screen.lines().last().context("no line")?.trim().to_owned();
            let code = line
                .strip_prefix("/omo:execute --approve ")
                .context("not the code alone")?;
            ensure!(code.len() == 12 && !g.runs().exists(), "{screen}");
            let out = begun(g, &mut session, &line)?;
            ensure!(
                out.contains(&format!("\"{PLAN}\"")) || out.contains(PLAN),
                "{out}"
            );
            ensure!(g.standing("1")? == "pending");
            Ok(())
        }),
        (
            "one whose commands are approved is named, and not begun",
            two_tasks(),
            |g| {
                g.open()?;
                g.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
                let mut session = g.session()?;
                let screen = shown(&mut session, "/omo:execute")?;
                let expected = "[omo] No run is open here. One plan is ready: docs/plan.md. To execute it, type:\n  /omo:execute docs/plan.md";
                ensure!(screen == expected, "{screen}");
                let said = g.omo_at_terminal(&["run", "start"])?;
                said.refuses(
                    3,
                    "no plan run is open here",
                    "`omo run start docs/plan.md` executes it",
                )?;
                Ok(())
            },
        ),
        ("of two none, and both are named", two_tasks(), |g| {
            g.lab().write("docs/other.md", &two_tasks())?;
            let screen = shown(&mut g.session()?, "/omo:execute")?;
            ensure!(
                screen.starts_with("[omo] Nothing was started: no plan run is open here"),
                "{screen}"
            );
            for part in [
                "2 plans are ready; name one:",
                "\n  /omo:execute docs/plan.md",
                "\n  /omo:execute docs/other.md",
            ] {
                ensure!(screen.contains(part), "no {part:?}: {screen}");
            }
            g.omo_at_terminal(&["run", "start"])?.refuses(
                3,
                "no plan run is open here",
                "omo run start docs/other.md",
            )?;
            Ok(())
        }),
    ]);
}

#[test]
fn a_code_alone_means_the_line_that_its_user_typed_and_no_other() {
    play(&[
        ("with its options", two_tasks(), |g| {
            let mut session = g.session()?;
            let screen = shown(
                &mut session,
                &format!("/omo:execute-plan {PLAN} --batch-size 1"),
            )?;
            let line = screen.lines().last().context("no line")?.trim().to_owned();
            ensure!(line.starts_with("/omo:execute --approve "), "{screen}");
            begun(g, &mut session, &line)?;
            let plan = g.report()?;
            ensure!(
                plan["batches"]
                    .as_array()
                    .is_none_or(|batches| batches.len() == 2),
                "{plan}"
            );
            Ok(())
        }),
        ("not that of a model", two_tasks(), |g| {
            let mut session = g.session()?;
            let screen = shown(&mut session, &format!("/omo:execute {PLAN}"))?;
            let line = screen.lines().last().context("no line")?.trim().to_owned();
            // The same commands, with options that no person has typed.
            let said = [
                "agent",
                "open",
                "--command",
                "execute",
                "--",
                "--yolo --parallel docs/plan.md",
            ];
            g.omo_in_session(&session, &said)?;
            session.type_prompt(&line)?;
            let out = g.omo_in_session(&session, &["agent", "open", "--command", "execute"])?;
            ensure!(!out.out.contains("permission"), "{out:?}");
            Ok(())
        }),
    ]);
}

#[test]
fn a_number_answers_the_question_of_a_plan_without_a_model() {
    let asks = plan_text(&[task("1", "", "true"), task("2", "", "true")]).replacen(
        "## Verification\n\n- **Verdict:** Approved",
        "## Verification\n\n- **Verdict:** Open",
        1,
    );
    play(&[("continue or stop", asks, |g| {
        let mut session = g.session()?;
        g.open_in(&mut session)?;
        g.omo_in_session(&session, &["agent", "next"])?
            .exits_with(7)?;
        for (typed, expected) in [
            ("/omo:answer", "an argument is missing"),
            ("/omo:answer 9", "has no option `9`; it has 1 continue"),
            ("/omo:answer q9 1", "waits at q1, not at `q9`"),
            ("/omo:answer --help", "usage: /omo:answer"),
        ] {
            let said = shown(&mut session, typed)?;
            ensure!(said.contains(expected), "{typed}: {said}");
        }
        let said = shown(&mut session, "/omo:answer 1")?;
        ensure!(
            said.starts_with("[omo] q1 is answered: continue, ") && said.contains("/omo:execute"),
            "{said}"
        );
        let said = shown(&mut session, "/omo:answer 1")?;
        ensure!(said.contains("waits for no answer"), "{said}");
        // A model that types it for its user gets nowhere.
        let own = session
            .hooks
            .clone()
            .with_env("OMO_RUN", "r1")
            .with_env("OMO_WORKER", "2");
        ensure!(
            omo_tests::scene::require_sound(&own.clone().prompt("/omo:answer 1")?)?
                == HookAnswer::Nothing
        );
        Ok(())
    })]);
}

#[test]
fn a_verification_that_is_retried_judges_again_and_no_task_is_done_again() {
    play(&[("refused in the only round", two_tasks(), |g| {
        let digest = g.digest(PLAN)?;
        let start = [
            "run",
            "start",
            "--waves",
            "--max-iterations",
            "1",
            PLAN,
            "--digest",
            &digest,
        ];
        g.omo_at_terminal(&start)?.exits_with(0)?;
        g.pass("1", "one")?;
        g.pass("2", "two")?;
        let ticket = g.start("verify")?;
        let refused = [
            "agent",
            "verdict",
            "FAIL",
            "--ticket",
            &ticket,
            "--reopen",
            "2: not so",
        ];
        g.omo_at_terminal(&refused)?.exits_with(0)?;
        let end = g.omo_at_terminal(&["agent", "next"])?.exits_with(1)?.out;
        ensure!(end.contains("the verifier says: not so"), "{end}");
        ensure!(
            [g.standing("1")?, g.standing("2")?] == ["passed", "failed"],
            "{}",
            g.report()?
        );
        let mut session = g.session()?;
        let said = shown(&mut session, "/omo:retry verify")?;
        ensure!(
            said.starts_with(
                "[omo] verify judges again; no task is done again. To go on, type /omo:"
            ),
            "{said}"
        );
        ensure!(
            [g.standing("1")?, g.standing("2")?] == ["passed", "passed"],
            "{}",
            g.report()?
        );
        let ticket = g.start("verify")?;
        let shown = [
            "agent", "evidence", "run", "--ticket", &ticket, "--", "true",
        ];
        let shown = g.omo_at_terminal(&shown)?.exits_with(0)?.out;
        let id = shown
            .strip_prefix("EVIDENCE ")
            .and_then(|rest| rest.split(':').next())
            .context("no id")?;
        let passed = [
            "agent",
            "verdict",
            "PASS",
            "--ticket",
            &ticket,
            "--evidence",
            id,
        ];
        g.omo_at_terminal(&passed)?.exits_with(0)?;
        g.omo_at_terminal(&["agent", "next"])?.exits_with(0)?;
        let report = g.report()?;
        ensure!(
            report["phase"]["result"] == "complete" || report.to_string().contains("complete"),
            "{report}"
        );
        Ok(())
    })]);
}
