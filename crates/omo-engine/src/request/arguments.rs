//! `RunRequest`: options of a command that runs a plan: the selected part, and the mode.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunMode {
    Execute,
    Foreground,
    Resume,
    DryRun,
    Step,
    Session,
}

impl RunMode {
    /// Name of the mode, such as `dry-run`.
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

/// The part of a plan to run: all of it, or one step or session by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanSelection {
    Whole,
    Step(u64),
    Session(u64),
}

impl PlanSelection {
    pub fn session_or_task_number(self) -> Option<u64> {
        match self {
            Self::Whole => None,
            Self::Step(number) | Self::Session(number) => Some(number),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError {
    pub message: String,
    pub hint: String,
    /// The named file or part is missing; otherwise the arguments cannot be understood.
    pub is_missing: bool,
}

impl ArgumentError {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
            is_missing: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunRequest {
    pub is_foreground: bool,
    pub is_resume: bool,
    pub is_dry_run: bool,
    pub selection: PlanSelection,
}

impl Default for RunRequest {
    fn default() -> Self {
        Self {
            is_foreground: false,
            is_resume: false,
            is_dry_run: false,
            selection: PlanSelection::Whole,
        }
    }
}

impl RunRequest {
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
