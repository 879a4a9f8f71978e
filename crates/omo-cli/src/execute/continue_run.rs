//! Continuation of an open or ended run, after its plan file is read again.

use std::fmt::Write;
use std::path::Path;

use omo_core::money::decimal_dollars;
use omo_core::text::command_text::quote_argument;
use omo_core::text::{format_limit, sanitize};
use omo_engine::event::EventKind;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::parallel_schedule::accepts_billing;
use omo_engine::preflight::{PreflightRule, can_start};
use omo_engine::report::ultraplan::command_for;
use omo_engine::report::workers::cost_text;
use omo_engine::request::arguments::PlanSelection;
use omo_engine::request::part::strategy_of_mode;
use omo_engine::state::{ANSWER_CONTINUE, RunPhase, RunState};
use omo_engine::verbs::{self, VerbCaller};
use omo_engine::work::{PlanEdit, PlanFile, find_edit};
use omo_engine::{Run, dispatched_tasks, resume};
use omo_plan::model::Plan;
use omo_plan::refusal::VerbRefusal;

use crate::billing::{self, PAYER, check_billing};
use crate::blocks::parallel_run::plan_lines;
use crate::blocks::{self, parts};
use crate::context::{CommandContext, EndedRuns, require_only_parallel_run};
use crate::error::CommandError;
use crate::execute::approval::{ApprovalRequest, approve_plan};
use crate::execute::open_run::blocking_findings_error;
use crate::execute::plan_file::require_part;
use crate::execute::request::{ExecuteCommand, ExecuteRequest, RequestedPlan};
use crate::execute::{preflight, print_then_next};
use crate::output;
use crate::output::check_progress::TaskCheckProgress;

#[derive(Clone, Copy, Default)]
pub(crate) struct Continuing<'r> {
    pub request: Option<&'r ExecuteRequest>,
    pub digest: Option<&'r str>,
    /// A request by the user, not a model: ticks in the plan count.
    pub is_user: bool,
    pub is_for_agents: bool,
}

impl<'r> Continuing<'r> {
    pub(crate) fn of(
        context: &CommandContext,
        request: &'r ExecuteRequest,
        mode: ExecutionMode,
    ) -> Self {
        let is_user = request.is_typed || context.is_person();
        let is_for_agents = mode.is_done_by_agents();
        Self {
            request: Some(request),
            digest: request.digest.as_deref(),
            is_user,
            is_for_agents,
        }
    }

    /// `true` for an ended run that does not restart on request. A failed one in waves does.
    fn is_over(&self, state: &RunState) -> bool {
        match state.phase {
            RunPhase::Executing | RunPhase::Cancelled { .. } => false,
            RunPhase::Ended { .. } if parts::is_complete(state) => true,
            RunPhase::Ended { .. } => {
                let goes_over = state.mode == ExecutionMode::Waves
                    && self.request.is_none_or(|request| request.again);
                (self.is_for_agents || state.mode.is_done_by_agents()) && !goes_over
            }
        }
    }
}

pub(crate) fn continue_open_run(
    context: &CommandContext,
    is_typed: bool,
) -> Result<(), CommandError> {
    let (run, before) = context.find_run(None, EndedRuns::Excluded)?;
    let is_edited =
        find_edit(Path::new(&before.root), &before)?.is_some() && before.parallel.is_none();
    let is_user = is_typed || context.is_person();
    let continuing = Continuing {
        is_user,
        ..Continuing::default()
    };
    if context.is_preview {
        context.require_free_run(&before)?;
        context.note_typed(&run, &before);
        return if is_edited {
            continue_run(context, &run, &before, &continuing)
        } else {
            Ok(())
        };
    }
    let engine = context.engine(&run, &before)?;
    let stop = before
        .open_question()
        .filter(|open| open.question.kind.is_passed_by_going_on());
    let stop = stop.map(|open| open.question.id.clone());
    let ((), state) = engine.transact(|state| {
        let answered =
            stop.map(|question| engine.answer_question(state, &question, ANSWER_CONTINUE, None));
        let answered = answered.transpose()?.unwrap_or_default();
        Ok((
            answered
                .into_iter()
                .chain(dispatched_tasks::forget_dispatched_if_any(state))
                .collect(),
            (),
        ))
    })?;
    context.note_in_session(&run, &before.holder, &state);
    // Edits are read behind the stop, which was about the earlier plan.
    if is_edited {
        return continue_run(context, &run, &state, &continuing);
    }
    let head = format!("[omo] {}\n", known_run_line(&state));
    let head = blocks::resumed_block(run.id(), &state, &head);
    print_then_next(context, &run, state, &head)
}

pub(crate) fn known_run_line(state: &RunState) -> String {
    let (subject, words) = (parts::run_subject(state), state.mode.words());
    match state.phase {
        RunPhase::Cancelled { .. } => {
            let done = parts::progress_words(state);
            format!("{subject}: its cancelled run goes on {words}, {done}; --again starts over")
        }
        _ => format!("{subject}: its run goes on {words}"),
    }
}

/// Takes over the run with edits of its plan, and prints the next step; of an ended run, the end.
pub(crate) fn continue_run(
    context: &CommandContext,
    run: &Run,
    before: &RunState,
    continuing: &Continuing,
) -> Result<(), CommandError> {
    let engine = context.engine(run, before)?;
    let edit = find_edit(Path::new(&before.root), before)?;
    if continuing.is_over(before)
        && (edit.is_none() || continuing.is_for_agents && parts::is_complete(before))
    {
        return if context.is_preview {
            Ok(())
        } else {
            show_end(context, run, before, continuing)
        };
    }
    context.require_free_run(before)?;
    if let Some(request) = continuing.request {
        request.warn_of_kept_proof(&before.plan.policy);
    }
    if !parts::is_complete(before) {
        require_clean_checkout(context, run, before)?;
    }
    // A lost approval is asked for again, as in a copy of the project.
    let is_asked = !continuing.is_over(before) && engine.require_approval(before).is_err();
    let reread = (edit.is_some() || is_asked)
        .then(|| reread_plan(context, before, continuing))
        .transpose()?;
    let replanned = reread.filter(|_| edit.is_some());
    if context.is_preview {
        return Ok(());
    }
    let opened = replanned
        .as_ref()
        .map(|reread| reread.opened.join(", "))
        .unwrap_or_default();
    let accepts_billing = continuing
        .request
        .is_some_and(|request| request.clients.accepts_billing);
    let accepted = check_billing(before, accepts_billing)?;
    let accepted = accepted
        .map(|question| {
            verbs::answer_question(before, &engine.caller, &question, ANSWER_CONTINUE, None)
        })
        .transpose()?;
    let plan = replanned
        .as_ref()
        .map_or(&before.plan, |reread| &reread.plan);
    let broken = engine.broken_tasks(before, plan, &mut TaskCheckProgress::new())?;
    let _opening_lock = context
        .runs
        .as_ref()
        .map(|runs| context.lock_opening(runs, Some(run.id())))
        .transpose()?;
    if let (Some(runs), true) = (&context.runs, before.parallel.is_some()) {
        require_only_parallel_run(runs, Some(run.id()))?;
    }
    let ((), state) = engine.take_over(|state| {
        let mut events = match accepted {
            Some(accepted) => vec![accepted],
            None => accept_billing(state, &engine.caller, accepts_billing)?,
        };
        events.extend(change_clients(state, &engine.caller, continuing.request)?);
        events.extend(broken.iter().map(|(id, why)| EventKind::TaskReopened {
            task: id.clone(),
            reason: why.clone(),
        }));
        if let Some(RereadPlan {
            plan,
            approved,
            opened,
        }) = replanned
        {
            events.extend(verbs::replace_plan(state, plan, approved)?);
            events.extend(verbs::foreign_ticks_event(opened));
        }
        Ok((
            events
                .into_iter()
                .chain(dispatched_tasks::forget_dispatched_if_any(state))
                .collect(),
            (),
        ))
    })?;
    context.note_in_session(run, &before.holder, &state);
    let mut intro = if before.mode.is_done_by_agents() {
        continuing
            .request
            .map(|request| request.choice.clone())
            .unwrap_or_default()
    } else {
        // Tasks with a changed text are known to be repeated only afterwards.
        step_heading(
            &state,
            if edit.is_some() { &state } else { before },
            continuing.request,
        )
    };
    intro += &edit
        .map(|edit| describe_edit(&edit, before, &state))
        .unwrap_or_default();
    if !opened.is_empty() {
        let _ = writeln!(
            intro,
            "note: opened again, as neither omo nor you ticked it: {}; what you tick counts where you type /omo:execute yourself",
            sanitize(&opened, 300)
        );
    }
    for (id, why) in &broken {
        let id = sanitize(id, 64);
        let _ = writeln!(
            intro,
            "note: {id} is open again, its work does not hold: {why}"
        );
    }
    print_then_next(
        context,
        run,
        state.clone(),
        &blocks::resumed_block(run.id(), &state, &intro),
    )
}

fn show_end(
    context: &CommandContext,
    run: &Run,
    state: &RunState,
    continuing: &Continuing,
) -> Result<(), CommandError> {
    context.note_ended_run(run, state);
    let afresh = continuing
        .request
        .filter(|request| parts::is_complete(state) && !request.scope.is_resume);
    output::print_block(&match afresh {
        Some(request) => blocks::complete_already(run.id(), state, &request.typed_anew()),
        None => blocks::end_block(state),
    })
}

/// Another process may start the next client, and reads the accepted costs in the ledger.
fn accept_billing(
    state: &RunState,
    caller: &VerbCaller,
    is_accepted: bool,
) -> Result<Vec<EventKind>, VerbRefusal> {
    if is_accepted
        && state.parallel.is_some()
        && !accepts_billing(state)
        && billing::billing_facts().has_api_key
    {
        return verbs::accept_billing(state, caller, PAYER);
    }
    Ok(Vec::new())
}

fn change_clients(
    state: &RunState,
    caller: &VerbCaller,
    request: Option<&ExecuteRequest>,
) -> Result<Vec<EventKind>, VerbRefusal> {
    let Some(policy) = request.map(|request| &request.clients.policy) else {
        return Ok(Vec::new());
    };
    let budget = policy
        .budget_micros
        .map(|micros| verbs::set_budget(state, caller, micros))
        .transpose()?
        .flatten();
    let seconds = Some(policy.time_limit_seconds).filter(|seconds| *seconds > 0);
    let time_limit = seconds
        .map(|seconds| verbs::set_time_limit(state, caller, seconds))
        .transpose()?
        .flatten();
    Ok(budget.into_iter().chain(time_limit).collect())
}

fn step_heading(
    state: &RunState,
    begins_at: &RunState,
    request: Option<&ExecuteRequest>,
) -> String {
    let mut text = String::new();
    if let Some(request) = request {
        let strategy = strategy_of_mode(&state.plan, state.mode);
        text = format!(
            "{}{}{}",
            request.choice,
            request.heading,
            plan_lines(&state.plan, strategy)
        );
    }
    if request.is_none_or(|request| request.scope.is_resume) {
        text += &resume::resume_point_of(begins_at).summary_line();
        text.push('\n');
    } else {
        text += "note: a run of this plan is open; going on with it, as --resume does\n";
    }
    let Some(clients) = request.map(|request| &request.clients) else {
        return text;
    };
    if !clients.keeps_policy() {
        text += "note: the run keeps the options for clients that it was opened with\n";
    }
    let Some(parallel) = &state.parallel else {
        return text;
    };
    if let Some(micros) = clients.policy.budget_micros {
        let have = cost_text(parallel)
            .map(|cost| format!("; so far: {cost}"))
            .unwrap_or_default();
        let _ = writeln!(
            text,
            "note: the clients may cost {} in all{have}",
            decimal_dollars(micros)
        );
    }
    if clients.policy.time_limit_seconds > 0 {
        let limit = format_limit(parallel.policy.time_limit_seconds());
        let _ = writeln!(text, "note: a client may run for {limit} from now on");
    }
    text
}

/// Refuses to start workers where their work could not reach the user. Running workers go on.
fn require_clean_checkout(
    context: &CommandContext,
    run: &Run,
    state: &RunState,
) -> Result<(), CommandError> {
    let Some(parallel) = &state.parallel else {
        return Ok(());
    };
    if run.is_supervised()? {
        return Ok(());
    }
    let mut found =
        preflight::preflight_findings(context, &state.plan, state.mode, &parallel.policy)?;
    found.retain(|finding| {
        matches!(
            finding.rule,
            PreflightRule::Dirty | PreflightRule::Operation
        )
    });
    if can_start(&found) {
        Ok(())
    } else {
        Err(blocking_findings_error(&found))
    }
}

struct RereadPlan {
    plan: Plan,
    approved: String,
    /// Tasks whose ticks in the plan's file are not believed.
    opened: Vec<String>,
}

fn reread_plan(
    context: &CommandContext,
    state: &RunState,
    continuing: &Continuing,
) -> Result<RereadPlan, CommandError> {
    let root = Path::new(&state.root);
    let path = Path::new(&state.plan.source.path);
    let file = if state.mode.is_done_by_agents() {
        PlanFile::read(root, root, path)?
    } else {
        PlanFile::read_anywhere(root, root, path)?
    };
    // Read with the dialect and options of the run; others would make other batches of the same tasks.
    let part = state
        .scope
        .map_or(PlanSelection::Whole, |asked| asked.selection);
    let mut plan = require_part(file.plan(&state.plan), &file, root, part)?;
    let opened = if continuing.is_user {
        Vec::new()
    } else {
        verbs::distrust_ticks(state, &mut plan)
    };
    let plan = state.as_in_run(plan);
    let setup = state
        .parallel
        .as_ref()
        .and_then(|parallel| parallel.policy.setup.as_deref());
    let command_line = command_line(&plan, state.mode, continuing.request);
    let asked = ApprovalRequest {
        command_line,
        digest: continuing.digest,
        is_continued: true,
        ..ApprovalRequest::default()
    };
    let approved = approve_plan(context, &plan, state.mode, setup, &asked)?;
    Ok(RereadPlan {
        plan,
        approved,
        opened,
    })
}

fn command_line(plan: &Plan, mode: ExecutionMode, request: Option<&ExecuteRequest>) -> String {
    match (mode, request) {
        (ExecutionMode::Batches, _) => line_of_command(ExecuteCommand::ExecutePlan, plan),
        (ExecutionMode::Waves, _) => line_of_command(ExecuteCommand::Execute, plan),
        (_, Some(request)) => request.typed(),
        (_, None) => format!(
            "{} --resume {}",
            command_for(plan),
            quote_argument(&plan.source.path)
        ),
    }
}

fn line_of_command(command: ExecuteCommand, plan: &Plan) -> String {
    ExecuteRequest::new(command, RequestedPlan::File(plan.source.path.clone())).typed()
}

pub(crate) fn describe_edit(edit: &PlanEdit, before: &RunState, now: &RunState) -> String {
    let (were, are) = (before.plan.tasks.len(), now.plan.tasks.len());
    let word = now.plan.dialect.unit_word();
    let total =
        format!("ℹ️ Plan now has {are} {word}s (was {were}); resuming with updated total.\n");
    let stale: Vec<&str> = now
        .tasks
        .iter()
        .filter(|(_, task)| task.is_stale)
        .map(|(id, _)| id.as_str())
        .collect();
    let stale_line = format!("note: stale, to be done again: {}\n", stale.join(", "));
    let lines = [
        (were != are).then_some(total),
        Some(format!("note: the plan was edited: {edit}\n")),
        (!stale.is_empty()).then_some(stale_line),
    ];
    lines.into_iter().flatten().collect()
}
