//! Runs of task lists as plain data.

use omo_core::check::printed_output::PrintedOutput;
use omo_core::check::task_check::{TaskCheck, TaskCheckOutcome, TaskCheckVerdict};
use omo_engine::event::{AttemptEnd, EventActor, Evidence, PlanVerdict, RunEvent, RunResult};
use omo_engine::state::{RunPhase, RunState, RunningAttempt, TaskState, TaskStatus};
use omo_plan::model::{
    Dialect, FileAction, FileUse, OnTaskFail, Parallelism, Plan, RunPolicy, Task, TaskComplexity,
    TaskKind,
};
use omo_testkit::plans::{plan, run_opened, time};

pub(crate) const FOLDER: &str = "/home/ana/.claude/ultrawork/sessions/37b6a60f";

/// The opening of a run with these tasks and their dependencies; all of them are verified.
pub(crate) fn run(tasks: &[(&str, &str, &[&str])]) -> RunState {
    let names: Vec<(&str, &[&str])> = tasks.iter().map(|(id, _, deps)| (*id, *deps)).collect();
    let mut plan = plan(&names);
    for (task, (_, title, _)) in plan.tasks.iter_mut().zip(tasks) {
        (*title).clone_into(&mut task.title);
        task.body = format!("# {}: {title}", task.id);
        task.checks = vec![TaskCheck::new(&format!("npm test -- {}", task.id))];
    }
    let all = plan.tasks.iter().map(|task| task.id.clone()).collect();
    let like = plan.tasks.first().unwrap().clone();
    plan.tasks.push(Task {
        id: "verify".to_owned(),
        title: "Verification".to_owned(),
        kind: TaskKind::Verify,
        complexity: TaskComplexity::Complex,
        deps: all,
        checks: Vec::new(),
        ..like
    });
    plan.dialect = Dialect::TasksJson;
    FOLDER.clone_into(&mut plan.source.path);
    "Add login".clone_into(&mut plan.goal);
    plan.final_checks = plan
        .tasks
        .iter()
        .flat_map(|task| task.checks.clone())
        .collect();
    plan.policy = RunPolicy {
        on_task_fail: OnTaskFail::NextRound,
        parallel: Parallelism::Tasks,
        max_rounds: 5,
        ..plan.policy
    };
    opened_as(plan)
}

pub(crate) fn opened_as(plan: Plan) -> RunState {
    RunState::from_first_event(&RunEvent {
        seq: 1,
        ts: time(0),
        actor: EventActor::default(),
        kind: run_opened(plan),
    })
    .unwrap()
}

/// The task list of the published examples: a schema, and its dependent.
pub(crate) fn small() -> RunState {
    let mut state = run(&[
        ("1", "Setup schema", &[]),
        ("2", "Build API", &["1"]),
        ("3", "Add pages", &["2"]),
    ]);
    task_mut(&mut state, "2").complexity = TaskComplexity::Complex;
    state
}

pub(crate) fn task_mut<'a>(state: &'a mut RunState, id: &str) -> &'a mut Task {
    state
        .plan
        .tasks
        .iter_mut()
        .find(|task| task.id == id)
        .unwrap()
}

pub(crate) fn task_state_mut<'a>(state: &'a mut RunState, id: &str) -> &'a mut TaskState {
    state.tasks.get_mut(id).unwrap()
}

pub(crate) fn outcome(exit: i32) -> TaskCheckOutcome {
    TaskCheckOutcome {
        verdict: if exit == 0 {
            TaskCheckVerdict::Green
        } else {
            TaskCheckVerdict::Red
        },
        detail: format!("exit {exit}"),
        exit: Some(exit),
        took_millis: 5,
        printed: PrintedOutput::default(),
        log: None,
        counts: None,
        has_pipe_without_pipefail: false,
        setting: String::new(),
    }
}

/// The end of an attempt whose changes were searched.
pub(crate) fn end(evidence: &str) -> AttemptEnd {
    AttemptEnd {
        attempt: 1,
        evidence: evidence.to_owned(),
        unfinished: Some(Vec::new()),
        ..AttemptEnd::default()
    }
}

/// A task is proved by its commands, which are run once more at the end.
pub(crate) fn pass(state: &mut RunState, id: &str) {
    let checks: Vec<String> = task_mut(state, id)
        .checks
        .iter()
        .map(|check| check.command.clone())
        .collect();
    for command in &checks {
        let place = state
            .plan
            .final_checks
            .iter()
            .position(|check| check.command == *command)
            .unwrap();
        state.final_checks.insert(place, outcome(0));
    }
    let known = task_state_mut(state, id);
    known.status = TaskStatus::Passed;
    known.attempts += 1;
    known.checks = checks
        .into_iter()
        .map(|command| (command, outcome(0)))
        .collect();
    known.last_end = Some(end("exit 0"));
}

pub(crate) fn fail(state: &mut RunState, id: &str) {
    let command = task_mut(state, id).checks.first().unwrap().command.clone();
    let known = task_state_mut(state, id);
    known.status = TaskStatus::Failed;
    known.attempts += 1;
    known.last_end = Some(end(&format!("`{command}` exit 1")));
    known.checks = vec![(command, outcome(1))];
}

pub(crate) fn claim(state: &mut RunState, id: &str, commands: &[&str]) {
    let ids: Vec<String> = commands
        .iter()
        .map(|command| evidence(state, id, command))
        .collect();
    let known = task_state_mut(state, id);
    known.status = TaskStatus::Claimed;
    known.attempts += 1;
    known.last_end = Some(end("as claimed"));
    known.evidence_ids = ids;
}

/// A command was run as evidence; gives its id.
pub(crate) fn evidence(state: &mut RunState, task: &str, command: &str) -> String {
    let id = format!("e{}", state.evidence.len() + 1);
    state.evidence.push(Evidence {
        id: id.clone(),
        task: task.to_owned(),
        attempt: 1,
        command: command.to_owned(),
        outcome: outcome(0),
        tree: None,
        output_sha256: None,
    });
    id
}

/// The verdict of the verifier: all is done, by this evidence, or these tasks are to be done again.
pub(crate) fn judge(state: &mut RunState, shown_by: &[&str], reopen: &[(&str, &str)], note: &str) {
    let verdict = PlanVerdict {
        passed: reopen.is_empty(),
        evidence_ids: shown_by.iter().map(|id| (*id).to_owned()).collect(),
        reopen: reopen
            .iter()
            .map(|(id, why)| ((*id).to_owned(), (*why).to_owned()))
            .collect(),
        note: note.to_owned(),
        ..PlanVerdict::default()
    };
    let known = task_state_mut(state, "verify");
    known.status = if verdict.passed {
        TaskStatus::Passed
    } else {
        TaskStatus::Failed
    };
    known.last_end = Some(end(&verdict.summary_line()));
    state.verdicts.push(verdict);
}

pub(crate) fn ended(state: RunState, result: RunResult) -> RunState {
    RunState {
        phase: RunPhase::Ended { result },
        ..state
    }
}

pub(crate) fn file(path: &str) -> FileUse {
    FileUse::new(path, FileAction::Modify)
}

pub(crate) fn begin(state: &mut RunState, id: &str) {
    let known = task_state_mut(state, id);
    known.status = TaskStatus::Running;
    known.attempts += 1;
    let ticket = "0".repeat(64);
    known.running = Some(RunningAttempt {
        by: EventActor::default(),
        ticket,
        since: time(1),
        tree: None,
        protected_files: Vec::new(),
    });
}

/// A screen as it is typed in a test: without blanks at the ends of lines.
pub(crate) fn shown(text: &str) -> String {
    text.lines()
        .flat_map(|line| [line.trim_end(), "\n"])
        .collect()
}
