//! A plan that is edited while its run is open.

use std::fs;

use anyhow::{Result, ensure};
use omo_tests::planned::{Case, Ground, PLAN, plan, play, task, two};

const ONE: &str = "grep -q one words/1.txt";
const TWO: &str = "grep -q two words/2.txt";

/// Every verb that goes on refuses, names what is different, and writes nothing.
fn is_named(ground: &Ground, edit: &str) -> Result<()> {
    let before = ground.all()?;
    for arguments in [&["agent", "next"][..], &["agent", "start", "1"], &["agent", "start", "2"]] {
        let said = ground.person(arguments)?.refuses(
            5,
            "docs/plan.md was edited since",
            "`omo run resume` takes the edit in",
        )?;
        ensure!(said.err.contains(edit), "{}", said.err);
        before.is_still(&ground.all()?, &[".lock"])?;
    }
    let said = ground.person(&["run", "show"])?.ends(0)?;
    ensure!(said.out.contains(&format!("The plan was edited since: {edit}.")), "{}", said.out);
    Ok(())
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn an_edit_is_named_and_counts_once_it_was_taken_in() {
    let cases: &[Case] = &[
        ("what passed and says something else is done again", two(), |g| {
            g.open()?;
            g.pass("1", "one")?;
            g.lab().write(PLAN, &two().replace("The word 1", "The very first word"))?;
            is_named(g, "changed 1")?;
            let said = g.person(&["run", "resume"])?.ends(0)?;
            ensure!(said.out.contains("stale, to be done again: 1"), "{}", said.out);
            g.person(&["agent", "start", "2"])?.refuses(5, "it is not the turn of 2", "omo agent next")?;
            let again = g.person(&["agent", "start", "1"])?.ends(0)?;
            ensure!(again.out.contains("It was done before the plan was edited"), "{}", again.out);
            Ok(())
        }),
        ("a task is added, another is removed", two(), |g| {
            g.open()?;
            g.pass("1", "one")?;
            g.lab().write(PLAN, &plan(&[task("1", "", ONE), task("3", "Task 1", TWO)]))?;
            is_named(g, "added 3; removed 2")?;
            g.person(&["run", "resume"])?.ends(7)?;
            let digest = g.person(&["run", "resume"])?.err;
            let digest = digest.split("their digest is ").nth(1).and_then(|rest| rest.split_whitespace().next());
            g.person(&["run", "resume", "--digest", digest.unwrap_or_default()])?.ends(0)?;
            ensure!(g.standing("1")? == "passed" && g.standing("3")? == "pending");
            g.person(&["agent", "start", "2"])?.refuses(3, "the plan has no task `2`", "it has 1, 3").map(drop)
        }),
        ("another command is asked about before it runs", two(), |g| {
            g.open()?;
            g.lab().write(PLAN, &two().replace(ONE, "touch ran"))?;
            let before = g.all()?;
            g.person(&["run", "resume"])?.refuses(7, "there is no terminal to ask on", "repeat with `--digest`")?;
            before.is_still(&g.all()?, &["/.local/state/omo"])?;
            let mut session = g.session()?;
            g.model(&session, &["run", "resume"])?.refuses(7, "you have not approved them", "--approve")?;
            ensure!(!g.lab().project().join("ran").exists());
            session.dies()
        }),
        ("a broken edit is refused, and the run is as it was", two(), |g| {
            g.open()?;
            for broken in
                [String::new(), plan(&[task("1", "Task 1", ONE)]), plan(&[task("1", "", ONE), task("1", "", ONE)])]
            {
                g.lab().write(PLAN, &broken)?;
                let before = g.all()?;
                g.person(&["run", "resume"])?.refuses(4, "docs/plan.md has ", "omo plan lint docs/plan.md")?;
                before.is_still(&g.all()?, &[".lock"])?;
            }
            g.lab().write(PLAN, &two())?;
            g.person(&["agent", "start", "1"])?.ends(0).map(drop)
        }),
        ("the task at work is not changed under its worker", two(), |g| {
            g.open()?;
            let ticket = g.start("1")?;
            g.lab().write(PLAN, &two().replace("The word 1", "Another word"))?;
            let mut session = g.session()?;
            g.model(&session, &["agent", "fail", "--lost", "9"])?.ends(3)?;
            g.model(&session, &["run", "resume"])?;
            session.dies()?;
            // What its worker was given is what it is judged by.
            g.lab().write("words/1.txt", "one\n")?;
            let said = g.person(&["agent", "done", "--ticket", &ticket])?;
            ensure!([0, 5].contains(&said.status), "{said:?}");
            Ok(())
        }),
        ("something else than a file in its place", two(), |g| {
            g.open()?;
            fs::remove_file(g.lab().project().join(PLAN))?;
            fs::create_dir(g.lab().project().join(PLAN))?;
            let before = g.all()?;
            for arguments in [&["agent", "next"][..], &["run", "resume"], &["agent", "start", "1"]] {
                g.person(arguments)?.refuses(9, "docs/plan.md", "")?;
                before.is_still(&g.all()?, &[".lock"])?;
            }
            Ok(())
        }),
    ];
    play(cases).unwrap();
}
