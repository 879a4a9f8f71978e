//! Source of a prompt or a command, as far as processes, the sealed state and the client's own list
//! of its sessions tell.
//!
//! On Linux every process above is looked at. One is a client of this project where a session of it
//! has noted that process, where the client's list in the folder that this very process uses says
//! so, or where it bears the client's name and works in the project: a process can choose its own
//! environment, and that of no process above it. On other systems only the second client of a
//! session is seen.

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

/// The project that something is asked for, and what is known of its sessions.
#[derive(Debug)]
pub struct ProjectClients {
    root: PathBuf,
    sessions: Vec<String>,
    known_clients: Vec<(String, ClientProcess)>,
    /// `CLAUDE_CONFIG_DIR`, or `~/.claude`, as far as this process knows.
    client_home: Option<PathBuf>,
}

impl ProjectClients {
    /// Reads the state of a project; `own` is the session that is asked in. What cannot be read is not known.
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

    /// The client that has started this hook: the nearest process above it that `named` names, or that is one. What
    /// the hook's environment names alone may be any process.
    pub fn client_of_hook(&self, named: Option<u32>) -> Option<u32> {
        ancestors()
            .into_iter()
            .skip(1)
            .find(|pid| named == Some(*pid) || self.is_client(*pid))
    }

    /// A session of this project above the client of this process id: its shell started that
    /// client.
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

    /// Another client that served a session before this one: the second one may be the model's, and
    /// must not keep a person from what they type in the first.
    pub fn is_served_before(&self, session: &str, client: u32) -> bool {
        let Some(home) = &self.client_home else {
            return false;
        };
        let began = client_sessions::read_for_process(home, client).map(|client| client.started_at);
        let is_before = |other: &ClientSession| began.is_none_or(|began| other.started_at < began);
        client_sessions::sessions_serving(home, session)
            .iter()
            .any(|other| other.pid != client && is_before(other) && other.is_alive())
    }

    /// A process of a session of this project: its client, or a process whose environment names the
    /// session.
    fn is_of_session(&self, pid: u32) -> bool {
        self.is_named_by(pid) || self.is_client(pid)
    }

    fn is_named_by(&self, pid: u32) -> bool {
        let Some(session) = process_variable(pid, "CLAUDE_CODE_SESSION_ID") else {
            return false;
        };
        let client = || process_variable(pid, "CLAUDE_PID")?.parse().ok();
        self.sessions.contains(&session)
            || client()
                .and_then(working_folder)
                .is_some_and(|folder| self.holds(&folder))
    }

    /// A client that serves or served a session of this project.
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

    /// A process with the client's name that works in the project.
    fn bears_name(&self, pid: u32) -> bool {
        process_name(pid).is_some_and(|name| CLIENTS.contains(&&*name))
            && working_folder(pid).is_some_and(|folder| self.holds(&folder))
    }

    /// A process in the client's own list: the one in the folder that this process uses.
    fn is_listed(&self, pid: u32) -> bool {
        let of_session = |client: ClientSession| {
            client.is_alive()
                && (self.sessions.contains(&client.session_id) || self.holds(&client.cwd))
        };
        let folder = |name| {
            process_variable(pid, name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let homes = [folder("HOME"), owner_home(pid)]
            .into_iter()
            .flatten()
            .map(|home| home.join(".claude"));
        let homes = homes
            .chain(folder("CLAUDE_CONFIG_DIR"))
            .chain(self.client_home.clone());
        homes
            .into_iter()
            .any(|home| client_sessions::read_for_process(&home, pid).is_some_and(of_session))
    }

    /// `folder` in the project, compared without links.
    fn holds(&self, folder: &Path) -> bool {
        let real: Option<PathBuf> = self.root.canonicalize().ok();
        folder.starts_with(&self.root) || real.is_some_and(|root| folder.starts_with(root))
    }
}

/// Start mark of a process above this one; `None` for any other, or on a system without such marks.
pub fn find_ancestor(pid: u32) -> Option<ClientProcess> {
    let start_mark = start_mark(pid).filter(|_| ancestors().contains(&pid))?;
    Some(ClientProcess { pid, start_mark })
}
