//! Decisions about a worker elsewhere, from its scheduler's list and its own report: pure rules.

use std::collections::BTreeMap;
use std::time::Duration;

use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;

use crate::exchange::{WorkerEnd, WorkerPhase, WorkerReport};
use crate::job::SubmittedWorker;
use crate::profile::LauncherProfile;

/// Time of a scheduler to list a new worker, such as `squeue` of Slurm.
const UNLISTED: Duration = Duration::from_secs(90);
/// Time of a cancelled worker for its last report.
const AFTER_CANCEL: Duration = Duration::from_secs(60);
/// Requeues before a new launch, which is counted.
const MAX_REQUEUES: u32 = 8;
/// Detail of a cancelled worker without a report.
const CANCELLED: &str = "it was cancelled";
/// Time of a worker to clone, set up and push, beyond its client's.
const AROUND_CLIENT: Duration = Duration::from_secs(15 * 60);
/// Words of Slurm, Kubernetes, GitHub and omo for a waiting worker.
const QUEUED: [&str; 10] = [
    "PENDING",
    "CONFIGURING",
    "REQUEUED",
    "REQUEUE_FED",
    "REQUEUE_HOLD",
    "RESV_DEL_HOLD",
    "SPECIAL_EXIT",
    "QUEUED",
    "REQUESTED",
    "WAITING",
];
const RUNNING: [&str; 8] = [
    "RUNNING",
    "COMPLETING",
    "RESIZING",
    "SIGNALING",
    "STAGE_OUT",
    "STOPPED",
    "SUSPENDED",
    "IN_PROGRESS",
];

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EngineState {
    /// The scheduler's word, such as `FAILED`.
    Ended(String),
    Queued,
    Running,
}

/// Answer of `status` about a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineAnswer<'a> {
    /// No answer, or no `status` command.
    Unknown,
    Unlisted {
        /// Listed before, and missing in the last two looks.
        was_listed: bool,
    },
    Listed(&'a EngineState),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobOutcome {
    /// End in the worker's own [`WorkerReport`], with its detail.
    Reported(WorkerEnd, String),
    /// The scheduler no longer has the worker, in its words, and no report tells of an end.
    Lost(String),
    /// `queue_minutes` spent.
    QueueLimit,
    /// `run_minutes` spent.
    TimeUp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobDecision {
    Wait,
    /// Began, on this host.
    Began(String),
    Requeued,
    End(JobOutcome),
}

/// States by name, from lines of name and state; of a worker listed twice, the furthest counts.
pub fn parse_engine_states(text: &str) -> BTreeMap<String, EngineState> {
    let mut states = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some(name), Some(word)) = (words.next(), words.next()) else {
            continue;
        };
        let state = if is_one_of(word, &QUEUED) {
            EngineState::Queued
        } else if is_one_of(word, &RUNNING) {
            EngineState::Running
        } else {
            EngineState::Ended(sanitize(word, 40))
        };
        let furthest = states
            .entry(name.to_owned())
            .or_insert_with(|| state.clone());
        if *furthest < state {
            *furthest = state;
        }
    }
    states
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|other| word.eq_ignore_ascii_case(other))
}

#[derive(Clone, Copy, Debug)]
pub struct JobSighting<'a> {
    /// Answer of `status`.
    pub engine: EngineAnswer<'a>,
    pub report: Option<&'a WorkerReport>,
    /// Time since the scheduler was asked to end the worker.
    pub cancelled_for: Option<Duration>,
}

/// The next step for a worker; `client_limit` is the time limit of its client.
pub fn decide(
    job: &SubmittedWorker,
    sighting: JobSighting,
    profile: &LauncherProfile,
    client_limit: Duration,
    now: Timestamp,
) -> JobDecision {
    let JobSighting {
        engine,
        report,
        cancelled_for,
    } = sighting;
    if let Some(WorkerReport {
        phase: WorkerPhase::Ended { end, detail },
        ..
    }) = report
    {
        // After a stop or kill the scheduler may requeue the worker; its report then does not count.
        let engine_has_it = match engine {
            EngineAnswer::Listed(state) => {
                matches!(state, EngineState::Queued | EngineState::Running)
            }
            EngineAnswer::Unknown => profile.status.is_some(),
            EngineAnswer::Unlisted { .. } => false,
        };
        // The client may have got the signal before its worker did.
        let may_begin_again = matches!(end, WorkerEnd::Stopped | WorkerEnd::Killed)
            && cancelled_for.is_none()
            && engine_has_it;
        if !may_begin_again {
            return JobDecision::End(JobOutcome::Reported(*end, detail.clone()));
        }
    }
    match engine {
        EngineAnswer::Listed(EngineState::Ended(word)) => return lost(word),
        EngineAnswer::Unlisted { was_listed }
            if was_listed || has_passed(job.queued_at, UNLISTED, now) =>
        {
            return lost("it lists it no longer");
        }
        EngineAnswer::Unlisted { .. } if cancelled_for.is_some() => return lost(CANCELLED),
        _ if cancelled_for.is_some_and(|time| time > AFTER_CANCEL) => return lost(CANCELLED),
        EngineAnswer::Listed(EngineState::Queued) if job.began_at.is_some() => {
            return if job.requeues < MAX_REQUEUES {
                JobDecision::Requeued
            } else {
                lost("it queues it again and again")
            };
        }
        _ => {}
    }
    // A report from before a requeue does not say that it runs.
    let runs = match engine {
        EngineAnswer::Listed(state) => *state == EngineState::Running,
        EngineAnswer::Unknown | EngineAnswer::Unlisted { .. } => report.is_some(),
    };
    let run_limit = profile
        .run_minutes
        .map_or_else(|| client_limit + AROUND_CLIENT, minutes);
    match job.began_at {
        None if runs => JobDecision::Began(
            report
                .map(|report| sanitize(&report.host, 60))
                .unwrap_or_default(),
        ),
        None if has_passed(job.queued_at, minutes(profile.queue_minutes), now) => {
            JobDecision::End(JobOutcome::QueueLimit)
        }
        Some(began) if has_passed(began, run_limit, now) => JobDecision::End(JobOutcome::TimeUp),
        // Seen running before a report named its host.
        Some(_) if job.host.is_empty() && report.is_some_and(|report| !report.host.is_empty()) => {
            JobDecision::Began(
                report
                    .map(|report| sanitize(&report.host, 60))
                    .unwrap_or_default(),
            )
        }
        _ => JobDecision::Wait,
    }
}

fn lost(word: &str) -> JobDecision {
    JobDecision::End(JobOutcome::Lost(word.to_owned()))
}

fn has_passed(since: Timestamp, limit: Duration, now: Timestamp) -> bool {
    now.millis_since(since)
        .and_then(|millis| u128::try_from(millis).ok())
        .is_some_and(|millis| millis > limit.as_millis())
}

fn minutes(count: u32) -> Duration {
    Duration::from_secs(u64::from(count) * 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use omo_claude::client_cost::ClientCost;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    fn job(began_at: Option<Timestamp>) -> SubmittedWorker {
        let host = if began_at.is_some() {
            "h".to_owned()
        } else {
            String::new()
        };
        SubmittedWorker {
            began_at,
            host,
            ..SubmittedWorker::new("j", 1, "", at(0), None)
        }
    }

    fn report(phase: WorkerPhase) -> WorkerReport {
        let (instance, host) = ("i".to_owned(), "n1".to_owned());
        WorkerReport {
            version: 1,
            instance,
            host,
            at: at(1),
            phase,
            pushed: Vec::new(),
            cost: ClientCost::default(),
        }
    }

    #[test]
    fn a_list_is_read_whatever_the_engine_calls_its_states() {
        let states = parse_engine_states(
            "a PENDING\nb  RUNNING x\nc CANCELLED\nd\na RUNNING\ne in_progress\nf Succeeded\n",
        );
        let ended = |word: &str| EngineState::Ended(word.to_owned());
        let expected = [
            ("a", EngineState::Running),
            ("b", EngineState::Running),
            ("c", ended("CANCELLED")),
            ("e", EngineState::Running),
            ("f", ended("Succeeded")),
        ];
        assert_eq!(
            states,
            expected
                .map(|(name, state)| (name.to_owned(), state))
                .into()
        );
        assert_eq!(
            parse_engine_states("a FAILED\na PENDING\n")["a"],
            EngineState::Queued
        );
    }

    #[test]
    fn what_the_worker_says_of_its_end_counts_and_otherwise_its_engine() {
        use EngineState::{Queued, Running};
        let profile = LauncherProfile {
            queue_minutes: 10,
            ..LauncherProfile::default()
        };
        let ended = report(WorkerPhase::Ended {
            end: WorkerEnd::Pushed,
            detail: "d".to_owned(),
        });
        let stopped = report(WorkerPhase::Ended {
            end: WorkerEnd::Stopped,
            detail: "d".to_owned(),
        });
        let killed = report(WorkerPhase::Ended {
            end: WorkerEnd::Killed,
            detail: "d".to_owned(),
        });
        let working = report(WorkerPhase::Working);
        let gone = EngineState::Ended("NODE_FAIL".to_owned());
        let (listed, unlisted) = (EngineAnswer::Listed, |was_listed| EngineAnswer::Unlisted {
            was_listed,
        });
        let lost = |word: &str| JobDecision::End(JobOutcome::Lost(word.to_owned()));
        let began = |host: &str| JobDecision::Began(host.to_owned());
        let reported = JobDecision::End(JobOutcome::Reported(WorkerEnd::Pushed, "d".to_owned()));
        let was_stopped =
            JobDecision::End(JobOutcome::Reported(WorkerEnd::Stopped, "d".to_owned()));
        let (waits, works) = (None, Some(at(60)));
        for (engine, report, began_at, seconds, expected) in [
            (listed(&Running), Some(&ended), works, 61, reported.clone()),
            (listed(&gone), Some(&ended), works, 61, reported),
            (
                listed(&Running),
                Some(&stopped),
                works,
                61,
                JobDecision::Wait,
            ),
            (
                listed(&Queued),
                Some(&stopped),
                works,
                61,
                JobDecision::Requeued,
            ),
            (
                listed(&Queued),
                Some(&stopped),
                waits,
                61,
                JobDecision::Wait,
            ),
            (
                listed(&Queued),
                Some(&killed),
                works,
                61,
                JobDecision::Requeued,
            ),
            (
                listed(&gone),
                Some(&stopped),
                works,
                61,
                was_stopped.clone(),
            ),
            (
                unlisted(true),
                Some(&stopped),
                works,
                61,
                was_stopped.clone(),
            ),
            (
                EngineAnswer::Unknown,
                Some(&stopped),
                works,
                61,
                was_stopped.clone(),
            ),
            (listed(&gone), Some(&working), works, 61, lost("NODE_FAIL")),
            (listed(&gone), None, waits, 61, lost("NODE_FAIL")),
            (
                unlisted(true),
                Some(&working),
                works,
                61,
                lost("it lists it no longer"),
            ),
            (unlisted(false), None, waits, 30, JobDecision::Wait),
            (
                unlisted(false),
                None,
                waits,
                91,
                lost("it lists it no longer"),
            ),
            (listed(&Queued), None, waits, 61, JobDecision::Wait),
            (
                listed(&Queued),
                None,
                waits,
                601,
                JobDecision::End(JobOutcome::QueueLimit),
            ),
            (
                listed(&Queued),
                Some(&working),
                works,
                61,
                JobDecision::Requeued,
            ),
            (
                listed(&Queued),
                Some(&working),
                waits,
                61,
                JobDecision::Wait,
            ),
            (listed(&Running), None, waits, 61, began("")),
            (listed(&Running), Some(&working), waits, 61, began("n1")),
            (
                listed(&Running),
                Some(&working),
                works,
                4_000,
                JobDecision::Wait,
            ),
            (
                listed(&Running),
                Some(&working),
                works,
                4_600,
                JobDecision::End(JobOutcome::TimeUp),
            ),
            (
                EngineAnswer::Unknown,
                Some(&working),
                waits,
                61,
                began("n1"),
            ),
            (
                EngineAnswer::Unknown,
                None,
                waits,
                601,
                JobDecision::End(JobOutcome::QueueLimit),
            ),
            (EngineAnswer::Unknown, None, works, 61, JobDecision::Wait),
        ] {
            let sighting = JobSighting {
                engine,
                report,
                cancelled_for: None,
            };
            let decided = decide(&job(began_at), sighting, &profile, HOUR, at(seconds));
            assert_eq!(
                decided, expected,
                "{engine:?} {report:?} {began_at:?} {seconds}"
            );
        }
    }

    #[test]
    fn a_worker_that_is_queued_again_without_end_is_lost() {
        let profile = LauncherProfile::default();
        let engine = EngineAnswer::Listed(&EngineState::Queued);
        for (requeues, is_lost) in [(0, false), (MAX_REQUEUES - 1, false), (MAX_REQUEUES, true)] {
            let job = SubmittedWorker {
                requeues,
                ..job(Some(at(0)))
            };
            let sighting = JobSighting {
                engine,
                report: None,
                cancelled_for: None,
            };
            let decided = decide(&job, sighting, &profile, HOUR, at(60));
            assert_eq!(
                matches!(decided, JobDecision::End(JobOutcome::Lost(_))),
                is_lost,
                "{requeues}"
            );
            assert_eq!(decided == JobDecision::Requeued, !is_lost, "{requeues}");
        }
    }

    #[test]
    fn a_worker_that_was_cancelled_is_waited_for_a_minute_at_most() {
        let profile = LauncherProfile {
            queue_minutes: 10,
            ..LauncherProfile::default()
        };
        let over = JobDecision::End(JobOutcome::Lost(CANCELLED.to_owned()));
        let running = EngineAnswer::Listed(&EngineState::Running);
        for (engine, seconds, expected) in [
            (running, 60, JobDecision::Wait),
            (running, 61, over.clone()),
            (EngineAnswer::Unknown, 61, over.clone()),
            (EngineAnswer::Unlisted { was_listed: false }, 0, over),
        ] {
            let sighting = JobSighting {
                engine,
                report: None,
                cancelled_for: Some(Duration::from_secs(seconds)),
            };
            let decided = decide(&job(Some(at(0))), sighting, &profile, HOUR, at(70));
            assert_eq!(decided, expected, "{engine:?} {seconds}");
        }
    }
}
