//! Classifies the end of a worker's session and decides the run's next step, by the client's result
//! line, its process and the ledger, never by the model's words.

use std::time::Duration;

use omo_core::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

const LONGEST_LIMIT: Duration = Duration::from_secs(8 * 24 * 60 * 60);

/// Last line of a client: `{"type":"result",…}`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ClientResult {
    /// `true` for an error; `subtype` says `success` even after an error of the API.
    pub is_error: Option<bool>,
    /// `success`, `error_max_turns`, `error_max_budget_usd`, `error_during_execution`.
    pub subtype: Option<String>,
    /// Reason of the end, such as `aborted_streaming` after an interruption.
    pub terminal_reason: Option<String>,
    pub api_error_status: Option<u16>,
    /// Name of an error of the API, such as `usage_limit_reached`.
    pub api_error: Option<String>,
    pub num_turns: Option<u64>,
    /// Cost in US dollars, as the client computes it.
    pub total_cost_usd: Option<f64>,
    /// Last text of the model, or an error message.
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

/// Output of a session as far as omo uses it; `read_stream` reads it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionOutput {
    /// `None` until the client says that the session has begun.
    pub session_id: Option<String>,
    pub result: Option<ClientResult>,
    /// Reset of an exceeded usage limit, in seconds since 1970.
    pub limit_resets_at: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientProcessEnd {
    /// `None` after a signal.
    pub status: Option<i32>,
    pub signal: Option<i32>,
    /// `true` for a process that omo ended at its time limit.
    pub timed_out: bool,
    /// `true` for a process that omo ended because it was no longer needed.
    pub stopped: bool,
    pub not_started: Option<String>,
    /// Last line of `stderr`.
    #[serde(default)]
    pub complaint: String,
}

/// The end of a session; no variant says that any work was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEnd {
    Ended,
    /// The session used all turns of `--max-turns`.
    TurnsSpent,
    /// The session spent the budget of `--max-budget-usd`.
    BudgetSpent,
    UsageLimit {
        /// `None` for an unknown reset.
        until: Option<Timestamp>,
    },
    /// The API refused or failed.
    ApiError {
        /// HTTP status, where there was an answer.
        status: Option<u16>,
        detail: String,
    },
    TimedOut,
    Stopped,
    /// Ended by something other than omo.
    Killed {
        /// Signal, where known: 9 for `SIGKILL`.
        signal: Option<i32>,
    },
    /// Not started, or ended before its session began.
    NeverBegan(String),
    /// Unknown output, or output that disagrees with the exit status.
    Garbage(String),
}

/// Classifies an ended session; `now` is the time of the end, for the reset of a usage limit.
pub fn classify_end(
    process: &ClientProcessEnd,
    output: &SessionOutput,
    now: Timestamp,
) -> ClientEnd {
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
    match &output.result {
        _ if signal.is_some() => ClientEnd::Killed { signal },
        // A session that cannot be resumed has a result all the same.
        _ if output.session_id.is_none() => {
            ClientEnd::NeverBegan(complaint(process, "it ended before it began"))
        }
        Some(result) => classify_result(process, result, output.limit_resets_at, now),
        None => ClientEnd::Garbage(complaint(process, "it ended without a result")),
    }
}

/// Reported cost in millionths of a US dollar; 0 for a session that never began.
pub fn told_cost(end: &ClientEnd, output: &SessionOutput) -> Option<u64> {
    let told = output.result.as_ref().and_then(ClientResult::cost_micros);
    told.or_else(|| matches!(end, ClientEnd::NeverBegan(_)).then_some(0))
}

fn classify_result(
    process: &ClientProcessEnd,
    result: &ClientResult,
    resets_at: Option<i64>,
    now: Timestamp,
) -> ClientEnd {
    let until = resets_at.and_then(|seconds| plausible_reset(seconds, now));
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
            detail: result
                .result
                .clone()
                .unwrap_or_else(|| complaint(process, "it printed nothing more")),
        },
        _ => ClientEnd::Garbage(complaint(
            process,
            "its result is neither success nor failure",
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

fn complaint(process: &ClientProcessEnd, otherwise: &str) -> String {
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerFacts {
    /// Number of the group's steps that have not ended in the ledger.
    pub tasks_left: u32,
    /// The session was resumed once already, to finish what it had begun.
    pub was_resumed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowUp {
    /// The ledger says how every step ended.
    Settled,
    /// The session is resumed once, and told to finish or to say that it cannot.
    Resume { session: String },
    /// The attempt at the running step has failed.
    FailAttempt(&'static str),
    /// The step begins anew later; no attempt is used.
    Hold(&'static str),
    /// [`FollowUp::Hold`]; after several of them a question to a person.
    HoldOrAsk(&'static str),
    /// The run waits until then, or for a person; no attempt is used.
    WaitUntil(Option<Timestamp>),
    /// The run waits for a person; no attempt is used.
    Ask(&'static str),
}

/// The run's next step after a session that ended as `end`.
pub fn follow_up(end: &ClientEnd, output: &SessionOutput, facts: LedgerFacts) -> FollowUp {
    if facts.tasks_left == 0 {
        return FollowUp::Settled;
    }
    match end {
        ClientEnd::Ended | ClientEnd::TurnsSpent => match &output.session_id {
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
        // The server's own trouble passes; a refusal of the account or the request does not.
        ClientEnd::ApiError { status, .. } if status.is_none_or(|status| status >= 500) => {
            FollowUp::HoldOrAsk("the API failed")
        }
        ClientEnd::ApiError { .. } => FollowUp::Ask("the API refused the session"),
    }
}

#[cfg(test)]
mod tests;
