//! Runs of a task's checks without its work, in a private copy as at its first attempt.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant, UNIX_EPOCH};

use omo_checks::repository_config::{ApprovalState, RepositoryConfig};
use omo_core::check::counterfactual::{CheckCounterfactual, list_names};
use omo_core::check::printed_output::QUOTED_LINES;
use omo_core::check::session_check::Check;
use omo_core::check::steering::file_words;
use omo_core::check::task_check::{ExpectedResult, TaskCheck, TaskCheckOutcome, TaskCheckVerdict};
use omo_core::check::test_runner::test_commands::names_test_runner;
use omo_core::shell::split_commands;
use omo_core::text::sanitize;
use omo_git::base_comparison::BaseChoice;
use omo_git::changes::TreeSnapshot;
use omo_git::named_files::{PACKAGE, scripts_of};
use omo_plan::model::{FileAction, Task, TaskKind};
use omo_plan::paths;
use omo_prove::counterfactual::prove;
use omo_prove::failure::judge_tests_first;
use omo_prove::proof_request::{HollowChecks, ProofError, ProofRequest, ProofWatcher, TaskScope};
use omo_prove::test_files::TestFiles;

use super::own_files::steers_checks;
use super::start::tree_from_text;
use super::{CommandWatcher, Engine, EngineError};
use crate::state::{RunState, RunningAttempt};
use crate::task_counterfactual;

/// Time limit of all runs of all checks of a task without its work: `omo agent done` waits for them.
const PROOF_LIMIT: Duration = Duration::from_secs(240);
const MAX_LOG_BYTES: u64 = 4 * 1024 * 1024;

impl Engine<'_> {
    /// `true` if checks also run in private copies: without the work, or with earlier check files.
    pub(super) fn is_compared(&self, state: &RunState, task: &Task, files: &[String]) -> bool {
        let words: BTreeSet<String> = task
            .proving_checks()
            .flat_map(|check| file_words(&check.command))
            .collect();
        task_counterfactual::is_asked(&state.plan, task)
            || task.proving_checks().next().is_some()
                && self.work_tree.has_git()
                && files.iter().any(|file| steers_checks(file, &words))
    }

    /// Outcomes without the work, if asked, and notes on runs with the files of checks as before.
    pub(super) fn prove_task(
        &self,
        state: &RunState,
        task: &Task,
        running: &RunningAttempt,
        watcher: &mut impl CommandWatcher,
    ) -> Result<(Vec<CheckCounterfactual>, Vec<String>), EngineError> {
        let is_asked = task_counterfactual::is_asked(&state.plan, task);
        let checks = if is_asked {
            task_counterfactual::checks_to_prove(&state.plan, task)
        } else {
            task.proving_checks().cloned().collect()
        };
        let (deadline, is_needed) = (Instant::now() + PROOF_LIMIT, self.is_needed());
        let mut watcher = TaskProofWatcher {
            inner: watcher,
            is_needed,
            deadline,
            is_cancelled: false,
        };
        match self.run_proof(state, task, running, &checks, &mut watcher) {
            Ok(found) => Ok(found),
            Err(_) if watcher.is_cancelled => Err(EngineError::Cancelled),
            Err(why) if is_asked => Ok((
                checks
                    .iter()
                    .map(|check| CheckCounterfactual {
                        name: check.command.clone(),
                        reason: why.clone(),
                        ..CheckCounterfactual::default()
                    })
                    .collect(),
                Vec::new(),
            )),
            Err(why) => Ok((
                Vec::new(),
                vec![format!(
                    "what may steer its checks was changed, and not compared: {why}"
                )],
            )),
        }
    }

    fn run_proof(
        &self,
        state: &RunState,
        task: &Task,
        running: &RunningAttempt,
        checks: &[TaskCheck],
        watcher: &mut impl ProofWatcher,
    ) -> Result<(Vec<CheckCounterfactual>, Vec<String>), String> {
        // Leftovers of an earlier attempt are work of the task as well.
        let began = first_attempt(state, task, running).unwrap_or_else(|| running.clone());
        let snapshot: TreeSnapshot =
            began.tree.as_deref().and_then(tree_from_text).ok_or(
                "the files that it began with were not recorded, which takes a git worktree",
            )?;
        let worked = self.work_result(state, task, &began);
        if !worked.is_known {
            return Err("what it changed cannot be told".to_owned());
        }
        let files: BTreeSet<String> = worked.files.into_iter().collect();
        let asked: Vec<Check> = checks
            .iter()
            .enumerate()
            .map(|(place, check)| check_of_task(place, check))
            .collect();
        let expected: Vec<ExpectedResult> =
            checks.iter().map(|check| check.expect.clone()).collect();
        let repository = RepositoryConfig::read(self.root).filter(|repository| {
            matches!(
                repository.approval(Some(self.state_home)),
                ApprovalState::Yes(_)
            )
        });
        let mut tests = repository
            .as_ref()
            .map(|repository| repository.tests.clone())
            .unwrap_or_default();
        tests.extend(planned_test_files(task));
        let now = (self.now)().as_millis().unsigned_abs();
        let runs_without = task_counterfactual::is_asked(&state.plan, task);
        let request = ProofRequest {
            root: self.work_tree.root(),
            state_home: self.state_home,
            base: BaseChoice::Attempt {
                worktree: &self.work_tree,
                run_id: self.run.id(),
                snapshot: &snapshot,
            },
            checks: &asked,
            hollow: HollowChecks::None,
            task: Some(TaskScope {
                expected: &expected,
                files: &files,
                runs_without,
            }),
            tests: &TestFiles::new(tests),
            environment: self.environment,
            time: UNIX_EPOCH + Duration::from_millis(now),
            setup: repository
                .as_ref()
                .and_then(|repository| repository.setup.as_deref()),
        };
        let proof = prove(&request, watcher).map_err(|error| match error {
            ProofError::Cancelled => format!("it was not done within {} s", PROOF_LIMIT.as_secs()),
            error => error.to_string(),
        })?;
        let answers = checks
            .iter()
            .zip(&proof.checks)
            .map(|(check, proof)| proof.summarize(&check.command))
            .collect();
        let notes = checks
            .iter()
            .zip(&proof.comparisons)
            .flat_map(|(check, found)| {
                let judged = (!found.judged_by.is_empty()).then(|| {
                    format!(
                        "green only with the changed {}",
                        list_names(&found.judged_by, found.judged_by.len())
                    )
                });
                let command = sanitize(&check.command, 120).replace('`', "'");
                judged
                    .into_iter()
                    .chain(found.notes.clone())
                    .map(move |note| format!("`{command}`: {note}"))
            });
        Ok((answers, notes.collect()))
    }

    /// Tests that are written first are red only by a failure that names a missing subject.
    pub(super) fn judge_tests_first(
        &self,
        task: &Task,
        mut outcomes: Vec<(TaskCheck, TaskCheckOutcome)>,
    ) -> Vec<(TaskCheck, TaskCheckOutcome)> {
        if task.kind != TaskKind::Tests {
            return outcomes;
        }
        for (check, outcome) in outcomes
            .iter_mut()
            .filter(|(check, outcome)| task.red_check.as_ref() == Some(check) && outcome.is_green())
        {
            let is_runner = runs_tests(check, self.work_tree.root());
            match judge_tests_first(check, is_runner, outcome, &printed_output(outcome)) {
                Ok(None) => {}
                Ok(Some(reason)) => outcome.detail = format!("{}: {reason}", outcome.detail),
                Err(reason) => (outcome.verdict, outcome.detail) = (TaskCheckVerdict::Red, reason),
            }
        }
        outcomes
    }
}

/// An attempt with the start of the first one at its task; `None` where that is the same one.
pub(super) fn first_attempt(
    state: &RunState,
    task: &Task,
    running: &RunningAttempt,
) -> Option<RunningAttempt> {
    let base = state.tasks.get(&task.id)?.work_base.clone()?;
    let is_other = (&base.tree, base.since) != (&running.tree, running.since);
    is_other.then(|| RunningAttempt {
        tree: base.tree,
        since: base.since,
        ..running.clone()
    })
}

/// `true` if a check runs tests by a known runner, itself or by a script of `package.json`.
fn runs_tests(check: &TaskCheck, root: &Path) -> bool {
    let folder = check
        .cwd
        .as_ref()
        .map_or_else(|| root.to_owned(), |folder| root.join(folder));
    let mut scripts = scripts_of(&folder.join(PACKAGE));
    let mut lines = vec![check.command.clone()];
    while let Some(line) = lines.pop() {
        if split_commands(&line)
            .iter()
            .any(|words| names_test_runner(words))
        {
            return true;
        }
        let words = file_words(&line);
        lines.extend(words.iter().filter_map(|word| scripts.remove(word)));
    }
    false
}

fn printed_output(outcome: &TaskCheckOutcome) -> Vec<u8> {
    let mut output = Vec::new();
    let log = outcome.log.as_ref().and_then(|log| File::open(log).ok());
    if log
        .and_then(|log| log.take(MAX_LOG_BYTES).read_to_end(&mut output).ok())
        .is_none()
    {
        return outcome
            .printed
            .excerpt(QUOTED_LINES)
            .join("\n")
            .into_bytes();
    }
    output
}

fn planned_test_files(task: &Task) -> impl Iterator<Item = String> {
    let tests = task
        .files
        .iter()
        .filter(|file| file.action == FileAction::Test);
    tests.filter_map(|file| paths::normalize_path(&file.path))
}

fn check_of_task(place: usize, check: &TaskCheck) -> Check {
    Check {
        name: format!("check {}", place + 1),
        command: check.command.clone(),
        cwd: check.cwd.clone(),
        timeout_seconds: Some(check.effective_timeout()),
        env: BTreeMap::new(),
        ..Check::default()
    }
}

struct TaskProofWatcher<'a, W, N> {
    inner: &'a mut W,
    is_needed: N,
    deadline: Instant,
    is_cancelled: bool,
}

impl<W: CommandWatcher, N: FnMut() -> bool> ProofWatcher for TaskProofWatcher<'_, W, N> {
    fn preparing(&mut self, file_count: usize) {
        self.inner.copies(file_count);
    }

    fn check_started(&mut self, check: &Check, with_change: bool) {
        self.inner.compares(&check.command, with_change);
    }

    fn should_continue(&mut self) -> bool {
        self.is_cancelled |= !self.inner.should_continue() || !(self.is_needed)();
        !self.is_cancelled && Instant::now() < self.deadline
    }
}
