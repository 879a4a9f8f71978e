//! Snapshots of a project at the start of a run. Each session has a folder beside the key, with git
//! objects and `trees.json`, the list of their trees.
//!
//! The session's sealed entry holds the digest of the list. The list is removed once the task is
//! proved, the folder when the next run begins.

use std::collections::BTreeMap;
use std::path::Path;

use omo_core::session::id::SessionId;
use omo_core::timestamp::Timestamp;

use crate::files::folder::{FolderError, GuardedFolder};
use crate::sealed_json;

const PARTS: [&str; 2] = ["omo", "recorded"];
const LIST: &str = "trees.json";
const MAX_BYTES: u64 = 16 * 1024 * 1024;
const LONGEST_SECONDS: i64 = 30 * 24 * 60 * 60;

/// Tree id of each work tree, by its path from the project's top (empty for the project itself).
pub type RecordedTrees = BTreeMap<String, String>;

pub fn folder_parts(id: &SessionId) -> [String; 3] {
    [PARTS[0].to_owned(), PARTS[1].to_owned(), name(id)]
}

/// Begins an empty snapshot, and removes those of proved tasks and those older than a month.
///
/// # Errors
///
/// The user's own folder cannot be written.
pub fn begin(state_home: &Path, id: &SessionId, now: Timestamp) -> Result<(), FolderError> {
    let sessions = GuardedFolder::create_user_part(state_home, &PARTS)?;
    sessions.remove_folder(&name(id))?;
    for other in sessions.file_names("session-")? {
        let list = GuardedFolder::open_user_part(state_home, &[PARTS[0], PARTS[1], &other])
            .ok()
            .flatten();
        let written = list.and_then(|folder| folder.written_at(LIST));
        if written.is_none_or(|at| now.as_millis() / 1_000 - at > LONGEST_SECONDS) {
            let _ = sessions.remove_folder(&other);
        }
    }
    // Without a list, another run would take the folder for that of a proved task.
    open(state_home, id)?.replace(LIST, b"")
}

/// Writes the list of a run, and returns its digest.
///
/// # Errors
///
/// The user's own folder cannot be written.
pub fn keep(
    state_home: &Path,
    id: &SessionId,
    trees: &RecordedTrees,
) -> Result<String, FolderError> {
    sealed_json::keep(&open(state_home, id)?, LIST, trees)
}

/// Removes a snapshot whose list was never written; its objects may be incomplete.
pub fn abandon(state_home: &Path, id: &SessionId) {
    let sessions = GuardedFolder::open_user_part(state_home, &PARTS)
        .ok()
        .flatten();
    let Some((sessions, folder)) = sessions.zip(open(state_home, id).ok()) else {
        return;
    };
    if folder
        .read(LIST, MAX_BYTES)
        .is_ok_and(|list| list.is_none_or(|list| list.is_empty()))
    {
        let _ = sessions.remove_folder(&name(id));
    }
}

/// The list of a session, if it still has this digest.
pub fn read(state_home: &Path, id: &SessionId, digest: &str) -> Option<RecordedTrees> {
    let folder =
        GuardedFolder::open_user_part(state_home, &[PARTS[0], PARTS[1], &name(id)]).ok()??;
    sealed_json::read_kept(&folder, LIST, digest, MAX_BYTES)
}

/// Removes the list of a proved task; a later [`begin`] removes its objects.
pub(crate) fn forget(state_home: Option<&Path>, id: &SessionId) {
    let Some(home) = state_home else { return };
    let parts = [PARTS[0], PARTS[1], &name(id)];
    if let Ok(Some(folder)) = GuardedFolder::open_user_part(home, &parts) {
        let _ = folder.remove(LIST);
    }
}

fn open(state_home: &Path, id: &SessionId) -> Result<GuardedFolder, FolderError> {
    GuardedFolder::create_user_part(state_home, &[PARTS[0], PARTS[1], &name(id)])
}

/// Folder name of a session, whose prefix keeps it from being a device on Windows, such as `nul`.
fn name(id: &SessionId) -> String {
    format!("session-{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_recorded_is_kept_until_its_task_is_proved_or_a_month_is_over() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path();
        let (id, other) = (
            SessionId::parse("a").unwrap(),
            SessionId::parse("b").unwrap(),
        );
        let now = crate::env::now();
        let trees = RecordedTrees::from([(String::new(), "x".to_owned())]);
        begin(home, &id, now).unwrap();
        let kept = keep(home, &id, &trees).unwrap();
        begin(home, &other, now).unwrap();
        abandon(home, &id);
        abandon(home, &other);
        assert!(!home.join("omo/recorded/session-b").exists());
        assert_eq!(read(home, &id, &kept), Some(trees.clone()));
        assert_eq!(
            (read(home, &id, "x"), read(home, &other, &kept)),
            (None, None)
        );
        forget(Some(home), &id);
        assert_eq!(read(home, &id, &kept), None);
        let is_there = || home.join("omo/recorded/session-a").exists();
        assert!(is_there());
        begin(home, &other, now).unwrap();
        assert!(!is_there());
        begin(home, &id, now).unwrap();
        let later = Timestamp::from_millis(now.as_millis() + (LONGEST_SECONDS + 60) * 1_000);
        begin(home, &other, later).unwrap();
        assert!(!is_there());
    }
}
