//! Evidence, notes and verdicts of workers.

use omo_core::check::task_check::TaskCheckOutcome;
use serde::{Deserialize, Serialize};

/// A command that was run as evidence, and its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Id, such as `e1`.
    pub id: String,
    /// Id of the `Task`.
    pub task: String,
    /// Number of the attempt.
    pub attempt: u32,
    /// The command.
    pub command: String,
    /// The outcome.
    pub outcome: TaskCheckOutcome,
    /// Tree of `git` that it was run in.
    #[serde(default)]
    pub tree: Option<String>,
    /// SHA-256 of the file that keeps its output.
    #[serde(default)]
    pub output_sha256: Option<String>,
}

/// A note of a worker for the workers of later tasks, in its own words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskNote {
    /// Id of the `Task` that its worker was at.
    pub task: String,
    /// Number of the attempt.
    pub attempt: u32,
    /// One line of at most [`TaskNote::MAX_CHARS`] characters.
    pub text: String,
}

impl TaskNote {
    /// Maximum characters of a note.
    pub const MAX_CHARS: usize = 500;
    /// Maximum notes of a run.
    pub const MAX_COUNT: usize = 32;
}

/// The verdict of a verifier on the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanVerdict {
    /// The whole is done.
    pub passed: bool,
    /// Ids of the evidence behind it.
    #[serde(default)]
    pub evidence_ids: Vec<String>,
    /// Tasks to do again, each with its reason.
    #[serde(default)]
    pub reopen: Vec<(String, String)>,
    /// Further remarks, on one line.
    #[serde(default)]
    pub note: String,
    /// Deferred findings: no criterion needs them, and they can wait. Each on one line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<String>,
}

/// A deferred finding that was dealt with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedFinding {
    /// Number among the findings of all verdicts of the run, from `1`.
    pub number: usize,
}

impl PlanVerdict {
    /// Maximum deferred findings of a verdict.
    pub const MAX_LATER: usize = 16;

    /// The verdict on one line.
    pub fn summary_line(&self) -> String {
        if self.passed {
            return format!("PASS, shown by {}", self.evidence_ids.join(", "));
        }
        let reopened = self.reopen.iter().map(|(id, why)| format!("{id}: {why}"));
        let note = Some(self.note.clone()).filter(|note| !note.is_empty());
        let said: Vec<String> = reopened.chain(note).collect();
        if said.is_empty() {
            "FAIL".to_owned()
        } else {
            format!("FAIL: {}", said.join("; "))
        }
    }
}

/// An added line of a work tree that names unfinished work, such as `TODO`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfinishedLine {
    /// Path of the file.
    pub file: String,
    /// Line number, from `1`.
    pub line: usize,
    /// The word found.
    pub word: String,
}
