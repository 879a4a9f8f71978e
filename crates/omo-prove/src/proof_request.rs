//! `ProofRequest` of a counterfactual run, and its watcher.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;

use omo_checks::project_copy::NamesProject;
use omo_checks::set_up::SetUpError;
use omo_core::check::session_check::Check;
use omo_core::check::task_check::ExpectedResult;
use omo_git::base_comparison::{BaseChoice, BaseError};
use omo_git::file_copier::CopyError;
use omo_process::environment::CheckEnvironment;

use crate::claim_comparison::ClaimComparison;
use crate::comparison::CheckProof;
use crate::private_tree::PrivateTreeError;
use crate::side_outcome::SideOutcome;
use crate::test_files::TestFiles;

#[derive(Debug)]
pub struct ProofRequest<'a> {
    pub root: &'a Path,
    /// The user's state folder, parent of the copies.
    pub state_home: &'a Path,
    pub base: BaseChoice<'a>,
    pub checks: &'a [Check],
    /// `None` for all that differs from the base.
    pub task: Option<TaskScope<'a>>,
    /// Checks to run with empty bodies.
    pub hollow: HollowChecks,
    /// Rules with `tests` of `omo.toml`.
    pub tests: &'a TestFiles,
    pub environment: &'a CheckEnvironment,
    /// Time of every file in the copies.
    pub time: SystemTime,
    /// Approved command that completes a checkout.
    pub setup: Option<&'a str>,
}

/// Task of a plan, whose checks have `bash` and `ExpectedResult`s; others may run beside it.
#[derive(Clone, Copy, Debug)]
pub struct TaskScope<'a> {
    /// One for each check.
    pub expected: &'a [ExpectedResult],
    /// Files that it changed, from the project's top; others are as now on both sides.
    pub files: &'a BTreeSet<String>,
    /// Runs the checks without the work as well.
    pub runs_without: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HollowChecks {
    None,
    /// Checks without a sufficient answer.
    Unclear,
    /// Checks that are green with the change.
    All,
}

#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    #[error(transparent)]
    Base(BaseError),
    #[error(transparent)]
    Tree(#[from] PrivateTreeError),
    #[error(transparent)]
    Installed(CopyError),
    #[error(transparent)]
    SetUp(#[from] SetUpError),
    #[error("files changed before they were copied")]
    FilesChanged,
    #[error("it was ended before all was done")]
    Cancelled,
}

impl From<BaseError> for ProofError {
    fn from(error: BaseError) -> Self {
        match error {
            BaseError::Copy(CopyError::Cancelled) => Self::Cancelled,
            error => Self::Base(error),
        }
    }
}

impl From<CopyError> for ProofError {
    fn from(error: CopyError) -> Self {
        match error {
            CopyError::Cancelled => Self::Cancelled,
            error => Self::Installed(error),
        }
    }
}

/// Can cancel a run.
pub trait ProofWatcher {
    fn preparing(&mut self, _file_count: usize) {}
    /// After the copy of now; `false` for other files than meant.
    fn is_copied(&mut self) -> bool {
        true
    }
    fn check_started(&mut self, _check: &Check, _with_change: bool) {}
    /// After the checks with old judges, before the side without the change.
    fn judges_compared(
        &mut self,
        _with: &[Result<SideOutcome, NamesProject>],
        _comparisons: &[ClaimComparison],
    ) {
    }
    /// `true` to run the check with the test files as they were.
    fn asks_old_tests(&mut self, _check: &Check, _with: &SideOutcome, _proof: &CheckProof) -> bool {
        false
    }
    /// `false` cancels.
    fn should_continue(&mut self) -> bool {
        true
    }
}
