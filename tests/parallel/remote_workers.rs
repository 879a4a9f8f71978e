//! Sessions that are started on another host, with a pushed branch as all that the two share: what is pushed is judged
//! here, what the command says counts for nothing, and nothing stays on the remote.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use anyhow::{Context, Result, ensure};
use omo_engine::parallel_state::GroupStatus;
use omo_engine::state::{TaskState, TaskStatus};
use omo_testkit::wait_until;

use crate::kills::kill_supervisor;
use crate::parallel_repository::{Ground, Session, on_repository, session, step};
use crate::second_host::Host;

const WELL: [(u32, &str); 3] = [(1, "a.txt"), (2, "b.txt"), (3, "c.txt")];

/// Two sessions side by side, the first one of two steps.
fn two() -> Vec<Session<'static>> {
    vec![
        session(1, &[step(1, "a.txt"), step(2, "b.txt")]),
        session(1, &[step(3, "c.txt")]),
    ]
}

/// Plays a case with a second host.
fn on_host(case: impl FnOnce(&Ground, &Host) -> Result<()>) {
    on_repository(
        &two(),
        "test -f a.txt && test -f b.txt && test -f c.txt",
        |ground| {
            let host = Host::new(ground, &WELL)?;
            case(ground, &host)?;
            host.files().require_clean_remote(ground)
        },
    );
}

fn task(ground: &Ground, id: &str) -> Result<TaskState> {
    ground
        .state()?
        .tasks
        .get(id)
        .cloned()
        .context("no such step")
}

/// What a step ended with.
fn evidence(ground: &Ground, id: &str) -> Result<String> {
    Ok(task(ground, id)?
        .last_end
        .context("it has not ended")?
        .evidence)
}

/// What was in the way is gone, and the run comes to its end.
fn goes_on(ground: &Ground, host: &Host, number: u32, file: &str) -> Result<()> {
    host.script(number, &format!("echo {number} > {file}\n"))?;
    ground.open(&["--resume"])?;
    ground.omo(&["run", "watch"])?.exits_with(0)?;
    ground.require_complete(&WELL)
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn two_sessions_on_another_host_come_to_one_branch() {
    on_host(|ground, host| {
        ground.open(&["--launcher", &host.launcher()])?;
        let said = ground.omo(&["run", "watch"])?;
        ensure!(said.status == 0, "{}\n{}", said.out, said.err);
        ground.require_complete(&WELL)?;
        ensure!(
            ground.git(&["for-each-ref", "refs/omo"])?.is_empty(),
            "something was kept that was merged"
        );
        ensure!(
            ground.started_sessions().is_empty(),
            "a client was started here"
        );
        ensure!(host.launched().len() == 2, "{:?}", host.launched());
        for id in ["1", "2", "3"] {
            let commit = task(ground, id)?
                .last_end
                .and_then(|end| end.commit)
                .context("no commit")?;
            let shown = ground.git(&["log", "-1", "--format=%an|%B", &commit])?;
            ensure!(
                shown.starts_with(&format!("Host|feat: write {id}")),
                "{shown}"
            );
            ensure!(
                shown.ends_with(&format!("Omo-Run: {}\nOmo-Task: {id}", ground.run()?.id())),
                "{shown}"
            );
            ensure!(task(ground, id)?.attempts == 1);
        }
        Ok(())
    });
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_command_that_ends_well_and_pushes_nothing_has_failed() {
    on_host(|ground, host| {
        let before = ground.git(&["rev-parse", "HEAD"])?;
        host.script(3, "exit 0\n")?;
        ground.open(&["--launcher", &host.launcher()])?;
        ground.omo(&["run", "watch"])?.exits_with(1)?;
        ensure!(task(ground, "3")?.attempts == 3, "{:?}", task(ground, "3")?);
        ensure!(
            evidence(ground, "3")?.contains("no commit on the branch"),
            "{}",
            evidence(ground, "3")?
        );
        ensure!(ground.git(&["rev-parse", "HEAD"])? == before);
        ground.require_tidy()?;
        goes_on(ground, host, 3, "c.txt")
    });
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_pushed_task_counts_and_only_the_one_behind_it_is_done_again() {
    on_host(|ground, host| {
        host.script(
            2,
            "if ! [ -e \"$HOME/once\" ]; then touch \"$HOME/once\"; exit 1; fi\necho 2 > b.txt\n",
        )?;
        ground.open(&["--launcher", &host.launcher()])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ground.require_complete(&WELL)?;
        ensure!((task(ground, "1")?.attempts, task(ground, "2")?.attempts) == (1, 2));
        ensure!(host.launched().len() == 3, "{:?}", host.launched());
        Ok(())
    });
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_history_that_was_rewritten_is_put_to_a_person() {
    on_host(|ground, host| {
        let rewritten = "git checkout -q --orphan other; echo 3 > c.txt; git add -A; git commit -q -m other\n\
                         git push -q -f origin \"HEAD:$branch\"; exit 0\n";
        host.script(3, rewritten)?;
        ground.open(&["--launcher", &host.launcher()])?;
        let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
        ensure!(said.out.contains("history was rewritten"), "{}", said.out);
        let status = ground
            .state()?
            .parallel
            .and_then(|parallel| parallel.groups.get("session-1").map(|known| known.status));
        ensure!(status == Some(GroupStatus::Merged), "{status:?}");
        host.files().require_clean_remote(ground)?;
        host.script(3, "echo 3 > c.txt\n")?;
        ground.omo(&["answer", "q1", "continue"])?.exits_with(0)?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ensure!(task(ground, "3")?.attempts == 1, "an attempt was used");
        ground.require_complete(&WELL)
    });
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_connection_that_is_cut_uses_no_attempt_and_loses_nothing_that_was_pushed() {
    on_host(|ground, host| {
        // It stays at work on the other host until the test is over.
        host.script(
            2,
            "if ! [ -e \"$HOME/cut\" ]; then touch \"$HOME/cut\"; sleep 5; fi\necho 2 > b.txt\n",
        )?;
        ground.open(&["--launcher", &host.launcher()])?;
        ground.omo(&["agent", "workers", "start"])?.exits_with(0)?;
        wait_until("the second step", || {
            host.home().join("cut").exists().then_some(())
        })?;
        let process = || {
            let state = ground.state().ok()?;
            state
                .parallel?
                .groups
                .get("session-1")?
                .process
                .as_ref()
                .map(|process| process.pid)
        };
        let process = wait_until("the process of the session", process)?;
        let process =
            rustix::process::Pid::from_raw(i32::try_from(process)?).context("no process")?;
        rustix::process::kill_process(process, rustix::process::Signal::KILL)?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        let (first, second) = (task(ground, "1")?, task(ground, "2")?);
        ensure!(
            (first.attempts, second.attempts, second.lost_workers) == (1, 1, 1),
            "{first:?} {second:?}"
        );
        ensure!(second.status == TaskStatus::Passed);
        ground.require_complete(&WELL)
    });
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn what_was_pushed_and_cannot_be_fetched_is_asked_about_and_uses_no_attempt() {
    on_host(|ground, host| {
        // The branches can be listed, and nothing can be had of them.
        let (broken, pack) = (
            ground.lab.root().join("broken"),
            ground.lab.root().join("pack"),
        );
        fs::write(&broken, "")?;
        fs::write(
            &pack,
            format!(
                "#!/bin/sh\n[ -e '{}' ] && exit 1\nexec \"$@\"\n",
                broken.display()
            ),
        )?;
        fs::set_permissions(&pack, fs::Permissions::from_mode(0o755))?;
        ground.git(&[
            "config",
            "--global",
            "uploadpack.packObjectsHook",
            &pack.display().to_string(),
        ])?;
        ground.open(&["--launcher", &host.launcher()])?;
        let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
        ensure!(
            said.out.contains("could not be fetched from origin"),
            "{}",
            said.out
        );
        ensure!(
            !said.out.contains("--delete omo/"),
            "the only place that has it is to be emptied: {}",
            said.out
        );
        ensure!(
            (task(ground, "1")?.attempts, task(ground, "3")?.attempts) == (0, 0),
            "an attempt was used"
        );
        fs::remove_file(&broken)?;
        for question in ["q1", "q2"] {
            ground
                .omo(&["answer", question, "continue"])?
                .exits_with(0)?;
            let said = ground.omo(&["run", "watch"])?;
            ensure!(
                said.status == if question == "q1" { 7 } else { 0 },
                "{}",
                said.out
            );
        }
        ground.require_complete(&WELL)
    });
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_remote_that_has_fallen_silent_is_asked_once_and_not_for_each_session() {
    on_host(|ground, host| {
        for (number, file) in [(1, "a.txt"), (3, "c.txt")] {
            host.script(
                number,
                &format!("touch \"$HOME/hung-{number}\"; sleep 5; echo {number} > {file}\n"),
            )?;
        }
        ground.open(&["--launcher", &host.launcher()])?;
        ground.omo(&["agent", "workers", "start"])?.exits_with(0)?;
        let is_hung = |number: u32| host.home().join(format!("hung-{number}")).exists();
        wait_until("both sessions at work", || {
            (is_hung(1) && is_hung(3)).then_some(())
        })?;
        // It takes what is said to it, and says nothing.
        let (asked, ssh) = (
            ground.lab.root().join("asked"),
            ground.lab.root().join("ssh"),
        );
        fs::write(
            &ssh,
            format!(
                "#!/bin/sh\necho asked >>'{}'\nexec cat 3>&1 >/dev/null\n",
                asked.display()
            ),
        )?;
        fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755))?;
        ground.git(&[
            "config",
            "--global",
            "core.sshCommand",
            &ssh.display().to_string(),
        ])?;
        let there = ground.git(&["remote", "get-url", "origin"])?;
        ground.git(&[
            "remote",
            "set-url",
            "origin",
            "ssh://silent.invalid/hub.git",
        ])?;
        kill_supervisor(ground)?;
        ground.omo(&["run", "show"])?.exits_with(0)?;
        let times = fs::read_to_string(asked)?.lines().count();
        ensure!(times == 1, "a look waited {times} times");
        ground.git(&["remote", "set-url", "origin", &there])?;
        ground.omo(&["run", "cancel"])?.exits_with(0)?;
        ground.require_tidy()
    });
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_cancelled_run_asks_a_remote_that_is_away_once_and_not_for_each_session() {
    on_host(|ground, host| {
        for number in [1, 3] {
            host.script(number, &format!("touch \"$HOME/hung-{number}\"; sleep 5\n"))?;
        }
        ground.open(&["--launcher", &host.launcher()])?;
        ground.omo(&["agent", "workers", "start"])?.exits_with(0)?;
        let is_hung = |number: u32| host.home().join(format!("hung-{number}")).exists();
        wait_until("both sessions at work", || {
            (is_hung(1) && is_hung(3)).then_some(())
        })?;
        let (asked, ssh) = (
            ground.lab.root().join("asked"),
            ground.lab.root().join("ssh"),
        );
        fs::write(
            &ssh,
            format!("#!/bin/sh\necho asked >>'{}'\nexit 255\n", asked.display()),
        )?;
        fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755))?;
        ground.git(&[
            "config",
            "--global",
            "core.sshCommand",
            &ssh.display().to_string(),
        ])?;
        let there = ground.git(&["remote", "get-url", "origin"])?;
        ground.git(&["remote", "set-url", "origin", "ssh://away.invalid/hub.git"])?;
        ground.omo(&["run", "cancel"])?.exits_with(0)?;
        wait_until("the end of the supervisor", || {
            ground
                .run()
                .ok()?
                .try_supervise()
                .ok()?
                .is_some()
                .then_some(())
        })?;
        let times = fs::read_to_string(asked)?.lines().count();
        ensure!(times == 1, "it was asked {times} times");
        let parallel = ground.state()?.parallel.context("no workers")?;
        for (id, known) in &parallel.groups {
            let left = known.leftover_reason.clone().unwrap_or_default();
            ensure!(
                left.contains("what is on the remote origin is not known"),
                "{id}: {left:?}"
            );
        }
        ground.git(&["remote", "set-url", "origin", there.trim()])?;
        let branches = ground.git(&["ls-remote", "--refs", "origin", "refs/heads/omo/*"])?;
        for branch in branches
            .lines()
            .filter_map(|line| line.split_whitespace().nth(1))
        {
            ground.git(&["push", "--quiet", "origin", "--delete", branch])?;
        }
        Ok(())
    });
}

/// Waits until the second step is at work on the other host, where it would stay for long.
fn script_second_task_that_hangs(ground: &Ground, host: &Host) -> Result<()> {
    host.script(
        2,
        "if ! [ -e \"$HOME/hung\" ]; then touch \"$HOME/hung\"; sleep 5; fi\necho 2 > b.txt\n",
    )?;
    ground.open(&["--launcher", &host.launcher()])?;
    ground.omo(&["agent", "workers", "start"])?.exits_with(0)?;
    wait_until("the second step", || {
        host.home().join("hung").exists().then_some(())
    })
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn what_a_dead_supervisor_has_left_on_the_remote_is_put_away_by_the_next() {
    on_host(|ground, host| {
        script_second_task_that_hangs(ground, host)?;
        kill_supervisor(ground)?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ground.require_complete(&WELL)?;
        ensure!((task(ground, "1")?.attempts, task(ground, "2")?.attempts) == (1, 1));
        Ok(())
    });
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_run_that_is_cancelled_leaves_nothing_on_the_remote() {
    on_host(|ground, host| {
        script_second_task_that_hangs(ground, host)?;
        let before = ground.git(&["rev-parse", "HEAD"])?;
        ground.omo(&["run", "cancel"])?.exits_with(0)?;
        wait_until("the end of the supervisor", || {
            ground
                .run()
                .ok()?
                .try_supervise()
                .ok()?
                .is_some()
                .then_some(())
        })?;
        ground.require_tidy()?;
        ensure!(ground.git(&["rev-parse", "HEAD"])? == before);
        // The step that was pushed by then can be had.
        let kept = ground.git(&["for-each-ref", "--format=%(refname)", "refs/omo/keep"])?;
        let kept = kept
            .lines()
            .find(|name| name.ends_with("session-1-pushed-1"))
            .context("nothing is kept")?
            .to_owned();
        ensure!(ground.git(&["show", &format!("{kept}:a.txt")])? == "1");
        Ok(())
    });
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_remote_that_is_not_there_or_a_template_that_is_none_starts_nothing() {
    on_repository(&two(), "", |ground| {
        for (more, status, word) in [
            (
                &["--launcher", "ssh host {nothing}"][..],
                2,
                "{nothing} is not known",
            ),
            (&["--launcher", "run 'x"][..], 2, "is not closed"),
            (
                &["--launcher", "run"][..],
                2,
                "there is no launcher called `run`",
            ),
            (&["--launcher", "run x"][..], 5, "no remote called `origin`"),
            (
                &["--launcher", "run x", "--launcher-remote", "fork"][..],
                5,
                "no remote called `fork`",
            ),
        ] {
            let arguments = [
                &["run", "start", "--parallel", "--accept-api-billing"],
                more,
                &["docs/plan.md"],
            ]
            .concat();
            let said = ground.omo(&arguments)?.exits_with(status)?;
            ensure!(said.err.contains(word), "{more:?}: {}", said.err);
        }
        // What the repository's own settings would run on the way there is not run.
        ground.git(&[
            "remote",
            "add",
            "origin",
            &ground.project().display().to_string(),
        ])?;
        ground.git(&["config", "core.sshCommand", "touch ran"])?;
        let arguments = [
            "run",
            "start",
            "--parallel",
            "--accept-api-billing",
            "--launcher",
            "run x",
            "docs/plan.md",
        ];
        let said = ground.omo(&arguments)?.exits_with(5)?;
        ensure!(said.err.contains("core.sshcommand"), "{}", said.err);
        ensure!(ground.run().is_err(), "a run was opened");
        ensure!(
            fs::read_dir(ground.project())?
                .flatten()
                .all(|entry| entry.file_name() != "ran")
        );
        Ok(())
    });
}
