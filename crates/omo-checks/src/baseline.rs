//! Baseline of a run: its test results before any change, to tell later which failures are new.
//!
//! A background process of low priority runs the checks in a copy of the files that the run began
//! with. It ends with the run or a pause; [`count_rest`] goes on with the rest.

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

/// First argument of the background process, read by [`run_if_asked`].
pub(crate) const COUNTER_ARGUMENT: &str = "--count-before";

const LOCK: &str = "counting.lock";
const RESULTS: &str = "counted.json";
const OUTSIDE: &str = "outside.json";
const LOG: &str = "log";
const COPY: &str = "copy";
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum wait of a claim for a running baseline; the rest of its time is for its own checks.
const PATIENCE: Duration = Duration::from_secs(TOTAL_TIMEOUT_SECONDS as u64 / 2);
const ASK_EVERY: Duration = Duration::from_millis(20);
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Result of a check on the files that the run began with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StartedCheck {
    pub tests: TestReport,
    /// The reason of missing tests; empty for a check that came to its end.
    pub missing_reason: String,
}

type BaselineResults = BTreeMap<String, StartedCheck>;

/// Result of `check` on the files that the run began with; `None` while there is none.
pub fn check_at_start(state_home: &Path, id: &SessionId, check: &Check) -> Option<StartedCheck> {
    let folder = folder_of(state_home, id).ok()?;
    let key = SealKey::load(Some(state_home)).ok()?;
    read_sealed::<BaselineResults>(&folder, &key, id, RESULTS)?
        .remove(&hex_digest(&check.definition()))
}

/// Present files outside of the project that `checks` may run or load.
pub fn outside_files(root: &Path, checks: &[Check]) -> OutsideFiles {
    outside_files::list(
        root,
        env::home().as_deref(),
        checks.iter().map(|check| check.command.as_str()),
    )
}

/// [`outside_files`] at the start of the run.
pub fn outside_files_at_start(state_home: &Path, id: &SessionId) -> Option<OutsideFiles> {
    let folder = folder_of(state_home, id).ok()?;
    let key = SealKey::load(Some(state_home)).ok()?;
    read_sealed(&folder, &key, id, OUTSIDE)
}

/// Starts the background process for a new run whose files are recorded, and returns at once. Esc
/// in `transcript` ends it.
///
/// # Errors
///
/// A process that could not be started.
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

/// Starts the background process again for checks that a pause left without a result.
///
/// # Errors
///
/// A process that could not be started.
pub fn count_rest(
    root: &Path,
    state_home: &Path,
    id: &SessionId,
    checks: &[Check],
) -> io::Result<()> {
    let folder = folder_of(state_home, id).map_err(io::Error::other)?;
    let is_missing = checks.iter().any(|check| {
        may_run_tests(&check.command) && check_at_start(state_home, id, check).is_none()
    });
    if !is_missing || is_being_counted(&folder) {
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

/// Becomes the background process if the first argument says so: each `main` calls it first.
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

struct CountedRun<'a> {
    root: &'a Path,
    id: &'a SessionId,
    transcript: Option<PathBuf>,
    looked: Option<Instant>,
}

impl CountedRun<'_> {
    fn at_work(&self) -> Option<Session> {
        let mut session = state::peek(self.root, self.id).ok().flatten()?;
        // No hook runs at Esc.
        let interruption = self.transcript.as_ref().and_then(|path| {
            read_tail(path, session.transcript, session.ulw.last_stop_at).interrupted
        });
        if let Some(interruption) = interruption {
            session.note_interruption(interruption, env::now());
        }
        (session.is_armed() && session.ulw.paused.is_none()).then_some(session)
    }

    fn should_continue(&mut self) -> bool {
        if self
            .looked
            .is_some_and(|looked| looked.elapsed() < POLL_INTERVAL)
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
    let open: Vec<&Check> = session
        .checks
        .iter()
        .filter(|check| {
            may_run_tests(&check.command) && !results.contains_key(&hex_digest(&check.definition()))
        })
        .collect();
    for check in open {
        let mut variables = environment.variables_for_check(check);
        variables.push(("GIT_CEILING_DIRECTORIES".into(), folder.path().into()));
        name_each_test(&mut variables);
        let own_timeout = Duration::from_secs(check.effective_timeout().into());
        let timeout = own_timeout.min(deadline.saturating_duration_since(Instant::now()));
        let copy_run = CopyRun {
            variables,
            timeout,
            log: None,
            task: None,
        };
        let outcome = match run_in_copy(check, root, &project, copy_run, || run.should_continue()) {
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
        // A check that was cut short does not tell all its tests.
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

/// Makes the copy at `top` a git repository: git in a check would act on one around it.
pub fn make_repository(root: &Path, top: &Path) {
    let git_dir = top.join(".git");
    let variables = own_git_dir::variables(&git_dir, top);
    let run = git_command::git(root, &["init", "--quiet", "--template="], &variables, &[]);
    let _ = run.and_then(|_| git_command::git(root, &["add", "--all", "--force"], &variables, &[]));
}

fn link_installed(root: &Path, project: &Path) {
    for name in INSTALLED {
        let (from, to) = (root.join(name), project.join(name));
        if from.is_dir() && to.symlink_metadata().is_err() {
            let _ = omo_state::files::link_folder(&from, &to);
        }
    }
}

/// Waits for the baseline; `false` where it is late, or no longer wanted.
pub fn wait_for_start(
    state_home: &Path,
    id: &SessionId,
    mut should_continue: impl FnMut() -> bool,
) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while folder_of(state_home, id).map_or(true, |folder| is_being_counted(&folder)) {
        if Instant::now() > deadline || !should_continue() {
            return false;
        }
        std::thread::sleep(ASK_EVERY);
    }
    true
}

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
