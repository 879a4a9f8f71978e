//! Origin of a prompt or a command: a person, or a client of this project above this process. On Linux an ancestor is
//! such a client if a session noted it, the client's own list names it, or it has the client's name and works in the
//! project; no process can set the environment of an ancestor. Other systems only tell a second client of a session.

use std::path::{Path, PathBuf};

use omo_core::request_source::ClientProcess;
use omo_core::session::id::SessionId;
use omo_process::platform::{
    ancestors, owner_home, process_name, process_variable, working_folder,
};
use omo_process::process_identity::start_mark;
use omo_state::files::folder::GuardedFolder;
use omo_state::{env, state};

use crate::client_sessions::{self, ClientSession};
use crate::platform::clients::CLIENTS;

#[derive(Debug)]
pub struct ProjectClients {
    root: PathBuf,
    sessions: Vec<String>,
    known_clients: Vec<(String, ClientProcess)>,
    /// `CLAUDE_CONFIG_DIR`, or `~/.claude`, of this process.
    client_home: Option<PathBuf>,
}

impl ProjectClients {
    /// Clients in the state of a project; `own_session` is the asking session. Unreadable state counts as empty.
    pub fn read(root: &Path, own_session: Option<&SessionId>) -> Self {
        let folder = GuardedFolder::open_state(root).ok().flatten();
        let known = folder
            .and_then(|folder| state::peek_all(&folder).ok())
            .unwrap_or_default();
        let (mut sessions, mut known_clients) = (Vec::new(), Vec::new());
        for (id, session) in known.sessions {
            known_clients.extend(
                session
                    .clients
                    .into_iter()
                    .map(|client| (id.to_string(), client)),
            );
            sessions.push(id.to_string());
        }
        sessions.extend(known.unreadable.into_iter().map(|(id, _)| id.to_string()));
        sessions.extend(own_session.map(SessionId::to_string));
        Self {
            root: root.to_owned(),
            sessions,
            known_clients,
            client_home: env::client_home(),
        }
    }

    /// Client that started this hook: the nearest ancestor that is a client or has the id `named`. Any other id from
    /// the hook's environment may be that of any process.
    pub fn client_of_hook(&self, named: Option<u32>) -> Option<u32> {
        ancestors()
            .into_iter()
            .skip(1)
            .find(|pid| named == Some(*pid) || self.is_client(*pid))
    }

    /// `true` for a `client` that the shell of a session of this project started.
    pub fn stands_above_client(&self, client: u32) -> bool {
        let processes = ancestors();
        let from_client = processes.iter().skip_while(|pid| **pid != client);
        let mut above = from_client.copied();
        above.next().is_some_and(|client| self.is_named_by(client))
            || above.any(|pid| self.is_of_session(pid))
    }

    /// `true` where the shell of a session of this project started this process.
    pub fn stands_above_process(&self) -> bool {
        ancestors().into_iter().any(|pid| self.is_of_session(pid))
    }

    /// `true` where another live client served the session before `client`, which may be the model's and must not keep
    /// a person from typing in the first one.
    pub fn is_served_before(&self, session: &str, client: u32) -> bool {
        let Some(home) = &self.client_home else {
            return false;
        };
        let began = client_sessions::read_for_process(home, client).map(|client| client.started_at);
        client_sessions::sessions_serving(home, session)
            .iter()
            .filter(|other| other.pid != client)
            .filter(|other| began.is_none_or(|began| other.started_at < began))
            .any(ClientSession::is_alive)
    }

    /// `true` for a client of this project, or a process whose environment names one of its sessions.
    fn is_of_session(&self, pid: u32) -> bool {
        self.is_named_by(pid) || self.is_client(pid)
    }

    fn is_named_by(&self, pid: u32) -> bool {
        let Some(session) = process_variable(pid, "CLAUDE_CODE_SESSION_ID") else {
            return false;
        };
        if self.sessions.contains(&session) {
            return true;
        }
        let client = process_variable(pid, "CLAUDE_PID").and_then(|pid| pid.parse().ok());
        client
            .and_then(working_folder)
            .is_some_and(|folder| self.holds(&folder))
    }

    fn is_client(&self, pid: u32) -> bool {
        self.is_noted(pid) || self.bears_name(pid) || self.is_listed(pid)
    }

    fn is_noted(&self, pid: u32) -> bool {
        let mut noted = self
            .known_clients
            .iter()
            .filter(|(_, client)| client.pid == pid)
            .peekable();
        noted.peek().is_some()
            && start_mark(pid)
                .is_some_and(|mark| noted.any(|(_, client)| client.start_mark == mark))
    }

    /// `true` for a process with the client's name and a working folder in the project.
    fn bears_name(&self, pid: u32) -> bool {
        process_name(pid).is_some_and(|name| CLIENTS.contains(&&*name))
            && working_folder(pid).is_some_and(|folder| self.holds(&folder))
    }

    /// `true` for a process in the client's own list, in the homes of that process, its owner or this process.
    fn is_listed(&self, pid: u32) -> bool {
        let home = absolute_variable(pid, "HOME");
        let client_homes = [home, owner_home(pid)]
            .into_iter()
            .flatten()
            .map(|home| home.join(".claude"))
            .chain(absolute_variable(pid, "CLAUDE_CONFIG_DIR"))
            .chain(self.client_home.clone());
        client_homes
            .filter_map(|home| client_sessions::read_for_process(&home, pid))
            .any(|client| {
                client.is_alive()
                    && (self.sessions.contains(&client.session_id) || self.holds(&client.cwd))
            })
    }

    /// `true` for a folder below the project's root, as given or with resolved links.
    fn holds(&self, folder: &Path) -> bool {
        let real: Option<PathBuf> = self.root.canonicalize().ok();
        folder.starts_with(&self.root) || real.is_some_and(|root| folder.starts_with(root))
    }
}

fn absolute_variable(pid: u32, name: &str) -> Option<PathBuf> {
    process_variable(pid, name)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

/// The ancestor `pid` with its start mark; `None` for any other process, or on a system without such marks.
pub fn find_ancestor(pid: u32) -> Option<ClientProcess> {
    let start_mark = start_mark(pid).filter(|_| ancestors().contains(&pid))?;
    Some(ClientProcess { pid, start_mark })
}
