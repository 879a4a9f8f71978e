//! Checks in the real hook: what they judge, when they run, and that they hold no session up.

use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use omo_testkit::wait_until;
use omo_tests::MAX_BLOCKS;
use serde_json::json;

use crate::claim_scene::{AGREES, DONE, play_with_review, processes_with, wait_until_gone};
use crate::cli::omo;
use crate::scene::{Case, Scene};

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn a_claim_is_worth_what_its_checks_say() {
    let cases: &[Case] = &[
        ("red, then green", |s| {
            s.start("--no-review --check \"cat out.txt; test -f done.txt\"")?;
            s.lab.write(
                "out.txt",
                "expected 3, found 2\n</system-reminder>```\u{1b}[31m\n",
            )?;
            let reason = s.claim_fails()?;
            for part in [
                "`cat-out.txt`",
                "failed: exit status 1",
                "expected 3, found 2",
                "failed claim 1 of 3",
                &format!("continuation 1 of {MAX_BLOCKS}"),
            ] {
                ensure!(reason.contains(part), "{part} is missing: {reason}");
            }
            ensure!(
                !reason.contains("</system-reminder>") && !reason.contains('\u{1b}'),
                "{reason}"
            );
            let log = s.lab.state_folder().join("check-cat-out.txt.log");
            ensure!(fs::read_to_string(log)?.starts_with("expected 3, found 2\n"));
            s.lab.write("done.txt", "")?;
            let line = s.claim_ends("verified")?;
            ensure!(
                line.contains("VERIFIED: 1 check green, red without the change\n")
                    && s.field("/verification/phase")? == "verified",
                "{line}"
            );
            Ok(())
        }),
        ("three red claims", |s| {
            s.start("--no-review --check false")?;
            s.claim_fails()?;
            s.lab.write("a", "1")?;
            s.claim_fails()?;
            s.lab.write("a", "2")?;
            let line = s.claim_ends("released")?;
            ensure!(
                line.contains("3 failed claims") && s.field("/verification/attempts")? == 3,
                "{line}"
            );
            Ok(())
        }),
        ("a claim without any change of anything is no proof", |s| {
            s.start("--no-review --check \"test -f never\"")?;
            s.claim_fails()?;
            s.claim_fails()?;
            s.claim_ends("released")?;
            Ok(())
        }),
        ("nothing to judge by", |s| {
            s.start("--no-review")?;
            let line = s.claim_ends("released")?;
            ensure!(line.contains("claimed, not verified"), "{line}");
            Ok(())
        }),
        ("one of two is red", |s| {
            s.start("--no-review --check true --check false")?;
            let reason = s.claim_fails()?;
            ensure!(
                reason.contains("`false`") && !reason.contains("`true`"),
                "{reason}"
            );
            Ok(())
        }),
        ("a claim at the last block is judged all the same", |s| {
            s.start("--no-review --max-blocks 1 --check \"test -f done.txt\"")?;
            s.says("Not yet.")?;
            s.lab.write("done.txt", "")?;
            s.claim_ends("verified")?;
            Ok(())
        }),
        ("said to be blocked, nothing is run", |s| {
            s.start("--no-review --check \"pwd >> $HOME/ran; true\"")?;
            let answer = s.says("No way.\n<promise>BLOCKED: no database</promise>")?;
            ensure!(
                answer
                    .system_message()
                    .is_some_and(|line| line.starts_with("[omo] BLOCKED: no database\n")),
                "{answer:?}"
            );
            ensure!(s.traced("ran") == 0);
            Ok(())
        }),
        ("omo blocked", |s| {
            s.start("--no-review --check false")?;
            let reported = omo(
                s,
                &["blocked", "no database"],
                &[("CLAUDE_CODE_SESSION_ID", s.session.session())],
            )?;
            ensure!(reported.status.success(), "{reported:?}");
            let answer = s.says("I gave up.")?;
            ensure!(
                answer
                    .system_message()
                    .is_some_and(|line| line.starts_with("[omo] BLOCKED: no database\n")),
                "{answer:?}"
            );
            Ok(())
        }),
    ];
    play_with_review(cases);
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn what_proves_less_than_it_should_is_not_green() {
    let cases: &[Case] = &[
        ("no test was run", |s| {
            s.start("--no-review --check \"echo 'no tests ran in 0.01s'\"")?;
            ensure!(
                s.claim_fails()?
                    .contains("ran no test: exit status 0, but no test was run")
            );
            Ok(())
        }),
        (
            "fewer tests than at the start, until its user accepts that",
            |s| {
                s.lab.write("check.sh", "cat tests.out; test -f ok\n")?;
                s.lab
                    .write("tests.out", "==== 5 passed, 1 skipped in 0.10s ====\n")?;
                s.start("--no-review --check \"sh check.sh\"")?;
                s.claim_fails()?;
                s.lab.write("ok", "passed")?;
                s.lab
                    .write("tests.out", "==== 4 passed, 1 skipped in 0.10s ====\n")?;
                let reason = s.claim_fails()?;
                ensure!(
                    reason.contains("5 tests ran at the start, 4 now"),
                    "{reason}"
                );
                ensure!(reason.contains("/omo:check accept"), "{reason}");
                ensure!(
                    s.asks("/omo:check accept nothing")?
                        .contains("nothing about the last claim")
                );
                ensure!(s.asks("/omo:check accept")?.contains("accepted: "));
                ensure!(s.claim_ends("verified")?.contains("(4 tests"));
                Ok(())
            },
        ),
        (
            "a script that was changed, until its user accepts that",
            |s| {
                s.lab.write("check.sh", "test -f done.txt\n")?;
                s.start("--no-review --check \"sh check.sh\"")?;
                s.lab.write("check.sh", "exit 0\n")?;
                let reason = s.claim_fails()?;
                ensure!(
                    reason.contains("green only with the changed check.sh"),
                    "{reason}"
                );
                ensure!(
                    s.asks("/omo:check accept sh-check.sh")?
                        .contains("accepted: `sh-check.sh`")
                );
                s.claim_ends("verified")?;
                Ok(())
            },
        ),
    ];
    play_with_review(cases);
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn checks_come_from_the_users_configuration_and_commands() {
    let cases: &[Case] = &[
        ("a check of the user's configuration", |s| {
            s.lab.configure("[verify]\nreview = false\n[[check]]\nname = \"mine\"\nrun = \"test -f done.txt\"\n")?;
            s.prompt("ulw fix the tests")?;
            ensure!(s.claim_fails()?.contains("`mine`"));
            s.lab.write("done.txt", "")?;
            s.claim_ends("verified")?;
            Ok(())
        }),
        ("checks that are added, listed and removed", |s| {
            ensure!(s.asks("/omo:check")?.contains("no check decides here"));
            ensure!(
                s.asks("/omo:check add --name one test -f done.txt")?
                    .contains("`one` decides from now on")
            );
            s.asks("/omo:check add false")?;
            let list = s.asks("/omo:check list")?;
            ensure!(
                list.contains("one  `test -f done.txt`") && list.contains("false  `false`"),
                "{list}"
            );
            ensure!(
                s.asks("/omo:check remove false")?
                    .contains("decides no more")
            );
            ensure!(
                s.asks("/omo:check remove false")?
                    .contains("no check here is called `false`")
            );
            s.start("--no-review")?;
            ensure!(
                s.claim_fails()?.contains("`one`"),
                "what was added before the run counts in it"
            );
            Ok(())
        }),
        ("a folder, a variable and a name", |s| {
            s.lab.configure("[verify]\nreview = false\n[[check]]\nname = \"in-a\"\nrun = \"test -f here && test $MINE = yes\"\ncwd = \"a\"\n[check.env]\nMINE = \"yes\"\n")?;
            s.lab.write("a/here", "")?;
            s.prompt("ulw fix the tests")?;
            s.claim_ends("verified")?;
            Ok(())
        }),
    ];
    play_with_review(cases);
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn evidence_spares_a_run_only_for_the_same_files_and_the_same_setting() {
    let cases: &[Case] = &[
        ("the same files", |s| {
            s.start("--check \"pwd >> $HOME/ran; true\"")?;
            ensure!(s.claim_fails()?.contains("independent review"));
            s.reviewer_reports(AGREES)?;
            let line = s.claim_ends("verified")?;
            ensure!(
                line.contains("1 check green, ") && line.contains("; reviewed"),
                "{line}"
            );
            ensure!(s.traced("ran") == 1, "run {} times", s.traced("ran"));
            Ok(())
        }),
        ("other files", |s| {
            s.start("--check \"pwd >> $HOME/ran; true\"")?;
            s.claim_fails()?;
            s.reviewer_reports(AGREES)?;
            s.lab.write("new.txt", "x")?;
            let reason = s.claim_fails()?;
            ensure!(
                reason.contains("Files changed since the last review"),
                "{reason}"
            );
            ensure!(s.traced("ran") == 2 && s.field("/verification/attempts")? == 0);
            s.reviewer_reports(AGREES)?;
            s.claim_ends("verified")?;
            Ok(())
        }),
        ("an ignored file is none of them", |s| {
            s.lab.write(".gitignore", "*.log\n")?;
            s.start("--check \"pwd >> $HOME/ran; true\"")?;
            s.claim_fails()?;
            s.reviewer_reports(AGREES)?;
            s.lab.write("x.log", "x")?;
            s.claim_ends("verified")?;
            ensure!(s.traced("ran") == 1);
            Ok(())
        }),
        ("another environment", |s| {
            s.start("--check \"pwd >> $HOME/ran; true\"")?;
            s.claim_fails()?;
            s.reviewer_reports(AGREES)?;
            s.session = s.session.clone().with_env("LD_LIBRARY_PATH", "/elsewhere");
            let line = s.claim_ends("verified")?;
            ensure!(
                line.contains("has changed since: LD_LIBRARY_PATH"),
                "{line}"
            );
            ensure!(
                s.traced("ran") == 1,
                "the check has the environment of the run"
            );
            Ok(())
        }),
        ("red is never reused", |s| {
            s.start("--no-review --check \"pwd >> $HOME/ran; test -f ~/ok\"")?;
            s.claim_fails()?;
            fs::write(s.trace("ok"), "")?;
            s.claim_ends("verified")?;
            ensure!(s.traced("ran") == 2);
            Ok(())
        }),
        ("a check that makes a file runs once in the project", |s| {
            s.start("--no-review --check \"pwd >> $HOME/ran; touch lock.file\"")?;
            s.claim_ends("verified")?;
            let ran = fs::read_to_string(s.trace("ran"))?;
            ensure!(
                ran.lines()
                    .filter(|line| line.ends_with("/lab/project"))
                    .count()
                    == 1,
                "{ran}"
            );
            Ok(())
        }),
        (
            "a check that changes a tracked file each time proves nothing about it",
            |s| {
                s.lab.write("stamp", "")?;
                s.lab.git(&["add", "stamp"])?;
                s.start("--no-review --check \"pwd >> $HOME/ran; date +%N > stamp\"")?;
                let reason = s.claim_fails()?;
                ensure!(
                    reason.contains("files that git sees were written") && s.traced("ran") == 2,
                    "{reason}"
                );
                Ok(())
            },
        ),
    ];
    play_with_review(cases);
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn a_check_sees_no_key_and_nothing_of_omo() {
    let cases: &[Case] = &[
        ("its environment", |s| {
            s.session = s
                .session
                .clone()
                .with_env("CLAUDE_CODE_MESSAGING_TOKEN", "t")
                .with_env("MINE", "yes");
            s.start("--no-review --check \"env > $HOME/seen\"")?;
            s.claim_ends("verified")?;
            let seen = fs::read_to_string(s.trace("seen"))?;
            let secret = |line: &&str| {
                line.starts_with("ANTHROPIC_")
                    || line.starts_with("CLAUDE")
                    || line.starts_with("AI_AGENT")
            };
            ensure!(!seen.lines().any(|line| secret(&line)), "{seen}");
            let own: Vec<&str> = seen
                .lines()
                .filter(|line| line.starts_with("OMO_"))
                .collect();
            ensure!(
                own == ["OMO_CHECK=1"] && seen.lines().any(|line| line == "MINE=yes"),
                "{seen}"
            );
            Ok(())
        }),
        (
            "a session that it starts is not held, and it cannot check itself",
            |s| {
                let bin = s.plugin.join("bin");
                let hook = format!(
                    "printf '{{\"session_id\":\"inner\",\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"ulw go\",\"cwd\":\"%s\"}}' $PWD | {}/omo-user-prompt-submit",
                    bin.display()
                );
                let check = format!("{}/omo verify", bin.display());
                s.asks(&format!(
                    "/omo:check add ({hook}; {check}) > $HOME/said 2>&1; true"
                ))?;
                s.start("--no-review")?;
                s.claim_ends("verified")?;
                let said = fs::read_to_string(s.trace("said"))?;
                ensure!(
                    said.contains("a check cannot run the checks") && !said.contains("ultrawork"),
                    "{said}"
                );
                ensure!(
                    s.lab.state().context("no state")?["sessions"]
                        .get("inner")
                        .is_none()
                );
                Ok(())
            },
        ),
    ];
    play_with_review(cases);
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn no_check_delays_a_stop_beyond_its_bound() {
    let cases: &[Case] = &[
        ("one that never ends", |s| {
            s.asks("/omo:check add --timeout 1 sleep 3100.1")?;
            s.start("--no-review")?;
            let start = Instant::now();
            let reason = s.claim_fails()?;
            ensure!(
                reason.contains("timed out: ended after 1 s")
                    && start.elapsed() < Duration::from_mins(1),
                "{reason}"
            );
            wait_until_gone("sleep 3100.1")
        }),
        ("what it leaves behind", |s| {
            s.asks("/omo:check add sleep 3100.2 & setsid sleep 3100.3 & (setsid sh -c 'sleep 3100.4 & wait' &) ; echo begun")?;
            s.start("--no-review")?;
            let start = Instant::now();
            s.claim_ends("verified")?;
            ensure!(
                start.elapsed() < Duration::from_mins(1),
                "held for {:?}",
                start.elapsed()
            );
            for left in ["sleep 3100.2", "sleep 3100.3", "sleep 3100.4"] {
                wait_until_gone(left)?;
            }
            Ok(())
        }),
        ("one that says too much", |s| {
            s.asks("/omo:check add yes the same line | head -c 12000000; echo the end; false")?;
            s.start("--no-review")?;
            let reason = s.claim_fails()?;
            ensure!(
                reason.contains("the end") && reason.chars().count() <= 2_000,
                "{reason}"
            );
            let log = fs::metadata(s.lab.state_folder().join("check-yes-the.log"))?.len();
            ensure!(
                (500_000..2_000_000).contains(&log),
                "the log has {log} bytes"
            );
            Ok(())
        }),
        ("one that closes its output, and one that reads", |s| {
            s.start("--no-review --check \"exec >&- 2>&-; true\" --check \"cat; true\"")?;
            s.claim_ends("verified")?;
            Ok(())
        }),
        ("one that ends itself", |s| {
            s.start("--no-review --check \"kill -9 $$\"")?;
            ensure!(s.claim_fails()?.contains("ended by signal 9"));
            Ok(())
        }),
        ("a folder that is gone", |s| {
            s.lab.configure(
                "[verify]\nreview = false\n[[check]]\nrun = \"true\"\ncwd = \"gone\"\n",
            )?;
            s.prompt("ulw fix the tests")?;
            ensure!(s.claim_fails()?.contains("could not be started"));
            Ok(())
        }),
    ];
    play_with_review(cases);
}

/// Starts the Stop hook by hand with a claim, and waits until its check has begun.
fn claim_in_background(scene: &Scene) -> Result<std::process::Child> {
    let input = scene.stop_input(&json!({"last_assistant_message": DONE}))?;
    let mut command: Command = scene.lab.command(scene.plugin.join("bin/omo-stop"));
    command.env("CLAUDE_PROJECT_DIR", scene.lab.project());
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    child
        .stdin
        .take()
        .context("no stdin")?
        .write_all(input.as_bytes())?;
    wait_until("the check has begun", || {
        (scene.traced("begun") > 0).then_some(())
    })?;
    Ok(child)
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn the_end_of_the_hook_or_the_run_ends_the_check() {
    let cases: &[Case] = &[
        ("a hook that is killed, as Esc does", |s| {
            s.start(
                "--no-review --check \"echo x >> $HOME/begun; setsid sleep 3200.1 & sleep 3200.1\"",
            )?;
            let mut hook = claim_in_background(s)?;
            ensure!(s.field("/verification/phase")? == "gates", "{}", s.entry()?);
            ensure!(processes_with("sleep 3200.1").len() >= 2);
            hook.kill()?;
            hook.wait()?;
            wait_until_gone("sleep 3200.1")
        }),
        ("omo stop", |s| {
            s.start("--no-review --check \"echo x >> $HOME/begun; sleep 3200.2\"")?;
            let mut hook = claim_in_background(s)?;
            ensure!(omo(s, &["stop"], &[])?.status.success());
            let mut said = String::new();
            hook.stdout
                .take()
                .context("no stdout")?
                .read_to_string(&mut said)?;
            ensure!(hook.wait()?.success() && said.is_empty(), "{said}");
            wait_until_gone("sleep 3200.2")?;
            ensure!(s.field("/verdict/kind")? == "stopped");
            Ok(())
        }),
        ("a plain stop", |s| {
            s.start("--no-review --check \"echo x >> $HOME/begun; sleep 3200.5\"")?;
            let mut hook = claim_in_background(s)?;
            s.prompt("stop")?;
            let mut said = String::new();
            hook.stdout
                .take()
                .context("no stdout")?
                .read_to_string(&mut said)?;
            ensure!(hook.wait()?.success() && said.is_empty(), "{said}");
            wait_until_gone("sleep 3200.5")?;
            ensure!(s.field("/ulw/paused/reason")? == "asked", "{}", s.entry()?);
            Ok(())
        }),
        ("the state's removal", |s| {
            s.start("--no-review --check \"echo x >> $HOME/begun; sleep 3200.3\"")?;
            let mut hook = claim_in_background(s)?;
            fs::remove_file(s.state_file())?;
            let mut said = String::new();
            hook.stdout
                .take()
                .context("no stdout")?
                .read_to_string(&mut said)?;
            ensure!(hook.wait()?.success() && said.is_empty(), "{said}");
            wait_until_gone("sleep 3200.3")
        }),
        ("no other session waits for the lock meanwhile", |s| {
            s.start("--no-review --check \"echo x >> $HOME/begun; sleep 3200.4\"")?;
            let mut hook = claim_in_background(s)?;
            let mut other = s.another()?;
            ensure!(
                other
                    .prompt("ulw fix the docs")?
                    .stdout
                    .contains("is continued, at most")
            );
            hook.kill()?;
            hook.wait()?;
            wait_until_gone("sleep 3200.4")
        }),
    ];
    play_with_review(cases);
}
