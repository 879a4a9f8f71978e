//! The decision table: the outcome of a Stop, row by row, in words for people.

use omo_core::messages::why::row_words;
use omo_core::stop::StopRow;

use crate::reference;

/// One row of the table for each `StopRow`, in its order.
pub(crate) fn decisions() -> String {
    let row = |row: StopRow| {
        format!(
            "| {} | {} | {} | {} |",
            row.number(),
            row.label(),
            row_words(row).when,
            consequence(row)
        )
    };
    reference::table("# | in `omo log` | when | then", &StopRow::ALL.map(row))
}

/// Outcome of a `StopRow`. A row with the end of the turn alone tells neither the user nor the model.
fn consequence(row: StopRow) -> &'static str {
    match row {
        StopRow::Unreadable | StopRow::Subagent | StopRow::StopContinuation => "the turn ends",
        StopRow::NoRun => "the turn ends; where omo did not write it, **end: released**",
        StopRow::InputWaiting => "the turn ends for it; the run stays on",
        StopRow::BackgroundWork => "the turn ends, uncounted; the run stays on",
        StopRow::PlanOrPaused => "the turn ends, uncounted",
        StopRow::SaidBlocked => "**end: blocked**",
        StopRow::ClaimJudged => "**end: verified**; with nothing to judge it by, **released**",
        StopRow::BlocksSpent => "**end: released**; without tokens the run pauses",
        StopRow::AttemptsSpent | StopRow::SameFailure => "**end: released**",
        StopRow::TimeSpent => "**end: expired**",
        StopRow::Cooldown => "the turn ends with a warning; the run stays on",
        StopRow::Continue => "**the session goes on**, and that is counted",
    }
}
