//! Outcome of a check on one side: with the change, or without it.

use omo_core::check::session_check::{CheckEnd, CheckVerdict};
use omo_core::check::test_report::TestReport;

/// Outcome of a check in a private copy.
#[derive(Clone, Debug)]
pub struct SideOutcome {
    pub end: CheckEnd,
    pub verdict: CheckVerdict,
    /// Verdict in a few words.
    pub detail: String,
    pub report: TestReport,
    pub lines: Vec<String>,
}

impl SideOutcome {
    pub(crate) fn is_green(&self) -> bool {
        self.verdict == CheckVerdict::Green
    }
}
