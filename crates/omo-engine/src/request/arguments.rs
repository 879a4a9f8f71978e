//! How much of a plan is asked for, and in which way.

use serde::{Deserialize, Serialize};

/// In which way a plan is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunMode {
    /// As the plan allows.
    Execute,
    /// One step after the other, where the user is.
    Foreground,
    /// Where an earlier run stands.
    Resume,
    /// Not at all: it is looked at and told about.
    DryRun,
    /// One step alone.
    Step,
    /// One session alone.
    Session,
}

impl RunMode {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Execute => "execute",
            Self::Foreground => "foreground",
            Self::Resume => "resume",
            Self::DryRun => "dry-run",
            Self::Step => "step",
            Self::Session => "session",
        }
    }
}

/// How much of a plan is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanSelection {
    /// All of it.
    Whole,
    /// The step of this number.
    Step(u64),
    /// The session of this number.
    Session(u64),
}

impl PlanSelection {
    /// The number of the step or the session.
    pub fn session_or_task_number(self) -> Option<u64> {
        match self {
            Self::Whole => None,
            Self::Step(number) | Self::Session(number) => Some(number),
        }
    }
}

/// Why nothing can be done with what was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError {
    /// What is wrong, in one sentence without its end.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// What was named is not there; otherwise what was typed cannot be understood.
    pub is_missing: bool,
}

impl ArgumentError {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), is_missing: false }
    }
}

/// How much of a plan is asked for, and in which way: what the options of a command say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunRequest {
    /// Everything is done where the user is, one step after the other.
    pub is_foreground: bool,
    /// An earlier run goes on.
    pub is_resume: bool,
    /// Nothing is run: the plan is looked at and told about.
    pub is_dry_run: bool,
    /// How much of it.
    pub selection: PlanSelection,
}

impl Default for RunRequest {
    fn default() -> Self {
        Self { is_foreground: false, is_resume: false, is_dry_run: false, selection: PlanSelection::Whole }
    }
}

impl RunRequest {
    /// In which way.
    pub fn mode(&self) -> RunMode {
        match (self.is_resume, self.is_dry_run, self.selection) {
            (true, ..) => RunMode::Resume,
            (_, true, _) => RunMode::DryRun,
            (_, _, PlanSelection::Step(_)) => RunMode::Step,
            (_, _, PlanSelection::Session(_)) => RunMode::Session,
            _ if self.is_foreground => RunMode::Foreground,
            _ => RunMode::Execute,
        }
    }
}
