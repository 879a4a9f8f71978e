//! Facts of a project for `omo doctor`: state folder, `git`, other loops, hook errors, and `omo.toml`.

use std::path::Path;

use omo_checks::repository_config;
use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;
use omo_git::folder_status;
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::{DEADLINE, StateLock};
use omo_state::git_worktree::GitWorktree;
use omo_state::search_path::SearchPath;
use omo_state::{hook_error_log, state};

use super::super::facts::{
    GitFacts, RecentErrors, RepositoryChecks, SessionCounts, StateFolder, StateFolderFacts,
};
use crate::platform;

/// Maximum age of hook errors, in milliseconds.
const RECENT_MILLIS: i64 = 7 * 24 * 60 * 60 * 1_000;
const LOCK: &str = "runtime.lock";

pub(super) fn gather_state(root: Option<&Path>) -> (StateFolderFacts, Vec<String>) {
    let folder = match root.map(GuardedFolder::open_state).transpose() {
        Ok(folder) => folder.flatten(),
        Err(error) => return (StateFolderFacts::Refused(error.to_string()), Vec::new()),
    };
    let Some(folder) = folder else {
        return (StateFolderFacts::Absent, Vec::new());
    };
    let path = folder.path().to_owned();
    let ours = [path.clone(), path.join(state::FILE)];
    let mut found = StateFolder {
        open_to_others: ours
            .into_iter()
            .filter(|part| platform::is_open_to_others(part))
            .collect(),
        corrupt: folder
            .file_names("runtime.local.json.corrupt-")
            .unwrap_or_default(),
        lock: lock_problem(&folder),
        path,
        ..StateFolder::default()
    };
    let mut armed = Vec::new();
    match state::peek_all(&folder) {
        Err(error) => found.broken = Some(sanitize(&error.to_string(), 300)),
        Ok(entries) => {
            let on = entries
                .sessions
                .iter()
                .filter(|(_, session)| session.is_armed());
            armed.extend(on.map(|(id, _)| id.as_str().to_owned()));
            found.sessions = SessionCounts {
                all: entries.sessions.len() + entries.unreadable.len(),
                armed: armed.len(),
            };
            let unreadable = entries.unreadable.iter();
            found.broken_entries = unreadable
                .map(|(id, error)| sanitize(&format!("{id}: {error}"), 300))
                .collect();
        }
    }
    (StateFolderFacts::Open(found), armed)
}

/// Reason why the lock cannot be taken; `None` without a lock file, which is not created.
fn lock_problem(folder: &GuardedFolder) -> Option<String> {
    folder
        .file_names(LOCK)
        .is_ok_and(|names| !names.is_empty())
        .then(|| StateLock::take(folder, DEADLINE).err())?
        .map(|error| error.to_string())
}

pub(super) fn gather_git(root: Option<&Path>, state: &StateFolderFacts) -> GitFacts {
    let is_there = SearchPath::from_process().find("git").is_some();
    let in_work_tree = root.and_then(GitWorktree::find).is_some();
    let tracked = root
        .filter(|_| is_there && in_work_tree)
        .and_then(|root| folder_status::read_folder_status(root, ".sisyphus/cc-omo"));
    // Without a state folder nothing has to be ignored, but files of an earlier one may be tracked.
    let tracked =
        tracked.filter(|tracked| tracked.files > 0 || matches!(state, StateFolderFacts::Open(_)));
    GitFacts {
        is_there,
        in_work_tree,
        tracked,
    }
}

pub(super) fn other_loop_traces(root: Option<&Path>) -> Vec<String> {
    const TRACES: [&str; 3] = [
        ".claude/ralph-loop.local.md",
        ".sisyphus/ralph-loop.local.md",
        ".omc/state",
    ];
    let Some(root) = root else { return Vec::new() };
    TRACES
        .iter()
        .filter(|trace| root.join(trace).symlink_metadata().is_ok())
        .map(|trace| (*trace).to_owned())
        .collect()
}

pub(super) fn hook_errors(root: Option<&Path>, now: Timestamp) -> Option<RecentErrors> {
    let folder = GuardedFolder::open_state(root?).ok()??;
    let (_, bytes) = folder
        .read_from(hook_error_log::FILE, 0, hook_error_log::ROTATE_AT * 2)
        .ok()??;
    let text = String::from_utf8_lossy(&bytes);
    let recent: Vec<&str> = text
        .lines()
        .filter(|line| {
            let at = line.split(' ').next().and_then(Timestamp::parse);
            at.and_then(|at| now.millis_since(at))
                .is_some_and(|millis| millis < RECENT_MILLIS)
        })
        .collect();
    recent.last().map(|last| RecentErrors {
        count: recent.len(),
        last: sanitize(last, 300),
    })
}

pub(super) fn gather_repository_checks(
    root: Option<&Path>,
    state_home: Option<&Path>,
) -> RepositoryChecks {
    let Some(found) = root.and_then(repository_config::RepositoryConfig::read) else {
        return RepositoryChecks::Absent;
    };
    if let Some(problem) = found.problems.first() {
        return RepositoryChecks::Broken(problem.to_string());
    }
    if found.checks.is_empty() {
        return RepositoryChecks::Absent;
    }
    // Without a key, `is_approved` would create one.
    let has_key =
        state_home.is_some_and(|home| home.join("omo").join("key").symlink_metadata().is_ok());
    if has_key && found.is_approved(state_home) {
        RepositoryChecks::Approved(found.checks.len())
    } else {
        RepositoryChecks::NotApproved(found.checks.len())
    }
}
