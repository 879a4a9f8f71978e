//! A plan that clients of its own work on, or that the session itself does step by step: its run is opened, or goes on;
//! or it is only looked at.

use omo_engine::RunStore;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::modes::arranged;
use omo_engine::report::plan_overview::proof_words;
use omo_engine::report::ultraplan::dry_run;
use omo_engine::request::part::strategy_of_mode;
use omo_engine::request::run_scope::RunScope;
use omo_plan::model::Plan;

use crate::billing;
use crate::blocks::parallel_run;
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::execute::approval::step_approval_request;
use crate::execute::open_run::{ask_for_check, begin, prepare};
use crate::execute::refusals::require_repository;
use crate::execute::request::ExecuteRequest;
use crate::execute::{continue_parallel, known_run, preflight};
use crate::exit_kind::ExitKind;
use crate::output::print_block;

/// Opens the run of a plan, or goes on with the one that it has. Where its user has answered what proves its tasks, that
/// is what they ask for now, and nothing was done yet.
pub(crate) fn execute(
    context: &CommandContext,
    request: &ExecuteRequest,
    whole: &Plan,
    mode: ExecutionMode,
) -> Result<Option<ExecuteRequest>, CommandError> {
    require_repository(&context.root)?;
    let known = |runs: &RunStore| known_run::find_known_run(context, runs, whole, request, mode);
    if let Some((run, state)) = context.runs.as_ref().map(known).transpose()?.flatten() {
        let digest = request.digest.as_deref();
        return continue_parallel::continue_run(context, &run, &state, Some(request), digest).map(|()| None);
    }
    // One that is worked on in one place stays there, whatever an edited plan says about sessions.
    let scope = RunScope {
        is_foreground: mode == ExecutionMode::StepByStep,
        total_tasks: Some(whole.tasks.len()),
        ..RunScope::from(&request.scope)
    };
    let plan = arranged(scope.narrow_plan(whole.clone()), mode, &request.mode_options());
    if let Some(request) = ask_for_check(context, request, &plan)? {
        return Ok(Some(request));
    }
    let head =
        parallel_run::plan_heading(request, whole, strategy_of_mode(&plan, mode)) + &parallel_run::plan_notes(&plan);
    let approval = step_approval_request(&plan, request.typed(&request.source));
    let prepared = prepare(context, request, plan, mode, Some(scope), &approval)?.headed(&head);
    if context.is_preview {
        return Ok(None);
    }
    let runs = RunStore::create(&context.root, Some(&context.state_home))?;
    let door = runs.lock_opening()?;
    // Another process may have opened it meanwhile.
    if let Some((run, state)) = known_run::find_known_run(context, &runs, whole, request, mode)? {
        drop(door);
        let digest = request.digest.as_deref();
        return continue_parallel::continue_run(context, &run, &state, Some(request), digest).map(|()| None);
    }
    begin(context, &runs, prepared, Vec::new()).map(|()| None)
}

/// Tells how a plan would be run. Nothing is written, and nothing of it runs.
pub(crate) fn print_dry_run(
    context: &CommandContext,
    request: &ExecuteRequest,
    whole: &Plan,
    mode: ExecutionMode,
) -> Result<(), CommandError> {
    let scope = RunScope::from(&request.scope);
    let arranged = arranged(scope.narrow_plan(whole.clone()), mode, &request.mode_options());
    let unchecked = arranged.tasks.iter().filter(|task| whole.policy.unproved_continues && task.checks.is_empty());
    let facts = dry_run::DryRunFacts {
        proofs: unchecked.map(|task| (task.id.clone(), proof_words(&arranged, task))).collect(),
        existing: preflight::existing_files(context, whole),
        findings: preflight::preflight_findings(context, whole, mode, &request.clients.policy)?,
        billing: billing::billing_facts(),
    };
    let report = dry_run::dry_run_report(whole, scope, &facts);
    let text = format!(
        "{}{}\n{report}",
        request.choice,
        parallel_run::plan_heading(request, whole, strategy_of_mode(&arranged, mode))
    );
    let is_ready = dry_run::is_ready(whole, scope, &facts);
    // What fails behind a command that a person typed the client shows them as it is, without a model.
    print_block(&if request.is_typed && is_ready && !context.is_preview {
        parallel_run::dry_run(&text)
    } else {
        text
    })?;
    if is_ready { Ok(()) } else { Err(CommandError::already_printed(ExitKind::NotGreen)) }
}
