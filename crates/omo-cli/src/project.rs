//! `Project`: the folder of a command, its state folder, and the session that the command is about.

use std::path::PathBuf;
use std::time::Duration;

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
use crate::process_paths::current_folder;

/// A person at a terminal can wait longer for the lock than a hook.
const DEADLINE: Duration = Duration::from_secs(3);

#[derive(Debug, Args)]
pub(crate) struct SessionOptions {
    /// The session, if not this shell's own or the only one on
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

pub(crate) struct Project {
    pub root: PathBuf,
    pub folder: Option<GuardedFolder>,
    named: Option<SessionId>,
}

impl Project {
    pub(crate) fn find(env: &ProcessEnv) -> Result<Self, CommandError> {
        Self::open(Self::find_root(env)?, None)
    }

    pub(crate) fn open(root: PathBuf, named: Option<SessionId>) -> Result<Self, CommandError> {
        let folder = GuardedFolder::open_state(&root)?;
        Ok(Self {
            root,
            folder,
            named,
        })
    }

    pub(crate) fn find_root(env: &ProcessEnv) -> Result<PathBuf, CommandError> {
        let cwd = current_folder()?;
        env.project_dir
            .clone()
            .or_else(|| project_root::find_project(&cwd))
            .ok_or_else(|| {
                CommandError::precondition(
                    "this folder is not there any more",
                    "run `omo` in the project's folder",
                )
            })
    }

    /// Warns of unreadable entries: such a session is not held, and looks like one that never used omo.
    pub(crate) fn sessions(&self) -> Result<Vec<(SessionId, Session)>, StateError> {
        let entries = self
            .folder
            .as_ref()
            .map(state::peek_all)
            .transpose()?
            .unwrap_or_default();
        warn_about_unreadable(&entries.unreadable);
        Ok(entries.sessions)
    }

    /// State changes by a command, which move a broken file aside, because the user asked for the change.
    pub(crate) fn state_update(env: &ProcessEnv) -> StateUpdateOptions<'_> {
        let state_home = env.state_home.as_deref();
        StateUpdateOptions {
            deadline: DEADLINE,
            corrupt: CorruptPolicy::MoveAside,
            now: env.now,
            state_home,
        }
    }

    /// The named session, the one of this shell, or the only active one; `None` without any.
    pub(crate) fn find_session(&self, env: &ProcessEnv) -> Result<Option<SessionId>, CommandError> {
        if let Some(id) = self.named_or_own_session(env)? {
            return Ok(Some(id));
        }
        let armed: Vec<SessionId> = self
            .sessions()?
            .into_iter()
            .filter(|(_, session)| session.is_armed())
            .map(|(id, _)| id)
            .collect();
        match &*armed {
            [] => Ok(None),
            [only] => Ok(Some(only.clone())),
            several => {
                let ids: Vec<&SessionId> = several.iter().collect();
                let message = format!("{} sessions are on in this project", several.len());
                Err(CommandError::usage(
                    message,
                    format!("name one:\n{}", list_ids(&ids)),
                ))
            }
        }
    }

    pub(crate) fn require_session(&self, env: &ProcessEnv) -> Result<SessionId, CommandError> {
        self.find_session(env)?.ok_or_else(|| {
            let message = format!("no ultrawork run is on in {}", self.root.display());
            CommandError::not_found(
                message,
                "type `ulw` in the session first, or name it: `--session ID`",
            )
        })
    }

    pub(crate) fn named_or_own_session(
        &self,
        env: &ProcessEnv,
    ) -> Result<Option<SessionId>, CommandError> {
        self.named
            .clone()
            .map_or_else(|| own_session(env), |id| Ok(Some(id)))
    }

    pub(crate) fn named_session(&self) -> Option<&SessionId> {
        self.named.as_ref()
    }
}

pub(crate) fn own_session(env: &ProcessEnv) -> Result<Option<SessionId>, CommandError> {
    env.session_id.as_deref().map(parse_session_id).transpose()
}

pub(crate) fn parse_session_id(text: &str) -> Result<SessionId, CommandError> {
    SessionId::parse(text).map_err(|error| {
        let shown = omo_core::text::sanitize(text, 60);
        CommandError::usage(
            format!("`{shown}` is {error}"),
            "`omo status` lists the sessions of this project",
        )
    })
}

pub(crate) fn warn_about_unreadable(entries: &[(SessionId, StateError)]) {
    for (id, error) in entries {
        let hint =
            format!("that session is not held, and `omo stop --session {id}` clears its entry");
        crate::output::print_warning(&format!("session {id}: {error}; {hint}"));
    }
}

pub(crate) fn list_ids(ids: &[&SessionId]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| format!("  --session {id}")).collect();
    ids.join("\n")
}

/// A session's entry with an intact seal, if omo itself wrote the judging parts.
pub(crate) fn sealed_session(
    env: &ProcessEnv,
    project: &Project,
    id: &SessionId,
) -> Result<Session, CommandError> {
    let session = state::peek(&project.root, id)?.unwrap_or_default();
    if state::provenance(&project.root, id, &session, env.state_home.as_deref())?
        == EntryProvenance::Own
    {
        return Ok(session);
    }
    Err(CommandError::not_green(
        format!(
            "what judges session {id} was changed by something else than omo, or its key is gone"
        ),
        "nothing of it is run; `ulw` in the session begins a new run",
    ))
}

/// Adds a line to the decision log. The act itself is done: a failed write is only a warning.
pub(crate) fn log_decision(folder: &GuardedFolder, entry: &LogEntry) {
    if let Err(error) = decision_log::append(folder, entry) {
        crate::output::print_warning(&format!(
            "done, but not written into the decision log: {error}"
        ));
    }
}
