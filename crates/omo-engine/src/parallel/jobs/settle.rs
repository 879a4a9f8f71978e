//! What follows from the end of a worker that an engine had: pure rules.

use omo_claude::client_end::FollowUp;
use omo_core::text::sanitize;

use super::job_rules::JobOutcome;
use crate::client_policy::ClientCost;
use crate::parallel::remote_workers::RemoteEnd;
use crate::worker_exchange::WorkerEnd;

/// How a worker has ended in words, and what follows for the first step that it pushed nothing of. Whatever it says, only
/// what was pushed and judged counts.
pub(super) fn remote_end(outcome: &JobOutcome, cost: ClientCost) -> RemoteEnd {
    let detail = match outcome {
        JobOutcome::Lost(detail) | JobOutcome::Reported(_, detail) => sanitize(detail, 300),
        JobOutcome::QueueLimit | JobOutcome::TimeUp => String::new(),
    };
    let with = |what: &str| if detail.is_empty() { what.to_owned() } else { format!("{what}: {detail}") };
    let (how, follow) = match outcome {
        JobOutcome::Lost(_) => {
            (with("its engine lost it"), FollowUp::HoldOrAsk("the engine has it no longer, and it had not ended"))
        }
        JobOutcome::QueueLimit => {
            let why = "it waited in the queue for as long as it may";
            (why.to_owned(), FollowUp::Ask(why))
        }
        JobOutcome::TimeUp => ("its time was up".to_owned(), FollowUp::FailAttempt("the session's time was up")),
        JobOutcome::Reported(end, _) => match end {
            WorkerEnd::Pushed => (
                with("it has pushed its steps"),
                FollowUp::FailAttempt("no commit on the branch that was pushed carries the step's trailer"),
            ),
            WorkerEnd::TasksLeft => (
                with("it ended with steps left"),
                FollowUp::FailAttempt("the session ended without a commit for the step"),
            ),
            WorkerEnd::NotPrepared => (with("it could not begin"), FollowUp::HoldOrAsk("the worker could not begin")),
            WorkerEnd::UsageLimit { until } => (with("it met a limit of use"), FollowUp::WaitUntil(*until)),
            WorkerEnd::BudgetSpent => (with("it had spent its budget"), FollowUp::Ask("the session spent its budget")),
            WorkerEnd::ApiFailed => (with("the API failed"), FollowUp::HoldOrAsk("the API failed")),
            WorkerEnd::TimedOut => (with("its time was up"), FollowUp::FailAttempt("the session's time was up")),
            WorkerEnd::Stopped => (with("it was stopped"), FollowUp::HoldOrAsk("the session was stopped")),
            WorkerEnd::Killed => (with("its client was killed"), FollowUp::HoldOrAsk("the session was killed")),
        },
    };
    RemoteEnd { how, detail, follow, cost }
}
