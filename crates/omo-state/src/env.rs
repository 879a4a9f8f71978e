//! The environment and the clock: the one place that reads them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use omo_core::timestamp::Timestamp;

use crate::platform;

#[derive(Clone, Debug)]
pub struct ProcessEnv {
    pub now: Timestamp,
    /// `CLAUDE_PROJECT_DIR`: the folder in which the client was started.
    pub project_dir: Option<PathBuf>,
    /// `CLAUDE_CODE_SESSION_ID`: the session of a command.
    pub session_id: Option<String>,
    /// `CLAUDE_CODE_STOP_HOOK_BLOCK_CAP`, if it is not 0.
    pub client_block_cap: Option<u32>,
    /// `OMO_DISABLE=1`: omo does nothing.
    pub disabled: bool,
    /// `OMO_CHECK=1`: started by a check, in which nothing of omo runs.
    pub in_check: bool,
    /// `OMO_WORKER`, beside `OMO_RUN`: omo started this session, and no person writes its prompts.
    pub worker: Option<WorkerIdentity>,
    /// The user's `config.toml`.
    pub config_file: Option<PathBuf>,
    /// The user's folder for state, such as `~/.local/state`.
    pub state_home: Option<PathBuf>,
    /// `true` in a model's shell or a hook, where `CLAUDECODE` or a session's id is set.
    pub in_session: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerIdentity {
    /// `OMO_RUN`: the id of the run.
    pub run: String,
    /// `OMO_WORKER`: the group of the plan.
    pub worker: String,
}

impl ProcessEnv {
    pub fn from_process() -> Self {
        let session_id = text("CLAUDE_CODE_SESSION_ID");
        Self {
            now: now(),
            project_dir: path("CLAUDE_PROJECT_DIR"),
            client_block_cap: text("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP")
                .and_then(|cap| cap.trim().parse().ok())
                .filter(|cap| *cap > 0),
            disabled: text("OMO_DISABLE").is_some_and(|value| value == "1"),
            in_check: text("OMO_CHECK").is_some_and(|value| value == "1"),
            // Hardly any session has `OMO_RUN`; in all others `OMO_WORKER` is not read.
            worker: text("OMO_RUN").and_then(|run| {
                Some(WorkerIdentity {
                    run,
                    worker: text("OMO_WORKER")?,
                })
            }),
            config_file: platform::config_home().map(|home| home.join("omo").join("config.toml")),
            state_home: platform::state_home(),
            in_session: session_id.is_some() || text("CLAUDECODE").is_some(),
            session_id,
        }
    }
}

/// The current time; one before 1970 counts as 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "this is where the clock comes in"
)]
pub fn now() -> Timestamp {
    let since_epoch = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(0))
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is where the clock comes in"
)]
pub fn file_time() -> SystemTime {
    SystemTime::now()
}

/// The user's folder for data, such as `~/.local/share`; no hook asks for it.
pub fn data_home() -> Option<PathBuf> {
    platform::data_home()
}

/// `CLAUDE_CONFIG_DIR`, or `~/.claude`.
pub fn client_home() -> Option<PathBuf> {
    path("CLAUDE_CONFIG_DIR").or_else(|| Some(home()?.join(".claude")))
}

pub fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|path| path.is_absolute())
}

/// `OMO_READY`: a launcher waited for this program to be built, and its user is to be told.
pub fn was_just_built() -> bool {
    text("OMO_READY").is_some()
}

/// `true` for a client in a terminal with colours; in `claude -p` a program reads the hooks' words.
pub fn has_coloured_client() -> bool {
    text("CLAUDE_CODE_ENTRYPOINT").is_some_and(|entry| entry == "cli")
        && text("NO_COLOR").is_none()
        && text("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// `false` in a session without a person, such as that of `claude -p`.
pub fn is_attended() -> bool {
    text("CLAUDE_CODE_SESSION_ATTENDED").is_none_or(|set| set != "0")
        && text("CLAUDE_CODE_ENTRYPOINT").is_none_or(|entry| !entry.starts_with("sdk"))
}

/// `true` with `~/.local/bin` on `PATH`, in which omo is linked for terminals.
pub fn has_local_bin_on_path() -> bool {
    home().is_some_and(|home| is_on_path(&home.join(".local").join("bin")))
}

pub fn is_on_path(folder: &Path) -> bool {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where the environment comes in"
    )]
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|entry| entry == folder)
}

pub fn time_zone() -> Option<String> {
    text("TZ")
}

/// `COLUMNS`: maximum width of lines.
pub fn columns() -> Option<usize> {
    text("COLUMNS")?.parse().ok().filter(|columns| *columns > 0)
}

pub fn host_name() -> Option<String> {
    let told = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    told.or_else(|| text("HOSTNAME"))
        .or_else(|| text("COMPUTERNAME"))
}

/// The user's id; `None` on Windows.
pub fn user_number() -> Option<u32> {
    platform::user_number()
}

/// `OMO_ROOT`: the worktree of a session that works on a group of a plan.
pub fn worker_root() -> Option<PathBuf> {
    path("OMO_ROOT")
}

/// Folders of the hook's plugin: its data, which outlives updates, and its files.
pub fn plugin_folders() -> [Option<PathBuf>; 2] {
    ["CLAUDE_PLUGIN_DATA", "CLAUDE_PLUGIN_ROOT"].map(path)
}

pub fn variables() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// Equality of variable names: on Windows `Path` is `PATH`.
pub fn is_variable_named(variable: &OsStr, name: &str) -> bool {
    variable
        .to_str()
        .is_some_and(|variable| platform::same_variable(variable, name))
}

/// The absolute path in a variable; a relative one would depend on the process's folder.
pub(crate) fn path(name: &str) -> Option<PathBuf> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where the environment comes in"
    )]
    let value = std::env::var_os(name)?;
    Some(PathBuf::from(value)).filter(|path| path.is_absolute())
}

fn text(name: &str) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where the environment comes in"
    )]
    std::env::var_os(name)?
        .into_string()
        .ok()
        .filter(|value| !value.is_empty())
}

/// `AI_AGENT`, such as `claude-code_2-1-332_harness`.
pub fn client_agent() -> Option<String> {
    text("AI_AGENT")
}

/// `CLAUDE_PID`: the client's process, which lives as long as its session.
pub fn client_pid() -> Option<u32> {
    text("CLAUDE_PID")?.parse().ok()
}
