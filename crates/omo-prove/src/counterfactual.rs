//! Runs checks with the change and without it; both sides have the present test files.
//!
//! A check that fails without the change runs twice on both sides, to rule out chance.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use omo_checks::baseline::make_repository;
use omo_checks::set_up::set_up_worktree;
use omo_checks::task_check::CheckLog;
use omo_git::base_comparison::{BaseChoice, BaseComparison, BaseContent, ScratchFolder};
use omo_git::git_command::GitCalls;
use serde::Serialize;

use crate::change::Change;
use crate::changed_judges::ChangedJudges;
use crate::claim_comparison::ClaimComparison;
use crate::comparison::CheckProof;
use crate::failing_test::FailingTests;
use crate::hollow;
use crate::installed::{copy_paths, installed_folders};
use crate::private_tree::{PrivateTreeError, PrivateTrees, Side};
use crate::proof_request::{ProofError, ProofRequest, ProofWatcher};
use crate::side_outcome::SideOutcome;
use crate::side_runner::SideRunner;
use crate::stored_files::StoredFiles;

/// A larger copy does not become a repository, since git would read all of it first.
const MAX_REPOSITORY_FILES: usize = 5_000;

/// Result of a proof, check by check.
#[derive(Clone, Debug, Serialize)]
pub struct Proof {
    /// Commit or tree that the change is compared with.
    pub base: String,
    pub checks: Vec<CheckProof>,
    #[serde(skip)]
    pub comparisons: Vec<ClaimComparison>,
    /// Notes on doubts that remain, one line each.
    pub notes: Vec<String>,
    /// Changed files, from the top of the project.
    #[serde(skip)]
    pub changed: Vec<String>,
}

/// Runs the checks on both sides in temporary copies; nothing in the project changes.
///
/// # Errors
///
/// Nothing to compare with, no room for copies, or a cancellation.
pub fn prove(request: &ProofRequest, watcher: &mut impl ProofWatcher) -> Result<Proof, ProofError> {
    let (time, calls) = (request.time, GitCalls::default());
    let name = folder_name(time);
    let mut trees = PrivateTrees::create(request.state_home, &name)?;
    let scratch = ScratchFolder {
        state_home: request.state_home,
        parts: &PrivateTrees::scratch_parts(&name),
    };
    let comparison = BaseComparison::read(request.root, request.base, scratch, &calls)?;
    watcher.preparing(comparison.file_count());
    let mut notes = Vec::new();
    let (with, without) = (trees.top(Side::With), trees.top(Side::Without));
    comparison.write_now(&with, &without, time, || watcher.should_continue())?;
    if !watcher.is_copied() {
        return Err(ProofError::FilesChanged);
    }
    let mut change = Change::read(&comparison, &with, request, &mut notes)?;
    comparison.write_changed(
        &with,
        &without,
        time,
        |path| change.content(path),
        || watcher.should_continue(),
    )?;
    let base_paths: Vec<&Path> = comparison
        .changed_paths()
        .filter(|path| matches!(change.content(path), BaseContent::Base))
        .collect();
    let stored = StoredFiles::restore(request, &comparison, &base_paths, (&with, &without));
    let stored = stored.map_err(|source| PrivateTreeError::File {
        path: without.clone(),
        source,
    })?;
    change.note_stored_files(&stored, &comparison, &mut notes);
    let is_claim = matches!(request.base, BaseChoice::Recorded { .. });
    let has_judges = is_claim || request.task.is_some();
    let judges = has_judges
        .then(|| ChangedJudges::read(&comparison, &with, request, &change))
        .transpose()?;
    let claim_judges = judges.as_ref().filter(|_| is_claim);
    let old_tests = claim_judges
        .map(|judges| judges.read_tests(&comparison, &with, request.tests))
        .transpose()?;
    let failing_tests = if is_claim {
        FailingTests::read(&comparison, &with, request, &change)
    } else {
        FailingTests::default()
    };
    install(request, &comparison, &mut trees, watcher)?;
    let changed = comparison
        .changed_paths()
        .map(|path| comparison.name_in_project(path))
        .collect();
    let (base, project) = (comparison.base.clone(), comparison.project.clone());
    drop(comparison);
    trees.remove_scratch()?;
    let mut runner = SideRunner::new(request, project, trees);
    let every_check = vec![true; request.checks.len()];
    let mut with_old_judges = judges
        .as_ref()
        .map(|judges| judges.run_checks(&mut runner, watcher, &every_check))
        .transpose()?
        .unwrap_or_default()
        .into_iter();
    let mut with_change = Vec::new();
    let mut comparisons = Vec::new();
    for check in request.checks {
        let before = with_old_judges.next().flatten();
        let with = runner.run(check, Side::With, watcher)?;
        comparisons.extend(
            judges
                .as_ref()
                .map(|judges| judges.compare(before.as_ref(), with.as_ref().ok())),
        );
        with_change.push(with);
    }
    watcher.judges_compared(&with_change, &comparisons);
    if request.task.is_some_and(|task| !task.runs_without) {
        return Ok(Proof {
            base,
            checks: Vec::new(),
            comparisons,
            notes,
            changed,
        });
    }
    let mut checks = Vec::new();
    for (check, with) in request.checks.iter().zip(&with_change) {
        checks.push(runner.prove_check(check, with, &change, watcher)?);
    }
    if let Some(old_tests) = &old_tests {
        let asked = request.checks.iter().zip(with_change.iter().zip(&checks));
        let asked: Vec<bool> = asked
            .map(|(check, (with, proof))| {
                with.as_ref()
                    .is_ok_and(|with| with.is_green() && watcher.asks_old_tests(check, with, proof))
            })
            .collect();
        let outcomes = old_tests.run_checks(&mut runner, watcher, &asked)?;
        for (comparison, outcome) in comparisons.iter_mut().zip(outcomes) {
            if let Some(outcome) = outcome {
                old_tests.add_to(comparison, outcome);
            }
        }
    }
    for (comparison, (check, (with, proof))) in comparisons
        .iter_mut()
        .zip(request.checks.iter().zip(with_change.iter().zip(&checks)))
    {
        let Ok(with) = with else { continue };
        comparison.notes.extend(failing_tests.ask_check(
            check,
            (with, proof),
            &mut runner,
            watcher,
        )?);
    }
    // A claim that is red, then green on the same files shows itself as chance.
    let repeated = if is_claim { &[][..] } else { request.checks };
    for (check, (proof, with)) in repeated.iter().zip(checks.iter_mut().zip(&with_change)) {
        if let (true, Ok(with)) = (proof.without.is_red(), with)
            && let Some(why) = runner.find_unrepeatable(check, with, &change, watcher)?
        {
            *proof = why;
        }
    }
    let sides: Vec<Option<&SideOutcome>> =
        with_change.iter().map(|with| with.as_ref().ok()).collect();
    match hollow::ask_checks(
        request.hollow,
        &change,
        &mut runner,
        (&sides, &mut checks),
        watcher,
    ) {
        // The other facts about a claim count.
        Err(ProofError::Cancelled) if is_claim => {}
        asked => asked?,
    }
    Ok(Proof {
        base,
        checks,
        comparisons,
        notes,
        changed,
    })
}

fn folder_name(time: SystemTime) -> String {
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    format!("{}-{}", std::process::id(), since.as_nanos())
}

/// Puts what a checkout lacks into both copies.
fn install(
    request: &ProofRequest,
    comparison: &BaseComparison,
    trees: &mut PrivateTrees,
    watcher: &mut impl ProofWatcher,
) -> Result<(), ProofError> {
    let included = comparison.included_paths()?;
    for side in [Side::Without, Side::With] {
        trees.activate(side)?;
        let active = trees.active_top();
        // Before packages are installed, which git would read as well.
        if comparison.file_count() <= MAX_REPOSITORY_FILES {
            make_repository(request.root, &active);
        }
        copy_paths((comparison.top(), &active), &included, || {
            watcher.should_continue()
        })?;
        if let Some(command) = request.setup {
            let path = trees.path().join("setup.log");
            let file = fs::File::create(&path).map_err(|source| PrivateTreeError::File {
                path: path.clone(),
                source,
            })?;
            let project = active.join(&comparison.project);
            let log = CheckLog { path, file };
            set_up_worktree(command, &project, request.environment, log, || {
                watcher.should_continue()
            })?;
        }
    }
    if request.setup.is_none() {
        let installed = installed_folders(comparison.ignored_paths()?);
        copy_paths((comparison.top(), &trees.active_top()), &installed, || {
            watcher.should_continue()
        })?;
        trees.set_installed(installed.into_iter().collect());
    }
    Ok(())
}
