//! Reading and changing the state: what is not ours travels untouched, what is broken is moved
//! aside and kept, and what cannot be written did not happen.
#![cfg(unix)]

use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use omo_core::check::counterfactual::ProveMode;
use omo_core::limits::RunLimits;
use omo_core::session::id::SessionId;
use omo_core::session::{EntryProvenance, Session, UlwActivation, UlwTrigger, VerdictKind};
use omo_core::timestamp::Timestamp;
use omo_state::ended_runs;
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::{LockError, StateLock};
use omo_state::state::document::DocumentError;
use omo_state::state::{
    CorruptPolicy, EntryChange, FILE, MAX_BYTES, StateError, StateUpdateOptions, peek, peek_all,
    provenance, update,
};
use proptest::prelude::*;

const NOW: i64 = 1_780_000_000_000;
/// What the file before the present one is called.
const OLD: &str = "runtime.local.json.old";

/// A project with a state folder, and the session that the test speaks for.
struct Project {
    temp: tempfile::TempDir,
    folder: GuardedFolder,
    id: SessionId,
}

impl Project {
    fn new(state: Option<&[u8]>) -> Result<Self, Box<dyn std::error::Error>> {
        let temp = tempfile::tempdir()?;
        let folder = GuardedFolder::create_state(temp.path())?;
        if let Some(state) = state {
            fs::write(folder.path().join(FILE), state)?;
        }
        Ok(Self {
            temp,
            folder,
            id: SessionId::parse("mine")?,
        })
    }

    fn root(&self) -> &Path {
        self.temp.path()
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join(FILE)
    }

    fn arm_at(&self, millis: i64, corrupt: CorruptPolicy) -> Result<(), StateError> {
        let now = Timestamp::from_millis(millis);
        let options = StateUpdateOptions {
            deadline: Duration::from_millis(50),
            corrupt,
            now,
            state_home: None,
        };
        update(&self.folder, &self.id, options, |session| {
            session.activate(activation(), now);
            ((), EntryChange::Write)
        })
        .map(|_| ())
    }

    fn arm(&self, corrupt: CorruptPolicy) -> Result<(), StateError> {
        self.arm_at(NOW, corrupt)
    }

    /// Has the state look as if it had been written so many seconds before [`NOW`].
    fn write_as_of(&self, seconds: u64) -> std::io::Result<()> {
        let at =
            UNIX_EPOCH + Duration::from_millis(NOW.unsigned_abs()) - Duration::from_secs(seconds);
        fs::File::options()
            .write(true)
            .open(self.file())?
            .set_modified(at)
    }

    fn names(&self) -> Result<Vec<String>, Box<dyn std::error::Error>> {
        let mut names = self.folder.file_names("")?;
        names.retain(|name| !matches!(name.as_str(), "." | ".." | ".gitignore" | "runtime.lock"));
        Ok(names)
    }
}

fn activation() -> UlwActivation {
    UlwActivation {
        trigger: UlwTrigger::Keyword,
        task: Some("ulw x".to_owned()),
        prompt_id: None,
        limits: RunLimits::default(),
        checks: Vec::new(),
        review_wanted: true,
        prove: ProveMode::default(),
        base: None,
        begins_anew: false,
    }
}

#[test]
fn other_sessions_and_unknown_fields_are_the_same_bytes_afterwards() {
    let other = "{\"ulw\" : {\"enabled\":true , \"stopBlocks\":3.0e0},\r\n \"x\":[ 1,2.50 ,\"\\u00e9\\/\"] }";
    let ours = r#"{"later":[ {"name":"tests"} ],"run":{"soon" :[1.0]},"ulw":{"enabled":false,"later":{"x": 1e2}},"stopContinuation":{"disabled":true,"by" :"me"}}"#;
    let text = format!(
        "{{ \"version\" : 1, \"later\": [ true ],\n\"sessions\": {{\"mine\":{ours}, \"b\":{other}}} }}"
    );
    let project = Project::new(Some(text.as_bytes())).unwrap();
    project.arm(CorruptPolicy::Refuse).unwrap();
    let written = fs::read_to_string(project.file()).unwrap();
    for kept in [
        format!("\"b\":{other}"),
        r#""later": [ true ]"#.to_owned(),
        r#""later":[ {"name":"tests"} ]"#.to_owned(),
        r#""soon":[1.0]"#.to_owned(),
        r#""later":{"x": 1e2}"#.to_owned(),
        r#""by":"me""#.to_owned(),
    ] {
        assert!(written.contains(&kept), "{kept}\nin {written}");
    }
    let session = peek(project.root(), &project.id).unwrap().unwrap();
    assert!(session.is_armed() && !session.stop_continuation.disabled);
    let entries = peek_all(&project.folder).unwrap();
    let unreadable: Vec<&str> = entries
        .unreadable
        .iter()
        .map(|(id, _)| id.as_str())
        .collect();
    assert_eq!(
        (entries.sessions.len(), unreadable),
        (1, vec!["b"]),
        "that entry is none, and it stays"
    );
    assert_eq!(project.names().unwrap(), [FILE, OLD]);
}

/// Looking is quick because it does not read the whole file: it must still see the right entry.
#[test]
fn the_same_key_elsewhere_in_the_file_is_not_taken() {
    let (on, off) = (
        r#"{"ulw":{"enabled":true}}"#,
        r#"{"ulw":{"enabled":false}}"#,
    );
    for (text, armed) in [
        (
            format!(r#"{{"sessions":{{"mine":{on},"b":{{"run":{{"mine":{{"task":1}}}}}}}}}}"#),
            true,
        ),
        (
            format!(r#"{{"sessions":{{"mine":{on}}},"later":{{"mine":{{}}}}}}"#),
            true,
        ),
        (
            r#"{"sessions":{"mine":{"run":{"mine":{}},"ulw":{"enabled":true}}}}"#.to_owned(),
            true,
        ),
        (
            format!(r#"{{"sessions":{{"mine":{on},"b":{{"note":"\"mine\":{{}}"}}}}}}"#),
            true,
        ),
        (
            format!(r#"{{"sessions":{{"b":{{"run":{{"mine":{on}}}}},"mine":{off}}}}}"#),
            false,
        ),
        (
            format!(r#"{{"sessions":{{"mine":{off},"mine":{on}}}}}"#),
            true,
        ),
    ] {
        let project = Project::new(Some(text.as_bytes())).unwrap();
        let seen = peek(project.root(), &project.id)
            .unwrap()
            .is_some_and(|entry| entry.is_armed());
        assert_eq!(seen, armed, "{text}");
    }
}

#[test]
fn nothing_is_written_when_nothing_changed() {
    let text = b"{ \"sessions\":{\"mine\":{}} }";
    let project = Project::new(Some(text)).unwrap();
    let modified = fs::metadata(project.file()).unwrap().modified().unwrap();
    let options = StateUpdateOptions {
        deadline: Duration::from_millis(50),
        corrupt: CorruptPolicy::MoveAside,
        now: Timestamp::from_millis(NOW),
        state_home: None,
    };
    let change = |session: &mut Session| {
        session.ulw.enabled = true;
        ((), EntryChange::Keep)
    };
    update(&project.folder, &project.id, options, change)
        .map(|_| ())
        .unwrap();
    assert_eq!(fs::read(project.file()).unwrap(), text);
    assert_eq!(
        fs::metadata(project.file()).unwrap().modified().unwrap(),
        modified
    );
}

#[test]
fn what_is_no_state_is_left_by_who_looks_and_moved_aside_by_who_writes() {
    let texts: [&[u8]; 7] = [
        b"",
        b"garbage",
        b"{\"sessions\":",
        b"[]",
        b"null",
        b"{\"version\":\"x\"}",
        b"{\"sessions\":{}}\xff\xfe",
    ];
    for text in texts {
        let project = Project::new(Some(text)).unwrap();
        assert!(!peek(project.root(), &project.id).is_ok_and(|entry| entry.is_some()));
        let error = project.arm(CorruptPolicy::Refuse).unwrap_err();
        assert!(
            matches!(
                error,
                StateError::Document {
                    source: DocumentError::Corrupt(_),
                    ..
                }
            ),
            "{error}"
        );
        assert_eq!(fs::read(project.file()).unwrap(), text);
        assert_eq!(project.names().unwrap(), [FILE]);
        project.arm(CorruptPolicy::MoveAside).unwrap();
        assert!(
            peek(project.root(), &project.id)
                .unwrap()
                .unwrap()
                .is_armed()
        );
        let names = project.names().unwrap();
        assert_eq!(names.len(), 3, "{names:?}");
        assert!(
            names[1].starts_with("runtime.local.json.corrupt-2026-"),
            "{names:?}"
        );
        assert_eq!(
            fs::read(project.folder.path().join(&names[1])).unwrap(),
            text
        );
    }
}

#[test]
fn at_most_three_broken_files_are_kept_and_the_oldest_goes_first() {
    let project = Project::new(None).unwrap();
    for step in 0..6_u8 {
        fs::write(project.file(), [b'0' + step]).unwrap();
        project
            .arm_at(NOW + i64::from(step) * 1_000, CorruptPolicy::MoveAside)
            .unwrap();
    }
    let broken = project
        .folder
        .file_names("runtime.local.json.corrupt-")
        .unwrap();
    let texts: Vec<String> = broken
        .iter()
        .map(|name| fs::read_to_string(project.folder.path().join(name)).unwrap())
        .collect();
    assert_eq!(texts, ["3", "4", "5"]);
}

#[test]
fn one_bad_entry_is_copied_aside_and_the_other_sessions_live_on() {
    let other = r#"{"ulw":{"enabled":true,"stopBlocks":2}}"#;
    for bad in [
        r#"{"ulw":{"stopBlocks":"abc"}}"#,
        r#"{"ulw":{"stopBlocks":-1}}"#,
        r#"{"ulw":{"stopBlocks":9223372036854775809}}"#,
        "7",
        "[]",
    ] {
        let text = format!(r#"{{"sessions":{{"mine":{bad},"other":{other}}}}}"#);
        let project = Project::new(Some(text.as_bytes())).unwrap();
        assert!(peek(project.root(), &project.id).is_err(), "{bad}");
        assert!(project.arm(CorruptPolicy::Refuse).is_err(), "{bad}");
        assert_eq!(fs::read_to_string(project.file()).unwrap(), text);
        project.arm(CorruptPolicy::MoveAside).unwrap();
        let aside = project
            .folder
            .file_names("runtime.local.json.corrupt-")
            .unwrap();
        assert_eq!(
            fs::read_to_string(project.folder.path().join(&aside[0])).unwrap(),
            text,
            "{bad}"
        );
        assert!(
            fs::read_to_string(project.file())
                .unwrap()
                .contains(&format!("\"other\":{other}")),
            "{bad}"
        );
        assert!(
            peek(project.root(), &project.id)
                .unwrap()
                .unwrap()
                .is_armed(),
            "{bad}"
        );
    }
}

#[test]
fn an_entry_with_a_key_twice_can_be_read_once_it_was_moved_aside() {
    for bad in [
        r#"{"ulw":{"enabled":true,"enabled":false}}"#,
        r#"{"ulw":{"enabled":true},"ulw":{}}"#,
    ] {
        let text = format!(r#"{{"sessions":{{"mine":{bad}}}}}"#);
        let project = Project::new(Some(text.as_bytes())).unwrap();
        assert!(peek(project.root(), &project.id).is_err(), "{bad}");
        project.arm(CorruptPolicy::MoveAside).unwrap();
        let entry = peek(project.root(), &project.id);
        assert!(
            entry
                .as_ref()
                .is_ok_and(|entry| entry.as_ref().is_some_and(Session::is_armed)),
            "{bad}: {entry:?}"
        );
    }
}

#[test]
fn a_newer_state_is_never_touched_not_even_by_who_writes() {
    let text = br#"{"version":2,"sessions":{"mine":{"ulw":{"enabled":true}}}}"#;
    let project = Project::new(Some(text)).unwrap();
    for corrupt in [CorruptPolicy::Refuse, CorruptPolicy::MoveAside] {
        let error = project.arm(corrupt).unwrap_err();
        assert!(
            matches!(
                error,
                StateError::Document {
                    source: DocumentError::TooNew(2),
                    ..
                }
            ),
            "{error}"
        );
    }
    assert!(peek_all(&project.folder).is_err());
    assert_eq!(fs::read(project.file()).unwrap(), text);
    assert_eq!(project.names().unwrap(), [FILE]);
}

#[test]
fn an_older_state_a_mark_and_foreign_line_ends_are_read() {
    for text in [
        "\u{feff}{\"sessions\":{\"mine\":{\"ulw\":{\"enabled\":true}}}}",
        "{\r\n\"version\":0,\r\n\"sessions\":{\r\n\"mine\":{\"ulw\":{\"enabled\":true}}\r\n}\r\n}\r\n",
        "{\"sessions\":{\"mine\":{\"ulw\":{\"enabled\":true}}}}",
    ] {
        let project = Project::new(Some(text.as_bytes())).unwrap();
        assert!(
            peek(project.root(), &project.id)
                .unwrap()
                .unwrap()
                .is_armed(),
            "{text}"
        );
        project.arm(CorruptPolicy::Refuse).unwrap();
    }
}

#[test]
fn entries_older_than_a_week_go_when_another_is_written() {
    let entry = |days: i64| {
        format!(
            r#"{{"updatedAt":"{}"}}"#,
            Timestamp::from_millis(NOW - days * 86_400_000 - 1_000)
        )
    };
    let old: Vec<String> = (0..200)
        .map(|index| format!("\"old{index}\":{}", entry(7)))
        .collect();
    let text = format!(
        r#"{{"sessions":{{{},"young":{},"timeless":{{"x":1}},"ahead":{}}}}}"#,
        old.join(","),
        entry(6),
        entry(-900)
    );
    let project = Project::new(Some(text.as_bytes())).unwrap();
    project.arm(CorruptPolicy::Refuse).unwrap();
    let written = fs::read_to_string(project.file()).unwrap();
    assert!(!written.contains("\"old"), "{written}");
    for kept in ["young", "timeless", "ahead", "mine"] {
        assert!(written.contains(&format!("\"{kept}\":")), "{kept}");
    }
}

#[test]
fn four_mebibytes_are_the_limit_for_reading_and_for_writing() {
    let fill = |size: u64| {
        let head = r#"{"sessions":{"big":{"x":""#;
        let tail = r#""}}}"#;
        let rest = usize::try_from(size).unwrap_or(0) - head.len() - tail.len();
        format!("{head}{}{tail}", "y".repeat(rest))
    };
    let project = Project::new(Some(fill(MAX_BYTES).as_bytes())).unwrap();
    assert!(
        peek(project.root(), &project.id).unwrap().is_none(),
        "exactly the limit is read"
    );
    let error = project.arm(CorruptPolicy::MoveAside).unwrap_err();
    assert!(matches!(error, StateError::TooLarge), "{error}");
    assert_eq!(
        fs::metadata(project.file()).unwrap().len(),
        MAX_BYTES,
        "and stays as it is"
    );
    fs::write(project.file(), fill(MAX_BYTES + 1)).unwrap();
    assert!(matches!(
        project.arm(CorruptPolicy::MoveAside),
        Err(StateError::Folder(_))
    ));
    assert_eq!(fs::metadata(project.file()).unwrap().len(), MAX_BYTES + 1);
    assert_eq!(project.names().unwrap(), [FILE]);
}

#[test]
fn while_the_lock_is_busy_nothing_is_read_or_written() {
    let project = Project::new(None).unwrap();
    let lock = StateLock::take(&project.folder, Duration::ZERO).unwrap();
    let error = project.arm(CorruptPolicy::MoveAside).unwrap_err();
    assert!(
        matches!(error, StateError::Lock(LockError::Busy(_))),
        "{error}"
    );
    assert!(!project.file().exists());
    drop(lock);
    project.arm(CorruptPolicy::MoveAside).unwrap();
}

#[test]
fn what_a_killed_writer_left_half_written_is_written_over_by_the_next() {
    let text = r#"{"sessions":{}}"#;
    for (left, age) in [
        ("half a st", 0),
        ("half a st", 60),
        (&*"half a state and more ".repeat(1_000), 60),
    ] {
        let project = Project::new(Some(text.as_bytes())).unwrap();
        fs::write(project.folder.path().join(OLD), left).unwrap();
        project.write_as_of(age).unwrap();
        project.arm(CorruptPolicy::Refuse).unwrap();
        assert!(
            peek(project.root(), &project.id)
                .unwrap()
                .unwrap()
                .is_armed()
        );
        assert_eq!(project.names().unwrap(), [FILE, OLD]);
        assert_eq!(
            fs::read_to_string(project.folder.path().join(OLD)).unwrap(),
            text
        );
    }
}

/// A reader holds no lock: what it has opened stays as it is while it may still be reading.
#[test]
fn the_old_state_is_written_over_only_when_no_reader_is_left() {
    let project = Project::new(Some(br#"{"sessions":{}}"#)).unwrap();
    project.write_as_of(60).unwrap();
    let inode = |name: &str| {
        fs::metadata(project.folder.path().join(name))
            .unwrap()
            .ino()
    };
    let mut reader = fs::File::open(project.file()).unwrap();
    for _ in 0..3 {
        project.arm(CorruptPolicy::Refuse).unwrap();
        project.write_as_of(1).unwrap();
    }
    let mut read = String::new();
    reader.read_to_string(&mut read).unwrap();
    assert_eq!(read, r#"{"sessions":{}}"#);
    let (present, old) = (inode(FILE), inode(OLD));
    project.write_as_of(60).unwrap();
    project.arm(CorruptPolicy::Refuse).unwrap();
    assert_eq!(
        (inode(FILE), inode(OLD)),
        (old, present),
        "no reader can be left"
    );
}

#[test]
fn an_old_state_that_is_none_of_ours_is_not_written_to() {
    let outside = tempfile::NamedTempFile::new().unwrap();
    let victim = || fs::read(outside.path()).unwrap();
    for plant in [
        |from: &Path, to: &Path| symlink(from, to),
        |from: &Path, to: &Path| fs::hard_link(from, to),
    ] {
        fs::write(outside.path(), "mine").unwrap();
        let project = Project::new(Some(br#"{"sessions":{}}"#)).unwrap();
        plant(outside.path(), &project.folder.path().join(OLD)).unwrap();
        project.write_as_of(60).unwrap();
        project.arm(CorruptPolicy::Refuse).unwrap();
        assert!(
            peek(project.root(), &project.id)
                .unwrap()
                .unwrap()
                .is_armed()
        );
        assert_eq!(victim(), b"mine");
    }
}

#[test]
fn a_deeply_nested_state_does_no_harm() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let objects = format!("{}1{}", "{\"a\":".repeat(50_000), "}".repeat(50_000));
    for value in [deep, objects] {
        let text = format!(r#"{{"sessions":{{"mine":{{"x":{value}}},"b":{value}}}}}"#);
        let project = Project::new(Some(text.as_bytes())).unwrap();
        // Whatever it says, it says it and lives on; the file is whole afterwards.
        let _ = peek(project.root(), &project.id);
        let _ = peek_all(&project.folder);
        if project.arm(CorruptPolicy::MoveAside).is_ok() {
            assert!(
                peek(project.root(), &project.id)
                    .unwrap()
                    .unwrap()
                    .is_armed()
            );
        } else {
            assert_eq!(fs::read_to_string(project.file()).unwrap(), text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the bytes of a state file are, a writer ends with a state that holds its change,
    /// or with the very bytes that were there.
    #[test]
    fn any_bytes_are_survived(bytes in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        "\\{(\"(version|sessions|mine|ulw)\":|[\\[\\]{}\",:0-9 a-z])*\\}".prop_map(String::into_bytes),
    ]) {
        let project = Project::new(Some(&bytes)).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let armed = |project: &Project| peek(project.root(), &project.id).is_ok_and(|entry| entry.is_some_and(|entry| entry.is_armed()));
        let written = project.arm(CorruptPolicy::MoveAside).is_ok();
        prop_assert!(!written || armed(&project));
        prop_assert!(written || fs::read(project.file()).unwrap_or_default() == bytes);
    }
}

#[test]
fn an_end_survives_the_next_reading() {
    let project = Project::new(None).unwrap();
    project.arm(CorruptPolicy::Refuse).unwrap();
    let now = Timestamp::from_millis(NOW + 1);
    let options = StateUpdateOptions {
        deadline: Duration::from_millis(50),
        corrupt: CorruptPolicy::Refuse,
        now,
        state_home: None,
    };
    update(&project.folder, &project.id, options, |session| {
        session.end_run(
            VerdictKind::Blocked,
            "no <b>access</b>\u{1f512}".to_owned(),
            now,
        );
        ((), EntryChange::Write)
    })
    .map(|_| ())
    .unwrap();
    let verdict = peek(project.root(), &project.id)
        .unwrap()
        .unwrap()
        .verdict
        .unwrap();
    assert_eq!(
        (verdict.kind, verdict.why.as_str(), verdict.at),
        (VerdictKind::Blocked, "no <b>access</b>\u{1f512}", now)
    );
}

#[test]
fn what_is_sealed_counts_in_its_own_project_alone() {
    let (home, own, other) = (
        tempfile::tempdir().unwrap(),
        Project::new(None).unwrap(),
        Project::new(None).unwrap(),
    );
    let home = Some(home.path());
    let change = |change: fn(&mut Session, Timestamp)| {
        let now = Timestamp::from_millis(NOW);
        let options = StateUpdateOptions {
            deadline: Duration::from_secs(5),
            corrupt: CorruptPolicy::Refuse,
            now,
            state_home: home,
        };
        update(&own.folder, &own.id, options, |session| {
            (change(session, now), EntryChange::Write)
        })
        .unwrap();
    };
    let provenance_in = |root: &Path| {
        let session = peek(root, &own.id).unwrap().unwrap();
        provenance(root, &own.id, &session, home).unwrap()
    };
    let kept_in = |root: &Path| {
        ended_runs::read_all(&GuardedFolder::open_state(root).unwrap().unwrap())
            .unwrap()
            .count()
    };
    change(|session, now| session.activate(activation(), now));
    fs::copy(own.file(), other.file()).unwrap();
    assert_eq!(
        (provenance_in(own.root()), provenance_in(other.root())),
        (EntryProvenance::Own, EntryProvenance::Foreign)
    );
    change(|session, now| session.end_run(VerdictKind::Verified, "proved".to_owned(), now));
    let ended = |project: &Project| project.folder.path().join(ended_runs::FOLDER);
    fs::create_dir(ended(&other)).unwrap();
    for file in fs::read_dir(ended(&own)).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), ended(&other).join(file.file_name())).unwrap();
    }
    assert_eq!((kept_in(own.root()), kept_in(other.root())), (1, 0));
    // A renamed project is still the same one, and so is one at the same path after a restored backup.
    let (above, file) = (tempfile::tempdir().unwrap(), own.file());
    let (renamed, restored) = (above.path().join("renamed"), own.root());
    fs::rename(own.root(), &renamed).unwrap();
    assert_eq!(
        (provenance_in(&renamed), kept_in(&renamed)),
        (EntryProvenance::Own, 1)
    );
    fs::create_dir(restored).unwrap();
    let state = GuardedFolder::create_state(restored).unwrap();
    fs::copy(
        renamed.join(file.strip_prefix(own.root()).unwrap()),
        state.path().join(FILE),
    )
    .unwrap();
    assert_eq!(provenance_in(restored), EntryProvenance::Own);
}
