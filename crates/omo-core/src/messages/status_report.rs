//! The state of a session in words and as data, for `/omo:status` and `omo status`.

use serde::Serialize;

use crate::check::counterfactual::ComparisonWords;
use crate::check::session_check::Check;
use crate::log_entry::LogEntry;
use crate::messages::check_changes::weakened_lines;
use crate::messages::plan;
use crate::messages::run_end;
use crate::session::claim_state::VerificationPhase;
use crate::session::plan_run::PlanRun;
use crate::session::{CheckWeakening, Session, UlwVerdict};
use crate::stop::allowed_blocks;
use crate::text::{format_age, sanitize};
use crate::timestamp::Timestamp;

/// Marks the text below as omo's own: a pasted status must not turn anything on.
pub const HEADING: &str = "[omo] status";

/// Data of the status; `text` and `rows` put it into words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusReport {
    pub session: String,
    /// `on`, `paused`, `ended` or `off`.
    pub state: UlwState,
    /// The session's plan run, or its last one.
    pub plan_run: Option<PlanRun>,
    pub task: Option<String>,
    pub started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub awaited: Option<AwaitedWork>,
    pub blocks: u32,
    pub max_blocks: u32,
    pub max_minutes: u32,
    pub phase: VerificationPhase,
    pub checks: Vec<Check>,
    /// Results of checks without the change: possibly known only after the verdict.
    #[serde(flatten)]
    pub comparison: ComparisonWords,
    pub review_wanted: bool,
    pub attempts: u32,
    pub max_attempts: u32,
    pub verdict: Option<UlwVerdict>,
    pub headline: Option<String>,
    pub weakened: Vec<CheckWeakening>,
    pub last_decision: Option<LogEntry>,
    pub last_seen: Vec<SeenHook>,
    pub findings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AwaitedWork {
    pub what: String,
    pub since: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum UlwState {
    On,
    Paused,
    Ended,
    Off,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeenHook {
    pub event: &'static str,
    /// `null` for never in this run.
    pub at: Option<Timestamp>,
}

/// The report on a session; `plan_run` is sealed by omo, and the caller adds data of other files.
pub fn status_report(
    id: &str,
    session: &Session,
    plan_run: Option<&PlanRun>,
    last_decision: Option<LogEntry>,
    client_block_cap: Option<u32>,
) -> StatusReport {
    let limits = session.limits.clamped();
    StatusReport {
        session: id.to_owned(),
        state: ulw_state(session),
        plan_run: plan_run.map(|run| PlanRun {
            seal: None,
            is_untold: None,
            ..run.clone()
        }),
        task: session.ulw.task.clone(),
        started_at: session.ulw.started_at,
        awaited: session
            .active_run()
            .and_then(|run| run.rest.as_ref())
            .and_then(|rest| {
                Some(AwaitedWork {
                    what: rest.awaited_words()?,
                    since: rest.since?,
                })
            }),
        blocks: session.ulw.stop_blocks,
        max_blocks: allowed_blocks(session, client_block_cap),
        max_minutes: limits.max_minutes,
        phase: session.verification.phase,
        checks: session.checks.clone(),
        comparison: ComparisonWords::default(),
        review_wanted: session.verification.review_wanted,
        attempts: session.verification.attempts,
        max_attempts: session.max_attempts(),
        verdict: session.verdict.clone(),
        headline: session
            .verdict
            .as_ref()
            .map(|verdict| run_end::headline(session, verdict)),
        weakened: session.weakened.clone(),
        last_decision: last_decision.filter(|entry| is_about(session, entry)),
        last_seen: session
            .last_seen
            .entries()
            .map(|(event, at)| SeenHook {
                event: event.name(),
                at,
            })
            .into(),
        findings: findings(session),
    }
}

fn ulw_state(session: &Session) -> UlwState {
    match session.active_run() {
        Some(run) if run.paused.is_some() => UlwState::Paused,
        Some(_) => UlwState::On,
        None if session.verdict.is_some() => UlwState::Ended,
        None => UlwState::Off,
    }
}

/// `false` for an end in the log that the session does not have: the log bears no seal.
fn is_about(session: &Session, entry: &LogEntry) -> bool {
    let end = entry.decision.strip_prefix("end: ");
    end.is_none_or(|word| {
        session
            .verdict
            .as_ref()
            .is_some_and(|verdict| verdict.kind.word() == word)
    })
}

fn findings(session: &Session) -> Vec<String> {
    let mut findings = Vec::new();
    // A later prompt means an ended turn, unless it was typed during work.
    let later_prompt = session
        .last_seen
        .user_prompt_submit
        .zip(session.ulw.started_at)
        .is_some_and(|(at, start)| at > start);
    if session.is_armed()
        && session.last_seen.stop.is_none()
        && later_prompt
        && session.ulw.paused.is_none()
    {
        findings.push(
            "Stop: never seen in this run, and another prompt came since it began. If a turn has ended, the client does \
             not run omo's Stop hook, and nothing holds the session."
                .to_owned(),
        );
    }
    findings
}

impl StatusReport {
    /// Labels and values in order, for a table of two columns.
    pub fn rows(
        &self,
        now: Timestamp,
        describe_time: &dyn Fn(Timestamp) -> String,
    ) -> Vec<(&'static str, String)> {
        let mut rows = vec![
            ("session", self.session.clone()),
            ("ultrawork", self.state_words(describe_time)),
        ];
        rows.extend(
            self.plan_run
                .iter()
                .map(|run| ("plan run", plan::status_row(run))),
        );
        if self.state == UlwState::Off {
            rows.extend(self.finding_rows());
            return rows;
        }
        if let Some(task) = &self.task {
            rows.push(("task", sanitize(task, 100)));
        }
        if let Some(AwaitedWork { what, since }) = &self.awaited {
            rows.push((
                "waits for",
                format!("{}, since {}", sanitize(what, 300), describe_time(*since)),
            ));
        }
        rows.push((
            "continued",
            format!("{} of {}", self.blocks, self.max_blocks),
        ));
        rows.push(("checks", self.checks_words()));
        rows.extend(self.comparison.clone().rows());
        rows.extend(
            weakened_lines(&self.weakened, now)
                .into_iter()
                .map(|words| ("weakened", words)),
        );
        if matches!(self.state, UlwState::On | UlwState::Paused) {
            rows.push(("phase", self.phase_words()));
        }
        if let Some(last) = &self.last_decision {
            rows.push(("last decision", describe_decision(last, describe_time)));
        }
        rows.push(("last seen", self.seen_words(describe_time)));
        rows.extend(self.finding_rows());
        if matches!(self.state, UlwState::On | UlwState::Paused) {
            rows.push((
                "to stop",
                "`ulw off` in the session, or `omo stop` in a terminal".to_owned(),
            ));
        }
        rows
    }

    fn finding_rows(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.findings
            .iter()
            .map(|finding| ("finding", finding.clone()))
    }

    /// The rows as aligned lines below the heading.
    pub fn text(&self, now: Timestamp) -> String {
        let rows = self.rows(now, &|at| format!("{} ago", format_age(Some(at), now)));
        let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
        let lines: Vec<String> = rows
            .iter()
            .map(|(label, value)| format!("{label:width$}  {value}"))
            .collect();
        format!("{HEADING}\n{}", lines.join("\n"))
    }

    fn state_words(&self, describe_time: &dyn Fn(Timestamp) -> String) -> String {
        let begun = match self.started_at {
            Some(at) => format!("begun {}", describe_time(at)),
            None => "begun at an unknown time".to_owned(),
        };
        match (self.state, &self.verdict) {
            (UlwState::On, _) => format!(
                "on, {}, at most {} minutes of work",
                begun, self.max_minutes
            ),
            (UlwState::Paused, _) => {
                format!("paused, {begun}; type `ulw` in the session to go on")
            }
            (_, Some(verdict)) => {
                let (line, why) = (
                    self.headline.as_deref().unwrap_or_default(),
                    sanitize(&verdict.why, 200),
                );
                let why = if line.contains(&why) {
                    String::new()
                } else {
                    format!(": {why}")
                };
                format!("{line}; ended {}{why}", describe_time(verdict.at))
            }
            _ => "off".to_owned(),
        }
    }

    fn checks_words(&self) -> String {
        let checks = self.checks.iter().map(|check| {
            let last = check
                .last
                .as_ref()
                .map_or("not run yet", |record| record.verdict.word());
            format!("{} {last}", sanitize(&check.name, 40))
        });
        let review = self.review_wanted.then(|| "a review".to_owned());
        let judges: Vec<String> = checks.chain(review).collect();
        if judges.is_empty() {
            "none: a claim will not be verified".to_owned()
        } else {
            judges.join(", ")
        }
    }

    fn phase_words(&self) -> String {
        let failed = match self.attempts {
            0 => String::new(),
            attempts => format!(", {attempts} of {} claims failed", self.max_attempts),
        };
        format!("{}{failed}", phase_word(self.phase))
    }

    fn seen_words(&self, describe_time: &dyn Fn(Timestamp) -> String) -> String {
        // An unseen hook is no news: its turn may still continue. Findings tell more.
        let seen: Vec<String> = self
            .last_seen
            .iter()
            .filter_map(|hook| Some(format!("{} {}", hook.event, describe_time(hook.at?))))
            .collect();
        if seen.is_empty() {
            "no hook yet".to_owned()
        } else {
            seen.join(", ")
        }
    }
}

fn describe_decision(last: &LogEntry, describe_time: &dyn Fn(Timestamp) -> String) -> String {
    let (decision, why) = (
        sanitize(last.decision_words(), 40),
        sanitize(&last.why, 100),
    );
    format!(
        "{decision} on {}: {why}, {}",
        sanitize(&last.event, 40),
        describe_time(last.at)
    )
}

fn phase_word(phase: VerificationPhase) -> &'static str {
    match phase {
        VerificationPhase::Working => "working",
        VerificationPhase::Checks => "running the checks",
        VerificationPhase::Review => "waiting for the review",
        VerificationPhase::Verified => "verified",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::RunLimits;
    use crate::session::HookEvent;
    use crate::session::UlwRun;
    use crate::session::rest::RestReason;
    use crate::session::{PauseReason, UlwActivation, UlwTrigger, VerdictKind};

    const MINUTE: i64 = 60_000;

    #[test]
    fn what_is_awaited_is_told_with_its_begin() {
        let mut session = Session {
            ulw: UlwRun {
                enabled: true,
                started_at: Some(at(0)),
                ..UlwRun::default()
            },
            ..Session::default()
        };
        session.rest(RestReason::UsageLimit, Vec::new(), at(5));
        let report = status_report("abc", &session, None, None, None);
        assert!(
            report
                .text(at(20))
                .contains("waits for  the end of a usage limit, since 15 min ago\n"),
            "{}",
            report.text(at(20))
        );
    }

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_millis(minutes * MINUTE)
    }

    fn armed() -> Session {
        let mut session = Session::default();
        let task = Some("ulw fix\nthe parser".to_owned());
        session.activate(
            UlwActivation {
                trigger: UlwTrigger::Keyword,
                task,
                prompt_id: None,
                limits: RunLimits {
                    max_blocks: 8,
                    max_minutes: 240,
                    ..RunLimits::default()
                },
                checks: Vec::new(),
                review_wanted: true,
                prove: crate::check::counterfactual::ProveMode::default(),
                base: None,
                begins_anew: false,
            },
            at(1),
        );
        session
    }

    fn text(session: &Session) -> String {
        status_report("abc", session, None, None, None).text(at(21))
    }

    #[test]
    fn a_run_that_is_on_answers_every_question() {
        let mut session = armed();
        session.ulw.stop_blocks = 3;
        session.last_seen.note(HookEvent::UserPromptSubmit, at(2));
        assert_eq!(
            text(&session),
            "[omo] status\n\
             session    abc\n\
             ultrawork  on, begun 20 min ago, at most 240 minutes of work\n\
             task       ulw fix the parser\n\
             continued  3 of 8\n\
             checks     a review\n\
             phase      working\n\
             last seen  UserPromptSubmit 19 min ago\n\
             finding    Stop: never seen in this run, and another prompt came since it began. If a turn has ended, the \
             client does not run omo's Stop hook, and nothing holds the session.\n\
             to stop    `ulw off` in the session, or `omo stop` in a terminal"
        );
    }

    #[test]
    fn every_state_has_its_word() {
        let mut session = Session::default();
        assert_eq!(
            text(&session),
            "[omo] status\nsession    abc\nultrawork  off"
        );
        session = armed();
        session.pause(PauseReason::Interrupted, at(3));
        assert!(text(&session).contains("ultrawork  paused, begun"));
        session.end_run(
            VerdictKind::Released,
            "claimed, not verified".to_owned(),
            at(11),
        );
        assert!(text(&session).contains(
            "ultrawork  NOT PROVED: the work was never claimed to be done; ended 10 min ago: claimed, not verified"
        ));
        assert!(!text(&session).contains("to stop"));
    }

    #[test]
    fn a_plan_run_has_its_row_with_and_without_ultrawork() {
        let run = PlanRun {
            plan: "docs/plan.md".to_owned(),
            total: 7,
            passed: 3,
            failed: 1,
            waits: Some("continue after\u{1b} batch 1?".to_owned()),
            seal: Some("secret".to_owned()),
            ..PlanRun::default()
        };
        let row = "plan run   docs/plan.md: 3 of 7 done, 1 failed, waits for you: continue after  batch 1?";
        let of = |session: &Session| status_report("abc", session, Some(&run), None, None);
        assert_eq!(
            of(&Session::default()).text(at(2)),
            format!("[omo] status\nsession    abc\nultrawork  off\n{row}")
        );
        assert!(
            of(&armed())
                .text(at(2))
                .contains(&format!("\n{row}\ntask "))
        );
        let json = serde_json::to_value(of(&armed())).unwrap();
        assert_eq!(
            (&json["planRun"]["passed"], json["planRun"].get("seal")),
            (&3.into(), None)
        );
    }

    #[test]
    fn what_the_checks_say_without_the_change_stands_below_them() {
        let mut report = status_report("abc", &armed(), None, None, None);
        report.comparison.without_change = Some("red without the change".to_owned());
        report.comparison.unusual = vec!["`tests`: 1 test gone: d".to_owned()];
        let rows = "checks              a review\nwithout the change  red without the change\n\
                    unusual             `tests`: 1 test gone: d\nphase";
        assert!(report.text(at(2)).contains(rows), "{}", report.text(at(2)));
    }

    #[test]
    fn the_lower_of_the_two_caps_is_shown() {
        assert!(
            status_report("abc", &armed(), None, None, Some(5))
                .text(at(2))
                .contains("continued  0 of 5")
        );
    }
}
