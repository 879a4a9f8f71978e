//! [`TaskView`]s of a plan run, with their checks and what of them is unproved.

use std::collections::BTreeMap;

use omo_core::check::counterfactual::{CheckCounterfactual, WithoutChange};
use omo_core::check::printed_output::QUOTED_LINES;
use omo_core::check::task_check::{TaskCheckOutcome, TaskCheckVerdict};
use omo_core::text::command_text::typed_form;
use omo_core::text::sanitize;
use omo_plan::model::Task;
use omo_plan::proof::ProofSource;
use omo_view::run_view::{CheckState, CheckView, RunningTask, Standing, TaskView, UnprovedView};
use omo_view::table::truncate_columns;

use super::RunFacts;
use crate::report::ultraplan::short_commit;
use crate::standing::view_standing;
use crate::state::{RunState, RunningAttempt, TaskStanding, TaskState, TaskStatus};
use crate::view::history::attempts_by_task;
use crate::view::words;

const COMMAND_COLUMNS: usize = 300;

pub(super) fn task_views(facts: &RunFacts<'_>) -> Vec<TaskView> {
    let standings = facts.state.standings();
    let places: BTreeMap<&str, usize> = standings
        .iter()
        .enumerate()
        .map(|(place, (task, _))| (task.id.as_str(), place))
        .collect();
    let mut attempts = attempts_by_task(facts.events);
    standings
        .iter()
        .map(|(task, standing)| {
            let mut view = task_view(facts, task, standing);
            view.needs = task
                .deps
                .iter()
                .filter_map(|id| places.get(id.as_str()).copied())
                .collect();
            view.history = attempts.remove(task.id.as_str()).unwrap_or_default();
            view
        })
        .collect()
}

fn task_view(facts: &RunFacts<'_>, task: &Task, standing: &TaskStanding) -> TaskView {
    let (state, none) = (facts.state, TaskState::default());
    let task_state = state.tasks.get(&task.id).unwrap_or(&none);
    let end = task_state.last_end.clone().unwrap_or_default();
    let blocked_by = match standing {
        TaskStanding::Blocked { by } => Some(by.clone()),
        TaskStanding::Is(_) => None,
    };
    // The reason of a skip or a pause is newer than the evidence of the last attempt.
    let evidence = match (&blocked_by, &task_state.reason) {
        (Some(by), _) => format!("{by}, which it depends on, has not passed"),
        (None, Some(reason)) => reason.clone(),
        (None, None) => end.evidence,
    };
    let already_green: Vec<String> = task
        .all_checks()
        .enumerate()
        .filter(|(place, _)| task_state.already_green.contains(place))
        .map(|(_, check)| check.command.clone())
        .collect();
    let evidence_ids = if task_state.status.is_ended() {
        task_state.evidence_ids.clone()
    } else {
        Vec::new()
    };
    let shown = state
        .evidence
        .iter()
        .filter(|shown| evidence_ids.contains(&shown.id));
    TaskView {
        id: task.id.clone(),
        title: task.title.clone(),
        standing: view_standing(task, standing),
        blocked_by,
        is_stale: task_state.is_stale,
        attempts: task_state.attempts,
        history: Vec::new(),
        checks: own_checks(
            task_state,
            &already_green,
            &end.without_work,
            end.tree.as_deref(),
        ),
        evidence,
        evidence_lines: shown
            .map(|shown| {
                let command = truncate_columns(&typed_form(&shown.command), COMMAND_COLUMNS);
                format!(
                    "{} {command}: {}",
                    sanitize(&shown.id, 20),
                    sanitize(shown.outcome.describe(), 80)
                )
            })
            .collect(),
        evidence_ids,
        files: end.files,
        out_of_scope: end.out_of_scope,
        already_green,
        without_work: end.without_work,
        note: end.note,
        is_verification: task.is_verification(),
        goal: task.body.clone(),
        needs: Vec::new(),
        proved_by: proof_source(task, task_state),
        commit: end
            .commit
            .as_deref()
            .map(|commit| short_commit(commit).to_owned()),
        diff: facts
            .found
            .differences
            .get(&task.id)
            .cloned()
            .unwrap_or_default(),
        running: task_state.running.as_ref().map(|running| RunningTask {
            since: running.since,
            worker: worker_of(state, &task.id, running),
            ended: facts.found.ended_workers.get(&task.id).copied(),
        }),
        max_attempts: task.max_attempts,
        is_next: *standing == TaskStanding::Is(TaskStatus::Held)
            || *standing == TaskStanding::Is(TaskStatus::Pending)
                && task.deps.iter().all(|id| state.status_of(id).is_ended()),
        updated_at: task_state.updated_at,
    }
}

fn own_checks(
    task_state: &TaskState,
    already_green: &[String],
    without_work: &[CheckCounterfactual],
    tree: Option<&str>,
) -> Vec<CheckView> {
    // If one check is red without the work, others may be green without it, such as a lint.
    let is_shown = without_work.iter().any(|known| known.without.is_red());
    task_state
        .checks
        .iter()
        .map(|(command, outcome)| {
            let mut view = check_view(command, Some(outcome), tree);
            let is_green_without = !is_shown
                && without_work
                    .iter()
                    .any(|known| known.name == *command && known.without == WithoutChange::Green);
            if view.state == CheckState::Green
                && (already_green.contains(command) || is_green_without)
            {
                view.state = CheckState::AlreadyGreen;
            }
            view
        })
        .collect()
}

pub(super) fn check_view(
    command: &str,
    outcome: Option<&TaskCheckOutcome>,
    tree: Option<&str>,
) -> CheckView {
    let Some(outcome) = outcome else {
        return CheckView {
            command: command.to_owned(),
            ..CheckView::default()
        };
    };
    CheckView {
        command: command.to_owned(),
        verdict: Some(outcome.verdict.word()),
        detail: outcome.describe().to_owned(),
        exit: outcome.exit,
        duration_millis: Some(outcome.took_millis),
        state: match &outcome.verdict {
            TaskCheckVerdict::Green => CheckState::Green,
            TaskCheckVerdict::Red | TaskCheckVerdict::TimedOut => CheckState::Red,
            TaskCheckVerdict::Environment { .. } | TaskCheckVerdict::NothingRan => {
                CheckState::Unusable
            }
        },
        tree: tree.map(words::tree_name),
        output: outcome.printed.excerpt(QUOTED_LINES),
        log: outcome.log.as_ref().map(|log| log.display().to_string()),
    }
}

fn proof_source(task: &Task, task_state: &TaskState) -> Option<String> {
    match &task_state.proved_by {
        Some(ProofSource::Task(id)) => Some(format!("task {id}, which is a check itself")),
        Some(ProofSource::FinalChecks) => Some("the checks of the whole".to_owned()),
        None if task.is_verification() && task_state.status == TaskStatus::Passed => {
            Some("the verifier's verdict".to_owned())
        }
        None => None,
    }
}

fn worker_of(state: &RunState, task: &str, running: &RunningAttempt) -> String {
    words::worker(state, task, running.by.session.as_deref())
}

pub(super) fn unproved_items(tasks: &[TaskView], final_checks: &[CheckView]) -> Vec<UnprovedView> {
    let of_task = tasks.iter().filter_map(|task| {
        let reason = match task.standing {
            Standing::Unproved => task.evidence.clone(),
            Standing::Claimed if task.evidence_ids.is_empty() => {
                "done before the run, as another program says; omo has not checked it".to_owned()
            }
            Standing::Claimed => {
                format!(
                    "judged, with {} to show it; no command decides it",
                    task.evidence_ids.join(", ")
                )
            }
            Standing::Passed if !task.already_green.is_empty() => {
                format!(
                    "green before the work began: {}",
                    task.already_green.join("; ")
                )
            }
            _ => return None,
        };
        Some(UnprovedView {
            task: Some(task.id.clone()),
            reason,
        })
    });
    let of_plan = final_checks.iter().filter(|check| check.verdict.is_none());
    let of_plan = of_plan.map(|check| UnprovedView {
        task: None,
        reason: format!("did not run: {}", check.command),
    });
    of_task.chain(of_plan).collect()
}
