//! Workers that a launcher of the user's configuration hands to an engine: `local`, and `ssh` with another host, where
//! omo does the work and the branch of the worker is all that the two ends share.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use anyhow::{Context, Result, ensure};
use omo_engine::event::EventKind;
use omo_engine::parallel_state::SubmittedWorker;
use omo_engine::state::{TaskState, TaskStatus};
use omo_testkit::wait_until;
use omo_tests::in_one_line;

use crate::parallel_repository::{Ground, Session, on_repository, session, step};
use crate::second_host::Host;

pub(crate) const WELL: [(u32, &str); 3] = [(1, "a.txt"), (2, "b.txt"), (3, "c.txt")];

/// In the script of a step: the worker is killed, with what it started the client with. It says nothing more.
pub(crate) const KILL_WORKER: &str = "kill -KILL $(ps -o ppid= -p $PPID) $PPID; sleep 60";

/// Two sessions side by side, the first one of two steps.
pub(crate) fn two() -> Vec<Session<'static>> {
    vec![
        session(1, &[step(1, "a.txt"), step(2, "b.txt")]),
        session(1, &[step(3, "c.txt")]),
    ]
}

/// The other end: a host whose home holds the client, and the launcher that reaches it.
pub(crate) struct Engine<'g> {
    pub(crate) ground: &'g Ground,
    pub(crate) host: Host,
    launcher: &'static str,
    /// Its table in the user's configuration.
    pub(crate) table: String,
}

impl Engine<'_> {
    /// How a step is worked on there: lines of bash.
    pub(crate) fn script(&self, step: u32, text: &str) -> Result<()> {
        self.host.script(step, text)
    }

    pub(crate) fn open(&self) -> Result<()> {
        self.ground.open(&["--launcher", self.launcher])
    }

    pub(crate) fn task(&self, id: &str) -> Result<TaskState> {
        self.ground
            .state()?
            .tasks
            .get(id)
            .cloned()
            .context("no such step")
    }

    pub(crate) fn job(&self, group: &str) -> Option<SubmittedWorker> {
        self.ground
            .state()
            .ok()?
            .parallel?
            .groups
            .get(group)?
            .job
            .clone()
    }

    /// Nothing of a worker is at work, or left, at the other end.
    pub(crate) fn require_idle(&self) -> Result<()> {
        let list = || {
            let said = self
                .ground
                .omo(&[
                    "worker",
                    "list",
                    "--scratch",
                    &self.host.files().scratch().display().to_string(),
                ])
                .ok()?;
            (!said.out.contains("running")).then_some(())
        };
        wait_until("the end of the workers", list)
    }
}

/// Plays a case with each of the launchers that need nothing but this machine.
fn on_engines(case: impl Fn(&Engine) -> Result<()>) {
    on_each(&["local", "ssh"], case);
}

/// Plays a case with the launcher `local`.
pub(crate) fn on_local(case: impl Fn(&Engine) -> Result<()>) {
    on_each(&["local"], case);
}

fn on_each(launchers: &[&'static str], case: impl Fn(&Engine) -> Result<()>) {
    for &launcher in launchers {
        on_repository(
            &two(),
            "test -f a.txt && test -f b.txt && test -f c.txt",
            |ground| {
                let host = Host::new(ground, &WELL)?;
                host.files().add_programs(ground)?;
                let home = host.home().display().to_string();
                let of_host = if launcher == "ssh" {
                    let options = host.ssh_options();
                    format!("host = \"127.0.0.1\"\noptions = \"{options}\"\nomo = \"{home}/omo\"\n")
                } else {
                    String::new()
                };
                let table = format!(
                    "[launcher.{launcher}]\nclient = \"{home}/client\"\nscratch = \"{home}/scratch\"\npoll_seconds = 1\n{of_host}"
                );
                ground.lab.configure(&table)?;
                let engine = Engine {
                    ground,
                    host,
                    launcher,
                    table,
                };
                case(&engine).with_context(|| format!("with the launcher {launcher}"))?;
                engine.require_idle()?;
                engine.host.files().require_clean_remote(ground)
            },
        );
    }
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn workers_of_an_engine_come_to_one_branch() {
    on_engines(|engine| {
        engine.open()?;
        let said = engine.ground.omo(&["run", "watch"])?;
        ensure!(said.status == 0, "{}\n{}", said.out, said.err);
        engine.ground.require_complete(&WELL)?;
        ensure!(
            engine.ground.started_sessions().is_empty(),
            "a client was started by the run itself"
        );
        for id in ["1", "2", "3"] {
            ensure!(engine.task(id)?.attempts == 1, "{:?}", engine.task(id)?);
        }
        let cost = engine
            .ground
            .state()?
            .parallel
            .map(|parallel| parallel.cost_micros());
        ensure!(cost == Some(500_000), "{cost:?}");
        let log = engine.ground.omo(&["run", "logs", "S1"])?;
        ensure!(
            log.status == 0 && log.out.contains("tasks with a commit: 1, 2"),
            "{}\n{}",
            log.out,
            log.err
        );
        let unknown = engine.ground.omo(&["run", "logs", "9"])?;
        ensure!(
            unknown.status == 3 && unknown.err.contains("there are session-1, session-2"),
            "{}",
            unknown.err
        );
        Ok(())
    });
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_supervisor_that_comes_after_a_dead_one_goes_on_with_the_same_workers() {
    on_local(|engine| {
        let home = engine.host.home();
        let wait = |step: u32, file: &str| {
            let home = home.display();
            format!(
                "touch '{home}/begun-{step}'\nuntil [ -e '{home}/go' ]; do sleep 0.1; done\necho {step} > {file}\n"
            )
        };
        engine.script(2, &wait(2, "b.txt"))?;
        engine.script(3, &wait(3, "c.txt"))?;
        engine.open()?;
        engine
            .ground
            .omo(&["agent", "workers", "start"])?
            .exits_with(0)?;
        let begun =
            || (home.join("begun-2").exists() && home.join("begun-3").exists()).then_some(());
        wait_until("both workers at work", begun)?;
        let job = engine.job("session-1").context("no worker is recorded")?;
        engine.ground.kill_supervisor()?;
        engine.ground.omo(&["run", "show"])?.exits_with(0)?;
        ensure!(
            engine.job("session-1").is_some(),
            "a look took the worker from the run"
        );
        fs::write(home.join("go"), "")?;
        engine.ground.omo(&["run", "watch"])?.exits_with(0)?;
        ensure!(
            job.launch == 1 && engine.task("2")?.attempts == 1,
            "{:?}",
            engine.task("2")?
        );
        engine.ground.require_complete(&WELL)
    });
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_judgement_that_was_cut_off_is_made_by_the_next_supervisor() {
    on_local(|engine| {
        let (begun, go) = (
            engine.host.home().join("judging"),
            engine.host.home().join("go"),
        );
        let grep = engine.ground.programs().join("grep");
        let waits = format!(
            "touch '{}'; until [ -e '{}' ]; do sleep 0.1; done",
            begun.display(),
            go.display()
        );
        fs::write(
            &grep,
            format!(
                "#!/bin/sh\n[ \"$*\" != '-q 3 c.txt' ] || {{ {waits}; }}\nexec /usr/bin/grep \"$@\"\n"
            ),
        )?;
        fs::set_permissions(&grep, fs::Permissions::from_mode(0o755))?;
        engine.open()?;
        engine
            .ground
            .omo(&["agent", "workers", "start"])?
            .exits_with(0)?;
        wait_until("the judgement of step 3", || begun.exists().then_some(()))?;
        engine.ground.kill_supervisor()?;
        fs::write(&go, "")?;
        engine.ground.omo(&["run", "watch"])?.exits_with(0)?;
        let events = engine.ground.run()?.events()?;
        let submitted = events
            .iter()
            .filter(|event| matches!(event.kind, EventKind::WorkerSubmitted { .. }))
            .count();
        ensure!(
            submitted == 2,
            "what was done was paid for again: {submitted} workers"
        );
        ensure!(engine.task("3")?.attempts == 1, "{:?}", engine.task("3")?);
        let cost = engine
            .ground
            .state()?
            .parallel
            .map(|parallel| parallel.cost_micros());
        ensure!(
            cost == Some(500_000),
            "what it said of its cost is lost: {cost:?}"
        );
        engine.ground.require_complete(&WELL)
    });
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_run_that_is_cancelled_ends_its_workers_wherever_they_are() {
    on_engines(|engine| {
        let home = engine.host.home();
        engine.script(2, &format!("touch '{}/begun'\nsleep 300\n", home.display()))?;
        engine.open()?;
        engine
            .ground
            .omo(&["agent", "workers", "start"])?
            .exits_with(0)?;
        wait_until("a worker at work", || {
            home.join("begun").exists().then_some(())
        })?;
        engine.ground.omo(&["run", "cancel"])?.exits_with(0)?;
        wait_until("the end of the supervisor", || {
            engine
                .ground
                .run()
                .ok()?
                .try_supervise()
                .ok()?
                .is_some()
                .then_some(())
        })?;
        engine.require_idle()?;
        ensure!(
            engine.job("session-1").is_none(),
            "the worker is still in the ledger"
        );
        engine.ground.require_tidy()
    });
}

/// Cancels a run with one worker at work at `local`, with these settings of the launcher besides, and waits for the end of
/// its supervisor.
fn cancel_with(engine: &Engine, settings: &str) -> Result<()> {
    engine
        .ground
        .lab
        .configure(&format!("{}{settings}", engine.table))?;
    let home = engine.host.home();
    engine.script(2, &format!("touch '{}/begun'\nsleep 300\n", home.display()))?;
    engine.script(
        3,
        &format!(
            "echo 3 > c.txt\ntouch '{}/begun-3'\nsleep 300\n",
            home.display()
        ),
    )?;
    engine.open()?;
    engine
        .ground
        .omo(&["agent", "workers", "start"])?
        .exits_with(0)?;
    let begun = || (home.join("begun").exists() && home.join("begun-3").exists()).then_some(());
    wait_until("both workers at work", begun)?;
    engine.ground.omo(&["run", "cancel"])?.exits_with(0)?;
    wait_until("the end of the supervisor", || {
        engine
            .ground
            .run()
            .ok()?
            .try_supervise()
            .ok()?
            .is_some()
            .then_some(())
    })
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_cancel_that_failed_once_is_tried_a_second_time() {
    on_local(|engine| {
        // For each worker it fails the first time.
        let program = engine.host.home().join("cancel");
        fs::write(
            &program,
            "#!/bin/sh\nif ! [ -e \"$0-$2\" ]; then touch \"$0-$2\"; exit 1; fi\nexec sh -c \"$1\"\n",
        )?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        cancel_with(
            engine,
            &format!(
                "cancel = \"{} {{worker_cancel}} {{job}}\"\n",
                program.display()
            ),
        )?;
        engine.require_idle()?;
        let parallel = engine.ground.state()?.parallel.context("no workers")?;
        ensure!(
            parallel
                .groups
                .values()
                .all(|known| known.stray_workers.is_empty()),
            "{:?}",
            parallel.groups
        );
        engine.ground.require_tidy()
    });
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_worker_that_no_cancel_has_ended_is_shown_with_its_name() {
    on_local(|engine| {
        cancel_with(engine, "cancel = \"false {job}\"\nstatus = \"true\"\n")?;
        let shown = engine.ground.omo(&["run", "show"])?;
        let scratch = engine.host.files().scratch().display().to_string();
        let parallel = engine.ground.state()?.parallel.context("no workers")?;
        let strays: Vec<&String> = parallel
            .groups
            .values()
            .flat_map(|known| known.stray_workers.keys())
            .collect();
        ensure!(strays.len() == 2, "{:?}", parallel.groups);
        for job in strays {
            let words = in_one_line(&shown.out);
            ensure!(
                words.contains(&format!("end `{job}` by hand at its scheduler")),
                "{}",
                shown.out
            );
            engine
                .ground
                .omo(&["worker", "cancel", job, "--scratch", &scratch])?
                .exits_with(0)?;
        }
        Ok(())
    });
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn work_that_is_not_as_its_plan_says_fails_its_attempt() {
    on_local(|engine| {
        let home = engine.host.home().display().to_string();
        engine.script(
            3,
            &format!("[ -e '{home}/once' ] && echo 3 > c.txt || echo wrong > other.txt\ntouch '{home}/once'\n"),
        )?;
        engine.open()?;
        engine.ground.omo(&["run", "watch"])?.exits_with(0)?;
        ensure!(engine.task("3")?.attempts == 2 && engine.task("3")?.status == TaskStatus::Passed);
        ensure!(!engine.ground.project().join("other.txt").exists());
        engine.ground.require_complete(&WELL)
    });
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_launcher_is_tried_with_one_worker_and_what_failed_is_told_with_its_place() {
    on_engines(|engine| {
        let doctor = |setting: &str, value: &str| {
            let others = engine
                .table
                .lines()
                .filter(|line| line.split(' ').next() != Some(setting));
            let own = format!("{setting} = \"{value}\"");
            let table: Vec<&str> = others.chain([own.as_str()]).collect();
            engine.ground.lab.configure(&table.join("\n"))?;
            engine
                .ground
                .omo(&["doctor", "--launcher", engine.launcher])
        };
        let good = doctor("image", "none")?;
        ensure!(
            good.status == 0 && good.out.contains("works: "),
            "{}\n{}",
            good.out,
            good.err
        );
        ensure!(
            good.out.contains("has the commit that was asked for") && !good.out.contains("note"),
            "{}",
            good.out
        );
        for (setting, value, place) in [
            ("start", "false {worker}", "failed: engine: `"),
            (
                "status",
                "false",
                "failed: engine: its command `status` fails: ",
            ),
            (
                "client",
                "/nowhere/claude",
                "failed: worker: it could not begin: the client /nowhere/claude is not there",
            ),
        ] {
            let bad = doctor(setting, value)?;
            ensure!(
                bad.status == 1 && bad.out.contains(place),
                "{setting}: {}\n{}",
                bad.out,
                bad.err
            );
            ensure!(
                bad.out.contains("has nothing of this trial any more"),
                "{}",
                bad.out
            );
        }
        let unknown = engine.ground.omo(&["doctor", "--launcher", "nil"])?;
        ensure!(
            unknown.status == 2 && unknown.out.is_empty(),
            "{}\n{}",
            unknown.out,
            unknown.err
        );
        let refs = engine
            .ground
            .git(&["for-each-ref", "--format=%(refname)"])?;
        ensure!(refs.lines().all(|name| name.ends_with("/main")), "{refs}");
        ensure!(engine.ground.git(&["status", "--porcelain"])?.is_empty());
        Ok(())
    });
}
