//! A run that agents of the session work on goes on, with its plan as the file says it now.

use std::path::Path;

use omo_engine::event::{QuestionKind, RunResult};
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::state::{ANSWER_CONTINUE, QuestionState, RunPhase, RunState};
use omo_engine::work::{PlanEdit, PlanFile, find_edit};
use omo_engine::{Run, verbs};
use omo_plan::dialects::BatchOptions;
use omo_plan::model::Plan;

use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::execute::request::{ExecuteCommand, ExecuteRequest, PlanSource};
use crate::execute::{approval, refusals};
use crate::output::{self, print_block};
use crate::{blocks, dispatched_tasks};

/// The user typed the command alone: the run that is open goes on, past the stop that it waits at.
pub(crate) fn continue_open_run(context: &CommandContext) -> Result<(), CommandError> {
    let (run, before) = context.find_run(None, EndedRuns::Excluded)?;
    let engine = context.engine(&run, &before)?;
    let can_go_on =
        |question: &&QuestionState| question.question.options.iter().any(|option| option.id == ANSWER_CONTINUE);
    let stop =
        before.open_question().filter(|question| !matches!(question.question.kind, QuestionKind::Decisions { .. }));
    let stop = stop.filter(can_go_on);
    let stop = stop.map(|question| question.question.id.clone());
    let ((), state) = engine.transact(|state| {
        let answered = stop
            .map(|question| verbs::answer_question(state, &engine.caller, &question, ANSWER_CONTINUE, None))
            .transpose()?;
        Ok((answered.into_iter().chain(dispatched_tasks::forget_dispatched_if_any(state)).collect(), ()))
    })?;
    context.note_in_session(&run, &before.holder, &state);
    print_block(&blocks::resumed_block(run.id(), &state))
}

/// Goes on with a run, in waves with `again` also with one that has failed: it is gone over anew. `digest` is what its user has read of an edited plan.
pub(crate) fn continue_run(
    context: &CommandContext,
    run: &Run,
    before: &RunState,
    again: bool,
    digest: Option<&str>,
) -> Result<(), CommandError> {
    let engine = context.engine(run, before)?;
    if !context.is_person() {
        verbs::join_run(before, &engine.caller, &omo_engine::work::is_alive)?;
    }
    let edit = find_edit(Path::new(&before.root), before)?;
    let replanned = match &edit {
        None => None,
        Some(_) => Some(reread_plan(context, before, digest)?),
    };
    let is_over = match before.phase {
        RunPhase::Ended { result: RunResult::Complete } => true,
        RunPhase::Ended { .. } => !(again && before.mode == ExecutionMode::Waves),
        RunPhase::Executing | RunPhase::Cancelled { .. } => false,
    };
    if is_over && replanned.is_none() {
        context.note_ended_run(run, before);
        return output::print_block(&blocks::end_block(before));
    }
    let _door = context.runs.as_ref().map(|runs| context.lock_opening(runs, Some(run.id()))).transpose()?;
    let ((), state) = engine.take_over(|state| {
        let replanned = replanned.map(|(plan, approved)| verbs::replace_plan(state, plan, approved)).transpose()?;
        Ok((replanned.into_iter().chain(dispatched_tasks::forget_dispatched_if_any(state)).collect(), ()))
    })?;
    context.note_in_session(run, &before.holder, &state);
    let mut text = blocks::resumed_block(run.id(), &state);
    if let Some(edit) = edit {
        text = format!("{}{text}", describe_edit(&edit, before, &state));
    }
    output::print_block(&text)
}

/// The plan as its file says it now, with the approval of exactly its commands.
fn reread_plan(
    context: &CommandContext,
    state: &RunState,
    digest: Option<&str>,
) -> Result<(Plan, String), CommandError> {
    let root = Path::new(&state.root);
    let file = PlanFile::read(root, root, Path::new(&state.plan.source.path))?;
    // Read with the options that the run has; others would make other batches of the same tasks.
    let plan = file.plan(BatchOptions::from(&state.plan.policy));
    if !plan.can_run() {
        return Err(refusals::invalid_plan_error(&plan, &file.bytes));
    }
    let plan = state.as_in_run(plan);
    let typed = ExecuteRequest::new(command_for_mode(state.mode), PlanSource::File(plan.source.path.clone()));
    let about = approval::ApprovalRequest::for_plan(&plan.source.path, typed.typed(&typed.source));
    let approved = approval::approve_plan(context, &plan, digest, &about)?;
    Ok((plan, approved))
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
