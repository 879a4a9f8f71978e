//! Source of a prompt or a command. On Linux each process above is looked at: a client of this project is one that a
//! session of it noted, that the client's own list names, or that bears the client's name and works in the project. A
//! process can choose its own environment, but not that of a process above it. Other systems see second clients only.

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
    /// Reads the state of a project; `own` is the asking session. Unreadable state is empty.
    pub fn read(root: &Path, own: Option<&SessionId>) -> Self {
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
        sessions.extend(own.map(SessionId::to_string));
        Self {
            root: root.to_owned(),
            sessions,
            known_clients,
            client_home: env::client_home(),
        }
    }

    /// Client that started this hook: the nearest ancestor that is `named`, or a client. A process that only the hook's
    /// environment names may be any.
    pub fn client_of_hook(&self, named: Option<u32>) -> Option<u32> {
        ancestors()
            .into_iter()
            .skip(1)
            .find(|pid| named == Some(*pid) || self.is_client(*pid))
    }

    /// A session of this project above this client: its shell started the client.
    pub fn stands_above_client(&self, client: u32) -> bool {
        let processes = ancestors();
        let from_client = processes.iter().skip_while(|pid| **pid != client);
        let mut above = from_client.copied();
        above.next().is_some_and(|client| self.is_named_by(client))
            || above.any(|pid| self.is_of_session(pid))
    }

    /// A session of this project above this process: its shell started it.
    pub fn stands_above_process(&self) -> bool {
        ancestors().into_iter().any(|pid| self.is_of_session(pid))
    }

    /// Another client served the session first: the second one may be the model's, and must not keep a person from what
    /// they type in the first.
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

    /// A client of a session of this project, or a process whose environment names the session.
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

    /// By the client's name, and a working folder in the project.
    fn bears_name(&self, pid: u32) -> bool {
        process_name(pid).is_some_and(|name| CLIENTS.contains(&&*name))
            && working_folder(pid).is_some_and(|folder| self.holds(&folder))
    }

    /// By the client's own list, in the folders that the process, its owner or this process uses.
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

    /// Compared with resolved links too.
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

/// Start mark of an ancestor; `None` for any other process, or without such marks.
pub fn find_ancestor(pid: u32) -> Option<ClientProcess> {
    let start_mark = start_mark(pid).filter(|_| ancestors().contains(&pid))?;
    Some(ClientProcess { pid, start_mark })
}
