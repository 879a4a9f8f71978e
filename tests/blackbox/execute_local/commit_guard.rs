//! Hooks that change while a plan is carried out: what a step lists is known, anything else is asked about once.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use omo_tests::plan_project::{PLAN, Said};
use omo_tests::ultraplan_project::{REVERT, Steps, plan_text, play, word_check};

use crate::git_variables::write_program;

fn two_steps() -> String {
    plan_text(&[(1, REVERT, &word_check(1)), (2, REVERT, &word_check(2))])
}

fn hooks(s: &Steps) -> PathBuf {
    s.lab().project().join("hooks")
}

fn write_hook(s: &Steps, lines: &str) -> Result<()> {
    write_program(&hooks(s), "pre-commit", lines)
}

/// Has git look for hooks in this folder, and commits all that is there.
fn begin_with_hooks(s: &Steps, folder: &str) -> Result<()> {
    write_hook(s, "# strict")?;
    if !folder.is_empty() {
        s.git(&["config", "core.hooksPath", folder])?;
    }
    s.git(&["add", "."])?;
    s.git(&["commit", "-q", "-m", "hooks"])?;
    s.begin(PLAN).map(drop)
}

fn is_asked(said: &Said) -> bool {
    said.out.contains("NOT COMMITTED") && said.out.contains("hooks/pre-commit (now ")
}

/// The first step weakens a hook that it does not list. Its user does this before the answer, and the second step is done.
fn answer_after(s: &Steps, act: fn(&Steps) -> Result<()>, answered: &str) -> Result<Said> {
    begin_with_hooks(s, "hooks")?;
    write_hook(s, "# weak")?;
    let said = s.work(1, "done\n")?;
    ensure!(is_asked(&said), "{}", said.out);
    act(s)?;
    let said = s
        .omo_at_terminal(&["answer", "q1", "continue"])?
        .exits_with(0)?;
    ensure!(
        said.out.starts_with("Answered q1: continue") && said.out.contains(answered),
        "{}",
        said.out
    );
    s.is_next(2)?;
    ensure!(s.lab().git(&["log", "-1", "--format=%s"])?.trim() == "words: 1");
    Ok(said)
}

#[test]
fn an_answer_lets_a_hook_stand_as_its_question_showed_it() {
    play(&[
        ("put back, and weakened again", two_steps(), |s| {
            let said = answer_after(s, |s| write_hook(s, "# strict"), "continue.")?;
            ensure!(!said.out.contains("let stand"), "{}", said.out);
            write_hook(s, "# weak")?;
            let said = s.work(2, "done\n")?;
            ensure!(is_asked(&said), "{}", said.out);
            Ok(())
        }),
        ("left as it is", two_steps(), |s| {
            answer_after(s, |_| Ok(()), "; let stand: hooks/pre-commit (now ")?;
            s.work(2, "done\n")?.exits_with(0).map(drop)
        }),
        ("changed once more before the answer", two_steps(), |s| {
            begin_with_hooks(s, "hooks")?;
            write_hook(s, "# weak")?;
            ensure!(is_asked(&s.work(1, "done\n")?));
            write_hook(s, "# weaker")?;
            let said = s
                .omo_at_terminal(&["answer", "q1", "continue"])?
                .exits_with(0)?;
            ensure!(!said.out.contains("let stand"), "{}", said.out);
            let said = s.next()?;
            ensure!(said.out.contains("hooks/pre-commit (now "), "{}", said.out);
            ensure!(s.lab().git(&["log", "-1", "--format=%s"])?.trim() == "hooks");
            Ok(())
        }),
    ]);
}

/// A plan whose first step lists the hook as well.
fn hook_listed() -> String {
    two_steps().replacen(
        "`words/1.txt` (new)",
        "`words/1.txt` (new), `hooks/pre-commit`",
        1,
    )
}

/// The first step changes the hook that it lists, and neither it nor the second one is asked about.
fn change_listed(s: &Steps, folder: &str) -> Result<()> {
    begin_with_hooks(s, folder)?;
    write_hook(s, "# stricter")?;
    for step in [1, 2] {
        let said = s.work(step, "done\n")?.exits_with(0)?;
        ensure!(
            said.out.contains(&format!("Step {step}: PASS")),
            "{}",
            said.out
        );
    }
    Ok(())
}

#[test]
fn a_hook_that_a_passed_step_lists_is_asked_about_in_no_step() {
    let checkpoint = "- **Checkpoint:** `git commit -m \"words: 1\"`\n";
    let ignored = two_steps().replacen("words/1.txt", "hooks/pre-commit", 1);
    let ignored = ignored.replacen(&word_check(1), "test -x hooks/pre-commit", 1);
    play(&[
        (
            "in a step without a commit",
            hook_listed().replacen(checkpoint, "", 1),
            |s| change_listed(s, "hooks"),
        ),
        ("in a file that git ignores", ignored, |s| {
            s.lab().write(".gitignore", "hooks/\n")?;
            begin_with_hooks(s, "hooks")?;
            let ticket = s.start("1")?;
            write_hook(s, "# stricter")?;
            s.omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                .exits_with(0)?;
            s.work(2, "done\n")?.exits_with(0).map(drop)
        }),
        ("behind a link of git's own folder", hook_listed(), |s| {
            symlink(
                "../../hooks/pre-commit",
                s.lab().project().join(".git/hooks/pre-commit"),
            )?;
            change_listed(s, "")
        }),
        (
            "by a path through a link of the project",
            hook_listed(),
            |s| {
                let link = s.lab().home().join("link");
                symlink(s.lab().project(), &link)?;
                change_listed(s, &link.join("hooks").display().to_string())
            },
        ),
    ]);
}
