//! The counterfactual run: the checks with the change, and without it.
//!
//! What differs between the sides is what the change did to files that are no tests. A check that is red without the change
//! is run once more on both sides: a test that goes by how often it was run, or by chance, is not taken for a proof.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use omo_checks::baseline::make_repository;
use omo_checks::pinned_files;
use omo_checks::project_copy::{CopyRun, NamesProject, run_in_copy};
use omo_checks::set_up::{SetUpError, set_up_worktree};
use omo_checks::task_check::CheckLog;
use omo_core::check::counterfactual::WithoutChange;
use omo_core::check::session_check::{Check, CheckVerdict, judge_check};
use omo_core::check::test_runner::LineSplitter;
use omo_core::text::sanitize;
use omo_git::base_comparison::{BaseChoice, BaseComparison, BaseContent, BaseError};
use omo_process::environment::CheckEnvironment;
use omo_state::env::is_variable_named;
use serde::Serialize;

use crate::comparison::{ChangeWords, CheckProof, SideOutcome, WithChange, compare_sides};
use crate::installed::{InstalledCopy, InstalledError, installed_folders};
use crate::missing_item::add_words;
use crate::private_tree::{PrivateTreeError, PrivateTrees, Side};
use crate::rust_tests::take_over_tests;
use crate::test_files::TestFiles;
use crate::test_report::TestReport;

/// The log of a check is read so far; the keeper writes less.
const MAX_LOG_BYTES: u64 = 4 * 1024 * 1024;
/// A change of more files is compared without the words in them.
const MAX_WORD_FILES: usize = 2_000;
/// A larger copy is no repository of its own: git would read all of it first.
const MAX_REPOSITORY_FILES: usize = 5_000;
/// At most so many files are named in a note.
const MAX_NAMED_FILES: usize = 5;
/// Files with the name and versions of what a project needs: they are no part of a check, whatever reads them for it.
const MANIFESTS: [&str; 6] = ["Cargo.toml", "Cargo.lock", "go.mod", "go.sum", "pyproject.toml", "setup.cfg"];
/// Endings of source code, in which a change defines something.
const SOURCE_ENDINGS: [&str; 12] = ["rs", "go", "py", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "pyi"];

/// What is asked.
#[derive(Debug)]
pub struct ProofRequest<'a> {
    /// The project's top.
    pub root: &'a Path,
    /// The user's own state folder, where the copies are made.
    pub state_home: &'a Path,
    /// What it is compared with.
    pub base: BaseChoice<'a>,
    /// The checks, pinned to the files that they run.
    pub checks: &'a [Check],
    /// What counts as a test file.
    pub tests: &'a TestFiles,
    /// What every check gets.
    pub environment: &'a CheckEnvironment,
    /// The time of every file in the copies.
    pub time: SystemTime,
    /// The command that puts into a copy what a checkout lacks, where its user approved it.
    pub setup: Option<&'a str>,
}

/// What the checks prove of a change.
#[derive(Clone, Debug, Serialize)]
pub struct Proof {
    /// The commit that the change is compared with.
    pub base: String,
    /// The checks, in order.
    pub checks: Vec<CheckProof>,
    /// What could not be told apart, or was not there, in one line each.
    pub notes: Vec<String>,
}

/// Why nothing could be compared.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// There is nothing to compare with.
    #[error(transparent)]
    Base(BaseError),
    /// No copy could be made.
    #[error(transparent)]
    Tree(#[from] PrivateTreeError),
    /// What was installed could not be copied.
    #[error(transparent)]
    Installed(#[from] InstalledError),
    /// The set-up failed in a copy.
    #[error(transparent)]
    SetUp(#[from] SetUpError),
    /// The files are not those that were meant.
    #[error("files changed before they were copied")]
    FilesChanged,
    /// It was ended before all was done.
    #[error("it was ended before all was done")]
    Cancelled,
}

impl From<BaseError> for ProofError {
    fn from(error: BaseError) -> Self {
        match error {
            BaseError::Cancelled => Self::Cancelled,
            error => Self::Base(error),
        }
    }
}

/// Hears what happens, to show it, and can end it.
pub trait ProofWatcher {
    /// The copies are made.
    fn preparing(&mut self, _file_count: usize) {}
    /// The files of now are copied. `false` says that they are not those that are meant.
    fn is_copied(&mut self) -> bool {
        true
    }
    /// A check begins to run on one side.
    fn check_started(&mut self, _check: &Check, _with_change: bool) {}
    /// Time goes by. `false` ends everything.
    fn should_continue(&mut self) -> bool {
        true
    }
}

/// Runs the checks on both sides and compares them. Nothing is written to the project, its index or its branches, and
/// nothing is left of the copies.
///
/// # Errors
///
/// There is nothing to compare with, the copies cannot be made, or it was ended.
pub fn prove(request: &ProofRequest, watcher: &mut impl ProofWatcher) -> Result<Proof, ProofError> {
    let comparison = BaseComparison::read(request.root, request.base)?;
    watcher.preparing(comparison.file_count());
    let mut notes = Vec::new();
    let time = request.time;
    let mut trees = PrivateTrees::create(request.state_home, &folder_name(time))?;
    let (with, without) = (trees.top(Side::With), trees.top(Side::Without));
    comparison.write_now(&with, time, || watcher.should_continue())?;
    if !watcher.is_copied() {
        return Err(ProofError::FilesChanged);
    }
    let change = Change::read(&comparison, &with, request, &mut notes)?;
    comparison.write_base(&with, &without, time, |path| change.content(path), || watcher.should_continue())?;
    install(request, &comparison, &mut trees, watcher)?;
    let mut runner = SideRunner { request, project: comparison.project.clone(), trees };
    let mut with_change = Vec::new();
    for check in request.checks {
        with_change.push(runner.run(check, Side::With, watcher)?);
    }
    let mut checks = Vec::new();
    for (check, with) in request.checks.iter().zip(&with_change) {
        checks.push(runner.prove_check(check, with, &change, watcher)?);
    }
    for (check, (proof, with)) in request.checks.iter().zip(checks.iter_mut().zip(&with_change)) {
        if let (true, Ok(with)) = (proof.is_proved(), with)
            && let Some(why) = runner.is_chance(check, with, &change, watcher)?
        {
            *proof = why;
        }
    }
    Ok(Proof { base: comparison.base, checks, notes })
}

fn folder_name(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{}-{}", std::process::id(), since.as_nanos())
}

/// What the change did, as far as the side without it needs to know.
struct Change {
    /// The test files among what changed, and files that a check runs.
    kept: BTreeSet<PathBuf>,
    /// Source files of then with the tests of now.
    joined: BTreeMap<PathBuf, Vec<u8>>,
    words: ChangeWords,
    /// There is a file that differs between the sides.
    differs: bool,
}

impl Change {
    fn read(
        comparison: &BaseComparison,
        with: &Path,
        request: &ProofRequest,
        notes: &mut Vec<String>,
    ) -> Result<Self, BaseError> {
        let name_of = |path: &Path| {
            let below = path.strip_prefix(&comparison.project).unwrap_or(path);
            below.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
        };
        let is_manifest =
            |path: &Path| path.file_name().and_then(|name| name.to_str()).is_some_and(|name| MANIFESTS.contains(&name));
        let pinned: BTreeSet<PathBuf> = request
            .checks
            .iter()
            .flat_map(|check| check.pinned.keys())
            .map(|file| comparison.project.join(file))
            .filter(|path| !is_manifest(path))
            .collect();
        let kept: BTreeSet<PathBuf> = comparison
            .changed_paths()
            .filter(|path| pinned.contains(*path) || request.tests.contains(&name_of(path)))
            .map(Path::to_owned)
            .collect();
        for path in kept.intersection(&pinned).filter(|path| !request.tests.contains(&name_of(path))) {
            notes.push(format!("{} is run by a check: both sides have it as it is now", path.display()));
        }
        let removed: Vec<&Path> =
            kept.iter().map(PathBuf::as_path).filter(|path| !comparison.is_present(path)).collect();
        notes.extend(removed_test_files(&removed));
        let source = |path: &Path| {
            let ending = path.extension().and_then(|ending| ending.to_str());
            !kept.contains(path) && ending.is_some_and(|ending| SOURCE_ENDINGS.contains(&ending))
        };
        let mut words = ChangeWords::default();
        let (mut joined, mut before) = (BTreeMap::new(), BTreeSet::new());
        let changed = comparison.read_changed(with, source)?;
        for file in changed.iter().take(MAX_WORD_FILES) {
            let text =
                |bytes: &Option<Vec<u8>>| bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            let (base, now) = (text(&file.base), text(&file.now));
            add_words(base.as_deref().unwrap_or_default(), &mut before);
            add_words(now.as_deref().unwrap_or_default(), &mut words.defined);
            if file.base.is_none() {
                // A new module is called as its file is, or as its folder.
                words.defined.extend(file.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
                words
                    .defined
                    .extend(file.path.parent().and_then(Path::file_name).map(|it| it.to_string_lossy().into()));
            }
            let is_rust = file.path.extension().is_some_and(|ending| ending == "rs");
            if let (true, Some(base), Some(now)) = (is_rust, base, now) {
                match take_over_tests(&base, &now) {
                    Ok(Some(text)) => _ = joined.insert(file.path.clone(), text.into_bytes()),
                    Ok(None) => {}
                    Err(why) => {
                        notes.push(format!("the tests in {} could not be separated: {why}", file.path.display()));
                    }
                }
            }
        }
        words.defined.retain(|word| !before.contains(word));
        let differs = comparison.changed_paths().any(|path| !kept.contains(path));
        Ok(Self { kept, joined, words, differs })
    }

    fn content(&self, path: &Path) -> BaseContent {
        if self.kept.contains(path) {
            return BaseContent::Now;
        }
        self.joined.get(path).map_or(BaseContent::Base, |text| BaseContent::Joined(text.clone()))
    }
}

/// Says which test files the change removed: what was in them is compared with nothing.
fn removed_test_files(removed: &[&Path]) -> Option<String> {
    let names: Vec<String> =
        removed.iter().take(MAX_NAMED_FILES).map(|path| sanitize(&path.to_string_lossy(), 100)).collect();
    let more = match removed.len().saturating_sub(MAX_NAMED_FILES) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let files = if removed.len() == 1 { "test file is" } else { "test files are" };
    (!removed.is_empty())
        .then(|| format!("{} {files} gone with the change, on both sides: {}{more}", removed.len(), names.join(", ")))
}

/// Puts into both copies what a checkout lacks.
fn install(
    request: &ProofRequest,
    comparison: &BaseComparison,
    trees: &mut PrivateTrees,
    watcher: &mut impl ProofWatcher,
) -> Result<(), ProofError> {
    let mut paths = comparison.included_paths()?;
    if request.setup.is_none() {
        paths.extend(installed_folders(comparison.ignored_paths()?));
    }
    for side in [Side::With, Side::Without] {
        let (to, shown) = (trees.top(side), trees.active_top());
        let mut copy = InstalledCopy::new(comparison.top(), &to, &shown);
        for path in &paths {
            if !watcher.should_continue() {
                return Err(ProofError::Cancelled);
            }
            copy.copy(path)?;
        }
        trees.activate(side)?;
        if comparison.file_count() <= MAX_REPOSITORY_FILES {
            make_repository(request.root, &shown);
        }
        if let Some(command) = request.setup {
            let path = trees.path().join("setup.log");
            let file =
                fs::File::create(&path).map_err(|source| PrivateTreeError::File { path: path.clone(), source })?;
            let project = shown.join(&comparison.project);
            let log = CheckLog { path, file };
            set_up_worktree(command, &project, request.environment, log, || watcher.should_continue())?;
        }
    }
    Ok(())
}

/// Runs checks in the copies.
struct SideRunner<'a> {
    request: &'a ProofRequest<'a>,
    /// The project's folder, from the top.
    project: PathBuf,
    trees: PrivateTrees,
}

impl SideRunner<'_> {
    fn prove_check(
        &mut self,
        check: &Check,
        with: &Result<SideOutcome, NamesProject>,
        change: &Change,
        watcher: &mut impl ProofWatcher,
    ) -> Result<CheckProof, ProofError> {
        let with = match with {
            Ok(with) => with,
            Err(error) => return Ok(unknown_on_both_sides(check, error.to_string())),
        };
        if with.verdict != CheckVerdict::Green {
            return Ok(CheckProof::red_with_change(&check.command, with));
        }
        if !change.differs {
            let reason = "no file but test files differs from the base: nothing was changed that it could show";
            let mut proof = CheckProof::could_not_run(&check.command, with, reason.to_owned());
            proof.without = WithoutChange::Green;
            return Ok(proof);
        }
        Ok(match self.run(check, Side::Without, watcher)? {
            Ok(without) => compare_sides(&check.command, with, &without, &change.words),
            Err(error) => CheckProof::could_not_run(&check.command, with, error.to_string()),
        })
    }

    /// Whether a second run of each side says something else than the first one. The side without the change comes
    /// first: what changes with each run would be the same again at every second one.
    fn is_chance(
        &mut self,
        check: &Check,
        with: &SideOutcome,
        change: &Change,
        watcher: &mut impl ProofWatcher,
    ) -> Result<Option<CheckProof>, ProofError> {
        if let Ok(without) = self.run(check, Side::Without, watcher)?
            && compare_sides(&check.command, with, &without, &change.words).without != WithoutChange::Red
        {
            return Ok(Some(CheckProof::not_repeatable(&check.command, with, false, &without)));
        }
        let again = self.run(check, Side::With, watcher)?.ok().filter(|again| again.verdict != CheckVerdict::Green);
        Ok(again.map(|again| CheckProof::not_repeatable(&check.command, with, true, &again)))
    }

    fn run(
        &mut self,
        check: &Check,
        side: Side,
        watcher: &mut impl ProofWatcher,
    ) -> Result<Result<SideOutcome, NamesProject>, ProofError> {
        watcher.check_started(check, side == Side::With);
        self.trees.activate(side)?;
        let log_path = self.trees.path().join("check.log");
        let file_error = |source| PrivateTreeError::File { path: log_path.clone(), source };
        let log = fs::File::create(&log_path).map_err(file_error)?;
        let copy = self.trees.active_top().join(&self.project);
        let timeout = Duration::from_secs(check.effective_timeout().into());
        let how = CopyRun { variables: self.variables(check), timeout, log: Some(log) };
        let outcome = match run_in_copy(check, self.request.root, &copy, how, || watcher.should_continue()) {
            Ok(outcome) => outcome,
            Err(error) => return Ok(Err(error)),
        };
        let end = outcome.end.ok_or(ProofError::Cancelled)?;
        let mut output = Vec::new();
        fs::File::open(&log_path)
            .and_then(|log| log.take(MAX_LOG_BYTES).read_to_end(&mut output))
            .map_err(file_error)?;
        let is_runner = pinned_files::runs_tests(check, self.request.root);
        let (verdict, detail) = judge_check(&end, outcome.counts, None, is_runner);
        let report = TestReport::read(&output);
        Ok(Ok(SideOutcome { end, verdict, detail, counts: outcome.counts, report, lines: self.visible_lines(&output) }))
    }

    /// The lines of an output, with the paths of the copy as they are in the project.
    fn visible_lines(&self, output: &[u8]) -> Vec<String> {
        let top = format!("{}{}", self.trees.active_top().display(), std::path::MAIN_SEPARATOR);
        let mut lines = Vec::new();
        let mut splitter = LineSplitter::default();
        splitter.read(output, |line| lines.push(line.replace(&top, "")));
        splitter.finish(|line| lines.push(line.replace(&top, "")));
        lines
    }

    /// The variables of a check in a copy: those that it has in the project, but for what would have the two sides share
    /// what they build, and for what has its runner name each test.
    fn variables(&self, check: &Check) -> Vec<(OsString, OsString)> {
        let mut variables = self.request.environment.variables_for_check(check);
        let top = self.trees.active_top();
        let value_of = |variables: &[(OsString, OsString)], name: &str| {
            let found = variables.iter().find(|(known, _)| is_variable_named(known, name));
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let with_option = |variables: &[(OsString, OsString)], name: &str, option: &str| {
            let mut value = value_of(variables, name);
            if !value.is_empty() {
                value.push(" ");
            }
            value.push(option);
            value
        };
        let own = [
            ("TMPDIR", self.trees.temporary().into_os_string()),
            ("TMP", self.trees.temporary().into_os_string()),
            ("TEMP", self.trees.temporary().into_os_string()),
            ("CARGO_TARGET_DIR", top.join(&self.project).join("target").into_os_string()),
            ("GIT_CEILING_DIRECTORIES", self.trees.path().as_os_str().to_owned()),
            ("GOFLAGS", with_option(&variables, "GOFLAGS", "-v")),
            ("PYTEST_ADDOPTS", with_option(&variables, "PYTEST_ADDOPTS", "-v -rap")),
        ];
        // A cache of modules that goes by path and time would take one side for the other.
        let is_replaced = |name: &OsStr| {
            is_variable_named(name, "PYTHONPYCACHEPREFIX") || own.iter().any(|(own, _)| is_variable_named(name, own))
        };
        variables.retain(|(name, _)| !is_replaced(name));
        variables.extend(own.map(|(name, value)| (name.into(), value)));
        variables
    }
}

fn unknown_on_both_sides(check: &Check, reason: String) -> CheckProof {
    CheckProof {
        run: check.command.clone(),
        with: WithChange::Red,
        without: WithoutChange::Unknown,
        reason,
        lines: Vec::new(),
        tests: Vec::new(),
    }
}
