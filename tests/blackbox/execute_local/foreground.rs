//! A plan in steps that is carried out where its user is: from its first step to its report.

use std::fs;
use std::process::Stdio;

use anyhow::{Context as _, Result, bail, ensure};
use omo_testkit::wait_until;
use omo_tests::plan_project::{PLAN, Said};
use omo_tests::ultraplan_project::{Case, REVERT, Steps, plan_text, play, word_check};

use crate::claim_scene::wait_until_gone;
use crate::git_variables::write_program;

#[test]
fn a_plan_is_executed_task_by_task() {
    play(&[
        (
            "each of them passes",
            plan_text(&[(1, REVERT, &word_check(1)), (2, REVERT, &word_check(2))]),
            |s| {
                let mut session = s.session()?;
                let said = s.begin_in(&mut session, PLAN)?;
                ensure!(
                    said.out.contains(": 2 steps, in your own worktree.\n"),
                    "{}",
                    said.out
                );
                // The command that opens the run begins with its first step, and the end of a step with the next one.
                let mut said = said;
                for step in 1..=2 {
                    ensure!(
                        said.out.contains(&format!("TASK\nStep {step} of "))
                            && said.out.contains(" --next --note "),
                        "{}",
                        said.out
                    );
                    let ticket = said.ticket()?;
                    let waits = s
                        .omo_in_session(&session, &["agent", "next"])?
                        .exits_with(0)?;
                    ensure!(
                        waits
                            .out
                            .starts_with(&format!("WAIT\n  Step {step} is being worked on")),
                        "{}",
                        waits.out
                    );
                    s.lab().write(&format!("words/{step}.txt"), "done\n")?;
                    said = s
                        .omo_in_session(
                            &session,
                            &["agent", "done", "--ticket", &ticket, "--next"],
                        )?
                        .exits_with(0)?;
                }
                ensure!(said.out.contains("DONE\n"), "{}", said.out);
                let said = s
                    .omo_in_session(&session, &["agent", "next"])?
                    .exits_with(0)?;
                ensure!(
                    said.out.starts_with("DONE\n")
                        && said.out.contains("docs/plan.md: 2 of 2 steps done.\n"),
                    "{}",
                    said.out
                );
                ensure!(
                    s.report()?["phase"]["result"] == "complete" || s.standing("2")? == "passed"
                );
                Ok(())
            },
        ),
        (
            "one of them fails thrice, and the plan stops",
            plan_text(&[(1, REVERT, &word_check(1)), (2, REVERT, &word_check(2))]),
            |s| {
                s.begin(PLAN)?;
                for _ in 0..3 {
                    s.is_next(1)?;
                    s.work(1, "other\n")?.exits_with(0)?;
                }
                let said = s.next()?.exits_with(1)?;
                ensure!(
                    said.out.contains("0 of 2 steps done, 1 failed"),
                    "{}",
                    said.out
                );
                ensure!(
                    said.out.contains(
                        "To have a failed step done again once its cause is fixed: omo run retry 1"
                    ),
                    "{}",
                    said.out
                );
                ensure!(s.standing("1")? == "failed");
                Ok(())
            },
        ),
        (
            "one step alone",
            plan_text(&[(1, REVERT, &word_check(1)), (2, REVERT, &word_check(2))]),
            |s| {
                s.begin("--step 2 docs/plan.md")?;
                s.is_next(2)?;
                s.work(2, "done\n")?.exits_with(0)?;
                let said = s.next()?.exits_with(0)?;
                ensure!(said.out.contains("1 of 1 steps done"), "{}", said.out);
                Ok(())
            },
        ),
    ]);
}

#[test]
fn a_cancel_ends_the_check_and_the_commit_of_a_step() {
    let check = format!("[ ! -e words/1.txt ] || {{ {HANGING}; }}");
    play(&[
        ("a check", plan_text(&[(1, REVERT, &check)]), |s| {
            cancel_during_done(s, &["stop"]).map(drop)
        }),
        ("a hook", plan_text(&[(1, REVERT, &word_check(1))]), |s| {
            write_program(&s.lab().project().join(".git/hooks"), "pre-commit", HANGING)?;
            cancel_during_done(s, &["run", "cancel"]).map(drop)
        }),
        (
            "a hook that would let the commit pass by now",
            plan_text(&[(1, REVERT, &word_check(1))]),
            |s| {
                let late = "echo x > \"$HOME/begun\"; until [ -e \"$HOME/cancelled\" ]; do sleep 0.01; done";
                write_program(&s.lab().project().join(".git/hooks"), "pre-commit", late)?;
                let said = cancel_during_done(s, &["run", "cancel"])?;
                ensure!(
                    said.contains("What it was committing was ended; your branch is at "),
                    "{said}"
                );
                Ok(())
            },
        ),
        (
            "a hook behind the commit",
            plan_text(&[(1, REVERT, &word_check(1))]),
            |s| {
                write_program(
                    &s.lab().project().join(".git/hooks"),
                    "post-commit",
                    HANGING,
                )?;
                s.begin(PLAN)?;
                let ticket = s.start("1")?;
                s.lab().write("words/1.txt", "done\n")?;
                let mut done = s.command(&["agent", "done", "--ticket", &ticket]);
                let mut done = done
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()?;
                wait_until("it hangs", || {
                    s.lab().home().join("begun").exists().then_some(())
                })?;
                let said = s.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?.out;
                done.wait()?;
                let head = s.lab().git(&["rev-parse", "--short=7", "HEAD"])?;
                ensure!(
                    said.contains(&format!(
                        "Your branch moved before it ended, to {}.",
                        head.trim()
                    )),
                    "{said}"
                );
                Ok(())
            },
        ),
    ]);
}

/// Leaves a file, and never ends.
const HANGING: &str = "echo x > \"$HOME/begun\"; exec sleep 3301.1";

/// Ends the run with this command while a check or a hook of its step hangs, and gives what it says. Nothing of it is
/// left, and what is staged stays so.
fn cancel_during_done(s: &Steps, cancel: &[&str]) -> Result<String> {
    s.begin(PLAN)?;
    let ticket = s.start("1")?;
    s.lab().write("staged.txt", "of its user\n")?;
    s.git(&["add", "staged.txt"])?;
    s.lab().write("words/1.txt", "done\n")?;
    let status = s.lab().git(&["status", "--porcelain"])?;
    let head = s.lab().git(&["rev-parse", "HEAD"])?;
    let mut done = s.command(&["agent", "done", "--ticket", &ticket]);
    let mut done = done
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    wait_until("it hangs", || {
        s.lab().home().join("begun").exists().then_some(())
    })?;
    let cancelled = s.omo_at_terminal(cancel)?.exits_with(0)?.out;
    if !cancelled.contains(" is cancelled; `omo run resume --run ") {
        done.kill()?;
        bail!("{cancelled}");
    }
    fs::write(s.lab().home().join("cancelled"), "")?;
    let said = Said::of(&done.wait_with_output()?).exits_with(10)?;
    ensure!(said.err.contains("cancelled or stopped"), "{}", said.err);
    wait_until_gone("sleep 3301.1")?;
    ensure!(
        s.lab().git(&["status", "--porcelain"])? == status,
        "{}",
        s.lab().git(&["status", "--porcelain"])?
    );
    ensure!(
        s.lab().git(&["rev-parse", "HEAD"])? == head,
        "the commit was made all the same"
    );
    s.git(&["commit", "-q", "--no-verify", "-m", "mine"])?;
    Ok(cancelled)
}

#[test]
fn what_its_user_commits_meanwhile_is_not_taken_back() {
    let cases: &[Case] = &[(
        "a listed file",
        plan_text(&[(1, REVERT, &word_check(1)), (2, REVERT, &word_check(2))]),
        |s| {
            s.begin(PLAN)?;
            let ticket = s
                .omo_at_terminal(&["agent", "start", "1"])?
                .exits_with(0)?
                .ticket()?;
            s.lab().write("words/1.txt", "of its user\n")?;
            s.git(&["add", "words/1.txt"])?;
            s.git(&["commit", "-q", "-m", "mine"])?;
            s.omo_at_terminal(&["agent", "done", "--ticket", &ticket])?;
            while s.standing("1")? != "failed" {
                s.work(1, "other\n")?;
            }
            let status = s.lab().git(&["status", "--porcelain", "--", "words"])?;
            ensure!(
                status.lines().all(|line| line.starts_with([' ', '?'])),
                "a reversal is staged: {status}"
            );
            let report = s.omo_at_terminal(&["report"])?.out;
            ensure!(report.contains("words/1.txt"), "it is not named: {report}");
            ensure!(
                s.lab().git(&["show", "HEAD:words/1.txt"])? == "of its user\n",
                "the commit is gone"
            );
            Ok(())
        },
    )];
    play(cases);
}

#[test]
fn a_task_here_is_judged_by_what_its_commit_would_hold() {
    let plan = || plan_text(&[(1, "escalate", &word_check(1)), (2, REVERT, &word_check(2))]);
    play(&[
        (
            "a file that its check needs and its plan does not list",
            plan(),
            |s| {
                s.begin(PLAN)?;
                // What its user has not committed is none of the task's.
                s.lab().write("mine.txt", "mine\n")?;
                let ticket = s
                    .omo_at_terminal(&["agent", "start", "1"])?
                    .exits_with(0)?
                    .ticket()?;
                s.lab().write("helper", "done\n")?;
                s.lab().write("words/.keep", "")?;
                std::os::unix::fs::symlink("../helper", s.lab().project().join("words/1.txt"))?;
                let said = s
                    .omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                    .exits_with(0)?;
                ensure!(
                    said.out.contains("Failed: its commit would lack helper"),
                    "{}",
                    said.out
                );
                ensure!(
                    s.lab().git(&["worktree", "list"])?.lines().count() == 1,
                    "the worktree is left"
                );
                ensure!(
                    s.lab()
                        .git(&["log", "--oneline", "--", "words/1.txt"])?
                        .is_empty(),
                    "it was committed"
                );
                Ok(())
            },
        ),
        ("a commit with files of the task and others", plan(), |s| {
            s.begin(PLAN)?;
            let ticket = s
                .omo_at_terminal(&["agent", "start", "1"])?
                .exits_with(0)?
                .ticket()?;
            s.lab().write("words/1.txt", "done\n")?;
            s.lab().write("stray.txt", "stray\n")?;
            s.git(&["add", "."])?;
            s.git(&["commit", "-q", "-m", "mine"])?;
            let head = s.lab().git(&["rev-parse", "HEAD"])?;
            let said = s
                .omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                .exits_with(0)?;
            ensure!(
                said.out.contains("Outside of the task's files: stray.txt"),
                "{}",
                said.out
            );
            ensure!(
                s.standing("1")? == "passed" && s.lab().git(&["rev-parse", "HEAD"])? == head,
                "{}",
                said.out
            );
            let said = s.omo_at_terminal(&["report"])?;
            ensure!(
                said.out
                    .contains(&format!("that it does not list stay: {}", &head[..7])),
                "{}",
                said.out
            );
            Ok(())
        }),
        ("a commit that a hook breaks", plan(), |s| {
            let hook =
                "echo broken > words/1.txt; echo x > stamp.txt; git add words/1.txt stamp.txt";
            write_program(&s.lab().project().join(".git/hooks"), "pre-commit", hook)?;
            s.begin(PLAN)?;
            let said = s.work(1, "done\n")?;
            let why =
                "Failed: hooks of the repository changed stamp.txt, words/1.txt in its commit ";
            ensure!(said.out.contains(why), "{}", said.out);
            ensure!(s.standing("1")? == "failed", "{}", said.out);
            ensure!(
                s.lab().git(&["show", "HEAD:stamp.txt"])? == "x\n",
                "its commit is gone"
            );
            let shown = s.omo_at_terminal(&["run", "show"])?.out;
            ensure!(shown.contains("hooks of the repository changed"), "{shown}");
            Ok(())
        }),
        (
            "a commit that a hook adds to, and a file that git ignores",
            plan_text(&[(1, REVERT, "grep -q done words/1.txt && test -e secret.txt")]),
            |s| {
                write_program(
                    &s.lab().project().join(".git/hooks"),
                    "pre-commit",
                    "echo x > stamp; git add stamp",
                )?;
                s.lab().write(".git/info/exclude", "/secret.txt\n")?;
                s.lab().write("secret.txt", "x\n")?;
                s.begin(PLAN)?;
                let said = s.work(1, "done\n")?.exits_with(0)?;
                ensure!(s.standing("1")? == "passed");
                for said in [
                    said.out,
                    s.omo_at_terminal(&["report"])?.out,
                    s.omo_at_terminal(&["run", "show"])?.out,
                ] {
                    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
                    let hook =
                        "hooks changed stamp in its commit, and its checks are green on that, too";
                    ensure!(said.contains(hook), "{said}");
                    ensure!(
                        said.contains("its checks are green only with the ignored secret.txt"),
                        "{said}"
                    );
                }
                Ok(())
            },
        ),
        ("a commit that its user amends, and a merge", plan(), |s| {
            s.begin(PLAN)?;
            let ticket = s
                .omo_at_terminal(&["agent", "start", "1"])?
                .exits_with(0)?
                .ticket()?;
            s.lab().write("words/1.txt", "done\n")?;
            s.git(&["add", "words/1.txt"])?;
            s.git(&["commit", "-q", "--amend", "--no-edit"])?;
            s.omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                .exits_with(0)?;
            ensure!(s.standing("1")? == "passed");
            let ticket = s
                .omo_at_terminal(&["agent", "start", "2"])?
                .exits_with(0)?
                .ticket()?;
            s.git(&["checkout", "-q", "-b", "side"])?;
            s.lab().write("words/2.txt", "theirs\n")?;
            s.lab().write("side.txt", "side\n")?;
            s.git(&["add", "words/2.txt", "side.txt"])?;
            s.git(&["commit", "-q", "-m", "side"])?;
            s.git(&["checkout", "-q", "-"])?;
            s.git(&["merge", "-q", "--no-ff", "--no-edit", "side"])?;
            s.lab().write("words/2.txt", "done\n")?;
            s.omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                .exits_with(0)?;
            ensure!(s.standing("2")? == "passed");
            Ok(())
        }),
        (
            "one that has passed is done again where a person says so",
            plan(),
            |s| {
                s.begin(PLAN)?;
                s.work(1, "done\n")?.exits_with(0)?;
                let said = s.omo_at_terminal(&["run", "retry", "1"])?.exits_with(5)?;
                ensure!(
                    said.err.contains("1 is passed")
                        && said.err.contains("omo run retry 1 --passed"),
                    "{}",
                    said.err
                );
                let session = s.session()?;
                let said = s
                    .omo_in_session(&session, &["run", "retry", "1", "--passed"])?
                    .exits_with(7)?;
                ensure!(
                    said.err.contains("type `/omo:retry 1 --passed`"),
                    "{}",
                    said.err
                );
                ensure!(s.standing("1")? == "passed");
                s.omo_at_terminal(&["run", "retry", "1", "--passed"])?
                    .exits_with(0)?;
                s.is_next(1)
            },
        ),
    ]);
}

/// The first commands of git that a text prints after one another, run as they are printed.
fn run_printed(s: &Steps, text: &str) -> anyhow::Result<()> {
    let quoted: Vec<&str> = text.split('`').collect();
    let first = quoted
        .iter()
        .position(|part| part.starts_with("git "))
        .context("no command")?;
    let commands = quoted
        .iter()
        .skip(first)
        .step_by(2)
        .take_while(|part| part.starts_with("git "));
    for command in commands {
        s.git(&command.split_whitespace().skip(1).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// How the commit of a step comes from where it was made into the branch.
type Bring = fn(&Steps, commit: &str) -> anyhow::Result<()>;

/// Two steps, the first of which is committed while the user is elsewhere. Without a way into the branch the run says
/// that it is not there, and what to type.
fn play_switch(
    s: &mut Steps,
    switch: &[&str],
    place: &str,
    bring: Option<Bring>,
) -> anyhow::Result<()> {
    s.begin(PLAN)?;
    let branch = s.lab().git(&["branch", "--show-current"])?;
    let ticket = s
        .omo_at_terminal(&["agent", "start", "1"])?
        .exits_with(0)?
        .ticket()?;
    s.git(switch)?;
    s.lab().write("words/1.txt", "done\n")?;
    let said = s
        .omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
        .exits_with(0)?;
    let note = format!(
        "its commit is on {place}; the run began on {}",
        branch.trim()
    );
    ensure!(said.out.contains(&note), "{}", said.out);
    let commit = s.lab().git(&["rev-parse", "HEAD"])?;
    if let Some(bring) = bring {
        bring(s, commit.trim())?;
    } else {
        s.git(&["checkout", "-q", "-f", branch.trim()])?;
        if switch.contains(&"--orphan") {
            s.git(&["branch", "-q", "-D", "other"])?;
        }
        // What no reference names is gone.
        s.git(&["reflog", "expire", "--expire=now", "--all"])?;
        s.git(&["gc", "-q", "--prune=now"])?;
    }
    s.work(2, "done\n")?.exits_with(0)?;
    if bring.is_none() {
        let said = s.next()?.exits_with(1)?;
        let report = s.omo_at_terminal(&["report"])?.out;
        ensure!(
            report.contains("Incomplete: not in your branch"),
            "{report}"
        );
        run_printed(s, &said.out)?;
        s.omo_at_terminal(&["run", "resume"])?.exits_with(0)?;
    }
    s.next()?.exits_with(0)?;
    Ok(())
}

#[test]
fn a_run_is_not_complete_where_the_branch_lacks_the_commit_of_a_step() {
    let plan = || plan_text(&[(1, REVERT, &word_check(1)), (2, REVERT, &word_check(2))]);
    play(&[
        ("on no branch", plan(), |s| {
            play_switch(s, &["checkout", "-q", "--detach"], "no branch", None)
        }),
        ("on another branch", plan(), |s| {
            play_switch(s, &["checkout", "-q", "-b", "other"], "other", None)
        }),
        (
            "on a branch without a common history, which is deleted",
            plan(),
            |s| play_switch(s, &["checkout", "-q", "--orphan", "other"], "other", None),
        ),
        ("picked and reworded", plan(), |s| {
            play_switch(
                s,
                &["checkout", "-q", "-b", "other"],
                "other",
                Some(|s, commit| {
                    s.git(&["checkout", "-q", "@{-1}"])?;
                    s.git(&["cherry-pick", commit])?;
                    s.git(&["commit", "-q", "--amend", "-m", "reworded"])
                }),
            )
        }),
        ("amended on no branch", plan(), |s| {
            play_switch(
                s,
                &["checkout", "-q", "--detach"],
                "no branch",
                Some(|s, _| {
                    s.lab().write("words/1.txt", "done otherwise\n")?;
                    s.git(&["commit", "-q", "-a", "--amend", "-m", "amended"])?;
                    let amended = s.lab().git(&["rev-parse", "HEAD"])?;
                    s.git(&["checkout", "-q", "-"])?;
                    s.git(&["merge", "-q", amended.trim()])
                }),
            )
        }),
    ]);
}

#[test]
fn a_run_that_ends_on_another_branch_names_it_and_what_brings_its_commits_back() {
    let plan = || plan_text(&[(1, REVERT, &word_check(1)), (2, REVERT, &word_check(2))]);
    play(&[
        ("in the last step", plan(), |s| {
            s.begin(PLAN)?;
            s.work(1, "done\n")?.exits_with(0)?;
            s.git(&["checkout", "-q", "-b", "other"])?;
            ends_on_other(s)
        }),
        ("on a branch that is rebased meanwhile", plan(), |s| {
            s.begin(PLAN)?;
            s.git(&["checkout", "-q", "-b", "other"])?;
            s.work(1, "done\n")?.exits_with(0)?;
            s.git(&["checkout", "-q", "-"])?;
            s.git(&["commit", "-q", "--allow-empty", "-m", "upstream"])?;
            s.git(&["rebase", "-q", "@", "other"])?;
            ends_on_other(s)
        }),
    ]);
}

/// The second step is done on another branch, which is then named, with what brings it into the first.
fn ends_on_other(s: &Steps) -> Result<()> {
    s.work(2, "done\n")?.exits_with(0)?;
    s.next()?.exits_with(0)?;
    let report = s.omo_at_terminal(&["report"])?.out;
    let branches = s.lab().git(&["branch", "--format=%(refname:short)"])?;
    let branch = branches
        .lines()
        .find(|branch| *branch != "other")
        .context("one branch alone")?;
    ensure!(
        report.contains(&format!(
            "Complete, but on other, not on {branch} where it began"
        )),
        "{report}"
    );
    ensure!(!report.contains("refs/omo/keep"), "{report}");
    run_printed(s, report.split("Next").nth(1).unwrap_or_default())?;
    ensure!(s.lab().git(&["branch", "--show-current"])?.trim() == branch);
    ensure!(s.lab().git(&["show", "HEAD:words/2.txt"])? == "done\n");
    Ok(())
}
