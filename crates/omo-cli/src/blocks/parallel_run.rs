//! Text of a plan in steps: the overview before it runs, and the blocks for a session that works on it.

use std::fmt::Write;

use omo_core::text::command_text::quote_argument;
use omo_core::text::{pluralize, sanitize};
use omo_engine::client_policy::ClientPolicy;
use omo_engine::event::RunResult;
use omo_engine::outcome::OutcomeSummary;
use omo_engine::parallel_state::ParallelState;
use omo_engine::preflight::{PreflightFinding, PreflightSeverity};
use omo_engine::report::ultraplan::{command_for, short_commit};
use omo_engine::state::{RunPhase, RunState};
use omo_plan::model::{Plan, Task};
use omo_plan::plan_summary::summary_lines;
use omo_plan::strategy::RunStrategy;

use crate::blocks::parts::{LONG_TIMEOUT, fit_block, plan_path, progress_words};
use crate::blocks::title;

pub(crate) fn plan_lines(plan: &Plan, strategy: RunStrategy) -> String {
    let mut lines: Vec<String> = summary_lines(plan)
        .iter()
        .map(|line| sanitize(line, 300))
        .collect();
    lines.push(strategy.summary_line());
    lines.join("\n") + "\n"
}

pub(crate) fn finding_lines(findings: &[PreflightFinding]) -> String {
    let told = findings
        .iter()
        .filter(|finding| finding.severity != PreflightSeverity::Stop);
    let mut text = String::new();
    for finding in told {
        let word = if finding.severity == PreflightSeverity::Warning {
            "warning"
        } else {
            "note"
        };
        let _ = writeln!(
            text,
            "{word}: {}; {}",
            sanitize(&finding.text, 400),
            finding.hint
        );
    }
    text
}

/// Terms for workers of a launcher, whose own command starts the client.
pub(crate) fn launcher_terms(terms: &ClientPolicy) -> String {
    if let Some(profile) = &terms.profile {
        return format!(
            "note: workers are handed to the launcher {}, at most {} at once; briefs and work go through {}, and all of \
             it is judged here\n",
            profile.name,
            profile.at_once,
            sanitize(terms.remote_name(), 100)
        );
    }
    let mut text = format!(
        "note: each worker is started through --launcher; its branch is pushed to {}, fetched and judged here, and \
         deleted there\n",
        sanitize(terms.remote_name(), 100)
    );
    let is_idle = [
        ("--max-budget-usd", terms.budget_micros.is_some()),
        ("--model", terms.model.is_some()),
        ("--allow", !terms.allow.is_empty()),
        ("--yolo", terms.skips_permissions),
    ];
    let idle: Vec<&str> = is_idle
        .into_iter()
        .filter(|(_, is_set)| *is_set)
        .map(|(name, _)| name)
        .collect();
    if !idle.is_empty() {
        let _ = writeln!(
            text,
            "note: with --launcher {} mean nothing: put them into its command",
            idle.join(", ")
        );
    }
    text
}

pub(crate) fn opened_block(id: &str, state: &RunState, intro: &str) -> String {
    let path = plan_path(state);
    let steps = pluralize(state.task_counts().total, state.plan.dialect.unit_word());
    let landing_words = match &state.parallel {
        Some(_) => {
            format!(
                "{}, each in a worktree and on a branch of its own",
                pluralize(state.plan.groups.len(), "worker")
            )
        }
        None => "in your own worktree".to_owned(),
    };
    fit_block(format!(
        "{intro}\nomo: opened the run {id} of {path}: {steps}, {landing_words}.\n"
    ))
}

pub(crate) fn next_command(state: &RunState, is_terminal: bool) -> &'static str {
    match (state.parallel.is_some(), is_terminal) {
        (true, true) => "omo run watch",
        (true, false) => "omo agent next --wait 540      (Bash timeout 600000)",
        (false, _) => "omo agent next",
    }
}

pub(crate) fn dry_run(report: &str) -> String {
    format!("DONE\n  Show the user this report as it is, then end your turn.\n\n{report}")
}

pub(crate) fn task_block(run: &str, task: &Task, state: &RunState) -> String {
    let (id, word) = (&task.id, state.plan.dialect.unit_word());
    let (tally, title) = (progress_words(state), title(task));
    fit_block(format!(
        "DO\n  {tally}; next is {word} {id}, \"{title}\". You do it yourself, in this session, without agents.\n  \
         run: omo agent start {id} --run {run}      {LONG_TIMEOUT}\n  \
         Then do exactly what it prints, and end with the `omo agent done` line that stands there."
    ))
}

pub(crate) fn how_to_answer(choices: &[&str], go_on: &str) -> String {
    format!(
        "  To answer, type one of these, or `/omo:answer 1` for the first: {}; then, to go on: {go_on}",
        choices.join(", ")
    )
}

/// The result in the words of the run's report; `None` for a run of another kind.
pub(crate) fn result_block(state: &RunState) -> Option<String> {
    // A part of a task list is judged with the whole: no step has failed.
    let asked = state.scope.filter(|_| !state.is_task_list())?;
    match state.phase {
        RunPhase::Executing => return None,
        RunPhase::Cancelled { .. } => return Some("CANCELLED".to_owned()),
        RunPhase::Ended { .. } => {}
    }
    Some(OutcomeSummary::for_run(state, asked.selection).describe(state.plan.dialect))
}

pub(crate) fn end_line(state: &RunState) -> String {
    let path = &state.plan.source.path;
    let is_well = state.phase
        == RunPhase::Ended {
            result: RunResult::Complete,
        };
    let goes_on = if state.is_task_list() {
        format!("/omo:ulw-exec --session {} --again", state.task_list_id())
    } else {
        format!(
            "{} --resume {}",
            command_for(&state.plan),
            sanitize(&quote_argument(path), 300)
        )
    };
    let next_step = if is_well {
        String::new()
    } else {
        format!("\n  To go on with what is left: {goes_on}")
    };
    format!(
        "{}  Report: omo report{next_step}",
        state
            .parallel
            .as_ref()
            .map(user_branch_line)
            .unwrap_or_default()
    )
}

fn user_branch_line(parallel: &ParallelState) -> String {
    let name = parallel
        .policy
        .branch
        .strip_prefix("refs/heads/")
        .unwrap_or(&parallel.policy.branch);
    let name = if name.is_empty() {
        "Your branch".to_owned()
    } else {
        format!("Your branch {}", sanitize(name, 100))
    };
    match (&parallel.landed, &parallel.landed_before) {
        (Some((from, to)), _) if from == to => format!("  {name} has all of it.\n"),
        (Some((_, to)), _) => format!("  {name} moved to {}.\n", sanitize(short_commit(to), 12)),
        (None, Some(_)) => {
            format!(
                "  {name} has what was done before, and nothing of what followed (see the report).\n"
            )
        }
        (None, None) => {
            format!("  {name} is where it was; what was done is kept (see the report).\n")
        }
    }
}
