//! Runs the checks of a claim on the current files; a still valid earlier result is reused.

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

#[derive(Debug)]
pub struct CheckContext<'a> {
    pub root: &'a Path,
    pub state_home: Option<&'a Path>,
    pub logs: Option<&'a GuardedFolder>,
    pub files: &'a WorkFiles<'a>,
    pub environment: &'a CheckEnvironment,
    pub reuse: EvidenceReuse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceReuse {
    IfValid,
    Never,
}

#[derive(Debug, Default)]
pub struct VerifyOutcome {
    /// `FilesState::id` of the judged files.
    pub tree: Option<String>,
    pub results: Vec<CheckResult>,
    /// Counted files change again in each run of the checks.
    pub tree_moves: bool,
    /// One of the changing files, or the path at which the time ran out for unreadable ones.
    pub moving_file: Option<String>,
    pub is_cancelled: bool,
    pub files_scope: Option<String>,
    /// Files that the checks write: no part of the work.
    pub left_out: Vec<String>,
}

impl VerifyOutcome {
    /// `true` for files that were written and restored: results in a private copy count.
    pub fn was_rewritten(&self) -> bool {
        self.results
            .iter()
            .any(|result| result.record.was_rewritten)
    }
}

/// A display of running checks, which may end them.
pub trait CheckWatcher {
    fn check_started(&mut self, _gate: &Check) {}
    /// Called all the while; `false` ends everything.
    fn should_continue(&mut self) -> bool {
        true
    }
    fn check_finished(&mut self, _result: &CheckResult) {}
}

/// Runs `checks` again, at most three times in all, until the files stay unchanged meanwhile.
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
        // A third run shows that only left out files are written anew.
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

pub fn unrun_results(checks: &[Check], why: &str) -> Vec<CheckResult> {
    let record = CheckRecord {
        verdict: CheckVerdict::NotStarted,
        detail: why.to_owned(),
        at: Some(env::now()),
        ..CheckRecord::default()
    };
    checks
        .iter()
        .map(|check| result(check, record.clone(), false, PrintedOutput::default()))
        .collect()
}

/// Runs the open checks; the `manifest` of the files is older than the first of them.
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

/// `true` for an approved `omo.toml` that still holds all of its checks.
fn is_repository_approved(checks: &[Check], setup: &CheckContext) -> bool {
    let mut own_checks = checks
        .iter()
        .filter(|check| check.origin == CheckOrigin::Repository)
        .peekable();
    own_checks.peek().is_some()
        && RepositoryConfig::read(setup.root).is_some_and(|repository| {
            // A changed file of theirs is named for each of them.
            repository.approval(setup.state_home) != ApprovalState::No
                && own_checks.all(|check| {
                    repository
                        .checks
                        .iter()
                        .any(|other| other.definition() == check.definition())
                })
        })
}

fn known_result(
    check: &Check,
    setup: &CheckContext,
    tree: Option<&str>,
    left_out: &str,
    is_approved: bool,
) -> Option<CheckResult> {
    if check.origin == CheckOrigin::Repository && !is_approved {
        let record = CheckRecord {
            verdict: CheckVerdict::NotApproved,
            detail: "omo.toml is not what its user approved".to_owned(),
            at: Some(env::now()),
            ..CheckRecord::default()
        };
        return Some(result(check, record, false, PrintedOutput::default()));
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
    let own_timeout = Duration::from_secs(check.effective_timeout().into());
    let job = CommandJob {
        run: check.command.clone(),
        folder: check
            .cwd
            .as_ref()
            .map_or_else(|| setup.root.to_owned(), |folder| setup.root.join(folder)),
        timeout: own_timeout.min(deadline.saturating_duration_since(Instant::now())),
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
    let record = record.after(check.last.as_ref());
    Some(CheckResult {
        tests: outcome.tests,
        ..result(check, record, false, outcome.heard.printed)
    })
}

fn last_said_line(output: &str) -> String {
    const CHARS: usize = 160;
    output
        .lines()
        .rev()
        .find(|line| line.chars().any(char::is_alphanumeric))
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
