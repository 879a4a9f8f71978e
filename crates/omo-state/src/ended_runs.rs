//! What is kept of each run that has ended: how it ended, the entry that says so with its seal, and the end of what each
//! of its checks printed. One JSON file for each run, and beside it what the work that was proved changed; for a month.
//!
//! In `claude -p` nothing that a hook says is printed: these files and `omo verify --last` are how a script learns of
//! the end.

use std::collections::BTreeMap;
use std::path::Path;

use omo_core::messages::run_end;
use omo_core::session::id::SessionId;
use omo_core::session::{Session, VerdictKind};
use omo_core::stop::allowed_blocks;
use omo_core::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

use crate::files::folder::{FolderError, GuardedFolder};
use crate::seal::SealKey;

/// The folder in the state folder of a project.
pub const FOLDER: &str = "ended";
/// For so long an ended run is kept, in milliseconds: a month.
const KEPT_MILLIS: i64 = 31 * 24 * 60 * 60 * 1_000;
/// So many ended runs of a project are kept.
const MAX_RUNS: usize = 100;
/// So much is kept of what all checks of one run printed, in bytes.
const MAX_LOG_BYTES: u64 = 128 * 1024;
/// So much is kept of what the work changed, in bytes.
const MAX_DIFFERENCE_BYTES: usize = 256 * 1024;
/// A larger file is none that omo wrote.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// How the names of the files end.
const RECORD: &str = "json";
const DIFFERENCE: &str = "diff";

/// A run that has ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndedRun {
    /// The session.
    pub session: String,
    /// When it ended.
    pub ended_at: Timestamp,
    /// How.
    pub verdict: VerdictKind,
    /// The work was proved done.
    pub proved: bool,
    /// What its user was told.
    pub said: String,
    /// The entry of the session as it was then, with its seal.
    pub entry: Session,
    /// The end of what each check printed last, by the name of the check.
    pub logs: BTreeMap<String, String>,
}

impl EndedRun {
    /// Whether omo itself wrote the entry, as far as its seal tells.
    pub fn is_own(&self, state_home: Option<&Path>) -> bool {
        let key = SealKey::find(state_home).ok().flatten();
        let id = SessionId::parse(&self.session).ok();
        key.zip(id).is_some_and(|(key, id)| key.holds(&id, &self.entry))
    }
}

/// Keeps a run that has just ended, and forgets those that are too old or too many.
///
/// # Errors
///
/// Where it cannot be written. The run has ended all the same.
pub(crate) fn keep(folder: &GuardedFolder, id: &SessionId, session: &Session) -> Result<(), FolderError> {
    let (Some(verdict), Some(said)) = (&session.verdict, run_end::run_ended(session, allowed_blocks(session, None)))
    else {
        return Ok(());
    };
    let run = EndedRun {
        session: id.to_string(),
        ended_at: verdict.at,
        verdict: verdict.kind,
        proved: verdict.kind == VerdictKind::Verified,
        said,
        entry: session.clone(),
        logs: read_logs(folder, session),
    };
    let ended = match folder.open_folder(FOLDER)? {
        Some(ended) => ended,
        None => folder.empty_and_open(FOLDER)?,
    };
    let text = serde_json::to_string_pretty(&run).unwrap_or_default();
    let name = file_name(id.as_str(), verdict.at, RECORD);
    ended.remove(&name)?;
    // No temporary file: no later write would have its name, and clear it. Half a file is passed over by its readers.
    ended.append(&name, text.as_bytes(), u64::MAX)?;
    forget_old(&ended, verdict.at)
}

/// Keeps what the work changed beside a run that has just ended.
///
/// # Errors
///
/// Where it cannot be written, or the run was not kept.
pub fn keep_difference(
    folder: &GuardedFolder,
    id: &SessionId,
    ended_at: Timestamp,
    difference: &str,
) -> Result<(), FolderError> {
    let Some(ended) = folder.open_folder(FOLDER)? else { return Ok(()) };
    let mut text = difference.as_bytes().to_vec();
    if text.len() > MAX_DIFFERENCE_BYTES {
        text.truncate(MAX_DIFFERENCE_BYTES);
        text.extend_from_slice(b"\n[omo] The rest was not kept.\n");
    }
    let name = file_name(id.as_str(), ended_at, DIFFERENCE);
    ended.remove(&name)?;
    ended.append(&name, &text, u64::MAX)
}

/// What the work of an ended run changed, as a reviewer reads it; `None` where that was not kept.
pub fn read_difference(folder: &GuardedFolder, run: &EndedRun) -> Option<String> {
    let name = file_name(&run.session, run.ended_at, DIFFERENCE);
    let bytes = folder.open_folder(FOLDER).ok()??.read(&name, MAX_FILE_BYTES).ok()??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The names sort as the runs ended.
fn file_name(session: &str, ended_at: Timestamp, extension: &str) -> String {
    format!("{}-{session}.{extension}", ended_at.to_file_name())
}

fn read_logs(folder: &GuardedFolder, session: &Session) -> BTreeMap<String, String> {
    let share = MAX_LOG_BYTES / session.checks.len().max(1) as u64;
    let log = |name: &str| {
        let bytes = folder.read_end(&format!("check-{name}.log"), share).ok()??;
        Some((name.to_owned(), String::from_utf8_lossy(&bytes).into_owned()))
    };
    session.checks.iter().filter(|check| check.last.is_some()).filter_map(|check| log(&check.name)).collect()
}

fn forget_old(ended: &GuardedFolder, now: Timestamp) -> Result<(), FolderError> {
    let names = run_files(ended)?;
    let oldest = Timestamp::from_millis(now.as_millis() - KEPT_MILLIS).to_file_name();
    let too_many = names.len().saturating_sub(MAX_RUNS);
    for (index, name) in names.iter().enumerate() {
        if index < too_many || *name < oldest {
            ended.remove(name)?;
            ended.remove(&format!("{}{DIFFERENCE}", name.trim_end_matches(RECORD)))?;
        }
    }
    Ok(())
}

fn run_files(ended: &GuardedFolder) -> Result<Vec<String>, FolderError> {
    let mut names = ended.file_names("")?;
    names.retain(|name| Path::new(name).extension().is_some_and(|extension| extension == RECORD));
    Ok(names)
}

/// The runs of a project that have ended, the last one first. What cannot be read is passed over.
///
/// # Errors
///
/// Where the folder cannot be listed.
pub fn read_all(folder: &GuardedFolder) -> Result<impl Iterator<Item = EndedRun>, FolderError> {
    let ended = folder.open_folder(FOLDER)?;
    let names = ended.as_ref().map(run_files).transpose()?.unwrap_or_default();
    Ok(names.into_iter().rev().filter_map(move |name| {
        let bytes = ended.as_ref()?.read(&name, MAX_FILE_BYTES).ok()??;
        serde_json::from_slice(&bytes).ok()
    }))
}

#[cfg(test)]
mod tests {
    use omo_core::check::session_check::{Check, CheckOrigin, CheckRecord};

    use super::*;

    fn ended_at(millis: i64) -> Session {
        let check = Check::new(Some("t"), "sh test.sh", CheckOrigin::User).unwrap();
        let last = Some(CheckRecord { last_line: "expected 5, got -1".to_owned(), ..CheckRecord::default() });
        let mut session = Session { checks: vec![Check { last, ..check }], ..Session::default() };
        session.ulw.enabled = true;
        session.end_run(VerdictKind::Released, "3 failed verifications".to_owned(), Timestamp::from_millis(millis));
        session
    }

    #[test]
    fn an_ended_run_is_kept_with_its_logs_for_a_month() {
        let temp = tempfile::tempdir().unwrap();
        let folder = GuardedFolder::create_state(temp.path()).unwrap();
        let id = SessionId::parse("abc").unwrap();
        folder.replace("check-t.log", b"first\nexpected 5, got -1\n").unwrap();
        assert_eq!(read_all(&folder).unwrap().count(), 0);
        keep(&folder, &id, &ended_at(1_000)).unwrap();
        keep(&folder, &id, &ended_at(2_000)).unwrap();
        let runs: Vec<EndedRun> = read_all(&folder).unwrap().collect();
        assert_eq!(runs.iter().map(|run| run.ended_at.as_millis()).collect::<Vec<_>>(), [2_000, 1_000]);
        assert_eq!(runs[0].logs["t"], "first\nexpected 5, got -1\n");
        assert!(
            runs[0].said.starts_with("[omo] NOT PROVED: sh test.sh is red (expected 5, got -1)\n"),
            "{}",
            runs[0].said
        );
        assert!(!runs[0].proved && !runs[0].is_own(None));
        assert_eq!(read_difference(&folder, &runs[1]), None);
        let of = |millis, difference: &str| {
            keep_difference(&folder, &id, Timestamp::from_millis(millis), difference).unwrap();
        };
        of(1_000, "M a.rs\n");
        of(2_000, &"é".repeat(MAX_DIFFERENCE_BYTES));
        assert_eq!(read_difference(&folder, &runs[1]).as_deref(), Some("M a.rs\n"));
        let long = read_difference(&folder, &runs[0]).unwrap();
        assert!(long.len() < MAX_DIFFERENCE_BYTES + 100 && long.ends_with("[omo] The rest was not kept.\n"));
        std::fs::write(folder.path().join(FOLDER).join("1969.json"), "{").unwrap();
        keep(&folder, &id, &ended_at(2_000 + KEPT_MILLIS)).unwrap();
        assert_eq!(read_all(&folder).unwrap().count(), 2, "the one of the start is too old");
        assert_eq!(read_difference(&folder, &runs[1]), None);
        for number in 0..=i64::try_from(MAX_RUNS).unwrap() {
            keep(&folder, &id, &ended_at(3_000 + KEPT_MILLIS + number)).unwrap();
        }
        assert_eq!(read_all(&folder).unwrap().count(), MAX_RUNS);
    }
}
