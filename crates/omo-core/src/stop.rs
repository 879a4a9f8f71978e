//! The decision table of the `Stop` hook: the first [`StopRow`] that matches decides.

pub mod api_error;
pub mod claim;

use crate::limits::MAX_DAYS;
use crate::promise::Claim;
use crate::session::plan_run::{PlanRun, PlanRunStatus};
use crate::session::rest::RestReason;
use crate::session::{
    EntryProvenance, Interruption, PauseReason, Session, TokenUse, TranscriptMark, VerdictKind,
};
use crate::text::{pluralize, sanitize};
use crate::timestamp::Timestamp;
use claim::{ClaimJudgement, ClaimOutcome, count_standing_failure, note_standing_failure};

/// Rows of the table, in the order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopRow {
    /// 1: the input or the state is unreadable, or the lock was not taken in time.
    Unreadable,
    /// 2: a subagent stops.
    Subagent,
    /// 3: no run, an ended one, or an entry that omo did not write.
    NoRun,
    /// 4: the escape hatch is set.
    StopContinuation,
    /// 5: input of the user waits for the end of the turn.
    InputWaiting,
    /// 6: background work or a wakeup is awaited.
    BackgroundWork,
    /// 7: plan mode, a wait for the user, or a turn that only showed the checks.
    PlanOrPaused,
    /// 8: the model says that it is impossible.
    SaidBlocked,
    /// 9: a claim that was verified, or that nothing can verify.
    ClaimJudged,
    /// 10: too many failed claims.
    AttemptsSpent,
    /// 11: too many blocks, or the tokens are spent.
    BlocksSpent,
    /// 12: a run that is too old, or was worked on for too long.
    TimeSpent,
    /// 13: the same failure on the same work tree was reported twice.
    SameFailure,
    /// 14: right after a block, without work in between.
    Cooldown,
    /// 15: work continues.
    Continue,
}

impl StopRow {
    pub const ALL: [Self; 15] = [
        Self::Unreadable,
        Self::Subagent,
        Self::NoRun,
        Self::StopContinuation,
        Self::InputWaiting,
        Self::BackgroundWork,
        Self::PlanOrPaused,
        Self::SaidBlocked,
        Self::ClaimJudged,
        Self::AttemptsSpent,
        Self::BlocksSpent,
        Self::TimeSpent,
        Self::SameFailure,
        Self::Cooldown,
        Self::Continue,
    ];

    pub fn number(self) -> u8 {
        self as u8 + 1
    }

    pub fn numbered(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|row| row.number() == number)
    }

    /// A short description, for the log and `omo status`.
    pub fn label(self) -> &'static str {
        match self {
            Self::Unreadable => "could not be read",
            Self::Subagent => "a subagent's stop",
            Self::NoRun => "no run of omo's own",
            Self::StopContinuation => "continuation is stopped",
            Self::InputWaiting => "the user's input waits",
            Self::BackgroundWork => "background work is awaited",
            Self::PlanOrPaused => {
                "plan mode, paused, you are asked, or a question of yours was answered"
            }
            Self::SaidBlocked => "said to be blocked",
            Self::ClaimJudged => "claimed and judged",
            Self::AttemptsSpent => "too many failed claims",
            Self::BlocksSpent => "all continuations used",
            Self::TimeSpent => "out of time",
            Self::SameFailure => "the same failure again",
            Self::Cooldown => "stopped again at once, without work in between",
            Self::Continue => "not claimed yet",
        }
    }
}

#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopEvent {
    /// The event carries an `agent_id`.
    pub from_subagent: bool,
    pub claim: Option<Claim>,
    pub asks_a_person: bool,
    pub plan_mode: bool,
    pub background: Vec<BackgroundTask>,
    pub wakeup_scheduled: bool,
    pub prompt_id: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackgroundTask {
    pub id: String,
    /// `subagent`, `shell`, `workflow`, `monitor`, …
    pub kind: String,
    /// `running`, `completed`, …
    pub status: String,
    pub label: String,
}

impl BackgroundTask {
    /// An unknown status counts as running: waiting for ended work costs nothing, a block during
    /// work costs the user's quota.
    pub(crate) fn is_unfinished(&self) -> bool {
        // Kinds of work that end without a message to the session.
        const SILENT_KINDS: [&str; 2] = ["dream", "auto mode scan"];
        const OVER: [&str; 9] = [
            "completed",
            "failed",
            "killed",
            "stopped",
            "cancelled",
            "canceled",
            "done",
            "error",
            "timed_out",
        ];
        let kind = self.kind.to_lowercase().replace(['-', '_'], " ");
        !SILENT_KINDS.contains(&kind.as_str()) && !OVER.contains(&self.status.as_str())
    }

    /// `true` for a kind that may never finish, such as a development server's.
    pub(crate) fn may_never_finish(&self) -> bool {
        matches!(self.kind.as_str(), "shell" | "monitor")
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TranscriptTail {
    pub input_waiting: bool,
    pub interrupted: Option<Interruption>,
    pub tool_called_since_block: bool,
    /// Blocks in the transcript from the entry's last one on, that one included.
    pub blocks_since: usize,
    /// Offset of the next read: `end`, or the place where input began to wait.
    pub next_offset: u64,
    /// Offset behind the last line.
    pub end: u64,
}

impl TranscriptTail {
    pub fn unknown(mark: TranscriptMark) -> Self {
        Self {
            next_offset: mark.offset,
            end: mark.offset.max(mark.block_offset),
            ..Self::default()
        }
    }
}

/// Input of the table besides the session's entry.
#[derive(Clone, Debug)]
pub struct StopFacts {
    pub event: StopEvent,
    pub transcript: TranscriptTail,
    /// The client's cap on blocks in a row, if it is not 0.
    pub client_block_cap: Option<u32>,
    pub finding: StopFinding,
    /// The session's plan, if its entry is omo's own.
    pub plan: Option<PlanRun>,
    pub tokens: Option<TokenUse>,
    pub now: Timestamp,
}

/// Result of the work of a Stop that takes longer than a lock may be held.
#[derive(Clone, Debug, Default)]
pub enum StopFinding {
    #[default]
    NotAsked,
    /// Id of the work tree's files, read where a failure stands and nothing is claimed.
    Tree(Option<String>),
    Claim(Box<ClaimOutcome>),
}

impl StopFacts {
    pub fn claim(&self) -> Option<&ClaimOutcome> {
        match &self.finding {
            StopFinding::Claim(outcome) => Some(outcome),
            StopFinding::NotAsked | StopFinding::Tree(_) => None,
        }
    }

    /// `None` while the session's plan continues: its tasks are left, whatever is claimed.
    fn judgement(&self) -> Option<ClaimJudgement> {
        self.claim()
            .filter(|_| !self.plan_continues())
            .map(|outcome| outcome.judgement)
    }

    pub fn has_failed_claim(&self) -> bool {
        self.judgement()
            .is_some_and(ClaimJudgement::is_failed_attempt)
    }

    /// `true` for a plan that does not wait for a person.
    pub fn plan_continues(&self) -> bool {
        self.plan
            .as_ref()
            .is_some_and(|plan| plan.status() == PlanRunStatus::Executes)
    }

    /// `true` where checks were added or a plan was opened after the claim was judged.
    pub fn is_outdated(&self, session: &Session) -> bool {
        self.claim()
            .is_some_and(|outcome| !outcome.covers_all_checks(session) || self.plan_continues())
    }

    fn same_failure_sent(&self, session: &Session) -> u32 {
        match &self.finding {
            _ if self.plan_continues() => 0,
            StopFinding::NotAsked => 0,
            StopFinding::Tree(tree) => count_standing_failure(session, tree.as_deref()),
            StopFinding::Claim(outcome) => outcome.times_reported(session),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopDecision {
    pub row: StopRow,
    pub action: StopAction,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopAction {
    Allow,
    /// The turn ends, and the user is told why it was let through.
    AllowAndWarn,
    /// The turn ends, and the user is told that they are asked something.
    AwaitAnswer,
    Pause(PauseReason),
    Block(StopBlock),
    End {
        verdict: VerdictKind,
        why: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopBlock {
    /// Number in the run, from 1.
    pub number: u32,
    pub allowed: u32,
    /// Shells and monitors that no block has named yet.
    pub newly_named: Vec<BackgroundTask>,
    pub cause: BlockCause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockCause {
    Unfinished,
    FailedAttempt,
    PlanContinues,
}

const MAX_AWAITED: usize = 4;
/// Maximum reports of one failure; 1 where only the user can accept it.
const SAME_FAILURE_LIMIT: u32 = 2;

pub fn decide(session: Option<&Session>, facts: Option<&StopFacts>) -> StopDecision {
    let Some(facts) = facts else {
        return allow(StopRow::Unreadable);
    };
    if facts.event.from_subagent {
        return allow(StopRow::Subagent);
    }
    let armed = session.filter(|session| session.is_armed());
    armed.map_or_else(
        || allow(StopRow::NoRun),
        |session| decide_armed(facts, session),
    )
}

/// Decision about an entry that omo did not write; `None` for its own.
pub fn decide_provenance(provenance: EntryProvenance) -> Option<StopDecision> {
    provenance
        .distrust_reason()
        .map(|why| end(StopRow::NoRun, VerdictKind::Released, why))
}

/// Provenance of an entry by the transcript: one that counts fewer blocks than the transcript has
/// is an old copy that was put back, maybe with all other files of omo.
pub fn provenance_by_transcript(session: &Session, tail: &TranscriptTail) -> EntryProvenance {
    let counted = usize::from(session.ulw.last_stop_at.is_some());
    if tail.blocks_since > counted {
        EntryProvenance::PutBack
    } else {
        EntryProvenance::Own
    }
}

/// `true` where omo has to judge a claim: no row before `ClaimJudged` matches.
pub fn needs_judgement(session: &Session, unjudged: &StopFacts) -> bool {
    let asks = unjudged.event.claim == Some(Claim::Done) || claim::has_awaited_review(session);
    asks && !unjudged.plan_continues()
        && decide(Some(session), Some(unjudged)).row > StopRow::SaidBlocked
}

/// The run's bound on blocks, or the client's cap where that is lower.
pub fn allowed_blocks(session: &Session, client_block_cap: Option<u32>) -> u32 {
    let bound = session.limits.clamped().max_blocks;
    client_block_cap.map_or(bound, |cap| bound.min(cap))
}

fn decide_armed(facts: &StopFacts, session: &Session) -> StopDecision {
    let event = &facts.event;
    if session.stop_continuation.disabled {
        return allow(StopRow::StopContinuation);
    }
    if facts.transcript.input_waiting {
        return allow(StopRow::InputWaiting);
    }
    if waits_for_background(event, session) {
        return allow(StopRow::BackgroundWork);
    }
    let plan_waits = facts
        .plan
        .as_ref()
        .is_some_and(|plan| matches!(plan.status(), PlanRunStatus::Waits(_)));
    if event.plan_mode || session.ulw.paused.is_some() || plan_waits {
        return allow(StopRow::PlanOrPaused);
    }
    if facts
        .transcript
        .interrupted
        .is_some_and(|at| session.is_interrupted_by(at))
    {
        return act(
            StopRow::PlanOrPaused,
            StopAction::Pause(PauseReason::Interrupted),
        );
    }
    // A person typed the prompt of this turn, and reads its end.
    let claims_nothing = event.claim.is_none() && session.ulw.said_blocked.is_none();
    let is_turn_of_person = event.prompt_id.is_some() && session.ulw.prompt_id == event.prompt_id;
    let is_read = is_turn_of_person && !session.ulw.is_continued;
    if claims_nothing && event.asks_a_person && is_read && session.verification.failure.is_none() {
        return act(StopRow::PlanOrPaused, StopAction::AwaitAnswer);
    }
    let is_free_turn = event.prompt_id.is_some() && session.ulw.free_prompt == event.prompt_id;
    if claims_nothing && is_free_turn {
        return allow(StopRow::PlanOrPaused);
    }
    if let Some(reason) = &session.ulw.said_blocked {
        return end(
            StopRow::SaidBlocked,
            VerdictKind::Blocked,
            stated_reason(reason),
        );
    }
    match (&event.claim, facts.judgement()) {
        (Some(Claim::Blocked { reason }), _) => {
            return end(
                StopRow::SaidBlocked,
                VerdictKind::Blocked,
                stated_reason(reason),
            );
        }
        (_, Some(ClaimJudgement::Verified)) => {
            return end(StopRow::ClaimJudged, VerdictKind::Verified, "proved");
        }
        (_, Some(ClaimJudgement::NothingToJudgeBy)) => {
            return end(
                StopRow::ClaimJudged,
                VerdictKind::Released,
                "claimed, not verified",
            );
        }
        (_, Some(ClaimJudgement::Failed | ClaimJudgement::ReviewWanted { .. }) | None) => {}
    }
    decide_bounds(facts, session).unwrap_or_else(|| continue_run(facts, session))
}

/// Decision of rows 10 to 14, which do not depend on the model's words.
fn decide_bounds(facts: &StopFacts, session: &Session) -> Option<StopDecision> {
    let failed = facts.has_failed_claim();
    let attempts = session
        .verification
        .attempts
        .saturating_add(u32::from(failed));
    if attempts >= session.max_attempts() {
        return Some(release(
            StopRow::AttemptsSpent,
            pluralize(attempts as usize, "failed claim"),
        ));
    }
    let allowed = allowed_blocks(session, facts.client_block_cap);
    if session.ulw.stop_blocks >= allowed {
        return Some(release(
            StopRow::BlocksSpent,
            format!(
                "{} of {allowed} continuations used",
                session.ulw.stop_blocks
            ),
        ));
    }
    if session
        .token_bound()
        .is_some_and(|(used, bound)| used >= u64::from(bound))
    {
        return Some(act(
            StopRow::BlocksSpent,
            StopAction::Pause(PauseReason::TokensSpent),
        ));
    }
    let minutes = session.limits.clamped().max_minutes;
    if session.ulw.worked_millis(facts.now) >= i64::from(minutes) * 60_000 {
        return Some(end(
            StopRow::TimeSpent,
            VerdictKind::Expired,
            ended_after(session, format!("worked on for {minutes} minutes")),
        ));
    }
    let age = session
        .ulw
        .started_at
        .and_then(|start| facts.now.millis_since(start))
        .unwrap_or(0);
    if age >= i64::from(MAX_DAYS) * 86_400_000 {
        return Some(end(
            StopRow::TimeSpent,
            VerdictKind::Expired,
            ended_after(session, format!("begun {MAX_DAYS} days ago")),
        ));
    }
    let limit = if session.verification.waits_for_user() {
        1
    } else {
        SAME_FAILURE_LIMIT
    };
    if facts.same_failure_sent(session) >= limit {
        return Some(release(
            StopRow::SameFailure,
            "the same failure on the same files".to_owned(),
        ));
    }
    (in_cooldown(session, facts.now) && !facts.transcript.tool_called_since_block)
        .then(|| act(StopRow::Cooldown, StopAction::AllowAndWarn))
}

fn release(row: StopRow, why: String) -> StopDecision {
    end(row, VerdictKind::Released, why)
}

/// The reason of an end, with the run's last usage limit.
fn ended_after(session: &Session, why: String) -> String {
    match session
        .ulw
        .rest
        .as_ref()
        .filter(|rest| rest.reason == RestReason::UsageLimit)
    {
        Some(rest) if rest.since.is_some() => format!("{why}, while its usage limit had not ended"),
        Some(_) => format!("{why}, after a usage limit"),
        None => why,
    }
}

fn continue_run(facts: &StopFacts, session: &Session) -> StopDecision {
    let failed = facts.has_failed_claim();
    let names = facts.event.background.iter();
    let block = StopBlock {
        number: session.ulw.stop_blocks.saturating_add(1),
        allowed: allowed_blocks(session, facts.client_block_cap),
        newly_named: names
            .filter(|task| is_unnamed(task, session))
            .cloned()
            .collect(),
        cause: match (facts.plan_continues(), failed) {
            (true, _) => BlockCause::PlanContinues,
            (false, true) => BlockCause::FailedAttempt,
            (false, false) => BlockCause::Unfinished,
        },
    };
    act(StopRow::Continue, StopAction::Block(block))
}

/// Row 6. A message with a claim does not wait for a shell that a block has named, such as a
/// development server: no shell may keep a claim from judgement forever (docs/adr/0004).
fn waits_for_background(event: &StopEvent, session: &Session) -> bool {
    let unfinished: Vec<&BackgroundTask> = event
        .background
        .iter()
        .filter(|task| task.is_unfinished())
        .collect();
    event.wakeup_scheduled
        || unfinished.iter().any(|task| !task.may_never_finish())
        || event.claim.is_none()
            && unfinished
                .iter()
                .any(|task| session.ulw.named_tasks.contains(&task.id))
}

fn is_unnamed(task: &BackgroundTask, session: &Session) -> bool {
    task.is_unfinished() && task.may_never_finish() && !session.ulw.named_tasks.contains(&task.id)
}

/// `true` while another block needs work since the last one.
///
/// A block in the future counts as long ago: a clock set back must not prolong the cooldown.
pub fn in_cooldown(session: &Session, now: Timestamp) -> bool {
    let cooldown = i64::from(session.limits.clamped().cooldown_seconds) * 1_000;
    let age = session
        .ulw
        .last_stop_at
        .and_then(|last| now.millis_since(last));
    age.is_some_and(|age| age < cooldown)
}

fn stated_reason(reason: &str) -> String {
    let reason = sanitize(reason, 300);
    if reason.is_empty() {
        "no reason given".to_owned()
    } else {
        reason
    }
}

fn allow(row: StopRow) -> StopDecision {
    act(row, StopAction::Allow)
}

fn end(row: StopRow, verdict: VerdictKind, why: impl Into<String>) -> StopDecision {
    act(
        row,
        StopAction::End {
            verdict,
            why: why.into(),
        },
    )
}

fn act(row: StopRow, action: StopAction) -> StopDecision {
    StopDecision { row, action }
}

/// Names of awaited work, at most [`MAX_AWAITED`], and an entry that counts the others.
pub fn awaited_work(event: &StopEvent) -> Vec<String> {
    let tasks = event
        .background
        .iter()
        .filter(|task| task.is_unfinished())
        .map(task_name);
    let wakeup = event
        .wakeup_scheduled
        .then(|| "a scheduled wakeup".to_owned());
    let mut names: Vec<String> = tasks.chain(wakeup).collect();
    if let Some(others @ 1..) = names.len().checked_sub(MAX_AWAITED) {
        names.truncate(MAX_AWAITED);
        names.push(format!("{others} more"));
    }
    names
}

fn task_name(task: &BackgroundTask) -> String {
    let (kind, label) = (sanitize(&task.kind, 20), sanitize(&task.label, 60));
    let kind = if kind.is_empty() {
        "task".to_owned()
    } else {
        kind
    };
    if label.is_empty() {
        kind
    } else {
        format!("{kind} `{label}`")
    }
}

/// Writes a decision, its finding and the state of rest after it into the session. Only a block or
/// a pause moves the transcript's offset; otherwise the next Stop reads the same lines again.
pub fn apply_decision(session: &mut Session, decision: &StopDecision, facts: &StopFacts) {
    let (now, tail) = (facts.now, facts.transcript);
    match &facts.finding {
        StopFinding::Claim(outcome)
            if decision.row > StopRow::SaidBlocked && !facts.plan_continues() =>
        {
            outcome.record(session, now, tail.end);
        }
        StopFinding::Tree(tree) if matches!(decision.action, StopAction::Block(_)) => {
            note_standing_failure(session, tree.clone());
        }
        _ => {}
    }
    match &decision.action {
        StopAction::Allow | StopAction::AllowAndWarn | StopAction::AwaitAnswer => {}
        StopAction::Pause(reason) => {
            match reason {
                PauseReason::TokensSpent => session.tell_paused(*reason, now),
                _ => session.pause(*reason, now),
            }
            session.transcript.offset = tail.next_offset;
        }
        StopAction::Block(block) => {
            session.ulw.stop_blocks = block.number;
            session.ulw.last_stop_at = Some(now);
            session.ulw.is_continued = true;
            session
                .ulw
                .named_tasks
                .extend(block.newly_named.iter().map(|task| task.id.clone()));
            session.transcript = TranscriptMark {
                offset: tail.next_offset,
                block_offset: tail.end,
            };
        }
        StopAction::End { why, .. } if decision.row == StopRow::NoRun => session.disown(why, now),
        StopAction::End { verdict, why } => session.end_run(*verdict, why.clone(), now),
    }
    match (&decision.action, decision.row) {
        (StopAction::Block(_), _) => session.end_rest(now),
        (StopAction::Allow, StopRow::Subagent) | (StopAction::End { .. }, _) => {}
        (StopAction::AwaitAnswer, _) => session.rest(RestReason::AwaitsAnswer, Vec::new(), now),
        (_, StopRow::BackgroundWork) => {
            session.rest(RestReason::AwaitsWork, awaited_work(&facts.event), now);
        }
        _ => session.rest(RestReason::TurnEnded, Vec::new(), now),
    }
}
