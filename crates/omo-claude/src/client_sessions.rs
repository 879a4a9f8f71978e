//! What the client itself writes down about its sessions: a file for each of its processes, named by the number of
//! that process, in `sessions` of its own folder. Measured on 2.1.328; where there is none, nothing is known.

use std::path::{Path, PathBuf};

use omo_state::files::regular_file::{self, Links};
use serde::Deserialize;

/// A larger file is none of the client's.
const MAX_BYTES: u64 = 64 * 1024;
/// More processes of the client than any user has.
const MAX_FILES: usize = 1_000;

/// A process of the client, as it described itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ClientSession {
    /// The number of the process.
    pub pid: u32,
    /// The session that it serves.
    pub session_id: String,
    /// The folder that it was started in.
    pub cwd: PathBuf,
    /// What tells the process from a later one with the same number.
    pub proc_start: Option<String>,
    /// When it began, in milliseconds since 1970.
    pub started_at: u64,
}

/// What the client wrote down about one of its processes.
pub(crate) fn read_for_process(client_home: &Path, pid: u32) -> Option<ClientSession> {
    read(&client_home.join("sessions").join(format!("{pid}.json"))).filter(|session| session.pid == pid)
}

/// The processes that serve a session, as far as the client wrote them down. Some of them may have ended.
pub(crate) fn sessions_serving(client_home: &Path, session_id: &str) -> Vec<ClientSession> {
    let files = std::fs::read_dir(client_home.join("sessions")).into_iter().flatten().flatten();
    let paths = files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.take(MAX_FILES).filter_map(|path| read(&path)).filter(|session| session.session_id == session_id).collect()
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
        let write = |name: &str, text: &str| std::fs::write(temp.path().join("sessions").join(name), text).unwrap();
        assert_eq!(sessions_serving(temp.path(), "s"), []);
        std::fs::create_dir(temp.path().join("sessions")).unwrap();
        write("7.json", r#"{"pid":7,"sessionId":"s","cwd":"/p","procStart":"12","kind":"interactive"}"#);
        write("8.json", r#"{"pid":8,"sessionId":"t","cwd":"/p"}"#);
        write("9.json", "{");
        write("7.0f.key", r#"{"pid":7,"sessionId":"s"}"#);
        let known = read_for_process(temp.path(), 7).unwrap();
        assert_eq!((known.cwd, known.proc_start.as_deref()), (PathBuf::from("/p"), Some("12")));
        assert_eq!((read_for_process(temp.path(), 9), read_for_process(temp.path(), 10)), (None, None));
        let serving: Vec<u32> = sessions_serving(temp.path(), "s").into_iter().map(|session| session.pid).collect();
        assert_eq!(serving, [7]);
    }
}
