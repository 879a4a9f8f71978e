//! Where a prompt or a command came from, as far as processes and the client's own list of its sessions tell.
//!
//! On Linux the environment of every process above is read, and the client's list is asked whether one of them is a
//! client. On other systems only the second client of a session is seen.

use std::path::{Path, PathBuf};

use omo_store::client_session::{self, ClientSession};

use crate::alive::{is_alive, start_mark};
use crate::platform::{ancestors, folder_of, variable_of};

/// The project that something is asked for.
#[derive(Debug)]
pub struct AskedProject<'a> {
    /// Its top folder.
    pub root: &'a Path,
    /// The sessions that its state knows, and the one that is asked in.
    pub sessions: &'a [String],
    /// The folder of the client's own files.
    pub client_home: Option<&'a Path>,
}

impl AskedProject<'_> {
    /// Whether a session of this project stands above the client of this number, which has started this process: its
    /// shell started that client. Where the client is not above this process, nothing is known.
    pub fn stands_above_client(&self, client: u32) -> bool {
        let processes = ancestors();
        let from_client = processes.iter().skip_while(|pid| **pid != client);
        let mut above = from_client.copied();
        above.next().is_some_and(|client| self.is_named_by(client)) || above.any(|pid| self.is_of_session(pid))
    }

    /// Whether a session of this project stands above this process: its shell started it.
    pub fn stands_above_process(&self) -> bool {
        ancestors().into_iter().any(|pid| self.is_of_session(pid))
    }

    /// Whether another client serves a session, and did so before the one of this number: the second one may be the
    /// model's, and must not keep a person from what they type in the first.
    pub fn is_served_before(&self, session: &str, client: u32) -> bool {
        let Some(home) = self.client_home else { return false };
        let began = client_session::of_process(home, client).map(|client| client.started_at);
        let is_before = |other: &ClientSession| began.is_none_or(|began| other.started_at < began);
        client_session::serving(home, session)
            .iter()
            .any(|other| other.pid != client && is_before(other) && lives(other))
    }

    /// Whether a process is of a session of this project: it is its client, or its environment names the session.
    fn is_of_session(&self, pid: u32) -> bool {
        self.is_named_by(pid) || self.is_client(pid)
    }

    /// Whether the environment of a process names a session of this project.
    fn is_named_by(&self, pid: u32) -> bool {
        let Some(session) = variable_of(pid, "CLAUDE_CODE_SESSION_ID") else { return false };
        let client = || variable_of(pid, "CLAUDE_PID")?.parse().ok();
        self.sessions.contains(&session) || client().and_then(folder_of).is_some_and(|folder| self.holds(&folder))
    }

    /// Whether a process is a client of a session of this project.
    fn is_client(&self, pid: u32) -> bool {
        let listed = self.client_home.and_then(|home| client_session::of_process(home, pid));
        listed.is_some_and(|client| {
            lives(&client) && (self.sessions.contains(&client.session_id) || self.holds(&client.cwd))
        })
    }

    /// Whether a folder lies in the project, however the path of that is written.
    fn holds(&self, folder: &Path) -> bool {
        let real: Option<PathBuf> = self.root.canonicalize().ok();
        folder.starts_with(self.root) || real.is_some_and(|root| folder.starts_with(root))
    }
}

/// Whether a process of the client is there, and not a later one with its number.
fn lives(client: &ClientSession) -> bool {
    let same = match (&client.proc_start, start_mark(client.pid)) {
        (Some(listed), Some(mark)) => *listed == mark,
        _ => true,
    };
    same && is_alive(client.pid) == Some(true)
}
