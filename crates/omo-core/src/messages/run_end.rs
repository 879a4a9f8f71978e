//! What its user is told when a run ends: in the first line whether the work is proved, and if not, what is against it.

use super::check_changes::weakened_lines;
use crate::check::session_check::{Check, CheckVerdict};
use crate::session::{Session, UlwVerdict, VerdictKind};
use crate::text::{pluralize, sanitize};

/// How a run ended: the lines for its user, the first of which says what matters. `None` while it is on, or where there
/// was none. `allowed_blocks` is how many continuations it might have.
pub fn run_ended(session: &Session, allowed_blocks: u32) -> Option<String> {
    let verdict = session.verdict.as_ref()?;
    let mut lines = vec![format!("[omo] {}", headline(session, verdict))];
    lines.push(format!("{}.", spent(session, verdict, allowed_blocks)));
    let weakened = weakened_lines(&session.weakened, verdict.at);
    if !weakened.is_empty() {
        lines.push(format!("Weakened since it began: {}.", weakened.join("; ")));
    }
    let is_unproved = matches!(verdict.kind, VerdictKind::Released | VerdictKind::Expired);
    if let Some(log) = red_check(session).and_then(|check| check.last.as_ref()?.log.as_ref()).filter(|_| is_unproved) {
        lines.push(format!("log: {}", sanitize(log, 300)));
    }
    lines.extend(what_to_do(session, verdict).map(str::to_owned));
    Some(lines.join("\n"))
}

/// `NOT PROVED: sh test.sh is red (expected 5, got -1)`.
pub fn headline(session: &Session, verdict: &UlwVerdict) -> String {
    let why = sanitize(&verdict.why, 320);
    match verdict.kind {
        VerdictKind::Verified if why.starts_with("by ") => format!("verified {why}"),
        VerdictKind::Verified => format!("VERIFIED: {why}"),
        VerdictKind::Blocked => format!("BLOCKED: {why}"),
        VerdictKind::Stopped => format!("STOPPED {why}"),
        VerdictKind::Released | VerdictKind::Expired => format!("NOT PROVED: {}", unproved_reason(session, verdict)),
    }
}

impl VerdictKind {
    /// The words that stand before all others.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Verified => "VERIFIED",
            Self::Blocked => "BLOCKED",
            Self::Stopped => "STOPPED",
            Self::Released | Self::Expired => "NOT PROVED",
        }
    }
}

fn red_check(session: &Session) -> Option<&Check> {
    session.checks.iter().find(|check| check.last.as_ref().is_some_and(|last| last.verdict != CheckVerdict::Green))
}

/// What is against the work: a red check before all else, then the review, then that nothing was claimed.
fn unproved_reason(session: &Session, verdict: &UlwVerdict) -> String {
    let others =
        session.checks.iter().filter(|check| check.last.as_ref().is_some_and(|it| it.verdict != CheckVerdict::Green));
    if let Some(check) = red_check(session) {
        let more = match others.count() {
            0 | 1 => String::new(),
            count => format!(", and {} more", pluralize(count - 1, "check")),
        };
        return format!("{}{more}", red_check_words(check));
    }
    if let Some(failure) = &session.verification.failure {
        return sanitize(&failure.what, 240);
    }
    if session.is_disowned() || session.verification.claimed_at.is_some() {
        return sanitize(&verdict.why, 320);
    }
    "the work was never claimed to be done".to_owned()
}

/// `sh test.sh is red (expected 5, got -1)`.
fn red_check_words(check: &Check) -> String {
    let command = sanitize(&check.command, 80);
    let Some(last) = &check.last else { return command };
    let failed = last.counts.filter(|counts| counts.failed > 0);
    let counted = failed.map(|counts| format!("{} of {} tests failed", counts.failed, counts.run));
    let said = (!last.last_line.is_empty()).then(|| sanitize(&last.last_line, 160));
    match last.verdict {
        CheckVerdict::Failed => {
            let words: Vec<String> = [counted, said].into_iter().flatten().collect();
            let words = if words.is_empty() { sanitize(&last.detail, 160) } else { words.join(": ") };
            format!("{command} is red ({words})")
        }
        verdict => format!("{command} {} ({})", verdict.word(), sanitize(&last.detail, 200)),
    }
}

/// What came before the end, and why it came then.
fn spent(session: &Session, verdict: &UlwVerdict, allowed_blocks: u32) -> String {
    let minutes = session.ulw.worked_millis(verdict.at) / 60_000;
    let time = if minutes == 0 { "under a minute".to_owned() } else { format!("{minutes} min") };
    let spent = format!("{} of {allowed_blocks} continuations, {time}", session.ulw.stop_blocks);
    match verdict.kind {
        VerdictKind::Released | VerdictKind::Expired => {
            let why = sanitize(&verdict.why, 200);
            match () {
                () if unproved_reason(session, verdict) == why => spent,
                () if why.contains("continuations") => format!("Ended: {why}, {time}"),
                () => format!("Ended: {why}; {spent}"),
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
        VerdictKind::Released | VerdictKind::Expired | VerdictKind::Blocked => {
            Some("`ulw` goes on with the task, `ulw <more>` adds to it; `omo report --last` shows all that was found.")
        }
    }
}
