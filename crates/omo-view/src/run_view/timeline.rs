//! Events of a run in time.

use omo_core::timestamp::Timestamp;

use crate::run_view::Standing;

/// Events of a run, as `Lane`s.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    pub began: Timestamp,
    /// Time of the end; now, while the run goes on.
    pub until: Timestamp,
    /// A lane for each worker.
    pub lanes: Vec<Lane>,
}

/// Work and waits of one worker, as `Span`s and `Mark`s.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    pub name: String,
    pub spans: Vec<Span>,
    pub marks: Vec<Mark>,
}

/// Stretch of time with its `SpanKind`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub from: Timestamp,
    /// Time of its end; `None` while it goes on.
    pub until: Option<Timestamp>,
    pub kind: SpanKind,
    pub label: String,
}

/// Kind of a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// An attempt at the task of this place.
    Attempt {
        task: usize,
        end: Standing,
    },
    /// A turn of the session.
    Turn,
    Review,
    /// A wait for work in the background.
    Background,
    /// A wait for a person.
    Person,
}

/// Moment with its `MarkKind`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub at: Timestamp,
    pub kind: MarkKind,
    pub label: String,
}

/// Kind of a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKind {
    /// A green check.
    Green,
    /// A check that was not green.
    Red,
    /// A claim, a review or a verdict.
    Review,
    /// A Stop that was turned into going on.
    Continuation,
    /// A question to a person, or an answer.
    Person,
}
