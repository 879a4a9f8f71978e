//! `/omo:check`: lists, adds, removes and approves the checks of a claim, without the model.

use std::fmt::Write;
use std::path::Path;

use omo_checks::detected_check::{DetectedCheck, offer_check};
use omo_checks::missing_program::missing_program;
use omo_checks::repository_config::{ApprovalState, RepositoryConfig};
use omo_core::check::session_check::{self, Check, CheckOrigin, MAX_COMMAND_BYTES};
use omo_core::log_entry;
use omo_core::messages::checks::{CODE_CHARS, approval_request, check_list, checks_not_approved};
use omo_core::messages::{self, refusal_line};
use omo_core::prompt::check_request::CheckRequest;
use omo_core::session::{ChangedBy, EntryProvenance, Session};
use omo_core::text::command_text::paste_form;
use omo_core::text::{inline_code, pluralize};
use omo_state::config::UserConfig;
use omo_state::files::lock::DEADLINE;
use omo_state::state::{CorruptPolicy, EntryChange};
use omo_state::trust::GivenApproval;
use omo_state::trust::pending_approval::{self, PendingApproval};

use crate::plan_runs;
use crate::runtime::{HookContext, HookError};

pub(super) fn run_check_command(
    context: &HookContext,
    config: &UserConfig,
    command: &CheckRequest,
) -> Result<String, HookError> {
    let Some(root) = context.root.as_deref() else {
        return Ok(refusal_line("no project folder is known here"));
    };
    match command {
        CheckRequest::List | CheckRequest::Run => list_checks(context, root),
        CheckRequest::Add(check) => add_check(context, check, None),
        CheckRequest::AddSuggested {
            name,
            timeout_seconds,
        } => {
            let detected = match offer_check(root, config.detection) {
                Ok(detected) => detected,
                Err(none) => {
                    return Ok(refusal_line(&format!(
                        "{none}; type one: /omo:check add <command>"
                    )));
                }
            };
            match Check::from_user(name.as_deref(), detected.command, *timeout_seconds) {
                Ok(check) => add_check(context, &check, Some(detected)),
                Err(error) => Ok(refusal_line(&error.to_string())),
            }
        }
        CheckRequest::Remove(name) => change_checks(context, |checks| {
            let message = format!("[omo] `{}` decides no more.", inline_code(name, 40));
            if session_check::remove_check(checks, name) {
                Ok(message)
            } else {
                Err(unknown_check(name))
            }
        }),
        CheckRequest::Accept { name } => accept_checks(context, name.as_deref()),
        CheckRequest::Approve { code } => approve(context, root, code.as_deref()),
    }
}

fn unknown_check(name: &str) -> String {
    refusal_line(&format!(
        "no check here is called `{}`; /omo:check list names them",
        inline_code(name, 40)
    ))
}

fn list_checks(context: &HookContext, root: &Path) -> Result<String, HookError> {
    let session = context.peek_session()?.unwrap_or_default();
    let session = session.as_believed(context.provenance(&session)?, context.env.now);
    let mut text = check_list(
        &session.checks,
        session.verification.review_wanted,
        context.env.now,
    );
    if let Some(repository) = RepositoryConfig::read(root) {
        if let Some(problem) = repository.problems.first() {
            let _ = write!(text, "\n{}", refusal_line(&problem.to_string()));
        } else if !repository.is_approved(context.env.state_home.as_deref())
            && !repository.checks.is_empty()
        {
            let _ = write!(text, "\n{}", approval_text(context, &repository));
        }
    }
    Ok(text)
}

fn add_check(
    context: &HookContext,
    check: &Check,
    detected: Option<DetectedCheck>,
) -> Result<String, HookError> {
    let found = detected
        .map(|found| format!(" (found in {})", found.found_in))
        .unwrap_or_default();
    change_checks(context, |checks| {
        session_check::add_check(checks, check.clone())
            .map_err(|error| refusal_line(&error.to_string()))?;
        let added = checks
            .iter()
            .rev()
            .find(|known| known.command == check.command);
        let name = added.map(|check| check.name.as_str()).unwrap_or_default();
        let missing = context
            .root
            .as_deref()
            .and_then(|root| missing_program(&check.command, root));
        let missing = missing
            .map(|why| format!(" It cannot run: {why}."))
            .unwrap_or_default();
        Ok(format!(
            "[omo] `{name}` decides from now on: {}{found} runs whenever a claim is checked.{missing}",
            paste_form(&check.command, MAX_COMMAND_BYTES)
        ))
    })
}

fn accept_checks(context: &HookContext, name: Option<&str>) -> Result<String, HookError> {
    change_session(context, |session| {
        let accepted = session.accept_unusual(name, ChangedBy::Typed, context.env.now);
        if accepted.is_empty() {
            return Err(refusal_line(
                "nothing about the last claim is there to accept; /omo:check list names the checks",
            ));
        }
        let next = if session.is_armed() {
            ""
        } else {
            "; `ulw` goes on with the task"
        };
        Ok(format!("[omo] accepted: {}{next}", accepted.join("; ")))
    })
}

fn approve(context: &HookContext, root: &Path, typed: Option<&str>) -> Result<String, HookError> {
    let plans = plan_runs::pending_approvals(context, root);
    match typed {
        None => Ok(list_approvals(context, root, &plans)),
        Some(code) => match pending_approval::find_by_code(&plans, code) {
            Some(pending) => Ok(match plan_runs::write_approval(context, root, pending) {
                Ok(()) => messages::plan::plan_approved(&pending.plan, pending.commands.len()),
                Err(said) => said,
            }),
            None => approve_file(context, root, code, &plans),
        },
    }
}

/// Approvals of `omo.toml`, then those of plans, in words.
fn list_approvals(context: &HookContext, root: &Path, plans: &[PendingApproval]) -> String {
    let plans = plan_runs::approval_text(context, plans);
    // A file that only sets up worktrees asks for nothing here: plans do.
    let repository = RepositoryConfig::read(root)
        .filter(|repository| !repository.checks.is_empty() || !repository.problems.is_empty());
    let of_file = repository.map(|repository| match repository.problems.first() {
        Some(problem) => refusal_line(&problem.to_string()),
        None if repository.is_approved(context.env.state_home.as_deref()) => {
            "[omo] omo.toml is approved exactly as it is.".to_owned()
        }
        None => approval_text(context, &repository),
    });
    let shown: Vec<String> = [of_file, plans].into_iter().flatten().collect();
    if shown.is_empty() {
        refusal_line(NO_FILE)
    } else {
        shown.join("\n")
    }
}

fn approval_text(context: &HookContext, repository: &RepositoryConfig) -> String {
    let shown = approval_request(
        &repository.checks,
        repository.setup.as_deref(),
        &repository.pinned,
        &repository.digest,
    )
    .unwrap_or_else(|refusal| refusal);
    match repository.approval(context.env.state_home.as_deref()) {
        ApprovalState::Before { changed } => {
            format!(
                "{}\n{shown}",
                checks_not_approved(&repository.checks, Some(&changed))
            )
        }
        ApprovalState::Yes(_) | ApprovalState::No => shown,
    }
}

const NO_FILE: &str = "there is no omo.toml with a check at the top of this project";

fn approve_file(
    context: &HookContext,
    root: &Path,
    typed: &str,
    plans: &[PendingApproval],
) -> Result<String, HookError> {
    let state_home = context.env.state_home.as_deref();
    let Some(repository) = RepositoryConfig::read(root) else {
        return Ok(plan_runs::approval_text(context, plans).map_or_else(
            || refusal_line(NO_FILE),
            |shown| format!("{}\n{shown}", refusal_line(messages::plan::wrong_code())),
        ));
    };
    if let Some(problem) = repository.problems.first() {
        return Ok(refusal_line(&problem.to_string()));
    }
    let shown = match approval_request(
        &repository.checks,
        repository.setup.as_deref(),
        &repository.pinned,
        &repository.digest,
    ) {
        Ok(shown) => shown,
        Err(refusal) => return Ok(refusal),
    };
    // Another content with this beginning could only be searched for, and its code must be typed.
    if typed.len() < CODE_CHARS || !repository.digest.starts_with(typed) {
        return Ok(format!(
            "{}\n{shown}",
            refusal_line("that is not the code of omo.toml as it is now; nothing was approved")
        ));
    }
    let approval = GivenApproval {
        by: ChangedBy::Typed,
        at: context.env.now,
    };
    let new = repository.checks.clone();
    let message = format!(
        "[omo] approved: {} of omo.toml, exactly as it is now. Any change asks again.",
        pluralize(new.len(), "check")
    );
    change_checks(context, |checks| {
        checks.retain(|check| check.origin != CheckOrigin::Repository);
        for check in new.clone() {
            session_check::add_check(checks, check)
                .map_err(|error| refusal_line(&error.to_string()))?;
        }
        // Last: an approval beyond the bounds is not given either.
        let approved = repository.approve(state_home, root, approval);
        approved.map_err(|error| refusal_line(&format!("could not be approved: {error}")))?;
        Ok(message.clone())
    })
}

fn change_checks(
    context: &HookContext,
    mut change: impl FnMut(&mut Vec<Check>) -> Result<String, String>,
) -> Result<String, HookError> {
    change_session(context, |session| {
        let mut checks = session.checks.clone();
        let message = change(&mut checks)?;
        session.change_checks(checks, ChangedBy::Typed, context.env.now);
        Ok(message)
    })
}

fn change_session(
    context: &HookContext,
    mut change: impl FnMut(&mut Session) -> Result<String, String>,
) -> Result<String, HookError> {
    let Some(place) = context.create_session_entry()? else {
        return Ok(refusal_line("this session has no id that omo knows"));
    };
    let ((message, session), lock) =
        place.update(DEADLINE, CorruptPolicy::Refuse, |session: &mut Session| {
            let message = change(session);
            let write = if message.is_ok() {
                EntryChange::Write
            } else {
                EntryChange::Keep
            };
            ((message, session.clone()), write)
        })?;
    let message = match message {
        Err(message) => return Ok(message),
        Ok(message) => message,
    };
    let id = place.id().as_str();
    place.log(
        &lock,
        &log_entry::checks_entry(id, &session, context.event.name(), context.env.now),
    );
    drop(lock);
    if context.provenance(&context.peek_session()?.unwrap_or_default())? != EntryProvenance::Own {
        let why = "but the record of this session is not omo's own any more, and no verdict will rest on it; `ulw` begins a new run";
        return Ok(format!("{message} {}", refusal_line(why)));
    }
    Ok(message)
}
