//! Whatever omo says when it releases a session or finds a check red, a reader finds in the page for trouble.

use omo_core::check::session_check::CheckVerdict;
use omo_core::stop::StopRow;

use crate::{first_cells, page};

#[test]
fn every_reason_to_let_a_run_go_is_explained() {
    let rows = first_cells(
        &page("docs/troubleshooting.md"),
        "## It stops although the work is not done",
    );
    // The rows before are of sessions without a run, and the last one holds.
    for row in StopRow::ALL
        .into_iter()
        .filter(|row| *row > StopRow::NoRun && *row < StopRow::Continue)
    {
        assert!(
            rows.iter().any(|shown| shown.starts_with(row.label())),
            "`{}` is not in {rows:?}",
            row.label()
        );
    }
}

#[test]
fn every_way_in_which_a_check_is_red_is_explained() {
    let rows = first_cells(
        &page("docs/troubleshooting.md"),
        "## The check is red, but passes in my shell",
    );
    for verdict in CheckVerdict::ALL
        .into_iter()
        .filter(|verdict| *verdict != CheckVerdict::Green)
    {
        assert!(
            rows.iter().any(|shown| shown == verdict.word()),
            "`{}` is not in {rows:?}",
            verdict.word()
        );
    }
}
