//! `RepositorySessions`: the sessions of a repository across its folders, named or active.

use std::path::{Path, PathBuf};

use omo_claude::client_sessions::served_sessions;
use omo_core::session::Session;
use omo_core::session::id::SessionId;
use omo_core::text::sanitize;
use omo_state::env::{self, ProcessEnv};
use omo_state::files::folder::GuardedFolder;
use omo_state::project_root;
use omo_state::state::{self, StateError};

use crate::error::CommandError;
use crate::id_prefix::{IdMatch, ambiguous_id, match_id};
use crate::project::{Project, parse_session_id};

const NAMED_FOLDERS: usize = 10;

pub(crate) struct SessionFolder {
    pub root: PathBuf,
    /// Sessions with ultrawork on.
    pub armed: Vec<SessionId>,
    pub unreadable: Vec<(SessionId, StateError)>,
    known: Vec<SessionId>,
}

pub(crate) struct RepositorySessions {
    /// Folders, the project of the current one first.
    pub folders: Vec<SessionFolder>,
    pub unreadable: Vec<(PathBuf, StateError)>,
}

impl RepositorySessions {
    pub(crate) fn read(env: &ProcessEnv) -> Result<Self, CommandError> {
        let served = sessions_of_clients();
        let (mut folders, mut unreadable) = (Vec::new(), Vec::new());
        for root in session_folders(env, &served)? {
            let of_clients = served
                .iter()
                .filter(|(_, started_in)| real_path(started_in) == real_path(&root));
            let mut folder = SessionFolder {
                armed: Vec::new(),
                unreadable: Vec::new(),
                known: of_clients.map(|(id, _)| id.clone()).collect(),
                root,
            };
            let state = GuardedFolder::open_state(&folder.root).map_err(StateError::from);
            match state.and_then(|state| state.as_ref().map(state::peek_all).transpose()) {
                Ok(None) => {}
                Ok(Some(entries)) => folder.add(entries.sessions, entries.unreadable),
                Err(error) => unreadable.push((folder.root.clone(), error)),
            }
            folders.push(folder);
        }
        Ok(Self {
            folders,
            unreadable,
        })
    }

    /// The named session; `None` if no readable one has the prefix.
    pub(crate) fn find(
        &self,
        typed: &str,
        env: &ProcessEnv,
    ) -> Result<Option<SessionId>, CommandError> {
        // The own session exists, even if it has never used omo.
        let own_id = env
            .session_id
            .as_deref()
            .filter(|own_id| parse_session_id(own_id).is_ok());
        let typed = parse_session_id(typed)?;
        let known_ids = self
            .folders
            .iter()
            .flat_map(|folder| &folder.known)
            .map(SessionId::as_str)
            .chain(own_id);
        match match_id(typed.as_str(), known_ids) {
            IdMatch::One(id) => parse_session_id(id).map(Some),
            IdMatch::None => Ok(None),
            IdMatch::Several(ids) => {
                Err(ambiguous_id(typed.as_str(), "sessions", "--session", &ids))
            }
        }
    }

    /// Folders that know a session: several after it was resumed elsewhere in the repository.
    pub(crate) fn folders_of(&self, id: &SessionId) -> impl Iterator<Item = &SessionFolder> {
        self.folders
            .iter()
            .filter(move |folder| folder.known.contains(id))
    }

    pub(crate) fn not_found(&self, typed: &str) -> CommandError {
        let message = format!(
            "no session `{}` in {}",
            sanitize(typed, 60),
            self.looked_at().join(", ")
        );
        CommandError::not_found(
            message,
            "`omo status` lists the sessions of a project; the beginning of an id is enough",
        )
    }

    pub(crate) fn looked_at(&self) -> Vec<String> {
        let names: Vec<String> = self
            .folders
            .iter()
            .map(|folder| folder.root.display().to_string())
            .collect();
        let more = names.len().saturating_sub(NAMED_FOLDERS);
        let rest = (more > 0).then(|| format!("{more} more"));
        names.into_iter().take(NAMED_FOLDERS).chain(rest).collect()
    }
}

impl SessionFolder {
    fn add(
        &mut self,
        sessions: Vec<(SessionId, Session)>,
        unreadable: Vec<(SessionId, StateError)>,
    ) {
        self.armed.extend(
            sessions
                .iter()
                .filter(|(_, session)| session.is_armed())
                .map(|(id, _)| id.clone()),
        );
        self.known.extend(sessions.into_iter().map(|(id, _)| id));
        self.known
            .extend(unreadable.iter().map(|(id, _)| id.clone()));
        self.unreadable = unreadable;
    }
}

pub(crate) fn find_project(env: &ProcessEnv, named: Option<&str>) -> Result<Project, CommandError> {
    let Some(typed) = named else {
        return Project::find(env);
    };
    let mut sessions = RepositorySessions::read(env)?;
    let Some(id) = sessions.find(typed, env)? else {
        let unreadable = sessions.unreadable.pop().map(|(_, error)| error.into());
        return Err(unreadable.unwrap_or_else(|| sessions.not_found(typed)));
    };
    let root = sessions
        .folders_of(&id)
        .next()
        .map(|folder| folder.root.clone());
    Project::open(root.map_or_else(|| Project::find_root(env), Ok)?, Some(id))
}

pub(crate) fn real_path(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

pub(crate) fn folders_of_repository(env: &ProcessEnv) -> Result<Vec<PathBuf>, CommandError> {
    session_folders(env, &sessions_of_clients())
}

fn sessions_of_clients() -> Vec<(SessionId, PathBuf)> {
    env::client_home()
        .map(|home| served_sessions(&home))
        .unwrap_or_default()
}

fn session_folders(
    env: &ProcessEnv,
    served: &[(SessionId, PathBuf)],
) -> Result<Vec<PathBuf>, CommandError> {
    let root = Project::find_root(env)?;
    let started_in: Vec<PathBuf> = served.iter().map(|(_, folder)| folder.clone()).collect();
    // A terminal may stand below the project, and sessions may have started between the two.
    let from = std::env::current_dir()
        .ok()
        .filter(|current| current.starts_with(&root));
    let mut folders =
        project_root::session_folders(&from.unwrap_or_else(|| root.clone()), &started_in);
    folders.retain(|folder| *folder != root);
    folders.insert(0, root);
    Ok(folders)
}
