//! The ways out, in every state: each says so in one line without the model, and no Stop is
//! blocked after it.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::StateLock;
use omo_testkit::stand_in::HookAnswer;
use omo_tests::MAX_BLOCKS;
use serde_json::json;

use crate::scene::{Scene, play, plugin, require_sound, time_ago};

/// Stops the run by the user's command; gives the line that the user reads.
fn release(scene: &mut Scene, prompt: &str) -> Result<String> {
    let answer = scene.prompt(prompt)?;
    ensure!(answer.blocks(), "the model would be asked: {answer:?}");
    let line = answer.reason().context("no line")?.to_owned();
    ensure!(
        line.starts_with("[omo] ") && line.lines().count() == 1,
        "{line}"
    );
    Ok(line)
}

/// Stops the run, and no Stop is blocked after it.
fn free(scene: &mut Scene) -> Result<()> {
    let line = release(scene, "/omo:stop-continuation enough")?;
    ensure!(
        line.contains("Nothing is continued until you type `ulw`"),
        "{line}"
    );
    let hatch = scene.entry()?["stopContinuation"].clone();
    ensure!(
        hatch["disabled"] == true
            && hatch["disabledReason"] == "enough"
            && hatch["disabledAt"].is_string(),
        "{hatch}"
    );
    scene.allows(&json!({}))?;
    scene.allows(&json!({"stop_hook_active": true}))
}

/// Stops the run where that cannot be written down: the line says so, and no Stop is blocked either.
fn free_unwritten(scene: &mut Scene) -> Result<()> {
    let line = release(scene, "/omo:stop-continuation")?;
    ensure!(
        line.contains("could not be written down") && line.contains("OMO_DISABLE=1"),
        "{line}"
    );
    scene.allows(&json!({}))
}

/// A prompt whose client names this source.
fn prompt_from(scene: &Scene, source: &str, prompt: &str) -> Result<HookAnswer> {
    let fields = json!({"prompt": prompt, "source": source});
    require_sound(&scene.session.fire_raw(
        "UserPromptSubmit",
        &scene.input("UserPromptSubmit", &fields, &json!({}))?,
    )?)
}

#[test]
fn only_a_person_or_their_program_starts_a_run_and_every_source_frees_a_session() {
    for source in [
        "user",
        "sdk",
        "system",
        "loop_wakeup",
        "schedule_wakeup",
        "poll_event",
        "extension",
    ] {
        let mut scene = Scene::new(&plugin()).unwrap();
        let session = scene.session.session().to_owned();
        prompt_from(&scene, source, "ulw fix the tests").unwrap();
        let is_armed = scene
            .lab
            .state()
            .is_some_and(|state| state["sessions"][&session]["ulw"]["enabled"] == true);
        assert_eq!(is_armed, matches!(source, "user" | "sdk"), "{source}");
        if !is_armed {
            scene.arm().unwrap();
        }
        let answer = prompt_from(&scene, source, "/omo:status").unwrap();
        assert!(
            answer
                .reason()
                .is_some_and(|said| said.contains("on, begun ")),
            "{source}: {answer:?}"
        );
        let answer = prompt_from(&scene, source, "/omo:stop-continuation").unwrap();
        assert!(
            answer.blocks() && scene.entry().unwrap()["ulw"]["enabled"] == false,
            "{source}: {answer:?}"
        );
        scene.allows(&json!({})).unwrap();
    }
}

#[test]
fn the_way_out_works_in_every_state() {
    play(&[
        ("armed", |s| {
            s.arm()?;
            free(s)?;
            ensure!(s.entry()?["verdict"]["kind"] == "stopped", "{}", s.entry()?);
            Ok(())
        }),
        ("never armed", free),
        ("ended", |s| {
            s.arm()?;
            s.ends(
                &json!({"last_assistant_message": "Done.\n\n<promise>DONE</promise>"}),
                "released",
            )?;
            free(s)?;
            ensure!(
                s.entry()?["verdict"]["kind"] == "released",
                "the end was overwritten: {}",
                s.entry()?
            );
            Ok(())
        }),
        ("paused", |s| {
            s.arm()?;
            ensure!(
                require_sound(&s.session.stop_failure("billing_error")?)? == HookAnswer::Nothing
            );
            free(s)
        }),
        ("corrupt", |s| {
            s.write_state(b"{\"sessions\":")?;
            free(s)
        }),
        ("a corrupt entry", |s| {
            s.write_state(
                s.armed_text()?
                    .replace("\"stopBlocks\":0", "\"stopBlocks\":\"x\"")
                    .as_bytes(),
            )?;
            free(s)
        }),
        ("an entry with a key twice", |s| {
            s.write_state(
                s.armed_text()?
                    .replace("\"stopBlocks\":0", "\"stopBlocks\":0,\"stopBlocks\":1")
                    .as_bytes(),
            )?;
            free(s)
        }),
        ("a newer state", |s| {
            s.write_state(
                s.armed_text()?
                    .replace("\"version\":1", "\"version\":9")
                    .as_bytes(),
            )?;
            free_unwritten(s)
        }),
        ("a file for a folder", |s| {
            s.lab.write(".sisyphus", "x")?;
            free_unwritten(s)
        }),
        ("a link for a folder", |s| {
            let outside = s.lab.root().join("outside");
            fs::create_dir_all(outside.join("cc-omo"))?;
            symlink(&outside, s.lab.project().join(".sisyphus"))?;
            free_unwritten(s)?;
            ensure!(
                fs::read_dir(outside.join("cc-omo"))?.count() == 0,
                "something was written behind the link"
            );
            Ok(())
        }),
        ("the lock is held", |s| {
            s.arm()?;
            let folder = GuardedFolder::open_state(s.lab.project())?.context("no folder")?;
            let lock = StateLock::take(&folder, Duration::ZERO)?;
            free_unwritten(s)?;
            drop(lock);
            free(s)
        }),
    ]);
}

#[test]
fn every_way_out_frees_the_session() {
    play(&[
        ("ulw off", |s| {
            s.arm()?;
            release(s, "ulw off")?;
            s.allows(&json!({}))
        }),
        ("/omo:ulw off", |s| {
            s.arm()?;
            release(s, "/omo:ulw off")?;
            s.allows(&json!({}))
        }),
        ("typed during the turn", |s| {
            s.arm()?;
            s.blocks(&json!({}))?;
            ensure!(
                s.session
                    .prompt_while_running("/omo:stop-continuation")?
                    .is_none(),
                "the client only queues it"
            );
            s.session
                .transcript()
                .tool_use("Bash", &json!({"command": "ls"}))?;
            s.allows(&json!({}))?;
            ensure!(
                s.entry()?["ulw"]["enabled"] == true,
                "still armed until the command itself comes"
            );
            s.session.transcript().dequeue()?;
            free(s)
        }),
        ("the state file is deleted", |s| {
            s.arm()?;
            fs::remove_file(s.state_file())?;
            s.allows(&json!({}))
        }),
        ("the folder is deleted", |s| {
            s.arm()?;
            fs::remove_dir_all(s.lab.project().join(".sisyphus"))?;
            s.allows(&json!({}))?;
            ensure!(
                !s.lab.project().join(".sisyphus").exists(),
                "it was made again"
            );
            Ok(())
        }),
        ("OMO_DISABLE=1", |s| {
            s.arm()?;
            s.session = s.session.clone().with_env("OMO_DISABLE", "1");
            s.allows(&json!({}))
        }),
        ("Esc", |s| {
            s.arm()?;
            s.session.transcript().interrupted()?;
            s.allows(&json!({}))?;
            let reported = s.prompt("what happened?")?;
            let line = reported
                .system_message()
                .with_context(|| format!("not reported: {reported:?}"))?;
            ensure!(
                line.contains("paused") && line.contains("`ulw off`"),
                "{line}"
            );
            ensure!(
                s.prompt("and now?")? == HookAnswer::Nothing,
                "reported twice"
            );
            s.allows(&json!({}))?;
            s.prompt("ulw go on")?;
            s.blocks(&json!({})).map(drop)
        }),
        ("an error that needs the user", |s| {
            s.arm()?;
            for error in ["rate_limit", "overloaded_error", "server_error"] {
                ensure!(require_sound(&s.session.stop_failure(error)?)? == HookAnswer::Nothing);
                ensure!(
                    s.entry()?["ulw"]["paused"].is_null(),
                    "{error} paused the run"
                );
            }
            ensure!(
                require_sound(&s.session.stop_failure("authentication_failed")?)?
                    == HookAnswer::Nothing
            );
            s.allows(&json!({}))?;
            ensure!(
                s.prompt("again")?
                    .system_message()
                    .is_some_and(|line| line.contains("paused"))
            );
            ensure!(s.blocks_counted()? == 0, "an error was counted");
            Ok(())
        }),
    ]);
}

#[test]
fn the_clients_cap_lowers_the_bound_and_0_is_none() {
    play(&[
        ("5", |s| capped(s, "5", "continuation 1 of 5")),
        ("20", |s| {
            capped(s, "20", &format!("continuation 1 of {MAX_BLOCKS}"))
        }),
        ("0", |s| {
            capped(s, "0", &format!("continuation 1 of {MAX_BLOCKS}"))
        }),
        ("garbage", |s| {
            capped(s, "many", &format!("continuation 1 of {MAX_BLOCKS}"))
        }),
    ]);
}

fn capped(scene: &mut Scene, cap: &str, expected: &str) -> Result<()> {
    scene.session = scene
        .session
        .clone()
        .with_env("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", cap);
    scene.arm()?;
    let reason = scene.blocks(&json!({}))?;
    ensure!(reason.contains(expected), "{reason}");
    let bound = if cap == "5" { 5 } else { MAX_BLOCKS };
    scene.edit(&[
        ("/ulw/stopBlocks", json!(bound)),
        ("/ulw/lastStopAt", json!(time_ago(60_000))),
    ])?;
    scene.ends(&json!({}), "released")
}

#[test]
fn feedback_as_context_goes_on_as_well() {
    play(&[("stop.feedback", |s| {
        s.lab.configure("[stop]\nfeedback = \"context\"\n")?;
        s.arm()?;
        let answer = s.stop(&json!({}))?;
        ensure!(
            answer
                .additional_context()
                .is_some_and(|text| text.contains(&format!("continuation 1 of {MAX_BLOCKS}")))
                && !answer.blocks(),
            "{answer:?}"
        );
        ensure!(
            answer.text("/hookSpecificOutput/hookEventName") == Some("Stop")
                && s.blocks_counted()? == 1
        );
        Ok(())
    })]);
}
