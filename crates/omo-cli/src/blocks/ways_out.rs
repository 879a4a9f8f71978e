//! The exact commands that get a run out of a question, beside its options: for the block, the screen of a run, and the
//! view of its workers.

use omo_core::text::sanitize;
use omo_engine::event::QuestionKind;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::parallel_schedule::BUDGET_SPENT;
use omo_engine::parallel_state::ParallelState;
use omo_engine::report::ultraplan::{command_for, short_commit};
use omo_engine::request::client_policy::{format_dollars, quote_argument};
use omo_engine::state::{QuestionState, RunState};

/// What gets the run on, in lines; none where the options of the question say all of it.
pub(crate) fn way_out_lines(question: &QuestionState, state: &RunState) -> Vec<String> {
    let Some(parallel) = &state.parallel else { return Vec::new() };
    match &question.question.kind {
        QuestionKind::LandingRefused { reason } => landing_lines(reason, parallel),
        QuestionKind::Stuck { reason, .. } if reason == BUDGET_SPENT => vec![budget_line(state, parallel)],
        QuestionKind::Stuck { group, .. } => worker_lines(group, parallel),
        QuestionKind::Conflict { .. } => vec!["`omo report` shows what each of them did.".to_owned()],
        _ => Vec::new(),
    }
}

/// Where to read what the worker of a session came to. One that an engine had may have said why on its own machine alone.
fn worker_lines(group: &str, parallel: &ParallelState) -> Vec<String> {
    let has_logs = parallel.policy.profile.as_ref().is_some_and(|profile| profile.logs.is_some());
    let log = has_logs.then(|| format!("`omo run logs {}` shows what its worker has said.", sanitize(group, 60)));
    let known = "`omo run show` and `omo report` show what its worker came to.".to_owned();
    log.into_iter().chain([known]).collect()
}

fn landing_lines(reason: &str, parallel: &ParallelState) -> Vec<String> {
    let branch = parallel.policy.branch.strip_prefix("refs/heads/").unwrap_or(&parallel.policy.branch);
    let back = format!("`git switch {}` checks it out again; then go on.", sanitize(&quote_argument(branch), 200));
    if reason.starts_with("edits that are not committed") {
        return vec![
            "`git stash push --include-untracked` puts your edits aside; go on, and then `git stash pop` brings them \
             back. Or commit them, and go on."
                .to_owned(),
        ];
    }
    if reason.starts_with("what was committed on it meanwhile") {
        let tip = sanitize(short_commit(&parallel.tip), 40);
        return vec![format!("`git merge {tip}` merges it by your hand: resolve the conflict, commit, and go on.")];
    }
    if !branch.is_empty() && reason.contains("checked out") {
        return vec![back];
    }
    Vec::new()
}

/// A budget that leaves as much again as the run was given.
fn budget_line(state: &RunState, parallel: &ParallelState) -> String {
    let counted = parallel.cost_micros().saturating_add(parallel.untold_micros());
    let micros = counted.saturating_add(parallel.policy.budget_micros.unwrap_or_default());
    let amount = format_dollars(micros.div_ceil(10_000) * 10_000);
    let path = quote_argument(&state.plan.source.path);
    let path = sanitize(&path, 300);
    let (command, option) = (command_for(&state.plan), ExecutionMode::Parallel.option());
    format!(
        "A larger budget: {command} --resume --max-budget-usd {amount} {path}, or in a terminal `omo run start {option} \
         --resume --max-budget-usd {amount} {path}`."
    )
}
