//! Notice that a session's plan run has ended or waits for a person: noted by `omo`, and shown at
//! the next Stop that does not continue.

use omo_claude::hook_output::HookAnswer;
use omo_core::messages::notification::terminal_notification;
use omo_core::messages::plan::{run_notice, status_row};
use omo_core::run_command::EndedRunName;
use omo_core::session::Session;
use omo_core::session::plan_run::{PlanRun, PlanRunStatus};
use omo_core::stop::{StopAction, StopDecision};
use omo_state::config;
use omo_state::files::lock::DEADLINE;
use omo_state::state::{CorruptPolicy, EntryChange, sealed_plan_run};

use crate::run_prompt;
use crate::runtime::{HookContext, HookError};

/// The plan run with a notice, marked as shown; `None` if another process of this hook was first.
pub(crate) fn take(context: &HookContext, session: &Session) -> Result<Option<PlanRun>, HookError> {
    if !session.plan_run.as_ref().is_some_and(PlanRun::is_untold) {
        return Ok(None);
    }
    let Some(place) = context.session_entry()? else {
        return Ok(None);
    };
    let (run, _lock) = place.update(DEADLINE, CorruptPolicy::Refuse, |session| {
        let run =
            sealed_plan_run::take_untold(session, place.id(), context.env.state_home.as_deref());
        let change = if run.is_some() {
            EntryChange::Write
        } else {
            EntryChange::Keep
        };
        (run, change)
    })?;
    Ok(run)
}

/// `true` for a Stop that ends the ultrawork run, or lets the turn end while the plan run waits.
pub(crate) fn is_due(decision: &StopDecision, session: &Session) -> bool {
    match decision.action {
        StopAction::Block(_) => false,
        StopAction::End { .. } => true,
        StopAction::Allow
        | StopAction::AllowAndWarn
        | StopAction::AwaitAnswer
        | StopAction::Pause(_) => session
            .plan_run
            .as_ref()
            .is_some_and(|run| matches!(run.status(), PlanRunStatus::Waits(_))),
    }
}

pub(crate) fn with_notice(
    context: &HookContext,
    run: Option<&PlanRun>,
    answer: Option<HookAnswer>,
) -> Option<HookAnswer> {
    let Some(run) = run else { return answer };
    Some(match answer {
        None => notice(context, run, None, None),
        Some(HookAnswer::Notify { user, terminal }) => HookAnswer::Notify {
            user: with_status(&user, run),
            terminal,
        },
        Some(HookAnswer::Notice { user, model }) => HookAnswer::Notice {
            user: with_status(&user, run),
            model,
        },
        Some(other) => other,
    })
}

fn with_status(line: &str, run: &PlanRun) -> String {
    format!("{line}\n[omo] {}", status_row(run))
}

pub(crate) fn print_with_page(context: &HookContext, run: &PlanRun, line: Option<&str>) {
    if run.is_open() {
        return notice(context, run, line, None).print(context.event);
    }
    context.print_at_timeout(notice(context, run, line, None));
    let page = run_prompt::write_page(context, &EndedRunName::Plan(run.id.clone()));
    notice(context, run, line, page.as_deref()).print(context.event);
}

fn notice(
    context: &HookContext,
    run: &PlanRun,
    line: Option<&str>,
    page: Option<&str>,
) -> HookAnswer {
    let setting = config::load(context.env.config_file.as_deref()).notify;
    let terminal = terminal_notification(setting.bell, setting.desktop, &status_row(run));
    let lines: Vec<String> = line
        .map(str::to_owned)
        .into_iter()
        .chain([run_notice(run, page)])
        .collect();
    HookAnswer::Notify {
        user: lines.join("\n"),
        terminal,
    }
}
