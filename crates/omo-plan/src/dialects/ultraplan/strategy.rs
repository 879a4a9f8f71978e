//! `ExecutionStrategy`: sessions and waves as a plan names them.

use std::ops::Range;

use crate::dialects::ultraplan::scope_fence::ScopeFence;
use crate::pattern::Pattern;

pub(super) const SESSION_WORDS: [&str; 3] = ["session", "sessions", "s"];

#[derive(Debug)]
pub(crate) struct SessionSection {
    pub number: u64,
    pub title: String,
    pub heading: Range<usize>,
    pub steps: NumberList,
    pub wave: Option<u64>,
    pub deps: NumberList,
    pub fence: ScopeFence,
}

#[derive(Debug)]
pub(crate) struct NumberList {
    pub numbers: Vec<u64>,
    /// Place of the numbers, or of their absence.
    pub span: Range<usize>,
}

/// Of `### Execution Order`.
#[derive(Debug)]
pub(crate) struct WaveLine {
    pub wave: u64,
    pub sessions: NumberList,
}

#[derive(Debug)]
pub(crate) struct ExecutionStrategy {
    pub sessions: Vec<SessionSection>,
    pub wave_lines: Vec<WaveLine>,
}

/// In a table, a list or a line.
static NAMED_SESSION: Pattern = Pattern::new(r"\b(?i-u:sessions?|waves?)[ *_|]*[0-9]");

pub(super) fn names_session(row: &str) -> bool {
    NAMED_SESSION.is_match(row)
}
