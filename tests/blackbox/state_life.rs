//! The vectors of `state.json` about a session's life: ids, time, crashes, git and ends.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use omo_testkit::Lab;
use omo_testkit::stand_in::{HookAnswer, SubagentStopInput};
use omo_tests::MAX_BLOCKS;
use serde_json::{Value, json};

use crate::scene::{Case, Scene, is_contract, play, require_sound, time_ago};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

#[test]
fn each_vector_is_decided_as_it_says() {
    play(CASES);
}

/// Every event under an id that is none: it belongs to no session, so nothing is made, in the project or around it.
fn rejected(scene: &mut Scene, id: &str) -> Result<()> {
    for (event, fields) in [
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "ulw fix it"})),
        ("Stop", scene.stop_fields(&json!({}))),
        (
            "SubagentStop",
            json!({"agent_id": "a", "agent_type": "omo:oracle"}),
        ),
        ("StopFailure", json!({"error": "authentication_failed"})),
        ("SessionEnd", json!({"reason": "clear"})),
    ] {
        let mut input = fields;
        input["hook_event_name"] = json!(event);
        input["session_id"] = json!(id);
        input["cwd"] = json!(scene.lab.project());
        let answer = require_sound(&scene.session.fire_raw(event, &input.to_string())?)?;
        let expected = match &answer {
            HookAnswer::Nothing => true,
            answer => {
                event == "UserPromptSubmit"
                    && answer
                        .context()
                        .is_some_and(|text| text.contains("this session is not held"))
            }
        };
        ensure!(expected, "{event}: {answer:?}");
    }
    ensure!(
        !scene.lab.state_folder().join("runtime.local.json").exists(),
        "a state was made"
    );
    let around: Vec<_> = fs::read_dir(scene.lab.project().join(".."))?
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    ensure!(around.len() == 2, "{around:?}");
    Ok(())
}

/// A session with git, so that `git status` can be asked.
fn in_git(scene: &Scene, ignore: Option<&str>) -> Result<Scene> {
    let lab = Lab::builder().build()?;
    if let Some(ignore) = ignore {
        lab.write(".gitignore", ignore)?;
        lab.git(&["add", "."])?;
        lab.git(&["commit", "-q", "-m", "ignore"])?;
    }
    Scene::in_lab(&scene.plugin, lab)
}

fn idle_since(scene: &mut Scene, millis: i64) -> Result<()> {
    scene.arm()?;
    let then = json!(time_ago(millis));
    scene.edit(&[
        ("/ulw/startedAt", then.clone()),
        ("/ulw/lastStopAt", then.clone()),
        ("/updatedAt", then),
    ])
}

pub(crate) const CASES: &[Case] = &[
    ("state-024", |s| {
        for id in ["../../x", "a/b", "..", "a\\b", "a\u{0}b"] {
            rejected(s, id)?;
        }
        Ok(())
    }),
    ("state-025", |s| rejected(s, &"x".repeat(300))),
    ("state-026", |s| rejected(s, "")),
    ("state-027", |s| {
        s.arm()?;
        ensure!(require_sound(&s.session.session_end("clear")?)? == HookAnswer::Nothing);
        ensure!(s.entry()?["verdict"]["kind"] == "stopped", "{}", s.entry()?);
        let mut new = s.another()?;
        let reported = require_sound(&new.session_start("clear")?)?;
        ensure!(
            reported == HookAnswer::PlainText(format!("CLAUDE_SESSION_ID: {}", new.session())),
            "{reported:?}"
        );
        ensure!(require_sound(&new.stop("x")?)? == HookAnswer::Nothing);
        Ok(())
    }),
    ("state-028", |s| {
        s.arm()?;
        s.blocks(&json!({}))?;
        ensure!(
            require_sound(&s.session.session_end("prompt_input_exit")?)? == HookAnswer::Nothing
        );
        let reported = require_sound(&s.session.session_start("resume")?)?;
        let line = reported.system_message().context("no line for the user")?;
        ensure!(
            line.lines().count() == 1 && line.contains(&format!("1 of {MAX_BLOCKS}")),
            "{line}"
        );
        ensure!(
            reported
                .additional_context()
                .is_some_and(|text| text.contains("CLAUDE_SESSION_ID: ")),
            "{reported:?}"
        );
        s.session
            .transcript()
            .tool_use("Bash", &json!({"command": "ls"}))?;
        s.blocks(&json!({})).map(drop)
    }),
    ("state-029", |s| {
        s.arm()?;
        let mut fork = s.another()?;
        let reported = require_sound(&fork.session_start("fork")?)?;
        ensure!(
            reported
                .context()
                .is_some_and(|text| text.starts_with("CLAUDE_SESSION_ID: ")),
            "{reported:?}"
        );
        ensure!(require_sound(&fork.stop("x")?)? == HookAnswer::Nothing);
        Ok(())
    }),
    ("state-030", |s| {
        s.arm()?;
        s.blocks(&json!({}))?;
        let reported = require_sound(&s.session.session_start("compact")?)?;
        let HookAnswer::PlainText(text) = &reported else {
            anyhow::bail!("{reported:?}")
        };
        ensure!(
            text.contains("<ultrawork-mode>")
                && text.contains(&format!("1 of {MAX_BLOCKS}"))
                && text.len() < 5_000,
            "{text}"
        );
        ensure!(s.blocks_counted()? == 1, "{}", s.entry()?);
        s.session
            .transcript()
            .tool_use("Bash", &json!({"command": "ls"}))?;
        s.blocks(&json!({})).map(drop)
    }),
    ("state-031", |s| {
        s.arm()?;
        let mut other = s.another()?;
        ensure!(is_contract(&require_sound(
            &other.prompt("ulw fix the docs")?
        )?));
        s.blocks(&json!({}))?;
        s.session
            .transcript()
            .tool_use("Bash", &json!({"command": "ls"}))?;
        s.blocks(&json!({}))?;
        ensure!(
            require_sound(&other.stop("x")?)?
                .reason()
                .is_some_and(|reason| reason.contains(&format!("continuation 1 of {MAX_BLOCKS}")))
        );
        ensure!(s.blocks_counted()? == 2, "{}", s.entry()?);
        Ok(())
    }),
    ("state-032", |s| {
        let mut s = in_git(s, None)?;
        s.arm()?;
        let tree = s.lab.root().join("worktree");
        s.lab
            .git(&["worktree", "add", "-q", &tree.to_string_lossy()])?;
        fs::create_dir_all(s.lab.project().join("a/b"))?;
        s.blocks(&json!({"cwd": s.lab.project().join("a/b")}))?;
        s.session
            .transcript()
            .tool_use("Bash", &json!({"command": "cd"}))?;
        s.blocks(&json!({"cwd": tree}))?;
        ensure!(!tree.join(".sisyphus").exists(), "a second state");
        Ok(())
    }),
    ("state-033", |s| {
        s.arm()?;
        s.edit(&[
            ("/ulw/lastStopAt", json!(time_ago(-HOUR))),
            ("/ulw/startedAt", json!(time_ago(-HOUR))),
        ])?;
        s.blocks(&json!({}))?;
        let last = s.entry()?["ulw"]["lastStopAt"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        ensure!(last < time_ago(-60_000), "not fixed: {last}");
        Ok(())
    }),
    // The design ends a run by its age (240 minutes), and forgets an entry after 7 days.
    ("state-034", |s| {
        idle_since(s, DAY + 60_000)?;
        s.ends(&json!({}), "expired")
    }),
    ("state-035", |s| {
        idle_since(s, 10 * HOUR)?;
        s.ends(&json!({}), "expired")?;
        s.arm()?;
        s.edit(&[
            ("/ulw/startedAt", json!(time_ago(3 * HOUR))),
            ("/ulw/lastStopAt", json!(time_ago(3 * HOUR))),
        ])?;
        s.blocks(&json!({})).map(drop)
    }),
    // A writer that is really killed is in `tests/reliability/faults.rs`.
    ("state-036", |s| {
        s.arm()?;
        let before = fs::read(s.state_file())?;
        let old = s.lab.state_folder().join("runtime.local.json.old");
        fs::write(&old, "{\"version\":1,\"sess")?;
        s.blocks(&json!({}))?;
        ensure!(
            fs::read(old)? == before,
            "the half-written file is still there"
        );
        Ok(())
    }),
    // A limit on what can be written is in `tests/hostile/streams.rs`; here the new state cannot be made.
    ("state-037", |s| {
        s.arm()?;
        let obstacle = s.lab.state_folder().join("runtime.local.json.old");
        fs::remove_file(&obstacle)?;
        fs::create_dir_all(obstacle.join("x"))?;
        let before = fs::read(s.state_file())?;
        s.allows(&json!({}))?;
        ensure!(
            fs::read(s.state_file())? == before && s.hooks_log().contains("Stop"),
            "{}",
            s.hooks_log()
        );
        fs::remove_dir_all(obstacle)?;
        s.blocks(&json!({})).map(drop)
    }),
    // Nothing is known that makes a hook panic: what is likeliest to is played, and ends in silence.
    ("state-038", |s| {
        s.arm()?;
        let deep = format!(
            "{{\"session_id\":{}{}}}",
            "[".repeat(500_000),
            "]".repeat(500_000)
        );
        let huge = format!("{{\"background_tasks\":[{}{{}}]}}", "{},".repeat(200_000));
        let numbers = s
            .stop_input(&json!({"N": 0}))?
            .replace("\"N\":0", "\"N\":1e999999,\"M\":-0.0e-999999");
        for input in [
            deep,
            huge,
            "\"\\ud800\"".into(),
            "{\"session_id\":\"a\",\"session_id\":\"b\"}".into(),
        ] {
            for event in [
                "SessionStart",
                "UserPromptSubmit",
                "Stop",
                "SubagentStop",
                "StopFailure",
                "SessionEnd",
            ] {
                let answer = require_sound(&s.session.fire_raw(event, &input)?)?;
                ensure!(answer == HookAnswer::Nothing, "{event}: {answer:?}");
            }
        }
        require_sound(&s.session.fire_raw("Stop", &numbers)?).map(drop)
    }),
    ("state-039", |s| {
        let mut s = in_git(s, None)?;
        s.arm()?;
        ensure!(fs::read_to_string(s.lab.state_folder().join(".gitignore"))? == "*\n");
        ensure!(s.lab.git(&["status", "--porcelain"])?.is_empty());
        Ok(())
    }),
    ("state-040", |s| {
        let mut s = in_git(s, Some(".sisyphus/\n"))?;
        s.arm()?;
        s.blocks(&json!({}))?;
        ensure!(fs::read_to_string(s.lab.project().join(".gitignore"))? == ".sisyphus/\n");
        ensure!(s.lab.git(&["status", "--porcelain"])?.is_empty());
        Ok(())
    }),
    ("state-041", |s| {
        let claim = json!({"last_assistant_message": "Done.\n\n<promise>DONE</promise>"});
        let blocked = json!({"last_assistant_message": "No access.\n\n<promise>BLOCKED: no access</promise>"});
        for (verdict, fields, edit) in [
            ("released", claim, json!(0)),
            ("blocked", blocked, json!(0)),
            ("released", json!({}), json!(MAX_BLOCKS)),
        ] {
            s.prompt("ulw fix it, and this time for good")?;
            s.edit(&[("/ulw/stopBlocks", edit)])?;
            s.ends(&fields, verdict)?;
            let verdict = s.entry()?["verdict"].clone();
            ensure!(
                verdict["why"].as_str().is_some_and(|why| !why.is_empty())
                    && verdict["at"].is_string(),
                "{verdict}"
            );
        }
        s.prompt("ulw from the start")?;
        let entry = s.entry()?;
        let clean = entry["verdict"].is_null()
            && entry["ulw"]["stopBlocks"] == 0
            && entry["ulw"]["enabled"] == true;
        ensure!(clean, "{entry}");
        Ok(())
    }),
    ("state-042", |s| {
        s.arm()?;
        ensure!(s.prompt("ulw off")?.blocks());
        let before = fs::read(s.state_file())?;
        let agent = SubagentStopInput {
            agent_id: String::new(),
            agent_type: "omo:oracle".into(),
            last_message: "x".into(),
            stop_hook_active: false,
            prompts: Vec::new(),
        };
        for run in [
            s.session.subagent_stop(&agent)?,
            s.session.stop_failure("authentication_failed")?,
            s.session.session_end("other")?,
        ] {
            ensure!(require_sound(&run)? == HookAnswer::Nothing);
        }
        ensure!(s.prompt("what is left to do?")? == HookAnswer::Nothing);
        ensure!(fs::read(s.state_file())? == before, "a late hook wrote");
        fs::remove_file(s.state_file())?;
        ensure!(
            require_sound(&s.session.session_end("clear")?)? == HookAnswer::Nothing
                && !s.state_file().exists()
        );
        Ok(())
    }),
    // The design prunes after 7 days, and when another entry is written instead of at a start.
    ("state-043", |s| {
        let old = json!({"ulw": {"enabled": true}, "updatedAt": time_ago(8 * DAY)});
        let young = json!({"ulw": {"enabled": true}, "updatedAt": time_ago(6 * DAY)});
        let mut sessions: serde_json::Map<String, Value> = (0..200)
            .map(|index| (format!("old-{index}"), old.clone()))
            .collect();
        sessions.insert("young".into(), young);
        s.write_state(
            json!({"version": 1, "sessions": sessions})
                .to_string()
                .as_bytes(),
        )?;
        let run = s.session.session_start("startup")?;
        require_sound(&run)?;
        ensure!(run.duration < Duration::from_secs(1), "{:?}", run.duration);
        s.arm()?;
        let state = s.lab.state().context("no state")?;
        let left: Vec<&String> = state["sessions"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(id, _)| id)
            .collect();
        ensure!(
            left.len() == 2 && left.contains(&&"young".to_owned()),
            "{left:?}"
        );
        Ok(())
    }),
];
