//! Request of a counterfactual run, and its progress.

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

/// Request of a counterfactual run: `base`, `checks` and their bounds.
#[derive(Debug)]
pub struct ProofRequest<'a> {
    /// The project's top.
    pub root: &'a Path,
    /// The user's own state folder, where the copies are made.
    pub state_home: &'a Path,
    /// Base of the comparison.
    pub base: BaseChoice<'a>,
    /// Checks with `pinned` files.
    pub checks: &'a [Check],
    /// Task of a plan to ask about; `None` for all that differs from the base.
    pub task: Option<TaskScope<'a>>,
    /// Checks that run with empty bodies as well.
    pub hollow: HollowChecks,
    /// Rules for test files, with `tests` of `omo.toml`.
    pub tests: &'a TestFiles,
    /// Environment of every check.
    pub environment: &'a CheckEnvironment,
    /// The time of every file in the copies.
    pub time: SystemTime,
    /// The command that puts into a copy what a checkout lacks, where its user approved it.
    pub setup: Option<&'a str>,
}

/// Task of a plan: its checks have `bash` and `ExpectedResult`s, and other tasks may run beside it.
#[derive(Clone, Copy, Debug)]
pub struct TaskScope<'a> {
    /// Expectation of each check, in their order.
    pub expected: &'a [ExpectedResult],
    /// The files that it changed, from the project's top. What else differs from the base is on both sides as it is now.
    pub files: &'a BTreeSet<String>,
    /// The checks run without the work as well, and not only with what may steer them as it was.
    pub runs_without: bool,
}

/// Checks of a hollow run: see `hollow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HollowChecks {
    /// For none.
    None,
    /// For those whose answer without the change is not enough.
    Unclear,
    /// For each that is green with the change.
    All,
}

/// Failure of a `ProofRequest`.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// There is nothing to compare with.
    #[error(transparent)]
    Base(BaseError),
    /// No copy could be made.
    #[error(transparent)]
    Tree(#[from] PrivateTreeError),
    /// Failure to copy installed packages.
    #[error(transparent)]
    Installed(CopyError),
    /// The set-up failed in a copy.
    #[error(transparent)]
    SetUp(#[from] SetUpError),
    /// The files are not those that were meant.
    #[error("files changed before they were copied")]
    FilesChanged,
    /// Cancelled.
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

/// Observer of a `ProofRequest`, which can cancel.
pub trait ProofWatcher {
    /// Begin of the copies.
    fn preparing(&mut self, _file_count: usize) {}
    /// The files of now are copied. `false` says that they are not those that are meant.
    fn is_copied(&mut self) -> bool {
        true
    }
    /// Begin of a check on one side.
    fn check_started(&mut self, _check: &Check, _with_change: bool) {}
    /// The checks of a claim were compared with what judged them before. The side without the change comes next.
    fn judges_compared(
        &mut self,
        _with: &[Result<SideOutcome, NamesProject>],
        _comparisons: &[ClaimComparison],
    ) {
    }
    /// Use of the check's result with the test files as they were.
    fn asks_old_tests(&mut self, _check: &Check, _with: &SideOutcome, _proof: &CheckProof) -> bool {
        false
    }
    /// Time goes by. `false` ends everything.
    fn should_continue(&mut self) -> bool {
        true
    }
}
