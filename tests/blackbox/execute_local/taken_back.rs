//! A step that fails in its user's own worktree, while the user and others change files there, too.

use anyhow::{Context, Result, ensure};
use omo_tests::plan_project::PLAN;
use omo_tests::ultraplan_project::{REVERT, Steps, plan_text, play, word_check};

fn word(steps: &Steps) -> Result<String> {
    Ok(std::fs::read_to_string(
        steps.lab().project().join("words/1.txt"),
    )?)
}

#[test]
fn only_the_steps_own_work_is_taken_back_and_one_command_brings_it_again() {
    play(&[(
        "others work in the same tree",
        plan_text(&[(1, "skip", &word_check(1)), (2, REVERT, &word_check(2))]),
        |s| {
            s.lab().write("lib/l.txt", "lib\n")?;
            s.git(&["add", "lib"])?;
            s.git(&["commit", "-q", "-m", "lib"])?;
            s.begin(PLAN)?;
            let ticket = s.start("1")?;
            s.lab().write("lib/l.txt", "an hour of another session\n")?;
            s.lab().write("staged.txt", "staged\n")?;
            s.git(&["add", "staged.txt"])?;
            s.lab().write("notes.txt", "the user's notes\n")?;
            s.lab().write("words/1.txt", "other\n")?;
            let said = s
                .omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                .exits_with(0)?;
            let left = "left alone: lib/l.txt, notes.txt, staged.txt: changed meanwhile, not by this step's files";
            ensure!(said.out.contains(left), "{}", said.out);
            let status = s.lab().git(&["status", "--porcelain"])?;
            ensure!(
                status == " M lib/l.txt\nA  staged.txt\n?? notes.txt\n",
                "{status}"
            );

            let report = s.omo_at_terminal(&["report"])?.out;
            let unbroken = report.split_whitespace().collect::<Vec<_>>().join(" ");
            ensure!(unbroken.contains(left), "{report}");
            for text in [&said.out, &report] {
                let (_, command) = text
                    .split_once("`omo run restore ")
                    .with_context(|| text.clone())?;
                ensure!(command.starts_with("step-1-attempt-1 --run "), "{text}");
            }
            let listed = s.omo_at_terminal(&["run", "restore"])?.exits_with(0)?.out;
            ensure!(
                listed.contains("  step-1-attempt-1  1 file: words/1.txt\n"),
                "{listed}"
            );
            let shown = s.omo_at_terminal(&["run", "show"])?.exits_with(0)?.out;
            ensure!(
                shown.contains("omo run restore step-1-attempt-1"),
                "{shown}"
            );

            s.omo_at_terminal(&["run", "restore", "step-9"])?.refuses(
                3,
                "nothing is kept",
                "`omo run restore` lists",
            )?;
            let restored = s
                .omo_at_terminal(&["run", "restore", "step-1-attempt-1"])?
                .exits_with(0)?
                .out;
            ensure!(restored == "restored: words/1.txt\n", "{restored}");
            ensure!(word(s)? == "other\n");
            s.lab().write("words/1.txt", "newer\n")?;
            s.omo_at_terminal(&["run", "restore", "step-1-attempt-1"])?
                .refuses(
                    10,
                    "left as they are, since they were changed meanwhile: words/1.txt",
                    "`omo run restore step-1-attempt-1 --force`",
                )?;
            ensure!(word(s)? == "newer\n");
            let forced = s
                .omo_at_terminal(&["run", "restore", "step-1-attempt-1", "--force"])?
                .exits_with(0)?
                .out;
            ensure!(
                forced.contains(
                    "What was overwritten is kept: omo run restore before-step-1-attempt-1"
                ),
                "{forced}"
            );
            s.omo_at_terminal(&["run", "restore", "before-step-1-attempt-1", "--force"])?
                .exits_with(0)?;
            ensure!(word(s)? == "newer\n");

            s.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
            let stays = s
                .omo_at_terminal(&["run", "gc", "--days", "0"])?
                .exits_with(0)?
                .out;
            ensure!(
                stays.contains("stays: its work is in no branch of yours"),
                "{stays}"
            );
            ensure!(!s.lab().git(&["for-each-ref", "refs/omo/keep"])?.is_empty());
            s.omo_at_terminal(&["run", "gc", "--days", "0", "--discard-kept-work"])?
                .exits_with(0)?;
            ensure!(s.lab().git(&["for-each-ref", "refs/omo/keep"])?.is_empty());
            Ok(())
        },
    )]);
}
