//! The vectors of `stop.json` about the input, the session, the state file and the surroundings.

use std::fs;

use anyhow::{Result, ensure};
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::StateLock;
use omo_testkit::Lab;
use omo_testkit::stand_in::HookAnswer;
use serde_json::{Value, json};

use crate::scene::{Case, Scene, play, require_sound};

#[test]
fn each_vector_is_decided_as_it_says() {
    play(CASES);
}

/// An input that is none: silence, and not a byte of the state is changed.
fn raw_is_let_through(scene: &mut Scene, input: &str) -> Result<()> {
    scene.arm()?;
    let before = fs::read(scene.state_file())?;
    let answer = require_sound(&scene.session.fire_raw("Stop", input)?)?;
    ensure!(answer == HookAnswer::Nothing, "{answer:?}");
    ensure!(
        fs::read(scene.state_file())? == before,
        "the state was written"
    );
    Ok(())
}

/// A Stop under another id: silence, and not a byte of the state is changed.
fn id_is_unknown(scene: &mut Scene, id: &Value) -> Result<()> {
    let input: Value = serde_json::from_str(&scene.stop_input(&json!({"x": 1}))?)?;
    let mut input = input;
    input["session_id"] = id.clone();
    if id.is_null() {
        input
            .as_object_mut()
            .map(|fields| fields.remove("session_id"));
    }
    raw_is_let_through(scene, &input.to_string())?;
    ensure!(
        !scene.lab.project().join("../x").exists(),
        "something outside was made"
    );
    Ok(())
}

/// A state that says nothing usable: silence, and the file stays as it is.
fn state_is_let_be(scene: &mut Scene, state: &[u8]) -> Result<()> {
    scene.write_state(state)?;
    scene.allows(&json!({}))?;
    ensure!(
        fs::read(scene.state_file())? == state,
        "the state was written"
    );
    Ok(())
}

fn armed_with(scene: &Scene, blocks: &str) -> Result<String> {
    Ok(scene
        .armed_text()?
        .replace("\"stopBlocks\":0", &format!("\"stopBlocks\":{blocks}")))
}

pub(crate) const CASES: &[Case] = &[
    ("stop-x-other-session", |s| {
        s.arm()?;
        let other = s.another()?;
        let before = fs::read(s.state_file())?;
        ensure!(
            require_sound(&other.fire("Stop", &s.stop_fields(&json!({})))?)? == HookAnswer::Nothing
        );
        ensure!(fs::read(s.state_file())? == before, "the state was written");
        Ok(())
    }),
    ("stop-x-input-without-session-id", |s| {
        id_is_unknown(s, &Value::Null)
    }),
    ("stop-x-input-empty-session-id", |s| {
        id_is_unknown(s, &json!(""))
    }),
    ("stop-x-session-id-path-traversal", |s| {
        id_is_unknown(s, &json!("../../x"))
    }),
    ("stop-x-state-without-session-id", |s| {
        let ulw = r#"{"ulw":{"enabled":true,"stopBlocks":0}}"#;
        state_is_let_be(s, ulw.as_bytes())?;
        let shared =
            format!(r#"{{"sessions":{{"":{ulw},"global":{ulw},"default":{ulw},"null":{ulw}}}}}"#);
        state_is_let_be(s, shared.as_bytes())
    }),
    ("stop-x-stdin-empty", |s| raw_is_let_through(s, "")),
    ("stop-x-stdin-invalid", |s| {
        for input in [
            "not json",
            "{\"session_id\":",
            "{{}}",
            "null",
            "7",
            "\"{}\"",
            "}{",
        ] {
            raw_is_let_through(s, input)?;
        }
        Ok(())
    }),
    ("stop-x-stdin-array", |s| {
        let fields = format!("[\"{}\",\"Stop\"]", s.session.session());
        raw_is_let_through(s, "[]")?;
        raw_is_let_through(s, &fields)?;
        let input = s.stop_input(&json!({}))?;
        raw_is_let_through(s, &format!("[{input}]"))
    }),
    ("stop-x-stdin-unknown-fields", |s| {
        s.arm()?;
        let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
        let input = s.stop_input(
            &json!({"a_field_of_tomorrow": {"x": [1, null, "é"]}, "effort": {"level": "medium"}}),
        )?;
        let input = format!("{{\"deep\":{deep},{}", input.trim_start_matches('{'));
        ensure!(require_sound(&s.session.fire_raw("Stop", &input)?)?.blocks());
        Ok(())
    }),
    ("stop-x-stdin-bom", |s| {
        s.arm()?;
        let input = format!("\u{feff}{}", s.stop_input(&json!({}))?);
        ensure!(require_sound(&s.session.fire_raw("Stop", &input)?)?.blocks());
        Ok(())
    }),
    ("stop-x-state-corrupt", |s| {
        let id = s.session.session().to_owned();
        state_is_let_be(s, b"\x00\x01 garbage {")?;
        // Also where a piece of it looks like an armed entry.
        let piece = format!(
            "{{\"sessions\":{{\"{id}\":{{\"ulw\":{{\"enabled\":true,\"stopBlocks\":0}}}}}}, garbage"
        );
        state_is_let_be(s, piece.as_bytes())
    }),
    ("stop-x-state-empty-file", |s| state_is_let_be(s, b"")),
    ("stop-x-state-is-array", |s| state_is_let_be(s, b"[]")),
    ("stop-x-state-future-version", |s| {
        let text = s.armed_text()?.replace("\"version\":1", "\"version\":2");
        state_is_let_be(s, text.as_bytes())
    }),
    ("stop-x-state-counter-not-number", |s| {
        let text = armed_with(s, "\"abc\"")?;
        state_is_let_be(s, text.as_bytes())
    }),
    ("stop-x-state-counter-negative", |s| {
        let text = armed_with(s, "-1")?;
        state_is_let_be(s, text.as_bytes())
    }),
    ("stop-x-state-crlf", |s| {
        let text = s.armed_text()?.replace(',', ",\r\n").replace('{', "{\r\n");
        s.write_state(text.as_bytes())?;
        s.blocks(&json!({})).map(drop)
    }),
    ("stop-x-cwd-subdirectory", |s| {
        s.arm()?;
        let deep = s.lab.project().join("src/deep");
        fs::create_dir_all(&deep)?;
        s.blocks(&json!({"cwd": deep}))?;
        ensure!(
            !deep.join(".sisyphus").exists(),
            "a second state in the sub-folder"
        );
        Ok(())
    }),
    // A subagent's event reaches the Stop hook only where the two are mixed up.
    ("stop-x-subagent-stop", |s| {
        s.arm()?;
        let input = s.stop_input(&json!({"agent_id": "a1", "agent_type": "omo:worker"}))?;
        let input = input.replace("\"Stop\"", "\"SubagentStop\"");
        ensure!(require_sound(&s.session.fire_raw("Stop", &input)?)? == HookAnswer::Nothing);
        ensure!(
            require_sound(&s.session.fire_raw("SubagentStop", &input)?)? == HookAnswer::Nothing
        );
        ensure!(s.blocks_counted()? == 0, "{}", s.entry()?);
        Ok(())
    }),
    ("stop-x-stop-with-agent-id", |s| {
        s.arm()?;
        s.allows(&json!({"agent_id": "a0297026bfeaf18b2", "agent_type": "omo:worker"}))
    }),
    ("stop-x-jq-missing", |s| {
        s.arm()?;
        s.session = s.session.clone().with_env("PATH", "/nowhere");
        s.blocks(&json!({})).map(drop)
    }),
    ("stop-x-huge-last-message", |s| {
        s.arm()?;
        s.blocks(&json!({"last_assistant_message": "word ".repeat(400_000)}))
            .map(drop)
    }),
    ("stop-x-emoji-nul", |s| {
        s.arm()?;
        s.blocks(&json!({"last_assistant_message": "half \u{0} done 🦀\u{1b}[2J"}))?;
        s.session
            .transcript()
            .tool_use("Bash", &json!({"command": "ls"}))?;
        let cut = s
            .stop_input(&json!({"last_assistant_message": "CUT"}))?
            .replace("CUT", r"cut emoji \ud83d here");
        ensure!(
            require_sound(&s.session.fire_raw("Stop", &cut)?)?.blocks(),
            "half a surrogate pair"
        );
        Ok(())
    }),
    // The design's deadline is 250 ms.
    ("stop-x-lock-held", |s| {
        s.arm()?;
        let before = fs::read(s.state_file())?;
        let folder = GuardedFolder::open_state(s.lab.project())?
            .ok_or_else(|| anyhow::anyhow!("no folder"))?;
        let lock = StateLock::take(&folder, std::time::Duration::ZERO)?;
        s.allows(&json!({}))?;
        ensure!(
            fs::read(s.state_file())? == before,
            "the state was written without the lock"
        );
        ensure!(
            s.hooks_log().contains("lock"),
            "nothing in the log: {}",
            s.hooks_log()
        );
        drop(lock);
        s.blocks(&json!({})).map(drop)
    }),
    ("stop-x-path-with-spaces", |s| {
        let lab = Lab::builder()
            .folder("it's a \"quoted\" $HOME `x` ü 한")
            .build()?;
        let mut scene = Scene::in_lab(&s.plugin, lab)?;
        scene.arm()?;
        scene.blocks(&json!({})).map(drop)
    }),
];
