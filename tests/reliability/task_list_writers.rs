//! The files of a task list while many processes write them, some of which are killed: what was said to be
//! done is there, once, and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, ensure};
use omo_testkit::strace::{self, CallFault, SystemCall};
use omo_testkit::{Lab, run_command};
use omo_tests::scene::plugin;
use serde_json::Value;

const ID: &str = "many";
const WRITERS: usize = 8;
const UPDATES: usize = 25;

/// A home with a session that is worked on.
struct TaskListFixture {
    lab: Lab,
    plugin: PathBuf,
}

impl TaskListFixture {
    /// One with so many tasks, all of them begun.
    fn new(tasks: usize) -> Result<Self> {
        let plugin = plugin();
        let fixture = Self {
            lab: Lab::builder().without_git().build()?,
            plugin,
        };
        fixture.does(&["agent", "tasks", "create", "a login"])?;
        for number in 1..=tasks {
            fixture.does(&["agent", "task", "create", "--subject", "x"])?;
            fixture.does(&[
                "agent",
                "task",
                "update",
                "--id",
                &number.to_string(),
                "--status",
                "in_progress",
            ])?;
        }
        fixture.does(&["agent", "tasks", "update", "--phase", "EXECUTION"])?;
        Ok(fixture)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.lab.command(self.plugin.join("bin/omo"));
        command.args(arguments).env("CLAUDE_CODE_SESSION_ID", ID);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn does(&self, arguments: &[&str]) -> Result<()> {
        let status = self.command(arguments).status()?;
        ensure!(status.success(), "{arguments:?}: {status}");
        Ok(())
    }

    fn json(&self, path: &str) -> Result<Value> {
        let path = self
            .lab
            .home()
            .join(".claude/ultrawork/sessions")
            .join(ID)
            .join(path);
        Ok(serde_json::from_slice(&fs::read(&path)?)?)
    }

    /// The evidence of a task, in its order.
    fn evidence(&self, task: &str) -> Result<Vec<String>> {
        let task = self.json(&format!("tasks/{task}.json"))?;
        let evidence = task["evidence"].as_array().context("no evidence")?;
        evidence
            .iter()
            .map(|one| Ok(one.as_str().context("no text")?.to_owned()))
            .collect()
    }

    /// Adds evidence to a task. With a number of turns the process is killed after them, if it still runs;
    /// gives whether it said that it was done.
    fn adds(&self, task: &str, evidence: &str, turns: Option<usize>) -> Result<bool> {
        let mut child = self
            .command(&[
                "agent",
                "task",
                "update",
                "--id",
                task,
                "--add-evidence",
                evidence,
            ])
            .spawn()?;
        if let Some(turns) = turns {
            for _ in 0..turns {
                if child.try_wait()?.is_some() {
                    break;
                }
                thread::yield_now();
            }
            child.kill()?;
        }
        let status = child.wait()?;
        ensure!(status.success() || turns.is_some(), "{evidence}: {status}");
        Ok(status.success())
    }
}

/// Numbers that look like chance and are the same each time: as many small ones as large ones, for on a busy machine
/// a process is done within a few turns.
fn turns(writer: usize, update: usize) -> usize {
    let mixed = (writer * UPDATES + update + 1).wrapping_mul(2_654_435_761) >> 7;
    (1 << (mixed % 13)) >> 1
}

/// Every writer adds its evidence, one after another, to the task that `task` says; gives what was said to be
/// done.
fn write(
    fixture: &TaskListFixture,
    task: fn(usize) -> usize,
    has_kills: bool,
) -> Result<Vec<(String, String)>> {
    let writer = |writer: usize| -> Result<Vec<(String, String)>> {
        let task = task(writer).to_string();
        let mut done = Vec::new();
        for update in 0..UPDATES {
            let evidence = format!("{writer}-{update}");
            let turns = (has_kills && update % 2 == 1).then(|| turns(writer, update));
            if fixture.adds(&task, &evidence, turns)? {
                done.push((task.clone(), evidence));
            }
        }
        Ok(done)
    };
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|number| scope.spawn(move || writer(number)))
            .collect();
        let done: Result<Vec<Vec<_>>> = writers
            .into_iter()
            .map(|writer| {
                writer
                    .join()
                    .map_err(|_| anyhow::anyhow!("a writer panicked"))?
            })
            .collect();
        Ok(done?.concat())
    })
}

/// What was said to be done is there once, each writer's in its order, and nothing is there that no writer wrote.
fn nothing_is_lost(
    fixture: &TaskListFixture,
    tasks: usize,
    done: &[(String, String)],
) -> Result<()> {
    for task in (1..=tasks).map(|task| task.to_string()) {
        let there = fixture.evidence(&task)?;
        let once: BTreeSet<&String> = there.iter().collect();
        ensure!(
            once.len() == there.len(),
            "task {task}: something is there twice: {there:?}"
        );
        for writer in 0..WRITERS {
            let prefix = format!("{writer}-");
            let said: Vec<&String> = done
                .iter()
                .filter(|(of, text)| *of == task && text.starts_with(&prefix))
                .map(|(_, text)| text)
                .collect();
            let found: Vec<&String> = there
                .iter()
                .filter(|text| text.starts_with(&prefix) && said.contains(text))
                .collect();
            ensure!(found == said, "task {task}: {found:?} of {said:?}");
        }
        let is_known = |text: &String| {
            let (writer, update) = text.split_once('-').unwrap_or_default();
            writer.parse::<usize>().is_ok_and(|it| it < WRITERS)
                && update.parse::<usize>().is_ok_and(|it| it < UPDATES)
        };
        ensure!(there.iter().all(is_known), "task {task}: {there:?}");
    }
    Ok(())
}

#[test]
fn eight_writers_of_one_task_lose_nothing() {
    let fixture = TaskListFixture::new(1).unwrap();
    let done = write(&fixture, |_| 1, false).unwrap();
    assert_eq!(
        (done.len(), fixture.evidence("1").unwrap().len()),
        (WRITERS * UPDATES, WRITERS * UPDATES)
    );
    nothing_is_lost(&fixture, 1, &done).unwrap();
}

#[test]
fn eight_writers_of_different_tasks_lose_nothing() {
    let fixture = TaskListFixture::new(WRITERS).unwrap();
    let done = write(&fixture, |writer| writer + 1, false).unwrap();
    assert_eq!(done.len(), WRITERS * UPDATES);
    nothing_is_lost(&fixture, WRITERS, &done).unwrap();
}

#[test]
fn the_killed_take_nothing_along_and_leave_no_lock() {
    for (tasks, task) in [
        (1, (|_| 1) as fn(usize) -> usize),
        (2, |writer| writer % 2 + 1),
    ] {
        let fixture = TaskListFixture::new(tasks).unwrap();
        let done = write(&fixture, task, true).unwrap();
        assert!(done.len() < WRITERS * UPDATES, "none was killed in time");
        assert!(
            done.len() >= WRITERS * UPDATES.div_ceil(2),
            "who was not killed was not done"
        );
        nothing_is_lost(&fixture, tasks, &done).unwrap();
        fixture
            .does(&[
                "agent", "task", "update", "--id", "1", "--status", "resolved",
            ])
            .unwrap();
    }
}

#[test]
fn what_different_verbs_change_at_once_is_all_there() {
    let fixture = TaskListFixture::new(1).unwrap();
    for round in 1..=4 {
        let number = round.to_string();
        let name = |kind: &str| format!("{kind}{round}");
        let (one, other, third) = (name("a"), name("b"), name("c"));
        let commands: [&[&str]; 8] = [
            &["agent", "tasks", "update", "--iteration", &number],
            &["agent", "tasks", "update", "--design-doc", &one],
            &[
                "agent",
                "tasks",
                "update",
                "--exploration-stage",
                "overview",
            ],
            &["agent", "context", "init", "--expected", &one],
            &["agent", "context", "add", "--explorer-id", &one],
            &["agent", "context", "add", "--explorer-id", &other],
            &["agent", "task", "create", "--subject", &one],
            &["agent", "task", "create", "--subject", &third],
        ];
        let mut children: Vec<_> = commands
            .iter()
            .map(|arguments| fixture.command(arguments).spawn().unwrap())
            .collect();
        assert!(
            children
                .iter_mut()
                .all(|child| child.wait().unwrap().success())
        );
        let session = fixture.json("session.json").unwrap();
        assert_eq!(
            (&session["iteration"], &session["plan"]["design_doc"]),
            (&round.into(), &Value::from(one))
        );
        assert_eq!(session["exploration_stage"], "overview");
        assert_eq!(
            fixture.json("context.json").unwrap()["explorers"]
                .as_array()
                .unwrap()
                .len(),
            round * 2
        );
        let last = (round * 2 + 1).to_string();
        assert!(
            fixture.json(&format!("tasks/{last}.json")).is_ok(),
            "two new tasks had one number"
        );
    }
}

#[test]
fn of_those_who_begin_one_session_or_task_at_once_only_one_does() {
    let fixture = TaskListFixture::new(0).unwrap();
    for round in 0..20 {
        let (session, task) = (format!("both-{round}"), (round + 1).to_string());
        for arguments in [
            &["agent", "tasks", "create", "--session", &session, "x"][..],
            &["agent", "task", "create", "--id", &task, "--subject", "x"],
        ] {
            let mut children: Vec<_> = (0..WRITERS)
                .map(|_| fixture.command(arguments).spawn().unwrap())
                .collect();
            let ended: Vec<bool> = children
                .iter_mut()
                .map(|child| child.wait().unwrap().success())
                .collect();
            assert_eq!(
                ended.iter().filter(|is_done| **is_done).count(),
                1,
                "{arguments:?}: {ended:?}"
            );
        }
    }
}

/// Whether a call changes a file, or opens one to be changed.
fn changes(call: &SystemCall) -> bool {
    let names = [
        "fdatasync",
        "fsync",
        "ftruncate",
        "link",
        "mkdir",
        "openat",
        "rename",
        "unlink",
        "write",
    ];
    names.iter().any(|name| call.name.starts_with(name)) && !call.line.contains("O_RDONLY")
}

#[test]
#[ignore = "needs strace: cargo xtask test"]
fn a_change_that_ends_at_any_call_is_made_whole_or_not_at_all() {
    let fixture = TaskListFixture::new(1).unwrap();
    let update = |evidence: &str| {
        fixture.command(&[
            "agent",
            "task",
            "update",
            "--id",
            "1",
            "--add-evidence",
            evidence,
        ])
    };
    let calls: Vec<SystemCall> = strace::run(&update("first"), "")
        .unwrap()
        .calls
        .into_iter()
        .filter(changes)
        .collect();
    assert!(
        calls.iter().any(|call| call.name.starts_with("rename")),
        "{calls:#?}"
    );
    for (number, call) in calls.iter().enumerate() {
        for (name, fault) in [
            ("killed", CallFault::Kill),
            ("full", CallFault::Error("ENOSPC")),
        ] {
            let before = fixture.evidence("1").unwrap();
            let evidence = format!("{name}-{number}");
            let met = strace::run_with_fault(&update(&evidence), "", call, fault).unwrap();
            assert!(met.is_faulted, "{call:?}");
            let after = fixture.evidence("1").unwrap();
            let whole = [&before[..], std::slice::from_ref(&evidence)].concat();
            assert!(
                after == before || after == whole,
                "{name} at {call:?}: {after:?}"
            );
            assert!(
                !met.run.status.success() || after == whole,
                "{name} at {call:?}: said to be done, and lost"
            );
            // The next process finds nothing in the way.
            assert!(
                run_command(&update(&format!("next-{name}-{number}")), "")
                    .unwrap()
                    .status
                    .success()
            );
        }
    }
}
