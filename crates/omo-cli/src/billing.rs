//! Consent before a run starts clients that an `ANTHROPIC_API_KEY` or `apiKeyHelper` pays for.

use omo_core::text::command_text::quote_argument;
use omo_engine::billing::{BillingDecision, BillingFacts, BillingRequest, decide_billing};
use omo_engine::event::QuestionKind;
use omo_engine::parallel_schedule::accepts_billing;
use omo_engine::report::ultraplan::command_for;
use omo_engine::state::RunState;
use omo_state::env;

use crate::context::CommandContext;
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::json_file::read_json;

pub(crate) fn billing_facts() -> BillingFacts {
    let settings = env::client_home().and_then(|home| read_json(&home.join("settings.json")));
    let helper = settings
        .and_then(Result::ok)
        .and_then(|settings| settings.get("apiKeyHelper")?.as_str().map(str::len));
    BillingFacts::from_environment(variable, helper.is_some_and(|length| length > 0))
}

/// `false` only in a session that was started without a user.
pub(crate) fn can_ask_user(context: &CommandContext) -> bool {
    context.is_person() || env::is_attended()
}

fn variable(name: &str) -> Option<String> {
    let found = env::variables()
        .into_iter()
        .find(|(known, _)| env::is_variable_named(known, name));
    found.and_then(|(_, value)| value.into_string().ok())
}

fn decide(can_ask: bool, is_accepted: bool) -> BillingDecision {
    decide_billing(
        &billing_facts(),
        BillingRequest {
            starts_clients: true,
            can_ask,
            is_accepted,
        },
    )
}

fn not_accepted(text: String, hint: String) -> CommandError {
    CommandError::precondition(text, hint).with_kind(ExitKind::Budget)
}

pub(crate) fn check_billing(
    state: &RunState,
    is_accepted: bool,
) -> Result<Option<String>, CommandError> {
    let Some(parallel) = &state.parallel else {
        return Ok(None);
    };
    let open = state
        .open_question()
        .filter(|question| matches!(question.question.kind, QuestionKind::Billing { .. }))
        .map(|question| question.question.id.clone());
    if open.is_some() {
        return Ok(open.filter(|_| is_accepted));
    }
    let was_asked = parallel.policy.payer.is_some();
    match decide(false, is_accepted || was_asked) {
        BillingDecision::Stop { text, hint } => Err(not_accepted(text, hint)),
        _ => Ok(None),
    }
}

/// Refuses an API key without consent: the key may be newer than the run, or set for one session.
pub(crate) fn require_accepted_billing(state: &RunState) -> Result<(), CommandError> {
    match decide(false, accepts_billing(state)) {
        BillingDecision::Stop { text, .. } => {
            let path = quote_argument(&state.plan.source.path);
            let command = command_for(&state.plan);
            let hint = format!(
                "unset ANTHROPIC_API_KEY; or `{command} --resume --accept-api-billing {path}` accepts that"
            );
            Err(not_accepted(text, hint))
        }
        _ => Ok(()),
    }
}

pub(crate) const PAYER: &str = "ANTHROPIC_API_KEY";

/// The payer to ask the user about, if any, and a note to print, which may be empty.
pub(crate) fn who_pays(
    context: &CommandContext,
    is_accepted: bool,
) -> Result<(Option<String>, String), CommandError> {
    match decide(can_ask_user(context), is_accepted) {
        BillingDecision::Silent => Ok((None, String::new())),
        BillingDecision::Warn { text } => Ok((None, format!("note: {text}\n"))),
        BillingDecision::Ask { .. } => Ok((Some(PAYER.to_owned()), String::new())),
        BillingDecision::Stop { text, hint } => Err(not_accepted(text, hint)),
    }
}
