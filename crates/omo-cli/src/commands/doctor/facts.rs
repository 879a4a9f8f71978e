//! Everything that the checks judge, as plain data: gathered at the edge, in one place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use omo_claude::client::InstalledPlugin;
pub(super) use omo_claude::settings::Scope;
use omo_claude::version::ClientVersion;
use omo_core::session::HookEvent;
use omo_git::folder_status::FolderStatus;
use omo_state::config::FeedbackMode;
use serde_json::Value;

/// The events that omo has a hook for, each with the program that `hooks.json` names.
pub(super) fn hook_programs() -> [(&'static str, &'static str); HookEvent::ALL.len()] {
    HookEvent::ALL.map(|event| (event.name(), event.program()))
}

/// What is known of this machine, this user and this project.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// The version of this very `omo`.
    pub version: String,
    /// The client.
    pub client: Client,
    /// The plugins that the client lists, or why it lists none.
    pub plugins: Result<Vec<InstalledPlugin>, String>,
    /// The enabled ones that run hooks of omo.
    pub hook_plugins: Vec<HookPlugin>,
    /// The plugin that this `omo` lies in, where it lies in one.
    pub own_plugin: Option<PathBuf>,
    /// The client's settings files that are there.
    pub settings: Vec<Settings>,
    /// `OMO_DISABLE`, where it is set.
    pub disable: Option<String>,
    /// `CLAUDE_CODE_STOP_HOOK_BLOCK_CAP`, where it is set.
    pub block_cap: Option<String>,
    /// The user's own bound on continuations.
    pub max_blocks: u32,
    /// Whether no word in a prompt turns ultrawork on: the user's configuration has no keyword.
    pub is_without_keyword: bool,
    /// Where this is about.
    pub project: ProjectFolder,
    /// What other loops have left in the project.
    pub traces: Vec<String>,
    /// The goals that are on in sessions of this project, or why that cannot be told.
    pub goals: Result<Vec<ActiveGoal>, String>,
    /// The state folder.
    pub state: StateFolderFacts,
    /// What git has to do with it.
    pub git: GitFacts,
    /// The user's own folder, with the key and the approvals.
    pub user_folder: UserFolder,
    /// What is wrong with the user's configuration, and where that is.
    pub config: (Option<PathBuf>, Vec<String>),
    /// How a continuation is told to the client.
    pub feedback: FeedbackMode,
    /// The project's omo.toml.
    pub repository_checks: RepositoryChecks,
    /// The newest error that a hook kept from its user, and how many there are.
    pub errors: Option<(usize, String)>,
    /// What was seen of the hooks in a session.
    pub live: SeenHooks,
}

/// The client on `PATH`.
#[derive(Clone, Debug)]
pub(super) enum Client {
    /// There is none.
    Missing,
    /// It does not say its version.
    Failed(String),
    /// It is there.
    Found {
        /// Its file.
        program: PathBuf,
        /// Its version.
        version: ClientVersion,
    },
}

/// An enabled plugin that runs hooks of omo.
#[derive(Clone, Debug)]
pub(super) struct HookPlugin {
    /// `name@marketplace`.
    pub id: String,
    /// The folder that it runs from.
    pub folder: PathBuf,
    /// The version in its manifest.
    pub version: Option<String>,
    /// The hooks of omo that it names.
    pub hooks: Vec<Hook>,
    /// The files behind them.
    pub programs: Vec<Program>,
    /// Where they are launchers: the folder of the binaries that they run, those, and the last line
    /// of the log of their build.
    pub built: Option<PluginBinaries>,
}

/// What launchers run.
#[derive(Clone, Debug)]
pub(super) struct PluginBinaries {
    /// The folder of the binaries.
    pub folder: PathBuf,
    /// Whether npm has brought them: then nothing here can be built.
    pub is_package: bool,
    /// The folder that the client keeps for the plugin.
    pub data: PathBuf,
    /// Whether a build of them is running.
    pub is_being_built: bool,
    /// The files of the binaries.
    pub programs: Vec<Program>,
    /// The last line of the log of their build.
    pub last_line: Option<String>,
}

/// One hook, as a plugin or a settings file names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hook {
    /// The event.
    pub event: String,
    /// The command, as it is written.
    pub command: String,
}

/// One file that is run as a program.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// Its path.
    pub path: PathBuf,
    /// What is there.
    pub kind: ProgramKind,
    /// The version that it was built as, where that can be read in it.
    pub version: Option<String>,
}

/// What is there in the place of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgramKind {
    /// A binary.
    Binary,
    /// A script that runs a binary.
    Launcher,
    /// Nothing.
    Missing,
    /// A file that may not be run.
    NotExecutable,
}

/// A settings file of the client.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// Where it counts.
    pub scope: Scope,
    /// Its path.
    pub file: PathBuf,
    /// What it says, or why it cannot be read.
    pub value: Result<Value, String>,
}

impl Settings {
    /// A value in it.
    pub(super) fn get(&self, pointer: &str) -> Option<&Value> {
        self.value.as_ref().ok()?.pointer(pointer)
    }

    /// A variable that it sets.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        match self.get("/env")?.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            other => Some(other.to_string()),
        }
    }

    /// The hooks of omo that it names.
    pub(super) fn hooks(&self) -> Vec<Hook> {
        self.get("/hooks").map(omo_hooks).unwrap_or_default()
    }
}

/// How many commands the client's `hooks` name for an event, whatever they are.
pub(super) fn count_commands(hooks: &Value, event: &str) -> usize {
    let groups = hooks.get(event).and_then(Value::as_array).into_iter().flatten();
    groups.filter_map(|group| group.get("hooks")?.as_array()).map(Vec::len).sum()
}

/// The hooks among the client's `hooks` that run a binary of omo.
pub(super) fn omo_hooks(hooks: &Value) -> Vec<Hook> {
    let mut found = Vec::new();
    for (event, groups) in hooks.as_object().into_iter().flatten() {
        let groups = groups.as_array().into_iter().flatten();
        let handlers = groups.filter_map(|group| group.get("hooks")?.as_array()).flatten();
        let commands = handlers.filter_map(|handler| handler.get("command")?.as_str());
        let ours = commands.filter(|command| is_omo_hook(command));
        found.extend(ours.map(|command| Hook { event: event.clone(), command: command.to_owned() }));
    }
    found
}

/// Whether a command runs one of the hook binaries: one of its words ends in the name of one.
fn is_omo_hook(command: &str) -> bool {
    let words = command.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
    let mut names = words.filter_map(|word| Path::new(word).file_stem()?.to_str());
    names.any(|name| hook_programs().iter().any(|(_, binary)| *binary == name))
}

/// The folder that this is about.
#[derive(Clone, Debug)]
pub(super) struct ProjectFolder {
    /// `CLAUDE_PROJECT_DIR`, where it is set, and what is there.
    pub project_dir_variable: Option<(String, ProjectDirKind)>,
    /// The folder that `omo` was started in.
    pub folder: Option<PathBuf>,
    /// The project's top; `None` where nothing absolute is known.
    pub root: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The folder in it that cannot be written, where state has to be kept there.
    pub unwritable: Option<PathBuf>,
}

/// What `CLAUDE_PROJECT_DIR` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProjectDirKind {
    /// A folder.
    Folder,
    /// A path that depends on where the process is.
    Relative,
    /// Nothing.
    Missing,
    /// Something else than a folder.
    NotAFolder,
}

/// An active `/goal` of the client.
#[derive(Clone, Debug)]
pub(super) struct ActiveGoal {
    /// In which session.
    pub session: String,
    /// What it waits for.
    pub condition: String,
    /// Whether ultrawork is on there as well.
    pub is_armed: bool,
}

/// The project's state folder.
#[derive(Clone, Debug)]
pub(super) enum StateFolderFacts {
    /// There is none.
    Absent,
    /// It is not one that omo uses.
    Refused(String),
    /// It is there.
    Open(StateFolder),
}

/// What is in a state folder.
#[derive(Clone, Debug, Default)]
pub(super) struct StateFolder {
    /// Its path.
    pub path: PathBuf,
    /// The files, and the folder itself, that others may read or write.
    pub open_to_others: Vec<PathBuf>,
    /// Why the state cannot be read.
    pub broken: Option<String>,
    /// The entries that cannot be read.
    pub broken_entries: Vec<String>,
    /// The copies of a state that did not parse.
    pub corrupt: Vec<String>,
    /// Why the lock was not had.
    pub lock: Option<String>,
    /// How many sessions it knows, and how many of them are on.
    pub sessions: (usize, usize),
}

/// What git has to do with the state.
#[derive(Clone, Debug)]
pub(super) struct GitFacts {
    /// Whether there is a git.
    pub is_there: bool,
    /// Whether the project lies in a work tree.
    pub in_work_tree: bool,
    /// What it makes of the state folder, where both are there.
    pub tracked: Option<FolderStatus>,
}

/// The user's own folder.
#[derive(Clone, Debug)]
pub(super) enum UserFolder {
    /// The user has no folder for what programs remember.
    NoHome,
    /// Nothing was kept yet.
    Absent(PathBuf),
    /// There is none, and none can be made in the folder that it would be in.
    Unwritable {
        /// Its path.
        path: PathBuf,
        /// The folder that cannot be written.
        folder: PathBuf,
    },
    /// It is there.
    Open {
        /// Its path.
        path: PathBuf,
        /// Its parts that others may read or write.
        open_to_others: Vec<PathBuf>,
        /// What is wrong with the folder, the key or the approvals, each with its file.
        problems: Vec<(String, PathBuf)>,
    },
}

/// The project's omo.toml.
#[derive(Clone, Debug)]
pub(super) enum RepositoryChecks {
    /// There is none, or it asks for no check.
    Absent,
    /// It cannot be read as one.
    Broken(String),
    /// So many checks of it are not approved.
    NotApproved(usize),
    /// So many checks of it are.
    Approved(usize),
}

/// What was seen of the hooks.
#[derive(Clone, Debug)]
pub(super) enum SeenHooks {
    /// The user did not ask for it.
    NotTried,
    /// There is no session to look at, or it failed.
    Impossible(String),
    /// How often each event's hooks were started. `None` for an event that was not seen and need
    /// not have been.
    Seen(BTreeMap<&'static str, Option<usize>>),
}

/// The name in `name@marketplace`.
pub(super) fn plugin_name(id: &str) -> &str {
    id.split('@').next().unwrap_or(id)
}
