//! The vectors of `state.json` about the lock, broken files and versions.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Duration;
use std::{fs, thread};

use anyhow::{Context, Result, ensure};
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::StateLock;
use omo_testkit::StandIn;
use omo_testkit::stand_in::HookAnswer;
use omo_tests::MAX_BLOCKS;
use omo_tests::lock_holder::Holder;
use serde_json::json;

use crate::scene::{Case, Scene, is_contract, play, require_sound};

#[test]
fn each_vector_is_decided_as_it_says() {
    play(CASES);
}

/// One Stop of each session, all started before any is waited for.
fn at_once(sessions: &[StandIn], scene: &Scene) -> Result<Vec<HookAnswer>> {
    let fields = scene.stop_fields(&json!({}));
    let threads: Vec<_> = sessions
        .iter()
        .cloned()
        .map(|session| {
            let fields = fields.clone();
            thread::spawn(move || require_sound(&session.fire("Stop", &fields)?))
        })
        .collect();
    threads
        .into_iter()
        .map(|thread| {
            thread
                .join()
                .map_err(|_| anyhow::anyhow!("a thread is gone"))?
        })
        .collect()
}

/// Broken state: the Stop that only looks leaves it, the prompt that writes moves it aside, whole,
/// and the session is held from then on.
fn quarantined(scene: &mut Scene, state: &[u8]) -> Result<()> {
    scene.write_state(state)?;
    scene.allows(&json!({}))?;
    ensure!(fs::read(scene.state_file())? == state, "a Stop wrote");
    scene.arm()?;
    let aside: Vec<String> = scene
        .state_file_names()
        .into_iter()
        .filter(|name| name.contains(".corrupt-"))
        .collect();
    ensure!(aside.len() == 1, "{aside:?}");
    let kept = fs::read(
        scene
            .lab
            .state_folder()
            .join(aside.first().context("none")?),
    )?;
    ensure!(kept == state, "it was not kept as it was");
    scene.blocks(&json!({}))?;
    let again: Vec<String> = scene
        .state_file_names()
        .into_iter()
        .filter(|name| name.contains(".corrupt-"))
        .collect();
    ensure!(again == aside, "moved aside more than once: {again:?}");
    Ok(())
}

/// A state that is refused: every Stop is let through, a prompt says that nothing is held, and it
/// stays as it is.
fn refused(scene: &mut Scene) -> Result<()> {
    scene.allows(&json!({}))?;
    let reported = scene.prompt("ulw fix the tests")?;
    ensure!(
        reported
            .context()
            .is_some_and(|text| text.contains("this session is not held")),
        "{reported:?}"
    );
    scene.allows(&json!({}))
}

fn bad_entry(scene: &mut Scene, counter: &str) -> Result<()> {
    let text = scene
        .armed_text()?
        .replace("\"stopBlocks\":0", &format!("\"stopBlocks\":{counter}"));
    quarantined(scene, text.as_bytes())
}

pub(crate) const CASES: &[Case] = &[
    // The design's deadline is 250 ms instead of 200 ms.
    ("state-001", |s| {
        s.arm()?;
        let before = fs::read(s.state_file())?;
        let folder = GuardedFolder::open_state(s.lab.project())?.context("no folder")?;
        let lock = StateLock::take(&folder, Duration::ZERO)?;
        let run = s.session.fire("Stop", &s.stop_fields(&json!({})))?;
        ensure!(require_sound(&run)? == HookAnswer::Nothing && fs::read(s.state_file())? == before);
        ensure!(
            run.duration < Duration::from_secs(1),
            "waited for {:?}",
            run.duration
        );
        drop(lock);
        Ok(())
    }),
    ("state-002", |s| {
        s.arm()?;
        let holder = Holder::take(&s.lab.state_folder().join("runtime.lock"))?;
        s.allows(&json!({}))?;
        drop(holder);
        s.blocks(&json!({})).map(drop)
    }),
    ("state-003", |s| {
        s.arm()?;
        s.edit(&[
            ("/limits/maxBlocks", json!(100)),
            ("/limits/cooldownSeconds", json!(0)),
        ])?;
        let answers = at_once(&vec![s.session.clone(); 100], s)?;
        let printed = answers.iter().filter(|answer| answer.blocks()).count();
        ensure!(
            printed > 0 && s.blocks_counted()? == u64::try_from(printed)?,
            "{printed} printed, {} counted",
            s.blocks_counted()?
        );
        Ok(())
    }),
    ("state-004", |s| {
        s.arm()?;
        let made = [
            ".gitignore",
            "decisions.jsonl",
            "runtime.local.json",
            "runtime.lock",
        ];
        // The state is two files that change their names.
        let names = |s: &Scene| {
            s.state_file_names()
                .into_iter()
                .filter(|name| name != "runtime.local.json.old")
                .collect::<Vec<_>>()
        };
        ensure!(names(s) == made, "{:?}", s.state_file_names());
        s.prompt("ulw once more")?;
        s.blocks(&json!({}))?;
        ensure!(names(s) == made, "{:?}", s.state_file_names());
        let others: Vec<_> = fs::read_dir(s.lab.project())?
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        ensure!(others == [".sisyphus"], "{others:?}");
        Ok(())
    }),
    ("state-005", |s| {
        s.arm()?;
        let mut other = s.another()?;
        ensure!(is_contract(&require_sound(
            &other.prompt("ulw fix the docs")?
        )?));
        let answers = at_once(&[s.session.clone(), other.clone()], s)?;
        ensure!(answers.iter().all(HookAnswer::blocks), "{answers:?}");
        let state = s.lab.state().context("no state")?;
        for id in [s.session.session(), other.session()] {
            ensure!(state["sessions"][id]["ulw"]["stopBlocks"] == 1, "{state}");
        }
        Ok(())
    }),
    ("state-007", |s| quarantined(s, b"")),
    ("state-008", |s| {
        let text = s.armed_text()?;
        quarantined(s, text.as_bytes().split_at(text.len() / 2).0)
    }),
    ("state-009", |s| {
        quarantined(s, b"[{\"ulw\":{\"enabled\":true}}]")
    }),
    ("state-010", |s| bad_entry(s, "\"abc\"")),
    ("state-011", |s| bad_entry(s, "-1")),
    ("state-012", |s| bad_entry(s, "9223372036854775808")),
    // Of a key that stands twice the last counts, or the entry is moved aside; held either way.
    ("state-013", |s| {
        let id = s.session.session().to_owned();
        let entry =
            |blocks| format!("\"{id}\":{{\"ulw\":{{\"enabled\":true,\"stopBlocks\":{blocks}}}}}");
        s.write_state(format!("{{\"sessions\":{{{},{}}}}}", entry(3), entry(5)).as_bytes())?;
        s.seal()?;
        let reason = s.blocks(&json!({}))?;
        ensure!(
            reason.contains(&format!("continuation 6 of {MAX_BLOCKS}")),
            "{reason}"
        );
        s.write_state(
            s.armed_text()?
                .replace("\"enabled\":true", "\"enabled\":true,\"enabled\":true")
                .as_bytes(),
        )?;
        s.allows(&json!({}))?;
        s.prompt("ulw fix the tests")?;
        s.blocks(&json!({})).map(drop)
    }),
    ("state-014", |s| {
        let mut text = s.armed_text()?.into_bytes();
        text.extend(b"\xff\xfe");
        quarantined(s, &text)
    }),
    ("state-015", |s| {
        s.write_state(format!("\u{feff}{}", s.armed_text()?).as_bytes())?;
        ensure!(
            s.stop(&json!({}))?.blocks() && s.blocks_counted()? == 1,
            "{:?}",
            s.lab.state()
        );
        Ok(())
    }),
    // The design's limit is 4 MiB, and what is larger is refused instead of moved aside.
    ("state-016", |s| {
        s.write_state(format!("{}{}", s.armed_text()?, " ".repeat(10_000_000)).as_bytes())?;
        refused(s)?;
        ensure!(
            fs::metadata(s.state_file())?.len() > 10_000_000,
            "it was touched"
        );
        s.write_state(format!("{}{}", s.armed_text()?, " ".repeat(4_000_000)).as_bytes())?;
        s.blocks(&json!({})).map(drop)
    }),
    ("state-017", |s| {
        fs::create_dir_all(s.state_file())?;
        refused(s)?;
        ensure!(
            s.state_file().is_dir() && s.hooks_log().contains("runtime.local.json"),
            "{}",
            s.hooks_log()
        );
        Ok(())
    }),
    ("state-018", |s| {
        let parent = s.lab.write(".sisyphus", "a file")?;
        refused(s)?;
        ensure!(fs::read_to_string(parent)? == "a file");
        Ok(())
    }),
    ("state-019", |s| {
        let (outside, text) = (s.lab.root().join("outside.json"), s.armed_text()?);
        fs::write(&outside, &text)?;
        fs::create_dir_all(s.lab.state_folder())?;
        symlink(&outside, s.state_file())?;
        refused(s)?;
        ensure!(s.prompt("/omo:stop-continuation")?.blocks());
        ensure!(
            fs::read_to_string(outside)? == text,
            "it was written through the link"
        );
        ensure!(s.state_file().is_symlink(), "the link was replaced");
        Ok(())
    }),
    // Root may read everything: there, another user's file stands in for one that may not be read.
    ("state-020", |s| {
        s.write_state(s.armed_text()?.as_bytes())?;
        if std::os::unix::fs::chown(s.state_file(), Some(12_345), None).is_err() {
            fs::set_permissions(s.state_file(), fs::Permissions::from_mode(0o000))?;
        }
        s.allows(&json!({}))
    }),
    ("state-021", |s| {
        let text = s.armed_text()?.replace("\"version\":1", "\"version\":2");
        s.write_state(text.as_bytes())?;
        refused(s)?;
        let reported = require_sound(&s.session.session_start("resume")?)?;
        ensure!(
            matches!(&reported, HookAnswer::PlainText(_)),
            "a run of a newer omo is reported: {reported:?}"
        );
        ensure!(s.prompt("/omo:stop-continuation")?.blocks());
        ensure!(
            fs::read_to_string(s.state_file())? == text,
            "a newer state was written"
        );
        Ok(())
    }),
    ("state-022", |s| {
        let text = s
            .armed_text()?
            .replace("\"version\":1", "\"version\":0,\"old\":[ 1 ]");
        s.write_state(text.as_bytes())?;
        s.blocks(&json!({}))?;
        ensure!(
            fs::read_to_string(s.state_file())?.contains("\"old\":[ 1 ]"),
            "an unknown field is gone"
        );
        Ok(())
    }),
    ("state-023", |s| {
        let later = "\"later\":[ {\"name\":\"tests\", \"run\":\"cargo test\"} ]";
        let text = s
            .armed_text()?
            .replace("\"run\":null", "\"run\":{\"soon\" :[1.0]}")
            .replace("{\"ulw\":{", &format!("{{{later},\"ulw\":{{\"x\" :[1e3],"));
        s.write_state(text.as_bytes())?;
        s.blocks(&json!({}))?;
        s.prompt("ulw again")?;
        s.prompt("/omo:stop-continuation")?;
        let written = fs::read_to_string(s.state_file())?;
        for kept in [later, "\"soon\":[1.0]", "\"x\":[1e3]"] {
            ensure!(written.contains(kept), "{kept} is gone from {written}");
        }
        Ok(())
    }),
];
