//! Running the checks of a claim: which of them may run, which of them need not, and what came of
//! those that ran.

use std::cell::OnceCell;
use std::path::Path;
use std::time::{Duration, Instant};

use omo_core::check::printed_output::PrintedOutput;
use omo_core::check::session_check::{
    Check, CheckOrigin, CheckRecord, CheckVerdict, TOTAL_TIMEOUT_SECONDS, judge_check,
};
use omo_core::stop::claim::CheckResult;
use omo_core::text::sanitize;
use omo_git::work_files::{FilesState, FolderWatch, TransientFiles, WorkFiles};
use omo_process::environment::CheckEnvironment;
use omo_process::job::{self, CommandJob};
use omo_state::env;
use omo_state::files::folder::GuardedFolder;

use crate::repository_config::{ApprovalState, RepositoryConfig};

/// What the checks of a claim are run with.
#[derive(Debug)]
pub struct CheckContext<'a> {
    /// The project's top.
    pub root: &'a Path,
    /// The user's own state folder.
    pub state_home: Option<&'a Path>,
    /// Where the logs go; `None` for nowhere.
    pub logs: Option<&'a GuardedFolder>,
    /// The files that count.
    pub files: &'a WorkFiles<'a>,
    /// What every check gets.
    pub environment: &'a CheckEnvironment,
    /// Whether a result that still holds spares a run.
    pub reuse: EvidenceReuse,
}

/// Whether a result that still holds spares a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceReuse {
    /// It does.
    IfValid,
    /// Everything runs now.
    Never,
}

/// What came of the checks.
#[derive(Debug, Default)]
pub struct VerifyOutcome {
    /// The id of the files that all of it is about.
    pub tree: Option<String>,
    /// The results, in the order of the checks.
    pub results: Vec<CheckResult>,
    /// Files that count change while the checks run, each time anew.
    pub tree_moves: bool,
    /// One of them, where that is known; where the files could not be read, the path at which the time ran out.
    pub moving_file: Option<String>,
    /// It was ended before all of it was done, because the result is no longer needed.
    pub is_cancelled: bool,
}

/// Hears what happens while checks run, to show it, and can end them.
pub trait CheckWatcher {
    /// A check begins to run.
    fn check_started(&mut self, _gate: &Check) {}
    /// Time goes by. `false` ends everything.
    fn should_continue(&mut self) -> bool {
        true
    }
    /// A check is done, or was not run.
    fn check_finished(&mut self, _result: &CheckResult) {}
}

/// Runs the checks one after the other, within the time that all of them have together.
///
/// A check may change files that count, a lock file say. Then what it said is about files that are no
/// more, and all of them run once again; if files change once more, that is said. A file that was
/// written and put back meanwhile is one that changed: it may have been another one while they ran.
pub fn verify(checks: &[Check], setup: &CheckContext, watcher: &mut impl CheckWatcher) -> VerifyOutcome {
    let deadline = Instant::now() + Duration::from_secs(TOTAL_TIMEOUT_SECONDS.into());
    let id = |state: &Option<FilesState>| state.as_ref().map(|state| state.id.clone());
    let mut before = setup.files.state();
    let mut folders = OnceCell::new();
    let mut verified = run_pass(checks, setup, id(&before).as_deref(), &folders, deadline, watcher);
    for again in [true, false] {
        let ran = verified.results.iter().any(|result| !result.is_reused);
        let is_green = verified.results.iter().all(CheckResult::is_green);
        if !ran || !is_green || verified.is_cancelled || before.is_none() {
            break;
        }
        let after = setup.files.state();
        let seen: Option<FolderWatch> = folders.take().flatten();
        let moved = seen.as_ref().and_then(FolderWatch::moved);
        if after == before && moved.is_none() {
            note_transient_files(&mut verified.results, &setup.files.transient_files(seen.as_ref()));
            break;
        }
        before = after;
        if again {
            verified = run_pass(checks, setup, id(&before).as_deref(), &folders, deadline, watcher);
        } else {
            verified.tree_moves = true;
            verified.moving_file = seen.and_then(|folders| setup.files.changing_file(&folders));
            // What they said is evidence about no files.
            for result in &mut verified.results {
                result.record.tree = None;
            }
        }
    }
    if before.is_none() {
        verified.moving_file = setup.files.unread_path();
    }
    verified.tree = id(&before);
    verified
}

/// Notes with each result of now which files were there only for a while.
fn note_transient_files(results: &mut [CheckResult], passing: &TransientFiles) {
    for result in results.iter_mut().filter(|result| !result.is_reused) {
        result.record.transient_files.clone_from(&passing.paths);
        result.record.is_partly_unwatched = passing.is_partial;
    }
}

/// The results of checks that cannot be run, and why.
pub fn unrun_results(checks: &[Check], why: &str) -> Vec<CheckResult> {
    let record = || CheckRecord {
        verdict: CheckVerdict::NotStarted,
        detail: why.to_owned(),
        at: Some(env::now()),
        ..CheckRecord::default()
    };
    checks.iter().map(|check| result(check, record(), false, PrintedOutput::default())).collect()
}

/// Runs those that have to run; `folders` are watched from the first of them on.
fn run_pass(
    checks: &[Check],
    setup: &CheckContext,
    tree: Option<&str>,
    folders: &OnceCell<Option<FolderWatch>>,
    deadline: Instant,
    watcher: &mut impl CheckWatcher,
) -> VerifyOutcome {
    let is_approved = is_repository_approved(checks, setup);
    let mut verified = VerifyOutcome::default();
    for check in checks {
        let result = known_result(check, setup, tree, is_approved).or_else(|| {
            watcher.check_started(check);
            let folders = folders.get_or_init(|| setup.files.watch());
            run(check, setup, tree, deadline, || {
                folders.iter().for_each(FolderWatch::look);
                watcher.should_continue()
            })
        });
        let Some(result) = result else { return VerifyOutcome { is_cancelled: true, ..verified } };
        watcher.check_finished(&result);
        verified.results.push(result);
    }
    verified
}

/// Whether the user approved `omo.toml` as it is, and all that came from it is still in it.
fn is_repository_approved(checks: &[Check], setup: &CheckContext) -> bool {
    let mut of_it = checks.iter().filter(|check| check.origin == CheckOrigin::Repository).peekable();
    of_it.peek().is_some()
        && RepositoryConfig::read(setup.root).is_some_and(|repository| {
            let is_there = |check: &Check| repository.checks.iter().any(|it| it.definition() == check.definition());
            // A file that they run and that changed meanwhile is named for each of them.
            repository.approval(setup.state_home) != ApprovalState::No && of_it.all(is_there)
        })
}

/// What is known of a check without running it.
fn known_result(check: &Check, setup: &CheckContext, tree: Option<&str>, is_approved: bool) -> Option<CheckResult> {
    let unrun = |verdict, detail: String| {
        let record = CheckRecord { verdict, detail, at: Some(env::now()), ..CheckRecord::default() };
        Some(result(check, record, false, PrintedOutput::default()))
    };
    if check.origin == CheckOrigin::Repository && !is_approved {
        return unrun(CheckVerdict::NotApproved, "omo.toml is not what its user approved".to_owned());
    }
    let last = check.last.as_ref().filter(|_| setup.reuse == EvidenceReuse::IfValid)?;
    let setting = setup.environment.check_setting(check, setup.root);
    last.is_evidence_for(tree, &setting).then(|| result(check, last.clone(), true, PrintedOutput::default()))
}

fn run(
    check: &Check,
    setup: &CheckContext,
    tree: Option<&str>,
    deadline: Instant,
    goes_on: impl FnMut() -> bool,
) -> Option<CheckResult> {
    let log_name = format!("check-{}.log", check.name);
    let log = setup.logs.and_then(|folder| Some((folder.path().join(&log_name), folder.create_file(&log_name).ok()?)));
    let (log_path, log) = log.unzip();
    let own = Duration::from_secs(check.effective_timeout().into());
    let job = CommandJob {
        run: check.command.clone(),
        folder: check.cwd.as_ref().map_or_else(|| setup.root.to_owned(), |folder| setup.root.join(folder)),
        timeout: own.min(deadline.saturating_duration_since(Instant::now())),
        interrupt_grace: Duration::ZERO,
        variables: setup.environment.variables_for_check(check),
        log,
        check: None,
    };
    let outcome = job::run(job, goes_on);
    let (verdict, detail) = judge_check(&outcome.end?, outcome.tests.counts);
    let record = CheckRecord {
        verdict,
        detail,
        counts: outcome.tests.counts,
        at: Some(env::now()),
        took_millis: u64::try_from(outcome.took.as_millis()).unwrap_or(u64::MAX),
        tree: tree.map(str::to_owned),
        setting: setup.environment.check_setting(check, setup.root),
        log: log_path.map(|path| path.display().to_string()),
        last_line: last_said_line(&outcome.tail),
        ..CheckRecord::default()
    };
    Some(result(check, record.after(check.last.as_ref()), false, outcome.heard.printed))
}

fn last_said_line(output: &str) -> String {
    const CHARS: usize = 160;
    let said = |line: &&str| line.chars().any(char::is_alphanumeric);
    output.lines().rev().find(said).map(|line| sanitize(line, CHARS)).unwrap_or_default()
}

fn result(check: &Check, record: CheckRecord, reused: bool, printed: PrintedOutput) -> CheckResult {
    let (name, run, definition) = (check.name.clone(), check.command.clone(), check.definition());
    CheckResult { name, command: run, definition, record, is_reused: reused, printed }
}
