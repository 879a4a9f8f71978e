//! Results that events record: of an attempt at a task, of a whole run, of its pull request.

use omo_core::check::counterfactual::CheckCounterfactual;
use omo_git::commit::CommitRefusal;
use serde::{Deserialize, Serialize};

use crate::commit_guard::JudgeStates;
use crate::event::UnfinishedLine;

/// An attempt to open the pull request that was ordered with the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum PullRequestAttempt {
    /// Under way, or interrupted.
    Begun,
    Opened {
        /// Address of the request, as the program prints it.
        address: String,
    },
    Failed {
        /// Reason, with a way out.
        reason: String,
    },
}

/// The end of one attempt at a task: evidence, changed files, and the commit of its work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptEnd {
    /// Number of the attempt; `0` where there was none.
    pub attempt: u32,
    /// Proof or fault, on one line.
    pub evidence: String,
    /// Files that differ from the work tree at its start.
    #[serde(default)]
    pub files: Vec<String>,
    /// Changed files that the task does not name.
    #[serde(default)]
    pub out_of_scope: Vec<String>,
    /// Files that the task had to make, and that are not there.
    #[serde(default)]
    pub missing: Vec<String>,
    /// Files that checks of the plan run or obey, that the task does not list, and that the attempt changed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub changed_check_files: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
    /// Digests of test files that the other half of the pair must not change, as `path` and `digest`.
    #[serde(default)]
    pub test_digests: Vec<(String, String)>,
    /// Tree of `git` that the checks judged.
    #[serde(default)]
    pub tree: Option<String>,
    /// Added lines that name unfinished work; `None` where they were not searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Vec<UnfinishedLine>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Full name of the branch at that commit, such as `refs/heads/main`; `HEAD` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Commits that others made meanwhile in a shared checkout, with files that the task does not list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_commits: Vec<String>,
    /// New states of judges that the task lists and changed.
    #[serde(default, skip_serializing_if = "JudgeStates::is_empty")]
    pub judges: JudgeStates,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_changes: Option<HookChanges>,
    /// Ignored files without which its checks are red.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needed_ignored: Vec<String>,
    /// Outcomes of checks with their steering files as before the work, a line for each that differs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judge_notes: Vec<String>,
    /// Reason why `git` did not make that commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<CommitRefusal>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_work: Vec<CheckCounterfactual>,
    /// Snapshot at the end of an attempt that is taken back: differences up to it go, later changes stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
}

/// Files that hooks of the repository changed in a commit, after its content was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookChanges {
    pub files: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unjudged: Option<String>,
}

/// The end of a task according to another program; omo has checked none of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportedStatus {
    Done,
    Failed,
    Blocked,
}

/// A task's commit that the checkout, or the branch on which the run began, lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingCommit {
    pub task: String,
    pub commit: String,
    /// The reference that has the commit: a branch or one below `refs/omo/keep`, or its own id where no reference does.
    pub holder: String,
    /// Full name of the branch that lacks the commit, where another is checked out: the run began on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacking: Option<String>,
    /// The commit shares no history with the branch that lacks it.
    #[serde(default)]
    pub is_unrelated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunResult {
    /// Every task has passed, was done before the run as another program says, is left out by the plan, or is unproved
    /// where the plan lets it be; and the final checks are green.
    Complete,
    /// A run with failed or open tasks.
    CompletedWithFailures,
    /// A final check is red, or a step stopped the run.
    Failed,
}

impl RunResult {
    pub fn word(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::CompletedWithFailures => "completed_with_failures",
            Self::Failed => "failed",
        }
    }

    pub fn display_word(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::CompletedWithFailures => "not complete",
            Self::Failed => "failed",
        }
    }
}
