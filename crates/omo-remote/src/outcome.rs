//! Rules from the end of a remote worker to `RemoteEnd`: its texts, its cost, and the follow-up.

use omo_claude::client_cost::ClientCost;
use omo_claude::client_end::{ClientProcessEnd, FollowUp};
use omo_core::text::sanitize;

use crate::decision::JobOutcome;
use crate::exchange::WorkerEnd;

const UNMARKED: &str = "no commit on the branch that was pushed carries the step's trailer";

pub struct RemoteEnd {
    /// The end, as a line of the run shows it.
    pub summary: String,
    /// The detail, as a question to a person shows it.
    pub detail: String,
    /// Follow-up for a step without a pushed commit.
    pub follow: FollowUp,
    pub cost: ClientCost,
}

/// The end of a scheduled job. No report of a worker passes a step: only pushed and judged work counts.
pub fn remote_end(outcome: &JobOutcome, cost: ClientCost) -> RemoteEnd {
    let detail = match outcome {
        JobOutcome::Lost(detail) | JobOutcome::Reported(_, detail) => sanitize(detail, 300),
        JobOutcome::QueueLimit | JobOutcome::TimeUp => String::new(),
    };
    let (end_words, follow) = match outcome {
        JobOutcome::Lost(_) => (
            with_detail("its scheduler lost it", &detail),
            FollowUp::HoldOrAsk("its scheduler no longer has it, and it had not ended"),
        ),
        JobOutcome::QueueLimit => {
            let why = "it waited in the queue for as long as it may";
            (why.to_owned(), FollowUp::Ask(why))
        }
        JobOutcome::TimeUp => (
            "its time was up".to_owned(),
            FollowUp::FailAttempt("the session's time was up"),
        ),
        JobOutcome::Reported(end, _) => match end {
            WorkerEnd::Pushed => (
                with_detail("it has pushed its steps", &detail),
                FollowUp::FailAttempt(UNMARKED),
            ),
            WorkerEnd::TasksLeft => (
                with_detail("it ended with steps left", &detail),
                FollowUp::FailAttempt("the session ended without a commit for the step"),
            ),
            WorkerEnd::NotPrepared => (
                with_detail("it could not begin", &detail),
                FollowUp::HoldOrAsk("the worker could not begin"),
            ),
            WorkerEnd::UsageLimit { until } => (
                with_detail("it met a limit of use", &detail),
                FollowUp::WaitUntil(*until),
            ),
            WorkerEnd::BudgetSpent => (
                with_detail("it had spent its budget", &detail),
                FollowUp::Ask("the session spent its budget"),
            ),
            WorkerEnd::ApiFailed => (
                with_detail("the API failed", &detail),
                FollowUp::HoldOrAsk("the API failed"),
            ),
            WorkerEnd::TimedOut => (
                with_detail("its time was up", &detail),
                FollowUp::FailAttempt("the session's time was up"),
            ),
            WorkerEnd::Stopped => (
                with_detail("it was stopped", &detail),
                FollowUp::HoldOrAsk("the session was stopped"),
            ),
            WorkerEnd::Killed => (
                with_detail("its client was killed", &detail),
                FollowUp::HoldOrAsk("the session was killed"),
            ),
        },
    };
    RemoteEnd {
        summary: end_words,
        detail,
        follow,
        cost,
    }
}

fn with_detail(text: &str, detail: &str) -> String {
    if detail.is_empty() {
        text.to_owned()
    } else {
        format!("{text}: {detail}")
    }
}

/// The end of an attached command, which passes no step; its budget and its cost are unknown.
pub fn process_end(process: &ClientProcessEnd) -> RemoteEnd {
    let (end_words, follow) = match process {
        ClientProcessEnd {
            not_started: Some(why),
            ..
        } => (
            format!("the command never began: {}", sanitize(why, 200)),
            FollowUp::Ask("the command of --launcher could not be started"),
        ),
        ClientProcessEnd { stopped: true, .. } => (
            "the command was stopped".to_owned(),
            FollowUp::Hold("the command of --launcher was stopped"),
        ),
        ClientProcessEnd {
            timed_out: true, ..
        } => (
            "the command's time was up".to_owned(),
            FollowUp::FailAttempt(
                "the session's time was up, and no commit on its branch carries the step's trailer",
            ),
        ),
        ClientProcessEnd {
            signal: Some(signal),
            ..
        } => (
            format!("the command was killed with signal {signal}"),
            FollowUp::Hold("the command of --launcher was killed"),
        ),
        ClientProcessEnd {
            status: Some(status),
            ..
        } => (
            format!("the command ended with status {status}"),
            FollowUp::FailAttempt(UNMARKED),
        ),
        _ => (
            "the command ended".to_owned(),
            FollowUp::FailAttempt(UNMARKED),
        ),
    };
    let end_words = if process.complaint.is_empty() {
        end_words
    } else {
        format!("{end_words}: {}", sanitize(&process.complaint, 200))
    };
    RemoteEnd {
        detail: end_words.clone(),
        summary: end_words,
        follow,
        cost: ClientCost::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_end_of_a_command_passes_anything() {
        let end = ClientProcessEnd::default();
        let status = |status| ClientProcessEnd {
            status: Some(status),
            ..end.clone()
        };
        for process in [status(0), status(1), status(255)] {
            assert!(
                matches!(process_end(&process).follow, FollowUp::FailAttempt(_)),
                "{process:?}"
            );
        }
        assert!(matches!(
            process_end(&ClientProcessEnd {
                timed_out: true,
                ..end.clone()
            })
            .follow,
            FollowUp::FailAttempt(_)
        ));
        for process in [
            ClientProcessEnd {
                signal: Some(9),
                ..end.clone()
            },
            ClientProcessEnd {
                stopped: true,
                ..end.clone()
            },
        ] {
            assert!(
                matches!(process_end(&process).follow, FollowUp::Hold(_)),
                "{process:?}"
            );
        }
        let lost = ClientProcessEnd {
            not_started: Some("no ssh".to_owned()),
            ..end.clone()
        };
        assert!(matches!(process_end(&lost).follow, FollowUp::Ask(_)));
        assert_eq!(
            process_end(&lost).summary,
            "the command never began: no ssh"
        );
        let cut = ClientProcessEnd {
            complaint: "Connection refused".to_owned(),
            ..status(255)
        };
        assert_eq!(
            process_end(&cut).summary,
            "the command ended with status 255: Connection refused"
        );
    }
}
