//! `Facts`: everything that the checks look at, as plain data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use omo_claude::client::InstalledPlugin;
pub(super) use omo_claude::settings::Scope;
use omo_claude::version::ClientVersion;
use omo_core::session::HookEvent;
use omo_git::folder_status::FolderStatus;
use omo_state::config::FeedbackMode;
use serde_json::Value;

pub(super) fn hook_programs() -> [(&'static str, &'static str); HookEvent::ALL.len()] {
    HookEvent::ALL.map(|event| (event.name(), event.program()))
}

#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub version: String,
    pub client: Client,
    pub plugins: Result<Vec<InstalledPlugin>, String>,
    pub hook_plugins: Vec<HookPlugin>,
    pub own_plugin: Option<PathBuf>,
    pub settings: Vec<Settings>,
    pub disable: Option<String>,
    pub block_cap: Option<String>,
    pub max_blocks: u32,
    pub is_without_keyword: bool,
    pub project: ProjectFolderFacts,
    pub traces: Vec<String>,
    /// Active `/goal`s in sessions of this project, or the reason why unknown.
    pub goals: Result<Vec<ActiveGoal>, String>,
    pub state: StateFolderFacts,
    pub git: GitFacts,
    pub user_folder: UserFolder,
    pub config: (Option<PathBuf>, Vec<String>),
    pub feedback: FeedbackMode,
    pub repository_checks: RepositoryChecks,
    /// Number of hook errors in the last week, and the last of them; `None` without any.
    pub errors: Option<RecentErrors>,
    pub live: SeenHooks,
}

#[derive(Clone, Debug)]
pub(super) enum Client {
    Missing,
    Failed(String),
    Found {
        program: PathBuf,
        version: ClientVersion,
    },
}

#[derive(Clone, Debug)]
pub(super) struct HookPlugin {
    pub id: String,
    pub folder: PathBuf,
    pub version: Option<String>,
    pub hooks: Vec<Hook>,
    pub programs: Vec<Program>,
    pub built: Option<PluginBinaries>,
}

#[derive(Clone, Debug)]
pub(super) struct PluginBinaries {
    pub folder: PathBuf,
    /// Installed by npm, so nothing can be built here.
    pub is_package: bool,
    pub data: PathBuf,
    pub is_being_built: bool,
    pub programs: Vec<Program>,
    pub last_line: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hook {
    pub event: String,
    pub command: String,
}

#[derive(Clone, Debug)]
pub(super) struct Program {
    pub path: PathBuf,
    pub kind: ProgramKind,
    pub version: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgramKind {
    Binary,
    Launcher,
    Missing,
    NotExecutable,
}

#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub scope: Scope,
    pub file: PathBuf,
    /// Parsed JSON, or the reason why it is unreadable.
    pub value: Result<Value, String>,
}

impl Settings {
    pub(super) fn get(&self, pointer: &str) -> Option<&Value> {
        self.value.as_ref().ok()?.pointer(pointer)
    }

    pub(super) fn variable(&self, name: &str) -> Option<String> {
        match self.get("/env")?.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            other => Some(other.to_string()),
        }
    }

    pub(super) fn hooks(&self) -> Vec<Hook> {
        self.get("/hooks").map(omo_hooks).unwrap_or_default()
    }
}

pub(super) fn count_commands(hooks: &Value, event: &str) -> usize {
    let groups = hooks
        .get(event)
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    groups
        .filter_map(|group| group.get("hooks")?.as_array())
        .map(Vec::len)
        .sum()
}

pub(super) fn omo_hooks(hooks: &Value) -> Vec<Hook> {
    let mut found = Vec::new();
    for (event, groups) in hooks.as_object().into_iter().flatten() {
        let groups = groups.as_array().into_iter().flatten();
        let handlers = groups
            .filter_map(|group| group.get("hooks")?.as_array())
            .flatten();
        let commands = handlers.filter_map(|handler| handler.get("command")?.as_str());
        let ours = commands.filter(|command| is_omo_hook(command));
        found.extend(ours.map(|command| Hook {
            event: event.clone(),
            command: command.to_owned(),
        }));
    }
    found
}

fn is_omo_hook(command: &str) -> bool {
    let words = command
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'']));
    let mut names = words.filter_map(|word| Path::new(word).file_stem()?.to_str());
    names.any(|name| hook_programs().iter().any(|(_, binary)| *binary == name))
}

#[derive(Clone, Debug)]
pub(super) struct ProjectFolderFacts {
    pub project_dir_variable: Option<(String, ProjectDirKind)>,
    pub folder: Option<PathBuf>,
    pub root: Option<PathBuf>,
    pub home: Option<PathBuf>,
    /// Folder inside the project that must be writable for state and is not.
    pub unwritable: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProjectDirKind {
    Folder,
    Relative,
    Missing,
    NotAFolder,
}

#[derive(Clone, Debug)]
pub(super) struct ActiveGoal {
    pub session: String,
    pub condition: String,
    pub is_armed: bool,
}

#[derive(Clone, Debug)]
pub(super) enum StateFolderFacts {
    Absent,
    Refused(String),
    Open(StateFolder),
}

#[derive(Clone, Debug, Default)]
pub(super) struct StateFolder {
    pub path: PathBuf,
    pub open_to_others: Vec<PathBuf>,
    pub broken: Option<String>,
    pub broken_entries: Vec<String>,
    pub corrupt: Vec<String>,
    pub lock: Option<String>,
    pub sessions: SessionCounts,
}

#[derive(Clone, Debug)]
pub(super) struct RecentErrors {
    pub count: usize,
    pub last: String,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SessionCounts {
    pub all: usize,
    pub armed: usize,
}

#[derive(Clone, Debug)]
pub(super) struct GitFacts {
    pub is_there: bool,
    pub in_work_tree: bool,
    pub tracked: Option<FolderStatus>,
}

#[derive(Clone, Debug)]
pub(super) enum UserFolder {
    /// No state home, such as `~/.local/state`.
    NoHome,
    Absent(PathBuf),
    Unwritable {
        path: PathBuf,
        folder: PathBuf,
    },
    Open {
        path: PathBuf,
        open_to_others: Vec<PathBuf>,
        problems: Vec<(String, PathBuf)>,
    },
}

#[derive(Clone, Debug)]
pub(super) enum RepositoryChecks {
    Absent,
    Broken(String),
    NotApproved(usize),
    Approved(usize),
}

#[derive(Clone, Debug)]
pub(super) enum SeenHooks {
    NotTried,
    Impossible(String),
    /// Starts by event. `None` for an event that was optional and not seen.
    Seen(BTreeMap<&'static str, Option<usize>>),
}

/// `name` of `name@marketplace`.
pub(super) fn plugin_name(id: &str) -> &str {
    id.split('@').next().unwrap_or(id)
}
