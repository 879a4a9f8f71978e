//! The message of a run's end: its first line tells the proof or the objection.

use super::check_changes::weakened_lines;
use crate::check::session_check::{Check, CheckVerdict};
use crate::session::{CheckWeakening, Session, UlwVerdict, VerdictKind};
use crate::text::{list_some, pluralize, sanitize};

/// Three lines for the user at most; `None` without an ended run.
pub fn run_ended(session: &Session, allowed_blocks: u32) -> Option<String> {
    run_ended_on_page(session, allowed_blocks, None)
}

const MAX_NAMED_FILES: usize = 8;

/// Files that changed after a verdict; `None` for unknown paths.
pub fn files_changed(paths: Option<&[String]>) -> String {
    let named = paths.filter(|paths| !paths.is_empty()).map(|paths| {
        let names: Vec<String> = paths.iter().map(|path| sanitize(path, 100)).collect();
        let names = list_some(names.iter().map(String::as_str), MAX_NAMED_FILES);
        format!("{} changed since: {names}", pluralize(paths.len(), "file"))
    });
    format!(
        "{}; the verdict is about those before",
        named.as_deref().unwrap_or("files changed since")
    )
}

/// [`run_ended`] with the path of the run's page.
pub fn run_ended_on_page(
    session: &Session,
    allowed_blocks: u32,
    page: Option<&str>,
) -> Option<String> {
    let verdict = session.verdict.as_ref()?;
    let mut spent = vec![format!("{}.", spent(session, verdict, allowed_blocks))];
    let weakened = weakened_lines(&without_repeated_facts(session, &verdict.why), verdict.at);
    if !weakened.is_empty() {
        spent.push(format!("Weakened since it began: {}.", weakened.join("; ")));
    }
    let is_unproved = matches!(verdict.kind, VerdictKind::Released | VerdictKind::Expired);
    if let Some(log) = red_checks(session)
        .find_map(|check| check.last.as_ref()?.log.as_ref())
        .filter(|_| is_unproved)
    {
        spent.push(format!("Log: {}", sanitize(log, 300)));
    }
    let page = (verdict.kind != VerdictKind::Stopped).then(|| page_words(page));
    let next: Vec<String> = what_to_do(session, verdict)
        .map(str::to_owned)
        .into_iter()
        .chain(page)
        .collect();
    let lines = [
        format!("[omo] {}", headline(session, verdict)),
        spent.join(" "),
        next.join(" "),
    ];
    Some(
        lines
            .into_iter()
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>()
            .join("\n"),
    )
}

fn without_repeated_facts(session: &Session, first_line: &str) -> Vec<CheckWeakening> {
    let mut weakened = session.weakened.clone();
    for repeated in weakened.iter_mut().filter(|weakening| {
        weakening
            .what
            .strip_prefix("accepted: ")
            .is_some_and(|fact| first_line.contains(fact))
    }) {
        "accepted as named above".clone_into(&mut repeated.what);
    }
    weakened.dedup_by(|one, other| one.what == other.what && one.at == other.at);
    weakened
}

pub(super) fn page_words(page: Option<&str>) -> String {
    page.map_or_else(
        || "`omo report --html --open` shows it as a page.".to_owned(),
        |page| format!("Page: {page}"),
    )
}

/// `NOT PROVED: sh test.sh is red (expected 5, got -1)`.
pub fn headline(session: &Session, verdict: &UlwVerdict) -> String {
    let why = sanitize(&verdict.why, 700);
    match verdict.kind {
        VerdictKind::Verified if why.starts_with("by ") => format!("verified {why}"),
        VerdictKind::Verified => format!("VERIFIED: {why}"),
        VerdictKind::Blocked => format!("BLOCKED: {why}"),
        VerdictKind::Stopped => format!("STOPPED {why}"),
        VerdictKind::Released | VerdictKind::Expired => {
            format!("NOT PROVED: {}", unproved_reason(session, verdict))
        }
    }
}

fn only_its_user_agrees(check: &Check) -> bool {
    let verdict = check.last.as_ref().map(|last| last.verdict);
    verdict == Some(CheckVerdict::NotApproved)
}

fn red_checks(session: &Session) -> impl Iterator<Item = &Check> {
    session.checks.iter().filter(|check| {
        check
            .last
            .as_ref()
            .is_some_and(|last| last.verdict != CheckVerdict::Green)
    })
}

/// The objection to the work: a red check, then the review, then the missing claim.
fn unproved_reason(session: &Session, verdict: &UlwVerdict) -> String {
    if let Some(objection) = objection(session) {
        return objection;
    }
    if session.is_disowned() || session.verification.claimed_at.is_some() {
        return sanitize(&verdict.why, 320);
    }
    "the work was never claimed to be done".to_owned()
}

/// The first red check with the names of the others, or the objection of the review.
pub(super) fn objection(session: &Session) -> Option<String> {
    let mut red = red_checks(session);
    let Some(first) = red.next() else {
        let failure = session.verification.failure.as_ref();
        return failure.map(|failure| sanitize(&failure.text, 240));
    };
    let others: Vec<String> = red.map(|check| sanitize(&check.command, 80)).collect();
    let more = match others.as_slice() {
        [] => String::new(),
        others => format!("; also {}", list_some(others.iter().map(String::as_str), 3)),
    };
    Some(format!("{}{more}", red_check_words(first)))
}

/// `sh test.sh is red (expected 5, got -1)`.
fn red_check_words(check: &Check) -> String {
    let command = sanitize(&check.command, 80);
    let Some(last) = &check.last else {
        return command;
    };
    let failed = last.counts.filter(|counts| counts.failed > 0);
    let counted = failed.map(|counts| format!("{} of {} tests failed", counts.failed, counts.run));
    let last_line = (!last.last_line.is_empty()).then(|| sanitize(&last.last_line, 160));
    match last.verdict {
        CheckVerdict::Failed => {
            let words: Vec<String> = [counted, last_line].into_iter().flatten().collect();
            let words = if words.is_empty() {
                sanitize(&last.detail, 160)
            } else {
                words.join(": ")
            };
            format!("{command} is red ({words})")
        }
        verdict => format!(
            "{command} {} ({})",
            verdict.word(),
            sanitize(&last.detail, 200)
        ),
    }
}

fn spent(session: &Session, verdict: &UlwVerdict, allowed_blocks: u32) -> String {
    let minutes = session.ulw.worked_millis(verdict.at) / 60_000;
    let time = if minutes == 0 {
        "under a minute".to_owned()
    } else {
        format!("{minutes} min")
    };
    let spent = format!(
        "{} of {allowed_blocks} continuations, {time}",
        session.ulw.stop_blocks
    );
    match verdict.kind {
        VerdictKind::Released | VerdictKind::Expired => {
            let why = sanitize(&verdict.why, 200);
            if unproved_reason(session, verdict) == why {
                spent
            } else if why.contains("continuations") {
                format!("Ended: {why}, {time}")
            } else {
                format!("Ended: {why}; {spent}")
            }
        }
        VerdictKind::Verified | VerdictKind::Blocked | VerdictKind::Stopped => spent,
    }
}

fn what_to_do(session: &Session, verdict: &UlwVerdict) -> Option<&'static str> {
    match verdict.kind {
        VerdictKind::Verified => Some("`omo report --last` shows what proved it."),
        VerdictKind::Stopped => None,
        _ if session.is_disowned() => Some("Look the work over; `ulw <task>` begins a new run."),
        VerdictKind::Released if red_checks(session).any(only_its_user_agrees) => Some(
            "/omo:check approve shows what omo.toml asks for, and approves it; then `ulw` goes on with the task.",
        ),
        VerdictKind::Released if session.verification.waits_for_user() => Some(
            "Look at what changed: /omo:check accept agrees to it, or restore it; then `ulw` goes on with the task.",
        ),
        VerdictKind::Released
            if session.checks.is_empty() && !session.verification.review_wanted =>
        {
            Some("/omo:check add <command> gives it a check; then `ulw` goes on with the task.")
        }
        VerdictKind::Released | VerdictKind::Expired | VerdictKind::Blocked => Some(
            "`ulw` goes on with the task, `ulw <more>` adds to it; `omo report --last` shows all that was found.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::session_check::{CheckOrigin, CheckRecord, TestCounts};
    use crate::session::claim_state::ReportedFailure;
    use crate::timestamp::Timestamp;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_millis(minutes * 60_000)
    }

    fn ended(kind: VerdictKind, why: &str, change: impl FnOnce(&mut Session)) -> String {
        let mut session = Session::default();
        session.ulw.enabled = true;
        session.ulw.started_at = Some(at(1));
        change(&mut session);
        session.end_run(kind, why.to_owned(), at(13));
        run_ended(&session, 8)
            .unwrap()
            .lines()
            .take(2)
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn red(session: &mut Session, change: impl FnOnce(&mut CheckRecord)) {
        let mut check = Check::new(None, "sh test.sh", CheckOrigin::User).unwrap();
        let mut last = CheckRecord {
            detail: "exit status 1".to_owned(),
            ..CheckRecord::default()
        };
        change(&mut last);
        check.last = Some(last);
        session.checks.push(check);
    }

    #[test]
    fn the_last_line_says_where_its_page_is_if_it_has_one() {
        let mut session = Session::default();
        session.ulw.enabled = true;
        session.end_run(VerdictKind::Verified, "1 check green".to_owned(), at(13));
        let last_line = |page| {
            run_ended_on_page(&session, 8, page)
                .unwrap()
                .lines()
                .nth(2)
                .unwrap()
                .to_owned()
        };
        let proof = "`omo report --last` shows what proved it.";
        assert_eq!(
            last_line(None),
            format!("{proof} `omo report --html --open` shows it as a page.")
        );
        assert_eq!(
            last_line(Some("/home/u/a b.html")),
            format!("{proof} Page: /home/u/a b.html")
        );
    }

    #[test]
    fn a_verdict_has_three_lines_and_each_fact_once() {
        let mut session = Session::default();
        session.ulw.enabled = true;
        session.note_weakening(
            crate::session::ChangedBy::Typed,
            "accepted: `t`: 1 test gone: a",
            at(2),
        );
        session.note_weakening(crate::session::ChangedBy::Typed, "check `b` removed", at(2));
        session.end_run(
            VerdictKind::Verified,
            "1 check green; `t`: 1 test gone: a".to_owned(),
            at(13),
        );
        let said = run_ended(&session, 8).unwrap();
        assert_eq!(said.lines().count(), 3, "{said}");
        assert_eq!(said.matches("1 test gone").count(), 1, "{said}");
        assert!(
            said.contains("accepted as named above") && said.contains("check `b` removed"),
            "{said}"
        );
    }

    #[test]
    fn the_first_line_says_what_is_against_the_work() {
        use VerdictKind::{Blocked, Expired, Released, Verified};
        let counts = Some(TestCounts {
            run: 12,
            failed: 2,
            skipped: 0,
        });
        for (said, expected) in [
            (
                ended(Released, "3 failed claims", |s| {
                    red(s, |it| it.last_line = "expected 5, got -1".to_owned());
                }),
                "[omo] NOT PROVED: sh test.sh is red (expected 5, got -1)\nEnded: 3 failed claims; 0 of 8 continuations, 12 min.",
            ),
            (
                ended(Released, "8 of 8 continuations used", |s| {
                    red(s, |it| it.counts = counts);
                }),
                "[omo] NOT PROVED: sh test.sh is red (2 of 12 tests failed)\nEnded: 8 of 8 continuations used, 12 min.",
            ),
            (
                ended(Released, "x", |s| {
                    red(s, |it| it.verdict = CheckVerdict::TimedOut);
                }),
                "[omo] NOT PROVED: sh test.sh timed out (exit status 1)\nEnded: x; 0 of 8 continuations, 12 min.",
            ),
            (
                ended(Released, "x", |s| {
                    let text = "review: the parser loses a byte".to_owned();
                    s.verification.failure = Some(ReportedFailure {
                        text,
                        ..ReportedFailure::default()
                    });
                }),
                "[omo] NOT PROVED: review: the parser loses a byte\nEnded: x; 0 of 8 continuations, 12 min.",
            ),
            (
                ended(Released, "claimed, not verified", |s| {
                    s.verification.claimed_at = Some(at(2));
                }),
                "[omo] NOT PROVED: claimed, not verified\n0 of 8 continuations, 12 min.",
            ),
            (
                ended(Expired, "worked on for 240 minutes", |_| {}),
                "[omo] NOT PROVED: the work was never claimed to be done\nEnded: worked on for 240 minutes; 0 of 8 continuations, 12 min.",
            ),
            (
                ended(Blocked, "no database", |_| {}),
                "[omo] BLOCKED: no database\n0 of 8 continuations, 12 min.",
            ),
            (
                ended(Verified, "1 check green", |_| {}),
                "[omo] VERIFIED: 1 check green\n0 of 8 continuations, 12 min.",
            ),
            (
                ended(Verified, "by review alone, no check ran", |_| {}),
                "[omo] verified by review alone, no check ran\n0 of 8 continuations, 12 min.",
            ),
        ] {
            assert_eq!(said, expected);
        }
    }
}
