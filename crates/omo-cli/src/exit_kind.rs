//! The kinds of failure and their exit statuses, which are part of the interface.

use std::process::ExitCode;

/// The kinds of failure. Their exit status is part of the interface; `omo --help` and the guide list
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ExitKind {
    /// All was done, or the reader of our output is gone, which is no failure of ours.
    Success = 0,
    /// The answer is no: a check is not green, or there is none, or something was found to be bad. Also
    /// whatever goes wrong in the verbs of task lists, whose scripts know no other status.
    NotGreen = 1,
    /// The command line is wrong, or says too little.
    Usage = 2,
    /// A session, a run, a check or a file that is meant is not there.
    NotFound = 3,
    /// The plan is not valid.
    InvalidPlan = 4,
    /// Something has to be put right first: the configuration, Claude Code, the place it is run in.
    Precondition = 5,
    /// Another process or session is at the same work.
    Busy = 6,
    /// Only a person may go on from here.
    NeedsPerson = 7,
    /// No more may be spent.
    Budget = 8,
    /// A file could not be read or written.
    Io = 9,
    /// What is there now is not what this was meant for, or does not go with it.
    Conflict = 10,
}

impl ExitKind {
    /// One kind for each exit status, in ascending order.
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

    /// The exit status, as a number.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// What the exit status means, in at most half a line of the first page of help.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Success => "done",
            Self::NotGreen => "not green; a session's verb failed",
            Self::Usage => "the command line is wrong",
            Self::NotFound => "what is asked for is not there",
            Self::InvalidPlan => "the plan is not valid",
            Self::Precondition => "something must be put right first",
            Self::Busy => "another session is at it",
            Self::NeedsPerson => "a person has to decide",
            Self::Budget => "the budget is spent",
            Self::Io => "a file could not be read or written",
            Self::Conflict => "it conflicts with other changes",
        }
    }

    /// The name of the kind, for programs: `kind` of an error that is printed as JSON.
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

    /// The exit status.
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(self.code())
    }
}
