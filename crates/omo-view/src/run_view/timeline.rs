//! A run in time: lanes of spans and marks.

use omo_core::timestamp::Timestamp;

use crate::run_view::Standing;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    pub began: Timestamp,
    pub until: Timestamp,

    pub lanes: Vec<Lane>,
}

/// Work and waits of one worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    pub name: String,
    pub spans: Vec<Span>,
    pub marks: Vec<Mark>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub from: Timestamp,
    /// `None` while it goes on.
    pub until: Option<Timestamp>,
    pub kind: SpanKind,
    pub label: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    Attempt {
        task: usize,
        end: Standing,
    },
    Turn,
    Review,
    Background,
    Person,
    /// Between the end of a turn and the next prompt.
    Idle,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub at: Timestamp,
    pub kind: MarkKind,
    pub label: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKind {
    /// Green check.
    Green,
    /// Check that was not green.
    Red,
    /// Claim, review or verdict.
    Review,
    /// Stop that became a continuation.
    Continuation,
    /// Question to a person, or the answer.
    Person,
}
