//! `ProofRequest`, `ProofError` and `ProofWatcher` of a proof: checks that run with and without a change.

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
    /// Task whose change is proved; `None` for everything that differs from the base.
    pub task: Option<TaskScope<'a>>,
    /// Checks to run also with empty function bodies.
    pub hollow: HollowChecks,
    /// Rules for test files, with the patterns of `tests` in `omo.toml`.
    pub tests: &'a TestFiles,
    pub environment: &'a CheckEnvironment,
    /// Modification time of every file in the copies.
    pub time: SystemTime,
    /// Approved command that completes a checkout.
    pub setup: Option<&'a str>,
}

/// A task of a plan, whose checks run in `bash`; other tasks may run beside it.
#[derive(Clone, Copy, Debug)]
pub struct TaskScope<'a> {
    /// Expected results, one for each check.
    pub expected: &'a [ExpectedResult],
    /// Files that the task changed, from the project's top; all others are the same on both sides.
    pub files: &'a BTreeSet<String>,
    /// `true` to run the checks also without the task's work.
    pub runs_without: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HollowChecks {
    None,
    /// Checks that the comparison with the base leaves unclear.
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

/// Observer of a proof, which can cancel it.
pub trait ProofWatcher {
    fn preparing(&mut self, _file_count: usize) {}
    /// Called once the current files are copied; `false` if they are not the expected ones.
    fn is_copied(&mut self) -> bool {
        true
    }
    fn check_started(&mut self, _check: &Check, _with_change: bool) {}
    /// Called after the checks with old judges, and before those without the change.
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
