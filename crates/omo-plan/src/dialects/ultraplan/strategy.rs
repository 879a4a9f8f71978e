//! Sessions of a plan, as it names them.

use std::ops::Range;

use crate::dialects::ultraplan::scope_fence::ScopeFence;
use crate::pattern::Pattern;

/// Words that refer to a session.
pub(super) const SESSION_WORDS: [&str; 3] = ["session", "sessions", "s"];

/// A session.
#[derive(Debug)]
pub(crate) struct SessionSection {
    /// Its number.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// Its heading.
    pub heading: Range<usize>,
    /// The numbers of its steps, in the order in which it takes them.
    pub steps: NumberList,
    /// The wave that it says it belongs to.
    pub wave: Option<u64>,
    /// The sessions that have to have ended before.
    pub deps: NumberList,
    /// Files that it may touch, and files that it may not.
    pub fence: ScopeFence,
}

/// Numbers, and where they stand.
#[derive(Debug)]
pub(crate) struct NumberList {
    /// Them.
    pub numbers: Vec<u64>,
    /// Their bytes, or those of what they are missing from.
    pub span: Range<usize>,
}

/// A line of `### Execution Order`.
#[derive(Debug)]
pub(crate) struct WaveLine {
    /// The wave's number.
    pub wave: u64,
    /// Its sessions.
    pub sessions: NumberList,
}

/// Sessions and waves that a plan names.
#[derive(Debug)]
pub(crate) struct ExecutionStrategy {
    /// Them, in the order of the file.
    pub sessions: Vec<SessionSection>,
    /// The waves, where they are listed.
    pub wave_lines: Vec<WaveLine>,
}

/// A session that is named in a table, a list or a line.
static NAMED_SESSION: Pattern = Pattern::new(r"\b(?i-u:sessions?|waves?)[ *_|]*[0-9]");

/// `true` for a line that names a session or a wave.
pub(super) fn names_session(row: &str) -> bool {
    NAMED_SESSION.is_match(row)
}
