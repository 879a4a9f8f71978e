//! Session records of the client: a file `sessions/PID.json` in its folder for each of its processes (measured with
//! client 2.1.328).

use std::path::{Path, PathBuf};

use omo_core::session::id::SessionId;
use omo_process::process_identity::{is_alive, start_mark};
use omo_state::files::regular_file::{self, Links};
use serde::Deserialize;

const MAX_BYTES: u64 = 64 * 1024;
/// Maximum number of records, more than any user has client processes.
const MAX_FILES: usize = 1_000;

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ClientSession {
    pub pid: u32,
    pub session_id: String,
    pub cwd: PathBuf,
    /// Start mark of the process, which tells it from a later one with the same id.
    pub proc_start: Option<String>,
    /// Milliseconds since 1970.
    pub started_at: u64,
}

impl ClientSession {
    /// `true` while the recorded process lives; a later process with its id does not count.
    pub(crate) fn is_alive(&self) -> bool {
        let same = match (&self.proc_start, start_mark(self.pid)) {
            (Some(listed), Some(mark)) => *listed == mark,
            _ => true,
        };
        same && is_alive(self.pid) == Some(true)
    }
}

/// Sessions of this user's live clients, each with the folder in which its client was started.
pub fn served_sessions(client_home: &Path) -> Vec<(SessionId, PathBuf)> {
    let served =
        read_all(client_home).filter(|session| session.cwd.is_absolute() && session.is_alive());
    served
        .filter_map(|session| Some((SessionId::parse(&session.session_id).ok()?, session.cwd)))
        .collect()
}

pub(crate) fn read_for_process(client_home: &Path, pid: u32) -> Option<ClientSession> {
    read(&client_home.join("sessions").join(format!("{pid}.json")))
        .filter(|session| session.pid == pid)
}

/// Records of client processes with this session, also of ended ones.
pub(crate) fn sessions_serving(client_home: &Path, session_id: &str) -> Vec<ClientSession> {
    read_all(client_home)
        .filter(|session| session.session_id == session_id)
        .collect()
}

fn read_all(client_home: &Path) -> impl Iterator<Item = ClientSession> {
    let files = std::fs::read_dir(client_home.join("sessions"))
        .into_iter()
        .flatten()
        .flatten();
    let paths = files
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.take(MAX_FILES).filter_map(|path| read(&path))
}

fn read(path: &Path) -> Option<ClientSession> {
    let bytes = regular_file::read(path, MAX_BYTES, Links::Followed).ok()??;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_wrote_is_read_and_anything_else_is_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(temp.path().join("sessions").join(name), text).unwrap();
        };
        assert_eq!(sessions_serving(temp.path(), "s"), []);
        std::fs::create_dir(temp.path().join("sessions")).unwrap();
        write(
            "7.json",
            r#"{"pid":7,"sessionId":"s","cwd":"/p","procStart":"12","kind":"interactive"}"#,
        );
        write("8.json", r#"{"pid":8,"sessionId":"t","cwd":"/p"}"#);
        write("9.json", "{");
        write("7.0f.key", r#"{"pid":7,"sessionId":"s"}"#);
        let known = read_for_process(temp.path(), 7).unwrap();
        assert_eq!(
            (known.cwd, known.proc_start.as_deref()),
            (PathBuf::from("/p"), Some("12"))
        );
        assert_eq!(
            (
                read_for_process(temp.path(), 9),
                read_for_process(temp.path(), 10)
            ),
            (None, None)
        );
        let serving: Vec<u32> = sessions_serving(temp.path(), "s")
            .into_iter()
            .map(|session| session.pid)
            .collect();
        assert_eq!(serving, [7]);
    }
    #[test]
    fn a_session_is_served_while_its_client_is_alive() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join("sessions")).unwrap();
        let own = std::process::id();
        let cwd = serde_json::to_string(temp.path()).unwrap();
        let write = |name: &str, text: String| {
            std::fs::write(temp.path().join("sessions").join(name), text).unwrap();
        };
        write(
            "1.json",
            format!(r#"{{"pid":{own},"sessionId":"s","cwd":{cwd}}}"#),
        );
        write(
            "2.json",
            format!(
                r#"{{"pid":{own},"sessionId":"t","cwd":{cwd},"procStart":"of an earlier one"}}"#
            ),
        );
        write(
            "3.json",
            format!(r#"{{"pid":{own},"sessionId":"../x","cwd":{cwd}}}"#),
        );
        write(
            "4.json",
            format!(r#"{{"pid":{own},"sessionId":"u","cwd":"relative"}}"#),
        );
        write(
            "5.json",
            format!(r#"{{"pid":{},"sessionId":"v","cwd":{cwd}}}"#, u32::MAX),
        );
        let served = served_sessions(temp.path());
        let known = served.iter().map(|(id, _)| id.as_str());
        // Without start marks, `t` cannot be told from a live session.
        assert_eq!(known.filter(|id| *id != "t").collect::<Vec<_>>(), ["s"]);
        assert!(start_mark(own).is_none() || served.len() == 1, "{served:?}");
    }
}
