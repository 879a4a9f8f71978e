//! The decision table: what becomes of a Stop, row by row, in words for people.

use omo_core::stop::StopRow;

use crate::reference;

/// One row of the table for each row of the code, in its order.
pub(crate) fn decisions() -> String {
    let row = |row: StopRow| {
        let (when, then) = row_texts(row);
        format!("| {} | {} | {when} | {then} |", row.number(), row.label())
    };
    reference::table("# | in `omo log` | when | then", &StopRow::ALL.map(row))
}

/// When a row matches, and what it does. Where it says only that the turn ends, neither the user nor the model is told.
fn row_texts(row: StopRow) -> (&'static str, &'static str) {
    match row {
        StopRow::Unreadable => {
            ("the input or the state cannot be read, or the lock is not had in time", "the turn ends")
        }
        StopRow::Subagent => ("a subagent stops, not the session", "the turn ends"),
        StopRow::NoRun => (
            "no run is on in this session, or what is kept of it is not what omo wrote last",
            "the turn ends; where omo did not write it, **end: released**",
        ),
        StopRow::StopContinuation => ("you stopped it, in the session or from a terminal", "the turn ends"),
        StopRow::InputWaiting => ("you typed something while the turn ran", "the turn ends for it; the run stays on"),
        StopRow::BackgroundWork => (
            "a background agent runs, a wakeup is scheduled, or a shell runs that was named before",
            "the turn ends, uncounted; the run stays on",
        ),
        StopRow::PlanOrPaused => (
            "the session is in plan mode, you pressed Esc or said to stop, the run is paused, the turn answers your question, or \
             its model or its plan asks you something",
            "the turn ends, uncounted",
        ),
        StopRow::SaidBlocked => ("the model says why it cannot be done", "**end: blocked**"),
        StopRow::ClaimJudged => (
            "the claim was judged, and nothing stands against an end",
            "**end: verified**; with nothing to judge it by, **released**",
        ),
        StopRow::AttemptsSpent => ("three verifications have failed", "**end: released**"),
        StopRow::BlocksSpent => {
            ("all continuations are used: yours, or the client's own cap where that is lower", "**end: released**")
        }
        StopRow::TimeSpent => ("the run is too old", "**end: expired**"),
        StopRow::SameFailure => ("the same failure on the same files was sent twice already", "**end: released**"),
        StopRow::Cooldown => (
            "the last continuation was a moment ago, and no tool was used since",
            "the turn ends with a warning; the run stays on",
        ),
        StopRow::Continue => ("anything else", "**the session goes on**, and that is counted"),
    }
}
