//! The parts of a status line about a run: its progress, or the awaited work.
//!
//! Numbers and omo's own words only: no text of a task, a model or a repository gets onto the
//! screen.

use crate::check::session_check::CheckVerdict;
use crate::session::claim_state::VerificationPhase;
use crate::session::plan_run::{PlanRun, PlanRunStatus};
use crate::session::{Session, UlwRun, VerdictKind};
use crate::stop::allowed_blocks;
use crate::text::sanitize;
use crate::timestamp::Timestamp;

/// Maximum columns of a segment, one for each character.
pub const COLUMNS: usize = 80;
pub const SEPARATOR: &str = " · ";

/// Largest number shown; only a state that omo did not write exceeds it.
const LARGEST: u64 = 9_999;
const AWAITED_CHARS: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartTone {
    Plain,
    Waits,
    Proved,
    Unproved,
    Last,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusPart {
    pub text: String,
    pub tone: PartTone,
}

/// Parts from left to right, none without a run. An open `plan`, if sealed by omo, takes the place
/// of the checks.
pub fn status_parts(
    session: &Session,
    plan: Option<&PlanRun>,
    client_block_cap: Option<u32>,
    now: Timestamp,
) -> Vec<StatusPart> {
    let plan = plan.filter(|plan| plan.is_open());
    let Some(run) = session.active_run() else {
        return plan
            .map(plan_parts)
            .unwrap_or_default()
            .into_iter()
            .chain(how_it_ended(session))
            .collect();
    };
    let (used, allowed) = (run.stop_blocks, allowed_blocks(session, client_block_cap));
    let blocks = part(format!(
        "ulw {}/{}",
        shown_number(used.into()),
        shown_number(allowed.into())
    ));
    let blocks = StatusPart {
        tone: if used >= allowed {
            PartTone::Last
        } else {
            PartTone::Plain
        },
        ..blocks
    };
    let paused = run.paused.is_some().then(|| StatusPart {
        tone: PartTone::Waits,
        ..part("paused".to_owned())
    });
    let rest = run.rest.as_ref().filter(|_| run.paused.is_none());
    let awaited = rest.and_then(|rest| {
        let minutes = now
            .millis_since(rest.since?)
            .and_then(|millis| u64::try_from(millis / 60_000).ok())
            .unwrap_or(0);
        let words = sanitize(&rest.awaited_words()?, AWAITED_CHARS);
        Some(StatusPart {
            tone: PartTone::Waits,
            ..part(format!("waits {}m for {words}", shown_number(minutes)))
        })
    });
    let minutes = run
        .started_at
        .map(|_| part(format!("{}m", minutes_at_work(run, now))));
    let rest: Vec<StatusPart> = plan.map_or_else(|| check_parts(session), plan_parts);
    // Text that is typed during work waits for the turn's end: Esc does not.
    let way_out = run.paused.is_none().then(|| part("Esc pauses".to_owned()));
    [blocks]
        .into_iter()
        .chain(rest)
        .chain([awaited, paused, minutes, way_out].into_iter().flatten())
        .collect()
}

fn check_parts(session: &Session) -> Vec<StatusPart> {
    [green_checks(session), phase(session), attempts(session)]
        .into_iter()
        .flatten()
        .map(part)
        .collect()
}

/// The end of a run, until the next one; a user who ended it needs no reminder.
fn how_it_ended(session: &Session) -> Option<StatusPart> {
    let (word, tone) = match session.verdict.as_ref()?.kind {
        VerdictKind::Verified => ("verified", PartTone::Proved),
        VerdictKind::Blocked => ("BLOCKED", PartTone::Unproved),
        VerdictKind::Released | VerdictKind::Expired => ("NOT PROVED", PartTone::Unproved),
        VerdictKind::Stopped => return None,
    };
    Some(StatusPart {
        text: format!("ulw {word}"),
        tone,
    })
}

fn plan_parts(plan: &PlanRun) -> Vec<StatusPart> {
    let failed = if plan.failed > 0 {
        format!(", {} failed", shown_number(plan.failed.into()))
    } else {
        String::new()
    };
    let done = part(format!(
        "plan {}/{}{failed}",
        shown_number(plan.passed.into()),
        shown_number(plan.total.into())
    ));
    let waits = matches!(plan.status(), PlanRunStatus::Waits(_));
    let waits = waits.then(|| StatusPart {
        tone: PartTone::Waits,
        ..part("waits for you".to_owned())
    });
    [Some(done), waits].into_iter().flatten().collect()
}

fn part(text: String) -> StatusPart {
    StatusPart {
        text,
        tone: PartTone::Plain,
    }
}

fn green_checks(session: &Session) -> Option<String> {
    let green = session.checks.iter().filter(|check| {
        check
            .last
            .as_ref()
            .is_some_and(|last| last.verdict == CheckVerdict::Green)
    });
    (!session.checks.is_empty())
        .then(|| format!("checks {}/{}", green.count(), session.checks.len()))
}

fn phase(session: &Session) -> Option<String> {
    let word = match session.verification.phase {
        // A state that omo did not write may say that a verified run is on.
        VerificationPhase::Working | VerificationPhase::Verified => return None,
        VerificationPhase::Checks => "checking",
        VerificationPhase::Review => "review",
    };
    Some(word.to_owned())
}

fn attempts(session: &Session) -> Option<String> {
    let failed = session.verification.attempts;
    (failed > 0).then(|| {
        format!(
            "failed {}/{}",
            shown_number(failed.into()),
            session.max_attempts()
        )
    })
}

fn minutes_at_work(run: &UlwRun, now: Timestamp) -> String {
    shown_number(u64::try_from(run.worked_millis(now) / 60_000).unwrap_or(0))
}

fn shown_number(number: u64) -> String {
    if number > LARGEST {
        format!("{LARGEST}+")
    } else {
        number.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::session_check::{Check, CheckOrigin, CheckRecord, MAX_CHECKS};
    use crate::limits::RunLimits;
    use crate::session::rest::RestReason;
    use crate::session::{PauseReason, UlwActivation, UlwTrigger};

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_millis(minutes * 60_000)
    }

    /// A run with so many checks of which so many are green, that began at minute 1.
    fn run(checks: usize, green: usize) -> Session {
        let check = |number| {
            Check::new(
                Some(&format!("g{number}")),
                &format!("test {number}"),
                CheckOrigin::User,
            )
            .unwrap()
        };
        let mut session = Session::default();
        session.activate(
            UlwActivation {
                trigger: UlwTrigger::Keyword,
                task: Some("ulw fix \u{1b}[31mit".to_owned()),
                prompt_id: None,
                limits: RunLimits {
                    max_blocks: 8,
                    ..RunLimits::default()
                },
                checks: (0..checks).map(check).collect(),
                review_wanted: true,
                prove: crate::check::counterfactual::ProveMode::default(),
                base: None,
                begins_anew: false,
            },
            at(1),
        );
        for check in session.checks.iter_mut().take(green) {
            check.last = Some(CheckRecord {
                verdict: CheckVerdict::Green,
                ..CheckRecord::default()
            });
        }
        session
    }

    fn text(session: &Session, now: Timestamp) -> String {
        let texts: Vec<String> = status_parts(session, None, None, now)
            .into_iter()
            .map(|part| part.text)
            .collect();
        texts.join(SEPARATOR)
    }

    fn tones(session: &Session) -> Vec<PartTone> {
        status_parts(session, None, None, at(2))
            .iter()
            .map(|part| part.tone)
            .filter(|tone| *tone != PartTone::Plain)
            .collect()
    }

    #[test]
    fn a_segment_says_how_far_a_run_is() {
        type Change = fn(&mut Session);
        let table: [(usize, usize, Change, &str); 13] = [
            (0, 0, |_| {}, "ulw 0/8 · 14m · Esc pauses"),
            (
                2,
                1,
                |s| s.ulw.stop_blocks = 3,
                "ulw 3/8 · checks 1/2 · 14m · Esc pauses",
            ),
            (
                2,
                2,
                |s| s.verification.phase = VerificationPhase::Checks,
                "ulw 0/8 · checks 2/2 · checking · 14m · Esc pauses",
            ),
            (
                2,
                1,
                |s| s.verification.phase = VerificationPhase::Review,
                "ulw 0/8 · checks 1/2 · review · 14m · Esc pauses",
            ),
            (
                0,
                0,
                |s| s.verification.phase = VerificationPhase::Verified,
                "ulw 0/8 · 14m · Esc pauses",
            ),
            (
                1,
                0,
                |s| s.verification.attempts = 2,
                "ulw 0/8 · checks 0/1 · failed 2/3 · 14m · Esc pauses",
            ),
            (
                0,
                0,
                |s| s.pause(PauseReason::Interrupted, at(3)),
                "ulw 0/8 · paused · 2m",
            ),
            (
                0,
                0,
                |s| {
                    s.rest(
                        RestReason::AwaitsWork,
                        vec!["subagent `logs`".to_owned()],
                        at(9),
                    );
                },
                "ulw 0/8 · waits 6m for subagent `logs` · 8m · Esc pauses",
            ),
            (
                0,
                0,
                |s| s.rest(RestReason::TurnEnded, Vec::new(), at(9)),
                "ulw 0/8 · 8m · Esc pauses",
            ),
            (
                0,
                0,
                |s| s.limits.max_blocks = 500,
                "ulw 0/100 · 14m · Esc pauses",
            ),
            (0, 0, |s| s.ulw.started_at = None, "ulw 0/8 · Esc pauses"),
            (
                0,
                0,
                |s| s.ulw.started_at = Some(at(99)),
                "ulw 0/8 · 0m · Esc pauses",
            ),
            (
                0,
                0,
                |s| s.ulw.stop_blocks = 10_000,
                "ulw 9999+/8 · 14m · Esc pauses",
            ),
        ];
        for (checks, green, change, expected) in table {
            let mut session = run(checks, green);
            change(&mut session);
            assert_eq!(text(&session, at(15)), expected);
        }
    }

    #[test]
    fn a_gate_counts_as_green_only_while_its_last_result_is() {
        for verdict in CheckVerdict::ALL {
            let mut session = run(1, 1);
            session.checks[0].last = Some(CheckRecord {
                verdict,
                ..CheckRecord::default()
            });
            let green = usize::from(verdict == CheckVerdict::Green);
            assert_eq!(
                text(&session, at(1)),
                format!("ulw 0/8 · checks {green}/1 · 0m · Esc pauses"),
                "{verdict:?}"
            );
        }
    }

    #[test]
    fn an_end_stays_until_the_next_run_and_one_of_the_users_own_does_not() {
        let mut session = Session::default();
        assert_eq!(status_parts(&session, None, None, at(2)), []);
        for (kind, shown, tone) in [
            (VerdictKind::Verified, "ulw verified", PartTone::Proved),
            (VerdictKind::Released, "ulw NOT PROVED", PartTone::Unproved),
            (VerdictKind::Expired, "ulw NOT PROVED", PartTone::Unproved),
            (VerdictKind::Blocked, "ulw BLOCKED", PartTone::Unproved),
        ] {
            session = run(1, 1);
            session.end_run(kind, "why".to_owned(), at(2));
            assert_eq!(
                (text(&session, at(3)).as_str(), tones(&session)),
                (shown, vec![tone]),
                "{kind:?}"
            );
        }
        session = run(1, 1);
        session.stop_continuation(None, true, at(2));
        assert_eq!(status_parts(&session, None, None, at(3)), []);
    }

    fn plan(change: impl FnOnce(&mut PlanRun)) -> PlanRun {
        let mut plan = PlanRun {
            total: 7,
            passed: 3,
            ..PlanRun::default()
        };
        change(&mut plan);
        plan
    }

    #[test]
    fn an_open_plan_stands_where_else_the_checks_do_and_alone_without_a_run() {
        type Change = fn(&mut PlanRun);
        let table: [(Change, &str, &str); 4] = [
            (|_| {}, "ulw 0/8 · plan 3/7 · 14m · Esc pauses", "plan 3/7"),
            (
                |p| p.failed = 1,
                "ulw 0/8 · plan 3/7, 1 failed · 14m · Esc pauses",
                "plan 3/7, 1 failed",
            ),
            (
                |p| p.waits = Some("\u{1b}[31mgo on?".to_owned()),
                "ulw 0/8 · plan 3/7 · waits for you · 14m · Esc pauses",
                "plan 3/7 · waits for you",
            ),
            (
                |p| p.ended = Some("complete".to_owned()),
                "ulw 0/8 · checks 1/2 · 14m · Esc pauses",
                "",
            ),
        ];
        for (change, armed, alone) in table {
            let plan = plan(change);
            let text = |session: &Session| {
                let parts = status_parts(session, Some(&plan), None, at(15));
                parts
                    .into_iter()
                    .map(|part| part.text)
                    .collect::<Vec<_>>()
                    .join(SEPARATOR)
            };
            assert_eq!(
                (
                    text(&run(2, 1)).as_str(),
                    text(&Session::default()).as_str()
                ),
                (armed, alone)
            );
        }
        let waits = plan(|plan| plan.waits = Some(String::new()));
        assert_eq!(
            status_parts(&Session::default(), Some(&waits), None, at(2))
                .last()
                .map(|part| part.tone),
            Some(PartTone::Waits)
        );
    }

    #[test]
    fn the_last_block_and_a_pause_stand_out_and_nothing_else_does() {
        let mut session = run(2, 1);
        session.ulw.stop_blocks = 7;
        session.verification.attempts = 2;
        assert_eq!(tones(&session), []);
        session.ulw.stop_blocks = 8;
        assert_eq!(tones(&session), [PartTone::Last]);
        session.pause(PauseReason::ApiError, at(2));
        assert_eq!(tones(&session), [PartTone::Last, PartTone::Waits]);
    }

    #[test]
    fn the_lower_of_the_two_caps_is_the_last_block() {
        let mut session = run(0, 0);
        session.ulw.stop_blocks = 5;
        let first = &status_parts(&session, None, Some(5), at(2))[0];
        assert_eq!(
            (first.text.as_str(), first.tone),
            ("ulw 5/5", PartTone::Last)
        );
    }

    #[test]
    fn no_segment_is_wider_than_its_columns_whatever_the_state_says() {
        let mut widest = 0;
        for phase in [
            VerificationPhase::Working,
            VerificationPhase::Checks,
            VerificationPhase::Review,
            VerificationPhase::Verified,
        ] {
            let mut session = run(MAX_CHECKS, MAX_CHECKS);
            session.limits.max_blocks = u32::MAX;
            session.ulw.stop_blocks = u32::MAX;
            session.verification.attempts = u32::MAX;
            session.verification.phase = phase;
            session.ulw.started_at = Some(Timestamp::from_millis(i64::MIN));
            session.pause(PauseReason::ApiError, at(2));
            let now = Timestamp::parse("9999-12-31T23:59:59Z").unwrap();
            let most = u32::MAX;
            let plan = plan(|p| {
                (p.total, p.passed, p.failed, p.waits) = (most, most, most, Some(String::new()));
            });
            for plan in [None, Some(&plan)] {
                let texts: Vec<String> = status_parts(&session, plan, None, now)
                    .into_iter()
                    .map(|part| part.text)
                    .collect();
                widest = widest.max(texts.join(SEPARATOR).chars().count());
            }
        }
        assert!(
            (60..=COLUMNS).contains(&widest),
            "the widest is {widest} wide"
        );
    }
}
