//! Execution strategy of an ultraplan as written: sessions with steps, and the waves they run in.

use std::ops::Range;

use crate::dialects::ultraplan::scope_fence::ScopeFence;
use crate::pattern::Pattern;

pub(super) const SESSION_WORDS: [&str; 3] = ["session", "sessions", "s"];

/// Section such as `### Session 1: title`.
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
    /// Bytes of the numbers, or of the place where they are missing.
    pub span: Range<usize>,
}

/// Line of `### Execution Order`.
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

/// Mention of a session in a table, a list or a line.
static NAMED_SESSION: Pattern = Pattern::new(r"\b(?i-u:sessions?|waves?)[ *_|]*[0-9]");

pub(super) fn names_session(row: &str) -> bool {
    NAMED_SESSION.is_match(row)
}
