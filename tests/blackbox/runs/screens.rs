//! What a person reads before a plan runs and between its runs: screens that the hooks show, and no model reads.

use anyhow::{Context, Result, ensure};
use omo_testkit::stand_in::HookAnswer;
use omo_tests::plan_project::{
    Ground, ONE_TASK_BATCHES, PLAN, Session, play, two_tasks, two_tasks_with_stop,
};
use omo_tests::scene::require_sound;

/// What stands in the place of a typed prompt.
fn shown(session: &mut Session, prompt: &str) -> Result<String> {
    let answer = session.type_prompt(prompt)?;
    ensure!(answer.blocks(), "{prompt}: {answer:?}");
    Ok(answer.reason().unwrap_or_default().to_owned())
}

/// The line that a session is offered at its start, as its user reads it.
fn offered(session: &mut Session) -> Result<Option<String>> {
    let answer = require_sound(&session.hooks.session_start("startup")?)?;
    Ok(answer.system_message().map(str::to_owned))
}

#[test]
fn what_a_typed_plan_waits_for_is_the_answer_to_the_prompt() {
    let without_contract = two_tasks().replacen("**Task Contract:**", "**Contract:**", 1);
    play(&[
        ("an approval, with all that is approved", two_tasks(), |g| {
            let mut session = g.session()?;
            let screen = shown(
                &mut session,
                &format!("/omo:execute {PLAN} --batches --k 2"),
            )?;
            for part in [
                "[omo] Nothing has run yet: this plan waits for your approval.\n\n",
                "2 tasks, in batches: one agent after another, with stops for you\n",
                "Batch 1\n  1  ",
                "Cost: one agent at a time, billed as this session is, without a budget.",
                "with your rights:\n  1  grep -q one words/1.txt\n",
                "To approve exactly these commands and begin, type:\n  /omo:execute --approve ",
            ] {
                ensure!(screen.contains(part), "no {part:?}:\n{screen}");
            }
            ensure!(
                !screen.contains("error") && !screen.contains("hint"),
                "{screen}"
            );
            ensure!(!g.runs().exists(), "a run was opened");
            // What was typed is not kept for a model that would begin with it.
            let said = g
                .omo_in_session(&session, &["agent", "open", "--command", "execute"])?
                .exits_with(0)?;
            ensure!(
                said.out.starts_with("DO\n  No arguments were typed"),
                "{}",
                said.out
            );
            let line = screen.lines().last().context("no line")?.trim().to_owned();
            ensure!(
                !session.type_prompt(&line)?.blocks(),
                "the approval was not taken"
            );
            Ok(())
        }),
        (
            "tasks that cannot begin are named before anything is spent",
            without_contract,
            |g| {
                let mut session = g.session()?;
                let screen = shown(&mut session, &format!("/omo:execute {PLAN}"))?;
                ensure!(
                    screen.contains("Cannot begin: task 1 without a Task Contract"),
                    "{screen}"
                );
                Ok(())
            },
        ),
        (
            "a wrong code is answered for the command that was typed",
            two_tasks(),
            |g| {
                g.lab().write(
                    "other.md",
                    &two_tasks().replace("grep -q one", "grep -q other"),
                )?;
                let mut session = g.session()?;
                shown(&mut session, "/omo:execute-plan other.md")?;
                let screen = shown(
                    &mut session,
                    &format!("/omo:execute {PLAN} --approve 000000000000"),
                )?;
                ensure!(
                    screen.contains("in /omo:execute is not that of"),
                    "{screen}"
                );
                ensure!(
                    !screen.contains("other.md") && !screen.contains("execute-plan"),
                    "{screen}"
                );
                ensure!(screen.contains("  grep -q one words/1.txt\n"), "{screen}");
                Ok(())
            },
        ),
        (
            "a path with blanks is quoted wherever it is suggested",
            two_tasks(),
            |g| {
                g.lab().write("my plans/a plan.md", &two_tasks())?;
                let mut session = g.session()?;
                let screen = shown(&mut session, "/omo:execute 'my plans/a plan.md'")?;
                ensure!(
                    screen.contains("my plans/a plan.md")
                        && screen.contains("  /omo:execute --approve "),
                    "{screen}"
                );
                let said = g
                    .omo_at_terminal(&["run", "start", "my plans/a plan.md"])?
                    .exits_with(7)?;
                ensure!(
                    said.err.contains("`omo plan show 'my plans/a plan.md'`"),
                    "{}",
                    said.err
                );
                Ok(())
            },
        ),
        (
            "what is in the way, without an error of the client",
            two_tasks(),
            |g| {
                let mut session = g.session()?;
                let screen = shown(&mut session, "/omo:execute none.md")?;
                ensure!(
                    screen.starts_with("[omo] Nothing was started: file not found: none.md\n\n"),
                    "{screen}"
                );
                Ok(())
            },
        ),
    ]);
}

#[test]
fn a_new_session_is_offered_the_run_that_is_open_and_the_line_that_it_is_offered_goes_on() {
    play(&[(
        "held, left, gone on with, ended",
        two_tasks_with_stop(),
        |g| {
            let mut first = g.session()?;
            ensure!(offered(&mut first)?.is_none(), "there is no run");
            g.open_in(&mut first)?;
            ensure!(offered(&mut first)?.is_none(), "it has it open itself");
            let mut second = g.session()?;
            ensure!(offered(&mut second)?.is_none(), "the first one is at it");
            first.kill_client()?;
            let run = g.run()?;
            let line = offered(&mut second)?.context("no offer")?;
            let expected = format!(
                "[omo] the run `{run}` of `{PLAN}` is open: 0 of 2 tasks done. Its user goes on with it by"
            );
            ensure!(line.starts_with(&expected), "{line}");
            ensure!(
                line.ends_with(&format!(
                    "typing /omo:execute, and ends it by typing /omo:cancel {run}"
                )),
                "{line}"
            );
            ensure!(
                session_takes_over(g, &mut second)?,
                "the line does not go on with it"
            );
            let said = shown(&mut second, &format!("/omo:cancel {run}"))?;
            ensure!(said.contains("cancelled"), "{said}");
            let mut third = g.session()?;
            ensure!(offered(&mut third)?.is_none(), "it is over");
            ensure!(
                !g.lab()
                    .project()
                    .join(".sisyphus/cc-omo/open-plan-run")
                    .exists()
            );
            Ok(())
        },
    )]);
}

fn session_takes_over(ground: &Ground, session: &mut Session) -> Result<bool> {
    ensure!(session.type_prompt("/omo:execute")? == HookAnswer::Nothing);
    let said = ground
        .omo_in_session(session, &["agent", "open", "--command", "execute"])?
        .exits_with(0)?;
    Ok(said.out.contains("omo: going on with the run"))
}

#[test]
fn the_model_of_a_plan_is_said_and_chosen() {
    play(&[
        (
            "that of the format, of the option, of the configuration",
            two_tasks(),
            |g| {
                let mut session = g.session()?;
                let mut cost = |line: &str| -> Result<String> {
                    let screen = shown(&mut session, &format!("/omo:execute {PLAN} {line}"))?;
                    let cost = screen.lines().find(|line| line.starts_with("Cost: "));
                    cost.map(str::to_owned)
                        .with_context(|| format!("no cost: {screen}"))
                };
                let usual = cost("--batches")?;
                ensure!(
                    usual.contains(" Agents use sonnet (`--model NAME` takes another)."),
                    "{usual}"
                );
                let waves = cost("--waves")?;
                ensure!(
                    waves.contains(" Tasks go to sonnet, the verifier is opus ("),
                    "{waves}"
                );
                let named = cost("--waves --model haiku")?;
                ensure!(named.contains(" Agents use haiku ("), "{named}");
                let own = cost("--batches --model inherit")?;
                ensure!(own.contains(" Agents use this session's model ("), "{own}");
                g.lab().configure(
                    "[plans]\nmodels = { tasks = \"opus\", verifier = \"inherit\" }\n",
                )?;
                let set = cost("--waves")?;
                ensure!(
                    set.contains(" Tasks go to opus, the verifier is this session's model ("),
                    "{set}"
                );
                Ok(())
            },
        ),
        (
            "the agent that works is asked for with it",
            two_tasks(),
            |g| {
                let mut session = g.session()?;
                let line = format!("/omo:execute-plan {PLAN} --model haiku");
                let screen = shown(&mut session, &line)?;
                let line = screen.lines().last().context("no line")?.trim().to_owned();
                ensure!(
                    !session.type_prompt(&line)?.blocks(),
                    "the approval was not taken"
                );
                let said = g
                    .omo_in_session(&session, &["agent", "open", "--command", "execute"])?
                    .exits_with(0)?;
                ensure!(
                    said.out
                        .contains("   model: \"haiku\"   run_in_background: false"),
                    "{}",
                    said.out
                );
                Ok(())
            },
        ),
        ("the session's own is no argument", two_tasks(), |g| {
            let mut session = g.session()?;
            let screen = shown(
                &mut session,
                &format!("/omo:execute-plan {PLAN} --model inherit"),
            )?;
            let line = screen.lines().last().context("no line")?.trim().to_owned();
            ensure!(
                !session.type_prompt(&line)?.blocks(),
                "the approval was not taken"
            );
            let said = g
                .omo_in_session(&session, &["agent", "open", "--command", "execute"])?
                .exits_with(0)?;
            ensure!(
                said.out
                    .contains("subagent_type: \"omo:worker\"   run_in_background"),
                "{}",
                said.out
            );
            Ok(())
        }),
        (
            "what is no model, or none that an agent can be",
            two_tasks(),
            |g| {
                for (model, why) in [
                    ("'x; touch hacked'", "is the name of a model"),
                    ("'\u{1b}[31m'", "is the name of a model"),
                    ("''", "is the name of a model"),
                    (
                        "claude-opus-5-5",
                        "agents of a session cannot be claude-opus-5-5",
                    ),
                ] {
                    let mut session = g.session()?;
                    let screen = shown(
                        &mut session,
                        &format!("/omo:execute {PLAN} --batches --model {model}"),
                    )?;
                    ensure!(
                        screen.contains(why) && !screen.contains('\u{1b}'),
                        "{model}: {screen}"
                    );
                    ensure!(!g.runs().exists(), "a run was opened");
                }
                let said = g
                    .omo_at_terminal(&["run", "start", "--fg", "--model", "opus", PLAN])?
                    .exits_with(2)?;
                ensure!(
                    said.err.contains("this session itself works"),
                    "{}",
                    said.err
                );
                Ok(())
            },
        ),
    ]);
}

#[test]
fn a_run_that_waits_is_shown_where_its_user_looks() {
    let waits = |g: &mut Ground| {
        g.options = ONE_TASK_BATCHES;
        g.open()?;
        g.pass("1", "one")?;
        g.omo_at_terminal(&["agent", "next"])?.exits_with(7)?;
        let run = g.run()?;
        let status = g.omo_at_terminal(&["status"])?.exits_with(0)?.out;
        let row = format!("plan run  {PLAN}: 1 of 2 done, waits for you: ");
        ensure!(
            status.starts_with(&row) && status.contains(&format!("(run {run})\n")),
            "{status}"
        );
        ensure!(status.contains("type /omo:execute"), "{status}");
        let why = g.omo_at_terminal(&["why"])?.exits_with(0)?.out;
        let mut session = g.session()?;
        let typed = shown(&mut session, "/omo:why")?;
        for why in [&why, &typed] {
            ensure!(
                why.contains("waits for you")
                    && why.contains("/omo:execute")
                    && !why.contains("ulw"),
                "{why}"
            );
        }
        let status = shown(&mut session, "/omo:status")?;
        ensure!(
            status.contains(&format!("the run `{run}` of `{PLAN}` is open"))
                && status.contains("waits for you"),
            "{status}"
        );
        // The session that goes on with it has a row of its own.
        session.type_prompt("/omo:execute")?;
        g.omo_in_session(&session, &["agent", "open", "--command", "execute"])?
            .exits_with(0)?;
        let status = shown(&mut session, "/omo:status")?;
        ensure!(!status.contains("is open"), "{status}");
        let status = g.omo_at_terminal(&["status"])?.exits_with(0)?.out;
        ensure!(status.matches(&run).count() == 1, "{status}");
        Ok(())
    };
    play(&[
        ("opened in a terminal", two_tasks_with_stop(), waits),
        ("in its own session", two_tasks_with_stop(), |g| {
            g.options = ONE_TASK_BATCHES;
            let mut session = g.session()?;
            g.open_in(&mut session)?;
            let ticket = g
                .omo_in_session(&session, &["agent", "start", "1"])?
                .ticket()?;
            g.lab().write("words/1.txt", "one\n")?;
            g.omo_in_session(&session, &["agent", "done", "--ticket", &ticket])?
                .exits_with(0)?;
            let why = shown(&mut session, "/omo:why")?;
            ensure!(
                why.contains("waits for you") && !why.contains("ulw"),
                "{why}"
            );
            Ok(())
        }),
    ]);
}

#[test]
fn what_a_line_lacks_is_said_before_anything_else() {
    play(&[
        ("workers without a client", two_tasks(), |g| {
            g.git(&["config", "user.name", "A"])?;
            g.git(&["config", "user.email", "a@example.org"])?;
            let digest = g.digest(PLAN)?;
            let start = ["run", "start", "--parallel", PLAN, "--digest", &digest];
            let opened = g.omo_at_terminal(&start)?.exits_with(0)?.out;
            ensure!(
                opened.contains("no `claude` is on the PATH")
                    && opened.contains("`omo run start --fg docs/plan.md` has the session"),
                "{opened}"
            );
            // The key of the lab opened a question of who pays.
            g.omo_at_terminal(&["answer", "q1", "continue"])?
                .exits_with(0)?;
            g.omo_at_terminal(&["agent", "workers", "start"])?.refuses(
                5,
                "no `claude` is on the PATH",
                "`omo run start --fg PLAN`",
            )?;
            Ok(())
        }),
        ("the file, where another plan is ready", two_tasks(), |g| {
            let typed = shown(&mut g.session()?, "/omo:execute --waves docs/nope.md")?;
            for part in [
                "file not found: docs/nope.md",
                "one plan is ready: `/omo:execute --waves docs/plan.md` executes it",
            ] {
                ensure!(typed.contains(part), "no {part}: {typed}");
            }
            g.omo_at_terminal(&["run", "start", "docs/nope.md"])?
                .refuses(
                    3,
                    "file not found: docs/nope.md",
                    "`omo run start docs/plan.md` executes it",
                )
                .map(drop)
        }),
        ("the options of a plan", two_tasks(), |g| {
            let page = shown(&mut g.session()?, "/omo:execute --help")?;
            for option in ["--check", "--review", "--model", "--batch-size", "--pr "] {
                ensure!(page.contains(option), "no {option}: {page}");
            }
            Ok(())
        }),
    ]);
}
