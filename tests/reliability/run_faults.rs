//! The verbs of plan runs with faults: each call that changes a file is the last of its process, or fails, and the next
//! command goes on. Nothing that passed is lost, and nothing else has passed.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use omo_testkit::run_command;
use omo_testkit::strace::{self, CallFault, SystemCall};
use omo_tests::folder_snapshot::Snapshot;
use omo_tests::plan_project::{
    CHECKPOINT, Everything, Ground, ONE_TASK_BATCHES, PLAN, REPORT, two_tasks_with_stop,
};
use serde_json::Value;

/// The calls that change a file, by what their names begin with.
const CHANGING: [&str; 9] = [
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

/// What such a call may fail with; each call gets one of them in turn.
const ERRORS: [&str; 3] = ["ENOSPC", "EIO", "EROFS"];

/// At most so many calls of a verb are met; where it makes more, every second, third and so on.
const MOST: usize = 60;

/// One verb: how its fixture is set, what is typed, and what is true once it was done.
struct Verb {
    name: &'static str,
    prepare: fn(&Ground) -> Result<Vec<String>>,
    /// What the tasks have to be afterwards, and the answers of the questions.
    after: [&'static str; 2],
    answered: bool,
    /// What is typed behind it, and how that ends.
    then: (&'static [&'static str], i32),
}

const VERBS: [Verb; 3] = [
    Verb {
        name: "omo run start",
        prepare: |g| {
            Ok(words(&[
                "run",
                "start",
                "--batches",
                PLAN,
                "--batch-size",
                "1",
                "--digest",
                &g.digest(PLAN)?,
            ]))
        },
        after: ["pending", "pending"],
        answered: false,
        then: (&["agent", "start", "1"], 0),
    },
    Verb {
        name: "omo agent done",
        prepare: |g| {
            g.open()?;
            let ticket = g.start("1")?;
            g.lab().write("words/1.txt", "one\n")?;
            Ok(words(&["agent", "done", "--ticket", &ticket]))
        },
        after: ["passed", "pending"],
        answered: false,
        then: (&["agent", "next"], 7),
    },
    Verb {
        name: "omo answer",
        prepare: |g| {
            g.open()?;
            g.pass("1", "one")?;
            let question = g.report()?["questions"][0]["id"]
                .as_str()
                .context("no question")?
                .to_owned();
            Ok(words(&["answer", &question, "continue"]))
        },
        after: ["passed", "pending"],
        answered: true,
        then: (&["agent", "start", "2"], 0),
    },
];

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Where the run stands: its tasks, and whether a question was answered. `None` where there is no run.
fn standing(ground: &Ground) -> Result<Option<(Vec<Value>, bool)>> {
    let said = ground.omo_at_terminal(&["report", "--format", "json"])?;
    if said.status == 3 {
        return Ok(None);
    }
    let report: Value = serde_json::from_str(&said.exits_with(0)?.out)?;
    let tasks = report["tasks"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|task| task["standing"].clone())
        .collect();
    let answered = report["questions"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|question| question["answer"].is_string());
    Ok(Some((tasks, answered)))
}

/// A verb on its fixture.
struct Play {
    verb: &'static Verb,
    ground: Ground,
    command: Command,
    start: Snapshot,
    before: Option<(Vec<Value>, bool)>,
    calls: Vec<SystemCall>,
}

impl Play {
    fn set(verb: &'static Verb) -> Result<Self> {
        let mut ground = Ground::new(&two_tasks_with_stop())?;
        ground.options = ONE_TASK_BATCHES;
        let arguments = (verb.prepare)(&ground).context("prepare the fixture")?;
        let command = ground.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let (before, start) = (standing(&ground)?, Snapshot::take(ground.lab().root())?);
        let whole = strace::run(&command, "")?;
        ensure!(
            whole.run.status.success(),
            "without any fault: {:?}",
            whole.run
        );
        let calls: Vec<SystemCall> = whole.calls.into_iter().filter(changes).collect();
        let step = calls.len().div_ceil(MOST).max(1);
        let calls = calls.into_iter().step_by(step).collect();
        let play = Self {
            verb,
            ground,
            command,
            start,
            before,
            calls,
        };
        play.is_done().context("without any fault")?;
        Ok(play)
    }

    fn after(&self) -> (Vec<Value>, bool) {
        (
            self.verb
                .after
                .iter()
                .map(|word| Value::from(*word))
                .collect(),
            self.verb.answered,
        )
    }

    /// It was done, and nothing else.
    fn is_done(&self) -> Result<()> {
        let now = standing(&self.ground)?;
        ensure!(now == Some(self.after()), "{now:?}");
        Ok(())
    }

    /// Each fault in turn; gives how many there were.
    fn through_all(&self) -> Result<usize> {
        let (mut wrong, mut count) = (Vec::new(), 0);
        for (index, call) in self.calls.iter().enumerate() {
            let error = ERRORS
                .iter()
                .cycle()
                .nth(index)
                .copied()
                .unwrap_or_default();
            for fault in [CallFault::Kill, CallFault::Error(error)] {
                count += 1;
                if let Err(error) = self.with(call, fault) {
                    wrong.push(format!(
                        "{fault:?} at {} number {}, `{}`: {error:#}",
                        call.name, call.ordinal, call.line
                    ));
                }
            }
        }
        ensure!(
            wrong.is_empty(),
            "{} of {count} faults did harm:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
        Ok(count)
    }

    fn with(&self, call: &SystemCall, fault: CallFault) -> Result<()> {
        self.start.restore()?;
        let traced = strace::run_with_fault(&self.command, "", call, fault)?;
        ensure!(traced.is_faulted, "the call was not made");
        let (run, now) = (traced.run, standing(&self.ground)?);
        if now
            .as_ref()
            .is_some_and(|(tasks, _)| tasks.first().is_some_and(|task| task == "held"))
        {
            // A check that could not be started proves nothing and refutes nothing: a person is asked.
            ensure!(
                fault != CallFault::Kill && run.status.code() == Some(7),
                "{}: {}",
                run.status,
                run.stderr
            );
            return self
                .ground
                .omo_at_terminal(&["agent", "next"])?
                .exits_with(7)
                .map(drop);
        }
        ensure!(
            now == self.before || now == Some(self.after()),
            "neither the old state nor the new: {now:?}"
        );
        if run.status.success() {
            ensure!(
                now == Some(self.after()),
                "status 0, and it was not done: {now:?}"
            );
        } else if fault != CallFault::Kill {
            // Where the output itself is broken, the error cannot be told.
            let is_said = run.stderr.starts_with("error: ")
                || call.line.starts_with("write(1,")
                || call.line.starts_with("write(2,");
            ensure!(
                is_said && run.status.code() == Some(9),
                "{}: {}",
                run.status,
                run.stderr
            );
        }
        self.goes_on().context("the next ones")
    }

    /// The next command does it, or finds it done; then the run goes on, and nothing was left behind.
    fn goes_on(&self) -> Result<()> {
        let again = run_command(&self.command, "")?;
        ensure!(
            [Some(0), Some(5)].contains(&again.status.code()),
            "{}: {}",
            again.status,
            again.stderr
        );
        self.is_done()?;
        let (then, status) = self.verb.then;
        self.ground.omo_at_terminal(then)?.exits_with(status)?;
        let listed: Value = serde_json::from_str(
            &self
                .ground
                .omo_at_terminal(&["run", "list", "--json"])?
                .exits_with(0)?
                .out,
        )?;
        ensure!(
            listed.as_array().map(Vec::len) == Some(1),
            "several runs: {listed}"
        );
        let said = self
            .ground
            .omo_at_terminal(&["run", "show"])?
            .exits_with(0)?;
        ensure!(
            !said.out.contains("was changed by something else"),
            "taken for an edit: {}",
            said.out
        );
        let left = Everything::below(self.ground.lab().project())?;
        for part in [".edited-", ".omo-probe", ".tmp"] {
            ensure!(!left.has_path_with(part), "still there: {part}");
        }
        for file in [CHECKPOINT, REPORT] {
            let text = std::fs::read_to_string(self.ground.lab().project().join(file))?;
            let passed = self.verb.after.contains(&"passed");
            ensure!(
                text.contains("exit status 0") == passed,
                "{file} says something else than the ledger: {text}"
            );
        }
        Ok(())
    }
}

/// Whether a call changes a file. What goes to the standard streams is met as well.
fn changes(call: &SystemCall) -> bool {
    CHANGING.iter().any(|name| call.name.starts_with(name))
        && (call.name != "openat" || call.line.contains("O_CREAT"))
}

fn play(name: &str) -> Result<()> {
    let verb = VERBS
        .iter()
        .find(|verb| verb.name == name)
        .context("no such verb")?;
    let faults = Play::set(verb)?.through_all()?;
    ensure!(faults > 20, "only {faults} faults were made");
    Ok(())
}

#[test]
#[ignore = "needs strace: cargo xtask test"]
fn no_fault_while_a_run_is_opened_does_harm() {
    play("omo run start").unwrap();
}

#[test]
#[ignore = "needs strace: cargo xtask test"]
fn no_fault_while_a_task_is_verified_does_harm() {
    play("omo agent done").unwrap();
}

#[test]
#[ignore = "needs strace: cargo xtask test"]
fn no_fault_while_a_question_is_answered_does_harm() {
    play("omo answer").unwrap();
}
