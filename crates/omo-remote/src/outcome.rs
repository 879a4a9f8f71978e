//! Consequences of the end of a worker that an engine had: pure rules.

use omo_claude::client_cost::ClientCost;
use omo_claude::client_end::{FollowUp, ProcessEnd};
use omo_core::text::sanitize;

use crate::decision::JobOutcome;
use crate::exchange::WorkerEnd;

const UNMARKED: &str = "no commit on the branch that was pushed carries the step's trailer";

/// End of a worker elsewhere, from its [`JobOutcome`].
pub struct RemoteEnd {
    /// In words.
    pub how: String,
    /// Words for a person who is asked.
    pub detail: String,
    /// Consequence for a step that nothing was pushed of.
    pub follow: FollowUp,
    /// Cost.
    pub cost: ClientCost,
}

/// End of a worker in words, and the consequence for the first step that it pushed nothing of.
/// Whatever it says, only pushed and judged work counts.
pub fn remote_end(outcome: &JobOutcome, cost: ClientCost) -> RemoteEnd {
    let detail = match outcome {
        JobOutcome::Lost(detail) | JobOutcome::Reported(_, detail) => sanitize(detail, 300),
        JobOutcome::QueueLimit | JobOutcome::TimeUp => String::new(),
    };
    let with = |what: &str| {
        if detail.is_empty() {
            what.to_owned()
        } else {
            format!("{what}: {detail}")
        }
    };
    let (how, follow) = match outcome {
        JobOutcome::Lost(_) => (
            with("its engine lost it"),
            FollowUp::HoldOrAsk("the engine has it no longer, and it had not ended"),
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
                with("it has pushed its steps"),
                FollowUp::FailAttempt(UNMARKED),
            ),
            WorkerEnd::TasksLeft => (
                with("it ended with steps left"),
                FollowUp::FailAttempt("the session ended without a commit for the step"),
            ),
            WorkerEnd::NotPrepared => (
                with("it could not begin"),
                FollowUp::HoldOrAsk("the worker could not begin"),
            ),
            WorkerEnd::UsageLimit { until } => {
                (with("it met a limit of use"), FollowUp::WaitUntil(*until))
            }
            WorkerEnd::BudgetSpent => (
                with("it had spent its budget"),
                FollowUp::Ask("the session spent its budget"),
            ),
            WorkerEnd::ApiFailed => (
                with("the API failed"),
                FollowUp::HoldOrAsk("the API failed"),
            ),
            WorkerEnd::TimedOut => (
                with("its time was up"),
                FollowUp::FailAttempt("the session's time was up"),
            ),
            WorkerEnd::Stopped => (
                with("it was stopped"),
                FollowUp::HoldOrAsk("the session was stopped"),
            ),
            WorkerEnd::Killed => (
                with("its client was killed"),
                FollowUp::HoldOrAsk("the session was killed"),
            ),
        },
    };
    RemoteEnd {
        how,
        detail,
        follow,
        cost,
    }
}

/// The end of a command that ran as long as its worker. It proves nothing, however it ended; it is not told of a budget,
/// and tells no cost.
pub fn process_end(process: &ProcessEnd) -> RemoteEnd {
    let (how, follow) = match process {
        ProcessEnd {
            not_started: Some(why),
            ..
        } => (
            format!("the command never began: {}", sanitize(why, 200)),
            FollowUp::Ask("the command of --launcher could not be started"),
        ),
        ProcessEnd { stopped: true, .. } => (
            "the command was stopped".to_owned(),
            FollowUp::Hold("the command of --launcher was stopped"),
        ),
        ProcessEnd {
            timed_out: true, ..
        } => (
            "the command's time was up".to_owned(),
            FollowUp::FailAttempt(
                "the session's time was up, and no commit on its branch carries the step's trailer",
            ),
        ),
        ProcessEnd {
            signal: Some(signal),
            ..
        } => (
            format!("the command was killed with signal {signal}"),
            FollowUp::Hold("the command of --launcher was killed"),
        ),
        ProcessEnd {
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
    let how = if process.complaint.is_empty() {
        how
    } else {
        format!("{how}: {}", sanitize(&process.complaint, 200))
    };
    RemoteEnd {
        detail: how.clone(),
        how,
        follow,
        cost: ClientCost::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_end_of_a_command_passes_anything() {
        let end = ProcessEnd::default();
        let status = |status| ProcessEnd {
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
            process_end(&ProcessEnd {
                timed_out: true,
                ..end.clone()
            })
            .follow,
            FollowUp::FailAttempt(_)
        ));
        for process in [
            ProcessEnd {
                signal: Some(9),
                ..end.clone()
            },
            ProcessEnd {
                stopped: true,
                ..end.clone()
            },
        ] {
            assert!(
                matches!(process_end(&process).follow, FollowUp::Hold(_)),
                "{process:?}"
            );
        }
        let lost = ProcessEnd {
            not_started: Some("no ssh".to_owned()),
            ..end.clone()
        };
        assert!(matches!(process_end(&lost).follow, FollowUp::Ask(_)));
        assert_eq!(process_end(&lost).how, "the command never began: no ssh");
        let cut = ProcessEnd {
            complaint: "Connection refused".to_owned(),
            ..status(255)
        };
        assert_eq!(
            process_end(&cut).how,
            "the command ended with status 255: Connection refused"
        );
    }
}
