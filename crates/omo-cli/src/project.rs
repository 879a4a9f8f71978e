//! Which project and which session a command is about.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use omo_core::log_entry::LogEntry;
use omo_core::session::id::SessionId;
use omo_core::session::{EntryProvenance, Session};
use omo_state::decision_log;
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_state::project_root;
use omo_state::state::{self, CorruptPolicy, StateError, StateUpdateOptions};

use crate::error::CommandError;

/// A person at a terminal can wait longer for the lock than a hook.
const DEADLINE: Duration = Duration::from_secs(3);

/// Which session, where a command is about one.
#[derive(Debug, Args)]
pub(crate) struct SessionOptions {
    /// Which session, if not this shell's own or the only one on
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// The project that the command was started in.
pub(crate) struct Project {
    /// Its top folder.
    pub root: PathBuf,
    /// Its state folder, where there is one.
    pub folder: Option<GuardedFolder>,
    /// The session that a person named, where one did.
    named: Option<SessionId>,
}

impl Project {
    /// Finds the project of the current folder.
    pub(crate) fn find(env: &ProcessEnv) -> Result<Self, CommandError> {
        Self::open(Self::find_root(env)?, None)
    }

    /// The project of a folder; where a session is named, it is the one that is meant.
    pub(crate) fn open(root: PathBuf, named: Option<SessionId>) -> Result<Self, CommandError> {
        let folder = GuardedFolder::open_state(&root)?;
        Ok(Self { root, folder, named })
    }

    /// The top folder of that project, whatever its state is in.
    pub(crate) fn find_root(env: &ProcessEnv) -> Result<PathBuf, CommandError> {
        let cwd = std::env::current_dir().context("the current folder cannot be found")?;
        let missing =
            || CommandError::precondition("this folder is not there any more", "run `omo` in the project's folder");
        env.project_dir.clone().or_else(|| project_root::find_project(&cwd)).ok_or_else(missing)
    }

    /// Every session that the state knows. The user is warned of an entry that cannot be read: its
    /// session is not held, and looks like one that never used omo.
    pub(crate) fn sessions(&self) -> Result<Vec<(SessionId, Session)>, StateError> {
        let entries = self.folder.as_ref().map(state::peek_all).transpose()?.unwrap_or_default();
        warn_about_unreadable(&entries.unreadable);
        Ok(entries.sessions)
    }

    /// How a command changes the state: a broken file is moved aside, because the user asked for
    /// the change.
    pub(crate) fn state_update(env: &ProcessEnv) -> StateUpdateOptions<'_> {
        let state_home = env.state_home.as_deref();
        StateUpdateOptions { deadline: DEADLINE, corrupt: CorruptPolicy::MoveAside, now: env.now, state_home }
    }

    /// The session that is meant: the one that was named, the one that this shell belongs to, or
    /// the only one that is on; `None` where none is.
    pub(crate) fn find_session(&self, env: &ProcessEnv) -> Result<Option<SessionId>, CommandError> {
        if let Some(id) = self.named_or_own_session(env)? {
            return Ok(Some(id));
        }
        let armed: Vec<SessionId> =
            self.sessions()?.into_iter().filter(|(_, session)| session.is_armed()).map(|(id, _)| id).collect();
        match &*armed {
            [] => Ok(None),
            [only] => Ok(Some(only.clone())),
            several => {
                let ids: Vec<&SessionId> = several.iter().collect();
                let message = format!("{} sessions are on in this project", several.len());
                Err(CommandError::usage(message, format!("name one:\n{}", list_ids(&ids))))
            }
        }
    }

    /// As [`Project::find_session`], where there has to be one.
    pub(crate) fn require_session(&self, env: &ProcessEnv) -> Result<SessionId, CommandError> {
        let missing = || {
            let message = format!("no ultrawork run is on in {}", self.root.display());
            CommandError::not_found(message, "type `ulw` in the session first, or name it: `--session ID`")
        };
        self.find_session(env)?.ok_or_else(missing)
    }

    /// The session that a person named, or else the one that this shell belongs to.
    pub(crate) fn named_or_own_session(&self, env: &ProcessEnv) -> Result<Option<SessionId>, CommandError> {
        self.named.clone().map_or_else(|| own_session(env), |id| Ok(Some(id)))
    }

    /// The session that a person named.
    pub(crate) fn named_session(&self) -> Option<&SessionId> {
        self.named.as_ref()
    }
}

/// The session that this shell belongs to.
pub(crate) fn own_session(env: &ProcessEnv) -> Result<Option<SessionId>, CommandError> {
    env.session_id.as_deref().map(parse_session_id).transpose()
}

/// A text as the id of a session.
pub(crate) fn parse_session_id(text: &str) -> Result<SessionId, CommandError> {
    SessionId::parse(text).map_err(|error| {
        let shown = omo_core::text::sanitize(text, 60);
        CommandError::usage(format!("`{shown}` is {error}"), "`omo status` lists the sessions of this project")
    })
}

/// Warns of entries that cannot be read.
pub(crate) fn warn_about_unreadable(entries: &[(SessionId, StateError)]) {
    for (id, error) in entries {
        let hint = format!("that session is not held, and `omo stop --session {id}` clears its entry");
        crate::output::print_warning(&format!("session {id}: {error}; {hint}"));
    }
}

/// The ids as a hint lists them.
pub(crate) fn list_ids(ids: &[&SessionId]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| format!("  --session {id}")).collect();
    ids.join("\n")
}

/// A session's entry, where omo itself wrote what judges it.
pub(crate) fn sealed_session(env: &ProcessEnv, project: &Project, id: &SessionId) -> Result<Session, CommandError> {
    let session = state::peek(&project.root, id)?.unwrap_or_default();
    if state::provenance(&project.root, id, &session, env.state_home.as_deref())? == EntryProvenance::Own {
        return Ok(session);
    }
    Err(CommandError::not_green(
        format!("what judges session {id} was changed by something else than omo, or its key is gone"),
        "nothing of it is run; `ulw` in the session begins a new run",
    ))
}

/// Writes a line into the decision log. What was done is done: a log that cannot be written gives a
/// warning, and no failure.
pub(crate) fn log_decision(folder: &GuardedFolder, entry: &LogEntry) {
    if let Err(error) = decision_log::append(folder, entry) {
        crate::output::print_warning(&format!("done, but not written into the decision log: {error}"));
    }
}
