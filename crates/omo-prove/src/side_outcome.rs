//! What a check did on one side: with the change, or without it.

use omo_core::check::session_check::{CheckEnd, CheckVerdict};
use omo_core::check::test_report::TestReport;

/// What a check did on one side.
#[derive(Clone, Debug)]
pub struct SideOutcome {
    /// How it ended.
    pub end: CheckEnd,
    /// What that is worth.
    pub verdict: CheckVerdict,
    /// The verdict in a few words.
    pub detail: String,
    /// Its tests.
    pub report: TestReport,
    /// The lines of its output.
    pub lines: Vec<String>,
}

impl SideOutcome {
    /// It passed.
    pub(crate) fn is_green(&self) -> bool {
        self.verdict == CheckVerdict::Green
    }
}
