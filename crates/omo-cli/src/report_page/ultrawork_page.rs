//! The page of an ultrawork run.

use omo_core::check::counterfactual::{CheckCounterfactual, Counterfactual};
use omo_core::check::session_check::{Check, CheckVerdict};
use omo_core::log_entry::{ClaimEnd, LogEntry, LoggedCheck, LoggedClaim};
use omo_core::messages::run_end::headline;
use omo_core::review::{REVIEWER, ReviewVerdict};
use omo_core::session::{Session, VerdictKind};
use omo_core::timestamp::Timestamp;
use omo_engine::report::ultraplan::short_commit;
use omo_report_page::model::{
    Attempt, Card, CheckResult, CheckState, Lane, Mark, MarkKind, Page, Review, ReviewEnd, RunEnd, Span, SpanKind,
    Standing, Subject, Timeline, Unproved, Weakening,
};

use crate::kept_texts::{KEPT_TEXTS, KeptTexts};
use crate::report_page::tree_name;

/// So many lines of what a check printed are taken, from its end.
const LOG_LINES: usize = 40;

/// What is known of an ultrawork run.
pub(crate) struct UltraworkRecord<'a> {
    /// Its session.
    pub id: &'a str,
    /// What is kept of it.
    pub session: &'a Session,
    /// What its checks printed, and what was decided in the session.
    pub kept: &'a KeptTexts,
    /// What the run changed, as a reviewer reads it, or why it cannot be shown.
    pub difference: Result<String, String>,
    /// What its checks say without the change.
    pub counterfactual: Counterfactual,
    /// How many continuations it may have.
    pub allowed_blocks: u32,
    /// When it began, as its reader's clock shows it.
    pub began: String,
    /// Now.
    pub now: Timestamp,
    /// The same as its reader's clock shows it.
    pub time_of_day: String,
}

/// The page of an ultrawork run.
pub(crate) fn ultrawork_page(record: &UltraworkRecord<'_>) -> Page {
    let session = record.session;
    let task = session.ulw.full_task().unwrap_or_default();
    let first_line = task.lines().find(|line| !line.trim().is_empty()).unwrap_or("An ultrawork run");
    let request: Vec<&str> = std::iter::once(task).chain(session.ulw.asked_later.iter().map(String::as_str)).collect();
    let faults = record.kept.faults.iter().cloned();
    Page {
        title: first_line.trim().to_owned(),
        subject: Subject::Ultrawork,
        sentence: sentence(record),
        end: run_end(session),
        as_of: if session.verdict.is_none() { record.time_of_day.clone() } else { String::new() },
        facts: facts(record),
        request: if request.len() == 1 && first_line == task { String::new() } else { request.join("\n\n") },
        checks: session.checks.iter().map(|check| check_result(check, record)).collect(),
        reviews: reviews(session),
        unproved: faults.map(|reason| Unproved { task: None, reason }).collect(),
        weakened: session
            .weakened
            .iter()
            .map(|change| Weakening { at: Some(change.at), by: change.by.word().to_owned(), what: change.what.clone() })
            .collect(),
        findings: Vec::new(),
        next_steps: Vec::new(),
        timeline: timeline(record),
        cards: vec![claim_card(record, first_line)],
    }
}

/// The card of what was claimed, with every claim as an attempt.
fn claim_card(record: &UltraworkRecord<'_>, title: &str) -> Card {
    let session = record.session;
    let attempts = claim_attempts(record);
    // A list of the files comes first.
    let difference = record.difference.as_deref().unwrap_or_default();
    let (files, diff) = difference.split_once("\n\n").unwrap_or((difference, ""));
    Card {
        id: "claim".to_owned(),
        title: title.trim().to_owned(),
        standing: match session.verdict.as_ref().map(|verdict| verdict.kind) {
            None => Standing::Running,
            Some(VerdictKind::Verified) if record.kept.faults.is_empty() => Standing::Passed,
            Some(VerdictKind::Blocked) => Standing::Blocked,
            Some(VerdictKind::Verified | VerdictKind::Released | VerdictKind::Expired) => Standing::Unproved,
            Some(VerdictKind::Stopped) => Standing::Interrupted,
        },
        goal: String::new(),
        needs: Vec::new(),
        proved_by: proof_source(session).filter(|_| record.kept.faults.is_empty()),
        attempts,
        checks: Vec::new(),
        evidence: difference_note(record).into_iter().collect(),
        files: files.lines().map(str::to_owned).collect(),
        out_of_scope: Vec::new(),
        diff: diff.to_owned(),
        note: String::new(),
    }
}

/// What is to be known of the difference: only that of a proved run was kept as it was then.
fn difference_note(record: &UltraworkRecord<'_>) -> Option<String> {
    let verdict = record.session.verdict.as_ref();
    match &record.difference {
        Err(why) => Some(format!("What the run changed cannot be shown: {why}")),
        Ok(_) if verdict.is_some_and(|verdict| verdict.kind != VerdictKind::Verified) => Some(
            "The difference is that of the files as they are now, and not as they were when the run ended".to_owned(),
        ),
        Ok(_) => None,
    }
}

/// What stands above the card on the page and has judged the claim.
fn proof_source(session: &Session) -> Option<String> {
    let is_verified = session.verdict.as_ref().is_some_and(|verdict| verdict.kind == VerdictKind::Verified);
    let source = match (session.checks.is_empty(), is_agreed(session)) {
        (true, false) => return None,
        (true, true) => "the review above",
        (false, true) => "the checks and the review above",
        (false, false) => "the checks above",
    };
    is_verified.then(|| source.to_owned())
}

fn claim_attempts(record: &UltraworkRecord<'_>) -> Vec<Attempt> {
    let mut from = began(record);
    let mut attempts = Vec::new();
    for (entry, claim) in claims(record) {
        let end = match claim.end {
            ClaimEnd::Verified => Standing::Passed,
            ClaimEnd::Failed => Standing::Failed,
            ClaimEnd::ReviewAsked => Standing::Claimed,
        };
        let not_green = claim.checks.iter().filter(|check| check.verdict != CheckVerdict::Green);
        let not_green: Vec<String> =
            not_green.map(|check| format!("{}: {}", check.name, check.verdict.word())).collect();
        let why = if end == Standing::Passed { "" } else { entry.why.as_str() };
        let why = if not_green.is_empty() { why.to_owned() } else { format!("{why} ({})", not_green.join(", ")) };
        attempts.push(Attempt { from, until: Some(entry.at), end, why });
        from = entry.at;
    }
    attempts
}

/// The claims of the run, in their order.
fn claims<'a>(record: &'a UltraworkRecord<'_>) -> impl Iterator<Item = (&'a LogEntry, &'a LoggedClaim)> {
    run_entries(record).filter_map(|entry| Some((entry, entry.claim.as_ref()?)))
}

/// What was decided in the session while the run was on.
fn run_entries<'a>(record: &'a UltraworkRecord<'_>) -> impl Iterator<Item = &'a LogEntry> {
    let (id, began, until) = (record.id, began(record), ended(record));
    record.kept.decisions.iter().filter(move |entry| entry.session == id && entry.at >= began && entry.at <= until)
}

fn began(record: &UltraworkRecord<'_>) -> Timestamp {
    let ulw = &record.session.ulw;
    ulw.started_at.or(ulw.last_stop_at).unwrap_or(ended(record)).min(ended(record))
}

/// When the run ended; while it goes on, now.
fn ended(record: &UltraworkRecord<'_>) -> Timestamp {
    record.session.verdict.as_ref().map_or(record.now, |verdict| verdict.at)
}

fn sentence(record: &UltraworkRecord<'_>) -> String {
    let session = record.session;
    match &session.verdict {
        Some(verdict) => record.kept.sentence(session, verdict),
        None if session.ulw.paused.is_some() => "It waits for you".to_owned(),
        None => "This run has not ended".to_owned(),
    }
}

fn run_end(session: &Session) -> RunEnd {
    match session.verdict.as_ref().map(|verdict| verdict.kind) {
        None if session.ulw.paused.is_some() => RunEnd::Waiting,
        None => RunEnd::Running,
        Some(VerdictKind::Verified) => RunEnd::Finished,
        Some(VerdictKind::Blocked | VerdictKind::Released | VerdictKind::Expired) => RunEnd::Unfinished,
        Some(VerdictKind::Stopped) => RunEnd::Stopped,
    }
}

fn facts(record: &UltraworkRecord<'_>) -> Vec<(String, String)> {
    let session = record.session;
    let mut facts = vec![
        ("session", record.id.to_owned()),
        ("begun", record.began.clone()),
        ("continuations", format!("{} of {}", session.ulw.stop_blocks, record.allowed_blocks)),
    ];
    let verification = &session.verification;
    if verification.attempts > 0 {
        facts.push(("failed verifications", format!("{} of {}", verification.attempts, verification.max_attempts)));
    }
    if !verification.review_wanted {
        facts.push(("review", "none was wanted".to_owned()));
    }
    facts.extend(record.counterfactual.words().rows());
    facts.extend(session.ulw.base.as_deref().map(|base| ("base", short_commit(base).to_owned())));
    facts.extend(record.kept.note.map(|note| (KEPT_TEXTS, note.to_owned())));
    let verdict = session.verdict.as_ref().filter(|_| !record.kept.faults.is_empty());
    facts.extend(verdict.map(|verdict| ("ended as", headline(session, verdict))));
    facts.into_iter().map(|(label, value)| (label.to_owned(), value)).collect()
}

fn check_result(check: &Check, record: &UltraworkRecord<'_>) -> CheckResult {
    let last = check.last.as_ref();
    let lines: Vec<&str> = record.kept.logs.get(&check.name).map(|log| log.lines().collect()).unwrap_or_default();
    let counts = last.and_then(|last| last.counts).map(|counts| format!(" ({counts})")).unwrap_or_default();
    CheckResult {
        command: check.command.clone(),
        state: last.map_or(CheckState::NotRun, |last| check_state(last.verdict, is_green_without(check, record))),
        detail: last.map(|last| format!("{}{counts}", last.detail)).unwrap_or_default(),
        exit: None,
        millis: last.map(|last| last.took_millis),
        tree: last.and_then(|last| last.tree.as_deref().map(tree_name)),
        output: lines.iter().skip(lines.len().saturating_sub(LOG_LINES)).map(|line| (*line).to_owned()).collect(),
    }
}

/// Whether a check is green without the change, too, and no review has judged that.
fn is_green_without(check: &Check, record: &UltraworkRecord<'_>) -> bool {
    let Counterfactual::Known(known) = &record.counterfactual else { return false };
    let shows_nothing = |it: &CheckCounterfactual| it.without.shows_change(&it.hollow) == Some(false);
    let is_green = known.iter().any(|it| it.name == check.name && shows_nothing(it));
    is_green && !is_agreed(record.session)
}

fn is_agreed(session: &Session) -> bool {
    session.verification.review.as_ref().is_some_and(|review| review.verdict == ReviewVerdict::Verified)
}

fn check_state(verdict: CheckVerdict, is_green_without: bool) -> CheckState {
    match verdict {
        CheckVerdict::Green if is_green_without => CheckState::AlreadyGreen,
        CheckVerdict::Green => CheckState::Green,
        CheckVerdict::Failed | CheckVerdict::TimedOut => CheckState::Red,
        CheckVerdict::NothingRan | CheckVerdict::NotApproved | CheckVerdict::NotStarted => CheckState::Unusable,
    }
}

/// What reviews said: the rejections that are remembered, then the last review.
fn reviews(session: &Session) -> Vec<Review> {
    let verification = &session.verification;
    let review = |verdict, at, tree: Option<String>, words: &str| Review {
        reviewer: REVIEWER.to_owned(),
        verdict,
        at,
        tree: tree.as_deref().map(tree_name),
        words: words.to_owned(),
    };
    let last = verification.review.as_ref();
    let is_last = |objections: &str| last.is_some_and(|last| last.objections.starts_with(objections));
    let earlier = verification.rejections.iter().filter(|rejection| !is_last(&rejection.objections));
    let mut reviews: Vec<Review> = earlier
        .map(|rejection| review(ReviewEnd::Rejected, None, rejection.tree.clone(), &rejection.objections))
        .collect();
    if let Some(last) = last {
        let verdict = match last.verdict {
            ReviewVerdict::Verified => ReviewEnd::Agreed,
            ReviewVerdict::Rejected => ReviewEnd::Rejected,
            ReviewVerdict::Unclear => ReviewEnd::Unclear,
        };
        let tree = verification.asked.as_ref().and_then(|asked| asked.tree.clone());
        reviews.push(review(verdict, last.at, tree, &last.objections));
    } else if verification.review_wanted && session.verdict.is_some() {
        reviews.push(review(ReviewEnd::Missing, None, None, ""));
    }
    reviews
}

/// The session's turns and continuations as its log has them, its checks, and its review.
fn timeline(record: &UltraworkRecord<'_>) -> Timeline {
    let session = record.session;
    let (began, until) = (began(record), ended(record));
    let mut own = Lane { name: "session".to_owned(), ..Lane::default() };
    let mut turn_began = Some(began);
    for entry in run_entries(record) {
        let label = format!("{}: {}", entry.decision, entry.why);
        match entry.event.as_str() {
            "Stop" => {
                if let Some(from) = turn_began.take() {
                    own.spans.push(Span {
                        from,
                        until: Some(entry.at),
                        kind: SpanKind::Turn,
                        label: "turn".to_owned(),
                    });
                }
                let goes_on = entry.decision == "block";
                turn_began = goes_on.then_some(entry.at);
                let kind = if goes_on { MarkKind::Continuation } else { MarkKind::Review };
                own.marks.push(Mark { at: entry.at, kind, label });
            }
            "UserPromptSubmit" => {
                turn_began = turn_began.or(Some(entry.at));
                own.marks.push(Mark { at: entry.at, kind: MarkKind::Person, label });
            }
            _ => {}
        }
    }
    if let (Some(from), None) = (turn_began, &session.verdict) {
        own.spans.push(Span { from, until: None, kind: SpanKind::Turn, label: "turn".to_owned() });
    }
    let lanes = [own, check_lane(record), review_lane(session)];
    let has_any = |lane: &Lane| !(lane.spans.is_empty() && lane.marks.is_empty());
    Timeline { began, until, lanes: lanes.into_iter().filter(has_any).collect() }
}

/// Each check at each claim, and its last result where that is another one.
fn check_lane(record: &UltraworkRecord<'_>) -> Lane {
    let mark = |at, verdict, label: String| {
        let kind = if verdict == CheckVerdict::Green { MarkKind::Green } else { MarkKind::Red };
        Mark { at, kind, label }
    };
    let at_claim = |entry: &LogEntry, check: &LoggedCheck| {
        mark(entry.at, check.verdict, format!("{}: {}", check.name, check.verdict.word()))
    };
    let mut marks: Vec<Mark> = claims(record)
        .flat_map(|(entry, claim)| claim.checks.iter().map(|check| at_claim(entry, check)).collect::<Vec<_>>())
        .collect();
    let last_claim = claims(record).last().map(|(entry, _)| entry.at);
    let later = record.session.checks.iter().filter_map(|check| {
        let last = check.last.as_ref()?;
        let at = last.at.filter(|at| last_claim.is_none_or(|claim| *at > claim))?;
        Some(mark(at, last.verdict, check.command.clone()))
    });
    marks.extend(later);
    Lane { name: "checks".to_owned(), spans: Vec::new(), marks }
}

/// The last review, from when it was asked for.
fn review_lane(session: &Session) -> Lane {
    let verification = &session.verification;
    let asked = verification.asked.as_ref().and_then(|asked| asked.at);
    let until = verification.review.as_ref().and_then(|review| review.at);
    let span = asked.map(|from| Span {
        from,
        until: until.filter(|until| *until >= from),
        kind: SpanKind::Review,
        label: REVIEWER.to_owned(),
    });
    Lane { name: "review".to_owned(), spans: span.into_iter().collect(), marks: Vec::new() }
}
