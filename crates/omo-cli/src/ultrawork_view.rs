//! [`RunView`] of an ultrawork run, built here alone, from its session and kept texts.

mod session_lane;

use omo_core::check::counterfactual::Counterfactual;
use omo_core::check::session_check::{Check, CheckVerdict};
use omo_core::log_entry::{ClaimEnd, LogEntry, LoggedClaim};
use omo_core::messages::run_end::headline;
use omo_core::review::{REVIEWER, ReviewVerdict};
use omo_core::session::claim_state::VerificationPhase;
use omo_core::session::{PauseReason, Session, VerdictKind};
use omo_core::stop::allowed_blocks;
use omo_core::text::{format_age, sanitize};
use omo_core::timestamp::Timestamp;
use omo_engine::report::ultraplan::short_commit;
use omo_engine::view::session_bounds;
use omo_engine::view::words::tree_name;
use omo_view::run_view::{
    AttemptView, Bound, CheckState, CheckView, Lane, Mark, MarkKind, QuestionView, ReviewEnd,
    ReviewView, RunEnd, RunView, Span, SpanKind, Standing, Subject, TaskView, Timeline,
    UnprovedView, WeakeningView,
};

use crate::kept_texts::{KEPT_TEXTS, KeptTexts};
use crate::ultrawork_view::session_lane::session_lane;

const LOG_LINES: usize = 40;

pub(crate) struct UltraworkFacts<'a> {
    pub id: &'a str,
    pub session: &'a Session,
    pub kept: &'a KeptTexts,
    /// Change of the run as a reviewer reads it, or why it cannot be shown; `None` where it was not looked for.
    pub difference: Option<Result<String, String>>,
    pub counterfactual: Counterfactual,
    pub client_block_cap: Option<u32>,
    pub running_check: Option<&'a (String, String)>,
    pub clock: &'a dyn Fn(Timestamp) -> String,
    pub is_client_gone: bool,
    pub now: Timestamp,
}

pub(crate) fn ultrawork_view(facts: &UltraworkFacts<'_>) -> RunView {
    let (session, kept) = (facts.session, facts.kept);
    let task = session.ulw.full_task().unwrap_or_default();
    let first_line = task
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("An ultrawork run")
        .trim();
    let request: Vec<&str> = std::iter::once(task)
        .chain(session.ulw.asked_later.iter().map(String::as_str))
        .collect();
    let end = run_end(facts);
    RunView {
        run: facts.id.to_owned(),
        title: first_line.to_owned(),
        heading: heading(facts),
        opened_at: began(facts),
        updated_at: ended(facts),
        tasks: vec![claim(facts, first_line)],
        final_checks: session
            .checks
            .iter()
            .map(|check| check_view(check, facts))
            .collect(),
        not_verified: kept
            .faults
            .iter()
            .map(|fault| UnprovedView {
                task: None,
                reason: fault.clone(),
            })
            .collect(),
        questions: pause(session).into_iter().collect(),
        subject: Subject::Ultrawork,
        end,
        is_complete: end == RunEnd::Complete,
        task_word: "task",
        ended_at: session.verdict.as_ref().map(|verdict| verdict.at),
        facts: identifying_facts(facts),
        request: if request.len() == 1 && first_line == task {
            String::new()
        } else {
            request.join("\n\n")
        },
        reviews: reviews(session),
        weakened: session
            .weakened
            .iter()
            .map(|change| WeakeningView {
                at: Some(change.at),
                by: change.by.word().to_owned(),
                what: change.what.clone(),
            })
            .collect(),
        bounds: bounds(facts),
        notes: notes(facts),
        next_steps: next_steps(facts),
        timeline: timeline(facts),
        ..RunView::default()
    }
}

/// The claim as a task, each time it was made as an attempt.
fn claim(facts: &UltraworkFacts<'_>, title: &str) -> TaskView {
    let session = facts.session;
    // A list of the files comes first.
    let difference = facts
        .difference
        .as_ref()
        .and_then(|known| known.as_deref().ok())
        .unwrap_or_default();
    let (files, diff) = difference.split_once("\n\n").unwrap_or((difference, ""));
    TaskView {
        id: "claim".to_owned(),
        title: title.to_owned(),
        standing: match session.verdict.as_ref().map(|verdict| verdict.kind) {
            None => Standing::Running,
            Some(VerdictKind::Verified) if facts.kept.faults.is_empty() => Standing::Passed,
            Some(VerdictKind::Blocked) => Standing::Blocked,
            Some(VerdictKind::Verified | VerdictKind::Released | VerdictKind::Expired) => {
                Standing::Unproved
            }
            Some(VerdictKind::Stopped) => Standing::Interrupted,
        },
        history: claim_attempts(facts),
        evidence: difference_note(facts).unwrap_or_default(),
        proved_by: proof_source(session).filter(|_| facts.kept.faults.is_empty()),
        files: files.lines().map(str::to_owned).collect(),
        diff: diff.to_owned(),
        ..TaskView::default()
    }
}

/// Note on the difference: only that of a proved run was kept.
fn difference_note(facts: &UltraworkFacts<'_>) -> Option<String> {
    let verdict = facts.session.verdict.as_ref();
    match facts.difference.as_ref()? {
        Err(why) => Some(format!("What the run changed cannot be shown: {why}")),
        Ok(_) if verdict.is_some_and(|verdict| verdict.kind != VerdictKind::Verified) => Some(
            "The difference is that of the files as they are now, and not as they were when the run ended".to_owned(),
        ),
        Ok(_) => None,
    }
}

fn proof_source(session: &Session) -> Option<String> {
    let is_verified = session
        .verdict
        .as_ref()
        .is_some_and(|verdict| verdict.kind == VerdictKind::Verified);
    let source = match (session.checks.is_empty(), is_agreed(session)) {
        (true, false) => return None,
        (true, true) => "the review above",
        (false, true) => "the checks and the review above",
        (false, false) => "the checks above",
    };
    is_verified.then(|| source.to_owned())
}

fn claim_attempts(facts: &UltraworkFacts<'_>) -> Vec<AttemptView> {
    let mut since = began(facts);
    let mut attempts = Vec::new();
    for (entry, claim) in claims(facts) {
        let end = match claim.end {
            ClaimEnd::Verified => "passed",
            ClaimEnd::Failed => "failed",
            ClaimEnd::ReviewAsked => "claimed",
        };
        let not_green = claim
            .checks
            .iter()
            .filter(|check| check.verdict != CheckVerdict::Green);
        let not_green: Vec<String> = not_green
            .map(|check| format!("{}: {}", check.name, check.verdict.word()))
            .collect();
        let why = if end == "passed" {
            ""
        } else {
            entry.why.as_str()
        };
        let why = if not_green.is_empty() {
            why.to_owned()
        } else {
            format!("{why} ({})", not_green.join(", "))
        };
        attempts.push(AttemptView {
            since,
            until: Some(entry.at),
            end: Some(end),
            why,
        });
        since = entry.at;
    }
    attempts
}

fn claims<'a>(
    facts: &'a UltraworkFacts<'_>,
) -> impl Iterator<Item = (&'a LogEntry, &'a LoggedClaim)> {
    run_entries(facts).filter_map(|entry| Some((entry, entry.claim.as_ref()?)))
}

/// Decisions in the session while the run was on.
fn run_entries<'a>(facts: &'a UltraworkFacts<'_>) -> impl Iterator<Item = &'a LogEntry> {
    let (id, began, until) = (facts.id, began(facts), ended(facts));
    facts
        .kept
        .decisions
        .iter()
        .filter(move |entry| entry.session == id && entry.at >= began && entry.at <= until)
}

fn began(facts: &UltraworkFacts<'_>) -> Timestamp {
    let ulw = &facts.session.ulw;
    ulw.started_at
        .or(ulw.last_stop_at)
        .unwrap_or(ended(facts))
        .min(ended(facts))
}

/// Time of the end; `now` for an open run.
fn ended(facts: &UltraworkFacts<'_>) -> Timestamp {
    facts
        .session
        .verdict
        .as_ref()
        .map_or(facts.now, |verdict| verdict.at)
}

fn next_steps(facts: &UltraworkFacts<'_>) -> Vec<String> {
    let (id, session) = (facts.id, facts.session);
    let go_on = "type `ulw` to go on with the task";
    let step = match session.verdict.as_ref().map(|verdict| verdict.kind) {
        None if session.is_armed() => {
            format!("`omo watch --session {id}` shows the run; `omo stop --session {id}` ends it")
        }
        Some(VerdictKind::Verified) => "`ulw <task>` in a session begins another run".to_owned(),
        Some(VerdictKind::Blocked) => {
            format!("Remove what is in the way; then, in `claude --resume {id}`, {go_on}")
        }
        Some(VerdictKind::Released | VerdictKind::Expired) => {
            format!("In `claude --resume {id}`, {go_on}")
        }
        None | Some(VerdictKind::Stopped) => {
            format!("In `claude --resume {id}`, {go_on}, or `ulw <task>` for another")
        }
    };
    vec![step]
}

fn heading(facts: &UltraworkFacts<'_>) -> String {
    let session = facts.session;
    match &session.verdict {
        Some(verdict) => facts.kept.sentence(session, verdict),
        None if session.ulw.paused.is_some() => "Waiting for you".to_owned(),
        None if session.is_armed() && facts.is_client_gone => {
            format!(
                "On, and its client has exited: `claude --resume {}` goes on",
                facts.id
            )
        }
        None if session.is_armed() => format!("On: {}", phase_words(session)),
        None => "Off".to_owned(),
    }
}

fn phase_words(session: &Session) -> String {
    let rest = session
        .ulw
        .rest
        .as_ref()
        .filter(|rest| rest.since.is_some());
    let words = match (session.verification.phase, rest) {
        (VerificationPhase::Checks, _) => "the checks of a claim run",
        (VerificationPhase::Verified, _) => "verified",
        (_, Some(rest)) => {
            return rest.awaited_words().map_or_else(
                || "idle, its turn has ended; your next prompt goes on".to_owned(),
                |what| format!("waits for {}", sanitize(&what, 300)),
            );
        }
        (VerificationPhase::Working, None) => "the session works",
        (VerificationPhase::Review, None) => "a claim waits for its review",
    };
    words.to_owned()
}

fn run_end(facts: &UltraworkFacts<'_>) -> RunEnd {
    let session = facts.session;
    match session.verdict.as_ref().map(|verdict| verdict.kind) {
        None if session.ulw.paused.is_some() => RunEnd::Waiting,
        None if session.is_armed() => RunEnd::Running,
        Some(VerdictKind::Verified) if facts.kept.faults.is_empty() => RunEnd::Complete,
        Some(
            VerdictKind::Verified
            | VerdictKind::Blocked
            | VerdictKind::Released
            | VerdictKind::Expired,
        ) => RunEnd::Incomplete,
        None | Some(VerdictKind::Stopped) => RunEnd::Cancelled,
    }
}

fn pause(session: &Session) -> Option<QuestionView> {
    let why = match session.ulw.paused.as_ref()?.reason {
        PauseReason::Interrupted => "You pressed Esc: the run waits for you.",
        PauseReason::TokensSpent => "Its tokens are used: the run waits for you.",
        PauseReason::Asked => "You said to stop: the run waits for you.",
        PauseReason::ApiError => {
            "An error of the API that only a person can fix: the run waits for you."
        }
    };
    Some(QuestionView {
        id: String::new(),
        question: format!("{why}\nTo go on, type `ulw` in the session."),
        options: Vec::new(),
        answer: None,
        is_withdrawn: false,
        by: None,
        at: None,
        is_open: true,
        option_texts: Vec::new(),
        ways_out: Vec::new(),
    })
}

fn bounds(facts: &UltraworkFacts<'_>) -> Vec<Bound> {
    let session = facts.session;
    let mut bounds = session_bounds(session, facts.client_block_cap, facts.now);
    if !bounds.is_empty() && session.verification.attempts > 0 {
        bounds.push(Bound::Words(format!(
            "{} of {} claims failed",
            session.verification.attempts,
            session.max_attempts()
        )));
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
        let objection = review
            .objections
            .lines()
            .find(|line| !line.trim().is_empty());
        format!(
            "the review {word}{}",
            objection
                .map(|objection| format!(": {objection}"))
                .unwrap_or_default()
        )
    }));
    notes.extend(
        session
            .weakened
            .iter()
            .map(|change| format!("weakened since it began: {}", change.what)),
    );
    notes.extend(facts.kept.note.map(|note| format!("{KEPT_TEXTS}: {note}")));
    notes.extend(facts.kept.decisions.last().map(|entry| {
        let age = format_age(Some(entry.at), facts.now);
        format!(
            "last decision: {} on {}, {}, {age} ago",
            entry.decision_words(),
            entry.event,
            entry.why
        )
    }));
    notes
}

fn identifying_facts(facts: &UltraworkFacts<'_>) -> Vec<(&'static str, String)> {
    let session = facts.session;
    let allowed = allowed_blocks(session, facts.client_block_cap);
    let mut rows = vec![
        ("session", facts.id.to_owned()),
        (
            "begun",
            session.ulw.started_at.map(facts.clock).unwrap_or_default(),
        ),
        (
            "continuations",
            format!("{} of {allowed}", session.ulw.stop_blocks),
        ),
    ];
    let verification = &session.verification;
    if verification.attempts > 0 {
        rows.push((
            "failed claims",
            format!("{} of {}", verification.attempts, session.max_attempts()),
        ));
    }
    if !verification.review_wanted {
        rows.push(("review", "none was wanted".to_owned()));
    }
    rows.extend(facts.counterfactual.words().rows());
    rows.extend(
        session
            .ulw
            .base
            .as_deref()
            .map(|base| ("base", short_commit(base).to_owned())),
    );
    rows.extend(facts.kept.note.map(|note| (KEPT_TEXTS, note.to_owned())));
    let verdict = session
        .verdict
        .as_ref()
        .filter(|_| !facts.kept.faults.is_empty());
    rows.extend(verdict.map(|verdict| ("ended as", headline(session, verdict))));
    rows
}

fn check_view(check: &Check, facts: &UltraworkFacts<'_>) -> CheckView {
    let command = check.command.clone();
    if let Some((_, line)) = facts.running_check.filter(|(name, _)| *name == check.name) {
        return CheckView {
            command,
            state: CheckState::Running,
            output: vec![line.clone()],
            ..CheckView::default()
        };
    }
    let Some(last) = &check.last else {
        return CheckView {
            command,
            ..CheckView::default()
        };
    };
    let kept = facts.kept;
    // A lost text is not shown in part.
    let last_line = if kept.note.is_none() {
        last.last_line.as_str()
    } else {
        ""
    };
    let log = kept.logs.get(&check.name).map_or(last_line, String::as_str);
    let lines: Vec<String> = log.lines().map(str::to_owned).collect();
    CheckView {
        command,
        verdict: Some(last.verdict.word()),
        detail: last.detail.clone()
            + &last
                .counts
                .map(|counts| format!(" ({counts})"))
                .unwrap_or_default(),
        exit: None,
        duration_millis: Some(last.took_millis),
        state: check_state(last.verdict, is_green_without(check, facts)),
        tree: last.tree.as_deref().map(tree_name),
        output: lines
            .iter()
            .skip(lines.len().saturating_sub(LOG_LINES))
            .cloned()
            .collect(),
        log: None,
    }
}

/// `true` for a check that is also green without the change, unless a review has judged that.
fn is_green_without(check: &Check, facts: &UltraworkFacts<'_>) -> bool {
    let Counterfactual::Known(known) = &facts.counterfactual else {
        return false;
    };
    let is_green = known.iter().any(|known_check| {
        known_check.name == check.name
            && known_check.without.shows_change(&known_check.hollow) == Some(false)
    });
    is_green && !is_agreed(facts.session)
}

fn is_agreed(session: &Session) -> bool {
    session
        .verification
        .review
        .as_ref()
        .is_some_and(|review| review.verdict == ReviewVerdict::Verified)
}

fn check_state(verdict: CheckVerdict, is_green_without: bool) -> CheckState {
    match verdict {
        CheckVerdict::Green if is_green_without => CheckState::AlreadyGreen,
        CheckVerdict::Green => CheckState::Green,
        CheckVerdict::Failed | CheckVerdict::TimedOut => CheckState::Red,
        CheckVerdict::NothingRan | CheckVerdict::NotApproved | CheckVerdict::NotStarted => {
            CheckState::Unusable
        }
    }
}

/// The remembered rejections, then the last review.
fn reviews(session: &Session) -> Vec<ReviewView> {
    let verification = &session.verification;
    let last = verification.review.as_ref();
    let earlier = verification.rejections.iter().filter(|rejection| {
        last.is_none_or(|last| !last.objections.starts_with(&rejection.objections))
    });
    let mut reviews: Vec<ReviewView> = earlier
        .map(|rejection| {
            review_view(
                ReviewEnd::Rejected,
                None,
                rejection.tree.as_deref(),
                &rejection.objections,
            )
        })
        .collect();
    if let Some(last) = last {
        let verdict = match last.verdict {
            ReviewVerdict::Verified => ReviewEnd::Agreed,
            ReviewVerdict::Rejected => ReviewEnd::Rejected,
            ReviewVerdict::Unclear => ReviewEnd::Unclear,
        };
        let tree = verification
            .requested_review
            .as_ref()
            .and_then(|asked| asked.tree.as_deref());
        reviews.push(review_view(verdict, last.at, tree, &last.objections));
    } else if verification.review_wanted && session.verdict.is_some() {
        reviews.push(review_view(ReviewEnd::Missing, None, None, ""));
    }
    reviews
}

fn review_view(
    verdict: ReviewEnd,
    at: Option<Timestamp>,
    tree: Option<&str>,
    words: &str,
) -> ReviewView {
    ReviewView {
        reviewer: REVIEWER.to_owned(),
        verdict,
        at,
        tree: tree.map(tree_name),
        words: words.to_owned(),
    }
}

/// Turns, idle time and continuations from the log, checks, and review.
fn timeline(facts: &UltraworkFacts<'_>) -> Timeline {
    let (began, until) = (began(facts), ended(facts));
    let session = session_lane(run_entries(facts), began, facts.session);
    let lanes = [session, check_lane(facts), review_lane(facts.session)]
        .into_iter()
        .filter(|lane| !(lane.spans.is_empty() && lane.marks.is_empty()));
    Timeline {
        began,
        until,
        lanes: lanes.collect(),
    }
}

/// Each check at each claim, and its last result where different.
fn check_lane(facts: &UltraworkFacts<'_>) -> Lane {
    let mut marks: Vec<Mark> = Vec::new();
    for (entry, claim) in claims(facts) {
        marks.extend(claim.checks.iter().map(|check| {
            let label = format!("{}: {}", check.name, check.verdict.word());
            check_mark(entry.at, check.verdict, label)
        }));
    }
    let last_claim = claims(facts).last().map(|(entry, _)| entry.at);
    let later = facts.session.checks.iter().filter_map(|check| {
        let last = check.last.as_ref()?;
        let at = last
            .at
            .filter(|at| last_claim.is_none_or(|claim| *at > claim))?;
        Some(check_mark(at, last.verdict, check.command.clone()))
    });
    marks.extend(later);
    Lane {
        name: "checks".to_owned(),
        spans: Vec::new(),
        marks,
    }
}

fn check_mark(at: Timestamp, verdict: CheckVerdict, label: String) -> Mark {
    let kind = if verdict == CheckVerdict::Green {
        MarkKind::Green
    } else {
        MarkKind::Red
    };
    Mark { at, kind, label }
}

fn review_lane(session: &Session) -> Lane {
    let verification = &session.verification;
    let asked = verification
        .requested_review
        .as_ref()
        .and_then(|asked| asked.at);
    let until = verification.review.as_ref().and_then(|review| review.at);
    let span = asked.map(|from| Span {
        from,
        until: until.filter(|until| *until >= from),
        kind: SpanKind::Review,
        label: REVIEWER.to_owned(),
    });
    Lane {
        name: "review".to_owned(),
        spans: span.into_iter().collect(),
        marks: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
