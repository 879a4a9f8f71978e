//! The vectors of `stop.json` about what the model said, what the transcript holds, and the bounds.

use anyhow::{Result, ensure};
use omo_testkit::stand_in::{background_agent, background_shell, session_cron};
use omo_tests::MAX_BLOCKS;
use serde_json::json;

use crate::scene::{Case, Scene, play, time_ago};

const DONE: &str = "<promise>DONE</promise>";
const CLAIM: &str = "All tests pass.\n\n<promise>DONE</promise>";

#[test]
fn each_vector_is_decided_as_it_says() {
    play(CASES);
}

/// A Stop whose final message is this.
fn message(text: &str) -> serde_json::Value {
    json!({"last_assistant_message": text})
}

/// As an older client that does not send the final message: only the transcript has it.
fn unsaid() -> serde_json::Value {
    json!({"last_assistant_message": null})
}

fn after_blocks(scene: &mut Scene, blocks: u32) -> Result<()> {
    scene.arm()?;
    scene.edit(&[
        ("/ulw/stopBlocks", json!(blocks)),
        ("/ulw/lastStopAt", json!(time_ago(10_000))),
    ])
}

fn last_block(scene: &mut Scene, millis_ago: i64) -> Result<()> {
    scene.arm()?;
    scene.edit(&[
        ("/ulw/stopBlocks", json!(1)),
        ("/ulw/lastStopAt", json!(time_ago(millis_ago))),
    ])
}

pub(crate) const CASES: &[Case] = &[
    ("stop-x-not-armed", |s| {
        s.allows(&json!({}))?;
        ensure!(
            !s.lab.project().join(".sisyphus").exists(),
            "an idle session left a trace"
        );
        Ok(())
    }),
    ("stop-x-armed-first-stop", |s| {
        s.arm()?;
        let reason = s.blocks(&json!({}))?;
        ensure!(
            reason.contains(&format!("continuation 1 of {MAX_BLOCKS}"))
                && reason.contains("`ulw off`"),
            "{reason}"
        );
        ensure!(
            !reason.contains("fix the tests"),
            "the prompt is repeated: {reason}"
        );
        Ok(())
    }),
    ("stop-x-armed-stop-hook-active", |s| {
        s.arm()?;
        s.blocks(&json!({"stop_hook_active": true})).map(drop)
    }),
    ("stop-x-armed-done-last-line", |s| {
        s.arm()?;
        s.ends(&message(CLAIM), "released")?;
        ensure!(
            s.entry()?["verdict"]["why"] == "claimed, not verified",
            "{}",
            s.entry()?
        );
        Ok(())
    }),
    ("stop-x-armed-done-in-fence", |s| {
        s.arm()?;
        s.blocks(&message(&format!("I will end with:\n```\n{DONE}\n```")))
            .map(drop)
    }),
    ("stop-x-armed-done-negated", |s| {
        s.arm()?;
        s.blocks(&message(&format!(
            "Two tests still fail, so I will not emit {DONE}"
        )))
        .map(drop)
    }),
    ("stop-x-armed-done-in-tool-result", |s| {
        s.arm()?;
        let call = s
            .session
            .transcript()
            .tool_use("Bash", &json!({"command": "cat notes"}))?;
        s.session.transcript().tool_result(&call, CLAIM)?;
        s.blocks(&message("Reading on."))?;
        s.session
            .transcript()
            .tool_use("Bash", &json!({"command": "ls"}))?;
        s.blocks(&unsaid()).map(drop)
    }),
    ("stop-x-armed-done-in-user-prompt", |s| {
        s.prompt(&format!("ulw fix it; say {DONE} at the end"))?;
        s.blocks(&message("Started."))?;
        s.session
            .transcript()
            .tool_use("Bash", &json!({"command": "ls"}))?;
        s.session.transcript().human(CLAIM)?;
        s.blocks(&unsaid()).map(drop)
    }),
    ("stop-x-armed-done-older-message", |s| {
        s.arm()?;
        s.session.transcript().assistant(CLAIM)?;
        s.session
            .transcript()
            .assistant("No, one test is red after all.")?;
        s.blocks(&unsaid())?;
        s.session
            .transcript()
            .tool_use("Bash", &json!({"command": "ls"}))?;
        s.blocks(&message("Fixing it.")).map(drop)
    }),
    ("stop-x-transcript-lags", |s| {
        s.arm()?;
        s.session.transcript().assistant("Almost there.")?;
        s.ends(&message(CLAIM), "released")
    }),
    ("stop-x-transcript-missing", |s| {
        s.arm()?;
        s.blocks(&json!({"transcript_path": "/nowhere/at/all.jsonl"}))
            .map(drop)
    }),
    ("stop-x-transcript-missing-done", |s| {
        s.arm()?;
        s.ends(
            &json!({"transcript_path": "/nowhere/at/all.jsonl", "last_assistant_message": CLAIM}),
            "released",
        )
    }),
    ("stop-x-transcript-truncated-last-line", |s| {
        s.arm()?;
        s.session.transcript().assistant("Working.")?;
        s.session.transcript().raw_bytes(
            br#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"te"#,
        )?;
        s.blocks(&unsaid()).map(drop)
    }),
    ("stop-x-transcript-no-assistant", |s| {
        s.arm()?;
        s.blocks(&unsaid()).map(drop)
    }),
    ("stop-x-transcript-control-char", |s| {
        s.arm()?;
        s.session.transcript().raw_bytes(
            b"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a\x01b\x00c\"}]}}\n",
        )?;
        s.blocks(&unsaid()).map(drop)
    }),
    ("stop-x-transcript-spaced-json", |s| {
        s.arm()?;
        s.session.transcript().raw(r#"{"type": "assistant", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "Half of it."}]}}"#)?;
        s.blocks(&unsaid())?;
        s.session.transcript().raw(r#"{"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]}}"#)?;
        s.session.transcript().raw(r#"{"type": "assistant", "message": {"content": [{"type": "text", "text": "All of it.\n\n<promise>DONE</promise>"}]}}"#)?;
        s.ends(&unsaid(), "released")
    }),
    ("stop-x-blocks-7", |s| {
        after_blocks(s, MAX_BLOCKS - 1)?;
        let reason = s.blocks(&json!({}))?;
        ensure!(
            reason.contains(&format!("continuation {MAX_BLOCKS} of {MAX_BLOCKS}")),
            "{reason}"
        );
        Ok(())
    }),
    ("stop-x-blocks-8", |s| {
        after_blocks(s, MAX_BLOCKS)?;
        s.ends(&json!({}), "released")
    }),
    ("stop-x-blocks-50", |s| {
        after_blocks(s, MAX_BLOCKS + 50)?;
        s.ends(&json!({}), "released")
    }),
    ("stop-x-in-cooldown", |s| {
        last_block(s, 1_000)?;
        let answer = s.stop(&json!({}))?;
        ensure!(
            answer
                .system_message()
                .is_some_and(|line| line.contains("let this turn end")),
            "{answer:?}"
        );
        ensure!(
            s.blocks_counted()? == 1 && s.entry()?["ulw"]["enabled"] == true,
            "{}",
            s.entry()?
        );
        s.session
            .transcript()
            .tool_use("Bash", &json!({"command": "ls"}))?;
        s.edit(&[("/ulw/lastStopAt", json!(time_ago(1_000)))])?;
        s.blocks(&json!({})).map(drop)
    }),
    ("stop-x-after-cooldown", |s| {
        last_block(s, 10_000)?;
        s.blocks(&json!({})).map(drop)
    }),
    ("stop-x-clock-went-back", |s| {
        last_block(s, -3_600_000)?;
        s.blocks(&json!({})).map(drop)
    }),
    ("stop-x-stop-continuation", |s| {
        s.arm()?;
        ensure!(
            s.prompt("/omo:stop-continuation")?.blocks(),
            "the model would be asked"
        );
        s.allows(&json!({}))?;
        ensure!(
            s.entry()?["stopContinuation"]["disabled"] == true,
            "{}",
            s.entry()?
        );
        Ok(())
    }),
    ("stop-x-background-task-running", |s| {
        s.arm()?;
        let running = json!({"background_tasks": [background_shell("npm run dev")]});
        let reason = s.blocks(&running)?;
        ensure!(
            reason.contains("npm run dev") && reason.contains("End the turn again"),
            "{reason}"
        );
        s.allows(&running)?;
        s.allows(&running)?;
        ensure!(s.entry()?["ulw"]["enabled"] == true, "{}", s.entry()?);
        Ok(())
    }),
    ("stop-x-background-subagent-running", |s| {
        s.arm()?;
        s.allows(&json!({"background_tasks": [background_agent("omo:worker")]}))?;
        ensure!(s.entry()?["ulw"]["enabled"] == true, "{}", s.entry()?);
        Ok(())
    }),
    ("stop-x-background-task-completed", |s| {
        s.arm()?;
        let mut tasks = [background_shell("npm test"), background_agent("omo:worker")];
        for task in &mut tasks {
            task["status"] = json!("completed");
        }
        let reason = s.blocks(&json!({"background_tasks": tasks}))?;
        ensure!(!reason.contains("npm test"), "{reason}");
        Ok(())
    }),
    ("stop-x-wakeup-scheduled", |s| {
        s.arm()?;
        s.allows(&json!({"session_crons": [session_cron("look again")]}))
    }),
    ("stop-x-plan-mode", |s| {
        s.arm()?;
        s.allows(&json!({"permission_mode": "plan"}))?;
        s.blocks(&json!({})).map(drop)
    }),
    // Either answer will do; that it is one, and that it is counted or not, is looked at.
    ("stop-x-user-asked-question", |s| {
        s.arm()?;
        let answer = s.stop(&message("Which of the two databases do you want?"))?;
        ensure!(!answer.blocks() && s.blocks_counted()? == 0, "{answer:?}");
        Ok(())
    }),
    ("stop-x-blocked-statement", |s| {
        s.arm()?;
        s.blocks(&message("I cannot go on without the credentials."))
            .map(drop)
    }),
];
