//! The screen at the end of a run: the outcome, its evidence, and the next step.

use std::fmt::Write;

use omo_core::text::command_text::paste_form;
use omo_core::text::{capitalize, inline_code, pluralize, sanitize};
use omo_plan::model::Task;
use omo_plan::task_list::TaskListPhase;
use omo_view::run_view::TaskView;

use super::evidence::{
    Amount, checked_commands, current_verdict, evidence_sections, judged_criteria,
    tasks_done_before,
};
use super::{SCREEN_BYTES, progress_screen};
use crate::event::{PlanVerdict, UnfinishedLine};
use crate::program_files::task_folder::phase_of_run;
use crate::report::judged_with::judged_with_lines;
use crate::report::table::{cell, truncated_table};
use crate::report::task_list::messages::{
    bullet_list, field_lines, fit_rows, goal_text, rounds_text, task_list_name, task_names,
};
use crate::state::{RunPhase, RunState, TaskState, TaskStatus};
use crate::unfinished_lines::{MAX_UNFINISHED_LINES, unfinished_lines};
use crate::view::{RunFacts, run_view};

const WIDE: usize = 1_000;
/// Columns of a command where every line has to fit a terminal.
const NARROW: usize = 56;
const SKIPPED: &str = " (verification skipped)";

/// The report with all rows, and with commands of up to 1,000 columns.
pub fn final_report(state: &RunState) -> String {
    report_with(
        state,
        Amount {
            rows: usize::MAX,
            columns: WIDE,
        },
    )
}

/// The report with as many rows as fit into [`SCREEN_BYTES`]; the others are counted.
pub fn final_report_block(state: &RunState) -> String {
    fit_rows(SCREEN_BYTES, |rows| {
        report_with(
            state,
            Amount {
                rows,
                columns: NARROW,
            },
        )
    })
}

fn report_with(state: &RunState, amount: Amount) -> String {
    match (phase_of_run(state), &state.phase) {
        (_, RunPhase::Cancelled { why }) => {
            let why = sanitize(why, 200);
            let why = why.trim_end_matches('.');
            let colon = if why.is_empty() { "" } else { ": " };
            format!(
                "Execution cancelled{colon}{why}. Session ID: {}\n",
                task_list_name(state)
            )
        }
        (TaskListPhase::Complete, _) => completed_report(state, amount),
        (TaskListPhase::Failed, _) => failed_report(state, amount),
        _ => progress_screen(state),
    }
}

fn completed_report(state: &RunState, amount: Amount) -> String {
    let (skipped, result) = match (
        state.plan.policy.skips_verification,
        judged_criteria(state).is_empty(),
    ) {
        (false, _) => ("", "✓ PASS"),
        (true, true) => (SKIPPED, "not verified: the checks are green"),
        (true, false) => (
            SKIPPED,
            "not verified: the checks are green, and the rest was not judged",
        ),
    };
    let mut text = format!("## Execution Complete{skipped}\n\n");
    text.push_str(&field_lines(&[
        ("Goal", goal_text(state)),
        ("Iterations", rounds_text(state)),
        ("Result", result.to_owned()),
    ]));
    text.push_str("\n### Summary\n\n");
    let count = state.plan.work_tasks().count();
    let _ = writeln!(text, "- All {} completed", pluralize(count, "task"));
    criteria_counts(&mut text, state);
    remarks(&mut text, state);
    text.push_str("\n### Evidence\n\n");
    text.push_str(&evidence_sections(state, amount));
    unfinished_section(&mut text, state, amount.rows);
    let _ = writeln!(text, "Session ID: {}", task_list_name(state));
    text
}

fn criteria_counts(text: &mut String, state: &RunState) {
    let (by_command, by_people) = (checked_commands(state).len(), judged_criteria(state).len());
    let mut parts = Vec::new();
    if by_command > 0 {
        parts.push(format!("{by_command} by command"));
    }
    let skips = state.plan.policy.skips_verification;
    if by_people > 0 {
        parts.push(format!(
            "{by_people} {}",
            if skips {
                "claimed, and not judged"
            } else {
                "by the verifier"
            }
        ));
    }
    let criteria = if skips {
        "Success criteria"
    } else {
        "All success criteria verified"
    };
    let _ = writeln!(text, "- {criteria}: {}", parts.join(", "));
}

fn remarks(text: &mut String, state: &RunState) {
    let found = unfinished_lines(state).len();
    let unsearched = unsearched_tasks(state);
    let _ = match (found, unsearched.is_empty()) {
        (0, true) => writeln!(text, "- No blocked patterns detected"),
        (0, false) => Ok(()),
        (found, _) => {
            let look = if found == 1 { "looks" } else { "look" };
            let bound = if has_more_unfinished(state) {
                "At least "
            } else {
                ""
            };
            writeln!(
                text,
                "- {bound}{} {look} unfinished",
                pluralize(found, "added line")
            )
        }
    };
    let uncompared = task_ids_where(state, |task, _| task.files.is_empty());
    let repeated = task_ids_where(state, |_, known| known.attempts > 1);
    let vacuous = task_ids_where(state, |_, known| !known.already_green.is_empty());
    for (ids, what) in [
        (
            unsearched,
            "added lines not known, and not searched for blocked patterns",
        ),
        (uncompared, "files not compared, because none are named"),
        (
            tasks_done_before(state),
            "done before this run, as their files say; omo ran none of it",
        ),
        (
            vacuous,
            "checks that were green before the work, and prove little",
        ),
        (repeated, "done at a later attempt than the first"),
    ] {
        if !ids.is_empty() {
            let _ = writeln!(text, "- {}: {what}", capitalize(&task_names(&ids)));
        }
    }
    for line in judged_with_lines(state) {
        let _ = writeln!(text, "- {}", capitalize(&line));
    }
    for task in &state.plan.tasks {
        let end = state
            .tasks
            .get(&task.id)
            .and_then(|task| task.last_end.as_ref());
        if let Some(files) = end
            .map(|end| &end.out_of_scope)
            .filter(|files| !files.is_empty())
        {
            let first = files
                .first()
                .map(|file| inline_code(file, 60))
                .unwrap_or_default();
            let more = if files.len() > 1 {
                format!(" and {} more", files.len() - 1)
            } else {
                String::new()
            };
            let _ = writeln!(
                text,
                "- Task {} changed files that it does not name: `{first}`{more}",
                task.id
            );
        }
    }
}

fn task_ids_where(state: &RunState, holds: impl Fn(&Task, &TaskState) -> bool) -> Vec<&str> {
    let tasks = state.plan.work_tasks();
    let tasks = tasks.filter(|task| {
        state
            .tasks
            .get(&task.id)
            .is_some_and(|task_state| holds(task, task_state))
    });
    tasks.map(|task| task.id.as_str()).collect()
}

fn has_more_unfinished(state: &RunState) -> bool {
    if let Some(found) = &state.unfinished {
        return found.len() >= MAX_UNFINISHED_LINES;
    }
    state
        .tasks
        .values()
        .filter_map(|task| task.last_end.as_ref()?.unfinished.as_ref())
        .any(|found| found.len() >= MAX_UNFINISHED_LINES)
}

pub(super) fn unsearched_tasks(state: &RunState) -> Vec<&str> {
    if state.unfinished.is_some() {
        return Vec::new();
    }
    task_ids_where(state, |_, known| {
        known.status.is_ended()
            && known
                .last_end
                .as_ref()
                .is_none_or(|end| end.unfinished.is_none())
    })
}

pub(super) fn unfinished_line(line: &UnfinishedLine) -> String {
    format!(
        "`{}:{}` {}",
        inline_code(&line.file, 76),
        line.line,
        sanitize(&line.word, 40)
    )
}

fn unfinished_section(text: &mut String, state: &RunState, rows: usize) {
    let lines: Vec<String> = unfinished_lines(state)
        .into_iter()
        .map(unfinished_line)
        .collect();
    if !lines.is_empty() {
        let _ = write!(
            text,
            "### Added lines that look unfinished\n\n{}\n",
            bullet_list(&lines, rows)
        );
    }
}

fn failed_report(state: &RunState, amount: Amount) -> String {
    let is_max = state.round >= state.plan.policy.max_rounds;
    let reached = if is_max { " (max reached)" } else { "" };
    let mut text = "## Execution Failed\n\n".to_owned();
    text.push_str(&field_lines(&[
        ("Goal", goal_text(state)),
        ("Iterations", format!("{}{reached}", rounds_text(state))),
        ("Result", "✗ FAIL".to_owned()),
    ]));
    let rows = open_tasks(state);
    text.push('\n');
    if !rows.is_empty() {
        text.push_str("### Failed Tasks\n\n");
        let lines: Vec<_> = rows
            .iter()
            .map(|row| {
                [
                    row.id.clone(),
                    cell(&row.title, 34),
                    cell(&open_task_reason(row), amount.columns - 8),
                ]
            })
            .collect();
        text.push_str(&truncated_table(
            ["ID", "Task", "Reason"],
            &lines,
            amount.rows,
        ));
    }
    text.push_str("### Verification Issues\n\n");
    text.push_str(&bullet_list(
        &list_issues(state, !rows.is_empty(), amount.columns + 24),
        amount.rows.max(1),
    ));
    text.push('\n');
    unfinished_section(&mut text, state, amount.rows);
    if amount.columns == WIDE {
        text.push_str("### Evidence\n\n");
        text.push_str(&evidence_sections(state, amount));
    }
    next_steps(&mut text, state, &rows, amount.rows);
    let _ = writeln!(text, "\nSession ID: {}", task_list_name(state));
    text
}

fn open_tasks(state: &RunState) -> Vec<TaskView> {
    run_view(&RunFacts::of_state("", state))
        .tasks
        .into_iter()
        .filter(|row| {
            state
                .plan
                .task(&row.id)
                .is_some_and(|task| !task.is_verification())
                && !state.unblocks_dependents(&row.id)
        })
        .collect()
}

fn open_task_reason(row: &TaskView) -> String {
    if row.evidence.is_empty() {
        row.standing.key().to_owned()
    } else {
        row.evidence.clone()
    }
}

fn list_issues(state: &RunState, a_task_failed: bool, columns: usize) -> Vec<String> {
    let mut issues = Vec::new();
    let verification = state.plan.verification_task();
    let task_state = verification.and_then(|task| state.tasks.get(&task.id));
    match task_state.map(|known| (known.status, known.last_end.as_ref())) {
        None => issues.push("Verification was skipped".to_owned()),
        Some((TaskStatus::Failed | TaskStatus::Passed, Some(end))) => {
            match current_verdict(state) {
                Some(verdict) => issues.extend(objections(verdict, columns)),
                None => issues.push(format!(
                    "The verifier: {}",
                    sanitize(&end.evidence, columns)
                )),
            }
        }
        Some(_) if a_task_failed => {
            issues.push(
                "The verifier was not started in the last iteration: not every task was done"
                    .to_owned(),
            );
        }
        Some(_) => issues.push("The verifier gave no verdict".to_owned()),
    }
    for (place, outcome) in &state.final_checks {
        if let Some(check) = state
            .plan
            .final_checks
            .get(*place)
            .filter(|_| !outcome.is_green())
        {
            let detail = sanitize(outcome.describe(), 100);
            issues.push(format!(
                "{} {detail}, run again at the end",
                paste_form(&check.command, columns)
            ));
        }
    }
    issues
}

fn objections(verdict: &PlanVerdict, columns: usize) -> Vec<String> {
    let reopened = verdict
        .reopen
        .iter()
        .map(|(id, why)| format!("Task {id}: {}", sanitize(why, columns)));
    let note = Some(&verdict.note)
        .filter(|note| !note.is_empty())
        .map(|note| format!("Its note: {}", sanitize(note, columns)));
    let word = if verdict.passed { "PASS" } else { "FAIL" };
    std::iter::once(format!("The verifier says {word}"))
        .chain(reopened)
        .chain(note)
        .collect()
}

fn next_steps(text: &mut String, state: &RunState, failed: &[TaskView], most: usize) {
    let folder = inline_code(&state.plan.source.path, 300);
    text.push_str("### Next Steps\n\n1. Review failed task output:\n");
    if failed.is_empty() {
        let _ = writeln!(text, "   - `{folder}/tasks`");
    }
    for row in failed.iter().take(most) {
        let _ = writeln!(text, "   - `{folder}/tasks/{}.json`", row.id);
        let task_state = state.tasks.get(&row.id);
        let red = task_state.and_then(|task_state| {
            task_state
                .checks
                .iter()
                .find(|(_, outcome)| !outcome.is_green())
        });
        if let Some(log) = red.and_then(|(_, outcome)| outcome.log.as_ref()) {
            let _ = writeln!(text, "   - `{}`", inline_code(&log.to_string_lossy(), 300));
        }
    }
    if failed.len() > most {
        let _ = writeln!(text, "   - … and {} more", failed.len() - most);
    }
    let _ = write!(
        text,
        "2. Fix issues manually\n3. Run it again (resets iteration counter):\n   - `/omo:ulw-exec --session {} --again`\n",
        task_list_name(state)
    );
}
