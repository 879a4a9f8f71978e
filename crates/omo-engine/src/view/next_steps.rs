//! Next steps that the view of a run shows to its user, such as ``Look on: `omo run watch` ``.

use std::collections::BTreeSet;

use omo_core::text::{name_some, sanitize};
use omo_view::run_view::{CheckoutView, RunEnd, RunView};
use omo_view::text::uncommitted_lines;

use crate::event::PullRequestAttempt;
use crate::report::findings::{merge_commands, missing_commit_lines};
use crate::report::ultraplan::short_commit;
use crate::state::RunState;
use crate::view::words::how_to_go_on;
use crate::view::{FoundFacts, RunFacts, run_view};

const NAMED_TASKS: usize = 5;

pub(super) fn next_steps(state: &RunState, view: &RunView) -> Vec<String> {
    let mut steps = Vec::new();
    let go_on = how_to_go_on(state);
    match view.end {
        RunEnd::Waiting => steps.push("Answer the question above.".to_owned()),
        RunEnd::Running if state.parallel.is_some() => {
            steps.push("Look on: `omo run watch`".to_owned());
        }
        RunEnd::Running => steps.push(format!("If its session is gone, type `{go_on}`")),
        RunEnd::Cancelled => steps.push(format!(
            "To go on with what is left: `omo run resume --run {}`",
            view.run
        )),
        RunEnd::Failed | RunEnd::Incomplete => steps.extend(after_failure(state, view, &go_on)),
        RunEnd::Complete | RunEnd::Unproved => steps.extend(before_finishing(state, view)),
    }
    steps
}

fn after_failure(state: &RunState, view: &RunView, go_on: &str) -> Vec<String> {
    if state.lacks_commits() {
        let next = view
            .next_command
            .as_ref()
            .map(|command| format!("Then: `{command}`"));
        return merge_steps(state).into_iter().chain(next).collect();
    }
    let retry = view
        .next_command
        .as_ref()
        .filter(|command| command.starts_with("omo run retry"));
    match retry {
        Some(command) if state.parallel.is_none() => {
            vec![format!(
                "Once the cause is fixed: `{command}`, then type `{go_on}`"
            )]
        }
        _ => vec![format!("Once the cause is fixed, type `{go_on}`")],
    }
}

/// The merge commands for commits that a branch of the user's lacks, each once.
fn merge_steps(state: &RunState) -> BTreeSet<String> {
    state
        .missing_commits
        .iter()
        .map(|missing| format!("`{}`", merge_commands(missing).join("` and `")))
        .collect()
}

fn before_finishing(state: &RunState, view: &RunView) -> Vec<String> {
    // First, since the end of a long line is cut.
    let mut steps: Vec<String> = state.pull_request.iter().map(pull_request_step).collect();
    let unproved: Vec<&str> = view
        .not_verified
        .iter()
        .filter_map(|item| item.task.as_deref())
        .collect();
    if !unproved.is_empty() {
        let tasks = name_some(view.task_word, &unproved, NAMED_TASKS);
        steps.push(format!(
            "Judge yourself what nothing has verified: {tasks}."
        ));
    }
    if state.plan.final_checks.is_empty() {
        steps.push("Run all tests of the project: the plan has no check of the whole.".to_owned());
    }
    steps.extend(merge_steps(state));
    let Some(checkout) = &view.checkout else {
        return steps;
    };
    if !checkout.uncommitted.is_empty() {
        steps.push("Look at what is not committed, `git diff`, and commit it.".to_owned());
    }
    if let (Some(1..), Some(base)) = (checkout.commits, &state.base) {
        let base = sanitize(short_commit(base), 12);
        steps.push(format!(
            "Have the branch reviewed, and merge it: `git log {base}..`"
        ));
    } else {
        steps.push("Have the work reviewed.".to_owned());
    }
    steps
}

fn pull_request_step(attempt: &PullRequestAttempt) -> String {
    match attempt {
        PullRequestAttempt::Begun => {
            "A pull request is being opened; if none comes, `omo run pr` opens it.".to_owned()
        }
        PullRequestAttempt::Opened { address } => {
            format!("A pull request is open: {}", sanitize(address, 300))
        }
        PullRequestAttempt::Failed { reason } => {
            format!("No pull request was opened: {}", sanitize(reason, 350))
        }
    }
}

/// Lines about uncommitted work and the next steps, for the end of a run.
pub fn end_lines(state: &RunState, checkout: Option<CheckoutView>) -> Vec<String> {
    let view = run_view(&RunFacts {
        found: FoundFacts {
            checkout,
            ..FoundFacts::default()
        },
        ..RunFacts::of_state("", state)
    });
    let uncommitted = view
        .checkout
        .as_ref()
        .map(uncommitted_lines)
        .unwrap_or_default();
    let uncommitted =
        (!uncommitted.is_empty()).then(|| format!("Not committed: {}.", uncommitted.join(", ")));
    let is_done =
        matches!(view.end, RunEnd::Complete | RunEnd::Unproved) && !view.next_steps.is_empty();
    let next = is_done.then(|| format!("Next: {}", view.next_steps.join(" ")));
    missing_commit_lines(state)
        .into_iter()
        .chain(uncommitted)
        .chain(next)
        .collect()
}
