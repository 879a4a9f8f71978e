//! Commands that help the user with a run's question, shown beside the options of the question.

use omo_core::money::decimal_dollars;
use omo_core::text::command_text::quote_argument;
use omo_core::text::sanitize;

use crate::event::QuestionKind;
use crate::execution_mode::ExecutionMode;
use crate::parallel_schedule::BUDGET_SPENT;
use crate::parallel_state::ParallelState;
use crate::report::ultraplan::command_for;
use crate::state::{QuestionState, RunState};

/// Maximum characters of a line: a command with its paths has to be whole to be of use.
const MAX_LINE_CHARS: usize = 4_000;

/// Lines with such commands; none where the options of the question are enough.
pub fn way_out_lines(question: &QuestionState, state: &RunState) -> Vec<String> {
    let Some(parallel) = &state.parallel else {
        return Vec::new();
    };
    match &question.question.kind {
        QuestionKind::LandingRefused { ways_out, .. } => ways_out
            .iter()
            .map(|line| sanitize(line, MAX_LINE_CHARS))
            .collect(),
        QuestionKind::Stuck { reason, .. } if reason == BUDGET_SPENT => {
            vec![budget_line(state, parallel)]
        }
        QuestionKind::Stuck { group, .. } => worker_lines(group, parallel),
        QuestionKind::Conflict { .. } => {
            vec!["`omo report` shows what each of them did.".to_owned()]
        }
        _ => Vec::new(),
    }
}

/// Commands to read the output of a session's worker. One on another machine may have given its reason there alone.
fn worker_lines(group: &str, parallel: &ParallelState) -> Vec<String> {
    let has_logs = parallel
        .policy
        .profile
        .as_ref()
        .is_some_and(|profile| profile.logs.is_some());
    let log = has_logs.then(|| {
        format!(
            "`omo run logs {}` shows what its worker has said.",
            sanitize(group, 60)
        )
    });
    let known = "`omo run show` and `omo report` show how its worker ended.".to_owned();
    log.into_iter().chain([known]).collect()
}

/// Command that sets a budget which leaves as much again as the run was given.
fn budget_line(state: &RunState, parallel: &ParallelState) -> String {
    let counted = parallel
        .cost_micros()
        .saturating_add(parallel.untold_micros());
    let micros = counted.saturating_add(parallel.policy.budget_micros.unwrap_or_default());
    let amount = decimal_dollars(micros.div_ceil(10_000) * 10_000);
    let path = quote_argument(&state.plan.source.path);
    let path = sanitize(&path, 300);
    let (command, option) = (command_for(&state.plan), ExecutionMode::Parallel.option());
    format!(
        "A larger budget: {command} --resume --max-budget-usd {amount} {path}, or in a terminal `omo run start {option} \
         --resume --max-budget-usd {amount} {path}`."
    )
}
