//! A run that parallel workers or the session itself work on goes on.

use std::fmt::Write;
use std::path::Path;

use omo_engine::event::RunResult;

use omo_core::money::decimal_dollars;
use omo_core::text::command_text::quote_argument;
use omo_engine::parallel_schedule::accepts_billing;
use omo_engine::preflight::{PreflightRule, can_start};
use omo_engine::report::plan_overview::format_limit;
use omo_engine::report::ultraplan::command_for;
use omo_engine::report::workers::cost_text;
use omo_engine::request::check_target::check_selection;
use omo_engine::request::part::strategy_of_mode;
use omo_engine::state::{ANSWER_CONTINUE, RunPhase, RunState};
use omo_engine::work::{PlanFile, find_edit};
use omo_engine::{Run, resume, verbs};
use omo_plan::model::Plan;
use omo_plan::project_paths::name_files_from_top;

use crate::billing::{self, PAYER, check_billing};
use crate::blocks::{self, parallel_run};
use crate::context::{CommandContext, require_only_parallel_run};
use crate::error::CommandError;
use crate::execute::continue_run::describe_edit;
use crate::execute::open_run::blocking_findings_error;
use crate::execute::refusals::{argument_error, invalid_plan_error};
use crate::execute::request::ExecuteRequest;
use crate::execute::{approval, preflight, print_then_next};
use crate::output::print_block;

/// Goes on with a run: one that is open, or one that is over and not done. `omo run resume` has no request.
pub(crate) fn continue_run(
    context: &CommandContext,
    run: &Run,
    before: &RunState,
    request: Option<&ExecuteRequest>,
    digest: Option<&str>,
) -> Result<(), CommandError> {
    let engine = context.engine(run, before)?;
    context.require_free_run(before)?;
    if let Some(request) = request {
        request.warn_of_kept_proof(&before.plan.policy);
    }
    if before.phase != (RunPhase::Ended { result: RunResult::Complete }) {
        require_clean_checkout(context, run, before)?;
    }
    let edit = find_edit(Path::new(&before.root), before)?;
    // Asks for the approval as well where that is gone, as in a copy of the project.
    let is_complete = before.phase == (RunPhase::Ended { result: RunResult::Complete });
    let is_asked = !is_complete && engine.require_approval(before).is_err();
    let reread = (edit.is_some() || is_asked).then(|| reread_plan(context, before, request, digest)).transpose()?;
    let replanned = reread.filter(|_| edit.is_some());
    if context.is_preview {
        return Ok(());
    }
    if is_complete && replanned.is_none() {
        context.note_ended_run(run, before);
        let afresh = request.filter(|request| !request.scope.is_resume);
        return print_block(&match afresh {
            Some(request) => blocks::complete_already(run.id(), before, request),
            None => blocks::end_block(before),
        });
    }
    let accepted = check_billing(before, request)?;
    let accepted = accepted
        .map(|question| verbs::answer_question(before, &engine.caller, &question, ANSWER_CONTINUE, None))
        .transpose()?;
    let accepts = accepted.is_none() && request.is_some_and(|request| request.clients.accepts_billing);
    let _door = context.runs.as_ref().map(|runs| context.lock_opening(runs, Some(run.id()))).transpose()?;
    if let (Some(runs), true) = (&context.runs, before.parallel.is_some()) {
        require_only_parallel_run(runs, Some(run.id()))?;
    }
    let is_edited = replanned.is_some();
    let asked = request.map(|request| &request.clients.policy);
    let budget = asked.and_then(|policy| policy.budget_micros);
    let time_limit = asked.map(|policy| policy.time_limit_seconds).filter(|seconds| *seconds > 0);
    let ((), state) = engine.take_over(|state| {
        let mut edited = Vec::new();
        if let Some((plan, approved, opened)) = replanned {
            edited = verbs::replace_plan(state, plan, approved)?;
            edited.extend(verbs::foreign_ticks_event(opened));
        }
        // Another process may start the next client: it reads in the ledger that the costs are accepted.
        let accepts =
            accepts && state.parallel.is_some() && !accepts_billing(state) && billing::billing_facts().has_api_key;
        let accepted = accepted.into_iter().chain(if accepts {
            verbs::accept_billing(state, &engine.caller, PAYER)?
        } else {
            Vec::new()
        });
        let budget = budget.map(|micros| verbs::set_budget(state, &engine.caller, micros)).transpose()?.flatten();
        let time_limit =
            time_limit.map(|seconds| verbs::set_time_limit(state, &engine.caller, seconds)).transpose()?.flatten();
        Ok((accepted.chain(budget).chain(time_limit).chain(edited).collect(), ()))
    })?;
    context.note_in_session(run, &before.holder, &state);
    let heading = |request: &ExecuteRequest| {
        let strategy = strategy_of_mode(&state.plan, state.mode);
        format!("{}{}", request.choice, parallel_run::plan_heading(request, &state.plan, strategy))
    };
    let mut said = request.map(heading).unwrap_or_default();
    if request.is_none_or(|request| request.scope.is_resume) {
        // Of what says something else now it is known only afterwards that it is done again.
        said += &resume::resume_point_of(if is_edited { &state } else { before }).summary_line();
        said.push('\n');
    } else {
        said += "note: a run of this plan is open; going on with it, as --resume does\n";
    }
    if request.is_some_and(|request| !request.clients.keeps_policy()) {
        said += "note: the run keeps the options for clients that it was opened with\n";
    }
    if let (Some(micros), Some(parallel)) = (budget, &state.parallel) {
        let have = cost_text(parallel).map(|cost| format!("; so far: {cost}")).unwrap_or_default();
        let _ = writeln!(said, "note: the clients may cost {} in all{have}", decimal_dollars(micros));
    }
    if let (Some(_), Some(parallel)) = (time_limit, &state.parallel) {
        let _ = writeln!(
            said,
            "note: a client may run for {} from now on",
            format_limit(parallel.policy.time_limit_seconds())
        );
    }
    if let Some(edit) = edit {
        said += &describe_edit(&edit, before, &state);
    }
    let head = parallel_run::resumed_block(run.id(), &state, &said);
    print_then_next(context, run, state, &head)
}

/// Refuses to start workers again where they could not be started anew: their work could not reach the user. What is at
/// work goes on.
fn require_clean_checkout(context: &CommandContext, run: &Run, state: &RunState) -> Result<(), CommandError> {
    let Some(parallel) = &state.parallel else { return Ok(()) };
    if run.is_supervised()? {
        return Ok(());
    }
    let mut found = preflight::preflight_findings(context, &state.plan, state.mode, &parallel.policy)?;
    found.retain(|finding| matches!(finding.rule, PreflightRule::Dirty | PreflightRule::Operation));
    if can_start(&found) { Ok(()) } else { Err(blocking_findings_error(&found)) }
}

/// The plan as its file says it now, narrowed to what the run was asked for, with the approval of exactly its commands.
fn reread_plan(
    context: &CommandContext,
    state: &RunState,
    request: Option<&ExecuteRequest>,
    digest: Option<&str>,
) -> Result<(Plan, String, Vec<String>), CommandError> {
    let root = Path::new(&state.root);
    let file = PlanFile::read_anywhere(root, root, Path::new(&state.plan.source.path))?;
    let plan = name_files_from_top(file.plan(&state.plan), &state.root);
    if !plan.can_run() {
        return Err(invalid_plan_error(&plan, &file));
    }
    if let Some(asked) = state.scope {
        check_selection(&plan, asked.selection).map_err(argument_error)?;
    }
    let mut plan = plan;
    // What a session has ticked and goes on with by itself counts for nothing.
    let is_user = context.is_person() || request.is_some_and(|request| request.is_typed);
    let opened = if is_user { Vec::new() } else { verbs::distrust_ticks(state, &mut plan) };
    let plan = state.as_in_run(plan);
    let setup = state.parallel.as_ref().and_then(|parallel| parallel.policy.setup.as_deref());
    let resumes = || format!("{} --resume {}", command_for(&plan), quote_argument(&plan.source.path));
    let typed = request.map_or_else(resumes, |request| request.typed(&request.source));
    let approved =
        approval::approve_with_setup(context, &plan, setup, digest, &approval::step_approval_request(&plan, typed))?;
    Ok((plan, approved, opened))
}
