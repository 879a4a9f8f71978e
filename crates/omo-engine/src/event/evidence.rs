//! Records of workers in the ledger: evidence, notes, verdicts and lines of unfinished work.

use omo_core::check::task_check::TaskCheckOutcome;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Id, such as `e1`.
    pub id: String,
    pub task: String,
    pub attempt: u32,
    pub command: String,
    pub outcome: TaskCheckOutcome,
    /// Id of the `git` tree in which `command` ran.
    #[serde(default)]
    pub tree: Option<String>,
    #[serde(default)]
    pub output_sha256: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskNote {
    pub task: String,
    pub attempt: u32,
    /// One line of at most [`TaskNote::MAX_CHARS`] characters.
    pub text: String,
}

impl TaskNote {
    pub const MAX_CHARS: usize = 500;
    pub const MAX_COUNT: usize = 32;
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanVerdict {
    pub passed: bool,
    #[serde(default)]
    pub evidence_ids: Vec<String>,
    /// Ids of tasks to do again, each with its reason.
    #[serde(default)]
    pub reopen: Vec<(String, String)>,
    #[serde(default)]
    pub note: String,
    /// Deferred findings, which no criterion needs, each on one line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedFinding {
    /// Number among the findings of all verdicts of the run, from `1`.
    pub number: usize,
}

impl PlanVerdict {
    pub const MAX_LATER: usize = 16;

    pub fn summary_line(&self) -> String {
        if self.passed {
            return format!("PASS, shown by {}", self.evidence_ids.join(", "));
        }
        let reopened = self.reopen.iter().map(|(id, why)| format!("{id}: {why}"));
        let note = Some(self.note.clone()).filter(|note| !note.is_empty());
        let parts: Vec<String> = reopened.chain(note).collect();
        if parts.is_empty() {
            "FAIL".to_owned()
        } else {
            format!("FAIL: {}", parts.join("; "))
        }
    }
}

/// An added line of a work tree that names unfinished work, such as `TODO`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfinishedLine {
    pub file: String,
    /// Line number, from `1`.
    pub line: usize,
    pub word: String,
}
