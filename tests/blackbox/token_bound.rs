//! `--max-tokens`: a run that has used its tokens pauses at the next Stop.

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crate::scene::{Scene, play, require_sound};

/// A message of a model as the client writes it down, with its usage.
fn message(id: &str, tokens: u64) -> String {
    json!({
        "type": "assistant", "timestamp": "2999-01-01T00:00:00.000Z", "sessionId": "s", "isSidechain": false,
        "message": {"id": id, "role": "assistant", "content": [{"type": "text", "text": "x"}],
            "usage": {"input_tokens": tokens, "cache_read_input_tokens": 1_000_000, "output_tokens": 0}},
    })
    .to_string()
}

fn notes(scene: &Scene, id: &str, tokens: u64) -> Result<()> {
    scene.session.clone().transcript().raw(&message(id, tokens))
}

/// The line of a Stop that pauses the run.
fn pauses(scene: &Scene) -> Result<String> {
    let answer = scene.stop(&json!({}))?;
    Ok(answer
        .system_message()
        .with_context(|| format!("nothing was said: {answer:?}"))?
        .to_owned())
}

#[test]
fn a_run_pauses_once_its_tokens_are_used() {
    play(&[
        ("its session's, and again after as many", |s| {
            s.lab.configure("[limits]\ncooldown_seconds = 0\n")?;
            s.prompt("/omo:ulw --no-review --max-tokens 1000 fix it")?;
            notes(s, "a", 600)?;
            notes(s, "a", 600)?;
            s.blocks(&json!({}))?;
            notes(s, "b", 400)?;
            let line = pauses(s)?;
            ensure!(
                line.starts_with("[omo] PAUSED: 1000 of 1000 tokens used. `ulw` goes on"),
                "{line}"
            );
            let why = s.asks("/omo:why")?;
            ensure!(
                why.contains("the run waits for you") && why.contains("its tokens are used"),
                "{why}"
            );
            s.allows(&json!({}))?;
            s.prompt("ulw")?;
            notes(s, "c", 999)?;
            s.blocks(&json!({}))?;
            notes(s, "d", 1)?;
            ensure!(pauses(s)?.contains("1000 of 1000"));
            s.prompt("ulw --max-tokens 5000")?;
            notes(s, "e", 1_000)?;
            s.blocks(&json!({}))?;
            Ok(())
        }),
        ("those of its agents", |s| {
            s.prompt("/omo:ulw --no-review --max-tokens 1000 fix it")?;
            let agent = s
                .lab
                .write("agent.jsonl", &format!("{}\n", message("g", 1_000)))?;
            let input = s.input(
                "SubagentStop",
                &json!({}),
                &json!({
                    "agent_id": "g", "agent_type": "omo:explorer", "agent_transcript_path": agent,
                    "last_assistant_message": "found",
                }),
            )?;
            require_sound(&s.session.fire_raw("SubagentStop", &input)?)?;
            ensure!(pauses(s)?.contains("1000 of 1000"));
            Ok(())
        }),
        ("no bound was set", |s| {
            s.arm()?;
            notes(s, "a", 4_000_000_000)?;
            s.blocks(&json!({}))?;
            ensure!(
                s.entry()?["ulw"]["tokens"]["offset"] == 0,
                "the transcript was read for nothing"
            );
            Ok(())
        }),
        ("a bound of the configuration", |s| {
            s.lab
                .configure("[limits]\nmax_tokens = 10\n[verify]\nreview = false\n")?;
            s.arm()?;
            notes(s, "a", 11)?;
            ensure!(pauses(s)?.contains("11 of 10"));
            Ok(())
        }),
        ("a claim that is proved ends the run all the same", |s| {
            s.prompt("/omo:ulw --no-review --max-tokens 10 --check true fix it")?;
            notes(s, "a", 11)?;
            s.ends(
                &json!({"last_assistant_message": "Done.\n<promise>DONE</promise>"}),
                "verified",
            )
        }),
    ]);
}
