//! A plan that clients of its own work on, or that the session itself does step by step: its run is opened, or goes on;
//! or it is only looked at.

pub(super) mod commands;
pub(super) mod preflight;
pub(crate) mod resume;

use omo_core::messages::plan::STEP_PLAN_PREFIX;
use omo_engine::RunStore;
use omo_engine::modes::{ExecutionMode, arranged};
use omo_engine::report::ultraplan::dry_run;
use omo_engine::request::part::strategy_of_mode;
use omo_engine::request::run_scope::RunScope;
use omo_plan::model::Plan;
use omo_state::git_worktree::GitWorktree;

use super::open::{self, no_repository_error};
use super::start::arguments::ExecuteRequest;
use super::start::{begin, prepare};
use crate::context::CommandContext;
use crate::error::{CommandError, ExitKind};
use crate::output::print_block;

pub(super) use resume::resume;

/// Opens the run of a plan, or goes on with the one that it has.
pub(super) fn execute(
    context: &CommandContext,
    request: &ExecuteRequest,
    whole: &Plan,
    mode: ExecutionMode,
) -> Result<(), CommandError> {
    let work_tree = GitWorktree::find(&context.root).ok_or_else(|| no_repository_error(&context.root))?;
    let known = |runs: &RunStore| resume::find_known_run(context, runs, whole, request, mode);
    if let Some((run, state)) = context.runs.as_ref().map(known).transpose()?.flatten() {
        return resume::continue_run(context, &run, &state, Some(request), request.digest.as_deref());
    }
    // One that is worked on in one place stays there, whatever an edited plan says about sessions.
    let asked = RunScope {
        is_foreground: mode == ExecutionMode::StepByStep,
        total_tasks: Some(whole.tasks.len()),
        ..RunScope::from(&request.scope)
    };
    let plan = arranged(asked.narrow_plan(whole.clone()), mode, &request.mode_options());
    let head = crate::blocks::parallel_run::plan_heading(request, whole, strategy_of_mode(&plan, mode))
        + &crate::blocks::parallel_run::plan_notes(&plan);
    let about = about(&plan, request.typed(&request.source));
    let prepared = prepare(context, request, plan, mode, Some(asked), &about)?.headed(&head);
    let runs = RunStore::create(&context.root, Some(&context.state_home))?;
    let door = runs.lock_opening()?;
    // Another process may have opened it meanwhile.
    if let Some((run, state)) = resume::find_known_run(context, &runs, whole, request, mode)? {
        drop(door);
        return resume::continue_run(context, &run, &state, Some(request), request.digest.as_deref());
    }
    begin(context, &runs, prepared, work_tree.head(), Vec::new())
}

/// How a person is asked about the commands of a plan; `typed` is the command as its user types it.
fn about(plan: &Plan, typed: String) -> open::Asked {
    let path = &plan.source.path;
    let steps = if plan.dialect.unit_word() == "step" { STEP_PLAN_PREFIX } else { "" };
    open::Asked {
        name: format!("{steps}{path}"),
        command_line: typed,
        shown_by: format!("they are among those that `omo plan show {path}` shows"),
    }
}

/// Tells how a plan would be run. Nothing is written, and nothing of it runs.
pub(super) fn print_dry_run(
    context: &CommandContext,
    request: &ExecuteRequest,
    whole: &Plan,
    mode: ExecutionMode,
) -> Result<(), CommandError> {
    let asked = RunScope::from(&request.scope);
    let facts = dry_run::DryRunFacts {
        existing: preflight::existing_files(context, whole),
        findings: preflight::preflight_findings(context, whole, mode)?,
        billing: preflight::billing_facts(),
    };
    let report = dry_run::dry_run_report(whole, asked, &facts);
    let arranged = arranged(asked.narrow_plan(whole.clone()), mode, &request.mode_options());
    let text = format!(
        "{}{}\n{report}",
        request.choice,
        crate::blocks::parallel_run::plan_heading(request, whole, strategy_of_mode(&arranged, mode))
    );
    let is_ready = dry_run::is_ready(whole, asked, &facts);
    // What fails behind a command that a person typed the client shows them as it is, without a model.
    print_block(&if request.is_typed && is_ready { crate::blocks::parallel_run::dry_run(&text) } else { text })?;
    if is_ready { Ok(()) } else { Err(CommandError::already_printed(ExitKind::NotGreen)) }
}
