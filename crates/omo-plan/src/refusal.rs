//! Why omo does not do what a verb was asked for: what is wrong, and what to do.

/// Why a verb does nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerbRefusal {
    /// What kind of thing is in the way.
    pub kind: VerbRefusalKind,
    /// What, in one sentence without its end.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// What kind of thing is in the way of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerbRefusalKind {
    /// What was named is not there.
    NotFound,
    /// Something else has to happen first, or it is not this caller's to do.
    Precondition,
    /// Another worker is at it, or another session holds the run.
    Contention,
    /// A person has to say so.
    Human,
    /// What was said says too little, or is wrong.
    Usage,
    /// The answer is no: something is not green.
    NotGreen,
}

impl VerbRefusal {
    /// A refusal of this kind.
    pub fn new(kind: VerbRefusalKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: hint.into() }
    }
}
