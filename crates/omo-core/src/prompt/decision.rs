//! Effect of a request in a prompt on the session's run, or the answer of omo to it.

use std::borrow::Cow;

use super::check_request::CheckRequest;
use super::ulw_arguments::UlwOptions;
use super::{PromptEvent, PromptIntent, StatuslineRequest, question, short_answer};
use crate::keyword::plain_stop::PlainStop;
use crate::messages::{ContractForm, usage};
use crate::run_command::RunCommand;
use crate::session::plan_run::PlanRunStatus;
use crate::session::rest::RestReason;
use crate::session::{Interruption, PauseReason, Session, UlwActivation, UlwTrigger};

#[derive(Clone, Copy, Debug, Default)]
pub struct PromptFacts<'a> {
    pub session: Option<&'a Session>,
    pub interrupted: Option<Interruption>,
    pub model_is_silent: bool,
    pub contract_in_context: bool,
    pub context_pressure: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptDecision {
    /// No effect, no write.
    Silent,
    /// No answer; the session's entry records that the hook ran.
    NoteHook,
    /// The turn ends by itself, as its user is told: it shows the checks, or answers a question.
    FreeTurn {
        answers: bool,
    },
    TellPaused(PauseReason),
    Activate(UlwActivation, ContractForm),
    /// The keyword in plan mode: the model is told that no run starts.
    PlanNote,
    Stop {
        reason: Option<String>,
        /// Answered without the model.
        whole: bool,
    },
    Status,
    Statusline(StatuslineRequest),
    Why,
    Check(CheckRequest),
    Run {
        command: RunCommand,
        arguments: String,
    },
    Help(&'static str),
    /// The reason of a refusal, without the model; nothing else happens.
    Refused(String),
}

pub fn decide(
    intent: PromptIntent<'_>,
    event: &PromptEvent<'_>,
    facts: &PromptFacts<'_>,
) -> PromptDecision {
    match intent {
        PromptIntent::NotAPerson => note_hook(facts),
        // The model runs the checks, with a command that its user sees.
        PromptIntent::Check(CheckRequest::Run) if is_armed(facts) => {
            PromptDecision::FreeTurn { answers: false }
        }
        PromptIntent::Check(CheckRequest::Run) => PromptDecision::Silent,
        // The model reads the words behind the stop, and its turn may end.
        PromptIntent::Pause(PlainStop::WithWords) if is_under_way(facts) => {
            PromptDecision::FreeTurn { answers: true }
        }
        PromptIntent::Pause(words) if is_stopped_by(words, facts) => {
            PromptDecision::TellPaused(PauseReason::Asked)
        }
        PromptIntent::Nothing | PromptIntent::Pause(_) | PromptIntent::Command { .. } => {
            decide_plain_prompt(event, facts)
        }
        PromptIntent::Activate {
            trigger: UlwTrigger::Command,
            task: None,
            ..
        } if !facts
            .session
            .is_some_and(|session| session.is_armed() || session.continues_task()) =>
        {
            PromptDecision::Help(usage::ULW)
        }
        PromptIntent::Activate { .. } if event.plan_mode => PromptDecision::PlanNote,
        PromptIntent::Activate {
            trigger,
            task,
            options,
        } => {
            let UlwOptions {
                limits,
                checks,
                review,
                prove,
                begins_anew,
            } = *options;
            let activation = UlwActivation {
                trigger,
                task: task.map(Cow::into_owned),
                prompt_id: event.prompt_id.map(str::to_owned),
                limits,
                checks,
                review_wanted: review,
                prove,
                base: None,
                begins_anew,
            };
            let known_task = facts
                .session
                .is_some_and(|session| session.is_activated_by(&activation));
            if known_task {
                PromptDecision::Silent
            } else {
                PromptDecision::Activate(activation, contract_form(facts))
            }
        }
        PromptIntent::Stop { whole: false, .. } if !is_armed(facts) => PromptDecision::Silent,
        PromptIntent::Stop { reason, whole } => PromptDecision::Stop {
            reason: reason.map(str::to_owned),
            whole,
        },
        PromptIntent::Status => PromptDecision::Status,
        PromptIntent::Statusline(request) => PromptDecision::Statusline(request),
        PromptIntent::Why => PromptDecision::Why,
        PromptIntent::Check(command) => PromptDecision::Check(command),
        PromptIntent::Run { command, arguments } => PromptDecision::Run {
            command,
            arguments: arguments.to_owned(),
        },
        PromptIntent::Help(text) => PromptDecision::Help(text),
        PromptIntent::Refused(message) => PromptDecision::Refused(message),
    }
}

fn decide_plain_prompt(event: &PromptEvent, facts: &PromptFacts) -> PromptDecision {
    let Some(session) = facts.session.filter(|session| session.is_armed()) else {
        return PromptDecision::Silent;
    };
    match &session.ulw.paused {
        Some(pause)
            if pause.is_told
                && !(pause.reason == PauseReason::Asked && asks_to_go_on(event.prompt)) =>
        {
            PromptDecision::NoteHook
        }
        Some(pause) => PromptDecision::TellPaused(pause.reason),
        None if facts
            .interrupted
            .is_some_and(|at| session.is_interrupted_by(at)) =>
        {
            PromptDecision::TellPaused(PauseReason::Interrupted)
        }
        None if was_taken_back(event, session, facts) => {
            PromptDecision::TellPaused(PauseReason::Interrupted)
        }
        // A prompt during the first turn carries its id: that turn continues behind the answer.
        None if question::is_question(event.prompt)
            && event
                .prompt_id
                .is_some_and(|id| session.ulw.prompt_id.as_deref() != Some(id)) =>
        {
            PromptDecision::FreeTurn { answers: true }
        }
        None => PromptDecision::NoteHook,
    }
}

fn is_under_way(facts: &PromptFacts) -> bool {
    facts
        .session
        .is_some_and(|session| session.is_armed() && session.ulw.paused.is_none())
}

/// `true` for a stop that pauses the run; words that may answer an open question do not.
fn is_stopped_by(words: PlainStop, facts: &PromptFacts) -> bool {
    facts
        .session
        .filter(|_| words != PlainStop::WithWords && is_under_way(facts))
        .is_some_and(|session| {
            let rest = session
                .ulw
                .rest
                .as_ref()
                .filter(|rest| rest.since.is_some());
            let is_asked = rest.is_some_and(|rest| rest.reason == RestReason::AwaitsAnswer)
                || session
                    .plan_run
                    .as_ref()
                    .is_some_and(|plan| matches!(plan.status(), PlanRunStatus::Waits(_)));
            words == PlainStop::Stop || !is_asked
        })
}

/// `true` for a bare request to continue.
fn asks_to_go_on(prompt: &str) -> bool {
    let last = prompt
        .rsplit([',', '.'])
        .map(str::trim)
        .find(|part| !part.is_empty())
        .unwrap_or_default();
    short_answer::short_answer(last).is_some_and(|word| short_answer::asks_to_go_on(&word))
}

fn note_hook(facts: &PromptFacts) -> PromptDecision {
    if is_armed(facts) {
        PromptDecision::NoteHook
    } else {
        PromptDecision::Silent
    }
}

fn is_armed(facts: &PromptFacts) -> bool {
    facts.session.is_some_and(Session::is_armed)
}

/// `true` where the prompt that started the run was taken back before the model spoke: the client
/// leaves no line about the Esc (measured on 2.1.328).
fn was_taken_back(event: &PromptEvent, session: &Session, facts: &PromptFacts) -> bool {
    let other_prompt =
        event.prompt_id.is_some() && session.ulw.prompt_id.as_deref() != event.prompt_id;
    facts.model_is_silent
        && other_prompt
        && session.ulw.prompt_id.is_some()
        && session.is_untouched()
}

fn contract_form(facts: &PromptFacts) -> ContractForm {
    let has_it = facts
        .session
        .and_then(Session::active_run)
        .is_some_and(|run| run.trigger != Some(UlwTrigger::Cli));
    if has_it || facts.contract_in_context || facts.context_pressure {
        ContractForm::Short
    } else {
        ContractForm::Full
    }
}
