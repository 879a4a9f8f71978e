//! Process that proves the checks of a claim in the background: `omo`, started by a hook.

use std::path::Path;
use std::slice;
use std::time::{Duration, Instant};

use omo_checks::baseline::{
    check_at_start, count_rest, outside_files, outside_files_at_start, wait_for_start,
};
use omo_checks::claim_proof::{LOCK, PROVE_ARGUMENT, ProofAnswer, ProofFolder, ProofQuestion};
use omo_checks::outside_files;
use omo_checks::project_copy::NamesProject;
use omo_checks::repository_config::{ApprovalState, RepositoryConfig};
use omo_core::check::counterfactual::{
    CheckCounterfactual, LostTests, ProveMode, WithoutChange, compare_counts, compare_places,
    list_names,
};
use omo_core::check::session_check::{Check, TOTAL_TIMEOUT_SECONDS, TestCounts};
use omo_core::session::id::SessionId;
use omo_core::session::{Session, VerdictKind};
use omo_git::base_comparison::BaseChoice;
use omo_git::git_command::{self, GitCalls};
use omo_git::work_files::WorkFiles;
use omo_process::detached;
use omo_process::environment::CheckEnvironment;
use omo_state::env::{self, ProcessEnv};
use omo_state::files::lock::StateLock;
use omo_state::seal::{SealKey, hex_digest};
use omo_state::state;

use crate::claim_comparison::{ClaimComparison, turned_green};
use crate::comparison::{CheckProof, TestState, WithChange};
use crate::counterfactual::prove;
use crate::proof_request::{HollowChecks, ProofError, ProofRequest, ProofWatcher};
use crate::side_outcome::SideOutcome;
use crate::test_files::TestFiles;

/// Time limit for all runs of all checks together.
const LIMIT: Duration = Duration::from_secs(2 * TOTAL_TIMEOUT_SECONDS as u64);
/// Wait for another process, which ends once its answer is not needed.
const LOCK_PATIENCE: Duration = Duration::from_secs(60);
/// Pause between two calls of `is_needed`.
const ASK_EVERY: Duration = Duration::from_millis(500);

/// Answers a proof question and exits, if the process was started for one.
///
/// Called first in the `main` of `omo`.
#[expect(
    clippy::exit,
    reason = "this is a process of its own, and does nothing else"
)]
pub fn run_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments
        .next()
        .is_some_and(|first| first == PROVE_ARGUMENT)
    {
        if let (Some(root), Some(id)) = (arguments.next(), arguments.next()) {
            let _ = answer(Path::new(&root), &id.to_string_lossy());
        }
        std::process::exit(0);
    }
}

fn answer(root: &Path, id: &str) -> Option<()> {
    let id = SessionId::parse(id).ok()?;
    let home = ProcessEnv::from_process().state_home?;
    let folder = ProofFolder::open(&home, &id).ok()?;
    let question = folder.question()?;
    detached::leave_terminal().ok()?;
    // The lock tells a hook that this question is being answered. A process with another question ends soon.
    let alone = StateLock::take_named(&folder.folder, LOCK, Duration::ZERO);
    detached::report_ready("proving").ok()?;
    let _alone = alone
        .or_else(|_| StateLock::take_named(&folder.folder, LOCK, LOCK_PATIENCE))
        .ok()?;
    let proof = AskedProof {
        root,
        home: &home,
        id: &id,
        folder: &folder,
        question: &question,
    };
    let answer = match proof.find_out() {
        Err(ProofError::Cancelled) if !proof.is_needed() => return None,
        Err(ProofError::Cancelled) => Err(format!("it was not done within {} s", LIMIT.as_secs())),
        answer => answer.map_err(|error| error.to_string()),
    };
    proof.answer(answer, true)
}

struct AskedProof<'a> {
    root: &'a Path,
    home: &'a Path,
    id: &'a SessionId,
    folder: &'a ProofFolder<'a>,
    question: &'a ProofQuestion,
}

impl AskedProof<'_> {
    fn session(&self) -> Option<Session> {
        let key = SealKey::load(Some(self.home)).ok()?;
        state::peek(self.root, self.id)
            .ok()
            .flatten()
            .filter(|session| key.holds(self.id, session))
    }

    /// `true` while no other question was asked, and the run is on or was verified.
    fn is_needed(&self) -> bool {
        if self.folder.question().as_ref() != Some(self.question) {
            return false;
        }
        self.session().is_some_and(|session| {
            (session.is_armed() && session.ulw.paused.is_none())
                || session
                    .verdict
                    .is_some_and(|verdict| verdict.kind == VerdictKind::Verified)
        })
    }

    fn answer(
        &self,
        found: Result<Vec<CheckCounterfactual>, String>,
        is_whole: bool,
    ) -> Option<()> {
        self.folder
            .write_answer(&ProofAnswer {
                question: self.question.clone(),
                found,
                is_whole,
            })
            .ok()
    }

    /// Waits for the baseline, which a pause may have interrupted.
    fn finish_counting(&self, checks: &[Check], should_continue: impl FnMut() -> bool) {
        // On failure the answer says that nothing was counted.
        let _ = count_rest(self.root, self.home, self.id, checks);
        wait_for_start(self.home, self.id, should_continue);
    }

    fn counts_here(&self, check: &Check) -> Option<TestCounts> {
        let digest = hex_digest(&check.definition());
        let place = self
            .question
            .checks
            .iter()
            .position(|asked| *asked == digest)?;
        self.question.counts.get(place).copied().flatten()
    }

    fn summarize(
        &self,
        check: &Check,
        proof: &CheckProof,
        comparison: &ClaimComparison,
    ) -> CheckCounterfactual {
        let started = check_at_start(self.home, self.id, check).unwrap_or_default();
        let judged_by = comparison.judging_files(&started.tests).to_vec();
        let ClaimComparison {
            mut judging_digest,
            mut notes,
            now,
            ..
        } = comparison.clone();
        if !started.missing_reason.is_empty() && now.counts.is_some() {
            notes.push(format!(
                "which tests ran at the start is not known: {}",
                started.missing_reason
            ));
        }
        notes.extend(compare_counts(&started.tests, &now));
        notes.extend(
            self.counts_here(check)
                .and_then(|here| compare_places(here, &now, &started.tests)),
        );
        notes.extend(comparison.changed_tests(&started.tests));
        if self.question.is_copy_decisive && proof.with != WithChange::Green {
            notes.push("files were written while it ran, and it is not known to be green in a private copy".to_owned());
        }
        let red_in_copy = match proof.with {
            WithChange::Red if !self.question.is_copy_decisive => proof
                .reason
                .trim_start_matches("it is not green with the change: ")
                .to_owned(),
            _ => String::new(),
        };
        // Where only tests differ, they run on one side alone.
        let is_other_side_same = proof.without == WithoutChange::Green;
        // Differences by changed judges are told with those.
        let unchanged = proof
            .tests
            .iter()
            .filter(|_| judged_by.is_empty())
            .filter(|test| {
                let passed = test.without == TestState::Passed
                    || (is_other_side_same && test.without == TestState::Unknown);
                passed && test.with == TestState::Passed
            })
            .map(|test| test.name.as_str());
        let lost = LostTests::compare(&started.tests, &now).with_changed(&started.tests, unchanged);
        if lost.names_some_alone() {
            let names: Vec<&str> = now.iter().map(|(name, _)| name).collect();
            judging_digest =
                hex_digest(format!("{judging_digest}\n{}", names.join("\n")).as_bytes());
        }
        CheckCounterfactual {
            judged_by,
            judging_digest,
            lost,
            notes,
            red_in_copy,
            ..proof.summarize(&check.name)
        }
    }

    /// Note of files outside of the work that changed since the start, and the digest of their states.
    fn changed_outside(&self, checks: &[Check], changed: &[String]) -> Option<(String, String)> {
        let then = outside_files_at_start(self.home, self.id)?;
        let now = outside_files(self.root, checks);
        let names =
            outside_files::changed(self.root, &then, &now, changed.iter().map(String::as_str));
        let states: Vec<String> = names
            .iter()
            .map(|name| format!("{name}: {:?}", now.get(name)))
            .collect();
        if names.is_empty() {
            return None;
        }
        let listed = list_names(&names, names.len());
        let note = format!("changed outside of the work: {listed}");
        Some((note, hex_digest(states.join("\n").as_bytes())))
    }

    fn find_out(&self) -> Result<Vec<CheckCounterfactual>, ProofError> {
        let session = self.session().ok_or(ProofError::Cancelled)?;
        let verification = &session.verification;
        let parts = (
            self.question.scope.as_deref(),
            session.ulw.recorded.as_deref(),
            verification.environment.as_deref(),
        );
        let (Some(scope), Some(recorded), Some(kept)) = parts else {
            return Err(ProofError::Cancelled);
        };
        let environment = CheckEnvironment::load_for_run(self.home, self.id, kept, self.root)
            .ok_or(ProofError::Cancelled)?;
        git_command::use_environment(&environment);
        let repository = RepositoryConfig::read(self.root).filter(|repository| {
            matches!(repository.approval(Some(self.home)), ApprovalState::Yes(_))
        });
        let tests = TestFiles::new(
            repository
                .as_ref()
                .map(|repository| repository.tests.clone())
                .unwrap_or_default(),
        );
        let checks: Vec<Check> = session
            .checks
            .iter()
            .filter(|check| {
                self.question
                    .checks
                    .contains(&hex_digest(&check.definition()))
            })
            .cloned()
            .collect();
        let is_required =
            verification.prove == ProveMode::Require || checks.iter().any(|check| check.prove);
        let request = ProofRequest {
            root: self.root,
            state_home: self.home,
            base: BaseChoice::Recorded {
                session: self.id,
                scope,
                recorded,
            },
            checks: &checks,
            task: None,
            hollow: if is_required {
                HollowChecks::All
            } else {
                HollowChecks::Unclear
            },
            tests: &tests,
            environment: &environment,
            time: env::file_time(),
            setup: repository
                .as_ref()
                .and_then(|repository| repository.setup.as_deref()),
        };
        let mut watcher = ClaimWatcher {
            asked: self,
            checks: &checks,
            scope,
            started: Instant::now(),
            looked: None,
        };
        if !watcher.is_copied() {
            return Err(ProofError::FilesChanged);
        }
        let mut proof = prove(&request, &mut watcher)?;
        self.finish_counting(&checks, || watcher.should_continue());
        let outside = self.changed_outside(&checks, &proof.changed);
        if let (Some(first), Some((note, digest))) = (proof.comparisons.first_mut(), outside) {
            first.judging_digest =
                hex_digest(format!("{}{digest}", first.judging_digest).as_bytes());
            first.notes.push(note);
        }
        let answers = checks.iter().zip(&proof.checks).zip(&proof.comparisons);
        Ok(answers
            .map(|((check, proof), comparison)| self.summarize(check, proof, comparison))
            .collect())
    }
}

struct ClaimWatcher<'a> {
    asked: &'a AskedProof<'a>,
    checks: &'a [Check],
    scope: &'a str,
    started: Instant,
    looked: Option<Instant>,
}

impl ProofWatcher for ClaimWatcher<'_> {
    fn is_copied(&mut self) -> bool {
        let calls = GitCalls::default();
        let files = WorkFiles::new(
            self.asked.root,
            Some(self.asked.home),
            &calls,
            Some(self.scope),
        );
        files
            .state()
            .is_some_and(|state| state.id == self.asked.question.tree)
    }

    fn judges_compared(
        &mut self,
        with: &[Result<SideOutcome, NamesProject>],
        comparisons: &[ClaimComparison],
    ) {
        const LATER: &str = "without the change it was not done in time";
        let answers = self
            .checks
            .iter()
            .zip(with)
            .zip(comparisons)
            .map(|((check, with), comparison)| {
                let proof = match with {
                    Ok(with) if !with.is_green() => {
                        CheckProof::not_green_with_change(&check.command, with)
                    }
                    Ok(with) => {
                        CheckProof::not_run_without_change(&check.command, with, LATER.to_owned())
                    }
                    Err(error) => CheckProof::not_runnable(&check.command, error.to_string()),
                };
                self.asked.summarize(check, &proof, comparison)
            })
            .collect();
        let _ = self.asked.answer(Ok(answers), false);
    }

    fn asks_old_tests(&mut self, check: &Check, with: &SideOutcome, proof: &CheckProof) -> bool {
        match proof.without {
            WithoutChange::Red => false,
            WithoutChange::Green => !with.report.names_passed_tests(),
            WithoutChange::NotBuilt | WithoutChange::Unknown => {
                let asked = self.asked;
                asked.finish_counting(slice::from_ref(check), || self.should_continue());
                let started = check_at_start(asked.home, asked.id, check).unwrap_or_default();
                turned_green(&started.tests, &with.report).next().is_some()
            }
        }
    }

    fn should_continue(&mut self) -> bool {
        if self.started.elapsed() > LIMIT {
            return false;
        }
        if self
            .looked
            .is_some_and(|looked| looked.elapsed() < ASK_EVERY)
        {
            return true;
        }
        self.looked = Some(Instant::now());
        self.asked.is_needed()
    }
}
