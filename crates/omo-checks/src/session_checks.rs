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
use omo_git::work_files::{FileManifest, LeftOutBy, WorkFiles};
use omo_process::environment::CheckEnvironment;
use omo_process::job::{self, CommandJob};
use omo_state::env;
use omo_state::files::folder::GuardedFolder;

use crate::repository_config::{ApprovalState, RepositoryConfig};

/// Project, logs, environment and bounds for `verify`.
#[derive(Debug)]
pub struct CheckContext<'a> {
    /// The project's top.
    pub root: &'a Path,
    /// The user's own state folder.
    pub state_home: Option<&'a Path>,
    /// Folder of the logs; `None` for none.
    pub logs: Option<&'a GuardedFolder>,
    /// The files that count.
    pub files: &'a WorkFiles<'a>,
    /// `CheckEnvironment` of every check.
    pub environment: &'a CheckEnvironment,
    /// Reuse of results that still hold.
    pub reuse: EvidenceReuse,
}

/// Reuse of a `CheckResult` that still holds, in place of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceReuse {
    /// Reuse where it holds.
    IfValid,
    /// Everything runs now.
    Never,
}

/// Results of `verify`.
#[derive(Debug, Default)]
pub struct VerifyOutcome {
    /// `FilesState::id` of the files that all of it is about.
    pub tree: Option<String>,
    /// The results, in the order of the checks.
    pub results: Vec<CheckResult>,
    /// Files that count change while the checks run, each time anew.
    pub tree_moves: bool,
    /// One of them, where that is known; where the files could not be read, the path at which the time ran out.
    pub moving_file: Option<String>,
    /// A cancelled call: the result is no longer needed.
    pub is_cancelled: bool,
    /// Name of the scope of the files that the id is about.
    pub files_scope: Option<String>,
    /// Files that the checks write, and that are no part of the work.
    pub left_out: Vec<String>,
}

impl VerifyOutcome {
    /// Files were written and have their bytes again: what the checks say in a private copy counts.
    pub fn was_rewritten(&self) -> bool {
        self.results
            .iter()
            .any(|result| result.record.was_rewritten)
    }
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

/// Runs the checks of a claim, or takes results that still hold.
pub fn verify(
    checks: &[Check],
    setup: &CheckContext,
    watcher: &mut impl CheckWatcher,
) -> VerifyOutcome {
    const RUNS: usize = 3;
    let deadline = Instant::now() + Duration::from_secs(TOTAL_TIMEOUT_SECONDS.into());
    let mut files = setup.files.clone();
    let mut before = files.state();
    let mut verified = VerifyOutcome::default();
    let mut written_files = Vec::new();
    for run in 1..=RUNS {
        let manifest = OnceCell::new();
        verified = run_pass(
            checks,
            setup,
            before.as_ref().map(|before| &*before.id),
            &manifest,
            deadline,
            watcher,
        );
        let Some(manifest) = manifest
            .into_inner()
            .filter(|_| !verified.is_cancelled && before.is_some())
        else {
            break;
        };
        let mut after = files.state();
        let written = manifest
            .and_then(|manifest| files.written_since(&manifest))
            .unwrap_or_default();
        let changed_again = written.untracked.iter().filter(|_| run > 1);
        let without: Vec<Vec<u8>> = written.new.iter().chain(changed_again).cloned().collect();
        let is_left_out = !without.is_empty() && files.leave_out(without, LeftOutBy::Checks);
        if is_left_out {
            after = files.state();
        }
        if !verified.results.iter().all(CheckResult::is_green) {
            break;
        }
        let names = written.tracked.iter().chain(&written.untracked);
        let names = names.map(|path| String::from_utf8_lossy(path).into_owned());
        if after.as_ref().map(|after| &after.id) == before.as_ref().map(|before| &before.id) {
            let left_out = files.left_out_digest();
            for result in verified
                .results
                .iter_mut()
                .filter(|result| !result.is_reused)
            {
                result.record.written_files.clone_from(&written_files);
                result.record.was_rewritten = after != before;
                result.record.left_out.clone_from(&left_out);
            }
            break;
        }
        before = after;
        // A third run has to show that nothing but what was left out now is written anew each time.
        if run == RUNS || (run > 1 && !(is_left_out && written.tracked.is_empty())) {
            verified.tree_moves = true;
            verified.moving_file = names.into_iter().next();
            // Their output is evidence about no files.
            verified
                .results
                .iter_mut()
                .for_each(|result| result.record.tree = None);
            break;
        }
        if run == 1 {
            written_files = names.collect();
        }
    }
    if before.is_none() {
        verified.moving_file = files.unread_path();
    }
    verified.tree = before.map(|before| before.id);
    verified.files_scope = files.scope_name().map(str::to_owned);
    verified.left_out = files.left_out();
    verified
}

/// The results of checks that cannot be run, and why.
pub fn unrun_results(checks: &[Check], why: &str) -> Vec<CheckResult> {
    let record = || CheckRecord {
        verdict: CheckVerdict::NotStarted,
        detail: why.to_owned(),
        at: Some(env::now()),
        ..CheckRecord::default()
    };
    checks
        .iter()
        .map(|check| result(check, record(), false, PrintedOutput::default()))
        .collect()
}

/// Runs the checks that have to run; the `manifest` of the files is taken before the first of them.
fn run_pass(
    checks: &[Check],
    setup: &CheckContext,
    tree: Option<&str>,
    manifest: &OnceCell<Option<FileManifest>>,
    deadline: Instant,
    watcher: &mut impl CheckWatcher,
) -> VerifyOutcome {
    let is_approved = is_repository_approved(checks, setup);
    let left_out = setup.files.left_out_digest();
    let mut verified = VerifyOutcome::default();
    for check in checks {
        let result = known_result(check, setup, tree, &left_out, is_approved).or_else(|| {
            watcher.check_started(check);
            manifest.get_or_init(|| setup.files.manifest());
            run(check, setup, tree, deadline, || watcher.should_continue())
        });
        let Some(result) = result else {
            return VerifyOutcome {
                is_cancelled: true,
                ..verified
            };
        };
        watcher.check_finished(&result);
        verified.results.push(result);
    }
    verified
}

/// An approved `omo.toml` as it is, with all checks that came from it still in it.
fn is_repository_approved(checks: &[Check], setup: &CheckContext) -> bool {
    let mut of_it = checks
        .iter()
        .filter(|check| check.origin == CheckOrigin::Repository)
        .peekable();
    of_it.peek().is_some()
        && RepositoryConfig::read(setup.root).is_some_and(|repository| {
            let is_there = |check: &Check| {
                repository
                    .checks
                    .iter()
                    .any(|it| it.definition() == check.definition())
            };
            // A file that they run and that changed meanwhile is named for each of them.
            repository.approval(setup.state_home) != ApprovalState::No && of_it.all(is_there)
        })
}

fn known_result(
    check: &Check,
    setup: &CheckContext,
    tree: Option<&str>,
    left_out: &str,
    is_approved: bool,
) -> Option<CheckResult> {
    let unrun = |verdict, detail: String| {
        let record = CheckRecord {
            verdict,
            detail,
            at: Some(env::now()),
            ..CheckRecord::default()
        };
        Some(result(check, record, false, PrintedOutput::default()))
    };
    if check.origin == CheckOrigin::Repository && !is_approved {
        return unrun(
            CheckVerdict::NotApproved,
            "omo.toml is not what its user approved".to_owned(),
        );
    }
    let last = check
        .last
        .as_ref()
        .filter(|_| setup.reuse == EvidenceReuse::IfValid)?;
    let setting = setup.environment.check_setting(check, setup.root);
    last.is_evidence_for(tree, left_out, &setting)
        .then(|| result(check, last.clone(), true, PrintedOutput::default()))
}

fn run(
    check: &Check,
    setup: &CheckContext,
    tree: Option<&str>,
    deadline: Instant,
    goes_on: impl FnMut() -> bool,
) -> Option<CheckResult> {
    let log_name = format!("check-{}.log", check.name);
    let log = setup.logs.and_then(|folder| {
        Some((
            folder.path().join(&log_name),
            folder.create_file(&log_name).ok()?,
        ))
    });
    let (log_path, log) = log.unzip();
    let own = Duration::from_secs(check.effective_timeout().into());
    let job = CommandJob {
        run: check.command.clone(),
        folder: check
            .cwd
            .as_ref()
            .map_or_else(|| setup.root.to_owned(), |folder| setup.root.join(folder)),
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
    let known = record.after(check.last.as_ref());
    Some(CheckResult {
        tests: outcome.tests,
        ..result(check, known, false, outcome.heard.printed)
    })
}

fn last_said_line(output: &str) -> String {
    const CHARS: usize = 160;
    let said = |line: &&str| line.chars().any(char::is_alphanumeric);
    output
        .lines()
        .rev()
        .find(said)
        .map(|line| sanitize(line, CHARS))
        .unwrap_or_default()
}

fn result(check: &Check, record: CheckRecord, reused: bool, printed: PrintedOutput) -> CheckResult {
    let (name, run, definition) = (
        check.name.clone(),
        check.command.clone(),
        check.definition(),
    );
    CheckResult {
        name,
        command: run,
        definition,
        record,
        is_reused: reused,
        printed,
        ..CheckResult::default()
    }
}
