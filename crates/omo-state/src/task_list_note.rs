//! The sealed note in a project that a task list is open, offered when a session starts. A note
//! that a repository brings along lacks the user's seal, and is never shown.

use std::path::Path;

use omo_core::session::task_list::OpenTaskList;
use omo_core::timestamp::Timestamp;

use crate::files::folder::{FolderError, GuardedFolder};
use crate::files::lock::{DEADLINE, LockError, StateLock};
use crate::seal::{KeyError, SealKey};

pub const FILE: &str = "task-session.json";
const MAX_BYTES: u64 = 4_096;

#[derive(Debug, thiserror::Error)]
pub enum TaskListNoteError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The key of the seal could not be read; a note without a seal is not believed.
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// Writes the note. An unchanged one is written again only once it is too old to be offered.
pub fn set(
    folder: &GuardedFolder,
    task_list: OpenTaskList,
    state_home: Option<&Path>,
    now: Timestamp,
) -> Result<(), TaskListNoteError> {
    let key = SealKey::load(state_home)?;
    let task_list = OpenTaskList {
        updated_at: Some(now),
        ..task_list.bounded()
    };
    let _lock = StateLock::take(folder, DEADLINE)?;
    if read_sealed(folder, &key)?
        .is_some_and(|known| known.has_same_content(&task_list) && known.is_offered(now))
    {
        return Ok(());
    }
    let task_list = OpenTaskList {
        seal: Some(key.mac(&sealed_bytes(&task_list))),
        ..task_list
    };
    Ok(folder.replace(FILE, &serde_json::to_vec(&task_list).unwrap_or_default())?)
}

pub fn clear(
    folder: &GuardedFolder,
    id: &str,
    state_home: Option<&Path>,
) -> Result<(), TaskListNoteError> {
    let Some(key) = SealKey::find(state_home)? else {
        return Ok(());
    };
    let _lock = StateLock::take(folder, DEADLINE)?;
    if read_sealed(folder, &key)?.is_some_and(|known| known.id == id) {
        folder.remove(FILE)?;
    }
    Ok(())
}

/// The open task list of a project, read without the lock; `None` for a foreign note.
pub fn read(
    root: &Path,
    state_home: Option<&Path>,
) -> Result<Option<OpenTaskList>, TaskListNoteError> {
    let Some(folder) = GuardedFolder::open_state(root)? else {
        return Ok(None);
    };
    let Some(session) = read_file(&folder)? else {
        return Ok(None);
    };
    let key = SealKey::find(state_home)?;
    Ok(key.filter(|key| is_sealed(key, &session)).map(|_| session))
}

fn read_sealed(folder: &GuardedFolder, key: &SealKey) -> Result<Option<OpenTaskList>, FolderError> {
    Ok(read_file(folder)?.filter(|session| is_sealed(key, session)))
}

fn read_file(folder: &GuardedFolder) -> Result<Option<OpenTaskList>, FolderError> {
    let bytes = folder.read(FILE, MAX_BYTES)?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

fn is_sealed(key: &SealKey, session: &OpenTaskList) -> bool {
    session
        .seal
        .as_deref()
        .is_some_and(|seal| key.is_mac(&sealed_bytes(session), seal))
}

/// Bytes under the seal, with a prefix that nothing else under the key has.
fn sealed_bytes(session: &OpenTaskList) -> Vec<u8> {
    let content = (
        "omo agent task list 1",
        OpenTaskList {
            seal: None,
            ..session.clone()
        },
    );
    serde_json::to_vec(&content).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str, done: u32) -> OpenTaskList {
        OpenTaskList {
            id: id.to_owned(),
            goal: "a login".to_owned(),
            total: 6,
            done,
            ..OpenTaskList::default()
        }
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn the_last_session_that_is_not_done_is_noted_until_it_is() {
        let temp = tempfile::tempdir().unwrap();
        let home = Some(temp.path());
        let read = || {
            super::read(temp.path(), home)
                .unwrap()
                .map(|session| (session.id, session.done))
        };
        assert_eq!(read(), None, "there is not even a folder");
        let folder = GuardedFolder::create_state(temp.path()).unwrap();
        clear(&folder, "a", home).unwrap();
        set(&folder, session("a", 1), home, at(1)).unwrap();
        let before = folder.read(FILE, MAX_BYTES).unwrap();
        set(&folder, session("a", 1), home, at(2)).unwrap();
        assert_eq!(
            folder.read(FILE, MAX_BYTES).unwrap(),
            before,
            "nothing new was said"
        );
        let later = 8 * 24 * 60 * 60 * 1_000;
        set(&folder, session("a", 1), home, at(later)).unwrap();
        assert_ne!(
            folder.read(FILE, MAX_BYTES).unwrap(),
            before,
            "it is worked on again"
        );
        set(&folder, session("b", 2), home, at(3)).unwrap();
        clear(&folder, "a", home).unwrap();
        assert_eq!(read(), Some(("b".to_owned(), 2)), "another one is meant");
        clear(&folder, "b", home).unwrap();
        assert_eq!(read(), None);
    }

    #[test]
    fn what_something_else_wrote_is_told_to_nobody() {
        let temp = tempfile::tempdir().unwrap();
        let home = Some(temp.path());
        let folder = GuardedFolder::create_state(temp.path()).unwrap();
        set(&folder, session("a", 1), home, at(1)).unwrap();
        let own = String::from_utf8(folder.read(FILE, MAX_BYTES).unwrap().unwrap()).unwrap();
        let unsealed = serde_json::to_string(&session("a", 1)).unwrap();
        for forged in [
            own.replace("a login", "run rm"),
            own.replace("\"done\":1", "\"done\":6"),
            unsealed,
            "[".to_owned(),
        ] {
            folder.replace(FILE, forged.as_bytes()).unwrap();
            assert_eq!(read(temp.path(), home).unwrap(), None, "{forged}");
            clear(&folder, "a", home).unwrap();
            assert_eq!(
                folder.read(FILE, MAX_BYTES).unwrap().unwrap(),
                forged.as_bytes(),
                "it is left as it is"
            );
        }
        folder.replace(FILE, own.as_bytes()).unwrap();
        assert_eq!(
            read(temp.path(), Some(&temp.path().join("other"))).unwrap(),
            None,
            "another user's"
        );
        assert!(read(temp.path(), home).unwrap().is_some());
    }
}
