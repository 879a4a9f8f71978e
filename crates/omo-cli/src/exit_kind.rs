//! `ExitKind`: kinds of failure and their exit statuses, which are part of the interface.

use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ExitKind {
    Success = 0,
    /// A red or missing check, or something bad. Also every error of the verbs of task lists.
    NotGreen = 1,
    Usage = 2,
    NotFound = 3,
    InvalidPlan = 4,
    /// A missing condition: configuration, Claude Code, or the folder.
    Precondition = 5,
    Busy = 6,
    NeedsPerson = 7,
    Budget = 8,
    Io = 9,
    Conflict = 10,
}

impl ExitKind {
    pub(crate) const ALL: [Self; 11] = [
        Self::Success,
        Self::NotGreen,
        Self::Usage,
        Self::NotFound,
        Self::InvalidPlan,
        Self::Precondition,
        Self::Busy,
        Self::NeedsPerson,
        Self::Budget,
        Self::Io,
        Self::Conflict,
    ];

    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// Meaning, in at most half a line of the first page of help.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Success => "done",
            Self::NotGreen => "not green; a session's verb failed",
            Self::Usage => "the command line is wrong",
            Self::NotFound => "what is asked for is not there",
            Self::InvalidPlan => "the plan is not valid",
            Self::Precondition => "something must be fixed first",
            Self::Busy => "another session is at it",
            Self::NeedsPerson => "a person has to decide",
            Self::Budget => "the budget is spent",
            Self::Io => "a file could not be read or written",
            Self::Conflict => "it conflicts with other changes",
        }
    }

    /// Name for programs: `kind` of an error as JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::NotGreen => "notGreen",
            Self::Usage => "usage",
            Self::NotFound => "notFound",
            Self::InvalidPlan => "invalidPlan",
            Self::Precondition => "precondition",
            Self::Busy => "busy",
            Self::NeedsPerson => "needsPerson",
            Self::Budget => "budget",
            Self::Io => "io",
            Self::Conflict => "conflict",
        }
    }

    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(self.code())
    }
}
