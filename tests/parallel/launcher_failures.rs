//! Launchers whose engine takes a worker and says otherwise, keeps it in its queue, or loses it again and again.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use anyhow::{Context, Result, ensure};
use omo_core::timestamp::Timestamp;
use omo_engine::event::{EventActor, EventKind};
use omo_state::env;
use omo_testkit::wait_until;
use omo_tests::in_one_line;

use crate::launchers::{Engine, KILL_WORKER, WELL, on_local};

/// A program in the home folder of the other end: lines of a shell.
pub(crate) fn add_program(engine: &Engine, name: &str, text: &str) -> Result<String> {
    let program = engine.host.home().join(name);
    fs::write(
        &program,
        format!("#!/bin/sh\nhome='{}'\n{text}", engine.host.home().display()),
    )?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    Ok(program.display().to_string())
}

/// The launcher has these settings besides.
pub(crate) fn configure(engine: &Engine, settings: &str) -> Result<()> {
    engine
        .ground
        .lab
        .configure(&format!("{}{settings}", engine.table))
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_worker_whose_start_failed_and_that_cannot_be_ended_is_named() {
    on_local(|engine| {
        // Each first start of a session begins its worker, and fails.
        let start = "sh -c \"$1\"\ncase $2 in *-session-1-1) echo no answer >&2; exit 1;; esac\n";
        let start = add_program(engine, "start", start)?;
        configure(
            engine,
            &format!("start = \"{start} {{worker_start}} {{job}}\"\ncancel = \"false {{job}}\"\n"),
        )?;
        let home = engine.host.home().display().to_string();
        engine.script(
            1,
            &format!("mkdir '{home}/first' 2>/dev/null && sleep 300\necho 1 > a.txt\n"),
        )?;
        engine.open()?;
        engine.ground.omo(&["run", "watch"])?.exits_with(0)?;
        engine.ground.require_complete(&WELL)?;
        let job = format!("omo-{}-session-1-1", engine.ground.run()?.id());
        let shown = engine.ground.omo(&["run", "show"])?.exits_with(0)?.out;
        ensure!(
            in_one_line(&shown).contains(&format!("end `{job}` by hand at its scheduler")),
            "{shown}"
        );
        let scratch = engine.host.files().scratch().display().to_string();
        engine
            .ground
            .omo(&["worker", "cancel", &job, "--scratch", &scratch])?
            .exits_with(0)
            .map(drop)
    });
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_worker_that_waits_in_the_queue_for_too_long_is_put_to_a_person() {
    on_local(|engine| {
        let queue = "echo \"$2\" >> \"$home/queue\"\n";
        let start = add_program(
            engine,
            "start",
            &format!("[ -e \"$home/go\" ] && exec sh -c \"$1\"\n{queue}"),
        )?;
        let list = "sed 's/$/ PENDING/' \"$home/queue\"\nexec sh -c \"$1\"\n";
        let list = add_program(engine, "list", list)?;
        let cancel = "sed -i \"/^$1\\$/d\" \"$home/queue\"\necho \"$1\" >> \"$home/cancelled\"\n";
        let cancel = add_program(engine, "cancel", cancel)?;
        configure(
            engine,
            &format!(
                "queue_minutes = 1\nstart = \"{start} {{worker_start}} {{job}}\"\nstatus = \"{list} {{worker_list}}\"\n\
                 cancel = \"{cancel} {{job}}\"\n"
            ),
        )?;
        engine.open()?;
        engine
            .ground
            .omo(&["agent", "workers", "start"])?
            .exits_with(0)?;
        // A job is written down before it is started.
        let queue = engine.host.home().join("queue");
        let is_queued = || (fs::read_to_string(&queue).ok()?.lines().count() == 2).then_some(());
        wait_until("both workers in the queue", is_queued)?;
        engine.ground.kill_supervisor()?;
        // They are there for longer than they may be, as far as the ledger knows.
        let then = Timestamp::from_millis(env::now().as_millis() - 90_000);
        let requeued = |group: &str| EventKind::WorkerRequeued {
            group: group.to_owned(),
        };
        let events = ["session-1", "session-2"].map(requeued).to_vec();
        engine
            .ground
            .run()?
            .transact(&EventActor::default(), then, |_| Ok((events, ())))?;
        let said = engine.ground.omo(&["run", "watch"])?.exits_with(7)?;
        ensure!(
            said.out
                .contains("it waited in the queue for as long as it may"),
            "{}",
            said.out
        );
        let cancelled = fs::read_to_string(engine.host.home().join("cancelled"))?;
        ensure!(cancelled.lines().count() == 2, "{cancelled}");
        let started = engine.task("1")?;
        ensure!(
            (started.attempts, started.lost_workers) <= (1, 0),
            "it cost an attempt: {started:?}"
        );
        fs::write(engine.host.home().join("go"), "")?;
        finish(engine)
    });
}

/// Answers what is asked, until the run is over.
fn finish(engine: &Engine) -> Result<()> {
    for number in 1..=4 {
        engine
            .ground
            .omo(&["answer", &format!("q{number}"), "continue"])?
            .exits_with(0)?;
        let said = engine.ground.omo(&["run", "watch"])?;
        if said.status != 7 {
            said.exits_with(0)?;
            return engine.ground.require_complete(&WELL);
        }
    }
    let said = engine.ground.omo(&["run", "show"])?;
    Err(anyhow::anyhow!("it asks without end: {}", said.out)).context("the run goes on")
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn the_third_lost_worker_of_a_step_is_put_to_a_person() {
    on_local(|engine| {
        let home = engine.host.home();
        let counted = format!(
            "[ -e '{0}/go' ] || {{ echo >> '{0}/killed'; {KILL_WORKER}; }}\n",
            home.display()
        );
        engine.script(3, &format!("{counted}echo 3 > c.txt\n"))?;
        engine.open()?;
        let said = engine.ground.omo(&["run", "watch"])?.exits_with(7)?;
        let times = fs::read_to_string(home.join("killed"))?.lines().count();
        ensure!(
            times == 3,
            "it was put to a person after {times} workers: {}",
            said.out
        );
        ensure!(
            said.out
                .contains("its scheduler no longer has it, and it had not ended"),
            "{}",
            said.out
        );
        ensure!(said.out.contains("omo answer q1"), "{}", said.out);
        ensure!(
            said.out
                .contains("`omo run logs session-2` shows what its worker has said"),
            "{}",
            said.out
        );
        ensure!(engine.task("3")?.attempts <= 1, "{:?}", engine.task("3")?);
        fs::write(home.join("go"), "")?;
        finish(engine)
    });
}
