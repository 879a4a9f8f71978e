//! Baseline of the checks of a run, before any work: the files that the run began with are written
//! into a private folder, and each check runs there, in the background, under its keeper and within
//! its own time.
//!
//! It is counted by a process of its own, which ends with the run. A claim is held to the baseline;
//! without one, the verdict says why.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use omo_core::check::session_check::{Check, CheckEnd, TOTAL_TIMEOUT_SECONDS};
use omo_core::check::test_report::TestReport;
use omo_core::check::test_runner::test_commands::may_run_tests;
use omo_core::session::Session;
use omo_core::session::id::SessionId;
use omo_git::made_folders::INSTALLED;
use omo_git::{git_command, own_git_dir, recorded};
use omo_process::detached;
use omo_process::environment::CheckEnvironment;
use omo_state::env::{self, ProcessEnv};
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::StateLock;
use omo_state::seal::{SealKey, hex_digest};
use omo_state::sealed_json;
use omo_state::state;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::outside_files::{self, OutsideFiles};
use crate::project_copy::{CopyRun, name_each_test, run_in_copy};

/// Argument that makes a binary of omo a counter: see [`run_if_asked`].
pub(crate) const COUNTER_ARGUMENT: &str = "--count-before";

const LOCK: &str = "counting.lock";
const RESULTS: &str = "counted.json";
const OUTSIDE: &str = "outside.json";
const LOG: &str = "log";
const COPY: &str = "copy";
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// A claim waits so long for what is still being counted, and has the rest of its time for its own checks.
const PATIENCE: Duration = Duration::from_secs(TOTAL_TIMEOUT_SECONDS as u64 / 2);
const ASK_EVERY: Duration = Duration::from_millis(20);

/// A check at the start of the run, with its `TestReport`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StartedCheck {
    /// `TestReport` of the output.
    pub tests: TestReport,
    /// The reason that nothing is known of them; empty where it came to its end.
    pub missing_reason: String,
}

type BaselineResults = BTreeMap<String, StartedCheck>;

/// A check as the run began; `None` where that is not known.
pub fn check_at_start(state_home: &Path, id: &SessionId, check: &Check) -> Option<StartedCheck> {
    let folder = folder_of(state_home, id).ok()?;
    let key = SealKey::load(Some(state_home)).ok()?;
    read_sealed::<BaselineResults>(&folder, &key, id, RESULTS)?.remove(&hex_digest(&check.definition()))
}

/// The files outside of the work that checks may run or load, as they are.
pub fn outside_files(root: &Path, checks: &[Check]) -> OutsideFiles {
    outside_files::list(root, env::home().as_deref(), checks.iter().map(|check| check.command.as_str()))
}

/// Files outside of the work as the run began; `None` where they were not listed.
pub fn outside_files_at_start(state_home: &Path, id: &SessionId) -> Option<OutsideFiles> {
    let folder = folder_of(state_home, id).ok()?;
    let key = SealKey::load(Some(state_home)).ok()?;
    read_sealed(&folder, &key, id, OUTSIDE)
}

/// Begins to count for a run that has just begun, whose files are recorded, and does not wait for it.
///
/// # Errors
///
/// Where no process can be started.
pub fn start_counting(root: &Path, state_home: &Path, id: &SessionId, checks: &[Check]) -> io::Result<()> {
    let folder = folder_of(state_home, id).map_err(io::Error::other)?;
    for name in [RESULTS, OUTSIDE] {
        folder.remove(name).map_err(io::Error::other)?;
    }
    if !checks.iter().any(|check| may_run_tests(&check.command)) {
        return Ok(());
    }
    let arguments: [OsString; 3] = [COUNTER_ARGUMENT.into(), root.into(), id.as_str().into()];
    detached::start_detached(&arguments, root, folder.create_file(LOG).map_err(io::Error::other)?).map(drop)
}

/// Counts, where the process was started for that; otherwise nothing happens.
///
/// Called first thing in the `main` of every binary that begins runs.
#[expect(clippy::exit, reason = "this is a process of its own, and does nothing else")]
pub fn run_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == COUNTER_ARGUMENT) {
        if let (Some(root), Some(id)) = (arguments.next(), arguments.next()) {
            let _ = count_and_exit(Path::new(&root), &id.to_string_lossy());
        }
        std::process::exit(0);
    }
}

fn count_and_exit(root: &Path, id: &str) -> Option<()> {
    let id = SessionId::parse(id).ok()?;
    let home = ProcessEnv::from_process().state_home?;
    let folder = folder_of(&home, &id).ok()?;
    // An earlier run of the session may have ended a moment ago.
    let _alone = StateLock::take_named(&folder, LOCK, Duration::from_secs(2)).ok()?;
    detached::leave_terminal().ok()?;
    let key = SealKey::load(Some(&home)).ok()?;
    let session = state::peek(root, &id).ok().flatten().filter(|session| key.holds(&id, session))?;
    // Before the work begins.
    let mut outside = outside_files(root, &session.checks);
    write_sealed(&folder, &key, &id, OUTSIDE, &outside)?;
    detached::report_ready("counting").ok()?;
    outside_files::add_digests(root, &mut outside);
    write_sealed(&folder, &key, &id, OUTSIDE, &outside)?;
    let counted = count_in_copy(root, &home, &id, &folder);
    let _ = folder.remove_folder(COPY);
    counted
}

fn count_in_copy(root: &Path, home: &Path, id: &SessionId, folder: &GuardedFolder) -> Option<()> {
    let key = SealKey::load(Some(home)).ok()?;
    let armed = || state::peek(root, id).ok().flatten().filter(Session::is_armed);
    let session = armed().filter(|session| key.holds(id, session))?;
    let environment = CheckEnvironment::load_for_run(home, id, session.verification.environment.as_deref()?, root)?;
    folder.empty_folder(COPY).ok()?;
    let top = folder.path().join(COPY);
    let recorded = (session.verification.scope.as_deref()?, session.ulw.recorded.as_deref()?);
    let project = recorded::write_recorded_files(root, home, id, recorded, &top)?;
    make_repository(root, &top);
    link_installed(root, &project);
    let deadline = Instant::now() + Duration::from_secs(TOTAL_TIMEOUT_SECONDS.into());
    let mut results = BaselineResults::new();
    for check in session.checks.iter().filter(|check| may_run_tests(&check.command)) {
        let mut variables = environment.variables_for_check(check);
        variables.push(("GIT_CEILING_DIRECTORIES".into(), folder.path().into()));
        name_each_test(&mut variables);
        let own = Duration::from_secs(check.effective_timeout().into());
        let timeout = own.min(deadline.saturating_duration_since(Instant::now()));
        let how = CopyRun { variables, timeout, log: None, task: None };
        let outcome = match run_in_copy(check, root, &project, how, || armed().is_some()) {
            Ok(outcome) => outcome,
            Err(error) => {
                let started = StartedCheck { missing_reason: error.to_string(), ..StartedCheck::default() };
                results.insert(hex_digest(&check.definition()), started);
                write_sealed(folder, &key, id, RESULTS, &results)?;
                continue;
            }
        };
        let end = outcome.end?;
        let why = match &end {
            CheckEnd::Exited(_) => String::new(),
            CheckEnd::Killed(signal) => format!("it was ended by signal {signal} then"),
            CheckEnd::TimedOut(seconds) => format!("it was ended after {seconds} s then"),
            CheckEnd::NotStarted(why) => why.clone(),
        };
        // A check that was cut short says nothing of all its tests.
        let tests = if end.status().is_some() { outcome.tests } else { TestReport::default() };
        results.insert(hex_digest(&check.definition()), StartedCheck { tests, missing_reason: why });
        write_sealed(folder, &key, id, RESULTS, &results)?;
    }
    Some(())
}

/// Makes a copy of a project a repository: git that a check calls would otherwise act on one that lies around it, such as the
/// user's home. Asked from the project, none of whose programs is taken for git.
pub fn make_repository(root: &Path, top: &Path) {
    let own = top.join(".git");
    let git = |arguments: &[&str]| git_command::git(root, arguments, &own_git_dir::variables(&own, top), &[]);
    let _ = git(&["init", "--quiet", "--template="]).and_then(|_| git(&["add", "--all", "--force"]));
}

fn link_installed(root: &Path, project: &Path) {
    for name in INSTALLED {
        let (from, to) = (root.join(name), project.join(name));
        if from.is_dir() && to.symlink_metadata().is_err() {
            let _ = omo_state::files::link_folder(&from, &to);
        }
    }
}

/// Waits for the runs of the checks as the run began; `false` where they did not end in time, or are no longer wanted.
pub fn wait_for_start(state_home: &Path, id: &SessionId, mut should_continue: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + PATIENCE;
    let is_over =
        || folder_of(state_home, id).is_ok_and(|folder| StateLock::take_named(&folder, LOCK, Duration::ZERO).is_ok());
    while !is_over() {
        if Instant::now() > deadline || !should_continue() {
            return false;
        }
        std::thread::sleep(ASK_EVERY);
    }
    true
}

fn folder_of(state_home: &Path, id: &SessionId) -> Result<GuardedFolder, omo_state::files::folder::FolderError> {
    GuardedFolder::create_user_part(state_home, &["omo", "baselines", id.as_str()])
}

fn subject(id: &SessionId) -> String {
    format!("omo baseline 1 {}", id.as_str())
}

fn write_sealed(
    folder: &GuardedFolder,
    key: &SealKey,
    id: &SessionId,
    name: &str,
    value: &impl Serialize,
) -> Option<()> {
    folder.replace(name, &sealed_json::write(key, &subject(id), value).ok()?).ok()
}

fn read_sealed<T: DeserializeOwned>(folder: &GuardedFolder, key: &SealKey, id: &SessionId, name: &str) -> Option<T> {
    sealed_json::read(key, &subject(id), &folder.read(name, MAX_BYTES).ok()??)
}
