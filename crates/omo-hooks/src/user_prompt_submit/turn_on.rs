//! Start of an ultrawork run: its checks, its entry in the state, and the answer to the user.

use std::env::consts::EXE_EXTENSION;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use omo_checks::activation::ActivationContext;
use omo_checks::baseline;
use omo_checks::detected_check::{self, DetectedCheck};
use omo_checks::missing_program::missing_program;
use omo_checks::starting_checks::{self, StartingChecks};
use omo_claude::hook_output::HookAnswer;
use omo_claude::settings::ReviewerSettings;
use omo_core::check::session_check::{Check, CheckOrigin};
use omo_core::log_entry::{self, LogEntry};
use omo_core::messages::run_start::{self, CheckOffer, RunStart};
use omo_core::messages::{self, ContractForm, HoldState};
use omo_core::prompt::PromptDecision;
use omo_core::session::{HookEvent, Session, UlwActivation};
use omo_core::stop::allowed_blocks;
use omo_git::git_command::GitCalls;
use omo_git::ownership::{DubiousOwnership, ForeignRepository};
use omo_git::recorded;
use omo_git::work_files;
use omo_process::platform::is_executable;
use omo_process::watchdog;
use omo_state::env;
use omo_state::files::lock::DEADLINE;
use omo_state::seal::entry_revision;
use omo_state::seal::{self, SealKey};
use omo_state::state::{CorruptPolicy, EntryChange, StateError};
use omo_state::trust::GivenApproval;

use super::{PromptContext, status_line_prompt};
use crate::runtime::{HookContext, HookError};

const SCOPE_LIMIT: Duration = Duration::from_secs(3);
/// Wait for git to tell if another user owns the repository, before any file is looked at.
const OWNER_LIMIT: Duration = Duration::from_secs(1);

pub(super) fn activate(
    prompt: &PromptContext,
    decision: &PromptDecision,
    activation: &UlwActivation,
    form: ContractForm,
) -> Option<HookAnswer> {
    let context = prompt.context;
    let is_on = prompt.session.is_some_and(Session::is_armed);
    if activation.begins_anew && is_on {
        let reason = "another task was begun";
        let stop = PromptDecision::Stop {
            reason: Some(reason.to_owned()),
            whole: true,
        };
        // A failure here fails the new run too, and is told.
        if let Err(error) = super::write_stop(prompt, &stop, Some(reason)) {
            context.log_problem(&error);
        }
    }
    let root = context.root.as_deref().filter(|_| !is_on);
    if let Some(refused) = root.and_then(|root| ask_for_owner(root).err()) {
        let user = run_start::repository_refused(&refused.to_string(), &refused.hint());
        return Some(HookAnswer::Notice { user, model: None });
    }
    let missing_programs = missing_programs(context, &activation.checks);
    let StartingChecks {
        checks,
        not_approved,
        changed,
        base,
        approval,
        problem,
    } = initial_checks(context, activation.checks.clone());
    let activation = &UlwActivation {
        checks,
        base,
        ..activation.clone()
    };
    let written = write_activation(prompt, decision, activation, approval);
    // Only now is there a log for them.
    for problem in &prompt.config.problems {
        context.log_problem(problem);
    }
    let missing = unrunnable_hook();
    let is_held = matches!(written, Ok(ActivationWrite::Written(..))) && missing.is_none();
    let hold = if is_held {
        HoldState::Held
    } else {
        HoldState::NotHeld
    };
    let mut model = vec![messages::contract(
        activation.trigger,
        activation.limits,
        form,
        hold,
    )];
    let mut user = Vec::new();
    match written {
        // Another process of the same hook told everything.
        Ok(ActivationWrite::AlreadyWritten) => return None,
        Ok(ActivationWrite::Written(session, start)) => {
            let allowed = allowed_blocks(&session, context.env.client_block_cap);
            user.push(missing.map_or_else(
                || {
                    run_start::run_started(
                        &session,
                        start,
                        allowed,
                        check_offer(prompt, &session),
                        context.env.now,
                    )
                },
                |program| run_start::hook_missing(&program),
            ));
            match start {
                RunStart::Begun => {}
                RunStart::TaskTakenUp { .. } | RunStart::TaskExtended => {
                    model.push(messages::task_goes_on());
                }
                RunStart::Resumed | RunStart::AlreadyOn => {
                    model.push(run_start::run_goes_on(&session, allowed));
                }
            }
        }
        Ok(ActivationWrite::Unsealed(why)) => user.push(run_start::run_not_held(&why)),
        Ok(ActivationWrite::NotHeld) => user.push(run_start::run_not_held(
            "no project or no session id is known",
        )),
        Err(error) => {
            context.log_problem(&error);
            user.push(run_start::run_not_held(&error.to_string()));
        }
    }
    let is_first = is_held
        && prompt
            .session
            .is_none_or(|session| session.ulw.started_at.is_none());
    let offer = is_first
        .then(|| status_line_prompt::offer(context.env.state_home.as_deref()))
        .flatten();
    user.extend(offer);
    model.extend(
        context
            .root
            .as_deref()
            .and_then(other_loop)
            .map(messages::other_loop_found),
    );
    let problems = prompt
        .config
        .problems
        .iter()
        .map(ToString::to_string)
        .chain(problem);
    user.extend(
        problems
            .take(1)
            .map(|problem| run_start::config_problem(&problem)),
    );
    user.extend(prompt.goal.as_deref().map(messages::goal_is_on));
    user.extend(missing_programs);
    user.extend(
        not_approved
            .map(|it| messages::checks::checks_not_approved(&it.checks, changed.as_deref())),
    );
    Some(HookAnswer::Notice {
        user: user.join("\n"),
        model: Some(model.join("\n")),
    })
}

fn missing_programs(context: &HookContext, checks: &[Check]) -> Vec<String> {
    let Some(root) = context.root.as_deref() else {
        return Vec::new();
    };
    checks
        .iter()
        .filter(|check| check.origin == CheckOrigin::User)
        .filter_map(|check| {
            let why = missing_program(&check.command, root)?;
            Some(messages::checks::cannot_run_yet(&check.command, &why))
        })
        .collect()
}

fn ask_for_owner(root: &Path) -> Result<(), DubiousOwnership> {
    let Some(repository) = ForeignRepository::find(root) else {
        return Ok(());
    };
    watchdog::extend_limit(OWNER_LIMIT + Duration::from_secs(2));
    let answer = repository.require_trusted(OWNER_LIMIT);
    watchdog::reset_limit();
    answer
}

fn check_offer(prompt: &PromptContext, session: &Session) -> Option<CheckOffer<'static>> {
    let root = prompt
        .context
        .root
        .as_deref()
        .filter(|_| session.checks.is_empty())?;
    let DetectedCheck { command, found_in } =
        detected_check::offer_check(root, prompt.config.detection).ok()?;
    Some(CheckOffer { command, found_in })
}

pub(super) fn unrunnable_hook() -> Option<String> {
    let [_, plugin] = env::plugin_folders();
    let program = plugin?.join("bin").join(HookEvent::Stop.program());
    let is_there = [&*program, &*program.with_extension(EXE_EXTENSION)]
        .into_iter()
        .any(is_executable);
    (!is_there).then(|| program.display().to_string())
}

fn initial_checks(context: &HookContext, user_checks: Vec<Check>) -> StartingChecks {
    let state_home = context.env.state_home.as_deref();
    context
        .root
        .as_deref()
        .map(|root| starting_checks::gather_checks(user_checks, root, state_home))
        .unwrap_or_default()
}

enum ActivationWrite {
    Written(Box<Session>, RunStart),
    AlreadyWritten,
    /// Without omo's seal: the next Stop believes none of it.
    Unsealed(String),
    NotHeld,
}

fn write_activation(
    prompt: &PromptContext,
    decision: &PromptDecision,
    activation: &UlwActivation,
    approval: Option<GivenApproval>,
) -> Result<ActivationWrite, HookError> {
    let context = prompt.context;
    let now = context.env.now;
    let Some(place) = context.create_session_entry()? else {
        return Ok(ActivationWrite::NotHeld);
    };
    let state_home = context.env.state_home.as_deref();
    let key = SealKey::load(state_home);
    if let Err(error) = &key {
        context.log_problem(error);
    }
    let scope = settle_scope(context);
    let settings =
        ReviewerSettings::read(env::client_home().as_deref(), context.root.as_deref()).marks;
    let (session, lock) = place.update(DEADLINE, CorruptPolicy::MoveAside, |session| {
        if session.is_activated_by(activation) {
            return (Ok(None), EntryChange::Keep);
        }
        if let Err(error) = seal::forget_foreign(state_home, place.id(), session, now) {
            return (Err(StateError::from(error)), EntryChange::Keep);
        }
        let root = context.root.as_deref();
        let beginning = ActivationContext {
            root,
            state_home,
            id: place.id(),
            scope,
            settings,
            approval,
            now,
        };
        session.count_turn(context.turn_time.take());
        if let Some(interruption) = prompt.tail.interrupted {
            session.note_interruption(interruption, now);
        }
        let paused_at = session.ulw.paused.as_ref().and_then(|pause| pause.at);
        let (start, kept) = beginning.activate(session, activation.clone());
        if let Err(error) = kept {
            context.log_problem(&error);
        }
        session.last_seen.note(context.event, now);
        session.transcript.offset = prompt.tail.next_offset;
        session.transcript.block_offset = prompt.tail.end;
        (
            Ok(Some((session.clone(), start, paused_at))),
            EntryChange::Begin,
        )
    })?;
    let Some((session, start, paused_at)) = session? else {
        return Ok(ActivationWrite::AlreadyWritten);
    };
    entry_revision::prune(state_home, now);
    context.run_has_begun.set(start == RunStart::Begun);
    if let Some(entry) = log_entry::prompt_entry(place.id().as_str(), &session, decision, now) {
        let since = paused_at;
        place.log(&lock, &LogEntry { since, ..entry });
    }
    Ok(match key {
        Ok(_) => ActivationWrite::Written(Box::new(session), start),
        Err(error) => ActivationWrite::Unsealed(error.to_string()),
    })
}

/// Name of the files that count in the run; empty if git is late: then more count, never fewer.
fn settle_scope(context: &HookContext) -> Option<String> {
    let (root, state_home) = (context.root.clone()?, context.env.state_home.clone());
    watchdog::extend_limit(SCOPE_LIMIT + Duration::from_secs(1));
    let (sender, settled) = channel();
    std::thread::spawn(move || {
        let _ = sender.send(work_files::settle_scope(
            &root,
            state_home.as_deref(),
            &GitCalls::default(),
        ));
    });
    let name = settled
        .recv_timeout(SCOPE_LIMIT)
        .ok()
        .flatten()
        .unwrap_or_default();
    watchdog::reset_limit();
    Some(name)
}

/// The client gives the hook five seconds.
const RECORDING_LIMIT: Duration = Duration::from_millis(3_500);

/// Records the files and test counts at the start, after the user was answered: the review and the
/// verdict tell of missing ones.
pub(super) fn record_and_count(context: &HookContext, transcript: Option<&Path>) {
    let (Some(root), Some(home), Some(id)) =
        (&context.root, &context.env.state_home, &context.session_id)
    else {
        return;
    };
    watchdog::extend_limit(RECORDING_LIMIT);
    let (of_home, of_id) = (home.clone(), id.clone());
    watchdog::on_timeout(move || {
        omo_process::termination::end_started_processes();
        omo_state::recorded_trees::abandon(&of_home, &of_id);
    });
    if let Err(error) = recorded::record_files(root, home, id, context.env.now) {
        omo_state::recorded_trees::abandon(home, id);
        context.log_problem(&format!(
            "the files that the run begins with are not recorded: {error}"
        ));
        return;
    }
    let Ok(Some(session)) = context.peek_session() else {
        return;
    };
    if let Err(error) = baseline::start_counting(root, home, id, &session.checks, transcript) {
        context.log_problem(&format!("nothing is counted before the run: {error}"));
    }
}

fn other_loop(root: &Path) -> Option<&'static str> {
    const TRACES: [&str; 3] = [
        ".claude/ralph-loop.local.md",
        ".sisyphus/ralph-loop.local.md",
        ".omc/state",
    ];
    TRACES
        .into_iter()
        .find(|trace| root.join(trace).symlink_metadata().is_ok())
}
