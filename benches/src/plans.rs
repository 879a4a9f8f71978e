//! A plan of a thousand tasks, and a run whose ledger has ten thousand events.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use omo_core::check::printed_output::PrintedOutput;
use omo_core::check::task_check::{TaskCheckOutcome, TaskCheckVerdict};
use omo_core::session::ChangedBy;
use omo_core::timestamp::Timestamp;
use omo_engine::event::{AttemptEnd, EventActor, EventKind};
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::work::{RunOpening, planned_commands};
use omo_engine::{Run, RunStore};
use omo_plan::dialects::{self, BatchOptions};
use omo_state::trust::{GivenApproval, pending_approval};

use crate::contest::Contestant;
use crate::contestants::{BATCHES, BATCHES_IN_PYTHON, CAT, NEXT};
use crate::peers::Peer;

const TASKS: usize = 1_000;
const EVENTS: u64 = 10_000;
/// When everything in the ledger happened, in milliseconds since 1970.
const WHEN: i64 = 1_780_000_000_000;
const PLAN: &str = "docs/plan.md";
/// What makes a bench one that makes the run and nothing else.
const MAKE: &str = "--make-run";

/// Where plans are read and a run goes on.
pub(crate) struct Plans {
    project: PathBuf,
    home: PathBuf,
    input: PathBuf,
}

impl Plans {
    /// Makes them below a folder. The run is made by a process of its own: what a bench has in its memory counts
    /// as the least that each contestant can have.
    pub(crate) fn new(folder: &Path) -> Result<Self> {
        let plans = Self::below(folder);
        fs::create_dir_all(plans.project.join("docs"))?;
        fs::create_dir_all(plans.home.join("state"))?;
        fs::write(plans.project.join(PLAN), plan(TASKS))?;
        fs::write(&plans.input, "")?;
        ensure!(Command::new("git").args(["init", "-q"]).current_dir(&plans.project).status()?.success(), "git init");
        let made = Command::new(std::env::current_exe()?).arg(MAKE).arg(folder).status()?;
        ensure!(made.success(), "the run of the bench was not made");
        Ok(Self { project: plans.project.canonicalize()?, ..plans })
    }

    /// Where they are below a folder.
    fn below(folder: &Path) -> Self {
        Self { project: folder.join("project"), home: folder.join("home"), input: folder.join("nothing") }
    }

    /// Makes the run below a folder, where this process was started for that.
    pub(crate) fn make_if_asked() -> Option<Result<()>> {
        let mut arguments = std::env::args_os().skip(1);
        let folder = arguments.next().filter(|first| first == MAKE).and_then(|_| arguments.next())?;
        let plans = Self::below(Path::new(&folder));
        Some(
            plans
                .project
                .canonicalize()
                .map_err(Into::into)
                .and_then(|project| Self { project, ..plans }.work_for_long()),
        )
    }

    /// A run in which each task but the last was lost, given up, taken up anew, and done.
    fn work_for_long(&self) -> Result<()> {
        let bytes = fs::read(self.project.join(PLAN))?;
        // One batch, so that no question is asked between.
        let plan = dialects::read(PLAN, &bytes, BatchOptions { k: 100_000, batch_size: 100_000 });
        ensure!(plan.can_run() && plan.tasks.len() == TASKS, "the plan of the bench: {:?}", plan.diagnostics);
        let (actor, now, home) = (EventActor::default(), Timestamp::from_millis(WHEN), self.home.join("state"));
        let commands = planned_commands(&plan);
        let approved = pending_approval::write(Some(&home), &self.project, PLAN, &commands)?;
        let shown =
            pending_approval::read(Some(&home), &self.project, &approved)?.context("the commands are not there")?;
        let given = GivenApproval { by: ChangedBy::Terminal, at: now };
        pending_approval::approve(Some(&home), &self.project, &shown, given)?;
        let order: Vec<String> = plan.groups.iter().flat_map(|group| group.tasks.clone()).collect();
        let root = self.project.display().to_string();
        let runs = RunStore::create(&self.project, Some(&home))?;
        let (run, _) = runs.begin(
            &actor,
            now,
            RunOpening { plan, commands_digest: approved, root, base: None, scope: None, mode: ExecutionMode::Batches }
                .into(),
            Vec::new(),
        )?;
        let (_, done) = order.split_last().context("the plan has no task")?;
        for some in done.chunks(50) {
            let events: Vec<EventKind> = some.iter().flat_map(|task| life(task)).collect();
            run.transact(&actor, now, |_| Ok((events, ())))?;
        }
        fill(&run, &actor, now)
    }

    /// The batches of the plan: by omo, only read, and by Python.
    pub(crate) fn readers(&self, omo: &Path, python: Option<&Peer>, peers: &Path) -> Result<Vec<Contestant<'static>>> {
        let arguments = [PathBuf::from("plan"), "batches".into(), PLAN.into()];
        let new = |name, program: &Path| Contestant::new(name, program, &self.project, self.input.clone());
        let mut all = vec![
            new(BATCHES, omo).arguments(&arguments).finds(|| Ok(()), "\"hard_stops\""),
            new(CAT, Path::new("cat")).arguments(&[PLAN.into()]).may_say_anything(),
        ];
        if let Some(python) = python {
            let script = peers.join("batches.py");
            // As such a program is started: by its name, with nothing left out.
            let arguments = [script, PLAN.into()];
            let (ours, theirs) = (
                self.answer(omo, &["plan".into(), "batches".into(), PLAN.into()])?,
                self.answer(&python.program, &arguments)?,
            );
            ensure!(ours == theirs, "omo and Python cut the plan of the bench in different ways");
            let python = new(BATCHES_IN_PYTHON, &python.program).arguments(&arguments);
            all.push(python.finds(|| Ok(()), "\"hard_stops\"").slow());
        }
        Ok(all)
    }

    /// What comes next in the run.
    pub(crate) fn next(&self, omo: &Path) -> Contestant<'static> {
        let new = Contestant::new(NEXT, omo, &self.project, self.input.clone());
        let variables = [("HOME", self.home.clone()), ("XDG_STATE_HOME", self.home.join("state"))];
        new.arguments(&["agent".into(), "next".into()]).variables(variables).finds(|| Ok(()), "omo agent start")
    }

    fn answer(&self, program: &Path, arguments: &[PathBuf]) -> Result<Vec<u8>> {
        let output = Command::new(program).args(arguments).current_dir(&self.project).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}: {}: {said}", program.display(), output.status);
        Ok(output.stdout)
    }
}

/// Everything that may happen to a task on its way: nine events.
fn life(task: &str) -> [EventKind; 9] {
    let task = task.to_owned();
    let end = |attempt| AttemptEnd {
        attempt,
        evidence: "`cargo test` ended with 0".to_owned(),
        files: vec!["src/part.rs".to_owned()],
        ..AttemptEnd::default()
    };
    let start = |attempt| EventKind::TaskStarted {
        task: task.clone(),
        attempt,
        ticket: "0".repeat(64),
        tree: Some("0".repeat(40)),
        protected_files: Vec::new(),
        already_green: Vec::new(),
        snapshot: None,
        head: None,
        check_files: std::collections::BTreeMap::default(),
    };
    let ran = |attempt, verdict| EventKind::CheckRan {
        task: task.clone(),
        attempt,
        position: 0,
        command: "cargo test".to_owned(),
        outcome: outcome(verdict),
    };
    [
        start(1),
        EventKind::TaskHeld {
            task: task.clone(),
            attempt: 1,
            reason: "its session has ended".to_owned(),
            is_pause: false,
        },
        start(1),
        ran(1, TaskCheckVerdict::Red),
        EventKind::TaskFailed { task: task.clone(), is_final: true, end: end(1) },
        EventKind::TaskReopened { task: task.clone(), reason: "asked for by its user".to_owned() },
        start(2),
        ran(2, TaskCheckVerdict::Green),
        EventKind::TaskPassed { task: task.clone(), end: end(2) },
    ]
}

fn outcome(verdict: TaskCheckVerdict) -> TaskCheckOutcome {
    TaskCheckOutcome {
        detail: format!("{}, 12 tests", verdict.word()),
        verdict,
        exit: Some(0),
        took_millis: 1_200,
        printed: PrintedOutput {
            first_lines: vec!["running 12 tests".to_owned()],
            line_count: 1,
            ..PrintedOutput::default()
        },
        log: None,
        counts: None,
        has_pipe_without_pipefail: false,
        setting: "0".repeat(64),
    }
}

/// Has the run as many events as it is to have.
fn fill(run: &Run, actor: &EventActor, now: Timestamp) -> Result<()> {
    let last = |state: &omo_engine::state::RunState| {
        let left = usize::try_from(EVENTS.saturating_sub(state.seq)).unwrap_or(0);
        let tasks = state.plan.groups.iter().filter_map(|group| group.tasks.last().cloned()).collect();
        Ok((vec![EventKind::TasksDispatched { tasks, to_agents: false }; left], ()))
    };
    let ((), state) = run.transact(actor, now, last)?;
    ensure!(state.seq == EVENTS, "the ledger of the bench has {} events", state.seq);
    Ok(())
}

/// A plan of the length and shape that the recorded ones of this dialect have, with pairs, dependencies in several
/// spellings, and markers.
fn plan(tasks: usize) -> String {
    let mut text =
        "# A plan\n\n**Goal:** Have something to read.\n\n## Verification\n\n- **Verdict:** Approved\n\n## Tasks\n"
            .to_owned();
    let mut number = 0;
    let mut written = 0;
    while written < tasks {
        number += 1;
        let is_pair = number % 10 == 7 && written + 1 < tasks;
        let halves: &[&str] = if is_pair { &["-tests", "-impl"] } else { &[""] };
        for half in halves {
            written += 1;
            task(&mut text, number, half);
        }
    }
    text
}

fn task(text: &mut String, number: usize, half: &str) {
    let depends_on = match (half, number) {
        ("-impl", number) => format!("Task {number}-tests"),
        (_, number) if number < 5 => "none".to_owned(),
        (_, number) if number % 10 == 3 => format!("Tasks {}-{}", number - 3, number - 1),
        (_, number) if number % 4 == 0 => format!("Task {}, Task {} and Task {}", number / 2, number - 2, number - 1),
        (_, number) => format!("Task {}", number - 1),
    };
    let marker = if number.is_multiple_of(50) { "<!-- checkpoint -->\n" } else { "" };
    let _ = write!(
        text,
        "\n### Task {number}{half}: Step {number}\n{marker}\n**Files:**\n- Create: `src/f{number}.rs`\n\n\
         **Depends on:** {depends_on}\n\n**Steps:**\n1. Do it\n\n**Verify:**\nRun: `test -f src/f{number}.rs`\n\
         Expected: exit 0\n"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_has_as_many_tasks_as_asked_and_nothing_is_wrong_with_their_order() {
        let plan = plan(TASKS);
        let found = omo_plan::batches::compute_batches(plan.as_bytes(), 3, 5);
        assert_eq!(found.total, TASKS);
        assert!(found.diagnostics.is_empty(), "{:?}", found.diagnostics.first());
        assert!(found.hard_stops.len() > 10 && found.hard_stops.len() < found.batches.len());
    }
}
