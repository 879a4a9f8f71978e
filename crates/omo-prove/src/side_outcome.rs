//! Outcome of a check on one side: with the change, or without it.

use omo_core::check::session_check::{CheckEnd, CheckVerdict};
use omo_core::check::test_report::TestReport;

/// Outcome of a check on one `Side`.
#[derive(Clone, Debug)]
pub struct SideOutcome {
    /// `CheckEnd`.
    pub end: CheckEnd,
    /// `CheckVerdict` of the end.
    pub verdict: CheckVerdict,
    /// The verdict in a few words.
    pub detail: String,
    /// `TestReport` of the output.
    pub report: TestReport,
    /// The lines of its output.
    pub lines: Vec<String>,
}

impl SideOutcome {
    pub(crate) fn is_green(&self) -> bool {
        self.verdict == CheckVerdict::Green
    }
}
