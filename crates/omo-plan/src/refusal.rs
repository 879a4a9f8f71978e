//! `VerbRefusal`: an obstacle, and the way out.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerbRefusal {
    pub kind: VerbRefusalKind,
    /// One sentence without its end.
    pub message: String,
    pub hint: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerbRefusalKind {
    /// Missing object.
    NotFound,
    /// Missing step before, or a caller without the right.
    Precondition,
    /// Another worker or session holds the object.
    Contention,
    /// Missing word of a person.
    Human,
    /// Incomplete or wrong arguments.
    Usage,
    /// A check is not green.
    NotGreen,
}

impl VerbRefusal {
    pub fn new(kind: VerbRefusalKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: hint.into(),
        }
    }
}
