//! Ends of sessions without a terminal, and the consequences for the plan. Both come from what the
//! client printed about itself, from the end of its process and from the ledger; never from the
//! words of its model, and no end of a process ever makes a step passed.

use std::time::Duration;

use omo_core::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

const LONGEST_LIMIT: Duration = Duration::from_secs(8 * 24 * 60 * 60);

/// Last line of a client: `{"type":"result",…}`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ClientResult {
    /// A failure. Beside an error of the API `subtype` says `success` all the same.
    pub is_error: Option<bool>,
    /// `success`, `error_max_turns`, `error_max_budget_usd`, `error_during_execution`.
    pub subtype: Option<String>,
    /// Closer reason: `aborted_streaming` where it was interrupted.
    pub terminal_reason: Option<String>,
    /// The HTTP status of the error of the API that ended it.
    pub api_error_status: Option<u16>,
    /// A closer name of that error: `usage_limit_reached` is one.
    pub api_error: Option<String>,
    /// Number of turns.
    pub num_turns: Option<u64>,
    /// Cost in US dollars, as the client reckons.
    pub total_cost_usd: Option<f64>,
    /// The last text of the model, or the message of an error.
    pub result: Option<String>,
}

impl ClientResult {
    /// Cost in millionths of a US dollar; `None` for an impossible one.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is within the bounds"
    )]
    pub fn cost_micros(&self) -> Option<u64> {
        let dollars = self
            .total_cost_usd
            .filter(|dollars| (0.0..1e9).contains(dollars))?;
        Some((dollars * 1_000_000.0).round() as u64)
    }
}

/// Output of a client, as far as omo reads it: see `read_stream`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionOutput {
    /// The session, once the client says that it has begun one.
    pub session_id: Option<String>,
    /// Last line, where it came so far.
    pub result: Option<ClientResult>,
    /// Reset of the usage limit that it met, in seconds since 1970.
    pub limit_resets_at: Option<i64>,
}

/// End of a client's process, from its `ExitStatus`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessEnd {
    /// Exit status, where it ended by itself.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// A timeout: ended by omo.
    pub timed_out: bool,
    /// omo ended it, because it was no longer needed.
    pub stopped: bool,
    /// Reason for which it never ran.
    pub not_started: Option<String>,
    /// The last line that it complained with.
    #[serde(default)]
    pub complaint: String,
}

/// End of a session, by its `ClientResult` and its process. No variant says that any work was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEnd {
    /// A model with nothing more to say.
    Ended,
    /// All turns spent: `--max-turns`.
    TurnsSpent,
    /// Budget spent: `--max-budget-usd`.
    BudgetSpent,
    /// A limit of use was met, which is reset then, where that was told.
    UsageLimit {
        /// Reset of the limit.
        until: Option<Timestamp>,
    },
    /// The API refused or failed.
    ApiError {
        /// The HTTP status, where there was an answer.
        status: Option<u16>,
        /// The client's words about it.
        detail: String,
    },
    /// A timeout.
    TimedOut,
    /// omo ended it, because it was no longer needed.
    Stopped,
    /// Something other than omo ended it.
    Killed {
        /// Signal, where known: 9 for `SIGKILL`.
        signal: Option<i32>,
    },
    /// There was no session: it could not be started, or ended before it began one.
    NeverBegan(String),
    /// Unknown output, or output that disagrees with the exit status.
    Garbage(String),
}

/// Tells how a session ended. `now` is when it did.
pub fn classify_end(process: &ProcessEnd, said: &SessionOutput, now: Timestamp) -> ClientEnd {
    if let Some(why) = &process.not_started {
        return ClientEnd::NeverBegan(why.clone());
    }
    if process.stopped {
        return ClientEnd::Stopped;
    }
    if process.timed_out {
        return ClientEnd::TimedOut;
    }
    let signal = process.signal.or_else(|| {
        process
            .status
            .filter(|status| *status > 128)
            .map(|status| status - 128)
    });
    match &said.result {
        _ if signal.is_some() => ClientEnd::Killed { signal },
        // One that cannot be resumed has a result all the same.
        _ if said.session_id.is_none() => {
            ClientEnd::NeverBegan(complaint(process, "it ended before it began"))
        }
        Some(result) => classify_result(process, result, said.limit_resets_at, now),
        None => ClientEnd::Garbage(complaint(process, "it ended without a result")),
    }
}

/// Cost that a client reported, in millionths of a US dollar; 0 for one that never began.
pub fn told_cost(end: &ClientEnd, said: &SessionOutput) -> Option<u64> {
    let told = said.result.as_ref().and_then(ClientResult::cost_micros);
    told.or_else(|| matches!(end, ClientEnd::NeverBegan(_)).then_some(0))
}

fn classify_result(
    process: &ProcessEnd,
    result: &ClientResult,
    resets_at: Option<i64>,
    now: Timestamp,
) -> ClientEnd {
    let until = resets_at.and_then(|seconds| plausible_reset(seconds, now));
    let detail = || {
        result
            .result
            .clone()
            .unwrap_or_else(|| complaint(process, "it said nothing more"))
    };
    match (
        result.is_error,
        result.subtype.as_deref(),
        result.api_error_status,
    ) {
        (Some(false), Some("success"), None) if process.status == Some(0) => ClientEnd::Ended,
        (Some(true), Some("error_max_turns"), _) => ClientEnd::TurnsSpent,
        (Some(true), Some("error_max_budget_usd"), _) => ClientEnd::BudgetSpent,
        // Exit status 0 all the same.
        (Some(true), Some("error_during_execution"), None) if was_interrupted(result) => {
            ClientEnd::Killed { signal: None }
        }
        (Some(true), _, Some(429)) => ClientEnd::UsageLimit { until },
        (Some(true), ..) if result.api_error.as_deref() == Some("usage_limit_reached") => {
            ClientEnd::UsageLimit { until }
        }
        (Some(true), Some("success"), status) => ClientEnd::ApiError {
            status,
            detail: detail(),
        },
        _ => ClientEnd::Garbage(complaint(
            process,
            "its result says neither success nor failure",
        )),
    }
}

fn was_interrupted(result: &ClientResult) -> bool {
    result
        .terminal_reason
        .as_deref()
        .is_some_and(|reason| reason.starts_with("aborted"))
}

fn plausible_reset(seconds: i64, now: Timestamp) -> Option<Timestamp> {
    let until = Timestamp::from_millis(seconds.checked_mul(1_000)?);
    let ahead = u128::try_from(until.millis_since(now)?).ok()?;
    (ahead <= LONGEST_LIMIT.as_millis()).then_some(until)
}

fn complaint(process: &ProcessEnd, otherwise: &str) -> String {
    let ended = process
        .status
        .map(|status| format!(" (exit status {status})"))
        .unwrap_or_default();
    if process.complaint.is_empty() {
        format!("{otherwise}{ended}")
    } else {
        process.complaint.clone()
    }
}

/// Facts in the ledger for `follow_up`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerFacts {
    /// Steps of its group that the ledger does not call settled.
    pub tasks_left: u32,
    /// The session was resumed once already, to finish what it had begun.
    pub was_resumed: bool,
}

/// Next step of omo after a `ClientEnd`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowUp {
    /// Nothing: the ledger says how every step ended.
    Settled,
    /// The session is resumed once, and told to finish or to say that it cannot.
    Resume {
        /// Session id.
        session: String,
    },
    /// The attempt at the step that is under way has failed.
    FailAttempt(&'static str),
    /// The step is held, and begun anew later. No attempt is used.
    Hold(&'static str),
    /// As [`FollowUp::Hold`]; where it was so again and again, a person is asked.
    HoldOrAsk(&'static str),
    /// The run waits until then, or for a person where that is not known. No attempt is used.
    WaitUntil(Option<Timestamp>),
    /// The run waits for a person, for this reason. No attempt is used.
    Ask(&'static str),
}

/// `FollowUp` of a session.
pub fn follow_up(end: &ClientEnd, said: &SessionOutput, facts: LedgerFacts) -> FollowUp {
    if facts.tasks_left == 0 {
        return FollowUp::Settled;
    }
    match end {
        ClientEnd::Ended | ClientEnd::TurnsSpent => match &said.session_id {
            Some(session) if !facts.was_resumed => FollowUp::Resume {
                session: session.clone(),
            },
            _ => FollowUp::FailAttempt("the session ended without finishing its step"),
        },
        ClientEnd::Garbage(_) => FollowUp::FailAttempt("the session ended without a result"),
        ClientEnd::TimedOut => FollowUp::FailAttempt("the session's time was up"),
        ClientEnd::Killed { .. } => FollowUp::Hold("the session was killed"),
        ClientEnd::Stopped => FollowUp::Hold("the session was stopped"),
        ClientEnd::UsageLimit { until } => FollowUp::WaitUntil(*until),
        ClientEnd::BudgetSpent => FollowUp::Ask("the session spent its budget"),
        ClientEnd::NeverBegan(_) => FollowUp::Ask("the session could not be started"),
        // The server's own trouble passes; what it says about the account or the request does not.
        ClientEnd::ApiError { status, .. } if status.is_none_or(|status| status >= 500) => {
            FollowUp::HoldOrAsk("the API failed")
        }
        ClientEnd::ApiError { .. } => FollowUp::Ask("the API refused the session"),
    }
}

#[cfg(test)]
mod tests;
