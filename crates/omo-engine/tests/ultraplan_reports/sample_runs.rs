//! Runs of ultraplans, played by their events.

use omo_core::check::printed_output::PrintedOutput;
use omo_core::check::task_check::{TaskCheckOutcome, TaskCheckVerdict};
use omo_core::timestamp::Timestamp;
use omo_engine::event::{AttemptEnd, EventActor, EventKind, RunEvent, RunResult};
use omo_engine::report::ultraplan::RunScope;
use omo_engine::request::arguments::{PlanSelection, RunMode};
use omo_engine::state::RunState;
use omo_plan::dialects::{self, BatchOptions};
use omo_plan::model::Plan;
use omo_testkit::plans::{run_opened, time};

pub(crate) const PATH: &str = ".claude/plans/demo.md";

pub(crate) const ALL: RunScope = RunScope {
    mode: RunMode::Execute,
    selection: PlanSelection::Whole,
    is_foreground: false,
    total_tasks: None,
};

/// A step with this `On failure` clause.
pub(crate) fn step(number: u64, title: &str, on_failure: &str) -> String {
    format!(
        "### Step {number}: {title}\n\n- **Files:** `src/{number}.rs`\n- **Changes:** Do it.\n\
         - **Verify:** `make check`\n- **On failure:** {on_failure}\n\
         - **Checkpoint:** `git commit -m \"part {number}\"`\n\n"
    )
}

/// A plan with these parts after its heading.
pub(crate) fn plan(parts: &[String]) -> Plan {
    let text = format!("# Demo\n\n## Implementation Plan\n\n{}", parts.concat());
    dialects::read(PATH, text.as_bytes(), BatchOptions::default())
}

pub(crate) fn spec(parts: &[String]) -> Plan {
    let text = format!(
        "# Session\n\n## Dependencies\n\n- **Entry condition:** `git diff --quiet` is clean\n\n## Scope Fence\n\n\
         - Touch: src/\n- Never touch: docs/\n\n## Implementation Plan\n\n{}## Exit Condition\n\n- [ ] `make all`\n",
        parts.concat()
    );
    dialects::read("s1.md", text.as_bytes(), BatchOptions::default())
}

pub(crate) fn open(plan: Plan) -> RunState {
    RunState::from_first_event(&RunEvent {
        seq: 1,
        ts: time(0),
        actor: EventActor::default(),
        kind: run_opened(plan),
    })
    .unwrap()
}

/// Time of the event that is so many after the first.
pub(crate) fn at(events: u64) -> Timestamp {
    time(events)
}

/// Applies an event, a second after the last one.
pub(crate) fn happens(state: &mut RunState, what: EventKind) {
    let event = RunEvent {
        seq: state.seq + 1,
        ts: time(state.seq),
        actor: EventActor::default(),
        kind: what,
    };
    state.apply(&event).unwrap();
}

pub(crate) fn begins(state: &mut RunState, id: &str) {
    let attempt = state.tasks[id].attempts + 1;
    let (task, ticket) = (id.to_owned(), "t".to_owned());
    happens(
        state,
        EventKind::TaskStarted {
            task,
            attempt,
            ticket,
            tree: None,
            protected_files: Vec::new(),
            already_green: Vec::new(),
            snapshot: None,
            head: None,
        },
    );
}

pub(crate) fn end(state: &RunState, id: &str, evidence: &str) -> AttemptEnd {
    AttemptEnd {
        attempt: state.tasks[id].attempts,
        evidence: evidence.to_owned(),
        ..AttemptEnd::default()
    }
}

pub(crate) fn passes(state: &mut RunState, id: &str, commit: &str) {
    begins(state, id);
    ran(
        state,
        id,
        TaskCheckOutcome {
            verdict: TaskCheckVerdict::Green,
            ..red(&[])
        },
    );
    let end = AttemptEnd {
        commit: Some(commit.to_owned()),
        ..end(state, id, "`make check` exit 0")
    };
    happens(
        state,
        EventKind::TaskPassed {
            task: id.to_owned(),
            end,
        },
    );
}

pub(crate) fn fails(state: &mut RunState, id: &str, is_final: bool) {
    begins(state, id);
    ran(state, id, red(&["error: no such function", "`done`"]));
    let end = end(state, id, "`make check` exit 2");
    happens(
        state,
        EventKind::TaskFailed {
            task: id.to_owned(),
            is_final,
            end,
        },
    );
}

/// Applies the outcome of a step's check.
fn ran(state: &mut RunState, id: &str, outcome: TaskCheckOutcome) {
    let attempt = state.tasks[id].attempts;
    let (task, command) = (id.to_owned(), "make check".to_owned());
    happens(
        state,
        EventKind::CheckRan {
            task,
            attempt,
            position: 0,
            command,
            outcome,
        },
    );
}

pub(crate) fn is_left_out(state: &mut RunState, id: &str) {
    fails(state, id, true);
    happens(
        state,
        EventKind::TaskSkipped {
            task: id.to_owned(),
            reason: "`make check` exit 2".to_owned(),
        },
    );
}

pub(crate) fn red(lines: &[&str]) -> TaskCheckOutcome {
    TaskCheckOutcome {
        verdict: TaskCheckVerdict::Red,
        detail: "exit 2".to_owned(),
        exit: Some(2),
        took_millis: 5,
        printed: PrintedOutput {
            first_lines: lines.iter().map(|line| (*line).to_owned()).collect(),
            line_count: lines.len(),
            ..PrintedOutput::default()
        },
        log: None,
        counts: None,
        has_pipe_without_pipefail: false,
        setting: String::new(),
    }
}

pub(crate) fn over(state: &mut RunState, result: RunResult) {
    happens(state, EventKind::RunEnded { result });
}
