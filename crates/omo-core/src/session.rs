//! The entry of a session in the state file.
//!
//! Every field has a default, so that entries of older versions can be read; the store carries
//! unknown fields through every write.

mod activation;
pub mod claim_state;
mod client_processes;
pub mod id;
pub mod plan_run;
mod provenance;
pub mod rest;
mod task;
pub mod task_list;
mod weakened;

use serde::{Deserialize, Deserializer, Serialize};

use crate::bounded_vec::BoundedVec;
use crate::check::counterfactual::ProveMode;
use crate::check::session_check::{Check, MAX_CHECKS};
use crate::events::LastSeen;
use crate::limits::RunLimits;
use crate::request_source::ClientProcess;
use crate::timestamp::Timestamp;
use claim_state::{ClaimVerification, VerificationPhase};
use plan_run::{PlanRun, TypedCommand};
use rest::UlwRest;
use weakened::MAX_WEAKENED;

pub use crate::events::HookEvent;
pub use activation::UlwActivation;
pub use client_processes::MAX_CLIENTS;
pub use provenance::EntryProvenance;
pub use weakened::{ChangedBy, CheckWeakening};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Session {
    pub ulw: UlwRun,
    pub verification: ClaimVerification,
    #[serde(rename = "gates", deserialize_with = "bounded_checks")]
    pub checks: Vec<Check>,
    /// Seal of all fields that decide: an entry that omo did not write has none.
    pub seal: Option<String>,
    /// The project of the entry, which counts in no other one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectMark>,
    /// Also kept outside of the project, so that an older entry that was put back is noticed.
    pub revision: u64,
    pub limits: RunLimits,
    pub stop_continuation: StopContinuation,
    /// Weakenings since the start of the run, which the ending line and the status name.
    #[serde(deserialize_with = "weakened")]
    pub weakened: Vec<CheckWeakening>,
    /// Processes of the client that served the session: none that they started is a person's.
    #[serde(deserialize_with = "clients")]
    pub clients: Vec<ClientProcess>,
    #[serde(rename = "run")]
    pub plan_run: Option<PlanRun>,
    /// The user's last typed command, which the model is about to carry out.
    #[serde(rename = "command")]
    pub typed_command: Option<TypedCommand>,
    /// Verdict on the last run; `null` during a run.
    pub verdict: Option<UlwVerdict>,
    pub transcript: TranscriptMark,
    pub last_seen: LastSeen,
    pub updated_at: Option<Timestamp>,
}

fn bounded_checks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Check>, D::Error> {
    BoundedVec::<Check, MAX_CHECKS>::deserialize(deserializer).map(|few| few.0)
}

fn weakened<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<CheckWeakening>, D::Error> {
    BoundedVec::<CheckWeakening, MAX_WEAKENED>::deserialize(deserializer).map(|few| few.0)
}

fn clients<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ClientProcess>, D::Error> {
    BoundedVec::<ClientProcess, MAX_CLIENTS>::deserialize(deserializer).map(|few| few.0)
}

/// A project on this machine. A renamed one keeps its `folder`, a restored one its `path`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectMark {
    pub path: String,
    /// The folder's number, and the moment of its creation.
    pub folder: String,
}

/// The session's ultrawork run: the present one, or the last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UlwRun {
    pub enabled: bool,
    pub stop_blocks: u32,
    pub last_stop_at: Option<Timestamp>,
    pub started_at: Option<Timestamp>,
    /// The first `task::TASK_CHARS` characters of the task.
    pub task: Option<String>,
    pub whole_task: Option<String>,
    /// Later requests of the user before the task was proved done, in order.
    pub asked_later: Vec<String>,
    pub trigger: Option<UlwTrigger>,
    /// A prompt that is delivered twice counts once.
    pub prompt_id: Option<String>,
    /// A Stop of that prompt's turn was turned into a continuation.
    pub is_continued: bool,
    pub paused: Option<UlwPause>,
    pub resumed_at: Option<Timestamp>,
    /// Milliseconds of waiting for the user, no part of the run's time.
    pub waited_millis: u64,
    /// Left out for `None`, so that seals of entries of an older omo hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<UlwRest>,
    pub tokens: TokenUse,
    pub agent_tokens: u64,
    pub base: Option<String>,
    /// Id of the files at the start of the task; `None` where they could not be recorded.
    pub recorded: Option<String>,
    /// The reason of `omo blocked`: the next Stop ends the run.
    pub said_blocked: Option<String>,
    pub named_tasks: Vec<String>,
    /// Id of a prompt whose turn is not continued: it asks for the checks, or something else.
    #[serde(rename = "checkRunPrompt")]
    pub free_prompt: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TokenUse {
    /// Tokens since the run began, or resumed after its tokens were spent.
    pub used: u64,
    pub offset: u64,
    /// Id of the last message, which may not be complete.
    pub message: String,
    pub of_message: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UlwTrigger {
    /// The keyword in a prompt.
    Keyword,
    /// `/omo:ulw`.
    Command,
    /// `omo ulw on`.
    Cli,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UlwPause {
    pub reason: PauseReason,
    pub at: Option<Timestamp>,
    #[serde(default, rename = "told")]
    pub is_told: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PauseReason {
    Interrupted,
    ApiError,
    Asked,
    TokensSpent,
}

/// The escape hatch: while it is set, no Stop of this session is blocked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StopContinuation {
    pub disabled: bool,
    pub disabled_reason: Option<String>,
    pub disabled_at: Option<Timestamp>,
    /// A stop from outside of the session, which the user was not told.
    pub is_untold: bool,
    /// The user ended a run, and so its task.
    pub ended_task: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UlwVerdict {
    pub kind: VerdictKind,
    pub why: String,
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum VerdictKind {
    Verified,
    /// The model said why the task cannot be done.
    Blocked,
    /// omo ended the run without proof.
    Released,
    Stopped,
    Expired,
}

impl VerdictKind {
    /// Word for people and the log, such as `verified`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Blocked => "blocked",
            Self::Released => "released",
            Self::Stopped => "stopped",
            Self::Expired => "expired",
        }
    }
}

/// Offsets in the transcript, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TranscriptMark {
    /// Start of the part that still matters.
    pub offset: u64,
    pub block_offset: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interruption {
    AtSomeTime,
    At(Timestamp),
}

impl UlwRun {
    /// Working time in milliseconds, without pauses and rests; 0 where the clock was set back. An
    /// entry without a start counts from its last continuation.
    pub fn worked_millis(&self, now: Timestamp) -> i64 {
        let until = self.idle_since().unwrap_or(now);
        let start = self.started_at.or(self.last_stop_at);
        let age = start
            .and_then(|start| until.millis_since(start))
            .unwrap_or(0);
        age.saturating_sub_unsigned(self.waited_millis).max(0)
    }

    fn add_waited(&mut self, since: Timestamp, until: Timestamp) {
        let waited = until
            .millis_since(since)
            .and_then(|millis| u64::try_from(millis).ok())
            .unwrap_or(0);
        self.waited_millis = self.waited_millis.saturating_add(waited);
    }
}

impl Session {
    pub(crate) fn active_run(&self) -> Option<&UlwRun> {
        (self.ulw.enabled && self.verdict.is_none()).then_some(&self.ulw)
    }

    /// `true` where a claim counts only if `check` is red without the change.
    pub fn needs_proof(&self, check: &Check) -> bool {
        match self.verification.prove {
            ProveMode::Off | ProveMode::Inform => check.prove,
            ProveMode::Require => true,
        }
    }

    pub fn is_armed(&self) -> bool {
        self.active_run().is_some()
    }

    /// Failed claims that end the run: the lower of the first and the present bound.
    pub fn max_attempts(&self) -> u32 {
        self.verification
            .max_attempts
            .clamp(1, self.limits.clamped().max_failed_claims)
    }

    /// `true` where a new run continues the session's task, which is not proved done.
    pub fn continues_task(&self) -> bool {
        let is_proved = self
            .verdict
            .as_ref()
            .is_some_and(|verdict| verdict.kind == VerdictKind::Verified);
        self.ulw.started_at.is_some() && !is_proved && !self.is_disowned()
    }

    /// `true` where `activation` started the present run: a plugin that is registered twice hands a
    /// prompt on twice, and a prompt typed during a turn carries the turn's id.
    pub fn is_activated_by(&self, activation: &UlwActivation) -> bool {
        let same_task = self.ulw.was_asked_last(activation.task.as_deref());
        self.is_armed()
            && same_task
            && activation.prompt_id.is_some()
            && self.ulw.prompt_id == activation.prompt_id
    }

    /// `true` where nothing happened since the prompt that started the run.
    pub fn is_untouched(&self) -> bool {
        let seen = self.last_seen;
        seen.stop.is_none()
            && seen.stop_failure.is_none()
            && seen.user_prompt_submit == self.ulw.started_at
    }

    pub fn end_run(&mut self, kind: VerdictKind, why: String, now: Timestamp) {
        if self.is_armed() {
            self.end_rest(now);
            self.ulw.enabled = false;
            self.ulw.paused = None;
            self.verdict = Some(UlwVerdict { kind, why, at: now });
        }
    }

    /// Ends a run, and lets every later Stop through until ultrawork is turned on again.
    pub fn stop_continuation(&mut self, reason: Option<&str>, by_person: bool, now: Timestamp) {
        let actor = if by_person {
            "by its user"
        } else {
            "by a command"
        };
        let why = reason.map_or_else(|| actor.to_owned(), |text| format!("{actor}: {text}"));
        if by_person {
            self.leave_task();
        }
        let ended_task = self.stop_continuation.ended_task || by_person && self.continues_task();
        self.end_run(VerdictKind::Stopped, why, now);
        self.ulw.enabled = false;
        self.stop_continuation = StopContinuation {
            disabled: true,
            disabled_reason: reason.map(str::to_owned),
            disabled_at: Some(now),
            is_untold: false,
            ended_task,
        };
    }

    pub fn pause(&mut self, reason: PauseReason, now: Timestamp) {
        if self.is_armed() && self.ulw.paused.is_none() {
            self.ulw.paused = Some(UlwPause {
                reason,
                at: Some(now),
                is_told: false,
            });
        }
    }

    /// [`Session::pause`], of which the user is told.
    pub fn tell_paused(&mut self, reason: PauseReason, now: Timestamp) {
        self.pause(reason, now);
        if let Some(pause) = &mut self.ulw.paused {
            pause.is_told = true;
        }
    }

    pub fn token_bound(&self) -> Option<(u64, u32)> {
        let bound = self.limits.clamped().max_tokens;
        (bound > 0).then(|| {
            (
                self.ulw.tokens.used.saturating_add(self.ulw.agent_tokens),
                bound,
            )
        })
    }

    /// Resumes a waiting run with its counts and time; `false` for a run that does not wait. An
    /// interruption before `now` is settled.
    pub fn resume(&mut self, now: Timestamp) -> bool {
        self.end_rest(now);
        let Some(pause) = self.active_run().and_then(|run| run.paused.clone()) else {
            return false;
        };
        if let Some(at) = pause.at {
            self.ulw.add_waited(at, now);
        }
        if pause.reason == PauseReason::TokensSpent {
            (self.ulw.tokens.used, self.ulw.agent_tokens) = (0, 0);
        }
        self.ulw.paused = None;
        self.ulw.resumed_at = Some(now);
        true
    }

    /// [`Session::resume`], also for a run that does not wait; notes weakenings by `activation`.
    pub fn go_on(&mut self, activation: UlwActivation, now: Timestamp) {
        let earlier = self.clone();
        self.resume(now);
        self.take_checks(activation.checks, true);
        self.verification.review_wanted = activation.review_wanted;
        self.verification.prove = activation.prove;
        self.limits = activation.limits;
        self.verification.max_attempts = activation.limits.max_failed_claims;
        self.ulw.prompt_id = activation.prompt_id;
        self.keep_weakened(&earlier, true, now);
    }

    /// Pauses a run that Esc interrupted. No hook runs then, so the next event notices.
    pub fn note_interruption(&mut self, interruption: Interruption, now: Timestamp) {
        if self.is_interrupted_by(interruption) {
            let at = match interruption {
                Interruption::At(at) => at,
                Interruption::AtSomeTime => now,
            };
            self.pause(PauseReason::Interrupted, at);
            if self.verification.phase == VerificationPhase::Checks {
                self.verification.phase = VerificationPhase::Working;
            }
        }
    }

    /// `true` for an interruption since the run was started or resumed, or without a time.
    pub(crate) fn is_interrupted_by(&self, interruption: Interruption) -> bool {
        match (interruption, self.ulw.resumed_at.or(self.ulw.started_at)) {
            (Interruption::At(at), Some(began)) => at > began,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    pub(super) fn activation() -> UlwActivation {
        UlwActivation {
            trigger: UlwTrigger::Keyword,
            task: Some("ulw fix".to_owned()),
            prompt_id: None,
            limits: RunLimits::default(),
            checks: Vec::new(),
            review_wanted: true,
            prove: ProveMode::default(),
            base: None,
            begins_anew: false,
        }
    }

    #[test]
    fn the_minimal_entry_of_the_first_design_is_read() {
        let session: Session = serde_json::from_str(
            r#"{"ulw":{"enabled":true,"stopBlocks":3,"lastStopAt":"2026-02-22T17:20:01Z"},
                "stopContinuation":{"disabled":false,"disabledReason":null}}"#,
        )
        .unwrap();
        assert!(session.is_armed());
        assert_eq!(session.ulw.stop_blocks, 3);
        assert_eq!(session.limits, RunLimits::default());
    }

    #[test]
    fn wrong_types_are_refused() {
        for ulw in [
            r#"{"stopBlocks":"abc"}"#,
            r#"{"stopBlocks":-1}"#,
            r#"{"stopBlocks":9223372036854775808}"#,
            r#"{"stopBlocks":1.5}"#,
            r#"{"enabled":"yes"}"#,
            r#"{"lastStopAt":12}"#,
            r"[]",
        ] {
            let text = format!(r#"{{"ulw":{ulw}}}"#);
            // An array is the one wrong shape that serde would take for a struct.
            assert!(
                ulw == "[]" || serde_json::from_str::<Session>(&text).is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn activation_resets_counters_and_opens_the_hatch() {
        let mut session = Session::default();
        session.activate(activation(), at(10));
        session.ulw.stop_blocks = 8;
        session.verification.attempts = 2;
        session.stop_continuation(Some("enough"), true, at(20));
        assert!(!session.is_armed());
        assert_eq!(session.verdict.as_ref().unwrap().kind, VerdictKind::Stopped);
        session.activate(activation(), at(30));
        assert!(session.is_armed());
        assert_eq!(
            (session.ulw.stop_blocks, session.verification.attempts),
            (0, 0)
        );
        assert!(!session.stop_continuation.disabled);
    }

    #[test]
    fn an_end_is_kept_whatever_comes_later() {
        let mut session = Session::default();
        session.activate(activation(), at(0));
        session.end_run(
            VerdictKind::Released,
            "claimed, not verified".to_owned(),
            at(5),
        );
        session.end_run(VerdictKind::Expired, "too old".to_owned(), at(9));
        assert_eq!(session.verdict.unwrap().kind, VerdictKind::Released);
    }

    #[test]
    fn only_an_interruption_after_the_start_pauses() {
        let mut session = Session::default();
        session.activate(activation(), at(10));
        assert!(!session.is_interrupted_by(Interruption::At(at(9))));
        assert!(session.is_interrupted_by(Interruption::At(at(11))));
        assert!(session.is_interrupted_by(Interruption::AtSomeTime));
    }
}
