//! The projects, states, transcripts and inputs that the contestants meet.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};
use tempfile::TempDir;

const SESSION: &str = "dd79366c-d9f2-4076-8f09-e508a449860f";

/// Everything on disk that a run needs.
pub struct Stage {
    temp: TempDir,
    /// A project that never used omo.
    pub idle: PathBuf,
    /// A project with 50 sessions in its state, ours armed.
    pub armed: PathBuf,
    /// A transcript with 256 KiB that are new.
    pub transcript: PathBuf,
    /// A transcript of 64 MiB.
    pub huge_transcript: PathBuf,
    state: String,
}

impl Stage {
    /// Sets everything up in a folder that goes when this does.
    pub fn new() -> Result<Self> {
        let temp = tempfile::tempdir()?;
        let folder = |name: &str| temp.path().join(name);
        let (idle, armed) = (folder("idle"), folder("armed"));
        fs::create_dir_all(&idle)?;
        fs::create_dir_all(armed.join(".sisyphus/cc-omo"))?;
        let (transcript, huge_transcript) = (folder("usual.jsonl"), folder("huge.jsonl"));
        write_lines(&transcript, 256 * 1_024)?;
        write_lines(&huge_transcript, 64 * 1_024 * 1_024)?;
        Ok(Self { idle, armed, transcript, huge_transcript, state: state().to_string(), temp })
    }

    /// Puts the state of the armed project back to its start, and waits until it is on the disk:
    /// between two Stops of a real session there is time enough for that, and replacing a file
    /// that is still being written costs several times as much.
    pub fn arm(&self) -> Result<()> {
        let folder = self.armed.join(".sisyphus/cc-omo");
        let (new, state) = (folder.join("new"), folder.join("runtime.local.json"));
        fs::write(&new, &self.state)?;
        File::open(&new)?.sync_all()?;
        Ok(fs::rename(new, state)?)
    }

    /// A file with the input of a Stop.
    pub fn stop_input(&self, project: &Path, transcript: Option<&Path>) -> Result<PathBuf> {
        self.input(&json!({
            "session_id": SESSION, "transcript_path": transcript.unwrap_or(Path::new("/nowhere.jsonl")), "cwd": project,
            "prompt_id": "e6fe9b15-f5fe-4fae-9458-987bdbea6444", "permission_mode": "default",
            "effort": {"level": "medium"}, "hook_event_name": "Stop", "stop_hook_active": false,
            "last_assistant_message": "The parser is half done.", "background_tasks": [], "session_crons": [],
        }))
    }

    /// A file with the input of a prompt in the idle project.
    pub fn prompt_input(&self, prompt: &str) -> Result<PathBuf> {
        self.input(&json!({
            "session_id": SESSION, "transcript_path": "/nowhere.jsonl", "cwd": self.idle,
            "prompt_id": "e6fe9b15-f5fe-4fae-9458-987bdbea6444", "permission_mode": "default",
            "hook_event_name": "UserPromptSubmit", "prompt": prompt,
        }))
    }

    /// A folder that goes when this does.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    fn input(&self, value: &Value) -> Result<PathBuf> {
        let number = fs::read_dir(self.temp.path())?.count();
        let path = self.temp.path().join(format!("input-{number}.json"));
        fs::write(&path, format!("{value}\n"))?;
        Ok(path)
    }
}

/// 100 kB of prose; with the keyword, it stands in code, so that all of it is read and nothing
/// is turned on.
pub fn long_prompt(keyword: bool) -> String {
    let word = if keyword { "`ulw`" } else { "that" };
    let line = format!("Please look at what {word} does in src/parser.rs, it isn't \"right\" yet.\n");
    line.repeat(100_000 / line.len())
}

fn state() -> Value {
    let session = |enabled: bool| {
        json!({
            "ulw": {"enabled": enabled, "stopBlocks": 3, "lastStopAt": "2026-02-22T17:20:01Z", "startedAt": null,
                    "task": "ulw fix the parser so that every test of the suite passes", "trigger": "keyword", "paused": null},
            "verification": {"phase": "working", "attempts": 0, "maxAttempts": 3, "claimedAt": null, "review": null},
            "gates": [{"name": "tests", "run": "cargo test", "origin": "user", "last": null}],
            "limits": {"maxBlocks": 8, "cooldownSeconds": 3, "maxMinutes": 240},
            "stopContinuation": {"disabled": false, "disabledReason": null, "disabledAt": null},
            "run": null, "verdict": null, "transcript": {"offset": 0}, "lastSeen": {"Stop": "2026-02-22T17:20:01Z"},
        })
    };
    let mut sessions: serde_json::Map<String, Value> =
        (0..49).map(|number| (format!("00000000-0000-4000-8000-{number:012}"), session(false))).collect();
    // Ours has no time in it that could be old: the run must neither expire nor be pruned.
    let mut ours = session(true);
    if let Some(ulw) = ours.get_mut("ulw").and_then(Value::as_object_mut) {
        ulw.remove("lastStopAt");
    }
    sessions.insert(SESSION.to_owned(), ours);
    json!({"version": 1, "sessions": sessions})
}

/// Lines as a transcript has them: most are results of tools.
fn write_lines(path: &Path, length: usize) -> Result<()> {
    let result = json!({
        "type": "user", "isSidechain": false, "message": {"role": "user", "content": [{"type": "tool_result", "content": "x".repeat(5_000)}]},
        "toolUseResult": {"stdout": "x".repeat(500)}, "timestamp": "2026-11-21T04:22:30.316Z", "sessionId": SESSION,
    });
    let call = json!({
        "type": "assistant", "isSidechain": false, "timestamp": "2026-11-21T04:22:30.200Z", "sessionId": SESSION,
        "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "cargo test"}}]},
    });
    let pair = format!("{call}\n{result}\n");
    // Piece by piece: the memory of this process is the least that a child of it can show.
    let mut file = BufWriter::new(File::create(path)?);
    for _ in 0..=length / pair.len() {
        file.write_all(pair.as_bytes())?;
    }
    Ok(file.flush()?)
}
