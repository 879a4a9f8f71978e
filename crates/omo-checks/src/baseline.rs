//! Baseline of the checks of a run, before any work: the files that the run began with are written
//! into a private folder, and each check runs there, in the background, under its keeper and within
//! its own time.
//!
//! It is counted by a process of its own at the lowest priority, which ends with the run and at a
//! pause; `count_rest` counts what is left when a claim is compared. A claim is held to the
//! baseline; without one, the verdict says why.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
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
use omo_state::transcript::read_tail;
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
/// Pause between two looks at whether its run is at work.
const LOOK_EVERY: Duration = Duration::from_millis(500);

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
    read_sealed::<BaselineResults>(&folder, &key, id, RESULTS)?
        .remove(&hex_digest(&check.definition()))
}

/// The files outside of the work that checks may run or load, as they are.
pub fn outside_files(root: &Path, checks: &[Check]) -> OutsideFiles {
    outside_files::list(
        root,
        env::home().as_deref(),
        checks.iter().map(|check| check.command.as_str()),
    )
}

/// Files outside of the work as the run began; `None` where they were not listed.
pub fn outside_files_at_start(state_home: &Path, id: &SessionId) -> Option<OutsideFiles> {
    let folder = folder_of(state_home, id).ok()?;
    let key = SealKey::load(Some(state_home)).ok()?;
    read_sealed(&folder, &key, id, OUTSIDE)
}

/// Begins to count for a run that has just begun, whose files are recorded, and does not wait for it. The transcript tells
/// of Esc, which ends it.
///
/// # Errors
///
/// An error of the system where no process can be started.
pub fn start_counting(
    root: &Path,
    state_home: &Path,
    id: &SessionId,
    checks: &[Check],
    transcript: Option<&Path>,
) -> io::Result<()> {
    let folder = folder_of(state_home, id).map_err(io::Error::other)?;
    for name in [RESULTS, OUTSIDE] {
        folder.remove(name).map_err(io::Error::other)?;
    }
    if !checks.iter().any(|check| may_run_tests(&check.command)) {
        return Ok(());
    }
    start_process(root, &folder, id, transcript)
}

/// Begins to count what a pause has ended; nothing happens where all is counted, or being counted.
///
/// # Errors
///
/// An error of the system where no process can be started.
pub fn count_rest(
    root: &Path,
    state_home: &Path,
    id: &SessionId,
    checks: &[Check],
) -> io::Result<()> {
    let is_missing = |check: &&Check| {
        may_run_tests(&check.command) && check_at_start(state_home, id, check).is_none()
    };
    let folder = folder_of(state_home, id).map_err(io::Error::other)?;
    if !checks.iter().any(|check| is_missing(&check)) || is_being_counted(&folder) {
        return Ok(());
    }
    start_process(root, &folder, id, None)
}

fn start_process(
    root: &Path,
    folder: &GuardedFolder,
    id: &SessionId,
    transcript: Option<&Path>,
) -> io::Result<()> {
    let mut arguments: Vec<OsString> =
        vec![COUNTER_ARGUMENT.into(), root.into(), id.as_str().into()];
    arguments.extend(transcript.map(OsString::from));
    detached::start_detached(
        &arguments,
        root,
        folder.create_file(LOG).map_err(io::Error::other)?,
    )
    .map(drop)
}

/// Counts, where the process was started for that; otherwise nothing happens.
///
/// Called first thing in the `main` of every binary that begins runs.
#[expect(
    clippy::exit,
    reason = "this is a process of its own, and does nothing else"
)]
pub fn run_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments
        .next()
        .is_some_and(|first| first == COUNTER_ARGUMENT)
    {
        if let (Some(root), Some(id)) = (arguments.next(), arguments.next()) {
            let transcript = arguments.next().map(PathBuf::from);
            let _ = count_and_exit(Path::new(&root), &id.to_string_lossy(), transcript);
        }
        std::process::exit(0);
    }
}

fn count_and_exit(root: &Path, id: &str, transcript: Option<PathBuf>) -> Option<()> {
    let id = SessionId::parse(id).ok()?;
    let home = ProcessEnv::from_process().state_home?;
    let folder = folder_of(&home, &id).ok()?;
    // An earlier run of the session may have ended a moment ago.
    let _alone = StateLock::take_named(&folder, LOCK, Duration::from_secs(2)).ok()?;
    detached::leave_terminal().ok()?;
    let key = SealKey::load(Some(&home)).ok()?;
    let session = state::peek(root, &id)
        .ok()
        .flatten()
        .filter(|session| key.holds(&id, session))?;
    if outside_files_at_start(&home, &id).is_some() {
        detached::report_ready("counting").ok()?;
        detached::step_back();
    } else {
        // Before the work begins.
        let mut outside = outside_files(root, &session.checks);
        write_sealed(&folder, &key, &id, OUTSIDE, &outside)?;
        detached::report_ready("counting").ok()?;
        detached::step_back();
        outside_files::add_digests(root, &mut outside);
        write_sealed(&folder, &key, &id, OUTSIDE, &outside)?;
    }
    let mut run = CountedRun {
        root,
        id: &id,
        transcript,
        looked: None,
    };
    let counted = count_in_copy(&mut run, &home, &folder);
    let _ = folder.remove_folder(COPY);
    counted
}

/// The run that is counted for.
struct CountedRun<'a> {
    root: &'a Path,
    id: &'a SessionId,
    transcript: Option<PathBuf>,
    /// The time of the last look at its state.
    looked: Option<Instant>,
}

impl CountedRun<'_> {
    /// Its session, while it is at work: neither over nor paused.
    fn at_work(&self) -> Option<Session> {
        let mut session = state::peek(self.root, self.id).ok().flatten()?;
        // No hook runs at Esc.
        let read = |path: &PathBuf| {
            read_tail(path, session.transcript, session.ulw.last_stop_at).interrupted
        };
        if let Some(interruption) = self.transcript.as_ref().and_then(read) {
            session.note_interruption(interruption, env::now());
        }
        (session.is_armed() && session.ulw.paused.is_none()).then_some(session)
    }

    fn should_continue(&mut self) -> bool {
        if self
            .looked
            .is_some_and(|looked| looked.elapsed() < LOOK_EVERY)
        {
            return true;
        }
        self.looked = Some(Instant::now());
        self.at_work().is_some()
    }
}

fn count_in_copy(run: &mut CountedRun, home: &Path, folder: &GuardedFolder) -> Option<()> {
    let (root, id) = (run.root, run.id);
    let key = SealKey::load(Some(home)).ok()?;
    let session = run.at_work().filter(|session| key.holds(id, session))?;
    let environment = CheckEnvironment::load_for_run(
        home,
        id,
        session.verification.environment.as_deref()?,
        root,
    )?;
    folder.empty_folder(COPY).ok()?;
    let top = folder.path().join(COPY);
    let recorded = (
        session.verification.scope.as_deref()?,
        session.ulw.recorded.as_deref()?,
    );
    let project = recorded::write_recorded_files(root, home, id, recorded, &top)?;
    make_repository(root, &top);
    link_installed(root, &project);
    let deadline = Instant::now() + Duration::from_secs(TOTAL_TIMEOUT_SECONDS.into());
    let mut results: BaselineResults = read_sealed(folder, &key, id, RESULTS).unwrap_or_default();
    let is_open = |check: &&Check| {
        may_run_tests(&check.command) && !results.contains_key(&hex_digest(&check.definition()))
    };
    let open: Vec<&Check> = session.checks.iter().filter(is_open).collect();
    for check in open {
        let mut variables = environment.variables_for_check(check);
        variables.push(("GIT_CEILING_DIRECTORIES".into(), folder.path().into()));
        name_each_test(&mut variables);
        let own = Duration::from_secs(check.effective_timeout().into());
        let timeout = own.min(deadline.saturating_duration_since(Instant::now()));
        let how = CopyRun {
            variables,
            timeout,
            log: None,
            task: None,
        };
        let outcome = match run_in_copy(check, root, &project, how, || run.should_continue()) {
            Ok(outcome) => outcome,
            Err(error) => {
                let started = StartedCheck {
                    missing_reason: error.to_string(),
                    ..StartedCheck::default()
                };
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
        let tests = if end.status().is_some() {
            outcome.tests
        } else {
            TestReport::default()
        };
        results.insert(
            hex_digest(&check.definition()),
            StartedCheck {
                tests,
                missing_reason: why,
            },
        );
        write_sealed(folder, &key, id, RESULTS, &results)?;
    }
    Some(())
}

/// Makes a copy of a project a repository: git that a check calls would otherwise act on one that lies around it, such as the
/// user's home. Asked from the project, none of whose programs is taken for git.
pub fn make_repository(root: &Path, top: &Path) {
    let own = top.join(".git");
    let git = |arguments: &[&str]| {
        git_command::git(root, arguments, &own_git_dir::variables(&own, top), &[])
    };
    let _ =
        git(&["init", "--quiet", "--template="]).and_then(|_| git(&["add", "--all", "--force"]));
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
pub fn wait_for_start(
    state_home: &Path,
    id: &SessionId,
    mut should_continue: impl FnMut() -> bool,
) -> bool {
    let deadline = Instant::now() + PATIENCE;
    let is_over = || folder_of(state_home, id).is_ok_and(|folder| !is_being_counted(&folder));
    while !is_over() {
        if Instant::now() > deadline || !should_continue() {
            return false;
        }
        std::thread::sleep(ASK_EVERY);
    }
    true
}

/// `true` while a process counts.
fn is_being_counted(folder: &GuardedFolder) -> bool {
    StateLock::take_named(folder, LOCK, Duration::ZERO).is_err()
}

fn folder_of(
    state_home: &Path,
    id: &SessionId,
) -> Result<GuardedFolder, omo_state::files::folder::FolderError> {
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
    folder
        .replace(name, &sealed_json::write(key, &subject(id), value).ok()?)
        .ok()
}

fn read_sealed<T: DeserializeOwned>(
    folder: &GuardedFolder,
    key: &SealKey,
    id: &SessionId,
    name: &str,
) -> Option<T> {
    sealed_json::read(key, &subject(id), &folder.read(name, MAX_BYTES).ok()??)
}
