//! Samples for measuring the cost of a hook: the client's inputs, states with many sessions, and
//! long prompts. Every measurement must use these, so that all figures are of the same work.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use omo_core::session::id::SessionId;
use omo_core::timestamp::Timestamp;
use omo_state::files::folder::GuardedFolder;
use omo_state::state::{self, CorruptPolicy, EntryChange, StateUpdateOptions};
use serde_json::{Value, json};

use crate::environment::timestamp;

/// The session that the inputs are of.
pub const SESSION: &str = "dd79366c-d9f2-4076-8f09-e508a449860f";

/// An event's input as the client sends it: the fields of every event, and `fields` beside them.
pub fn input(event: &str, project: &Path, fields: Value) -> Value {
    let mut all = json!({
        "session_id": SESSION, "transcript_path": "/nowhere.jsonl", "cwd": project, "hook_event_name": event,
        "prompt_id": "e6fe9b15-f5fe-4fae-9458-987bdbea6444", "permission_mode": "default",
    });
    if let (Some(all), Value::Object(fields)) = (all.as_object_mut(), fields) {
        all.extend(fields);
    }
    all
}

/// A Stop without a claim; without a transcript it names one that is not there.
pub fn stop(project: &Path, transcript: Option<&Path>) -> Value {
    let mut fields = json!({
        "effort": {"level": "medium"}, "stop_hook_active": false, "background_tasks": [], "session_crons": [],
        "last_assistant_message": "The parser is half done.",
    });
    if let (Some(path), Some(fields)) = (transcript, fields.as_object_mut()) {
        fields.insert("transcript_path".to_owned(), json!(path));
    }
    input("Stop", project, fields)
}

/// A prompt.
pub fn prompt(project: &Path, text: &str) -> Value {
    input("UserPromptSubmit", project, json!({"prompt": text}))
}

/// Input of a status line after a turn.
pub fn statusline(project: &Path) -> Value {
    json!({
        "session_id": SESSION, "transcript_path": "/nowhere.jsonl", "cwd": project,
        "prompt_id": "e6fe9b15-f5fe-4fae-9458-987bdbea6444", "effort": {"level": "medium"},
        "model": {"id": "claude-opus-5-5", "display_name": "Opus 5.5"},
        "workspace": {"current_dir": project, "project_dir": project, "added_dirs": []},
        "version": "2.1.328", "output_style": {"name": "default"},
        "cost": {"total_cost_usd": 0.0024, "total_duration_ms": 11_767, "total_api_duration_ms": 257,
                 "total_lines_added": 0, "total_lines_removed": 0},
        "context_window": {"total_input_tokens": 100, "total_output_tokens": 20, "context_window_size": 1_000_000,
                           "current_usage": {"input_tokens": 100, "output_tokens": 20, "cache_creation_input_tokens": 0,
                                             "cache_read_input_tokens": 0},
                           "used_percentage": 0, "remaining_percentage": 100},
        "exceeds_200k_tokens": false, "fast_mode": false, "thinking": {"enabled": true},
    })
}

/// 100 kB of prose; with the keyword, it stands in code, so that all of it is read and nothing
/// is turned on.
pub fn long_prompt(keyword: bool) -> String {
    let word = if keyword { "`ulw`" } else { "that" };
    let line =
        format!("Please look at what {word} does in src/parser.rs, it isn't \"right\" yet.\n");
    line.repeat(100_000 / line.len())
}

/// Sessions of a sample state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleSessions {
    /// Number of sessions, [`SESSION`] not among them.
    Others(usize),
    /// Number of sessions, of which [`SESSION`] has a run that is on.
    WithOurs(usize),
}

/// Writes a state. The runs of all other sessions have ended, today: none is old enough to be
/// forgotten.
///
/// It is written entry by entry: a thousand of them at once would be more memory than a hook may have, and a process
/// never shows less memory than the process that started it.
pub fn write_state(to: &mut impl Write, sessions: SampleSessions) -> io::Result<()> {
    let others = match sessions {
        SampleSessions::Others(count) => count,
        SampleSessions::WithOurs(count) => count.saturating_sub(1),
    };
    write!(to, "{{\"version\":1,\"sessions\":{{")?;
    for number in 0..others {
        let comma = if number == 0 { "" } else { ",\n" };
        write!(
            to,
            "{comma}\"00000000-0000-4000-8000-{number:012}\":{}",
            session_entry(false)
        )?;
    }
    if let SampleSessions::WithOurs(_) = sessions {
        let comma = if others == 0 { "" } else { ",\n" };
        write!(to, "{comma}\"{SESSION}\":{}", sample_run())?;
    }
    writeln!(to, "}}}}")
}

/// Seals the run of [`SESSION`] in a project's state, as omo itself would have written it.
pub fn seal_session(project: &Path, state_home: &Path) -> Result<()> {
    let id = SessionId::parse(SESSION)?;
    let now = Timestamp::parse(&start_of_day()).context("no time")?;
    let options = StateUpdateOptions {
        deadline: Duration::from_secs(3),
        corrupt: CorruptPolicy::Refuse,
        now,
        state_home: Some(state_home),
    };
    state::update(&GuardedFolder::create_state(project)?, &id, options, |_| {
        ((), EntryChange::Begin)
    })?;
    Ok(())
}

/// Has every sealed state of [`SESSION`] count as the last one: what is measured begins from the same one each time.
pub fn forget_revision(state_home: &Path) -> io::Result<()> {
    std::fs::write(
        state_home.join(format!("omo/sessions/session-{SESSION}")),
        format!("{:020}\n", 0),
    )
}

fn sample_run() -> Value {
    let mut ours = session_entry(true);
    // The last block is long ago: within the cooldown a Stop would be let through.
    if let Some(ulw) = ours.get_mut("ulw").and_then(Value::as_object_mut) {
        ulw.remove("lastStopAt");
    }
    ours
}

/// Time of all events in a sample state: the beginning of this day.
///
/// No finer, since the work of a search in the state depends on the digits in it: with the time of
/// now, one count in a hundred was larger by a fiftieth.
fn start_of_day() -> String {
    let now = timestamp();
    now.split_once('T')
        .map_or_else(|| now.clone(), |(day, _)| format!("{day}T00:00:00.000Z"))
}

fn session_entry(enabled: bool) -> Value {
    let at = start_of_day();
    json!({
        "ulw": {"enabled": enabled, "stopBlocks": 3, "lastStopAt": at, "startedAt": null,
                "task": "ulw fix the parser so that every test of the suite passes", "trigger": "keyword", "paused": null},
        "verification": {"phase": "working", "attempts": 0, "maxAttempts": 3, "claimedAt": null, "review": null},
        "gates": [{"name": "tests", "run": "cargo test", "origin": "user", "last": null}],
        "limits": {"maxBlocks": 8, "cooldownSeconds": 3, "maxMinutes": 240},
        "stopContinuation": {"disabled": false, "disabledReason": null, "disabledAt": null},
        "run": null, "verdict": null, "transcript": {"offset": 0}, "lastSeen": {"Stop": at}, "updatedAt": at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(sessions: SampleSessions) -> Value {
        let mut text = Vec::new();
        write_state(&mut text, sessions).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    #[test]
    fn a_state_holds_as_many_sessions_as_asked_and_ours_is_on() {
        for count in [1, 50] {
            let with_ours = state(SampleSessions::WithOurs(count));
            assert_eq!(with_ours["sessions"].as_object().unwrap().len(), count);
            assert_eq!(with_ours["sessions"][SESSION]["ulw"]["enabled"], true);
            let others = state(SampleSessions::Others(count));
            assert_eq!(others["sessions"].as_object().unwrap().len(), count);
            assert_eq!(others["sessions"].get(SESSION), None);
        }
    }

    #[test]
    fn a_state_of_one_day_is_the_same_whenever_it_is_written() {
        let time = |state: &Value| {
            state["updatedAt"]
                .as_str()
                .and_then(|at| at.split_once('T'))
                .unwrap()
                .1
                .to_owned()
        };
        assert_eq!(time(&session_entry(true)), "00:00:00.000Z");
    }

    #[test]
    fn an_input_keeps_what_every_event_has() {
        let input = stop(Path::new("/p"), Some(Path::new("/t.jsonl")));
        assert_eq!(
            (&input["cwd"], &input["transcript_path"]),
            (&json!("/p"), &json!("/t.jsonl"))
        );
        assert_eq!(
            (&input["hook_event_name"], &input["session_id"]),
            (&json!("Stop"), &json!(SESSION))
        );
        assert_eq!(
            stop(Path::new("/p"), None)["transcript_path"],
            "/nowhere.jsonl"
        );
        assert_eq!(
            statusline(Path::new("/p"))["workspace"]["project_dir"],
            "/p"
        );
    }
}
