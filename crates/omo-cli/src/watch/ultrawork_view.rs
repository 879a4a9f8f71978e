//! What is shown of an ultrawork run that is watched. Pure.

use std::collections::BTreeMap;

use omo_core::check::session_check::{Check, CheckVerdict};
use omo_core::messages::run_end::headline;
use omo_core::review::ReviewVerdict;
use omo_core::session::claim_state::{MAX_ATTEMPTS, VerificationPhase};
use omo_core::session::{PauseReason, Session, VerdictKind};
use omo_core::text::format_age;
use omo_core::timestamp::Timestamp;

use crate::kept_texts::{KEPT_TEXTS, KeptTexts};
use crate::watch::plan_view::session_bounds;
use crate::watch::run_view::{Bound, CheckView, RunStatus, RunView, Tone};

/// What is known of an ultrawork run.
pub(crate) struct UltraworkFacts<'a> {
    /// What is kept of it.
    pub session: &'a Session,
    /// The last line that each check has printed so far, of those that run now, by their names.
    pub running_checks: &'a BTreeMap<String, String>,
    /// What was decided in its session, and what was changed of it since it ended.
    pub kept: &'a KeptTexts,
    /// How often the client lets a Stop be turned into going on.
    pub client_block_cap: Option<u32>,
    /// Now.
    pub now: Timestamp,
}

/// What is shown of it.
pub(crate) fn ultrawork_view(facts: &UltraworkFacts<'_>) -> RunView {
    let session = facts.session;
    let (status, sentence, tone) = standing(facts);
    let task = session.ulw.full_task().unwrap_or_default();
    let title = task.lines().find(|line| !line.trim().is_empty()).unwrap_or("An ultrawork run");
    RunView {
        title: title.to_owned(),
        kind: "ultrawork run".to_owned(),
        status,
        sentence,
        tone,
        began: session.ulw.started_at,
        ended: session.verdict.as_ref().map(|verdict| verdict.at),
        question: question(session),
        workers: Vec::new(),
        tasks: Vec::new(),
        task_word: "task",
        checks: checks(facts),
        bounds: bounds(facts),
        notes: notes(facts),
    }
}

fn standing(facts: &UltraworkFacts<'_>) -> (RunStatus, String, Tone) {
    let session = facts.session;
    match &session.verdict {
        Some(verdict) if !facts.kept.faults.is_empty() => {
            (RunStatus::Ended, facts.kept.sentence(session, verdict), Tone::Bad)
        }
        Some(verdict) => {
            let (status, tone) = match verdict.kind {
                VerdictKind::Verified => (RunStatus::Complete, Tone::Good),
                VerdictKind::Stopped => (RunStatus::Ended, Tone::Attention),
                VerdictKind::Blocked | VerdictKind::Released | VerdictKind::Expired => (RunStatus::Ended, Tone::Bad),
            };
            (status, headline(session, verdict), tone)
        }
        None if session.ulw.paused.is_some() => (RunStatus::Waiting, "Waiting for you".to_owned(), Tone::Attention),
        None if session.is_armed() => (RunStatus::AtWork, format!("On: {}", phase_words(session)), Tone::AtWork),
        None => (RunStatus::Ended, "Off".to_owned(), Tone::Plain),
    }
}

fn phase_words(session: &Session) -> &'static str {
    match session.verification.phase {
        VerificationPhase::Working => "the session works",
        VerificationPhase::Checks => "the checks of a claim run",
        VerificationPhase::Review => "a claim waits for its review",
        VerificationPhase::Verified => "verified",
    }
}

fn question(session: &Session) -> Vec<String> {
    let Some(pause) = &session.ulw.paused else { return Vec::new() };
    let why = match pause.reason {
        PauseReason::Interrupted => "You pressed Esc: the run waits for you.",
        PauseReason::ApiError => "An error of the API that only a person can fix: the run waits for you.",
    };
    vec![why.to_owned(), "To go on, type `ulw` in the session.".to_owned()]
}

fn checks(facts: &UltraworkFacts<'_>) -> Vec<CheckView> {
    let view = |check: &Check| {
        let last = check.last.as_ref();
        let (words, tone, last_line) = match (facts.running_checks.get(&check.name), last) {
            (Some(line), _) => ("runs", Tone::AtWork, line.clone()),
            (None, None) => ("not run yet", Tone::Plain, String::new()),
            (None, Some(last)) => {
                let tone = if last.verdict == CheckVerdict::Green { Tone::Good } else { Tone::Bad };
                let line = if last.last_line.is_empty() { last.detail.clone() } else { last.last_line.clone() };
                (last.verdict.word(), tone, line)
            }
        };
        CheckView { of: String::new(), command: check.command.clone(), words: words.to_owned(), tone, last_line }
    };
    facts.session.checks.iter().map(view).collect()
}

fn bounds(facts: &UltraworkFacts<'_>) -> Vec<Bound> {
    let session = facts.session;
    let mut bounds = session_bounds(session, facts.client_block_cap, facts.now);
    if !bounds.is_empty() && session.verification.attempts > 0 {
        bounds.push(Bound::Words(format!("{} of {MAX_ATTEMPTS} verifications failed", session.verification.attempts)));
    }
    bounds
}

fn notes(facts: &UltraworkFacts<'_>) -> Vec<String> {
    let session = facts.session;
    let mut notes = Vec::new();
    if session.checks.is_empty() {
        notes.push("no check judges this run".to_owned());
    }
    let review = session.verification.review.as_ref();
    notes.extend(review.map(|review| {
        let word = match review.verdict {
            ReviewVerdict::Verified => "agreed",
            ReviewVerdict::Rejected => "rejected the work",
            ReviewVerdict::Unclear => "came to no verdict",
        };
        let said = review.objections.lines().find(|line| !line.trim().is_empty());
        format!("the review {word}{}", said.map(|said| format!(": {said}")).unwrap_or_default())
    }));
    notes.extend(session.weakened.iter().map(|change| format!("weakened since it began: {}", change.what)));
    notes.extend(facts.kept.note.map(|note| format!("{KEPT_TEXTS}: {note}")));
    notes.extend(facts.kept.decisions.last().map(|entry| {
        let age = format_age(Some(entry.at), facts.now);
        format!("last decision: {} on {}, {}, {age} ago", entry.decision, entry.event, entry.why)
    }));
    notes
}
