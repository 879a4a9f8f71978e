//! The one place where the environment and the clock come in.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use omo_core::timestamp::Timestamp;

use crate::platform;

/// Environment of a process: variables and clock, read once.
#[derive(Clone, Debug)]
pub struct ProcessEnv {
    /// The time at which the process began to decide.
    pub now: Timestamp,
    /// `CLAUDE_PROJECT_DIR`: the folder that the client was started in.
    pub project_dir: Option<PathBuf>,
    /// `CLAUDE_CODE_SESSION_ID`: the session that a command runs in.
    pub session_id: Option<String>,
    /// `CLAUDE_CODE_STOP_HOOK_BLOCK_CAP`, where it is set and not 0.
    pub client_block_cap: Option<u32>,
    /// `OMO_DISABLE=1`: omo does nothing.
    pub disabled: bool,
    /// `OMO_CHECK=1`: started by a check. Nothing of omo runs within a check.
    pub in_check: bool,
    /// `OMO_WORKER`, beside `OMO_RUN`: omo has started this session as that worker of a plan, and no person
    /// writes its prompts.
    pub worker: Option<WorkerIdentity>,
    /// `config.toml` of the user.
    pub config_file: Option<PathBuf>,
    /// State home of the user, such as `~/.local/state`.
    pub state_home: Option<PathBuf>,
    /// `CLAUDECODE` or the session's id is set: a model's shell, or a hook.
    pub in_session: bool,
}

/// The part of a run that omo has started this session for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerIdentity {
    /// Run id: `OMO_RUN`.
    pub run: String,
    /// Group id of the plan: `OMO_WORKER`.
    pub worker: String,
}

impl ProcessEnv {
    /// Reads the environment and the clock of this process.
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
            // Hardly any session has a first one, and none of those needs to look for the second.
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

/// The clock; a moment before 1970 counts as 1970.
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

/// The present time for files.
#[expect(
    clippy::disallowed_methods,
    reason = "this is where the clock comes in"
)]
pub fn file_time() -> SystemTime {
    SystemTime::now()
}

/// Data home of the user, such as `~/.local/share`. No hook asks for it.
pub fn data_home() -> Option<PathBuf> {
    platform::data_home()
}

/// `CLAUDE_CONFIG_DIR`, or `.claude` in the user's home.
pub fn client_home() -> Option<PathBuf> {
    path("CLAUDE_CONFIG_DIR").or_else(|| Some(home()?.join(".claude")))
}

/// The home of the user.
pub fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|path| path.is_absolute())
}

/// `OMO_READY`: a launcher has waited for this program to be built, and its user has to hear of it.
/// Only the hook of prompts asks.
pub fn was_just_built() -> bool {
    text("OMO_READY").is_some()
}

/// A client with a terminal whose user wants colours. In `claude -p` a program reads what hooks
/// say.
pub fn has_coloured_client() -> bool {
    text("CLAUDE_CODE_ENTRYPOINT").is_some_and(|entry| entry == "cli")
        && text("NO_COLOR").is_none()
        && text("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// `false` in a session that is known to have no person at it, such as that of `claude -p`.
pub fn is_attended() -> bool {
    text("CLAUDE_CODE_SESSION_ATTENDED").is_none_or(|set| set != "0")
        && text("CLAUDE_CODE_ENTRYPOINT").is_none_or(|entry| !entry.starts_with("sdk"))
}

/// `~/.local/bin`, where omo is linked for terminals, on `PATH`.
pub fn has_local_bin_on_path() -> bool {
    home().is_some_and(|home| is_on_path(&home.join(".local").join("bin")))
}

/// `folder` as an entry of `PATH`.
pub fn is_on_path(folder: &Path) -> bool {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where the environment comes in"
    )]
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|entry| entry == folder)
}

/// `TZ`: the time zone that the user wants times in.
pub fn time_zone() -> Option<String> {
    text("TZ")
}

/// `COLUMNS`: maximum width of lines, whatever they are written to.
pub fn columns() -> Option<usize> {
    text("COLUMNS")?.parse().ok().filter(|columns| *columns > 0)
}

/// Host name of this machine.
pub fn host_name() -> Option<String> {
    let told = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    told.or_else(|| text("HOSTNAME"))
        .or_else(|| text("COMPUTERNAME"))
}

/// User id of this process; `None` on Windows.
pub fn user_number() -> Option<u32> {
    platform::user_number()
}

/// `OMO_ROOT`: the worktree of a session that omo has started to work on a group of a plan.
pub fn worker_root() -> Option<PathBuf> {
    path("OMO_ROOT")
}

/// The folders of the plugin that a hook belongs to, where they are known: first the one that it
/// keeps over its updates, then the one that it is in.
pub fn plugin_folders() -> [Option<PathBuf>; 2] {
    ["CLAUDE_PLUGIN_DATA", "CLAUDE_PLUGIN_ROOT"].map(path)
}

/// Every variable of this process, for those that it starts.
pub fn variables() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// Equality of variable names by the rules of the system: on Windows `Path` is `PATH`.
pub fn is_variable_named(variable: &OsStr, name: &str) -> bool {
    variable
        .to_str()
        .is_some_and(|variable| platform::same_variable(variable, name))
}

/// Absolute path in the variable `name`; `None` for a relative one, which would depend on the
/// folder of the process.
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

/// `AI_AGENT`: the client and its version, such as `claude-code_2-1-332_harness`.
pub fn client_agent() -> Option<String> {
    text("AI_AGENT")
}

/// `CLAUDE_PID`: the client's own process, which lives as long as its session does.
pub fn client_pid() -> Option<u32> {
    text("CLAUDE_PID")?.parse().ok()
}
