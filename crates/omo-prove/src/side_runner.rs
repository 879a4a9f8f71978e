//! `SideRunner`: runs checks in the copies with and without the change, one after the other at the same path.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use omo_checks::project_copy::{CopyRun, NamesProject, name_each_test, run_in_copy};
use omo_core::check::counterfactual::WithoutChange;
use omo_core::check::session_check::{Check, CheckEnd, CheckVerdict, judge_check};
use omo_core::check::task_check::{
    ExpectedResult, ObservedResult, TaskCheckVerdict, has_pipe, judge_task_check,
};
use omo_core::check::test_runner::LineSplitter;
use omo_process::keeper::TaskCheckSpec;
use omo_process::platform::bash;
use omo_state::env::is_variable_named;
use omo_state::files::folder::GuardedFolder;

use crate::change::Change;
use crate::comparison::{CheckProof, compare_sides};
use crate::private_tree::{PrivateTreeError, PrivateTrees, Side};
use crate::proof_request::{ProofError, ProofRequest, ProofWatcher};
use crate::side_outcome::SideOutcome;

/// Maximum bytes read of the log of a check, above the keeper's own bound.
const MAX_LOG_BYTES: u64 = 4 * 1024 * 1024;

const HOLLOW: &str = "hollow";

pub(crate) struct SideRunner<'a> {
    request: &'a ProofRequest<'a>,
    project: PathBuf,
    trees: PrivateTrees,
}

impl<'a> SideRunner<'a> {
    /// `project` is the project's folder, relative to the top of the copies.
    pub(crate) fn new(
        request: &'a ProofRequest<'a>,
        project: PathBuf,
        trees: PrivateTrees,
    ) -> Self {
        Self {
            request,
            project,
            trees,
        }
    }

    pub(crate) fn checks(&self) -> &'a [Check] {
        self.request.checks
    }

    pub(crate) fn top_of(&mut self, side: Side) -> Result<PathBuf, ProofError> {
        self.trees.activate(side)?;
        Ok(self.trees.active_top())
    }

    /// Folder beside the copies for the scripts that empty functions.
    pub(crate) fn hollow_folder(&self) -> Result<GuardedFolder, ProofError> {
        Ok(self.trees.empty_folder(HOLLOW)?)
    }

    pub(crate) fn remove_hollow_folder(&self) -> Result<(), ProofError> {
        Ok(self.trees.remove_folder(HOLLOW)?)
    }

    pub(crate) fn prove_check(
        &mut self,
        check: &Check,
        with: &Result<SideOutcome, NamesProject>,
        change: &Change,
        watcher: &mut impl ProofWatcher,
    ) -> Result<CheckProof, ProofError> {
        let with = match with {
            Ok(with) => with,
            Err(error) => return Ok(CheckProof::not_runnable(&check.command, error.to_string())),
        };
        if !with.is_green() {
            return Ok(CheckProof::not_green_with_change(&check.command, with));
        }
        if !change.differs && change.changes_what_checks_run {
            let reason = "what the check itself runs is all that was changed, and both sides have it as it is now";
            return Ok(CheckProof::not_run_without_change(
                &check.command,
                with,
                reason.to_owned(),
            ));
        }
        if !change.differs {
            let reason = "no file but test files differs from the base: nothing was changed that it could show";
            let mut proof =
                CheckProof::not_run_without_change(&check.command, with, reason.to_owned());
            proof.without = WithoutChange::Green;
            return Ok(proof);
        }
        let proof = match self.run(check, Side::Without, watcher)? {
            Ok(without) => compare_sides(&check.command, with, &without, &change.facts),
            Err(error) => {
                CheckProof::not_run_without_change(&check.command, with, error.to_string())
            }
        };
        if proof.without == WithoutChange::Green && change.changes_what_checks_run {
            let reason =
                "a file that a check runs was changed, and both sides have it as it is now";
            return Ok(CheckProof::not_run_without_change(
                &check.command,
                with,
                reason.to_owned(),
            ));
        }
        Ok(proof)
    }

    /// Proof that a second run has another result. It runs the sides in reverse: a state that flips would agree again.
    pub(crate) fn find_unrepeatable(
        &mut self,
        check: &Check,
        with: &SideOutcome,
        change: &Change,
        watcher: &mut impl ProofWatcher,
    ) -> Result<Option<CheckProof>, ProofError> {
        if let Ok(without) = self.run(check, Side::Without, watcher)?
            && !compare_sides(&check.command, with, &without, &change.facts)
                .without
                .is_red()
        {
            return Ok(Some(CheckProof::not_repeatable(
                &check.command,
                with,
                false,
                &without,
            )));
        }
        let second_run = self
            .run(check, Side::With, watcher)?
            .ok()
            .filter(|second_run| !second_run.is_green());
        Ok(second_run
            .map(|second_run| CheckProof::not_repeatable(&check.command, with, true, &second_run)))
    }

    pub(crate) fn run(
        &mut self,
        check: &Check,
        side: Side,
        watcher: &mut impl ProofWatcher,
    ) -> Result<Result<SideOutcome, NamesProject>, ProofError> {
        watcher.check_started(check, side == Side::With);
        self.trees.activate(side)?;
        let log_path = self.trees.path().join("check.log");
        let file_error = |source| PrivateTreeError::File {
            path: log_path.clone(),
            source,
        };
        let log = fs::File::create(&log_path).map_err(file_error)?;
        let copy = self.trees.active_top().join(&self.project);
        let timeout = Duration::from_secs(check.effective_timeout().into());
        let task = self.expected_of(check).map(|expected| TaskCheckSpec {
            bash: bash(self.request.environment.search(), self.request.root),
            text: expected.stdout_has.clone(),
        });
        let has_pipefail = task.as_ref().is_some_and(|task| task.bash.is_some());
        let copy_run = CopyRun {
            variables: self.variables(check),
            timeout,
            log: Some(log),
            task,
        };
        let outcome = match run_in_copy(check, self.request.root, &copy, copy_run, || {
            watcher.should_continue()
        }) {
            Ok(outcome) => outcome,
            Err(error) => return Ok(Err(error)),
        };
        let end = outcome.end.ok_or(ProofError::Cancelled)?;
        let mut output = Vec::new();
        fs::File::open(&log_path)
            .and_then(|log| log.take(MAX_LOG_BYTES).read_to_end(&mut output))
            .map_err(file_error)?;
        let report = outcome.tests;
        let counts = report.counts;
        let (end, verdict, detail) = if let Some(expected) = self.expected_of(check) {
            let pipefail_matters = has_pipefail && has_pipe(&check.command);
            let seen = ObservedResult {
                end,
                counts,
                heard: outcome.heard,
                pipefail_matters,
            };
            let (verdict, detail) = judge_task_check(expected, &seen);
            let (end, verdict) = side_verdict(seen.end, &verdict, &detail);
            (end, verdict, detail)
        } else {
            let (verdict, detail) = judge_check(&end, counts);
            (end, verdict, detail)
        };
        Ok(Ok(SideOutcome {
            end,
            verdict,
            detail,
            report,
            lines: self.visible_lines(&output),
        }))
    }

    fn expected_of(&self, check: &Check) -> Option<&'a ExpectedResult> {
        let place = self
            .request
            .checks
            .iter()
            .position(|other| other == check)?;
        self.request.task?.expected.get(place)
    }

    /// Lines of the output, with the copy's path cut off.
    fn visible_lines(&self, output: &[u8]) -> Vec<String> {
        let top = format!(
            "{}{}",
            self.trees.active_top().display(),
            std::path::MAIN_SEPARATOR
        );
        let mut lines = Vec::new();
        let mut splitter = LineSplitter::default();
        splitter.read(output, |line| lines.push(line.replace(&top, "")));
        splitter.finish(|line| lines.push(line.replace(&top, "")));
        lines
    }

    /// Variables of the check, but none that shares builds between the sides; test runners are told to name each test.
    fn variables(&self, check: &Check) -> Vec<(OsString, OsString)> {
        let environment = self.request.environment;
        let mut variables = match self.expected_of(check) {
            Some(_) => environment.variables_for_task_check(),
            None => environment.variables_for_check(check),
        };
        let top = self.trees.active_top();
        let side_variables = [
            ("TMPDIR", self.trees.temporary().into_os_string()),
            ("TMP", self.trees.temporary().into_os_string()),
            ("TEMP", self.trees.temporary().into_os_string()),
            (
                "CARGO_TARGET_DIR",
                top.join(&self.project).join("target").into_os_string(),
            ),
            (
                "GIT_CEILING_DIRECTORIES",
                self.trees.path().as_os_str().to_owned(),
            ),
        ];
        // Python's module cache goes by path and time, and would mix up the sides.
        variables.retain(|(name, _)| {
            !is_variable_named(name, "PYTHONPYCACHEPREFIX")
                && !side_variables
                    .iter()
                    .any(|(replaced, _)| is_variable_named(name, replaced))
        });
        variables.extend(side_variables.map(|(name, value)| (name.into(), value)));
        name_each_test(&mut variables);
        variables
    }
}

/// The verdict on a plan's check, in the form of that on a session's check.
fn side_verdict(
    end: CheckEnd,
    verdict: &TaskCheckVerdict,
    detail: &str,
) -> (CheckEnd, CheckVerdict) {
    let verdict = match verdict {
        TaskCheckVerdict::Green => CheckVerdict::Green,
        TaskCheckVerdict::Red => CheckVerdict::Failed,
        TaskCheckVerdict::TimedOut => CheckVerdict::TimedOut,
        TaskCheckVerdict::NothingRan => CheckVerdict::NothingRan,
        // The exit status of a missing shell or program says nothing about the check.
        TaskCheckVerdict::Environment { .. } => {
            let end = CheckEnd::NotStarted(detail.to_owned());
            return (end, CheckVerdict::NotStarted);
        }
    };
    (end, verdict)
}
