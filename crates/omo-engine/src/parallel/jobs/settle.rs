//! What follows from the end of a worker that an engine had: pure rules.

use omo_claude::client_end::FollowUp;
use omo_core::text::sanitize;

use super::job_rules::JobOutcome;
use crate::client_policy::ClientCost;
use crate::parallel::remote_workers::RemoteEnd;
use crate::worker_exchange::WorkerEnd;

/// How a worker has ended in words, and what follows for the first step that it pushed nothing of. Whatever it says, only
/// what was pushed and judged counts.
pub(super) fn remote_end(outcome: JobOutcome, cost: ClientCost) -> RemoteEnd {
    let with = |what: &str, detail: &str| match sanitize(detail, 300) {
        detail if detail.is_empty() => what.to_owned(),
        detail => format!("{what}: {detail}"),
    };
    let (how, follow) = match outcome {
        JobOutcome::Lost(word) => (
            with("its engine lost it", &word),
            FollowUp::HoldOrAsk("the engine has it no longer, and it had not ended"),
        ),
        JobOutcome::QueueLimit => {
            let why = "it waited in the queue for as long as it may";
            (why.to_owned(), FollowUp::Ask(why))
        }
        JobOutcome::TimeUp => ("its time was up".to_owned(), FollowUp::FailAttempt("the session's time was up")),
        JobOutcome::Reported(end, detail) => match end {
            WorkerEnd::Pushed => (
                with("it has pushed its steps", &detail),
                FollowUp::FailAttempt("no commit on the branch that was pushed carries the step's trailer"),
            ),
            WorkerEnd::TasksLeft => (
                with("it ended with steps left", &detail),
                FollowUp::FailAttempt("the session ended without a commit for the step"),
            ),
            WorkerEnd::NotPrepared => {
                (with("it could not begin", &detail), FollowUp::HoldOrAsk("the worker could not begin"))
            }
            WorkerEnd::UsageLimit { until } => (with("it met a limit of use", &detail), FollowUp::WaitUntil(until)),
            WorkerEnd::BudgetSpent => {
                (with("it had spent its budget", &detail), FollowUp::Ask("the session spent its budget"))
            }
            WorkerEnd::ApiFailed => (with("the API failed", &detail), FollowUp::HoldOrAsk("the API failed")),
            WorkerEnd::TimedOut => {
                (with("its time was up", &detail), FollowUp::FailAttempt("the session's time was up"))
            }
            WorkerEnd::Stopped => (with("it was stopped", &detail), FollowUp::HoldOrAsk("the session was stopped")),
            WorkerEnd::Killed => {
                (with("its client was killed", &detail), FollowUp::HoldOrAsk("the session was killed"))
            }
        },
    };
    RemoteEnd { how, follow, cost }
}
