//! Session lane of the timeline: turns of the session, and idle time between turns.

use omo_core::log_entry::LogEntry;
use omo_core::session::Session;
use omo_core::stop::StopRow;
use omo_core::timestamp::Timestamp;
use omo_view::run_view::{Lane, Mark, MarkKind, Span, SpanKind};

pub(super) fn session_lane<'e>(
    entries: impl Iterator<Item = &'e LogEntry>,
    began: Timestamp,
    session: &Session,
) -> Lane {
    let mut lane = LaneUnderWay {
        spans: Vec::new(),
        present: Some((began, SpanKind::Turn)),
    };
    let mut marks = Vec::new();
    for entry in entries {
        let kind = match entry.event.as_str() {
            "Stop" => lane.stop(entry),
            "UserPromptSubmit" => lane.prompt(entry),
            _ => continue,
        };
        let label = format!("{}: {}", entry.decision_words(), entry.why);
        marks.push(Mark {
            at: entry.at,
            kind,
            label,
        });
    }
    Lane {
        name: "session".to_owned(),
        spans: lane.close(session),
        marks,
    }
}

struct LaneUnderWay {
    spans: Vec<Span>,
    /// Begin of the present turn or idle time; `None` where that is unknown.
    present: Option<(Timestamp, SpanKind)>,
}

impl LaneUnderWay {
    fn stop(&mut self, entry: &LogEntry) -> MarkKind {
        if self.is_idle() {
            // A prompt that changes nothing of the run is not in the log.
            match entry.since {
                Some(since) => self.change(since.min(entry.at), Some(SpanKind::Turn)),
                None => self.present = None,
            }
        }
        self.change(entry.at, kind_after_stop(entry));
        if entry.decision == "block" {
            MarkKind::Continuation
        } else {
            MarkKind::Review
        }
    }

    fn prompt(&mut self, entry: &LogEntry) -> MarkKind {
        if let (Some(paused_at), false) = (entry.since, self.is_idle()) {
            self.change(paused_at.min(entry.at), Some(SpanKind::Person));
        }
        if entry.decision == "stop" {
            self.change(entry.at, None);
        } else if self.is_idle() || self.present.is_none() {
            self.change(entry.at, Some(SpanKind::Turn));
        }
        MarkKind::Person
    }

    /// The spans, with the present one up to the end of the run.
    fn close(mut self, session: &Session) -> Vec<Span> {
        let (paused, rest) = (&session.ulw.paused, &session.ulw.rest);
        let paused_at = paused.as_ref().and_then(|pause| pause.at);
        let rests_since = rest.as_ref().and_then(|rest| rest.since);
        if let Some(verdict) = &session.verdict {
            self.change(verdict.at, None);
            return self.spans;
        }
        if let (Some(at), false) = (paused_at.or(rests_since), self.is_idle()) {
            self.change(at, Some(SpanKind::Person));
        }
        if let (Some(at), None, None, true) = (
            session.last_seen.user_prompt_submit,
            paused_at,
            rests_since,
            self.is_idle(),
        ) {
            self.change(at, Some(SpanKind::Turn));
        }
        if let Some((from, kind)) = self.present {
            self.spans.push(span(from, None, kind));
        }
        self.spans
    }

    fn is_idle(&self) -> bool {
        self.present.is_some_and(|(_, kind)| kind != SpanKind::Turn)
    }

    /// Ends the present time, and begins the next one.
    fn change(&mut self, at: Timestamp, next: Option<SpanKind>) {
        let at = self.present.map_or(at, |(from, _)| at.max(from));
        if let Some((from, kind)) = self.present.filter(|(from, _)| *from < at) {
            self.spans.push(span(from, Some(at), kind));
        }
        self.present = next.map(|kind| (at, kind));
    }
}

fn span(from: Timestamp, until: Option<Timestamp>, kind: SpanKind) -> Span {
    let label = if kind == SpanKind::Turn {
        "turn"
    } else {
        "idle"
    };
    Span {
        from,
        until,
        kind,
        label: label.to_owned(),
    }
}

/// Kind of the time behind a Stop; `None` behind the end of the run.
fn kind_after_stop(entry: &LogEntry) -> Option<SpanKind> {
    let is_row = |row: StopRow| entry.row == Some(row.number());
    Some(match entry.decision.as_str() {
        "block" => SpanKind::Turn,
        end if end.starts_with("end") => return None,
        _ if is_row(StopRow::InputWaiting) => SpanKind::Turn,
        _ if is_row(StopRow::BackgroundWork) => SpanKind::Background,
        "wait" | "pause" => SpanKind::Person,
        _ if is_row(StopRow::PlanOrPaused) => SpanKind::Person,
        _ => SpanKind::Idle,
    })
}
