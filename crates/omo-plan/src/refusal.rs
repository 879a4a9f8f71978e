//! Refusals of verbs: the reason, and the way out.

/// Refusal of a verb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerbRefusal {
    /// Kind of obstacle.
    pub kind: VerbRefusalKind,
    /// Obstacle in one sentence without its end.
    pub message: String,
    /// Way out.
    pub hint: String,
}

/// Kind of obstacle of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerbRefusalKind {
    /// A missing object.
    NotFound,
    /// A missing step before, or a caller without the right.
    Precondition,
    /// Another worker or session that holds the object.
    Contention,
    /// A missing word of a person.
    Human,
    /// Incomplete or wrong arguments.
    Usage,
    /// A check that is not green.
    NotGreen,
}

impl VerbRefusal {
    /// A refusal of this kind.
    pub fn new(kind: VerbRefusalKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: hint.into(),
        }
    }
}
