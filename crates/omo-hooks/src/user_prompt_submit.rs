//! `UserPromptSubmit`: a prompt turns ultrawork on or off, or asks for its state.

mod check_prompt;
mod status_line_prompt;
mod turn_on;

use std::time::Duration;

use omo_checks::claim_proof::known_counterfactual;
use omo_claude::hook_input::HookInput;
use omo_claude::hook_output::HookAnswer;
use omo_core::log_entry;
use omo_core::messages::run_start;
use omo_core::messages::status_report::status_report;
use omo_core::messages::why::{why, why_plan_waits};
use omo_core::messages::{self};
use omo_core::prompt::question::is_question;
use omo_core::prompt::ulw_arguments::UlwOptions;
use omo_core::prompt::{
    PromptDecision, PromptEvent, PromptFacts, PromptIntent, TaskRequest, decide, is_plan_command,
    read_intent,
};
use omo_core::request_source::{PromptOrigin, RequestSource};
use omo_core::session::claim_state::VerificationPhase;
use omo_core::session::{EntryProvenance, PauseReason, Session, UlwTrigger};
use omo_core::stop::TranscriptTail;
use omo_state::config::{self, ReviewSetting, UserConfig};
use omo_state::files::folder::unwritable_folder;
use omo_state::seal;
use omo_state::state::{CorruptPolicy, EntryChange, StateError};
use omo_state::transcript::{model_has_spoken, read_active_goal, read_conversation};
use omo_state::{decision_log, env};

use crate::plan_runs::{self, PromptApproval};
use crate::runtime::{HookContext, HookError};
use crate::{prompt_source, run_prompt, stopped_outside};

/// Wait for the lock at a typed stop: the user's way out has to get through.
const STOP_DEADLINE: Duration = Duration::from_secs(1);

pub(crate) fn handle(context: &HookContext, input: &HookInput) -> Result<(), HookError> {
    let (answer, outcome) = match answer(context, input) {
        // The client leaves the text of such a prompt in its input line.
        Ok(Some(HookAnswer::RejectPrompt(said)))
            if input.prompt.as_deref().is_some_and(messages::stays_in_line) =>
        {
            (
                Some(HookAnswer::RejectPrompt(messages::with_way_to_clear(&said))),
                Ok(()),
            )
        }
        Ok(answer) => (answer, Ok(())),
        Err(error) => (None, Err(error)),
    };
    // The launcher requests this once, for the first prompt after omo was built.
    let ready = env::was_just_built()
        .then(|| messages::build_ready(env!("CARGO_PKG_VERSION"), env::has_local_bin_on_path()));
    if let Some(answer) = HookAnswer::with_line(ready, answer) {
        answer.print(context.event);
    }
    if context.run_has_begun.get() {
        turn_on::record_and_count(context, input.transcript_path.as_deref());
    }
    outcome
}

fn answer(context: &HookContext, input: &HookInput) -> Result<Option<HookAnswer>, HookError> {
    let Some(prompt) = input.prompt.as_deref() else {
        return Ok(None);
    };
    let mut event = PromptEvent {
        prompt,
        prompt_id: input.prompt_id.as_deref(),
        // Words of a plan must neither hold a worker's session nor approve anything.
        origin: if context.env.worker.is_some() || input.is_from_subagent() {
            PromptOrigin::Agent
        } else {
            PromptOrigin::from_source(input.source.as_deref())
        },
        plan_mode: input.is_plan_mode(),
        has_entry: false,
        has_run: false,
    };
    let config = config::load(context.env.config_file.as_deref());
    // An unreadable state holds nothing, and must not keep the user from anything.
    let session = match context.peek_session() {
        Ok(session) => session,
        Err(error) => {
            context.log_problem(&error);
            None
        }
    };
    event.has_entry = session.is_some();
    event.has_run = session.as_ref().is_some_and(Session::is_armed);
    let mut intent = read_intent(&event, &config.keywords, |request| {
        options(&config, context, session.as_ref(), request)
    });
    let needs_a_person = depends_on_source(&intent, &event)
        || plan_runs::speaks_to_waiting_run(&intent, session.as_ref());
    let source = if needs_a_person {
        prompt_source::source_of_prompt(context, input, prompt)
    } else {
        RequestSource::Person
    };
    let turns_on = matches!(intent, PromptIntent::Activate { .. });
    let is_from_person = source == RequestSource::Person
        && event.origin == PromptOrigin::Person
        && intent != PromptIntent::NotAPerson;
    let mut told = session
        .as_ref()
        .filter(|_| !turns_on)
        .and_then(|session| stopped_outside_line(context, session));
    if let RequestSource::Model(route) = source {
        // A prompt that the model still reads is refused beside it.
        if let PromptIntent::Activate {
            trigger: UlwTrigger::Keyword,
            ..
        } = intent
        {
            told = Some(messages::refusal_line(
                &messages::check_changes::not_from_person(route),
            ));
        }
        intent = intent.limited_to_model(route);
    }
    let approved = match plan_runs::approve_commands(context, &intent) {
        PromptApproval::NotAsked => None,
        PromptApproval::Given(line) => Some(line),
        PromptApproval::Refused(answer) => {
            return Ok(Some(HookAnswer::RejectPrompt(answer)));
        }
    };
    if matches!(intent, PromptIntent::Nothing | PromptIntent::Pause(_))
        && source == RequestSource::Person
        && !input.is_without_permissions()
        && let Some(session) = session.as_ref()
        && let Some(answer) = run_prompt::short_answer(context, session, prompt)
    {
        return Ok(Some(HookAnswer::AnswerPrompt(answer)));
    }
    if source == RequestSource::Person {
        plan_runs::keep_typed_command(context, &intent);
    }
    // The client may stop waiting for a preview: the command then runs with the kept arguments.
    if let PromptIntent::Command { name, arguments } = &intent
        && source == RequestSource::Person
        && is_plan_command(name)
        && let Some(screen) = run_prompt::preview(context, name, arguments)
    {
        plan_runs::forget_arguments(context);
        return Ok(Some(HookAnswer::RejectPrompt(screen)));
    }
    if source == RequestSource::Person {
        plan_runs::note_person_prompt(context, &intent, session.as_ref());
    }
    if intent.concerns_run_only() && !event.has_run {
        let session = session
            .as_ref()
            .filter(|_| source == RequestSource::Person && needs_a_person);
        let line = session.and_then(|session| {
            run_prompt::after_esc(
                context,
                session,
                context.read_turn(input, session).0.interrupted,
            )
        });
        let told = told.or(line);
        return Ok(HookAnswer::with_line(
            told,
            approved.map(HookAnswer::Context),
        ));
    }
    let tail = context.read_and_count(input, session.as_ref().unwrap_or(&Session::default()));
    let transcript = input
        .transcript_path
        .as_deref()
        .filter(|_| matches!(intent, PromptIntent::Activate { .. }));
    let goal = transcript.and_then(read_active_goal);
    let conversation = transcript.map(read_conversation).unwrap_or_default();
    let facts = PromptFacts {
        session: session.as_ref(),
        interrupted: tail.interrupted,
        model_is_silent: is_model_silent(input, session.as_ref()),
        contract_in_context: conversation.holds_contract,
        context_pressure: conversation.context_pressure,
    };
    let decision = decide(intent, &event, &facts);
    let prompt = PromptContext {
        context,
        config: &config,
        tail,
        session: session.as_ref(),
        approval_note: approved,
        plan_mode: event.plan_mode,
        prompt_id: event.prompt_id.map(str::to_owned),
        is_from_person,
        goal,
    };
    Ok(HookAnswer::with_line(
        told,
        apply_decision(&prompt, &decision)?,
    ))
}

/// The notice of [`stopped_outside`]; after an error the prompt is answered without it.
fn stopped_outside_line(context: &HookContext, session: &Session) -> Option<String> {
    stopped_outside::line(context, session).unwrap_or_else(|error| {
        context.log_problem(&error);
        None
    })
}

/// `true` for a prompt that means something else from the model or the client.
fn depends_on_source(intent: &PromptIntent, event: &PromptEvent) -> bool {
    intent.needs_a_person()
        || matches!(intent, PromptIntent::Stop { .. } | PromptIntent::Pause(_))
        || event.has_run && *intent == PromptIntent::Nothing && is_question(event.prompt)
}

fn options(
    config: &UserConfig,
    context: &HookContext,
    session: Option<&Session>,
    request: TaskRequest,
) -> UlwOptions {
    let checks = context
        .root
        .as_deref()
        .map(|root| config.checks_for(root))
        .unwrap_or_default();
    let continued = session
        .filter(|session| match request {
            TaskRequest::Unnamed => session.continues_task(),
            TaskRequest::Named => session.continues_task() && !session.stop_continuation.ended_task,
            TaskRequest::New => false,
        })
        .filter(|session| {
            context
                .provenance(session)
                .is_ok_and(|provenance| provenance == EntryProvenance::Own)
        });
    let (limits, review, prove) = match continued {
        Some(Session {
            limits,
            verification,
            ..
        }) => (*limits, verification.review_wanted, verification.prove),
        None => (
            config.limits,
            config.review == ReviewSetting::Wanted,
            config.prove,
        ),
    };
    UlwOptions {
        limits,
        checks,
        review,
        prove,
        begins_anew: false,
    }
}

struct PromptContext<'a> {
    context: &'a HookContext,
    config: &'a UserConfig,
    tail: TranscriptTail,
    session: Option<&'a Session>,
    approval_note: Option<String>,
    plan_mode: bool,
    prompt_id: Option<String>,
    /// A person typed the prompt, as far as can be told.
    is_from_person: bool,
    goal: Option<String>,
}

fn apply_decision(
    prompt: &PromptContext,
    decision: &PromptDecision,
) -> Result<Option<HookAnswer>, HookError> {
    let context = prompt.context;
    Ok(Some(match decision {
        PromptDecision::Silent => return Ok(prompt.approval_note.clone().map(HookAnswer::Context)),
        PromptDecision::NoteHook | PromptDecision::FreeTurn { .. } => {
            context.update_armed(|session| {
                session.transcript.offset = prompt.tail.next_offset;
                leave_checks(session);
                if let PromptDecision::FreeTurn { .. } = decision {
                    session.ulw.free_prompt.clone_from(&prompt.prompt_id);
                }
                if prompt.is_from_person && session.ulw.prompt_id != prompt.prompt_id {
                    session.ulw.prompt_id.clone_from(&prompt.prompt_id);
                    session.ulw.is_continued = false;
                }
            })?;
            let note = prompt.approval_note.clone();
            if *decision == (PromptDecision::FreeTurn { answers: true }) {
                return Ok(Some(HookAnswer::Notice {
                    user: messages::answers_question(),
                    model: note,
                }));
            }
            return Ok(note.map(HookAnswer::Context));
        }
        PromptDecision::TellPaused(reason) => {
            write_pause(prompt, decision, *reason)?;
            let plan = prompt
                .session
                .and_then(|session| context.own_plan_run(session));
            let at_work = plan
                .filter(|plan| plan.is_open())
                .and_then(|plan| run_prompt::at_work(context, Some(plan)));
            let lines = [Some(messages::run_paused(*reason)), at_work]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>();
            let stopped = (*reason == PauseReason::Asked).then(messages::user_said_stop);
            let model: Vec<String> = prompt
                .approval_note
                .clone()
                .into_iter()
                .chain(stopped)
                .collect();
            HookAnswer::Notice {
                user: lines.join("\n"),
                model: (!model.is_empty()).then(|| model.join("\n")),
            }
        }
        PromptDecision::Activate(activation, form) => {
            return Ok(turn_on::activate(prompt, decision, activation, *form));
        }
        PromptDecision::PlanNote => HookAnswer::Notice {
            user: run_start::not_in_plan_mode(prompt.session.is_some_and(Session::is_armed)),
            model: Some(messages::plan_mode_note()),
        },
        PromptDecision::Stop { reason, whole } => {
            stop_run(prompt, decision, reason.as_deref(), *whole)
        }
        PromptDecision::Check(command) => {
            let answer = check_prompt::run_check_command(context, prompt.config, command)
                .unwrap_or_else(|error| {
                    context.log_problem(&error);
                    messages::refusal_line(&format!("nothing was changed: {error}"))
                });
            HookAnswer::RejectPrompt(answer)
        }
        PromptDecision::Run { command, arguments } => {
            HookAnswer::RejectPrompt(run_prompt::answer(context, *command, arguments))
        }
        PromptDecision::Status => {
            HookAnswer::RejectPrompt(status_text(prompt).unwrap_or_else(|error| {
                context.log_problem(&error);
                messages::refusal_line(&format!(
                    "the state cannot be read, and no session is held: {error}"
                ))
            }))
        }
        PromptDecision::Why => HookAnswer::RejectPrompt(why_text(prompt).unwrap_or_else(|error| {
            context.log_problem(&error);
            messages::refusal_line(&format!("the state cannot be read: {error}"))
        })),
        PromptDecision::Help(text) => HookAnswer::RejectPrompt((*text).to_owned()),
        PromptDecision::Statusline(request) => HookAnswer::RejectPrompt(
            status_line_prompt::answer(*request, context.env.state_home.as_deref()),
        ),
        PromptDecision::Refused(message) => {
            HookAnswer::RejectPrompt(messages::refusal_line(message))
        }
    }))
}

fn leave_checks(session: &mut Session) {
    if session.verification.phase == VerificationPhase::Checks {
        session.verification.phase = VerificationPhase::Working;
    }
}

/// `true` where nothing happened since the run was started; read only where it matters.
fn is_model_silent(input: &HookInput, session: Option<&Session>) -> bool {
    let untouched = session.filter(|session| session.is_armed() && session.is_untouched());
    let (Some(session), Some(path)) = (untouched, input.transcript_path.as_deref()) else {
        return false;
    };
    model_has_spoken(path, session.transcript) == Some(false)
}

fn stop_run(
    prompt: &PromptContext,
    decision: &PromptDecision,
    reason: Option<&str>,
    whole: bool,
) -> HookAnswer {
    let user = match write_stop(prompt, decision, reason) {
        Ok(was_armed) => {
            let plan = prompt
                .session
                .and_then(|session| prompt.context.own_plan_run(session));
            run_prompt::with_what_goes_on(
                prompt.context,
                prompt.session,
                messages::run_stopped(was_armed, plan),
            )
        }
        Err(error) => {
            prompt.context.log_problem(&error);
            messages::run_stopped_unwritten(&error.to_string())
        }
    };
    if whole {
        HookAnswer::RejectPrompt(user)
    } else {
        HookAnswer::Notice {
            user,
            model: Some(messages::run_stopped_context()),
        }
    }
}

fn write_pause(
    prompt: &PromptContext,
    decision: &PromptDecision,
    reason: PauseReason,
) -> Result<(), HookError> {
    let context = prompt.context;
    let now = context.env.now;
    let Some(place) = context.session_entry()? else {
        return Ok(());
    };
    let paused = place.update_armed(|session| {
        if let Some(interruption) = prompt.tail.interrupted {
            session.note_interruption(interruption, now);
        }
        session.tell_paused(reason, now);
        session.transcript.offset = prompt.tail.next_offset;
        leave_checks(session);
        session.clone()
    })?;
    if let Some((session, lock)) = paused
        && let Some(entry) = log_entry::prompt_entry(place.id().as_str(), &session, decision, now)
    {
        place.log(&lock, &entry);
    }
    Ok(())
}

fn write_stop(
    prompt: &PromptContext,
    decision: &PromptDecision,
    reason: Option<&str>,
) -> Result<bool, HookError> {
    let context = prompt.context;
    let now = context.env.now;
    let Some(place) = context.create_session_entry()? else {
        return Ok(false);
    };
    let ((was_armed, session), lock) =
        place.update(STOP_DEADLINE, CorruptPolicy::MoveAside, |session| {
            let was_armed = session.is_armed();
            // An entry that ends here needs no proof, and is sealed in its new state.
            seal::forget_unproved(context.env.state_home.as_deref(), place.id(), session, now);
            session.stop_continuation(reason, prompt.is_from_person, now);
            ((was_armed, session.clone()), EntryChange::Begin)
        })?;
    if let Some(entry) = log_entry::prompt_entry(place.id().as_str(), &session, decision, now) {
        place.log(&lock, &entry);
    }
    Ok(was_armed)
}

fn why_text(prompt: &PromptContext) -> Result<String, HookError> {
    let context = prompt.context;
    let own = prompt
        .session
        .and_then(|session| context.own_plan_run(session))
        .filter(|run| run.is_open());
    let waits = own.map_or_else(|| run_prompt::offer(context), why_plan_waits);
    // The last decision may be about an earlier run.
    if let (Some(waits), false) = (waits, prompt.session.is_some_and(Session::is_armed)) {
        return Ok(waits);
    }
    let id = context.session_id.as_ref();
    let place = context.session_entry()?;
    let last = place
        .zip(id)
        .map(|(place, id)| decision_log::last_decision(place.folder(), id.as_str()));
    Ok(why(
        last.transpose()
            .map_err(StateError::from)?
            .flatten()
            .as_ref(),
        context.env.now,
    ))
}

fn status_text(prompt: &PromptContext) -> Result<String, HookError> {
    let context = prompt.context;
    let Some(id) = &context.session_id else {
        return Ok(messages::refusal_line(
            "this session has no id that omo knows",
        ));
    };
    let last = context
        .session_entry()?
        .map(|place| decision_log::last_decision(place.folder(), id.as_str()).unwrap_or_default());
    let nothing = Session::default();
    let session = prompt.session.unwrap_or(&nothing);
    let plan = context.own_plan_run(session);
    let mut session = session.as_believed(context.provenance(session)?, context.env.now);
    if let Some(interruption) = prompt.tail.interrupted {
        session.note_interruption(interruption, context.env.now);
    }
    let mut report = status_report(
        id.as_str(),
        &session,
        plan,
        last.flatten(),
        context.env.client_block_cap,
    );
    let home = context.env.state_home.as_deref();
    report.comparison = home
        .map(|home| known_counterfactual(home, id, &session).words())
        .unwrap_or_default();
    report.findings.extend(
        turn_on::unrunnable_hook().map(|program| run_start::missing_hook_finding(&program)),
    );
    if !session.is_armed() || prompt.plan_mode {
        report.findings.extend(run_start::obstacles(
            prompt.plan_mode,
            context
                .root
                .as_deref()
                .and_then(unwritable_folder)
                .map(|folder| folder.display().to_string())
                .as_deref(),
        ));
    }
    // The session's entry has only numbers of its plan run.
    let at_work = plan
        .filter(|plan| plan.is_open())
        .and_then(|plan| run_prompt::at_work(context, Some(plan)));
    // Another session, or a terminal, has opened this one.
    let at_work = match plan {
        Some(plan) if plan.is_open() => at_work,
        _ => run_prompt::offer(context),
    };
    Ok(std::iter::once(report.text(context.env.now))
        .chain(at_work)
        .collect::<Vec<_>>()
        .join("\n"))
}
