//! The Stop table, row by row: what reaches each row, which row wins, and where the bounds lie.
//!
//! What a plan run changes is in `plan.rs`, what holds over whole sequences of events in
//! `stop_properties.rs`.

mod bounds;
pub(crate) mod given;
mod plan;
mod rest;

use omo_core::promise::Claim;
use omo_core::session::rest::{RestReason, TurnTime};
use omo_core::session::{Interruption, PauseReason, Session, UlwPause, VerdictKind};
use omo_core::stop::claim::ClaimJudgement;
use omo_core::stop::{BackgroundTask, StopAction, StopDecision, StopRow, decide};
use omo_core::timestamp::Timestamp;

use given::Given;

const MINUTE: i64 = 60_000;
const YEAR: i64 = 365 * 24 * 60 * MINUTE;
/// Start of every run of these tests: a day in 2026.
const START: i64 = 1_780_000_000_000;

fn given(change: impl FnOnce(&mut Given)) -> StopDecision {
    let mut given = Given::armed();
    change(&mut given);
    given.decide()
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn task(id: &str, kind: &str, status: &str) -> BackgroundTask {
    BackgroundTask {
        id: id.to_owned(),
        kind: kind.to_owned(),
        status: status.to_owned(),
        label: "npm run dev".to_owned(),
    }
}

fn blocked(reason: &str) -> Claim {
    Claim::Blocked {
        reason: reason.to_owned(),
    }
}

fn pause(session: &mut Session, reason: PauseReason) {
    session.ulw.paused = Some(UlwPause {
        reason,
        at: None,
        is_told: false,
    });
}

/// Of the 100 tokens that it may use the run, with its agents, has used so many.
fn spend(session: &mut Session, tokens: u64) {
    session.limits.max_tokens = 100;
    (session.ulw.tokens.used, session.ulw.agent_tokens) = (tokens - 9, 9);
}

fn word(decision: &StopDecision) -> &'static str {
    match &decision.action {
        StopAction::Allow => "allow",
        StopAction::AllowAndWarn => "warn",
        StopAction::AwaitAnswer => "wait",
        StopAction::Pause(_) => "pause",
        StopAction::Block(_) => "block",
        StopAction::End { verdict, .. } => verdict.word(),
    }
}

/// Name of a case, its change, the expected row, and that row's action.
type Case = (&'static str, fn(&mut Given), StopRow, &'static str);

const CASES: &[Case] = &[
    (
        "a subagent stops",
        |g| g.event.from_subagent = true,
        StopRow::Subagent,
        "allow",
    ),
    ("no entry", |g| g.session = None, StopRow::NoRun, "allow"),
    (
        "an empty entry",
        |g| g.session = Some(Session::default()),
        StopRow::NoRun,
        "allow",
    ),
    (
        "a run that was turned off",
        |g| g.session().ulw.enabled = false,
        StopRow::NoRun,
        "allow",
    ),
    (
        "a run with a verdict",
        |g| end(g.session()),
        StopRow::NoRun,
        "allow",
    ),
    (
        "an enabled run with a verdict",
        |g| {
            end(g.session());
            g.session().ulw.enabled = true;
        },
        StopRow::NoRun,
        "allow",
    ),
    (
        "the hatch, run still enabled",
        |g| g.session().stop_continuation.disabled = true,
        StopRow::StopContinuation,
        "allow",
    ),
    (
        "the hatch, as the user sets it",
        |g| g.session().stop_continuation(None, true, at(START)),
        StopRow::NoRun,
        "allow",
    ),
    (
        "input waits",
        |g| g.transcript.input_waiting = true,
        StopRow::InputWaiting,
        "allow",
    ),
    (
        "a subagent runs",
        |g| g.event.background.push(task("a", "subagent", "running")),
        StopRow::BackgroundWork,
        "allow",
    ),
    (
        "a workflow runs",
        |g| g.event.background.push(task("a", "workflow", "running")),
        StopRow::BackgroundWork,
        "allow",
    ),
    (
        "an unknown kind runs",
        |g| g.event.background.push(task("a", "quantum", "running")),
        StopRow::BackgroundWork,
        "allow",
    ),
    (
        "a kind without a name runs",
        |g| g.event.background.push(task("a", "", "running")),
        StopRow::BackgroundWork,
        "allow",
    ),
    (
        "an unknown status",
        |g| g.event.background.push(task("a", "subagent", "thinking")),
        StopRow::BackgroundWork,
        "allow",
    ),
    (
        "work that wakes nobody",
        |g| {
            g.event.background.extend([
                task("a", "dream", "running"),
                task("b", "auto-mode scan", "running"),
            ]);
        },
        StopRow::Continue,
        "block",
    ),
    (
        "no status",
        |g| g.event.background.push(task("a", "subagent", "")),
        StopRow::BackgroundWork,
        "allow",
    ),
    (
        "a pending one among finished ones",
        |g| {
            g.event.background.extend([
                task("a", "subagent", "completed"),
                task("b", "subagent", "pending"),
            ]);
        },
        StopRow::BackgroundWork,
        "allow",
    ),
    (
        "a wakeup",
        |g| g.event.wakeup_scheduled = true,
        StopRow::BackgroundWork,
        "allow",
    ),
    (
        "a shell that was named",
        |g| name_and_run(g, "shell"),
        StopRow::BackgroundWork,
        "allow",
    ),
    (
        "a monitor that was named",
        |g| name_and_run(g, "monitor"),
        StopRow::BackgroundWork,
        "allow",
    ),
    (
        "a new shell beside a named one",
        |g| {
            name_and_run(g, "shell");
            g.event.background.push(task("new", "shell", "running"));
        },
        StopRow::BackgroundWork,
        "allow",
    ),
    (
        "a claim beside a subagent",
        |g| {
            claim_done(g);
            g.event.background.push(task("a", "subagent", "running"));
        },
        StopRow::BackgroundWork,
        "allow",
    ),
    (
        "a claim beside a wakeup",
        |g| {
            claim_done(g);
            g.event.wakeup_scheduled = true;
        },
        StopRow::BackgroundWork,
        "allow",
    ),
    // docs/adr/0004: a promise does not wait for a shell.
    (
        "a claim beside a named shell",
        |g| {
            claim_done(g);
            name_and_run(g, "shell");
        },
        StopRow::ClaimJudged,
        "released",
    ),
    (
        "blocked beside a named shell",
        |g| {
            g.event.claim = Some(blocked("x"));
            name_and_run(g, "shell");
        },
        StopRow::SaidBlocked,
        "blocked",
    ),
    (
        "plan mode",
        |g| g.event.plan_mode = true,
        StopRow::PlanOrPaused,
        "allow",
    ),
    (
        "its tokens are used",
        |g| spend(g.session(), 100),
        StopRow::BlocksSpent,
        "pause",
    ),
    (
        "one token is left",
        |g| spend(g.session(), 99),
        StopRow::Continue,
        "block",
    ),
    (
        "its tokens are used, and it is proved",
        |g| {
            spend(g.session(), 1_000);
            g.judgement = Some(ClaimJudgement::Verified);
        },
        StopRow::ClaimJudged,
        "verified",
    ),
    (
        "it was typed to be shown checks or an answer",
        |g| {
            g.event.prompt_id = Some("p".to_owned());
            g.session().ulw.free_prompt = Some("p".to_owned());
        },
        StopRow::PlanOrPaused,
        "allow",
    ),
    (
        "the model asks its user something",
        |g| {
            g.event.asks_a_person = true;
            g.event.prompt_id = Some("p".to_owned());
            g.session().ulw.prompt_id = Some("p".to_owned());
        },
        StopRow::PlanOrPaused,
        "wait",
    ),
    (
        "it asks behind a continuation, where nobody looks on",
        |g| {
            g.event.asks_a_person = true;
            g.event.prompt_id = Some("p".to_owned());
            g.session().ulw.prompt_id = Some("p".to_owned());
            g.session().ulw.is_continued = true;
        },
        StopRow::Continue,
        "block",
    ),
    (
        "paused by Esc",
        |g| pause(g.session(), PauseReason::Interrupted),
        StopRow::PlanOrPaused,
        "allow",
    ),
    (
        "paused by an error",
        |g| pause(g.session(), PauseReason::ApiError),
        StopRow::PlanOrPaused,
        "allow",
    ),
    (
        "interrupted since the start",
        |g| g.transcript.interrupted = Some(Interruption::At(at(START + 1))),
        StopRow::PlanOrPaused,
        "pause",
    ),
    (
        "interrupted at an unknown time",
        |g| g.transcript.interrupted = Some(Interruption::AtSomeTime),
        StopRow::PlanOrPaused,
        "pause",
    ),
    (
        "interrupted, and the message claims",
        |g| {
            claim_done(g);
            g.transcript.interrupted = Some(Interruption::AtSomeTime);
        },
        StopRow::PlanOrPaused,
        "pause",
    ),
    (
        "interrupted before the start",
        |g| g.transcript.interrupted = Some(Interruption::At(at(START - 1))),
        StopRow::Continue,
        "block",
    ),
    (
        "interrupted at the start itself",
        |g| g.transcript.interrupted = Some(Interruption::At(at(START))),
        StopRow::Continue,
        "block",
    ),
    (
        "said to be blocked",
        |g| g.event.claim = Some(blocked("no access")),
        StopRow::SaidBlocked,
        "blocked",
    ),
    (
        "blocked without a reason",
        |g| g.event.claim = Some(blocked("")),
        StopRow::SaidBlocked,
        "blocked",
    ),
    (
        "verified",
        |g| {
            g.event.claim = Some(Claim::Done);
            g.judgement = Some(ClaimJudgement::Verified);
        },
        StopRow::ClaimJudged,
        "verified",
    ),
    (
        "claimed, nothing to judge by",
        claim_done,
        StopRow::ClaimJudged,
        "released",
    ),
    (
        "verified at the bounds",
        |g| {
            spend_all(g);
            g.judgement = Some(ClaimJudgement::Verified);
        },
        StopRow::ClaimJudged,
        "verified",
    ),
    (
        "three failed attempts",
        |g| g.session().verification.attempts = 3,
        StopRow::AttemptsSpent,
        "released",
    ),
    (
        "the third failure, now",
        |g| {
            g.session().verification.attempts = 2;
            g.judgement = Some(ClaimJudgement::Failed);
        },
        StopRow::AttemptsSpent,
        "released",
    ),
    (
        "the second failure, now",
        |g| {
            g.session().verification.attempts = 1;
            g.judgement = Some(ClaimJudgement::Failed);
        },
        StopRow::Continue,
        "block",
    ),
    (
        "attempts beyond counting",
        |g| {
            g.session().verification.attempts = u32::MAX;
            g.judgement = Some(ClaimJudgement::Failed);
        },
        StopRow::AttemptsSpent,
        "released",
    ),
    (
        "7 of 8",
        |g| g.session().ulw.stop_blocks = 7,
        StopRow::Continue,
        "block",
    ),
    (
        "8 of 8",
        |g| g.session().ulw.stop_blocks = 8,
        StopRow::BlocksSpent,
        "released",
    ),
    (
        "50 of 8",
        |g| g.session().ulw.stop_blocks = 50,
        StopRow::BlocksSpent,
        "released",
    ),
    (
        "blocks beyond counting",
        |g| g.session().ulw.stop_blocks = u32::MAX,
        StopRow::BlocksSpent,
        "released",
    ),
    (
        "8 of 8, client cap 20",
        |g| {
            g.session().ulw.stop_blocks = 8;
            g.cap = Some(20);
        },
        StopRow::BlocksSpent,
        "released",
    ),
    (
        "7 of 8, client cap 20",
        |g| {
            g.session().ulw.stop_blocks = 7;
            g.cap = Some(20);
        },
        StopRow::Continue,
        "block",
    ),
    (
        "5 of 8, client cap 5",
        |g| {
            g.session().ulw.stop_blocks = 5;
            g.cap = Some(5);
        },
        StopRow::BlocksSpent,
        "released",
    ),
    (
        "4 of 8, client cap 5",
        |g| {
            g.session().ulw.stop_blocks = 4;
            g.cap = Some(5);
        },
        StopRow::Continue,
        "block",
    ),
    (
        "a bound that a file has widened",
        |g| {
            g.session().limits.max_blocks = u32::MAX;
            g.session().ulw.stop_blocks = 100;
        },
        StopRow::BlocksSpent,
        "released",
    ),
    (
        "a bound of nothing means one",
        |g| {
            g.session().limits.max_blocks = 0;
            g.session().ulw.stop_blocks = 1;
        },
        StopRow::BlocksSpent,
        "released",
    ),
    (
        "exactly 240 minutes",
        |g| g.now = at(START + 240 * MINUTE),
        StopRow::TimeSpent,
        "expired",
    ),
    (
        "a night between two prompts",
        |g| {
            let session = g.session();
            session.rest(RestReason::TurnEnded, Vec::new(), at(START + 5 * MINUTE));
            session.end_rest(at(START + 600 * MINUTE));
            g.now = at(START + 700 * MINUTE);
        },
        StopRow::Continue,
        "block",
    ),
    (
        "a usage limit that has not ended",
        |g| {
            g.session()
                .rest(RestReason::UsageLimit, Vec::new(), at(START + 5 * MINUTE));
            g.now = at(START + 700 * MINUTE);
        },
        StopRow::Continue,
        "block",
    ),
    (
        "a rest of seven days",
        |g| {
            g.session()
                .rest(RestReason::UsageLimit, Vec::new(), at(START + 5 * MINUTE));
            g.now = at(START + 7 * 1_440 * MINUTE);
        },
        StopRow::TimeSpent,
        "expired",
    ),
    (
        "240 minutes, one of them idle by the transcript",
        |g| {
            g.session().count_turn(TurnTime {
                rest_ended_at: None,
                idle_millis: 60_000,
            });
            g.now = at(START + 240 * MINUTE);
        },
        StopRow::Continue,
        "block",
    ),
    (
        "seven days that the transcript calls idle",
        |g| {
            g.session().count_turn(TurnTime {
                rest_ended_at: None,
                idle_millis: u64::MAX,
            });
            g.now = at(START + 7 * 1_440 * MINUTE);
        },
        StopRow::TimeSpent,
        "expired",
    ),
    (
        "just under 240 minutes",
        |g| g.now = at(START + 240 * MINUTE - 1),
        StopRow::Continue,
        "block",
    ),
    (
        "ten years later",
        |g| g.now = at(START + 10 * YEAR),
        StopRow::TimeSpent,
        "expired",
    ),
    (
        "a time bound that a file has widened",
        |g| {
            g.session().limits.max_minutes = u32::MAX;
            g.now = at(START + 1_440 * MINUTE);
        },
        StopRow::TimeSpent,
        "expired",
    ),
    (
        "no start, an old last block",
        |g| {
            g.session().ulw.started_at = None;
            g.session().ulw.last_stop_at = Some(at(START - YEAR));
        },
        StopRow::TimeSpent,
        "expired",
    ),
    (
        "no start and no block",
        |g| g.session().ulw.started_at = None,
        StopRow::Continue,
        "block",
    ),
    (
        "the clock went back ten years",
        |g| g.now = at(START - 10 * YEAR),
        StopRow::Continue,
        "block",
    ),
    (
        "the clock went back behind the last block",
        |g| g.session().ulw.last_stop_at = Some(at(START + 61 * MINUTE)),
        StopRow::Continue,
        "block",
    ),
    (
        "the clock at the epoch",
        |g| {
            g.session().ulw.last_stop_at = Some(at(START));
            g.now = at(0);
        },
        StopRow::Continue,
        "block",
    ),
    (
        "the same failure sent once",
        |g| g.same_failure_sent = 1,
        StopRow::Continue,
        "block",
    ),
    (
        "the same failure sent twice",
        |g| g.same_failure_sent = 2,
        StopRow::SameFailure,
        "released",
    ),
    (
        "a second after a block",
        |g| last_block_before(g, 1_000),
        StopRow::Cooldown,
        "warn",
    ),
    (
        "at the very moment of a block",
        |g| last_block_before(g, 0),
        StopRow::Cooldown,
        "warn",
    ),
    (
        "just within the cooldown",
        |g| last_block_before(g, 2_999),
        StopRow::Cooldown,
        "warn",
    ),
    (
        "at the end of the cooldown",
        |g| last_block_before(g, 3_000),
        StopRow::Continue,
        "block",
    ),
    (
        "ten seconds after a block",
        |g| last_block_before(g, 10_000),
        StopRow::Continue,
        "block",
    ),
    (
        "a second after a block, with a tool call",
        |g| {
            last_block_before(g, 1_000);
            g.transcript.tool_called_since_block = true;
        },
        StopRow::Continue,
        "block",
    ),
    (
        "no cooldown",
        |g| {
            last_block_before(g, 0);
            g.session().limits.cooldown_seconds = 0;
        },
        StopRow::Continue,
        "block",
    ),
    (
        "a cooldown that a file has widened",
        |g| {
            g.session().limits.cooldown_seconds = u32::MAX;
            last_block_before(g, 300_000);
        },
        StopRow::Continue,
        "block",
    ),
    ("the first stop", |_| {}, StopRow::Continue, "block"),
    (
        "only finished work in the background",
        |g| {
            g.event
                .background
                .extend(OVER.map(|status| task("a", "subagent", status)));
        },
        StopRow::Continue,
        "block",
    ),
    (
        "a shell that no block has named",
        |g| g.event.background.push(task("a", "shell", "running")),
        StopRow::Continue,
        "block",
    ),
    (
        "a named shell that is over",
        |g| {
            name_and_run(g, "shell");
            g.event
                .background
                .iter_mut()
                .for_each(|task| "killed".clone_into(&mut task.status));
        },
        StopRow::Continue,
        "block",
    ),
];

const OVER: [&str; 4] = ["completed", "failed", "killed", "stopped"];

fn end(session: &mut Session) {
    session.end_run(VerdictKind::Released, "enough".to_owned(), at(START));
}

fn claim_done(given: &mut Given) {
    given.event.claim = Some(Claim::Done);
    given.judgement = Some(ClaimJudgement::NothingToJudgeBy);
}

fn name_and_run(given: &mut Given, kind: &str) {
    given.session().ulw.named_tasks.push("named".to_owned());
    given.event.background.push(task("named", kind, "running"));
}

fn last_block_before(given: &mut Given, millis: i64) {
    given.session().ulw.last_stop_at = Some(at(START + MINUTE - millis));
}

fn spend_all(given: &mut Given) {
    given.session().verification.attempts = 3;
    given.session().ulw.stop_blocks = 8;
    given.now = at(START + 241 * MINUTE);
    given.same_failure_sent = 2;
}

#[test]
fn every_case_reaches_its_row() {
    let mut wrong = Vec::new();
    for (name, change, row, expected) in CASES {
        let decision = given(change);
        if (decision.row, word(&decision)) != (*row, *expected) {
            wrong.push(format!(
                "{name}: row {row:?} {expected}, got {:?} {}",
                decision.row,
                word(&decision)
            ));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_row_has_a_case() {
    for row in StopRow::ALL {
        let reached = row == StopRow::Unreadable || CASES.iter().any(|case| case.2 == row);
        assert!(reached, "{row:?}");
    }
    assert_eq!(
        decide(None, None),
        StopDecision {
            row: StopRow::Unreadable,
            action: StopAction::Allow
        }
    );
    let numbers: Vec<u8> = StopRow::ALL.iter().map(|row| row.number()).collect();
    assert_eq!(numbers, (1..=15).collect::<Vec<u8>>());
}

type Matcher = (StopRow, fn(&mut Given));

/// The rows from 2 to 14.
const TRIGGERS: [Matcher; 13] = [
    (StopRow::Subagent, |g| g.event.from_subagent = true),
    (StopRow::NoRun, |g| g.session().ulw.enabled = false),
    (StopRow::StopContinuation, |g| {
        g.session().stop_continuation.disabled = true;
    }),
    (StopRow::InputWaiting, |g| g.transcript.input_waiting = true),
    (StopRow::BackgroundWork, |g| g.event.wakeup_scheduled = true),
    (StopRow::PlanOrPaused, |g| g.event.plan_mode = true),
    (StopRow::SaidBlocked, |g| {
        g.event.claim = Some(blocked("no access"));
    }),
    (StopRow::ClaimJudged, |g| {
        g.judgement = Some(ClaimJudgement::Verified);
    }),
    (StopRow::AttemptsSpent, |g| {
        g.session().verification.attempts = 3;
    }),
    (StopRow::BlocksSpent, |g| g.session().ulw.stop_blocks = 8),
    (StopRow::TimeSpent, |g| {
        g.session().ulw.started_at = Some(at(START - 240 * MINUTE));
    }),
    (StopRow::SameFailure, |g| g.same_failure_sent = 2),
    (StopRow::Cooldown, |g| last_block_before(g, 1_000)),
];

#[test]
fn of_all_rows_that_match_the_first_wins() {
    for choice in 0..(1_u32 << TRIGGERS.len()) {
        let chosen = TRIGGERS
            .iter()
            .enumerate()
            .filter(|(bit, _)| choice & (1 << bit) != 0)
            .map(|(_, trigger)| trigger);
        let mut given = Given::armed();
        chosen.clone().for_each(|(_, change)| change(&mut given));
        let first = chosen
            .map(|(row, _)| *row)
            .min()
            .unwrap_or(StopRow::Continue);
        assert_eq!(given.decide().row, first, "{choice:b}");
    }
}
