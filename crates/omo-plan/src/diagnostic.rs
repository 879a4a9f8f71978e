//! Diagnostics of a plan: a problem with its code, severity, place in the file and help.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Remark about a fine plan.
    Note,
    /// Likely mistake in a plan that can be run.
    Warning,
    /// Mistake because of which nothing of the plan is run.
    Error,
}

/// Problem of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Kind of problem, such as `duplicate_id`.
    pub code: Code,
    pub severity: Severity,
    /// Bytes of the file, counted with a byte order mark.
    pub span: Range<usize>,
    /// Line, from 1.
    pub line: usize,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task: Option<String>,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub help: Option<String>,
}

macro_rules! codes {
    ($($variant:ident $severity:ident $word:literal $meaning:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Code {
            $(#[doc = $meaning] #[serde(rename = $word)] $variant,)*
        }

        impl Code {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

/// Word for machines, such as `duplicate_id`.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }

            pub fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    NotUtf8 Error "not_utf8" "The file is not UTF-8.",
    TooLarge Error "too_large" "The file is larger than a plan may be.",
    UnrecognizedFormat Error "unrecognized_format" "The file is of no dialect that omo knows.",
    NoTasks Error "no_units" "The plan has no task.",
    TooManyTasks Error "too_many_units" "The plan has more tasks than a run can have.",
    GoneDependency Warning "gone_dependency" "A task needs one that the file has no more.",
    OtherFormat Warning "other_format" "The file is not a plan in the format of its place, and one in another.",
    RepeatedId Warning "repeated_id" "The number of a task stands twice, and the second has an id of its own.",
    DuplicateId Error "duplicate_id" "Two tasks have the same id.",
    InvalidId Error "invalid_id" "The name of a task is not an id.",
    UnknownDependency Error "unknown_dependency" "A task depends on one that is not there.",
    SelfDependency Error "self_dependency" "A task depends on itself.",
    Cycle Error "cycle" "Tasks depend on each other in a circle.",
    UnparsedDependency Error "unparsed_dependency" "A dependency cannot be read.",
    TooManyDependencies Error "too_many_dependencies" "The tasks name more dependencies than a plan may have.",
    UnclosedFence Error "unclosed_fence" "A code fence is not closed: everything after it is code.",
    FenceEndsWithList Warning "fence_ends_with_list" "A code fence in a list or quote is not closed in it: a fence that was meant to close it opens another one.",
    UnknownOnFailure Error "unknown_on_failure" "The action on a failure is not known.",
    StepInSeveralSessions Error "step_in_several_sessions" "A step belongs to more than one session.",
    SessionNamesUnknownStep Error "session_names_unknown_step" "A session names a step that is not there.",
    DuplicateSession Error "duplicate_session" "Two sessions have the same number.",
    StrategyNotRead Warning "strategy_not_read" "The execution strategy names sessions in a form that is not read: the steps are run one after the other.",
    UnknownSession Error "unknown_session" "A session that is named is not there.",
    SessionDependsOnLaterWave Error "session_depends_on_later_wave" "A session depends on one that runs in the same wave or later.",
    WavesDisagree Warning "waves_disagree" "A session's wave is another one in the execution order.",
    ScopeOverlap Error "scope_overlap" "Two sessions of one wave may touch the same files.",
    FileInNeverTouch Error "file_in_never_touch" "A step changes a file that its session may never touch.",
    PathOutsideRepository Error "path_outside_repository" "A path leads out of the repository.",
    PathInGitDir Error "path_in_git_dir" "A path leads into the folder of git.",
    PathAbsolute Warning "path_absolute" "A path begins at the root of the disk: whether it is in the repository cannot be told.",
    FenceNotRead Warning "fence_not_read" "A scope fence has text and names no path.",
    FileOutsideTouch Warning "file_outside_touch" "A step changes a file that its session does not list.",
    StepInNoSession Warning "step_in_no_session" "A step belongs to no session.",
    SessionWithoutSteps Warning "session_without_steps" "A session has no steps.",
    SessionOrder Warning "session_order_runs_later_steps_first" "The order of the sessions runs a later step before an earlier one.",
    StepsOutOfOrder Warning "steps_out_of_order" "The steps do not stand in the order of their numbers.",
    StepNumbersHaveGaps Warning "step_numbers_have_gaps" "The numbers of the steps have gaps.",
    StepOutsidePlanSection Warning "step_outside_plan_section" "A step stands outside of the plan's section.",
    LooksLikeAStep Warning "looks_like_a_step_but_is_not" "A heading looks like a step or a task and is not one.",
    LooksLikeAMarker Warning "looks_like_a_marker_but_is_not" "A comment looks like a checkpoint marker and is not one.",
    MissingVerify Warning "missing_verify" "A task has no check: nothing can prove it.",
    VerifyMayBeProse Warning "verify_may_be_prose" "A check reads like a sentence, not like a command.",
    SeveralCommands Warning "several_commands" "A check has several lines: only the status of the last one counts.",
    ExpectationIsProse Note "expectation_is_prose" "What is expected of a check is prose: only its exit status is held to it.",
    PipeInVerify Warning "pipe_in_verify" "A check pipes its output on: without pipefail its status would be that of the last command.",
    MissingOnFailure Warning "missing_on_failure" "No action on a failure is given: the run stops there.",
    OnFailureHasMore Warning "on_failure_has_more_than_the_action" "On failure has more than an action: only the action counts.",
    CheckpointNotACommit Warning "checkpoint_is_not_a_plain_commit" "A checkpoint is more than `git commit -m \"message\"`: only its message is used.",
    GlobInFiles Warning "glob_in_files" "A file is named by a pattern.",
    FolderDropped Warning "folder_dropped" "A check begins in its author's copy of the project: it runs in this one.",
    FilesDifferOnlyByCase Warning "files_differ_only_by_case" "Two files differ only by case.",
    PathNotNormal Warning "path_not_normal" "A path has parts without effect.",
    MissingTaskContract Warning "missing_task_contract" "A task has no Task Contract: it is recorded as failed and not run.",
    NoContractVersion Note "no_contract_version" "The plan names no version of its contracts: its tasks are run without a Task Contract.",
    NotVerified Warning "not_verified" "The plan has no Verification section with the verdict Approved.",
    UnresolvedDecision Warning "unresolved_decision" "A decision of the plan is not made yet.",
    ItemNotRead Warning "item_not_read" "An item looks like a task and is not one: it is not done.",
    ItemDeferred Note "item_deferred" "An item is postponed: a run does not do it.",
    MarkerOutsideTask Warning "marker_outside_task" "A checkpoint marker stands outside of every task and has no effect.",
    OtherTags Note "other_tags" "The file has tasks below other tags too, and they are not read.",
    TaskLeftOut Warning "task_left_out" "A task is left out, or needs one that is.",
    OpenBelowDone Warning "open_below_done" "A task is done and has subtasks that are not: they count as done.",
    UnclosedElement Warning "unclosed_element" "An element of a task is not closed where it should be.",
    OtherPlan Warning "other_plan" "The folder has a plan in another format too, and it is not read.",
    RequiredPlanMissing Warning "required_plan_missing" "A plan requires another one that is not in its folder.",
    Reordered Note "reordered" "A task is run later than it stands in the file, after what it depends on.",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics
        .iter()
        .any(|found| found.severity == Severity::Error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rules_share_a_word() {
        let mut words: Vec<_> = Code::ALL.iter().map(|code| code.word()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Code::ALL.len());
    }
}
