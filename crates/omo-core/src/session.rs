//! What omo remembers of one session: the entry under its id in the state file.
//!
//! Every field has a default, so that an entry of an older version, or the minimal one of the
//! first design, can be read. Fields that are not named here are not ours: the store carries them
//! through every write.

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

/// One session's entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Session {
    /// The run, or the last one.
    pub ulw: UlwRun,
    /// Progress of the check of a claim.
    pub verification: ClaimVerification,
    /// Checks that judge a claim.
    #[serde(rename = "gates", deserialize_with = "bounded_checks")]
    pub checks: Vec<Check>,
    /// The store's mark on all that decides: what something else than omo wrote does not bear it.
    pub seal: Option<String>,
    /// The project whose entry it is: it counts in no other one. Left out by an omo that sealed none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectMark>,
    /// Number of times omo has written what is sealed. The store keeps it outside of the project as well, so that an
    /// older entry that was put back is noticed.
    pub revision: u64,
    /// The bounds of the run.
    pub limits: RunLimits,
    /// The escape hatch.
    pub stop_continuation: StopContinuation,
    /// Weakenings since the start of the run: the ending line and the status name them.
    #[serde(deserialize_with = "weakened")]
    pub weakened: Vec<CheckWeakening>,
    /// The processes of the client that served it: what they started was not started by a person.
    #[serde(deserialize_with = "clients")]
    pub clients: Vec<ClientProcess>,
    /// The plan that the session executes, or executed last.
    #[serde(rename = "run")]
    pub plan_run: Option<PlanRun>,
    /// The command that its user typed last and that the model is about to carry out.
    #[serde(rename = "command")]
    pub typed_command: Option<TypedCommand>,
    /// Verdict of the last run; `null` while one is on.
    pub verdict: Option<UlwVerdict>,
    /// Place up to which the transcript was read.
    pub transcript: TranscriptMark,
    /// Last time of each hook during the run.
    pub last_seen: LastSeen,
    /// Last write of this entry.
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

/// A project on this machine. A renamed one keeps its folder, and one that was restored from a backup its path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectMark {
    /// The path of its top folder.
    pub path: String,
    /// The number of that folder, and the moment at which it was made.
    pub folder: String,
}

/// The run itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UlwRun {
    /// A run is on.
    pub enabled: bool,
    /// Number of Stops were turned into continuations in this run.
    pub stop_blocks: u32,
    /// Time of the last continuation.
    pub last_stop_at: Option<Timestamp>,
    /// Start of the run.
    pub started_at: Option<Timestamp>,
    /// The first `task::TASK_CHARS` characters of what the user asked for.
    pub task: Option<String>,
    /// All of it, as far as it is kept, where that is more.
    pub whole_task: Option<String>,
    /// Later requests of the user while the task was not proved done, in order.
    pub asked_later: Vec<String>,
    /// Trigger of the run.
    pub trigger: Option<UlwTrigger>,
    /// The last prompt of a person in the run; at first the one that turned it on, which counts once where it is
    /// delivered twice.
    pub prompt_id: Option<String>,
    /// A Stop of the turn of that prompt was turned into a continuation.
    pub is_continued: bool,
    /// The run waits for its user.
    pub paused: Option<UlwPause>,
    /// Last end of a wait.
    pub resumed_at: Option<Timestamp>,
    /// Milliseconds of waiting for the user, which are no part of the run's time.
    pub waited_millis: u64,
    /// The last rest. It is left out where there was none, as by an omo that knew no rests, so that the
    /// seal of an older entry holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<UlwRest>,
    /// The tokens that the session has used in the run, where they are bounded.
    pub tokens: TokenUse,
    /// The tokens that its agents have used.
    pub agent_tokens: u64,
    /// The commit that was checked out when the run was turned on.
    pub base: Option<String>,
    /// What stands for the files as they were when its task began, uncommitted ones too; `None` where they could not be
    /// recorded.
    pub recorded: Option<String>,
    /// Why it cannot be done, where that was said with `omo blocked`: the next Stop ends the run.
    pub said_blocked: Option<String>,
    /// Ids of shells and monitors that a block has named.
    pub named_tasks: Vec<String>,
    /// The prompt whose turn ends by itself: it asks to see the checks run, or asks something else.
    #[serde(rename = "checkRunPrompt")]
    pub free_prompt: Option<String>,
}

/// The tokens that a transcript tells, and how far it was read for them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TokenUse {
    /// Tokens since the run began, or went on after they were used up.
    pub used: u64,
    /// Bytes of the transcript that were read.
    pub offset: u64,
    /// Id of the last message, of which more may come.
    pub message: String,
    /// Tokens of that message.
    pub of_message: u64,
}

/// Trigger of a run.
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

/// Why a run waits for its user, and whether they were told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UlwPause {
    /// Reason of the wait.
    pub reason: PauseReason,
    /// Since when.
    pub at: Option<Timestamp>,
    /// The user was told.
    #[serde(default, rename = "told")]
    pub is_told: bool,
}

/// Reason why a run waits for its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PauseReason {
    /// They pressed Esc.
    Interrupted,
    /// An API error that only a person can fix.
    ApiError,
    /// They said so in plain words.
    Asked,
    /// The tokens of the run are used.
    TokensSpent,
}

/// The escape hatch: once set, no Stop of this session is blocked until its user turns
/// ultrawork on again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StopContinuation {
    /// `true` for a stopped session.
    pub disabled: bool,
    /// Reason of the user.
    pub disabled_reason: Option<String>,
    /// Since when.
    pub disabled_at: Option<Timestamp>,
    /// `true` for a stop from outside of the session, which has not said so yet.
    pub is_untold: bool,
    /// `true` where the user ended a run, as far as can be told: the task of that run is over.
    pub ended_task: bool,
}

/// End of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UlwVerdict {
    /// Kind of the end.
    pub kind: VerdictKind,
    /// Why, in a few words.
    pub why: String,
    /// Time of the end.
    pub at: Timestamp,
}

/// The five ends of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum VerdictKind {
    /// The work was proved done.
    Verified,
    /// The model said honestly why it cannot be done.
    Blocked,
    /// omo stopped holding the session, without proof.
    Released,
    /// The user ended it.
    Stopped,
    /// Run out of time.
    Expired,
}

impl VerdictKind {
    /// Word for people and for the log, such as `verified`.
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

/// Place up to which the transcript was read, in bytes from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TranscriptMark {
    /// Nothing before this matters any more.
    pub offset: u64,
    /// End of the transcript at the last block.
    pub block_offset: u64,
}

/// The user pressed Esc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interruption {
    /// At a time that is not recorded.
    AtSomeTime,
    /// Then.
    At(Timestamp),
}

impl UlwRun {
    /// Working time in milliseconds; nothing where the clock was set back. It stands still in a pause and in a rest. An entry without a start, as an older version may have left, counts from its last
    /// continuation.
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

    /// `true` where a claim counts only where this check is red without the change.
    pub fn needs_proof(&self, check: &Check) -> bool {
        match self.verification.prove {
            ProveMode::Off | ProveMode::Inform => check.prove,
            ProveMode::Require => true,
        }
    }

    /// A run is on: the session is armed.
    pub fn is_armed(&self) -> bool {
        self.active_run().is_some()
    }

    /// Failed claims after which the run ends: the lower one of what it began with and its bounds of now.
    pub fn max_attempts(&self) -> u32 {
        self.verification
            .max_attempts
            .clamp(1, self.limits.clamped().max_failed_claims)
    }

    /// `true` where turning ultrawork on goes on with the task that the session has: it was begun, and not proved done.
    pub fn continues_task(&self) -> bool {
        let is_proved = self
            .verdict
            .as_ref()
            .is_some_and(|verdict| verdict.kind == VerdictKind::Verified);
        self.ulw.started_at.is_some() && !is_proved && !self.is_disowned()
    }

    /// `true` where this very activation has turned the run on that is on: a plugin registered twice hands the same
    /// prompt on twice, and what is typed during a turn carries the turn's id.
    pub fn is_activated_by(&self, activation: &UlwActivation) -> bool {
        let same_task = self.ulw.was_asked_last(activation.task.as_deref());
        self.is_armed()
            && same_task
            && activation.prompt_id.is_some()
            && self.ulw.prompt_id == activation.prompt_id
    }

    /// `true` where nothing has happened since the prompt that turned the run on: no other prompt, no stop, no error.
    pub fn is_untouched(&self) -> bool {
        let seen = self.last_seen;
        seen.stop.is_none()
            && seen.stop_failure.is_none()
            && seen.user_prompt_submit == self.ulw.started_at
    }

    /// Ends the run, if one is on, and says how.
    pub fn end_run(&mut self, kind: VerdictKind, why: String, now: Timestamp) {
        if self.is_armed() {
            self.end_rest(now);
            self.ulw.enabled = false;
            self.ulw.paused = None;
            self.verdict = Some(UlwVerdict { kind, why, at: now });
        }
    }

    /// The way out: ends the run, and keeps every later Stop free until they turn
    /// ultrawork on again. Works whether or not a run is on.
    pub fn stop_continuation(&mut self, reason: Option<&str>, by_person: bool, now: Timestamp) {
        let who = if by_person {
            "by its user"
        } else {
            "by a command"
        };
        let why = reason.map_or_else(|| who.to_owned(), |text| format!("{who}: {text}"));
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

    /// Makes the run wait for its user, unless it waits already.
    pub fn pause(&mut self, reason: PauseReason, now: Timestamp) {
        if self.is_armed() && self.ulw.paused.is_none() {
            self.ulw.paused = Some(UlwPause {
                reason,
                at: Some(now),
                is_told: false,
            });
        }
    }

    /// Makes the run wait for its user, who is being told so.
    pub fn tell_paused(&mut self, reason: PauseReason, now: Timestamp) {
        self.pause(reason, now);
        if let Some(pause) = &mut self.ulw.paused {
            pause.is_told = true;
        }
    }

    /// The tokens that the run has used, and how many it may.
    pub fn token_bound(&self) -> Option<(u64, u32)> {
        let bound = self.limits.clamped().max_tokens;
        (bound > 0).then(|| {
            (
                self.ulw.tokens.used.saturating_add(self.ulw.agent_tokens),
                bound,
            )
        })
    }

    /// Lets a run that waits for its user go on as it stood, with its count and its time; `false` where none does. An
    /// interruption before this moment is answered by it.
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

    /// As [`Session::resume`], of a run that may be at work as well, with what its user says about it now: bounds,
    /// review and more checks. What is held to less by that is named.
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

    /// Makes the run wait since an interruption that concerns it. After Esc no hook runs: what comes next is the first
    /// to know.
    pub fn note_interruption(&mut self, interruption: Interruption, now: Timestamp) {
        if self.is_interrupted_by(interruption) {
            let at = match interruption {
                Interruption::At(at) => at,
                Interruption::AtSomeTime => now,
            };
            self.pause(PauseReason::Interrupted, at);
            // Esc ends a check that runs.
            if self.verification.phase == VerificationPhase::Checks {
                self.verification.phase = VerificationPhase::Working;
            }
        }
    }

    /// `true` where an interruption at this time concerns the run: one before the run was turned on, or went on, does
    /// not. Without a time it is taken to.
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
