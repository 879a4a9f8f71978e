//! `SessionStart`: the session learns its id and the state of its run.

use omo_claude::hook_input::HookInput;
use omo_claude::hook_output::HookAnswer;
use omo_core::messages::{self, ContractForm, HoldState};
use omo_core::session::id::SessionId;
use omo_core::session::plan_run::PlanRun;
use omo_core::session::task_list::task_list_plan_name;
use omo_core::session::{Session, UlwTrigger};
use omo_core::stop::allowed_blocks;
use omo_state::task_list_note;

use crate::run_prompt;
use crate::runtime::{HookContext, HookError};

pub(crate) fn handle(context: &HookContext, input: &HookInput) -> Result<(), HookError> {
    let Some(id) = &context.session_id else {
        return Ok(());
    };
    let session = context.peek_session().unwrap_or_else(|error| {
        context.log_problem(&error);
        None
    });
    let plan = session
        .as_ref()
        .and_then(|session| context.own_plan_run(session))
        .filter(|plan| plan.is_open());
    let compacted = input.source.as_deref() == Some("compact");
    let offers = if compacted {
        Vec::new()
    } else {
        offers(context, plan)
    };
    let offer = (!offers.is_empty()).then(|| offers.join("\n"));
    let line = first_lines(id, plan);
    let Some(session) = session.filter(Session::is_armed) else {
        answer_without_run(line, offer).print(context.event);
        return Ok(());
    };
    answer_for_run(context, &session, &line, compacted, offer).print(context.event);
    let tail = context.read_and_count(input, &session);
    context.update_armed(|session| {
        if input.transcript_path.is_some() && !compacted {
            // A new process of the client has an empty queue: earlier lines are skipped.
            session.transcript.offset = tail.end;
        }
    })
}

fn first_lines(id: &SessionId, plan: Option<&PlanRun>) -> String {
    let line = messages::session_line(id);
    plan.map_or(line.clone(), |plan| {
        format!("{line}\n{}", messages::plan::run_line(plan))
    })
}

fn offers(context: &HookContext, plan: Option<&PlanRun>) -> Vec<String> {
    let run = if plan.is_none() {
        run_prompt::offer(context)
    } else {
        None
    };
    [task_list_offer(context, plan), run]
        .into_iter()
        .flatten()
        .collect()
}

/// The open task list of this project, unless it is the session's own run.
fn task_list_offer(context: &HookContext, plan: Option<&PlanRun>) -> Option<String> {
    let noted = task_list_note::read(context.root.as_deref()?, context.env.state_home.as_deref());
    let session = noted.unwrap_or_else(|error| {
        context.log_problem(&error);
        None
    })?;
    if !session.is_offered(context.env.now) {
        return None;
    }
    let is_told = plan.is_some_and(|plan| plan.plan == task_list_plan_name(&session.id));
    (!is_told).then(|| messages::plan::task_list_offer(&session))
}

/// Answer without an active run: context for the model, an offer for the user, who alone accepts.
fn answer_without_run(line: String, offer: Option<String>) -> HookAnswer {
    match offer {
        Some(offer) => HookAnswer::Notice {
            model: Some(format!("{line}\n{offer}")),
            user: offer,
        },
        None => HookAnswer::Context(line),
    }
}

fn answer_for_run(
    context: &HookContext,
    session: &Session,
    line: &str,
    compacted: bool,
    offer: Option<String>,
) -> HookAnswer {
    let now = context.env.now;
    let allowed = allowed_blocks(session, context.env.client_block_cap);
    if compacted {
        let trigger = session.ulw.trigger.unwrap_or(UlwTrigger::Keyword);
        let contract =
            messages::contract(trigger, session.limits, ContractForm::Full, HoldState::Held);
        let standing = messages::run_resumed_context(session, allowed, now);
        return HookAnswer::Context(format!("{line}\n{contract}\n{standing}"));
    }
    let user = messages::run_resumed(session, allowed, now);
    let model = format!(
        "{line}\n{}",
        messages::run_resumed_context(session, allowed, now)
    );
    match offer {
        Some(offer) => HookAnswer::Notice {
            user: format!("{user}\n{offer}"),
            model: Some(format!("{model}\n{offer}")),
        },
        None => HookAnswer::Notice {
            user,
            model: Some(model),
        },
    }
}
