//! What a check found.

use serde::Serialize;

/// How much it matters. The order is the one in which a table shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    /// omo does not do what its user believes.
    Bad,
    /// It works, and not as well as it could.
    Warning,
    /// It could not be looked at.
    Unknown,
    /// Nothing is wrong.
    Good,
}

impl Level {
    /// The word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Bad => "bad",
            Self::Warning => "warning",
            Self::Unknown => "unknown",
            Self::Good => "good",
        }
    }
}

/// One row: what was found, why that matters, and what fixes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// The name of the check.
    pub name: &'static str,
    /// How much it matters.
    pub level: Level,
    /// What was found.
    pub found: String,
    /// Why it matters; nothing where all is well.
    pub why: Option<String>,
    /// The one command, or the one step, that fixes it.
    pub fix: Option<String>,
}

impl Finding {
    /// Nothing is wrong.
    pub(super) fn good(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, level: Level::Good, found: found.into(), why: None, fix: None }
    }

    /// Something is wrong, or could not be looked at.
    pub(super) fn new(
        name: &'static str,
        level: Level,
        found: impl Into<String>,
        why: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { name, level, found: found.into(), why: Some(why.into()), fix: Some(fix.into()) }
    }
}
