//! What shows that something is done, and what is said about it.

use omo_core::check::task_check::TaskCheckOutcome;
use serde::{Deserialize, Serialize};

/// A command that was run to show something, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// What it is called: `e1` and so on.
    pub id: String,
    /// The task that it was run for.
    pub task: String,
    /// The attempt at that task.
    pub attempt: u32,
    /// The command.
    pub command: String,
    /// What came of it.
    pub outcome: TaskCheckOutcome,
    /// The work tree that it was run in.
    #[serde(default)]
    pub tree: Option<String>,
    /// The SHA-256 of the file that keeps what it printed.
    #[serde(default)]
    pub output_sha256: Option<String>,
}

/// A note of a worker for the workers of later tasks, in its own words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskNote {
    /// The task that its worker was at.
    pub task: String,
    /// The attempt at that task.
    pub attempt: u32,
    /// One line of at most [`TaskNote::MAX_CHARS`] characters.
    pub text: String,
}

impl TaskNote {
    /// Characters of a note.
    pub const MAX_CHARS: usize = 500;
    /// Notes of a run.
    pub const MAX_COUNT: usize = 32;
}

/// What the verifier says about the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanVerdict {
    /// All of it is done.
    pub passed: bool,
    /// The ids of the evidence that it rests on.
    #[serde(default)]
    pub evidence_ids: Vec<String>,
    /// The tasks that have to be done again, each with why.
    #[serde(default)]
    pub reopen: Vec<(String, String)>,
    /// What else was said, on one line.
    #[serde(default)]
    pub note: String,
    /// Findings that no criterion needs and that can wait, each on one line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<String>,
}

/// A deferred finding that was dealt with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedFinding {
    /// Number among the findings of all verdicts of the run, from 1.
    pub number: usize,
}

impl PlanVerdict {
    /// Deferred findings of a verdict.
    pub const MAX_LATER: usize = 16;

    /// All of it on one line: how a verification ended.
    pub fn summary_line(&self) -> String {
        if self.passed {
            return format!("PASS, shown by {}", self.evidence_ids.join(", "));
        }
        let reopened = self.reopen.iter().map(|(id, why)| format!("{id}: {why}"));
        let note = Some(self.note.clone()).filter(|note| !note.is_empty());
        let said: Vec<String> = reopened.chain(note).collect();
        if said.is_empty() { "FAIL".to_owned() } else { format!("FAIL: {}", said.join("; ")) }
    }
}

/// An added line of a work tree that says that something is not finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfinishedLine {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The word that was found.
    pub word: String,
}
