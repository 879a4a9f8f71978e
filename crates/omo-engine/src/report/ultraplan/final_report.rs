//! `## Ultraexecute Local …`: the outcome of a run for people, with the block for machines at its end.

use std::fmt::Write;

use omo_core::text::sanitize;
use omo_plan::model::Task;

use super::{RunScope, command_for, on_failure_word, short_commit};
use crate::outcome::{FinalChecksResult, OutcomeSummary, PlanOutcome, ReportedStatus};
use crate::parallel_state::{GroupState, GroupStatus};
use crate::program_files::ultraexecute_summary::summary_block;
use crate::report::findings::finding_lines;
use crate::report::heading::run_heading;
use crate::report::table::{cell, table};
use crate::report::workers::workers_section;
use crate::state::{RunPhase, RunState};
use crate::view::{RunFacts, run_view};

const TITLE_CHARS: usize = 80;

pub fn final_report(state: &RunState, asked: RunScope) -> String {
    let reached = OutcomeSummary::for_run(state, asked.selection);
    let path = sanitize(&state.plan.source.path, 300);
    let head = [
        ("Plan", path.clone()),
        ("Type", state.plan.dialect.rules().file_type().to_owned()),
        ("Mode", asked.describe()),
        ("Result", result_words(state, &reached)),
    ];
    let head: Vec<String> = head
        .iter()
        .map(|(name, value)| format!("**{name}:** {value}"))
        .collect();
    let heading = run_heading(state).text;
    let mut text = format!(
        "## Ultraexecute Local {heading}\n\n{}\n\n### Step Results\n\n",
        head.join("  \n")
    );
    text += &results(state, &reached);
    text += &count_words(&reached);
    text += &workers_section(state);
    text += &final_checks_section(state, &reached);
    text += &failure(state, &reached);
    text += &unproved_section(state, &reached);
    text += &findings_section(state, &reached);
    text += &remaining_work_section(state, &reached);
    if reached.outcome != PlanOutcome::Completed {
        let _ = write!(
            text,
            "To resume: {} --resume {path}\n\n",
            command_for(&state.plan)
        );
    }
    // No line of JSON begins with text of the plan: nothing there can close the fence.
    let _ = writeln!(text, "```json\n{}\n```", summary_block(state, asked));
    text
}

/// The outcome of a run in the words of such reports, which have none for a run that goes on or was cancelled.
fn result_words(state: &RunState, reached: &OutcomeSummary) -> String {
    let so_far = |word: &str| {
        format!(
            "{word} ({}/{} passed)",
            reached.counts.passed, reached.counts.total
        )
    };
    match (&state.phase, reached.outcome) {
        (RunPhase::Executing, PlanOutcome::Partial) => so_far("IN PROGRESS"),
        (RunPhase::Cancelled { .. }, _) => so_far("CANCELLED"),
        (RunPhase::Executing | RunPhase::Ended { .. }, _) => reached.describe(state.plan.dialect),
    }
}

fn results(state: &RunState, reached: &OutcomeSummary) -> String {
    let rows: Vec<[String; 5]> = reached
        .tasks
        .iter()
        .map(|(id, status)| result_row(state, id, *status))
        .collect();
    table(
        ["Step", "Description", "Result", "Attempts", "Commit"],
        &rows,
    )
}

fn result_row(state: &RunState, id: &str, status: ReportedStatus) -> [String; 5] {
    let task_state = state.tasks.get(id);
    let commit = task_state
        .and_then(|task_state| task_state.last_end.as_ref())
        .and_then(|end| end.commit.as_deref());
    let commit = commit.filter(|_| status == ReportedStatus::Passed);
    [
        id.to_owned(),
        cell(
            state.plan.task(id).map_or("", |task| &task.title),
            TITLE_CHARS,
        ),
        status_word(status).to_owned(),
        task_state.map_or(0, |known| known.attempts).to_string(),
        commit.map_or_else(|| "—".to_owned(), |commit| cell(short_commit(commit), 12)),
    ]
}

fn status_word(status: ReportedStatus) -> &'static str {
    match status {
        ReportedStatus::Passed => "PASS",
        ReportedStatus::Failed => "FAIL",
        ReportedStatus::Skipped => "SKIPPED",
        ReportedStatus::Unverified => "UNVERIFIED",
        ReportedStatus::Running => "RUNNING",
        ReportedStatus::Pending => "—",
    }
}

fn count_words(reached: &OutcomeSummary) -> String {
    let counts = reached.counts;
    let mut text = format!(
        "### Summary\n\n- Passed: {}/{}\n",
        counts.passed, counts.total
    );
    let _ = write!(
        text,
        "- Skipped: {}\n- Failed: {}\n",
        counts.skipped, counts.failed
    );
    if counts.unverified > 0 {
        let _ = writeln!(text, "- Not verified: {}", counts.unverified);
    }
    let _ = write!(text, "- Not reached: {}\n\n", counts.not_reached);
    text
}

fn final_checks_section(state: &RunState, reached: &OutcomeSummary) -> String {
    let name = state.plan.dialect.rules().final_checks_title();
    match (reached.final_checks, reached.outcome) {
        (FinalChecksResult::None, PlanOutcome::Completed) => "All steps completed.\n\n".to_owned(),
        (FinalChecksResult::Pass, PlanOutcome::Completed) => {
            format!("All steps completed. {name}: PASS.\n\n")
        }
        (FinalChecksResult::Fail, _) => {
            let mut text = format!("{name}: FAIL.\n\n");
            let red = state
                .final_checks
                .iter()
                .filter(|(_, outcome)| !outcome.is_green());
            for (place, outcome) in red {
                let command = state
                    .plan
                    .final_checks
                    .get(*place)
                    .map_or("", |check| check.command.as_str());
                let command = omo_core::text::command_text::paste_form(command, 1_000);
                let _ = writeln!(
                    text,
                    "- {command} → FAIL: {}",
                    sanitize(outcome.describe(), 200)
                );
            }
            text + "\n"
        }
        _ => String::new(),
    }
}

fn failure(state: &RunState, reached: &OutcomeSummary) -> String {
    let Some(task) = reached
        .failed_at
        .as_ref()
        .and_then(|id| state.plan.task(id))
    else {
        return String::new();
    };
    let task_state = state.tasks.get(&task.id);
    let evidence = task_state
        .and_then(|task_state| task_state.last_end.as_ref())
        .map(|end| sanitize(&end.evidence, 500));
    let mut text = format!("### Failure Details\n\n{}\n", task_title(task));
    let _ = writeln!(text, "- On failure: {}", on_failure_word(task.on_failure));
    let _ = writeln!(text, "- Error: {}", evidence.unwrap_or_default());
    let _ = writeln!(
        text,
        "- Attempts: {}\n",
        task_state.map_or(0, |known| known.attempts)
    );
    let red = task_state.and_then(|task_state| {
        task_state
            .checks
            .iter()
            .rev()
            .find(|(_, outcome)| !outcome.is_green())
    });
    let lines = red
        .map(|(_, outcome)| outcome.quoted_output())
        .unwrap_or_default();
    let lines: Vec<String> = lines
        .iter()
        .map(|line| sanitize(line, 400).replace('`', "'"))
        .collect();
    if !lines.is_empty() {
        let _ = write!(text, "```\n{}\n```\n\n", lines.join("\n"));
    }
    text
}

fn task_title(task: &Task) -> String {
    format!("Step {}: {}", task.id, sanitize(&task.title, 200))
}

fn unproved_section(state: &RunState, reached: &OutcomeSummary) -> String {
    let unproved = run_view(&RunFacts::of_state("", state)).not_verified;
    let lines = unproved
        .iter()
        .filter(|item| {
            item.task
                .as_ref()
                .is_some_and(|id| reached.tasks.iter().any(|(known, _)| known == id))
        })
        .map(|item| {
            format!(
                "- Step {}: {}\n",
                item.task.as_deref().unwrap_or_default(),
                sanitize(&item.reason, 300)
            )
        });
    // Each session was checked by itself alone.
    let merged = state
        .parallel
        .as_ref()
        .is_some_and(|parallel| parallel.groups.values().any(is_merged));
    let whole = "- The whole: the plan has no `## Verification`, so that nothing has checked all sessions together\n";
    let whole = (merged && state.plan.final_checks.is_empty()).then(|| whole.to_owned());
    let lines: String = lines.chain(whole).collect();
    if lines.is_empty() {
        lines
    } else {
        format!("### Not Verified\n\n{lines}\n")
    }
}

fn is_merged(group: &GroupState) -> bool {
    group.status == GroupStatus::Merged
}

fn findings_section(state: &RunState, reached: &OutcomeSummary) -> String {
    let tasks = reached
        .tasks
        .iter()
        .filter_map(|(id, _)| state.plan.task(id));
    let lines = finding_lines(state, tasks);
    if lines.is_empty() {
        String::new()
    } else {
        format!("### Findings\n\n- {}\n\n", lines.join("\n- "))
    }
}

fn remaining_work_section(state: &RunState, reached: &OutcomeSummary) -> String {
    let left = reached.tasks.iter().filter(|(_, status)| {
        matches!(
            *status,
            ReportedStatus::Pending | ReportedStatus::Running | ReportedStatus::Failed
        )
    });
    let tasks = left.filter_map(|(id, _)| state.plan.task(id));
    let lines: Vec<String> = tasks
        .zip(1..)
        .map(|(task, place)| format!("{place}. {}\n", task_title(task)))
        .collect();
    if lines.is_empty() {
        String::new()
    } else {
        format!("### What Remains\n\n{}\n", lines.concat())
    }
}
