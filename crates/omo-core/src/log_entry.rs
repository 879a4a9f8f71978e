//! A line of the decision log: the decision about an event, and its rule.

use serde::{Deserialize, Serialize};

use crate::check::session_check::CheckVerdict;
use crate::prompt::PromptDecision;
use crate::session::{PauseReason, Session};
use crate::stop::claim::{ClaimJudgement, ClaimOutcome};
use crate::stop::{BlockCause, StopAction, StopBlock, StopDecision, StopRow, allowed_blocks};
use crate::timestamp::Timestamp;

/// A line of `decisions.jsonl`. Text of prompts or models never gets in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogEntry {
    pub at: Timestamp,
    pub session: String,
    /// The client's name of the event, or `cli`.
    pub event: String,
    /// Number of the row of the Stop table that decided.
    pub row: Option<u8>,
    /// `block`, `allow`, `warn`, `pause`, `activate`, `stop`, `end: released`, …
    pub decision: String,
    pub why: String,
    pub blocks: u32,
    pub max_blocks: u32,
    /// Begin of the turn that a Stop ended, or of the pause that a prompt ended; `None` where unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<LoggedClaim>,
}

impl LogEntry {
    /// The decision in words for people: `continued` for `block`.
    pub fn decision_words(&self) -> &str {
        if self.decision == "block" {
            "continued"
        } else {
            &self.decision
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggedClaim {
    pub end: ClaimEnd,
    pub checks: Vec<LoggedCheck>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ClaimEnd {
    /// All checks and the review agree.
    Verified,
    /// A check or the review disagrees or could not run.
    Failed,
    ReviewAsked,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedCheck {
    pub name: String,
    pub verdict: CheckVerdict,
}

fn logged_claim(outcome: &ClaimOutcome) -> LoggedClaim {
    LoggedClaim {
        end: match outcome.judgement {
            ClaimJudgement::Verified => ClaimEnd::Verified,
            ClaimJudgement::ReviewWanted { again: false } => ClaimEnd::ReviewAsked,
            _ => ClaimEnd::Failed,
        },
        checks: outcome
            .findings
            .checks
            .iter()
            .map(|result| LoggedCheck {
                name: result.name.clone(),
                verdict: result.record.verdict,
            })
            .collect(),
    }
}

/// Entry about a Stop; `cap` is the client's own bound on continuations.
pub fn stop_entry(
    id: &str,
    session: &Session,
    decision: &StopDecision,
    check: Option<&ClaimOutcome>,
    cap: Option<u32>,
    now: Timestamp,
) -> LogEntry {
    let why = match &decision.action {
        StopAction::Block(StopBlock {
            cause: BlockCause::PlanContinues,
            ..
        }) => "the plan is not done",
        _ => check
            .filter(|_| decision.row == StopRow::Continue)
            .map_or(decision.row.label(), ClaimOutcome::label),
    };
    let word = match &decision.action {
        StopAction::Allow => "allow".to_owned(),
        StopAction::AllowAndWarn => "warn".to_owned(),
        StopAction::AwaitAnswer => "wait".to_owned(),
        StopAction::Pause(_) => "pause".to_owned(),
        StopAction::Block(_) => "block".to_owned(),
        StopAction::End { verdict, .. } => format!("end: {}", verdict.word()),
    };
    let why = match &decision.action {
        StopAction::Pause(PauseReason::TokensSpent) => "its tokens are used".to_owned(),
        StopAction::End { .. } => with_weakened(why, session.weakened.iter().map(|it| &*it.what)),
        _ => why.to_owned(),
    };
    LogEntry {
        row: Some(decision.row.number()),
        max_blocks: allowed_blocks(session, cap),
        claim: check.map(logged_claim),
        ..new_entry(id, session, "Stop", word, &why, now)
    }
}

pub fn prompt_entry(
    id: &str,
    session: &Session,
    decision: &PromptDecision,
    now: Timestamp,
) -> Option<LogEntry> {
    let (word, why) = match decision {
        PromptDecision::Activate(..) => ("activate", "turned on by you"),
        PromptDecision::Stop { .. } => ("stop", "ended by you"),
        PromptDecision::TellPaused(_) => ("pause", "waits for you"),
        PromptDecision::PlanNote => ("allow", "the keyword in plan mode starts no run"),
        PromptDecision::Silent
        | PromptDecision::NoteHook
        | PromptDecision::FreeTurn { .. }
        | PromptDecision::Status
        | PromptDecision::Statusline(_)
        | PromptDecision::Why
        | PromptDecision::Check(_)
        | PromptDecision::Run { .. }
        | PromptDecision::Help(_)
        | PromptDecision::Refused(_) => return None,
    };
    Some(new_entry(
        id,
        session,
        "UserPromptSubmit",
        word.to_owned(),
        why,
        now,
    ))
}

pub fn checks_entry(id: &str, session: &Session, event: &str, now: Timestamp) -> LogEntry {
    let made_now = session
        .weakened
        .iter()
        .filter(|weakening| weakening.at == now);
    let why = with_weakened(
        "the checks were changed",
        made_now.map(|weakening| &*weakening.what),
    );
    new_entry(id, session, event, "check".to_owned(), &why, now)
}

fn with_weakened<'a>(why: &str, weakened: impl Iterator<Item = &'a str>) -> String {
    let weakened: Vec<&str> = weakened.collect();
    if weakened.is_empty() {
        why.to_owned()
    } else {
        format!("{why}; weakened: {}", weakened.join(", "))
    }
}

pub fn new_entry(
    id: &str,
    session: &Session,
    event: &str,
    decision: String,
    why: &str,
    now: Timestamp,
) -> LogEntry {
    LogEntry {
        at: now,
        session: id.to_owned(),
        event: event.to_owned(),
        row: None,
        decision,
        why: why.to_owned(),
        blocks: session.ulw.stop_blocks,
        max_blocks: allowed_blocks(session, None),
        since: None,
        claim: None,
    }
}
