//! A plan in steps that has a run already: which one that is, and how it goes on.

use std::fmt::Write;
use std::path::Path;

use omo_engine::billing::{self, BillingDecision, decide_billing};
use omo_engine::event::{EventKind, QuestionKind, RunResult};
use omo_engine::modes::ExecutionMode;
use omo_engine::parallel::worker_row::format_dollars;
use omo_engine::parallel_state::accepts_billing;
use omo_engine::report::ultraplan::COMMAND;
use omo_engine::request::arguments::PlanSelection;
use omo_engine::request::check_target::check_selection;
use omo_engine::request::client_policy::quote_argument;
use omo_engine::request::part::strategy_of_mode;
use omo_engine::request::run_scope::RunScope;
use omo_engine::resume;
use omo_engine::state::{ANSWER_CONTINUE, RunPhase, RunState};
use omo_engine::verbs;
use omo_engine::work::{PlanFile, find_edit, is_alive};
use omo_engine::{Run, RunStore};
use omo_plan::dialects::BatchOptions;
use omo_plan::model::Plan;

use super::super::manage::describe_edit;
use super::super::open::invalid_plan_error;
use super::super::start::arguments::ExecuteRequest;
use super::super::start::{PAYER, refused};
use super::commands;
use crate::blocks as plan_blocks;
use crate::blocks::parallel_run;
use crate::commands::run::parallel::preflight;
use crate::context::{CommandContext, another_run_is_open};
use crate::error::{CommandError, ExitKind};
use crate::output::print_block;

/// The run of this plan to go on with; `None` where a new one has to be opened. Refuses where another one is in the
/// way.
pub(super) fn find_known_run(
    context: &CommandContext,
    runs: &RunStore,
    plan: &Plan,
    wanted: &ExecuteRequest,
    mode: ExecutionMode,
) -> Result<Option<(Run, RunState)>, CommandError> {
    let is_of_it = |state: &RunState| state.plan.source.path == plan.source.path;
    let resumes = wanted.scope.is_resume;
    if let Some((run, state)) = context.open_run(runs)? {
        // A client that was left at work holds up no edit of the plan.
        let (run, state) = context.reap_dead_supervisor(run, state)?;
        return match is_of_it(&state) {
            false => Err(another_run_is_open(run.id(), &state)),
            true if is_same_request(&state, wanted, mode) => Ok(Some((run, state))),
            true => Err(already_open_otherwise(run.id(), &state)),
        };
    }
    if resumes {
        let mut done_in_part = None;
        for listed in runs.list()? {
            let Ok(state) = listed.state else { continue };
            // A run that agents work on goes on by its own commands.
            if !context.is_in_this_work_tree(&state) || !is_of_it(&state) || state.scope.is_none() {
                continue;
            }
            // A part that is done leaves the run of the whole where that was.
            let is_part = state.scope.is_some_and(|asked| asked.selection != PlanSelection::Whole);
            if is_part && state.phase == (RunPhase::Ended { result: RunResult::Complete }) {
                done_in_part.get_or_insert((listed.id, state));
                continue;
            }
            if !is_same_request(&state, wanted, mode) {
                return Err(must_stay_parallel(&listed.id, &state));
            }
            return Ok(Some((runs.get(&listed.id)?, state)));
        }
        if let Some((id, state)) = done_in_part {
            return Ok(Some((runs.get(&id)?, state)));
        }
    }
    if mode == ExecutionMode::Parallel {
        require_only_parallel_run(runs, None)?;
    }
    Ok(None)
}

/// Whether what is asked for is what an open run does.
fn is_same_request(state: &RunState, wanted: &ExecuteRequest, mode: ExecutionMode) -> bool {
    let scope = &wanted.scope;
    let Some(asked) = state.scope else { return false };
    if scope.is_resume {
        return !(scope.is_foreground && state.mode == ExecutionMode::Parallel);
    }
    asked.selection == scope.selection && mode == state.mode
}

fn already_open_otherwise(id: &str, state: &RunState) -> CommandError {
    let asked = state.scope.map(RunScope::describe).unwrap_or_default();
    let way = match state.mode {
        ExecutionMode::Parallel => "in parallel sessions",
        ExecutionMode::StepByStep => "in one session",
        ExecutionMode::Batches | ExecutionMode::Waves => return super::super::start::otherwise(id, state),
    };
    let path = &state.plan.source.path;
    let message = format!("the run {id} of {path} is open, and was asked for otherwise: {asked}, {way}");
    CommandError::busy(
        message,
        format!("`{COMMAND} --resume {}` goes on with it; `omo run cancel` ends it first", quote_argument(path)),
    )
}

/// What its sessions did lies on their branches, where no step that is done here would find it.
fn must_stay_parallel(id: &str, state: &RunState) -> CommandError {
    let path = quote_argument(&state.plan.source.path);
    CommandError::busy(
        format!("the run {id} of {} was begun in parallel sessions, and goes on in them alone", state.plan.source.path),
        format!("`{COMMAND} --resume {path}` goes on with it; `{COMMAND} --fg {path}` does all of it anew, here"),
    )
}

/// Sessions of two runs in one repository would move the same branch, and remove each other's work trees.
pub(crate) fn require_only_parallel_run(runs: &RunStore, own: Option<&str>) -> Result<(), CommandError> {
    for listed in runs.list()? {
        let Ok(state) = listed.state else { continue };
        if state.parallel.is_some() && state.phase == RunPhase::Executing && own != Some(listed.id.as_str()) {
            let message = format!(
                "the run {} of {} has parallel sessions in this repository, and one repository has one such run",
                listed.id,
                plan_blocks::run_subject(&state)
            );
            let hint = format!(
                "let it finish, or end it in {}: `omo run cancel --run {}`; or use --fg",
                state.root, listed.id
            );
            return Err(CommandError::busy(message, hint));
        }
    }
    Ok(())
}

/// Takes a run over: what `omo run resume` does.
pub(crate) fn resume(
    context: &CommandContext,
    run: &Run,
    state: &RunState,
    digest: Option<&str>,
) -> Result<(), CommandError> {
    continue_run(context, run, state, None, digest)
}

/// Goes on with a run: one that is open, or one that is over and not done.
pub(super) fn continue_run(
    context: &CommandContext,
    run: &Run,
    before: &RunState,
    wanted: Option<&ExecuteRequest>,
    digest: Option<&str>,
) -> Result<(), CommandError> {
    let engine = context.engine(run, before)?;
    if !context.is_person() {
        verbs::join_run(before, &engine.caller, &is_alive)?;
    }
    let edit = find_edit(Path::new(&before.root), before)?;
    let replanned = edit.is_some().then(|| reread_plan(context, before, wanted, digest)).transpose()?;
    if before.phase == (RunPhase::Ended { result: RunResult::Complete }) && replanned.is_none() {
        context.note_ended_run(run, before);
        return print_block(&plan_blocks::end_block(before));
    }
    let accepted = check_billing(before, wanted)?;
    let accepted = accepted
        .map(|question| verbs::answer_question(before, &engine.caller, &question, ANSWER_CONTINUE, None))
        .transpose()?;
    let accepts = accepted.is_none() && wanted.is_some_and(|wanted| wanted.clients.accepts_billing);
    let _door = context.runs.as_ref().map(|runs| context.lock_opening(runs, Some(run.id()))).transpose()?;
    if let (Some(runs), true) = (&context.runs, before.parallel.is_some()) {
        require_only_parallel_run(runs, Some(run.id()))?;
    }
    let is_edited = replanned.is_some();
    let budget = wanted.and_then(|wanted| wanted.clients.policy.budget_micros);
    let ((), state) = engine.take_over(|state| {
        let replanned: Option<EventKind> =
            replanned.map(|(plan, approved)| verbs::replace_plan(state, plan, approved)).transpose()?;
        // Another process may start the next client: it reads in the ledger that the costs are accepted.
        let accepts =
            accepts && state.parallel.is_some() && !accepts_billing(state) && preflight::billing_facts().has_api_key;
        let accepted = accepted.into_iter().chain(if accepts {
            verbs::accept_billing(state, &engine.caller, PAYER)?
        } else {
            Vec::new()
        });
        let budget = budget.map(|micros| verbs::set_budget(state, &engine.caller, micros)).transpose()?.flatten();
        Ok((accepted.chain(budget).chain(replanned).collect(), ()))
    })?;
    context.note_in_session(run, &before.holder, &state);
    let mut said = wanted
        .map(|wanted| parallel_run::plan_heading(wanted, &state.plan, strategy_of_mode(&state.plan, state.mode)))
        .unwrap_or_default();
    if wanted.is_none_or(|wanted| wanted.scope.is_resume) {
        // Of what says something else now it is known only afterwards that it is done again.
        said += &resume::resume_point_of(if is_edited { &state } else { before }).summary_line();
        said.push('\n');
    } else {
        said += "note: a run of this plan is open; going on with it, as --resume does\n";
    }
    if wanted.is_some_and(|wanted| !wanted.clients.keeps_policy()) {
        said += "note: the run keeps the options for clients that it was opened with\n";
    }
    if let (Some(micros), Some(apart)) = (budget, &state.parallel) {
        let (may, have) = (format_dollars(micros), format_dollars(apart.cost_micros()));
        let _ = writeln!(said, "note: the clients may cost {may} in all, and have cost {have}");
    }
    if let Some(edit) = edit {
        said += &describe_edit(&edit, before, &state);
    }
    print_block(&parallel_run::resumed_block(
        run.id(),
        &state,
        &said,
        parallel_run::next_command(&state, context.is_person()),
    ))
}

/// Whether clients may be started again as things are now. Gives the question that its user has answered by the way.
fn check_billing(state: &RunState, wanted: Option<&ExecuteRequest>) -> Result<Option<String>, CommandError> {
    let Some(apart) = &state.parallel else { return Ok(None) };
    let is_accepted = wanted.is_some_and(|wanted| wanted.clients.accepts_billing);
    let is_it = |about: &QuestionKind| matches!(about, QuestionKind::Billing { .. });
    let open = state
        .open_question()
        .filter(|question| is_it(&question.question.kind))
        .map(|question| question.question.id.clone());
    if open.is_some() {
        return Ok(open.filter(|_| is_accepted));
    }
    let was_asked = apart.policy.payer.is_some();
    let asked = billing::BillingRequest { starts_clients: true, can_ask: false, is_accepted: is_accepted || was_asked };
    match decide_billing(&preflight::billing_facts(), asked) {
        BillingDecision::Stop { text, hint } => Err(CommandError::precondition(text, hint).with_kind(ExitKind::Budget)),
        _ => Ok(None),
    }
}

/// Refuses to start clients at the cost of an API key that the user has not accepted: the key may have been set since
/// the run was opened, or only for the session that goes on with it.
pub(crate) fn require_accepted_billing(state: &RunState) -> Result<(), CommandError> {
    let asked = billing::BillingRequest { starts_clients: true, can_ask: false, is_accepted: accepts_billing(state) };
    match decide_billing(&preflight::billing_facts(), asked) {
        BillingDecision::Stop { text, .. } => {
            let path = quote_argument(&state.plan.source.path);
            let hint =
                format!("unset ANTHROPIC_API_KEY; or `{COMMAND} --resume --accept-api-billing {path}` accepts that");
            Err(CommandError::precondition(text, hint).with_kind(ExitKind::Budget))
        }
        _ => Ok(()),
    }
}

/// The plan as its file says it now, narrowed to what the run was asked for, with the approval of exactly its commands.
fn reread_plan(
    context: &CommandContext,
    state: &RunState,
    wanted: Option<&ExecuteRequest>,
    digest: Option<&str>,
) -> Result<(Plan, String), CommandError> {
    let root = Path::new(&state.root);
    let file = PlanFile::read_anywhere(root, root, Path::new(&state.plan.source.path))?;
    let plan = file.plan(BatchOptions::from(&state.plan.policy));
    if !plan.can_run() {
        return Err(invalid_plan_error(&plan, &file.bytes));
    }
    if let Some(asked) = state.scope {
        check_selection(&plan, asked.selection).map_err(refused)?;
    }
    let plan = state.as_in_run(plan);
    let setup = state.parallel.as_ref().and_then(|apart| apart.policy.setup.as_deref());
    let resumes = || format!("{COMMAND} --resume {}", quote_argument(&plan.source.path));
    let typed = wanted.map_or_else(resumes, |wanted| wanted.typed(&wanted.source));
    let approved = commands::approve_with_setup(context, &plan, setup, digest, &super::about(&plan, typed))?;
    Ok((plan, approved))
}
