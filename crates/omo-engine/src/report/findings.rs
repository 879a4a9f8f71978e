//! Findings beside the status of tasks, one line each: weak checks, unlisted changes, notes.

use omo_core::text::command_text::quote_argument;
use omo_core::text::{list_some, sanitize};
use omo_plan::model::{Plan, Task};

use super::judged_with::judged_with;
use super::taken_back;
use super::ultraplan::short_commit;
use super::worker_notes;
use crate::event::{AttemptEnd, MissingCommit};
use crate::state::{RunState, TaskState};
use crate::task_counterfactual;
use crate::unfinished_lines::unfinished_lines;

const NAMED_FILES: usize = 8;
const NAMED_LINES: usize = 10;

/// Lines about `tasks`, such as `step 3: …`, and about the whole run.
pub fn finding_lines<'a>(
    state: &RunState,
    tasks: impl IntoIterator<Item = &'a Task>,
) -> Vec<String> {
    let word = state.plan.dialect.unit_word();
    let mut lines = Vec::new();
    for task in tasks {
        let Some(task_state) = state.tasks.get(&task.id) else {
            continue;
        };
        let found = task_counterfactual::weakness(state, task)
            .into_iter()
            .chain(task_findings(&state.plan, task_state));
        lines.extend(found.map(|line| format!("{word} {}: {line}", sanitize(&task.id, 64))));
    }
    lines.extend(worker_notes::note_lines(state));
    let later = state.open_findings();
    lines.extend(later.map(|(_, text)| {
        format!(
            "for later, says a reviewer: {} (`omo run later`)",
            sanitize(text, 300)
        )
    }));
    lines.extend(missing_commit_lines(state));
    lines.extend(
        state
            .displaced
            .iter()
            .map(|kept| taken_back::displaced_line(kept)),
    );
    let unfinished = unfinished_lines(state);
    for line in unfinished.iter().take(NAMED_LINES) {
        lines.push(format!(
            "looks unfinished: {}:{}, {}",
            sanitize(&line.file, 76),
            line.line,
            sanitize(&line.word, 40)
        ));
    }
    if unfinished.len() > NAMED_LINES {
        lines.push(format!(
            "and {} more added lines look unfinished",
            unfinished.len() - NAMED_LINES
        ));
    }
    for (file, task) in &state.changed_check_files {
        let (file, task) = (sanitize(file, 200), sanitize(task, 64));
        lines.push(format!(
            "{file} is run by checks, and was changed while {word} {task} was worked on"
        ));
    }
    for (file, kept) in &state.changed_files {
        let kept = kept
            .as_ref()
            .map(|kept| format!("; that is kept in {}", sanitize(kept, 200)));
        lines.push(format!(
            "{} was changed by something else{}",
            sanitize(file, 200),
            kept.unwrap_or_default()
        ));
    }
    lines
}

/// Lines about commits that a branch of the user lacks, each with commands that merge it.
pub fn missing_commit_lines(state: &RunState) -> Vec<String> {
    state
        .missing_commits
        .iter()
        .map(|missing| {
            let (word, task) = (state.plan.dialect.unit_word(), sanitize(&missing.task, 64));
            let commit = short_commit(&missing.commit);
            let commands = merge_commands(missing).join("` and `");
            let (place, brings) = match &missing.lacking {
                Some(branch) => {
                    let branch = branch_words(branch);
                    (format!("not in {branch}, where the run began"), "bring")
                }
                None => ("not in the branch that is checked out".to_owned(), "brings"),
            };
            format!("{word} {task}: commit {commit} is {place}, and `{commands}` {brings} it in")
        })
        .collect()
}

pub fn merge_commands(missing: &MissingCommit) -> Vec<String> {
    let switch = missing
        .lacking
        .as_deref()
        .map(|branch| format!("git switch {}", quote_argument(&branch_words(branch))));
    let option = if missing.is_unrelated {
        "--allow-unrelated-histories "
    } else {
        ""
    };
    // A tag may have the name of the branch.
    let merge = format!(
        "git merge {option}{}",
        quote_argument(&sanitize(&missing.holder, 200))
    );
    switch.into_iter().chain([merge]).collect()
}

/// Name of a branch as its user types it; `no branch` for another reference.
pub fn branch_words(reference: &str) -> String {
    sanitize(
        reference.strip_prefix("refs/heads/").unwrap_or("no branch"),
        200,
    )
}

pub fn commit_place(state: &RunState, end: &AttemptEnd) -> Option<String> {
    let (began_on, branch) = (state.branch.as_deref()?, end.branch.as_deref()?);
    let is_elsewhere = began_on != branch && end.commit.is_some() && state.parallel.is_none();
    is_elsewhere.then(|| {
        format!(
            "its commit is on {}; the run began on {}",
            branch_words(branch),
            branch_words(began_on)
        )
    })
}

fn task_findings(plan: &Plan, task_state: &TaskState) -> Vec<String> {
    let mut lines = judged_with(task_state);
    let outside = task_state.last_end.iter().flat_map(|end| &end.out_of_scope);
    let outside: Vec<&str> = outside
        .filter(|file| !task_state.left_alone.contains(file))
        .map(String::as_str)
        .collect();
    if let Some(end) = task_state.last_end.as_ref().filter(|_| !outside.is_empty()) {
        let files = list_some(outside, NAMED_FILES);
        let is_in_none = end.commit.is_some() && end.foreign_commits.is_empty();
        let in_commit = if is_in_none {
            ", which is in no commit of it"
        } else {
            ""
        };
        lines.push(format!(
            "changed what it does not name{in_commit}: {}",
            sanitize(&files, 400)
        ));
    }
    let foreign = task_state
        .last_end
        .iter()
        .flat_map(|end| &end.foreign_commits)
        .map(|commit| short_commit(commit));
    let foreign = list_some(foreign, NAMED_FILES);
    if !foreign.is_empty() {
        lines.push(format!(
            "commits made meanwhile with files that it does not list stay: {}",
            sanitize(&foreign, 200)
        ));
    }
    if task_state.is_stale {
        lines.push("it was changed in the plan since it was done".to_owned());
    }
    if task_state.is_to_restore {
        lines.push(
            "its changes are taken back before anything else is begun in its worktree".to_owned(),
        );
    }
    if !task_state.not_restored.is_empty() {
        lines.push(format!(
            "could not be taken back: {}",
            sanitize(&task_state.not_restored.join("; "), 400)
        ));
    }
    lines.extend(taken_back::left_alone(plan, &task_state.left_alone));
    let command = task_state
        .taken_back
        .as_deref()
        .and_then(taken_back::restore_command);
    lines
        .extend(command.map(|command| {
            format!("what was taken back is kept, and `{command}` brings it again")
        }));
    lines
}
