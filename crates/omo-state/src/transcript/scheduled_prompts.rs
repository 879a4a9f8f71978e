//! Recognition of a submitted prompt that a model has scheduled.
//!
//! The client marks a scheduled prompt in the transcript only after the hook has run (measured on
//! 2.1.328). The hook looks for earlier traces: the tool call that scheduled the prompt, in
//! transcripts of the project's sessions and subagents, and the client's file of scheduled prompts
//! (`LIST`), from which the client removes a prompt when it is due.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use omo_core::timestamp::Timestamp;
use serde_json::Value;

use super::each_line;
use super::line::TranscriptLine;
use crate::files::regular_file;

const LIST: &str = ".claude/scheduled_tasks.json";
const MAX_LIST_BYTES: u64 = 256 * 1024;
/// Maximum time from the removal of a due prompt from the list to the hook.
const JUST_NOW_MILLIS: u64 = 3_000;
/// Subtype of the line of a due prompt, within `NEAR_MILLIS` of the line that queues it.
const FIRE: &str = "scheduled_task_fire";
const NEAR_MILLIS: u64 = 1_000;
const MAX_TRANSCRIPT_BYTES: u64 = 64 * 1024 * 1024;
const MAX_TIMES: usize = 1_000;
const MAX_DEPTH: usize = 5;
const MAX_FILES: usize = 5_000;

/// `true` for a prompt that a model scheduled, and for any prompt just after a change of the list.
pub fn is_scheduled_prompt(
    prompt: &str,
    transcript: Option<&Path>,
    folders: &[&Path],
    now: Timestamp,
) -> bool {
    folders
        .iter()
        .any(|folder| is_listed(prompt, &folder.join(LIST), now))
        || transcript
            .and_then(Path::parent)
            .is_some_and(|folder| is_in_transcripts(prompt, folder))
}

/// `true` for a listed prompt, or a list that just changed: a one-time prompt has left it.
fn is_listed(prompt: &str, list: &Path, now: Timestamp) -> bool {
    let Ok(Some(mut file)) = regular_file::open(list) else {
        return false;
    };
    let changed = file.metadata().and_then(|found| found.modified()).ok();
    let changed = changed.and_then(|at| {
        i64::try_from(at.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_millis()).ok()
    });
    let is_new = changed.is_some_and(|at| now.as_millis().abs_diff(at) <= JUST_NOW_MILLIS);
    let mut text = Vec::new();
    let read = file
        .by_ref()
        .take(MAX_LIST_BYTES + 1)
        .read_to_end(&mut text);
    let is_too_large = text.len() as u64 > MAX_LIST_BYTES;
    is_new
        || is_too_large
        || read.is_ok()
            && serde_json::from_slice(&text).is_ok_and(|list: Value| has_prompt(&list, prompt))
}

/// `true` for a `prompt` with this text anywhere in a value.
fn has_prompt(value: &Value, prompt: &str) -> bool {
    match value {
        Value::Array(values) => values.iter().any(|value| has_prompt(value, prompt)),
        Value::Object(fields) => fields.iter().any(|(name, value)| {
            (name == "prompt" && value.as_str().is_some_and(|text| is_same(text, prompt)))
                || has_prompt(value, prompt)
        }),
        _ => false,
    }
}

/// `true` for a prompt that a tool call scheduled, or that the client queued when it was due.
fn is_in_transcripts(prompt: &str, folder: &Path) -> bool {
    let mut files = Vec::new();
    find_transcripts(folder, MAX_DEPTH, &mut files);
    files.sort_unstable_by(|one, other| other.cmp(one));
    // The client may have changed white space: only the first word is searched for.
    let Ok(word) = serde_json::to_string(prompt.split_whitespace().next().unwrap_or_default())
    else {
        return false;
    };
    let word = word.trim_matches('"').as_bytes();
    let mut remaining = MAX_TRANSCRIPT_BYTES;
    files
        .into_iter()
        .any(|(_, path)| ScheduleSigns::read(&path, &mut remaining, word, prompt).hold())
}

#[derive(Default)]
struct ScheduleSigns {
    is_in_transcripts: bool,
    queued: Vec<Timestamp>,
    fires: Vec<Timestamp>,
}

impl ScheduleSigns {
    fn read(path: &Path, remaining: &mut u64, word: &[u8], prompt: &str) -> Self {
        let length = path.metadata().map_or(0, |found| found.len());
        let read = length.min(*remaining);
        *remaining -= read;
        let mut signs = Self::default();
        each_line(path, length - read, &[word, FIRE.as_bytes()], |line| {
            signs.is_in_transcripts |= line.calls_with(prompt);
            signs.queued.extend(
                line.queues(prompt)
                    .filter(|_| signs.queued.len() < MAX_TIMES),
            );
            signs
                .fires
                .extend(line.fires().filter(|_| signs.fires.len() < MAX_TIMES));
        });
        signs
    }

    fn hold(&self) -> bool {
        self.is_in_transcripts
            || self.queued.iter().any(|queued| {
                self.fires
                    .iter()
                    .any(|fire| queued.as_millis().abs_diff(fire.as_millis()) <= NEAR_MILLIS)
            })
    }
}

fn find_transcripts(folder: &Path, depth: usize, files: &mut Vec<(SystemTime, PathBuf)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(found) = entry.metadata() else {
            continue;
        };
        let path = entry.path();
        if files.len() >= MAX_FILES {
            return;
        } else if found.is_dir() && depth > 1 {
            find_transcripts(&path, depth - 1, files);
        } else if found.is_file() && path.extension().is_some_and(|ending| ending == "jsonl") {
            files.push((found.modified().unwrap_or(SystemTime::UNIX_EPOCH), path));
        }
    }
}

impl TranscriptLine<'_> {
    /// `true` for a call of `CronCreate`, `ScheduleWakeup` or a similar tool with this prompt.
    fn calls_with(&self, prompt: &str) -> bool {
        self.kind == "assistant"
            && self.calls().any(|call| {
                ["Cron", "Schedule"]
                    .iter()
                    .any(|part| call.name.contains(part))
                    && call.input().is_some_and(|input| has_prompt(&input, prompt))
            })
    }

    fn fires(&self) -> Option<Timestamp> {
        (self.kind == "system" && self.subtype == Some(FIRE)).then(|| self.time())?
    }

    fn queues(&self, prompt: &str) -> Option<Timestamp> {
        let is_queued = self.kind == "queue-operation" && self.operation == Some("enqueue");
        is_same(&self.queued_text().filter(|_| is_queued)?, prompt).then(|| self.time())?
    }
}

fn is_same(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::now;

    const CALL: &str = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"ScheduleWakeup","input":{"cron":"* * * * *","prompt":" /omo:check remove \"a\" "}}]}}"#;
    const QUEUED: &str = r#"{"type":"queue-operation","operation":"enqueue","timestamp":"2026-11-22T18:27:04.864Z","content":"/omo:check remove \"a\""}"#;
    const DUE: &str = r#"{"type":"system","subtype":"scheduled_task_fire","content":"Running scheduled task (Nov 22 6:27pm)","timestamp":"2026-11-22T18:27:04.860Z"}"#;
    const PROMPT: &str = "/omo:check remove \"a\"";

    #[test]
    fn a_prompt_that_a_model_scheduled_is_known_wherever_it_did_so() {
        for path in [
            "s.jsonl",
            "t.jsonl",
            "s/subagents/agent-1.jsonl",
            "s/subagents/workflows/w/agent-2.jsonl",
        ] {
            let temp = tempfile::tempdir().unwrap();
            let file = temp.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(temp.path().join("s.jsonl"), "{\"type\":\"user\"}\n").unwrap();
            let ask = |prompt: &str| {
                is_scheduled_prompt(prompt, Some(&temp.path().join("s.jsonl")), &[], now())
            };
            for (text, is_known) in [
                (CALL.to_owned(), true),
                (
                    format!(
                        "{{}}\n{}\n{{\"type\":\n",
                        CALL.replace("ScheduleWakeup", "CronCreate")
                    ),
                    true,
                ),
                (CALL.replace("remove ", "remove\\n\\n "), true),
                (format!("{QUEUED}\n{DUE}\n"), true),
                (
                    format!("{}\n{CALL}\n{}", " ".repeat(3 << 20), "x\n".repeat(3 << 19)),
                    true,
                ),
                (QUEUED.to_owned(), false),
                (
                    format!("{QUEUED}\n{}\n", DUE.replace("04.860", "05.865")),
                    false,
                ),
                (CALL.replace("ScheduleWakeup", "Agent"), false),
                (CALL.replace("assistant", "user"), false),
                (CALL.replace("tool_use", "text"), false),
                (CALL.replace("\"prompt\"", "\"reason\""), false),
            ] {
                fs::write(&file, format!("{text}\n")).unwrap();
                assert_eq!(ask(PROMPT), is_known, "{path}: {text}");
                assert!(!ask("/omo:check remove \"b\""));
            }
        }
        assert!(!is_scheduled_prompt(
            PROMPT,
            Some(Path::new("/nowhere/s.jsonl")),
            &[],
            now()
        ));
    }

    #[test]
    fn what_the_client_keeps_on_disk_is_scheduled_too_until_it_is_due() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join(".claude")).unwrap();
        let list = temp.path().join(LIST);
        fs::write(
            &list,
            r#"{"tasks":[{"cron":"* * * * *","prompt":"ulw it"}]}"#,
        )
        .unwrap();
        let later = Timestamp::from_millis(now().as_millis() + 60_000);
        let ask = |prompt, now| is_scheduled_prompt(prompt, None, &[temp.path()], now);
        assert!(ask("ulw it\n", later) && !ask("ulw", later));
        fs::write(&list, "{").unwrap();
        assert!(ask("ulw it", now()), "it was due just now");
        assert!(!ask("ulw it", later));
    }
}
