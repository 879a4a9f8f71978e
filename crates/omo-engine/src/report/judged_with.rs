//! Notes on tasks whose judgement involved more than their own files.

use omo_core::text::{list_some, sanitize};

use crate::state::{RunState, TaskState, TaskStatus};

const NAMED_FILES: usize = 8;

/// Notes on changes by hooks in a task's commit, needed ignored files, and files that may steer its checks.
pub fn judged_with(task_state: &TaskState) -> Vec<String> {
    let is_judged = matches!(
        task_state.status,
        TaskStatus::Passed | TaskStatus::Claimed | TaskStatus::Unverified
    );
    let Some(end) = task_state.last_end.as_ref().filter(|_| is_judged) else {
        return Vec::new();
    };
    let hooks = end.hook_changes.as_ref().map(|changes| {
        let judged = match &changes.unjudged {
            None => "its checks are green on that, too".to_owned(),
            Some(why) => format!(
                "its checks could not be judged on that: {}",
                sanitize(why, 200)
            ),
        };
        format!(
            "hooks changed {} in its commit, and {judged}",
            named_files(&changes.files)
        )
    });
    let ignored = (!end.needed_ignored.is_empty()).then(|| {
        format!(
            "its checks are green only with the ignored {}",
            named_files(&end.needed_ignored)
        )
    });
    let judges = end.judge_notes.iter().map(|note| sanitize(note, 400));
    hooks.into_iter().chain(ignored).chain(judges).collect()
}

fn named_files(files: &[String]) -> String {
    let files = list_some(files.iter().map(String::as_str), NAMED_FILES);
    sanitize(&files, 400)
}

/// Lines of [`judged_with`] for all tasks, each with its task's id.
pub fn judged_with_lines(state: &RunState) -> Vec<String> {
    let word = state.plan.dialect.unit_word();
    let known = state
        .plan
        .tasks
        .iter()
        .filter_map(|task| Some((&task.id, state.tasks.get(&task.id)?)));
    let lines =
        known.flat_map(|(id, known)| judged_with(known).into_iter().map(move |line| (id, line)));
    lines
        .map(|(id, line)| format!("{word} {}: {line}", sanitize(id, 64)))
        .collect()
}
