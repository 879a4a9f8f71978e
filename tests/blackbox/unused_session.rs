//! A session that never used omo finds nothing of it: no file, no lock, no changed byte, whatever happens in it and
//! whichever other sessions use omo in the same project.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Result, ensure};
use omo_testkit::stand_in::{HookAnswer, StopInput, SubagentStopInput, background_shell};
use omo_testkit::{Lab, StandIn};
use serde_json::json;

use crate::scene::{Scene, plugin, require_sound};

/// Files by path, with what they hold and when they were last written.
pub(crate) type Listing = BTreeMap<PathBuf, (Option<Vec<u8>>, SystemTime)>;

/// Adds everything below a folder.
fn listing(folder: &Path, found: &mut Listing) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let meta = path.symlink_metadata()?;
        if meta.is_dir() {
            listing(&path, found)?;
        }
        let bytes = meta.is_file().then(|| fs::read(&path)).transpose()?;
        found.insert(path, (bytes, meta.modified()?));
    }
    Ok(())
}

/// The project and the home but for the client's own transcripts.
pub(crate) fn list_all_files(scene: &Scene) -> Result<Listing> {
    let mut found = Listing::new();
    listing(scene.lab.project(), &mut found)?;
    listing(scene.lab.home(), &mut found)?;
    found.retain(|path, _| {
        !path.starts_with(scene.lab.home().join(".claude/projects"))
            && path != &scene.lab.home().join(".claude")
    });
    Ok(found)
}

/// A whole session without a keyword.
fn a_day(session: &mut StandIn) -> Result<()> {
    let silent = |run: &omo_testkit::HookRun| -> Result<()> {
        let answer = require_sound(run)?;
        ensure!(answer == HookAnswer::Nothing, "{answer:?}");
        Ok(())
    };
    for source in ["startup", "resume", "compact", "clear", "fork"] {
        let reported = require_sound(&session.session_start(source)?)?;
        ensure!(
            reported == HookAnswer::PlainText(format!("CLAUDE_SESSION_ID: {}", session.session())),
            "{reported:?}"
        );
    }
    silent(&session.prompt("what does the parser do?")?)?;
    silent(&session.stop("It parses.\n\n<promise>DONE</promise>")?)?;
    silent(&session.stop_with(&StopInput::new("x").background(background_shell("npm run dev")))?)?;
    let agent = SubagentStopInput {
        agent_id: String::new(),
        agent_type: "omo:oracle".into(),
        last_message: "<promise>VERIFIED</promise>".into(),
        stop_hook_active: false,
        prompts: Vec::new(),
    };
    silent(&session.subagent_stop(&agent)?)?;
    silent(&session.stop_failure("authentication_failed")?)?;
    silent(&session.fire("Stop", &json!({}))?)?;
    silent(&session.fire_raw("Stop", "garbage")?)?;
    silent(&session.fire_raw("UserPromptSubmit", "{\"prompt\":")?)?;
    silent(&session.session_end("other")?)?;
    silent(&session.session_end("clear")?)
}

#[test]
fn in_a_project_without_omo_nothing_is_made() {
    let plugin = plugin();
    for lab in [
        Lab::builder().build().unwrap(),
        Lab::builder().without_git().build().unwrap(),
    ] {
        let mut scene = Scene::in_lab(&plugin, lab).unwrap();
        let before = list_all_files(&scene).unwrap();
        a_day(&mut scene.session).unwrap();
        assert_eq!(list_all_files(&scene).unwrap(), before);
    }
}

#[test]
fn beside_a_session_with_a_run_not_a_byte_is_changed() {
    let plugin = plugin();
    let mut scene = Scene::new(&plugin).unwrap();
    scene.arm().unwrap();
    scene.blocks(&json!({})).unwrap();
    let mut other = scene.another().unwrap();
    let before = list_all_files(&scene).unwrap();
    // Inputs that cannot be read are noted in the log where omo is in use: those are left out here.
    for source in ["startup", "resume", "compact"] {
        require_sound(&other.session_start(source).unwrap()).unwrap();
    }
    assert_eq!(
        require_sound(&other.prompt("hello").unwrap()).unwrap(),
        HookAnswer::Nothing
    );
    assert_eq!(
        require_sound(&other.stop("x").unwrap()).unwrap(),
        HookAnswer::Nothing
    );
    assert_eq!(
        require_sound(&other.stop_failure("rate_limit").unwrap()).unwrap(),
        HookAnswer::Nothing
    );
    assert_eq!(
        require_sound(&other.session_end("clear").unwrap()).unwrap(),
        HookAnswer::Nothing
    );
    assert_eq!(list_all_files(&scene).unwrap(), before);
}

#[test]
fn after_its_run_has_ended_a_session_writes_nothing_more() {
    let plugin = plugin();
    let mut scene = Scene::new(&plugin).unwrap();
    scene.arm().unwrap();
    scene
        .ends(
            &json!({"last_assistant_message": "Done.\n\n<promise>DONE</promise>"}),
            "released",
        )
        .unwrap();
    let before = list_all_files(&scene).unwrap();
    assert_eq!(scene.prompt("thanks").unwrap(), HookAnswer::Nothing);
    scene.allows(&json!({})).unwrap();
    assert_eq!(
        require_sound(&scene.session.session_end("other").unwrap()).unwrap(),
        HookAnswer::Nothing
    );
    assert_eq!(list_all_files(&scene).unwrap(), before);
}
