//! `Finding`: the result of one check of `omo doctor`, with its reason and its fix.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    Bad,
    Warning,
    Unknown,
    Good,
}

impl Level {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Bad => "bad",
            Self::Warning => "warning",
            Self::Unknown => "unknown",
            Self::Good => "good",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub name: &'static str,
    pub level: Level,
    pub found: String,
    pub why: Option<String>,
    pub fix: Option<String>,
}

impl Finding {
    pub(super) fn good(name: &'static str, found: impl Into<String>) -> Self {
        Self {
            name,
            level: Level::Good,
            found: found.into(),
            why: None,
            fix: None,
        }
    }

    pub(super) fn new(
        name: &'static str,
        level: Level,
        found: impl Into<String>,
        why: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            name,
            level,
            found: found.into(),
            why: Some(why.into()),
            fix: Some(fix.into()),
        }
    }
}
