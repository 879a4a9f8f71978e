//! A run of a plan that has gone on for long: as many tasks and events as asked, in a real ledger.

use std::fmt::Write;
use std::fs;
use std::path::Path;

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

/// Start of the run, in milliseconds since 1970.
const WHEN: i64 = 1_780_000_000_000;

/// Opens a run of a plan of a project, in which each task but the last was lost, given up, taken up anew, and done.
///
/// # Errors
///
/// Where the plan is not sound, has another number of tasks, or its tasks alone come to more events.
pub fn make_large_run(
    project: &Path,
    state_home: &Path,
    plan_path: &str,
    tasks: usize,
    events: u64,
) -> Result<()> {
    let bytes = fs::read(project.join(plan_path))?;
    // One batch, so that no question is asked between.
    let plan = dialects::read(
        plan_path,
        &bytes,
        BatchOptions {
            k: 100_000,
            batch_size: 100_000,
        },
    );
    ensure!(
        plan.can_run() && plan.tasks.len() == tasks,
        "the plan of the run: {:?}",
        plan.diagnostics
    );
    let (actor, now) = (EventActor::default(), Timestamp::from_millis(WHEN));
    let commands = planned_commands(&plan);
    let approved = pending_approval::write(Some(state_home), project, plan_path, &commands, None)?;
    let shown = pending_approval::read(Some(state_home), project, &approved)?
        .context("the commands are not there")?;
    let given = GivenApproval {
        by: ChangedBy::Terminal,
        at: now,
    };
    pending_approval::approve(Some(state_home), project, &shown, given)?;
    let order: Vec<String> = plan
        .groups
        .iter()
        .flat_map(|group| group.tasks.clone())
        .collect();
    let root = project.display().to_string();
    let runs = RunStore::create(project, Some(state_home))?;
    let (run, _) = runs.begin(
        &actor,
        now,
        RunOpening {
            plan,
            commands_digest: approved,
            root,
            worktree: None,
            head: None,
            scope: None,
            mode: ExecutionMode::Batches,
            guard: None,
        }
        .into(),
        Vec::new(),
    )?;
    let (_, done) = order.split_last().context("the plan has no task")?;
    let mut now = now;
    for some in done.chunks(10) {
        now = Timestamp::from_millis(now.as_millis() + 180_000);
        let events: Vec<EventKind> = some.iter().flat_map(|task| life(task)).collect();
        run.transact(&actor, now, |_| Ok((events, ())))?;
    }
    fill(&run, &actor, now, events)
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
        EventKind::TaskFailed {
            task: task.clone(),
            is_final: true,
            end: end(1),
        },
        EventKind::TaskReopened {
            task: task.clone(),
            reason: "asked for by its user".to_owned(),
        },
        start(2),
        ran(2, TaskCheckVerdict::Green),
        EventKind::TaskPassed {
            task: task.clone(),
            end: end(2),
        },
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
fn fill(run: &Run, actor: &EventActor, now: Timestamp, events: u64) -> Result<()> {
    let last = |state: &omo_engine::state::RunState| {
        let left = usize::try_from(events.saturating_sub(state.seq)).unwrap_or(0);
        let tasks = state
            .plan
            .groups
            .iter()
            .filter_map(|group| group.tasks.last().cloned())
            .collect();
        Ok((
            vec![
                EventKind::TasksDispatched {
                    tasks,
                    to_agents: false
                };
                left
            ],
            (),
        ))
    };
    let ((), state) = run.transact(actor, now, last)?;
    ensure!(
        state.seq == events,
        "the ledger of the run has {} events",
        state.seq
    );
    Ok(())
}

/// A plan of the length and shape that the recorded ones of this dialect have, with pairs, dependencies in several
/// spellings, and markers.
pub fn large_plan(tasks: usize) -> String {
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
        (_, number) if number % 4 == 0 => format!(
            "Task {}, Task {} and Task {}",
            number / 2,
            number - 2,
            number - 1
        ),
        (_, number) => format!("Task {}", number - 1),
    };
    let marker = if number.is_multiple_of(50) {
        "<!-- checkpoint -->\n"
    } else {
        ""
    };
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
        let plan = large_plan(1_000);
        let found = omo_plan::batches::compute_batches(plan.as_bytes(), 3, 5);
        assert_eq!(found.total, 1_000);
        assert!(
            found.diagnostics.is_empty(),
            "{:?}",
            found.diagnostics.first()
        );
        assert!(found.hard_stops.len() > 10 && found.hard_stops.len() < found.batches.len());
    }
}
