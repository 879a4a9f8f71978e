//! Output of `omo agent done` and `omo agent fail` for a step, with the one command to run next.

use std::io::Write;

use omo_core::text::{list_some, sanitize};
use omo_engine::event::EventKind;
use omo_engine::report::findings::commit_place;
use omo_engine::report::judged_with::judged_with;
use omo_engine::report::ultraplan::task_lines;
use omo_engine::state::TaskStatus;
use omo_engine::task_counterfactual;
use omo_engine::work::JudgedAttempt;

use crate::blocks::parts::LONG_TIMEOUT;
use crate::context::CommandContext;
use crate::error::CommandError;

const FILES: usize = 8;

pub(crate) fn print_outcome(
    context: &CommandContext,
    judged: &JudgedAttempt,
    prints_next: bool,
) -> Result<(), CommandError> {
    let (id, state) = (&judged.task.id, &judged.state);
    let mut lines: Vec<String> = judged
        .outcomes
        .iter()
        .flat_map(|(check, outcome)| task_lines::check_lines(check, outcome))
        .collect();
    lines.extend(failure_reason(judged));
    lines.extend(
        judged
            .events
            .iter()
            .filter_map(|event| task_lines::task_event_line(&state.plan, event)),
    );
    let task_state = state.tasks.get(id);
    if task_state.is_some_and(|task_state| {
        task_state.status == TaskStatus::Passed && !task_state.already_green.is_empty()
    }) {
        lines.push(
            "WARNING: a check of it was green before the work began, and proves nothing about it"
                .to_owned(),
        );
    }
    let end = task_state.and_then(|task_state| task_state.last_end.as_ref());
    lines.extend(
        end.and_then(|end| commit_place(state, end))
            .map(|place| format!("NOTE: {place}")),
    );
    lines.extend(
        task_state
            .into_iter()
            .flat_map(judged_with)
            .map(|line| format!("NOTE: {line}")),
    );
    match task_counterfactual::weakness(state, &judged.task) {
        Some(weakness) => lines.push(format!("WARNING: {weakness}")),
        None if task_state.is_some_and(|task_state| task_state.status == TaskStatus::Passed) => {
            let words = end.and_then(|end| task_counterfactual::describe(&end.without_work));
            lines.extend(words.map(|words| format!("Without the work: {words}")));
        }
        None => {}
    }
    let mut outside = end.map(|end| end.out_of_scope.clone()).unwrap_or_default();
    // Files that a restore left alone have a line of their own.
    outside
        .retain(|file| task_state.is_none_or(|task_state| !task_state.left_alone.contains(file)));
    if !outside.is_empty() {
        let has_no_commit = end.is_none_or(|end| end.foreign_commits.is_empty());
        let in_commit = if has_no_commit {
            ", and not in its commit"
        } else {
            ""
        };
        lines.push(format!(
            "Outside of the task's files{in_commit}: {}",
            list_files(&outside)
        ));
    }
    lines.extend(super::changed_checks_line(judged).map(|line| format!("WARNING: {line}")));
    if let Some(why) = &judged.restore_error {
        lines.push(format!(
            "Its changes could not be taken back yet: {}",
            sanitize(why, 300)
        ));
    }
    if !prints_next {
        lines.push(next_command_line(context));
    }
    let mut out = anstream::stdout().lock();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn failure_reason(judged: &JudgedAttempt) -> Option<String> {
    let is_red = judged
        .outcomes
        .iter()
        .any(|(_, outcome)| !outcome.is_green());
    judged.events.iter().find_map(|event| match event {
        EventKind::TaskFailed { end, .. } => {
            // Evidence that begins with a command only repeats the red check's own lines.
            let is_repeated = is_red && end.evidence.starts_with('`')
                || end.evidence.starts_with("SCOPE VIOLATION: ");
            (!is_repeated).then(|| format!("Failed: {}", sanitize(&end.evidence, 400)))
        }
        _ => None,
    })
}

fn list_files(all: &[String]) -> String {
    let shown: Vec<String> = all.iter().map(|file| sanitize(file, 120)).collect();
    list_some(shown.iter().map(String::as_str), FILES)
}

fn next_command_line(context: &CommandContext) -> String {
    match &context.env.worker {
        Some(worker) => {
            format!(
                "Next:\n  run: omo agent next --run {} --group {}",
                sanitize(&worker.run, 64),
                sanitize(&worker.worker, 64)
            )
        }
        None => format!("Next:\n  run: omo agent next --wait 540      {LONG_TIMEOUT}"),
    }
}
