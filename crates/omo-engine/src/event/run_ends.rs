//! How attempts at tasks and whole runs end, as their events say it.

use omo_core::check::counterfactual::CheckCounterfactual;
use omo_git::commit::CommitRefusal;
use serde::{Deserialize, Serialize};

use crate::commit_guard::Judges;
use crate::event::UnfinishedLine;

/// How an attempt at a task ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptEnd {
    /// Which attempt it was; 0 where there was none.
    pub attempt: u32,
    /// What shows it, or what was wrong, on one line.
    pub evidence: String,
    /// The files that differ from the work tree at its start.
    #[serde(default)]
    pub files: Vec<String>,
    /// Those of them that the task does not name.
    #[serde(default)]
    pub out_of_scope: Vec<String>,
    /// Files that it had to make, and that are not there.
    #[serde(default)]
    pub missing: Vec<String>,
    /// Files that checks of the plan run or obey, that the task does not list, and that it changed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub changed_check_files: Vec<String>,
    /// What the worker left for those who come after it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
    /// The digests of test files that the other half of the pair must not change.
    #[serde(default)]
    pub test_digests: Vec<(String, String)>,
    /// The work tree that the checks judged.
    #[serde(default)]
    pub tree: Option<String>,
    /// Lines that it added and that say that something is not finished; `None` where they were not searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Vec<UnfinishedLine>>,
    /// The id of the commit that holds its work, where it was committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Full name of the branch that was checked out when it was made, such as `refs/heads/main`; `HEAD` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Commits that others made meanwhile in a checkout that they work in, too, with files that the task does not list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_commits: Vec<String>,
    /// What judges commits and was changed by the task, which lists it, with its state now.
    #[serde(default, skip_serializing_if = "Judges::is_empty")]
    pub judges: Judges,
    /// Changes of hooks in the commits of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_changes: Option<HookChanges>,
    /// Files that git ignores, and without which its checks are red.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needed_ignored: Vec<String>,
    /// What its checks are with what may steer them as it was before the work, on one line for each that differs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judge_notes: Vec<String>,
    /// Why git did not make that commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<CommitRefusal>,
    /// What its checks say without the work, where that was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_work: Vec<CheckCounterfactual>,
    /// What keeps the work tree as the attempt left it, where that is taken back: what differs by then goes, and what
    /// is changed afterwards stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
}

/// Changes of hooks of the repository in a commit, which is not what was checked before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookChanges {
    /// Files that they changed, or added.
    pub files: Vec<String>,
    /// Reason why the checks could not be judged on that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unjudged: Option<String>,
}

/// How a task ended, as another program says. omo has checked none of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportedStatus {
    /// It was done.
    Done,
    /// It has failed.
    Failed,
    /// It was never begun.
    Blocked,
}

/// The commit of a passed task that a branch of the user's does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingCommit {
    /// Id of the task.
    pub task: String,
    /// Id of the commit.
    pub commit: String,
    /// The reference that has it: a branch or one below `refs/omo/keep`, or its own id where no reference does.
    pub holder: String,
    /// Full name of the branch that lacks it, where that is not the one that is checked out: the run began on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacking: Option<String>,
    /// Its history has no commit in common with that of the branch that lacks it.
    #[serde(default)]
    pub is_unrelated: bool,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunResult {
    /// Every task has passed, was done before the run as another program says, is left out by the plan, or is unproved
    /// where the plan lets it be; and the final checks are green.
    Complete,
    /// Some did not.
    CompletedWithFailures,
    /// A final check is red, or a step stopped the run.
    Failed,
}

impl RunResult {
    /// The word in files and blocks that other programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::CompletedWithFailures => "completed_with_failures",
            Self::Failed => "failed",
        }
    }

    /// The word for people.
    pub fn shown(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::CompletedWithFailures => "not complete",
            Self::Failed => "failed",
        }
    }
}
