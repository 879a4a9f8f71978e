//! Idle time of a run, which is no working time: between turns, after a usage limit, while an agent
//! or an answer is awaited, and while the machine sleeps.

use serde::{Deserialize, Serialize};

use super::{Session, UlwRun};
use crate::timestamp::Timestamp;

/// Maximum minutes between two entries of a transcript that count as work.
pub const LONGEST_STEP_MINUTES: u32 = 15;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnBegin {
    At(Timestamp),
    /// The model's first word after the begin of this rest: the client continues without a prompt.
    AfterRest(Timestamp),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnTime {
    pub rest_ended_at: Option<Timestamp>,
    pub idle_millis: u64,
}

/// Idle milliseconds between two moments: what each step has beyond [`LONGEST_STEP_MINUTES`]. Times
/// may be unordered, and those outside do not count. Without steps, all of it is work.
pub fn idle_millis(
    times: impl IntoIterator<Item = Timestamp>,
    from: Timestamp,
    until: Timestamp,
) -> u64 {
    const LONGEST_STEP: u64 = LONGEST_STEP_MINUTES as u64 * 60_000;
    let mut times: Vec<Timestamp> = times
        .into_iter()
        .filter(|at| (from..=until).contains(at))
        .collect();
    if times.is_empty() {
        return 0;
    }
    times.push(until);
    times.sort_unstable();
    let (mut idle, mut last) = (0_u64, from);
    for at in times {
        let millis = at
            .millis_since(last)
            .and_then(|millis| u64::try_from(millis).ok())
            .unwrap_or(0);
        idle = idle.saturating_add(millis.saturating_sub(LONGEST_STEP));
        last = at;
    }
    idle
}

/// The last rest of a run. An ended one stays without `since`: a field that is left out of a state
/// file keeps its old value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UlwRest {
    pub since: Option<Timestamp>,
    pub reason: RestReason,
    #[serde(default)]
    pub awaited: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RestReason {
    TurnEnded,
    AwaitsWork,
    AwaitsAnswer,
    UsageLimit,
    ApiError,
}

impl UlwRest {
    pub(super) fn ended(self) -> Self {
        Self {
            since: None,
            reason: self.reason,
            awaited: Vec::new(),
        }
    }

    /// The awaited work in a few words, such as ``agent `read the logs` ``; `None` where only a
    /// prompt is missing.
    pub fn awaited_words(&self) -> Option<String> {
        match self.reason {
            RestReason::TurnEnded => None,
            RestReason::AwaitsWork if self.awaited.is_empty() => Some("background work".to_owned()),
            RestReason::AwaitsWork => Some(self.awaited.join(", ")),
            RestReason::AwaitsAnswer => Some("your answer".to_owned()),
            RestReason::UsageLimit => Some("the end of a usage limit".to_owned()),
            RestReason::ApiError => Some("the next prompt, after an error of the API".to_owned()),
        }
    }
}

impl UlwRun {
    pub(super) fn idle_since(&self) -> Option<Timestamp> {
        let paused = self.paused.as_ref().and_then(|pause| pause.at);
        let rests = self.rest.as_ref().and_then(|rest| rest.since);
        [paused, rests].into_iter().flatten().min()
    }
}

impl Session {
    pub fn rest(&mut self, reason: RestReason, awaited: Vec<String>, now: Timestamp) {
        if self.is_armed() {
            let since = self
                .ulw
                .rest
                .as_ref()
                .and_then(|rest| rest.since)
                .unwrap_or(now);
            self.ulw.rest = Some(UlwRest {
                since: Some(since),
                reason,
                awaited,
            });
        }
    }

    pub fn turn_begin(&self) -> Option<TurnBegin> {
        let run = self.active_run().filter(|run| run.paused.is_none())?;
        if let Some(since) = run.rest.as_ref().and_then(|rest| rest.since) {
            return Some(TurnBegin::AfterRest(since));
        }
        let seen = [
            self.last_seen.session_start,
            self.last_seen.user_prompt_submit,
        ];
        let counted = [run.started_at, run.resumed_at, run.last_stop_at]
            .into_iter()
            .chain(seen);
        counted.flatten().max().map(TurnBegin::At)
    }

    /// Counts the time of the turn since [`Session::turn_begin`], which moves with the asking hook.
    pub fn count_turn(&mut self, turn: TurnTime) {
        if self.is_armed() {
            if let Some(at) = turn.rest_ended_at {
                self.end_rest(at);
            }
            self.ulw.waited_millis = self.ulw.waited_millis.saturating_add(turn.idle_millis);
        }
    }

    pub fn end_rest(&mut self, now: Timestamp) {
        let Some(rest) = self.ulw.rest.take() else {
            return;
        };
        let since = rest.since;
        self.ulw.rest = Some(rest.ended());
        let Some(since) = since else { return };
        // Time in a pause is counted when the run resumes.
        let until = self
            .ulw
            .paused
            .as_ref()
            .and_then(|pause| pause.at)
            .unwrap_or(now);
        self.ulw.add_waited(since, until);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{activation, at};
    use super::*;
    use crate::session::PauseReason;

    fn minutes(session: &Session, now: i64) -> i64 {
        session.ulw.worked_millis(at(now * 60)) / 60_000
    }

    fn begun() -> Session {
        let mut session = Session::default();
        session.activate(activation(), at(0));
        session
    }

    #[test]
    fn a_rest_is_no_working_time_and_what_follows_it_is() {
        for reason in [
            RestReason::TurnEnded,
            RestReason::AwaitsWork,
            RestReason::UsageLimit,
            RestReason::ApiError,
        ] {
            let mut session = begun();
            session.rest(reason, Vec::new(), at(5 * 60));
            assert_eq!(minutes(&session, 500), 5, "{reason:?}");
            // A second end of a turn without a prompt goes on with the rest.
            session.rest(reason, Vec::new(), at(100 * 60));
            session.end_rest(at(600 * 60));
            assert_eq!(minutes(&session, 607), 12, "{reason:?}");
            session.end_rest(at(700 * 60));
            assert_eq!(minutes(&session, 607), 12, "{reason:?}");
        }
    }

    #[test]
    fn of_a_long_step_a_bounded_part_is_work() {
        let known = |times: &[i64]| {
            let times = times.iter().map(|minute| at(minute * 60));
            idle_millis(times, at(100 * 60), at(1_000 * 60)) / 60_000
        };
        for (times, idle) in [
            (&[][..], 0),
            (&[101, 999], 883),
            (&[999], 884),
            (&[1_000], 885),
            (&[100], 885),
            (&[115, 130, 145], 840),
            (&[116, 132], 1 + 1 + 853),
            // In another order, before it, after it, and absurd.
            (&[700, 110, 300, 999], 175 + 385 + 284),
            (&[0, 99, 1_001, 1_000_000, i64::MAX / 60_000 / 60], 0),
            (&[500, 9_000, -5, 501], 385 + 484),
        ] {
            assert_eq!(known(times), idle, "{times:?}");
        }
        assert_eq!(
            idle_millis([at(5)], at(9), at(1)),
            0,
            "a clock that was set back"
        );
    }

    #[test]
    fn a_turn_counts_from_the_last_hook_that_counted() {
        let mut session = begun();
        assert_eq!(session.turn_begin(), Some(TurnBegin::At(at(0))));
        session.last_seen.user_prompt_submit = Some(at(60));
        session.ulw.last_stop_at = Some(at(30));
        assert_eq!(session.turn_begin(), Some(TurnBegin::At(at(60))));
        session.count_turn(TurnTime {
            rest_ended_at: None,
            idle_millis: 90 * 60_000,
        });
        assert_eq!(minutes(&session, 100), 10);
        session.rest(RestReason::AwaitsWork, Vec::new(), at(100 * 60));
        assert_eq!(
            session.turn_begin(),
            Some(TurnBegin::AfterRest(at(100 * 60)))
        );
        session.count_turn(TurnTime {
            rest_ended_at: Some(at(400 * 60)),
            idle_millis: 0,
        });
        assert_eq!(minutes(&session, 405), 15);
        session.count_turn(TurnTime {
            rest_ended_at: None,
            idle_millis: u64::MAX,
        });
        assert_eq!(minutes(&session, 405), 0);
        session.pause(PauseReason::Interrupted, at(410 * 60));
        assert_eq!(session.turn_begin(), None);
        assert_eq!(Session::default().turn_begin(), None);
    }

    #[test]
    fn a_pause_within_a_rest_is_counted_once() {
        let mut session = begun();
        session.rest(RestReason::TurnEnded, Vec::new(), at(5 * 60));
        session.pause(PauseReason::Interrupted, at(10 * 60));
        let mut resumed = session.clone();
        assert!(resumed.resume(at(60 * 60)));
        assert_eq!(minutes(&resumed, 61), 6);
        session.end_rest(at(20 * 60));
        assert_eq!(minutes(&session, 30), 5);
        assert!(session.resume(at(60 * 60)));
        assert_eq!(minutes(&session, 61), 6);
    }

    #[test]
    fn a_run_that_is_not_on_does_not_rest_and_its_end_ends_the_rest() {
        let mut session = Session::default();
        session.rest(RestReason::TurnEnded, Vec::new(), at(1));
        assert_eq!(session, Session::default());
        let mut session = begun();
        session.rest(RestReason::UsageLimit, Vec::new(), at(60));
        session.stop_continuation(None, true, at(6_000));
        assert_eq!(
            (
                session.ulw.rest.clone().and_then(|rest| rest.since),
                minutes(&session, 100)
            ),
            (None, 1)
        );
        session.activate(activation(), at(7_000));
        assert!(
            session.ulw.rest.is_some(),
            "an entry that had a rest keeps the field"
        );
    }

    #[test]
    fn a_run_that_does_not_rest_is_written_as_before() {
        assert!(!serde_json::to_string(&begun()).unwrap().contains("rest\":"));
    }
}
