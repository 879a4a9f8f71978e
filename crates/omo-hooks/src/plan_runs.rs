//! Prompts about the run of a plan: noted as a person's word, kept as a typed command, or taken as an approval.

use std::path::Path;

use omo_core::log_entry;
use omo_core::messages::{plan, refusal_line};
use omo_core::prompt::{PromptIntent, approval_code};
use omo_core::session::id::SessionId;
use omo_core::session::plan_run::{PlanRun, TypedCommand};
use omo_core::session::{ChangedBy, Session};
use omo_process::watchdog;
use omo_state::files::lock::DEADLINE;
use omo_state::plugin_data::remember_plugin_data;
use omo_state::state::sealed_plan_run::{keep_arguments, note_prompt};
use omo_state::state::{CorruptPolicy, EntryChange, StateError};
use omo_state::trust::GivenApproval;
use omo_state::trust::pending_approval::{self, PendingApproval};

use crate::run_prompt;
use crate::runtime::HookContext;

const MAX_REQUESTS: usize = 2;

pub enum PromptApproval {
    NotAsked,
    /// The text is for the model, which carries the command out.
    Given(String),
    /// The text is for the user; the model never sees the prompt.
    Refused(String),
}

pub fn speaks_to_waiting_run(intent: &PromptIntent, session: Option<&Session>) -> bool {
    (intent.is_answer_from_person() || intent.withdraws_answer())
        && session
            .and_then(|session| session.plan_run.as_ref())
            .is_some_and(PlanRun::can_resume)
}

pub(crate) fn keep_typed_command(context: &HookContext, intent: &PromptIntent) {
    let PromptIntent::Command { name, arguments } = intent else {
        return;
    };
    if let Err(error) = remember_plugin_data(context.env.state_home.as_deref()) {
        context.log_problem(&error);
    }
    let typed = TypedCommand::to_keep(name, arguments, context.env.now);
    change_entry(context, |session, _| keep_arguments(session, typed));
}

pub(crate) fn note_person_prompt(
    context: &HookContext,
    intent: &PromptIntent,
    session: Option<&Session>,
) {
    if speaks_to_waiting_run(intent, session) {
        let home = context.env.state_home.as_deref();
        let at = (!intent.withdraws_answer()).then_some(context.env.now);
        change_entry(context, |session, id| note_prompt(session, id, home, at));
    }
}

/// Drops the arguments of a refused command, so that a later call by the model has none.
pub(crate) fn forget_arguments(context: &HookContext) {
    change_entry(context, |session, _| keep_arguments(session, None));
}

fn change_entry(
    context: &HookContext,
    change: impl FnOnce(&mut Session, &SessionId) -> EntryChange,
) {
    let changed = context.create_session_entry().and_then(|place| {
        let Some(place) = place else { return Ok(()) };
        place.update(DEADLINE, CorruptPolicy::MoveAside, |session| {
            ((), change(session, place.id()))
        })?;
        Ok(())
    });
    if let Err(error) = changed {
        context.log_problem(&error);
    }
}

pub fn approve_commands(context: &HookContext, intent: &PromptIntent) -> PromptApproval {
    let PromptIntent::Command { name, arguments } = intent else {
        return PromptApproval::NotAsked;
    };
    let Some(code) = approval_code(name, arguments) else {
        return PromptApproval::NotAsked;
    };
    let Some(root) = context.root.as_deref() else {
        return PromptApproval::Refused(refusal_line("no project folder is known here"));
    };
    watchdog::start();
    let approvals = pending_approvals(context, root);
    match pending_approval::find_by_code(&approvals, code) {
        None => PromptApproval::Refused(wrong_code_text(context, name, arguments)),
        Some(pending) => match write_approval(context, root, pending) {
            Ok(()) => PromptApproval::Given(plan::plan_approved_context(
                &pending.plan,
                pending.commands.len(),
            )),
            Err(refusal) => PromptApproval::Refused(refusal),
        },
    }
}

/// Pending approvals of all plans of a project; empty where they cannot be read.
pub(crate) fn pending_approvals(context: &HookContext, root: &Path) -> Vec<PendingApproval> {
    pending_approval::read_all(context.env.state_home.as_deref(), root).unwrap_or_else(|error| {
        context.log_problem(&error);
        Vec::new()
    })
}

/// Text that asks the user for approvals; `None` without unapproved commands.
pub(crate) fn approval_text(
    context: &HookContext,
    approvals: &[PendingApproval],
) -> Option<String> {
    let state_home = context.env.state_home.as_deref();
    let open: Vec<&PendingApproval> = approvals
        .iter()
        .filter(|pending| !pending_approval::is_approved(state_home, &pending.digest))
        .collect();
    let mut texts: Vec<String> = open
        .iter()
        .take(MAX_REQUESTS)
        .map(|pending| approval_request(pending).unwrap_or_else(|refusal| refusal))
        .collect();
    if open.len() > MAX_REQUESTS {
        texts.push(format!(
            "and {} more that are older",
            open.len() - MAX_REQUESTS
        ));
    }
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn approval_request(pending: &PendingApproval) -> Result<String, String> {
    plan::approval_request(&pending.plan, &pending.commands, &pending.digest)
}

fn wrong_code_text(context: &HookContext, name: &str, arguments: &str) -> String {
    let refusal = refusal_line(&plan::wrong_code_of(name));
    match run_prompt::preview(context, name, arguments) {
        Some(screen) => format!("{refusal}\n{screen}"),
        None => refusal,
    }
}

pub(crate) fn write_approval(
    context: &HookContext,
    root: &Path,
    pending: &PendingApproval,
) -> Result<(), String> {
    approval_request(pending)?;
    let approval = GivenApproval {
        by: ChangedBy::Typed,
        at: context.env.now,
    };
    let approved =
        pending_approval::approve(context.env.state_home.as_deref(), root, pending, approval);
    approved.map_err(|error| refusal_line(&format!("could not be approved: {error}")))?;
    if let Err(error) = log_approval(context) {
        context.log_problem(&error);
    }
    Ok(())
}

fn log_approval(context: &HookContext) -> Result<(), StateError> {
    let Some(place) = context.create_session_entry()? else {
        return Ok(());
    };
    let (session, lock) = place.update(DEADLINE, CorruptPolicy::Refuse, |session| {
        (session.clone(), EntryChange::Keep)
    })?;
    let why = "you approved what a plan runs";
    let entry = log_entry::new_entry(
        place.id().as_str(),
        &session,
        context.event.name(),
        "approve".to_owned(),
        why,
        context.env.now,
    );
    place.log(&lock, &entry);
    Ok(())
}
