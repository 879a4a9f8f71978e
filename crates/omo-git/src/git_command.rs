//! Runs git within a time limit, with settings that keep it from starting any other program.

pub mod ownership;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use omo_core::git_variables::is_git_variable;
use omo_core::text::sanitize;
use omo_process::child_command::child_command;
use omo_process::environment::CheckEnvironment;
use omo_process::platform::Leftovers;
use omo_process::runner::{self, ProcessEnd, ProcessOutput, ProcessRequest};
use omo_state::git_worktree::GitWorktree;
use omo_state::search_path::{ProjectFolders, SearchPath};

use self::ownership::may_name_git_folder;

const LIMIT: Duration = Duration::from_secs(60);
const GRACE: Duration = Duration::from_secs(1);
const OUTPUT_WAIT: Duration = Duration::from_secs(1);
const MAX_READ_WHOLE_BYTES: u64 = 64 * 1024 * 1024;
const MAX_BYTES: u64 = 256 * 1024 * 1024;

const MAX_WORDS: usize = 400;

/// Files that git reads of a work tree.
const LISTS_OF_PATTERNS: [&str; 2] = [".gitattributes", ".gitignore"];

/// Settings of each call: no hook, monitor, editor, download or lock of the user's index, and no
/// trust in settings by which git would take changed files for unchanged.
const SETTINGS: [&str; 13] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=keep",
    "core.splitIndex=false",
    "core.fsync=none",
    "core.looseCompression=0",
    "advice.addEmbeddedRepo=false",
    "gc.auto=0",
    "core.ignoreStat=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.attributesFile=/dev/null",
    // Conversion of line ends is the affair of the user's commits.
    "core.safecrlf=false",
];

/// Environment of git in this process; otherwise that of the process.
static OF_RUN: OnceLock<CheckEnvironment> = OnceLock::new();

/// From now on git is found and run in the environment of a run's begin: that of this process follows the project's
/// settings, which a model may write.
pub fn use_environment(environment: &CheckEnvironment) {
    // A process judges one run.
    let _ = OF_RUN.set(environment.clone());
}

fn inherited() -> Vec<(OsString, OsString)> {
    OF_RUN.get().map_or_else(
        omo_state::env::variables,
        CheckEnvironment::variables_for_task_check,
    )
}

/// Calls that belong together, such as those of a hook. After a timeout none follows: a FIFO, say, is still there.
#[derive(Debug)]
pub struct GitCalls {
    limit: Duration,
    gave_up: AtomicBool,
}

impl Default for GitCalls {
    fn default() -> Self {
        Self::with_limit(LIMIT)
    }
}

impl GitCalls {
    /// `limit` of a call: less than the time of the caller.
    pub const fn with_limit(limit: Duration) -> Self {
        Self {
            limit,
            gave_up: AtomicBool::new(false),
        }
    }

    pub(crate) fn answer(
        &self,
        folder: &Path,
        arguments: &[&str],
        variables: &[(&str, &OsStr)],
        input: &[u8],
    ) -> Option<(i32, Vec<u8>)> {
        self.answer_within(self.limit, folder, arguments, variables, input)
    }

    fn answer_within(
        &self,
        limit: Duration,
        folder: &Path,
        arguments: &[&str],
        variables: &[(&str, &OsStr)],
        input: &[u8],
    ) -> Option<(i32, Vec<u8>)> {
        if self.gave_up.load(Ordering::Relaxed) {
            return None;
        }
        match run(limit, folder, arguments, variables, input, OutputMode::Said)? {
            GitOutcome::Ended { status, output, .. } => Some((status, output)),
            GitOutcome::TimedOut => {
                self.gave_up.store(true, Ordering::Relaxed);
                None
            }
        }
    }
}

/// Runs git in `folder` with `input`; its output, or `None` after a failure or a timeout.
pub fn git(
    folder: &Path,
    arguments: &[&str],
    variables: &[(&str, &OsStr)],
    input: &[u8],
) -> Option<Vec<u8>> {
    output_on_success(answer(folder, arguments, variables, input))
}

pub(crate) fn git_in(tree: &GitWorktree, arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    git(&tree.top, arguments, &tree_variables(tree), input)
}

pub(crate) fn tree_variables(tree: &GitWorktree) -> [(&'static str, &OsStr); 2] {
    [
        ("GIT_DIR", tree.git.as_os_str()),
        ("GIT_WORK_TREE", tree.top.as_os_str()),
    ]
}

/// [`git`] with the exit status.
pub(crate) fn answer(
    folder: &Path,
    arguments: &[&str],
    variables: &[(&str, &OsStr)],
    input: &[u8],
) -> Option<(i32, Vec<u8>)> {
    answer_within(LIMIT, folder, arguments, variables, input)
}

/// [`answer`] with another limit, such as for a checkout of a large repository.
pub(crate) fn answer_within(
    limit: Duration,
    folder: &Path,
    arguments: &[&str],
    variables: &[(&str, &OsStr)],
    input: &[u8],
) -> Option<(i32, Vec<u8>)> {
    GitCalls::default().answer_within(limit, folder, arguments, variables, input)
}

fn output_on_success(answer: Option<(i32, Vec<u8>)>) -> Option<Vec<u8>> {
    answer.and_then(|(status, output)| (status == 0).then_some(output))
}

pub(crate) fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    sanitize(&lines.join("; "), MAX_WORDS)
}

#[derive(Debug)]
pub(crate) enum OutputMode {
    Captured,
    Said,
    File(File),
}

pub(crate) enum GitOutcome {
    Ended {
        status: i32,
        output: Vec<u8>,
        complaint: Vec<u8>,
    },
    TimedOut,
}

/// Runs git once; `None` where it did not start or was killed. A timeout says nothing about the
/// next call.
pub(crate) fn run(
    limit: Duration,
    folder: &Path,
    arguments: &[&str],
    variables: &[(&str, &OsStr)],
    input: &[u8],
    output: OutputMode,
) -> Option<GitOutcome> {
    run_as_needed(limit, folder, arguments, variables, input, output, None)
}

/// Runs git as [`run`] does, and ends it as after a timeout once `is_needed` returns `false`.
pub(crate) fn run_as_needed(
    limit: Duration,
    folder: &Path,
    arguments: &[&str],
    variables: &[(&str, &OsStr)],
    input: &[u8],
    output: OutputMode,
    is_needed: Option<&mut dyn FnMut() -> bool>,
) -> Option<GitOutcome> {
    let tree = GitWorktree::find(folder);
    if tree.as_ref().is_some_and(|tree| !has_readable_files(tree)) {
        return None;
    }
    let git_folder = variables
        .iter()
        .find(|(name, _)| *name == "GIT_DIR")
        .map(|(_, git)| Path::new(git));
    if git_folder.is_some_and(|git| !may_name_git_folder(folder, git)) {
        return None;
    }
    let (git, search) = find_git(folder, tree.as_ref())?;
    // A hook of git, or a model's shell, may have variables that point git elsewhere.
    let mut command = child_command(
        git,
        inherited()
            .into_iter()
            .filter(|(name, _)| name.to_str().is_none_or(|name| !is_git_variable(name))),
    );
    let case = tree.as_ref().and_then(ignore_case_setting);
    let settings = SETTINGS
        .into_iter()
        .chain(case)
        .flat_map(|setting| ["-c", setting]);
    command.args(settings).args(arguments).current_dir(folder);
    command
        .envs(search.joined().map(|path| ("PATH", path)))
        .envs(variables.iter().copied());
    command
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        // A reference of the repository could replace an object.
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C");
    let request = ProcessRequest {
        command,
        input: input.to_vec(),
        reads_stderr: matches!(output, OutputMode::Captured),
        output: if let OutputMode::File(file) = output {
            Some(file)
        } else {
            None
        },
        limit,
        grace: GRACE,
        // A process that has left its group may still hold on to the pipes.
        output_wait: limit.max(OUTPUT_WAIT),
        max_bytes: MAX_BYTES,
        leftovers: Leftovers::Ended,
    };
    let ended = match is_needed {
        Some(is_needed) => runner::run_while(request, is_needed),
        None => runner::run(request),
    };
    match ended.ok()? {
        ProcessEnd::Ended(ProcessOutput {
            status,
            stdout: Some(output),
            stderr,
        }) => Some(GitOutcome::Ended {
            status: status?,
            output,
            complaint: stderr.unwrap_or_default(),
        }),
        ProcessEnd::Ended(_) | ProcessEnd::TimedOut | ProcessEnd::Cancelled => {
            Some(GitOutcome::TimedOut)
        }
    }
}

/// Has git tell names apart as the disk does: a copied `core.ignoreCase` hides a rename of case alone. `None` on a disk
/// without case.
pub(crate) fn ignore_case_setting(tree: &GitWorktree) -> Option<&'static str> {
    tree.git
        .join("head")
        .symlink_metadata()
        .is_err()
        .then_some("core.ignoreCase=false")
}

pub(crate) fn git_program(folder: &Path) -> Option<PathBuf> {
    find_git(folder, GitWorktree::find(folder).as_ref()).map(|(git, _)| git)
}

/// git waits for a FIFO in place of one of its files, and a link to `/dev/zero` takes all memory.
fn has_readable_files(tree: &GitWorktree) -> bool {
    let own_files =
        ["HEAD", "commondir", "config.worktree", "index"].map(|name| tree.git.join(name));
    let shared = [
        "config",
        "packed-refs",
        "info/exclude",
        "info/attributes",
        "objects/info/alternates",
    ]
    .map(|name| tree.common.join(name));
    own_files
        .iter()
        .chain(&shared)
        .all(|file| is_readable_file(file))
        && LISTS_OF_PATTERNS.iter().all(|name| {
            let list = tree.top.join(name).symlink_metadata();
            // git takes no folder of that name for a list, and does not follow a link.
            list.map(|meta| meta.file_type()).map_or(true, |kind| {
                kind.is_file() || kind.is_dir() || kind.is_symlink()
            })
        })
}

fn is_readable_file(file: &Path) -> bool {
    let is_mapped = file.ends_with("index") || file.ends_with("packed-refs");
    file.metadata().map_or(true, |meta| {
        meta.is_file() && (meta.len() <= MAX_READ_WHOLE_BYTES || is_mapped)
    })
}

/// git's program and its `PATH`, both outside of these projects.
fn find_git(folder: &Path, tree: Option<&GitWorktree>) -> Option<(PathBuf, SearchPath)> {
    let projects = projects_around(folder, tree);
    let search = SearchPath::from_variables(&inherited()).outside(&projects);
    let git = search.find_all("git").find(|git| !projects.contain(git))?;
    Some((git, search))
}

/// The folder and the work trees around it, without the user's home and their programs in it.
fn projects_around(folder: &Path, tree: Option<&GitWorktree>) -> ProjectFolders {
    let home = omo_state::env::home();
    let is_home = |top: &Path| home.as_ref().is_some_and(|home| home.starts_with(top));
    let around = folder
        .ancestors()
        .skip(1)
        .filter(|top| top.join(".git").exists() && !is_home(top));
    // A worktree lies beside its repository.
    let common = tree.and_then(|tree| {
        tree.common
            .canonicalize()
            .ok()?
            .parent()
            .map(Path::to_owned)
    });
    let common = common.filter(|top| !is_home(top));
    std::iter::once(folder)
        .chain(around)
        .map(Path::to_owned)
        .chain(common)
        .collect()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::OpenOptionsExt;
    use std::process::Command;

    use omo_core::git_variables::is_repository_variable;
    use omo_testkit::wait_until;
    use rustix::fs::OFlags;

    use super::*;

    /// A folder with a FIFO in it, which a reader sees as held while a process has it open.
    struct HeldFifo {
        folder: tempfile::TempDir,
        reader: File,
    }

    impl HeldFifo {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let held = folder.path().join("held");
            assert!(
                Command::new("mkfifo")
                    .arg(&held)
                    .status()
                    .unwrap()
                    .success()
            );
            let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap();
            let reader = File::options()
                .read(true)
                .custom_flags(flags)
                .open(held)
                .unwrap();
            Self { folder, reader }
        }

        fn arguments(&self, command: &str) -> [String; 3] {
            let held = self.folder.path().join("held");
            [
                "-c".to_owned(),
                format!("alias.hold=!exec 9>'{}'; {command}", held.display()),
                "hold".to_owned(),
            ]
        }

        fn is_left(&self) {
            let is_free = || {
                (&self.reader)
                    .read(&mut [0])
                    .is_ok_and(|length| length == 0)
                    .then_some(())
            };
            wait_until("nothing holds the FIFO", is_free).unwrap();
        }
    }

    const OWN_VERSION: [&str; 1] = ["version"];

    fn as_words(arguments: &[String; 3]) -> [&str; 3] {
        arguments.each_ref().map(String::as_str)
    }

    #[test]
    fn calls_that_belong_together_ask_once_and_all_others_ask_again() {
        let stage = HeldFifo::new();
        let folder = stage.folder.path();
        let slow = ["-c", "alias.slow=!exec sleep 600", "slow"];
        let calls = GitCalls::default();
        assert!(calls.answer(folder, &OWN_VERSION, &[], &[]).is_some());
        assert_eq!(
            calls.answer_within(Duration::ZERO, folder, &slow, &[], &[]),
            None
        );
        assert_eq!(
            calls.answer(folder, &OWN_VERSION, &[], &[]),
            None,
            "the same hook"
        );
        assert_eq!(answer_within(Duration::ZERO, folder, &slow, &[], &[]), None);
        assert!(
            git(folder, &OWN_VERSION, &[], &[]).is_some(),
            "another call of the same process"
        );
        assert!(
            GitCalls::default()
                .answer(folder, &OWN_VERSION, &[], &[])
                .is_some(),
            "another hook"
        );
    }

    #[test]
    fn one_that_takes_too_long_is_ended_with_all_that_it_started() {
        let stage = HeldFifo::new();
        let arguments = stage.arguments("(trap '' TERM; sleep 600) & trap '' TERM; sleep 600");
        let ran = run(
            Duration::from_millis(500),
            stage.folder.path(),
            &as_words(&arguments),
            &[],
            &[],
            OutputMode::Said,
        );
        assert!(matches!(ran, Some(GitOutcome::TimedOut)));
        stage.is_left();
    }

    #[test]
    fn what_one_leaves_running_is_ended_and_not_waited_for() {
        let stage = HeldFifo::new();
        let arguments = stage.arguments("sleep 600 & echo said; echo complained >&2; exit 3");
        let ran = run(
            LIMIT,
            stage.folder.path(),
            &as_words(&arguments),
            &[],
            &[],
            OutputMode::Captured,
        );
        let Some(GitOutcome::Ended {
            status,
            output,
            complaint,
        }) = ran
        else {
            panic!("it has not ended")
        };
        assert_eq!(
            (status, output.as_slice(), complaint.as_slice()),
            (3, &b"said\n"[..], &b"complained\n"[..])
        );
        stage.is_left();
    }

    #[test]
    fn where_git_would_read_for_ever_it_is_not_run() {
        let (temp, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let top = temp.path();
        assert!(git(top, &["init", "-q"], &[], &[]).is_some());
        let status = || git(top, &["status", "--porcelain"], &[], &[]);
        assert!(status().is_some());
        for name in [
            "HEAD",
            "commondir",
            "config",
            "config.worktree",
            "index",
            "packed-refs",
            "info/exclude",
        ] {
            let (path, kept) = (top.join(".git").join(name), top.join("kept"));
            let was_there = std::fs::rename(&path, &kept).is_ok();
            std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
            // One that was run and took too long would be the last of these calls.
            let calls = GitCalls::with_limit(Duration::from_secs(2));
            assert_ne!(
                calls
                    .answer(top, &["status", "--porcelain"], &[], &[])
                    .map(|(status, _)| status),
                Some(0)
            );
            assert!(
                calls
                    .answer(elsewhere.path(), &OWN_VERSION, &[], &[])
                    .is_some(),
                "{name}"
            );
            std::fs::remove_file(&path).unwrap();
            File::create(&path)
                .unwrap()
                .set_len(MAX_READ_WHOLE_BYTES + 1)
                .unwrap();
            assert!(
                matches!(name, "index" | "packed-refs") || status().is_none(),
                "{name}"
            );
            std::fs::remove_file(&path).unwrap();
            if was_there {
                std::fs::rename(&kept, &path).unwrap();
            }
            assert!(status().is_some(), "{name}");
        }
        for name in LISTS_OF_PATTERNS {
            let path = top.join(name);
            assert!(
                Command::new("mkfifo")
                    .arg(&path)
                    .status()
                    .unwrap()
                    .success()
            );
            let calls = GitCalls::with_limit(Duration::from_secs(2));
            assert_eq!(calls.answer(top, &["status"], &[], &[]), None, "{name}");
            assert!(
                calls
                    .answer(elsewhere.path(), &OWN_VERSION, &[], &[])
                    .is_some(),
                "{name}"
            );
            std::fs::remove_file(&path).unwrap();
            std::fs::create_dir(&path).unwrap();
            assert!(status().is_some(), "{name}");
            std::fs::remove_dir(&path).unwrap();
        }
    }

    #[test]
    fn all_that_git_calls_local_to_a_repository_is_known_as_that() {
        let temp = tempfile::tempdir().unwrap();
        let listed = git(temp.path(), &["rev-parse", "--local-env-vars"], &[], &[]).unwrap();
        let names = String::from_utf8(listed).unwrap();
        assert!(names.lines().any(|name| name == "GIT_DIR"));
        let unknown: Vec<&str> = names
            .lines()
            .filter(|name| !is_repository_variable(name))
            .collect();
        assert_eq!(unknown, [""; 0]);
    }

    #[test]
    fn it_reads_all_of_its_input_while_it_answers() {
        let stage = HeldFifo::new();
        let input = b"0123456789abcde\n".repeat(64 * 1024);
        let echo = ["-c", "alias.echo=!cat", "echo"];
        assert!(git(stage.folder.path(), &echo, &[], &input).is_some_and(|output| output == input));
    }
}
