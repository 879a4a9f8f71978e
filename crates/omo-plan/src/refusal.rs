//! `VerbRefusal`: the refusal of a verb, with the obstacle as `message` and the way out as `hint`.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerbRefusal {
    pub kind: VerbRefusalKind,
    pub message: String,
    pub hint: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerbRefusalKind {
    NotFound,
    Precondition,
    /// Another worker or session holds the object.
    Contention,
    NeedsPerson,
    Usage,
    ChecksNotGreen,
}

impl VerbRefusal {
    pub fn new(kind: VerbRefusalKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: hint.into(),
        }
    }

    pub fn precondition(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(VerbRefusalKind::Precondition, message, hint)
    }
}
