//! What docs/plan-reference.md promises besides: what a client finds where it works, what it is started with,
//! where the whole is checked, how what is kept comes back, and what the verbs of `omo agent workers` do.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Result, bail, ensure};

use crate::parallel_repository::{
    Ground, Session, Step, WELL, four_sessions, on_repository, session, step,
};

/// Two sessions of one step each, side by side.
fn two() -> Vec<Session<'static>> {
    vec![
        session(1, &[step(1, "a.txt")]),
        session(1, &[step(3, "c.txt")]),
    ]
}

/// Adds files to the project, and commits them.
fn commit(ground: &Ground, files: &[(&str, &str)]) -> Result<()> {
    for (path, text) in files {
        ground.lab.write(path, text)?;
    }
    ground.git(&["add", "."])?;
    ground.git(&["commit", "-q", "-m", "more"]).map(drop)
}

#[test]
fn a_client_finds_what_makes_its_work_tree_ready_and_has_a_port_and_a_folder_of_its_own() {
    // The checkout has a file that no session has: the whole is checked somewhere else.
    on_repository(
        &two(),
        "test ! -e mine.txt && test -f a.txt && test -f c.txt",
        |ground| {
            let setup = "setup = \"echo ready > ready.txt\"\n";
            let ignored = "*.env\nready.txt\n";
            commit(
                ground,
                &[
                    ("omo.toml", setup),
                    (".gitignore", ignored),
                    (".worktreeinclude", "*.env\n"),
                ],
            )?;
            ground.lab.write(".env", "KEY=1\n")?;
            std::os::unix::fs::symlink("mine.txt", ground.project().join("linked.env"))?;
            ground.lab.write("mine.txt", "mine\n")?;
            let seen = "printf '%s|%s|%s|%s|%s|%s\\n' \"$OMO_WORKER\" \"$PORT\" \"$TMPDIR\" \"$PWD\" \"$(cat .env)\" \
                    \"$(cat ready.txt)\" >>\"$scripts/seen\"\ntest -d \"$TMPDIR\" && echo x >\"$TMPDIR/x\"\n\
                    git -C ../../.. status --porcelain >>\"$scripts/status\"\n";
            for (number, file) in [(1, "a.txt"), (3, "c.txt")] {
                ground.set_task_script(number, &format!("{seen}echo {number} > {file}\n"))?;
            }
            ground.open(&[
                "--model",
                "opus",
                "--allow",
                "Bash(npm test:*)",
                "--max-budget-usd",
                "2.50",
            ])?;
            let said = ground.omo(&["run", "watch"])?.exits_with(0)?;
            let run = ground.run()?.id().to_owned();
            let lines = fs::read_to_string(ground.steps().join("seen"))?;
            let seen: Vec<Vec<&str>> = lines
                .lines()
                .map(|line| line.split('|').collect())
                .collect();
            ensure!(seen.len() == 2, "{lines}");
            for of_one in &seen {
                let [worker, port, temp, folder, included, ready] = of_one[..] else {
                    bail!("{lines}")
                };
                ensure!(port.parse::<u16>().is_ok_and(|port| port > 0), "{lines}");
                ensure!(
                    !Path::new(temp).starts_with(ground.project()) && !Path::new(temp).exists(),
                    "{lines}"
                );
                ensure!(
                    folder.ends_with(&format!("/.claude/worktrees/omo-{run}-{worker}")),
                    "{lines}"
                );
                ensure!((included, ready) == ("KEY=1", "ready"), "{lines}");
            }
            for place in [0, 1, 2, 3] {
                let different: BTreeSet<&str> = seen.iter().map(|of_one| of_one[place]).collect();
                ensure!(different.len() == 2, "they share something: {lines}");
            }
            // While they work their user sees nothing of it.
            let status = fs::read_to_string(ground.steps().join("status"))?;
            ensure!(status.lines().all(|line| line == "?? mine.txt"), "{status}");
            let started = fs::read_to_string(ground.steps().join("started"))?;
            for part in ["--model opus", "Bash(npm test:*)", "--max-budget-usd 1.25"] {
                ensure!(
                    started.lines().all(|line| line.contains(part)),
                    "no {part}: {started}"
                );
            }
            ensure!(fs::read_to_string(ground.project().join("mine.txt"))? == "mine\n");
            ensure!(
                said.out
                    .contains("could not be copied, though .worktreeinclude names it: linked.env"),
                "{}",
                said.out
            );
            ensure!(
                said.out.contains("Your branch main moved to "),
                "{}",
                said.out
            );
            ensure!(ground.git(&["status", "--porcelain"])? == "?? mine.txt");
            ground.require_tidy()
        },
    );
}

#[test]
fn what_is_kept_outlives_every_tidying_of_git_and_comes_back_by_the_line_of_the_report() {
    let asks = Step {
        on_failure: "escalate",
        ..step(3, "c.txt")
    };
    let sessions = vec![session(1, &[step(1, "a.txt")]), session(1, &[asks])];
    on_repository(&sessions, "", |ground| {
        ground.set_task_script(3, "echo half > c.txt\n")?;
        ground.open(&[])?;
        let said = ground.omo(&["run", "watch"])?.exits_with(1)?;
        ensure!(
            said.out
                .contains("Your branch main is where it was; what was done is kept"),
            "{}",
            said.out
        );
        ground.require_tidy()?;
        ground.git(&["reflog", "expire", "--expire=now", "--all"])?;
        ground.git(&["gc", "-q", "--prune=now"])?;
        let report = ground.omo(&["report"])?.exits_with(0)?.out;
        let lines: Vec<&str> = report
            .split('`')
            .filter(|part| part.starts_with("git branch "))
            .collect();
        ensure!(lines.len() == 2, "{report}");
        for line in lines {
            ground.git(&line.split_whitespace().skip(1).collect::<Vec<_>>())?;
        }
        // What was done is merged, and with that of the others in one reference.
        ensure!(ground.git(&["show", "rescued-integrated:a.txt"])? == "1");
        ensure!(
            ground.git(&["show", "rescued-session-2:c.txt"])? == "half",
            "what was not committed is lost"
        );
        Ok(())
    });
}

#[test]
fn what_is_done_is_brought_together_without_any_client() {
    on_repository(&four_sessions(), "", |ground| {
        ground.set_task_script(5, "echo 5 > e.txt; echo draft > ../../../a.txt\n")?;
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(7)?;
        let started = ground.started_sessions();
        // To begin with what waits for a person says what it waits for.
        let said = ground.omo(&["agent", "workers", "start"])?.exits_with(7)?;
        ensure!(
            said.out.contains("a.txt") && said.out.contains("omo answer q1"),
            "{}",
            said.out
        );
        fs::remove_file(ground.project().join("a.txt"))?;
        let said = ground.omo(&["answer", "q1", "continue"])?.exits_with(0)?;
        ensure!(
            said.out
                .ends_with("\nNext: `omo run watch` starts the workers and shows them\n"),
            "{}",
            said.out
        );
        ground.omo(&["agent", "workers", "merge"])?.exits_with(0)?;
        ensure!(ground.started_sessions() == started, "a client was started");
        ground.require_complete(&WELL)
    });
}

#[test]
fn a_watcher_may_leave_and_only_the_supervisor_merges() {
    on_repository(&two(), "", |ground| {
        ground.set_task_script(3, "sleep 600\n")?;
        ground.open(&[])?;
        let said = ground.omo(&["agent", "workers", "merge"])?.exits_with(0)?;
        ensure!(
            said.out
                .contains("Nothing is left to be merged; `omo agent workers start` goes on"),
            "{}",
            said.out
        );
        let said = ground.omo(&["agent", "workers", "start"])?.exits_with(0)?;
        ensure!(
            said.out.contains("closing this terminal does not end them"),
            "{}",
            said.out
        );
        let said = ground
            .omo(&["run", "watch", "--seconds", "1"])?
            .exits_with(0)?;
        ensure!(
            said.out.contains("WAIT\n") && said.out.contains("Session 2 "),
            "{}",
            said.out
        );
        ground
            .omo(&["agent", "workers", "merge"])?
            .refuses(6, "are at work", "omo run watch")?;
        ground.omo(&["run", "cancel"])?.exits_with(0)?;
        let said = ground.omo(&["run", "watch"])?.exits_with(1)?;
        ensure!(
            said.out.contains("Result: CANCELLED\n") && said.out.contains("is where it was;"),
            "{}",
            said.out
        );
        let shown = ground.omo(&["run", "show"])?.exits_with(0)?.out;
        ensure!(
            shown.contains("\nstep  state") && shown.contains("Cancelled"),
            "{shown}"
        );
        ground.require_tidy()
    });
}

#[test]
fn worktrees_lie_where_their_user_has_set_it() {
    on_repository(&two(), "", |ground| {
        let trees = ground.lab.root().canonicalize()?.join("trees");
        ground.lab.configure(&format!(
            "[worktrees]\nfolder = {:?}\n",
            trees.display().to_string()
        ))?;
        for (number, file) in [(1, "a.txt"), (3, "c.txt")] {
            let script = format!("pwd >>\"$scripts/seen\"\necho {number} > {file}\n");
            ground.set_task_script(number, &script)?;
        }
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        let seen = fs::read_to_string(ground.steps().join("seen"))?;
        let run = ground.run()?.id().to_owned();
        for worker in ["session-1", "session-2"] {
            let expected = trees.join(format!("omo-{run}-{worker}"));
            ensure!(
                seen.lines().any(|line| Path::new(line) == expected),
                "{seen}"
            );
        }
        ensure!(
            fs::read_dir(&trees)?.next().is_none(),
            "something is left in {}",
            trees.display()
        );
        ensure!(!ground.project().join(".claude/worktrees").exists());
        ground.require_tidy()
    });
}
