//! Lines that say themselves that something is not finished are shown to whoever judges, and refuse nothing.

use std::fs;

use anyhow::{Result, ensure};
use omo_tests::executed::{Case, Sessions, WORD, play};

/// A task is done, and leaves this in a file.
fn done_with(s: &Sessions, text: &str) -> Result<()> {
    s.begin(&[])?;
    let ticket = s.start("1")?;
    leave(s, &ticket, text)
}

fn leave(s: &Sessions, ticket: &str, text: &str) -> Result<()> {
    s.lab().write("words/1.txt", "done\n")?;
    s.lab().write("src/login.ts", text)?;
    s.person(&["unit", "done", "--ticket", ticket])?.ends(0)?;
    Ok(())
}

#[test]
fn added_lines_that_look_unfinished_are_shown_to_the_verifier_and_in_the_end() {
    let cases: &[Case] = &[
        ("one", &[("1", &[], &[WORD])], |s| {
            done_with(s, "login();\n// TODO: logout\n")?;
            let told = s.person(&["unit", "brief", "verify"])?.ends(0)?.out;
            ensure!(told.contains("## Added lines that look unfinished\n\n- `src/login.ts:2` TODO\n"), "{told}");
            s.verify()?;
            let shown = s.next()?.ends(0)?.out;
            ensure!(shown.contains("- 1 added line looks unfinished\n"), "{shown}");
            ensure!(shown.contains("- `src/login.ts:2` TODO\n") && !shown.contains("No blocked patterns"), "{shown}");
            Ok(())
        }),
        ("none", &[("1", &[], &[WORD])], |s| {
            done_with(s, "login();\n")?;
            s.verify()?;
            let shown = s.next()?.ends(0)?.out;
            ensure!(shown.contains("- No blocked patterns detected\n"), "{shown}");
            Ok(())
        }),
        ("where git is gone", &[("1", &[], &[WORD])], |s| {
            s.begin(&[])?;
            let ticket = s.start("1")?;
            let (git, elsewhere) = (s.lab().project().join(".git"), s.lab().home().join("git"));
            fs::rename(&git, &elsewhere)?;
            leave(s, &ticket, "// TODO\n")?;
            fs::rename(elsewhere, git)?;
            let told = s.person(&["unit", "brief", "verify"])?.ends(0)?.out;
            ensure!(told.contains("- Not looked for in what was done for task 1\n"), "{told}");
            s.verify()?;
            let shown = s.next()?.ends(0)?.out;
            ensure!(shown.contains("- Task 1: added lines not known, and not searched"), "{shown}");
            ensure!(!shown.contains("No blocked patterns"), "{shown}");
            Ok(())
        }),
    ];
    play(cases).unwrap();
}
