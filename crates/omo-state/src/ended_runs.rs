//! Records of ended runs, one JSON file each (verdict, sealed entry, ends of outputs, decisions),
//! with the proved difference beside it. They are kept for a month.
//!
//! Pages show these texts below the verdict, so a seal covers the record and the digests of the
//! files beside it. It is written last: a kill before leaves less, but nothing that looks changed.
//!
//! `claude -p` prints nothing of a hook: scripts read these files, or `omo verify --last`.

use std::collections::BTreeMap;
use std::path::Path;

use omo_core::log_entry::LogEntry;
use omo_core::messages::run_end;
use omo_core::session::id::SessionId;
use omo_core::session::{Session, VerdictKind};
use omo_core::stop::allowed_blocks;
use omo_core::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

use crate::decision_log;
use crate::files::folder::{FolderError, GuardedFolder};
use crate::seal::{SealKey, UNSEALED_RECORDS, hex_digest, of_project};

pub const FOLDER: &str = "ended";
const KEPT_MILLIS: i64 = 31 * 24 * 60 * 60 * 1_000;
const MAX_RUNS: usize = 100;
/// Maximum bytes of all logs of a run's checks.
const MAX_LOG_BYTES: u64 = 128 * 1024;
const MAX_DIFFERENCE_BYTES: usize = 256 * 1024;
const MAX_DECISION_BYTES: usize = 256 * 1024;
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
const RECORD: &str = "json";
const DIFFERENCE: &str = "diff";
const FILES: &str = "files";
const MAX_FILES_BYTES: u64 = 32 * 1024 * 1024;

/// Record of a run, as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndedRun {
    pub session: String,
    pub ended_at: Timestamp,
    pub verdict: VerdictKind,
    pub proved: bool,
    pub said: String,
    pub entry: Session,
    /// The end of each check's output, by the check's name.
    pub logs: BTreeMap<String, String>,
    #[serde(default)]
    pub decisions: Vec<LogEntry>,
    #[serde(default)]
    pub difference: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
    #[serde(default)]
    pub seal: Option<String>,
}

/// Result of a look at a record's seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordSeal {
    Holds,
    Changed,
    /// Only the entry was sealed at the end of the run ([`crate::seal`], version 2).
    NotSealed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptDifference {
    Text(String),
    NotKept,
    Changed,
    /// Difference that was kept once, and is missing now.
    Gone,
}

impl EndedRun {
    /// `true` for an entry whose seal holds with the key in `state_home`.
    pub fn is_own(&self, state_home: Option<&Path>) -> bool {
        let key = SealKey::find(state_home).ok().flatten();
        key.is_some_and(|key| self.entry_version(&key).is_some())
    }

    /// The seal of the record; `Changed` for a foreign entry.
    pub fn record_seal(&self, key: &SealKey) -> RecordSeal {
        match (self.entry_version(key), &self.seal) {
            (Some(_), Some(seal)) if key.is_mac(&self.sealed_bytes(), seal) => RecordSeal::Holds,
            // The sealed entry tells that there was none: removing one does not help.
            (Some(UNSEALED_RECORDS), None) => RecordSeal::NotSealed,
            _ => RecordSeal::Changed,
        }
    }

    fn entry_version(&self, key: &SealKey) -> Option<u32> {
        key.version_held(&SessionId::parse(&self.session).ok()?, &self.entry)
    }

    fn sealed_bytes(&self) -> Vec<u8> {
        const PURPOSE: &str = "ended run";
        serde_json::to_vec(&(
            PURPOSE,
            1,
            Self {
                seal: None,
                ..self.clone()
            },
        ))
        .unwrap_or_default()
    }

    /// Name of the record's file, by the sealed parts of its entry.
    fn file_name(&self, extension: &str) -> Option<String> {
        Some(file_name(
            &self.session,
            self.entry.verdict.as_ref()?.at,
            extension,
        ))
    }
}

/// Writes the record of a run that has just ended, and removes old and surplus ones.
///
/// # Errors
///
/// A record that cannot be written; the run has ended all the same.
pub(crate) fn keep(
    folder: &GuardedFolder,
    id: &SessionId,
    session: &Session,
    state_home: Option<&Path>,
) -> Result<(), FolderError> {
    let (Some(verdict), Some(said)) = (
        &session.verdict,
        run_end::run_ended(session, allowed_blocks(session, None)),
    ) else {
        return Ok(());
    };
    let key = SealKey::find(state_home).ok().flatten();
    if key.is_none() && session.seal.is_some() {
        // A passing error of the key: a record without a seal would look changed.
        return Ok(());
    }
    let ended = match folder.open_folder(FOLDER)? {
        Some(ended) => ended,
        None => folder.empty_and_open(FOLDER)?,
    };
    let run = EndedRun {
        session: id.to_string(),
        ended_at: verdict.at,
        verdict: verdict.kind,
        proved: verdict.kind == VerdictKind::Verified,
        said,
        entry: session.clone(),
        logs: read_logs(folder, session),
        decisions: read_decisions(folder, id, session),
        difference: None,
        files: None,
        seal: None,
    };
    write_record(&ended, key.as_ref(), run)?;
    forget_old(&ended, verdict.at)
}

#[derive(Clone, Copy, Debug, Default)]
pub struct EndedWork<'a> {
    pub difference: Option<&'a str>,
    pub files: Option<&'a [u8]>,
}

/// Adds the work of a run that has just ended, and its last decision, which is logged later.
///
/// # Errors
///
/// Where it cannot be written; less of the run is kept then.
pub fn complete(
    folder: &GuardedFolder,
    id: &SessionId,
    ended_at: Timestamp,
    work: EndedWork,
    state_home: Option<&Path>,
) -> Result<(), FolderError> {
    let (Some(ended), Some(key)) = (
        folder.open_folder(FOLDER)?,
        SealKey::find(state_home).ok().flatten(),
    ) else {
        return Ok(());
    };
    let record = read_record(folder, &ended, &file_name(id.as_str(), ended_at, RECORD));
    let Some(mut run) = record.filter(|run| run.record_seal(&key) == RecordSeal::Holds) else {
        return Ok(());
    };
    run.decisions = read_decisions(folder, id, &run.entry);
    if let Some(difference) = work.difference {
        let name = file_name(id.as_str(), ended_at, DIFFERENCE);
        run.difference = Some(keep_beside(&ended, &name, &bounded_difference(difference))?);
    }
    if let Some(files) = work.files {
        let name = file_name(id.as_str(), ended_at, FILES);
        run.files = Some(keep_beside(&ended, &name, files)?);
    }
    write_record(&ended, Some(&key), run)
}

fn write_record(
    ended: &GuardedFolder,
    key: Option<&SealKey>,
    mut run: EndedRun,
) -> Result<(), FolderError> {
    run.seal = key.map(|key| key.mac(&run.sealed_bytes()));
    let text = serde_json::to_string_pretty(&run).unwrap_or_default();
    let name = file_name(&run.session, run.ended_at, RECORD);
    ended.remove(&name)?;
    // No temporary file, which no later write would clear; readers skip half a file.
    ended.append(&name, text.as_bytes(), u64::MAX)
}

fn read_decisions(folder: &GuardedFolder, id: &SessionId, session: &Session) -> Vec<LogEntry> {
    let began = session
        .ulw
        .started_at
        .or(session.verdict.as_ref().map(|verdict| verdict.at));
    began
        .and_then(|began| {
            decision_log::read_since(folder, id.as_str(), began, MAX_DECISION_BYTES).ok()
        })
        .unwrap_or_default()
}

fn bounded_difference(difference: &str) -> Vec<u8> {
    let mut text = difference.as_bytes().to_vec();
    if text.len() > MAX_DIFFERENCE_BYTES {
        text.truncate(MAX_DIFFERENCE_BYTES);
        text.extend_from_slice(b"\n[omo] The rest was not kept.\n");
    }
    text
}

fn keep_beside(ended: &GuardedFolder, name: &str, bytes: &[u8]) -> Result<String, FolderError> {
    ended.remove(name)?;
    ended.append(name, bytes, u64::MAX)?;
    Ok(hex_digest(bytes))
}

/// Contents of the verified files; `None` where they were not kept, or have changed.
pub fn read_files(
    folder: &GuardedFolder,
    run: &EndedRun,
    state_home: Option<&Path>,
) -> Option<Vec<u8>> {
    let key = SealKey::find(state_home).ok().flatten()?;
    if run.record_seal(&key) != RecordSeal::Holds {
        return None;
    }
    let bytes = folder
        .open_folder(FOLDER)
        .ok()??
        .read(&run.file_name(FILES)?, MAX_FILES_BYTES)
        .ok()??;
    (run.files.as_deref() == Some(&*hex_digest(&bytes))).then_some(bytes)
}

/// Difference of an ended run; that of an unsealed record is returned unchecked.
pub fn read_difference(folder: &GuardedFolder, run: &EndedRun, seal: RecordSeal) -> KeptDifference {
    match (seal, &run.difference) {
        (RecordSeal::Changed, _) => KeptDifference::Changed,
        (RecordSeal::Holds, None) => KeptDifference::NotKept,
        (RecordSeal::Holds, Some(digest)) => match read_difference_file(folder, run) {
            None => KeptDifference::Gone,
            Some(Ok(bytes)) if hex_digest(&bytes) == *digest => text_of(&bytes),
            Some(_) => KeptDifference::Changed,
        },
        (RecordSeal::NotSealed, _) => match read_difference_file(folder, run) {
            Some(Ok(bytes)) => text_of(&bytes),
            _ => KeptDifference::NotKept,
        },
    }
}

fn read_difference_file(
    folder: &GuardedFolder,
    run: &EndedRun,
) -> Option<Result<Vec<u8>, FolderError>> {
    let name = run.file_name(DIFFERENCE)?;
    folder
        .open_folder(FOLDER)
        .ok()??
        .read(&name, MAX_FILE_BYTES)
        .transpose()
}

fn text_of(bytes: &[u8]) -> KeptDifference {
    KeptDifference::Text(String::from_utf8_lossy(bytes).into_owned())
}

/// File name by which records sort in the order of their ends.
fn file_name(session: &str, ended_at: Timestamp, extension: &str) -> String {
    format!("{}-{session}.{extension}", ended_at.to_file_name())
}

fn read_logs(folder: &GuardedFolder, session: &Session) -> BTreeMap<String, String> {
    let share = MAX_LOG_BYTES / session.checks.len().max(1) as u64;
    session
        .checks
        .iter()
        .filter(|check| check.last.is_some())
        .filter_map(|check| {
            let log = format!("check-{}.log", check.name);
            let bytes = folder.read_end(&log, share).ok()??;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Some((check.name.clone(), text))
        })
        .collect()
}

fn forget_old(ended: &GuardedFolder, now: Timestamp) -> Result<(), FolderError> {
    let names = run_files(ended)?;
    let oldest = Timestamp::from_millis(now.as_millis() - KEPT_MILLIS).to_file_name();
    let too_many = names.len().saturating_sub(MAX_RUNS);
    for (index, name) in names.iter().enumerate() {
        if index < too_many || *name < oldest {
            ended.remove(name)?;
            for extension in [DIFFERENCE, FILES] {
                ended.remove(&format!("{}{extension}", name.trim_end_matches(RECORD)))?;
            }
        }
    }
    Ok(())
}

fn run_files(ended: &GuardedFolder) -> Result<Vec<String>, FolderError> {
    let mut names = ended.file_names("")?;
    names.retain(|name| {
        Path::new(name)
            .extension()
            .is_some_and(|extension| extension == RECORD)
    });
    Ok(names)
}

/// Ended runs of a project, newest first. Unreadable files are skipped, and so are those under
/// another name than omo gave them.
///
/// # Errors
///
/// A folder that cannot be listed.
pub fn read_all(folder: &GuardedFolder) -> Result<impl Iterator<Item = EndedRun>, FolderError> {
    let ended = folder.open_folder(FOLDER)?;
    let names = ended
        .as_ref()
        .map(run_files)
        .transpose()?
        .unwrap_or_default();
    Ok(names
        .into_iter()
        .rev()
        .filter_map(move |name| read_record(folder, ended.as_ref()?, &name)))
}

pub fn read(folder: &GuardedFolder, id: &SessionId, ended_at: Timestamp) -> Option<EndedRun> {
    read_record(
        folder,
        &folder.open_folder(FOLDER).ok()??,
        &file_name(id.as_str(), ended_at, RECORD),
    )
}

/// Record of this project with a seal on its entry; `None` for any other.
fn read_record(folder: &GuardedFolder, ended: &GuardedFolder, name: &str) -> Option<EndedRun> {
    let run: EndedRun = serde_json::from_slice(&ended.read(name, MAX_FILE_BYTES).ok()??).ok()?;
    let entry = of_project(folder.project(), run.entry.clone());
    (entry.seal.is_some() && run.file_name(RECORD).as_deref() == Some(name)).then_some(run)
}

#[cfg(test)]
mod tests {
    use omo_core::check::session_check::{Check, CheckOrigin, CheckRecord};

    use super::*;

    fn ended_at(millis: i64) -> Session {
        let check = Check::new(Some("t"), "sh test.sh", CheckOrigin::User).unwrap();
        let last = Some(CheckRecord {
            last_line: "expected 5, got -1".to_owned(),
            ..CheckRecord::default()
        });
        let mut session = Session {
            checks: vec![Check { last, ..check }],
            ..Session::default()
        };
        session.ulw.enabled = true;
        session.end_run(
            VerdictKind::Released,
            "3 failed claims".to_owned(),
            Timestamp::from_millis(millis),
        );
        session
    }

    struct Ground {
        home: tempfile::TempDir,
        folder: GuardedFolder,
        id: SessionId,
    }

    fn ground() -> Ground {
        let home = tempfile::tempdir().unwrap();
        let folder = GuardedFolder::create_state(home.path()).unwrap();
        Ground {
            home,
            folder,
            id: SessionId::parse("abc").unwrap(),
        }
    }

    impl Ground {
        fn keep(&self, millis: i64, difference: Option<&str>) -> EndedRun {
            let (key, mut session) = (
                SealKey::load(Some(self.home.path())).unwrap(),
                ended_at(millis),
            );
            session.seal = Some(key.seal_of(&self.id, &session));
            let home = Some(self.home.path());
            keep(&self.folder, &self.id, &session, home).unwrap();
            complete(
                &self.folder,
                &self.id,
                Timestamp::from_millis(millis),
                EndedWork {
                    difference,
                    files: None,
                },
                home,
            )
            .unwrap();
            read(&self.folder, &self.id, Timestamp::from_millis(millis)).unwrap()
        }

        fn seal(&self, run: &EndedRun) -> RecordSeal {
            run.record_seal(&SealKey::load(Some(self.home.path())).unwrap())
        }

        fn file(&self, run: &EndedRun, extension: &str) -> std::path::PathBuf {
            self.folder
                .path()
                .join(FOLDER)
                .join(run.file_name(extension).unwrap())
        }
    }

    #[test]
    fn an_ended_run_is_kept_with_its_logs_for_a_month() {
        let it = ground();
        it.folder
            .replace("check-t.log", b"first\nexpected 5, got -1\n")
            .unwrap();
        assert_eq!(read_all(&it.folder).unwrap().count(), 0);
        let old = it.keep(1_000, Some("M a.rs\n"));
        let last = it.keep(2_000, Some(&"é".repeat(MAX_DIFFERENCE_BYTES)));
        let runs: Vec<EndedRun> = read_all(&it.folder).unwrap().collect();
        assert_eq!(
            runs.iter()
                .map(|run| run.ended_at.as_millis())
                .collect::<Vec<_>>(),
            [2_000, 1_000]
        );
        assert_eq!(runs[0].logs["t"], "first\nexpected 5, got -1\n");
        assert!(
            runs[0]
                .said
                .starts_with("[omo] NOT PROVED: sh test.sh is red (expected 5, got -1)\n"),
            "{}",
            runs[0].said
        );
        assert!(!last.proved && last.is_own(Some(it.home.path())) && !last.is_own(None));
        let KeptDifference::Text(long) = read_difference(&it.folder, &last, it.seal(&last)) else {
            panic!("not kept")
        };
        assert!(
            long.len() < MAX_DIFFERENCE_BYTES + 100
                && long.ends_with("[omo] The rest was not kept.\n")
        );
        std::fs::write(it.folder.path().join(FOLDER).join("1969.json"), "{").unwrap();
        std::fs::copy(
            it.file(&old, RECORD),
            it.folder.path().join(FOLDER).join("2999-abc.json"),
        )
        .unwrap();
        assert_eq!(
            read_all(&it.folder).unwrap().count(),
            2,
            "a copy under another name is none"
        );
        std::fs::remove_file(it.folder.path().join(FOLDER).join("2999-abc.json")).unwrap();
        it.keep(2_000 + KEPT_MILLIS, None);
        assert_eq!(
            read_all(&it.folder).unwrap().count(),
            2,
            "the one of the start is too old"
        );
        assert!(!it.file(&old, DIFFERENCE).exists());
        for number in 0..=i64::try_from(MAX_RUNS).unwrap() {
            it.keep(3_000 + KEPT_MILLIS + number, None);
        }
        assert_eq!(read_all(&it.folder).unwrap().count(), MAX_RUNS);
    }

    #[test]
    fn what_is_kept_bears_a_seal_of_its_own() {
        let it = ground();
        it.folder.replace("check-t.log", b"expected 5\n").unwrap();
        let first = it.keep(1_000, None);
        assert_eq!(
            (it.seal(&first), first.decisions.len()),
            (RecordSeal::Holds, 0)
        );
        assert_eq!(
            read_difference(&it.folder, &first, it.seal(&first)),
            KeptDifference::NotKept
        );
        let line = |session: &str, at| LogEntry {
            at: Timestamp::from_millis(at),
            ..omo_core::log_entry::new_entry(
                session,
                &ended_at(at),
                "Stop",
                "end".to_owned(),
                "why",
                first.ended_at,
            )
        };
        for entry in [line("abc", 900), line("other", 1_000), line("abc", 1_000)] {
            decision_log::append(&it.folder, &entry).unwrap();
        }
        let run = it.keep(1_000, Some("M a.rs\n"));
        assert_eq!(
            run.decisions,
            [line("abc", 1_000)],
            "one that was before the run, or of another one, is none of it"
        );
        let text = |text: &str| KeptDifference::Text(text.to_owned());
        assert_eq!(
            read_difference(&it.folder, &run, it.seal(&run)),
            text("M a.rs\n")
        );
        let edits: [fn(&mut EndedRun); 7] = [
            |run| _ = run.logs.insert("t".to_owned(), "all green".to_owned()),
            |run| run.decisions.clear(),
            |run| run.difference = None,
            |run| run.proved = true,
            |run| run.said.clear(),
            |run| run.seal = None,
            |run| run.entry.checks.clear(),
        ];
        for (number, edit) in edits.iter().enumerate() {
            let mut run = run.clone();
            edit(&mut run);
            assert_eq!(it.seal(&run), RecordSeal::Changed, "{number}");
        }
        std::fs::write(it.file(&run, DIFFERENCE), "M b.rs\n").unwrap();
        assert_eq!(
            read_difference(&it.folder, &run, it.seal(&run)),
            KeptDifference::Changed
        );
        std::fs::remove_file(it.file(&run, DIFFERENCE)).unwrap();
        assert_eq!(
            read_difference(&it.folder, &run, it.seal(&run)),
            KeptDifference::Gone
        );
    }

    #[test]
    fn what_an_earlier_omo_kept_is_told_from_what_lost_its_seal() {
        let it = ground();
        let key = SealKey::load(Some(it.home.path())).unwrap();
        let mut run = it.keep(1_000, Some("M a.rs\n"));
        run.entry.seal = Some(key.seal_of_version(&it.id, &run.entry, UNSEALED_RECORDS));
        assert!(run.is_own(Some(it.home.path())));
        assert_eq!(
            it.seal(&run),
            RecordSeal::Changed,
            "its seal is of something else"
        );
        (run.seal, run.difference) = (None, None);
        assert_eq!(it.seal(&run), RecordSeal::NotSealed);
        let kept = read_difference(&it.folder, &run, it.seal(&run));
        assert_eq!(kept, KeptDifference::Text("M a.rs\n".to_owned()));
    }
}
