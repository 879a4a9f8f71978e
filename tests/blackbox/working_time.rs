//! The working time of a run: a usage limit, a dialog that waits, and awaited work are no part of it.

use anyhow::{Result, ensure};
use serde_json::json;

use crate::scene::{Scene, play, require_sound, time_ago};

const HOUR: i64 = 3_600_000;

#[test]
fn only_time_of_work_is_counted() {
    play(&[
        ("a usage limit", |s| {
            s.arm()?;
            s.blocks(&json!({}))?;
            let limit = json!({"error": "rate_limit", "error_details": "You have hit your limit"});
            require_sound(
                &s.session
                    .fire_raw("StopFailure", &s.input("StopFailure", &limit, &json!({}))?)?,
            )?;
            ensure!(
                s.entry()?["ulw"]["rest"]["reason"] == "usageLimit",
                "{}",
                s.entry()?
            );
            let since = json!(time_ago(10 * HOUR));
            s.edit(&[
                ("/ulw/startedAt", since.clone()),
                ("/ulw/lastStopAt", since.clone()),
                ("/ulw/rest/since", since),
            ])?;
            let told = String::from_utf8(crate::cli::omo(s, &["status"], &[])?.stdout)?;
            ensure!(told.contains("the end of a usage limit, since"), "{told}");
            // The client goes on by itself.
            let prompt =
                json!({"prompt": "Your usage limit has reset. Continue.", "source": "system"});
            require_sound(&s.session.fire_raw(
                "UserPromptSubmit",
                &s.input("UserPromptSubmit", &prompt, &json!({}))?,
            )?)?;
            ensure!(
                s.entry()?["ulw"]["rest"]["since"].is_null(),
                "{}",
                s.entry()?
            );
            s.blocks(&json!({})).map(drop)
        }),
        // A dialog that waits for its user over night, and a turn of work as long as that.
        ("a dialog over night, and as long a turn of work", |s| {
            let begin = |s: &mut Scene, minutes: &[i64]| {
                s.arm()?;
                let then = json!(time_ago(10 * HOUR));
                s.edit(&[
                    ("/ulw/startedAt", then.clone()),
                    ("/lastSeen/UserPromptSubmit", then),
                ])?;
                minutes.iter().try_for_each(|ago| said(s, ago * 60_000))
            };
            begin(s, &[599, 2])?;
            s.blocks(&json!({}))?;
            let waited = s.entry()?["ulw"]["waitedMillis"]
                .as_i64()
                .unwrap_or_default();
            ensure!((9 * HOUR..10 * HOUR).contains(&waited), "{waited}");
            s.prompt("/omo:stop-continuation")?;
            begin(s, &(0..60).rev().map(|step| step * 10).collect::<Vec<_>>())?;
            s.ends(&json!({}), "expired")
        }),
        // The client wakes the session without a prompt when its background work ends.
        ("a turn without a prompt", |s| {
            let task =
                json!({"id": "a", "type": "subagent", "status": "running", "description": "logs"});
            s.arm()?;
            s.stop(&json!({"background_tasks": [task]}))?;
            ensure!(
                s.entry()?["ulw"]["rest"]["reason"] == "awaitsWork",
                "{}",
                s.entry()?
            );
            let then = json!(time_ago(10 * HOUR));
            s.edit(&[("/ulw/startedAt", then.clone()), ("/ulw/rest/since", then)])?;
            (0..5 * 6)
                .rev()
                .try_for_each(|step| said(s, step * 10 * 60_000))?;
            s.ends(&json!({}), "expired")
        }),
    ]);
}

#[test]
fn the_page_draws_idle_time_as_idle() {
    play(&[("after background work, and at a prompt", |s| {
        let task =
            json!({"id": "a", "type": "subagent", "status": "running", "description": "logs"});
        // The log knows seconds.
        let wait = || {
            let start = std::time::Instant::now();
            let is_over = || (start.elapsed().as_millis() > 1_100).then_some(());
            omo_testkit::wait_until("a second later", is_over)
        };
        s.arm()?;
        s.stop(&json!({"background_tasks": [task]}))?;
        wait()?;
        said(s, 0)?;
        s.allows(&json!({"permission_mode": "plan"}))?;
        wait()?;
        s.prompt("take the shorter way")?;
        wait()?;
        s.blocks(&json!({}))?;
        s.asks("ulw off")?;
        let path = crate::cli::omo(s, &["report", "--html"], &[])?.stdout;
        let page = std::fs::read_to_string(String::from_utf8(path)?.trim_end())?;
        let words = |word: &str| page.matches(&format!("<td>{word}</td>")).count();
        let found = [
            "turn",
            "wait for work in the background",
            "wait for a person",
        ]
        .map(words);
        // A turn is named in two columns, and there are four.
        ensure!(found == [8, 1, 1], "{found:?}");
        Ok(())
    })]);
}

/// The model has spoken so long ago.
fn said(scene: &mut Scene, millis_ago: i64) -> Result<()> {
    let line = json!({
        "type": "assistant", "timestamp": time_ago(millis_ago), "isSidechain": false,
        "message": {"role": "assistant", "content": [{"type": "text", "text": "I go on."}]},
    });
    scene.session.transcript().raw(&line.to_string())
}
