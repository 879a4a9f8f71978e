//! A run that agents of the session work on goes on, with its plan as the file says it now.

use std::path::Path;

use omo_core::text::sanitize;
use omo_engine::dispatched_tasks;
use omo_engine::event::RunResult;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::state::{ANSWER_CONTINUE, RunPhase, RunState};
use omo_engine::work::{PlanEdit, PlanFile, find_edit};
use omo_engine::{Run, verbs};
use omo_plan::model::Plan;
use omo_plan::project_paths::name_files_from_top;

use crate::blocks::{self, parts};
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::execute::print_then_next;
use crate::execute::request::{ExecuteCommand, ExecuteRequest, PlanSource};
use crate::execute::{approval, refusals};
use crate::output;

/// The user typed the command alone: the run that is open goes on, past the stop that it waits at.
pub(crate) fn continue_open_run(context: &CommandContext, is_typed: bool) -> Result<(), CommandError> {
    let (run, before) = context.find_run(None, EndedRuns::Excluded)?;
    let is_edited = find_edit(Path::new(&before.root), &before)?.is_some() && before.parallel.is_none();
    let take_in = |state: &RunState| continue_run(context, &run, state, None, None, is_typed || context.is_person());
    if context.is_preview {
        context.require_free_run(&before)?;
        context.note_typed(&run, &before);
        return if is_edited { take_in(&before) } else { Ok(()) };
    }
    let engine = context.engine(&run, &before)?;
    let stop = before.open_question().filter(|open| open.question.kind.is_passed_by_going_on());
    let stop = stop.map(|open| open.question.id.clone());
    let ((), state) = engine.transact(|state| {
        let answered = stop.map(|question| engine.answer_question(state, &question, ANSWER_CONTINUE, None));
        let answered = answered.transpose()?.unwrap_or_default();
        Ok((answered.into_iter().chain(dispatched_tasks::forget_dispatched_if_any(state)).collect(), ()))
    })?;
    context.note_in_session(&run, &before.holder, &state);
    // What its user has edited meanwhile is taken in behind the stop, which was about the plan as it was.
    if is_edited {
        return take_in(&state);
    }
    let head = format!("[omo] {}\n", known_run_line(&state));
    let head = parts::fit_block(format!("{head}{}", blocks::resumed_block(run.id(), &state)));
    print_then_next(context, &run, state, &head)
}

/// Says that a plan has a run already, and its mode.
pub(crate) fn known_run_line(state: &RunState) -> String {
    format!("{}: its run goes on {}", parts::run_subject(state), state.mode.words())
}

/// Goes on with a run. One in waves that has failed is gone over anew where that is asked for, as `omo run resume` does,
/// which has no request. `digest` is what its user has read of an
/// edited plan; `is_user` says that its user asks, and not a model: then what is checked off in it counts.
pub(crate) fn continue_run(
    context: &CommandContext,
    run: &Run,
    before: &RunState,
    request: Option<&ExecuteRequest>,
    digest: Option<&str>,
    is_user: bool,
) -> Result<(), CommandError> {
    let engine = context.engine(run, before)?;
    context.require_free_run(before)?;
    if let Some(request) = request {
        request.warn_of_kept_proof(&before.plan.policy);
    }
    let edit = find_edit(Path::new(&before.root), before)?;
    // Asks for the approval as well where that is gone, as in a copy of the project.
    let is_asked = !matches!(before.phase, RunPhase::Ended { .. }) && engine.require_approval(before).is_err();
    let reread = (edit.is_some() || is_asked).then(|| reread_plan(context, before, digest, is_user)).transpose()?;
    let replanned = reread.filter(|_| edit.is_some());
    let opened = replanned.as_ref().map(|(_, _, opened)| opened.join(", ")).unwrap_or_default();
    if context.is_preview {
        return Ok(());
    }
    let is_over = match before.phase {
        RunPhase::Ended { result: RunResult::Complete } => true,
        RunPhase::Ended { .. } => !(request.is_none_or(|request| request.again) && before.mode == ExecutionMode::Waves),
        RunPhase::Executing | RunPhase::Cancelled { .. } => false,
    };
    if is_over && replanned.is_none() {
        context.note_ended_run(run, before);
        return output::print_block(&blocks::end_block(before));
    }
    let _door = context.runs.as_ref().map(|runs| context.lock_opening(runs, Some(run.id()))).transpose()?;
    let ((), state) = engine.take_over(|state| {
        let mut events = Vec::new();
        if let Some((plan, approved, opened)) = replanned {
            events = verbs::replace_plan(state, plan, approved)?;
            events.extend(verbs::foreign_ticks_event(opened));
        }
        Ok((events.into_iter().chain(dispatched_tasks::forget_dispatched_if_any(state)).collect(), ()))
    })?;
    context.note_in_session(run, &before.holder, &state);
    let choice = request.map(|request| request.choice.as_str()).unwrap_or_default();
    let edited = edit.map(|edit| describe_edit(&edit, before, &state)).unwrap_or_default();
    let opened = if opened.is_empty() {
        String::new()
    } else {
        format!(
            "note: opened again, as neither omo nor its user ticked it: {}; what you tick counts where you type /omo:execute yourself\n",
            sanitize(&opened, 300)
        )
    };
    let head = parts::fit_block(format!("{choice}{edited}{opened}{}", blocks::resumed_block(run.id(), &state)));
    print_then_next(context, run, state, &head)
}

/// The plan as its file says it now, with the approval of exactly its commands.
fn reread_plan(
    context: &CommandContext,
    state: &RunState,
    digest: Option<&str>,
    is_user: bool,
) -> Result<(Plan, String, Vec<String>), CommandError> {
    let root = Path::new(&state.root);
    let file = PlanFile::read(root, root, Path::new(&state.plan.source.path))?;
    // Read by the dialect and with the options that the run has; others would make other batches of the same tasks.
    let plan = name_files_from_top(file.plan(&state.plan), &state.root);
    if !plan.can_run() {
        return Err(refusals::invalid_plan_error(&plan, &file));
    }
    let mut plan = plan;
    let opened = if is_user { Vec::new() } else { verbs::distrust_ticks(state, &mut plan) };
    let plan = state.as_in_run(plan);
    let typed = ExecuteRequest::new(command_for_mode(state.mode), PlanSource::File(plan.source.path.clone()));
    let about = approval::ApprovalRequest::for_plan(&plan.source.path, typed.typed(&typed.source));
    let approved = approval::approve_plan(context, &plan, digest, &about)?;
    Ok((plan, approved, opened))
}

/// The slash command that goes on with a run that agents work on.
fn command_for_mode(mode: ExecutionMode) -> ExecuteCommand {
    if mode == ExecutionMode::Batches { ExecuteCommand::ExecutePlan } else { ExecuteCommand::Execute }
}

/// What an edit of the plan means for its run.
pub(crate) fn describe_edit(edit: &PlanEdit, before: &RunState, now: &RunState) -> String {
    let (were, are) = (before.plan.tasks.len(), now.plan.tasks.len());
    let word = now.plan.dialect.unit_word();
    let total = format!("ℹ️ Plan now has {are} {word}s (was {were}); resuming with updated total.\n");
    let stale: Vec<&str> = now.tasks.iter().filter(|(_, task)| task.is_stale).map(|(id, _)| id.as_str()).collect();
    let again = format!("note: stale, to be done again: {}\n", stale.join(", "));
    let said = [
        (were != are).then_some(total),
        Some(format!("note: the plan was edited: {edit}\n")),
        (!stale.is_empty()).then_some(again),
    ];
    said.into_iter().flatten().collect()
}
