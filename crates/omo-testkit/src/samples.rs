//! What the cost of a hook is measured with: the client's inputs, states with many sessions, and
//! long prompts. Whoever measures must use these, so that all figures are of the same work.

use std::path::Path;

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

/// 100 kB of prose; with the keyword, it stands in code, so that all of it is read and nothing
/// is turned on.
pub fn long_prompt(keyword: bool) -> String {
    let word = if keyword { "`ulw`" } else { "that" };
    let line = format!("Please look at what {word} does in src/parser.rs, it isn't \"right\" yet.\n");
    line.repeat(100_000 / line.len())
}

/// The text of a state with so many sessions, [`SESSION`] not among them. Their runs have ended,
/// today: none is old enough to be forgotten.
pub fn state_of_others(sessions: usize) -> String {
    text(&others(sessions))
}

/// The text of a state with so many sessions, of which [`SESSION`] has a run that is on.
pub fn state(sessions: usize) -> String {
    let mut ours = entry(true);
    // The last block is long ago: within the cooldown a Stop would be let through.
    if let Some(ulw) = ours.get_mut("ulw").and_then(Value::as_object_mut) {
        ulw.remove("lastStopAt");
    }
    let mut all = others(sessions.saturating_sub(1));
    all.push(format!("\"{SESSION}\":{ours}"));
    text(&all)
}

/// As text and not as values: a thousand of those would be more memory than a hook may have, and
/// the memory of whoever starts a process is the least that the process can show.
fn others(sessions: usize) -> Vec<String> {
    (0..sessions).map(|number| format!("\"00000000-0000-4000-8000-{number:012}\":{}", entry(false))).collect()
}

fn text(entries: &[String]) -> String {
    format!("{{\"version\":1,\"sessions\":{{{}}}}}", entries.join(",\n"))
}

fn entry(enabled: bool) -> Value {
    let now = timestamp();
    json!({
        "ulw": {"enabled": enabled, "stopBlocks": 3, "lastStopAt": now, "startedAt": null,
                "task": "ulw fix the parser so that every test of the suite passes", "trigger": "keyword", "paused": null},
        "verification": {"phase": "working", "attempts": 0, "maxAttempts": 3, "claimedAt": null, "review": null},
        "gates": [{"name": "tests", "run": "cargo test", "origin": "user", "last": null}],
        "limits": {"maxBlocks": 8, "cooldownSeconds": 3, "maxMinutes": 240},
        "stopContinuation": {"disabled": false, "disabledReason": null, "disabledAt": null},
        "run": null, "verdict": null, "transcript": {"offset": 0}, "lastSeen": {"Stop": now}, "updatedAt": now,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_holds_as_many_sessions_as_asked_and_ours_is_on() {
        for sessions in [1, 50] {
            let state: Value = serde_json::from_str(&state(sessions)).unwrap();
            assert_eq!(state["sessions"].as_object().unwrap().len(), sessions);
            assert_eq!(state["sessions"][SESSION]["ulw"]["enabled"], true);
            let others: Value = serde_json::from_str(&state_of_others(sessions)).unwrap();
            assert_eq!(others["sessions"].as_object().unwrap().len(), sessions);
            assert_eq!(others["sessions"].get(SESSION), None);
        }
    }

    #[test]
    fn an_input_keeps_what_every_event_has() {
        let input = stop(Path::new("/p"), Some(Path::new("/t.jsonl")));
        assert_eq!((&input["cwd"], &input["transcript_path"]), (&json!("/p"), &json!("/t.jsonl")));
        assert_eq!((&input["hook_event_name"], &input["session_id"]), (&json!("Stop"), &json!(SESSION)));
        assert_eq!(stop(Path::new("/p"), None)["transcript_path"], "/nowhere.jsonl");
    }
}
