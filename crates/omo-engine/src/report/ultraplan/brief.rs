//! Brief of a worker for one step of an ultraplan, as Markdown: text, files, checks, earlier work.

use std::fmt::Write;

use omo_core::text::command_text::paste_form;
use omo_core::text::{inline_code, sanitize};
use omo_plan::model::{FileAction, OnFailure, Task, TaskGroup};

use crate::report::ultraplan::task_lines::task_heading;
use crate::state::{RunState, TaskState, TaskStatus};

pub fn brief(state: &RunState, task: &Task) -> String {
    let task_state = state.tasks.get(&task.id);
    let mut text = format!("{}\n\n", task_heading(&state.plan, task));
    let _ = writeln!(
        text,
        "Plan: {}, attempt {}.",
        state.plan.source.path,
        attempt_words(task_state, task)
    );
    if !state.plan.goal.is_empty() {
        let _ = writeln!(text, "Goal of the plan: {}", state.plan.goal);
    }
    let _ = writeln!(
        text,
        "\n{}\n\n---\n\n## What omo holds this step to\n",
        task.body.trim_end()
    );
    describe_files(&mut text, task);
    if let Some((_, group)) = state.plan.group_of(&task.id) {
        describe_fence(&mut text, group);
    }
    test_first(&mut text, task);
    describe_checks(&mut text, task, task_state);
    text.push_str(&on_failure(task));
    text.push_str(&checkpoint(state, task));
    describe_earlier_work(&mut text, state, task, task_state);
    text
}

/// Text such as `2 of 3`, of the attempts that count.
fn attempt_words(task_state: Option<&TaskState>, task: &Task) -> String {
    let begun = task_state.map_or(0, |known| {
        known.attempts.saturating_sub(known.attempts_before)
    });
    let is_running = task_state.is_some_and(|task_state| task_state.status == TaskStatus::Running);
    let number = if is_running {
        begun
    } else {
        begun.saturating_add(1)
    };
    format!("{number} of {}", task.max_attempts.max(number))
}

pub(super) fn describe_files(text: &mut String, task: &Task) {
    let names: Vec<String> = task
        .files
        .iter()
        .map(|file| {
            let remark = match file.action {
                FileAction::Create => " (new)",
                FileAction::Delete => " (deleted)",
                FileAction::Modify | FileAction::Test => "",
            };
            format!("`{}`{remark}", inline_code(&file.path, 200))
        })
        .collect();
    if names.is_empty() {
        text.push_str("- Follow Changes exactly. The plan names no files.\n");
        return;
    }
    let _ = writeln!(
        text,
        "- Follow Changes exactly; touch only these files: {}.",
        names.join(", ")
    );
    text.push_str("  Any other file that changes is reported, and is in no commit.\n");
}

pub(super) fn describe_fence(text: &mut String, group: &TaskGroup) {
    if !group.may_touch.is_empty() {
        let _ = writeln!(text, "- Touch: {}", pattern_list(&group.may_touch));
    }
    if !group.never_touch.is_empty() {
        let _ = writeln!(
            text,
            "- Never touch: {}. A change there ends the run.",
            pattern_list(&group.never_touch)
        );
    }
}

fn pattern_list(patterns: &[String]) -> String {
    let names: Vec<String> = patterns
        .iter()
        .map(|pattern| format!("`{}`", inline_code(pattern, 200)))
        .collect();
    names.join(", ")
}

pub(super) fn test_first(text: &mut String, task: &Task) {
    let Some(check) = &task.red_check else { return };
    let rule = "the test has to fail before the work, and to pass after it; omo runs it with the work and without";
    let _ = writeln!(
        text,
        "- Test first: {}: {rule}.",
        paste_form(&check.command, 1_000)
    );
}

pub(super) fn describe_checks(text: &mut String, task: &Task, task_state: Option<&TaskState>) {
    if task.checks.is_empty() {
        text.push_str("- The plan names no Verify: this can end as unproved at best.\n");
    }
    let vacuous = task_state
        .map(|task_state| task_state.already_green.as_slice())
        .unwrap_or_default();
    for (place, check) in task
        .all_checks()
        .enumerate()
        .skip(task.red_check.iter().count())
    {
        let says = check
            .expect
            .stdout_has
            .as_ref()
            .map(|has| format!(" and prints `{}`", inline_code(has, 200)));
        let _ = write!(text, "- Verify: {}", paste_form(&check.command, 1_000));
        let _ = writeln!(
            text,
            ", which omo runs itself: PASS is exit code 0{}.",
            says.unwrap_or_default()
        );
        if vacuous.contains(&place) {
            text.push_str(
                "  WARNING: it was green before the work began: by itself it proves nothing.\n",
            );
        }
    }
}

fn on_failure(task: &Task) -> String {
    let most = task.max_attempts;
    let consequence = match task.on_failure {
        OnFailure::Revert => {
            format!("up to {most} attempts; then its changes are taken back, and the run stops")
        }
        OnFailure::Retry => {
            format!(
                "up to {most} attempts, from the second on another way; then its changes are taken back, and the run stops"
            )
        }
        OnFailure::Skip => {
            "its changes are taken back, it is left out, and the next step begins".to_owned()
        }
        OnFailure::Escalate => {
            "the run stops at once and waits for a person; the work stays as it is".to_owned()
        }
        OnFailure::Hold => "it stays as it is until a person has it tried again".to_owned(),
    };
    format!(
        "- On failure: {}: {consequence}.\n",
        super::on_failure_word(task.on_failure)
    )
}

fn checkpoint(state: &RunState, task: &Task) -> String {
    match &task.commit {
        Some(commit) => {
            let first = commit.message.lines().next().unwrap_or_default();
            format!(
                "- Checkpoint: omo commits it itself, as `{}`. Do not commit.\n",
                inline_code(first, 200)
            )
        }
        None if state.parallel.is_some() => {
            "- omo commits it itself once it has passed. Do not commit.\n".to_owned()
        }
        None => String::new(),
    }
}

pub(super) fn describe_earlier_work(
    text: &mut String,
    state: &RunState,
    task: &Task,
    known: Option<&TaskState>,
) {
    let notes = state
        .plan
        .tasks
        .iter()
        .take_while(|other| other.id != task.id)
        .filter_map(|other| {
            let note = state
                .tasks
                .get(&other.id)?
                .last_end
                .as_ref()?
                .note
                .as_ref()?;
            Some((&other.id, note))
        });
    for (id, note) in notes {
        let _ = writeln!(text, "- From step {id}: {note}");
    }
    let Some(known) = known else { return };
    if known.is_stale {
        text.push_str(
            "- It was done before the plan was edited; what is there may be of the old text.\n",
        );
    } else if let Some(end) = known.last_end.as_ref().filter(|_| !known.status.is_ended()) {
        let _ = writeln!(
            text,
            "\n## The last attempt failed\n\n{}",
            sanitize(&end.evidence, 500)
        );
        for line in failed_output(known) {
            let _ = writeln!(text, "    {line}");
        }
        match (&task.alternative, task.on_failure) {
            (Some(other), OnFailure::Retry) => {
                let _ = writeln!(text, "\n- The plan says how to try it now: {other}");
            }
            _ => text.push_str("\n- Do it another way than the last time.\n"),
        }
    }
    if let Some(why) = &known.reason {
        let _ = writeln!(
            text,
            "- Begun again: {}. Work of the attempt before may be in the files.",
            sanitize(why, 300)
        );
    }
}

fn failed_output(task_state: &TaskState) -> Vec<String> {
    let red = task_state
        .checks
        .iter()
        .rev()
        .find(|(_, outcome)| !outcome.is_green());
    let lines = red
        .map(|(_, outcome)| outcome.quoted_output())
        .unwrap_or_default();
    lines.iter().map(|line| sanitize(line, 400)).collect()
}
