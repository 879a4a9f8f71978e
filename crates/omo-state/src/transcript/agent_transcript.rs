//! What the client wrote down of an agent: what it was given to do, where, by which call, and what it read.
//!
//! The agent's own transcript lies beside the session's, in a folder with the session's name, and comes into being a
//! little after the agent has begun (measured on 2.1.328: for one that ends at once, after its `SubagentStop`).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::memmem;
use omo_core::review::{AgentCall, HookIntervention};
use omo_core::timestamp::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::TranscriptLine;
use crate::files::regular_file;

/// Of a longer transcript only so much is read.
const MAX_BYTES: u64 = 512 * 1024 * 1024;
/// A longer line is none of the client's.
const MAX_LINE_BYTES: u64 = 8 * 1024 * 1024;
/// What the client notes of an agent is short.
const MAX_META_BYTES: u64 = 64 * 1024;

/// What an agent was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentStart {
    /// Its prompts: the one that it began with, and what it was sent later.
    pub prompts: Vec<String>,
    /// When it was given the first of them.
    pub began: Option<Timestamp>,
    /// The folder that it worked in then.
    pub cwd: Option<PathBuf>,
    /// The results of its tool `Read`, each with the path that it named.
    pub reads: Vec<(PathBuf, String)>,
    /// The hooks that changed the input of its tools, or added text.
    pub hooks: Vec<HookIntervention>,
}

/// The transcript of an agent of a session; `None` for what is no id of an agent.
pub fn agent_transcript_path(session: &Path, id: &str) -> Option<PathBuf> {
    let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    is_id.then(|| session.with_extension("").join(format!("subagents/agent-{id}.jsonl")))
}

/// What an agent was given, from its own transcript. Nothing where that is not there.
pub fn read_agent_start(agent: &Path) -> AgentStart {
    let mut given = AgentStart::default();
    let mut calls = BTreeMap::new();
    let is_whole = each_line(agent, 0, &[b"user", b"queued_command", b"tool_use", b"attachment"], |line| {
        calls.extend(line.reads());
        given.reads.extend(line.read_results().into_iter().filter_map(|(id, text)| Some((calls.remove(&id)?, text))));
        if let Some(hook) = line.intervention() {
            // What a hook added has a line of its own beside that of its command.
            if hook.command.is_some() || !given.hooks.iter().any(|known| known.event == hook.event) {
                given.hooks.push(hook);
            }
        }
        let Some(prompt) = line.prompt() else { return };
        if given.prompts.is_empty() {
            given.began = line.time();
            given.cwd = line.cwd.as_deref().map(PathBuf::from);
        }
        given.prompts.push(prompt);
    });
    if !is_whole {
        // What was not read may hold another prompt.
        given.prompts.push(String::new());
    }
    given
}

/// The call of the session that started an agent, from the session's transcript, where it is there.
pub fn find_start_call(session: &Path, from: u64, id: &str) -> Option<AgentCall> {
    let (mut calls, mut result) = (BTreeMap::new(), None);
    let is_whole = each_line(session, from, &[b"subagent_type", id.as_bytes()], |line| {
        calls.extend(line.calls());
        if result.is_none() {
            result = line.result_of(id);
        }
    });
    calls.remove(&result?).filter(|_| is_whole)
}

/// Whether the client notes of an agent that another one started it, or that it has a work tree of its own; and
/// whether it notes anything at all.
pub fn is_isolated(agent: &Path) -> Option<bool> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Meta {
        parent_agent_id: Option<IgnoredAny>,
        worktree_path: Option<IgnoredAny>,
    }
    let mut bytes = Vec::new();
    let file = regular_file::open(&agent.with_extension("meta.json")).ok()??;
    file.take(MAX_META_BYTES).read_to_end(&mut bytes).ok()?;
    let meta = serde_json::from_slice::<Meta>(&bytes);
    Some(meta.map_or(true, |meta| meta.parent_agent_id.is_some() || meta.worktree_path.is_some()))
}

/// Hands on the lines with one of these texts, from an offset to the end, however many there are; tells whether all of
/// it could be read.
fn each_line(path: &Path, from: u64, needles: &[&[u8]], mut see: impl FnMut(&TranscriptLine)) -> bool {
    let Ok(Some(mut file)) = regular_file::open(path) else { return true };
    if file.seek(SeekFrom::Start(from)).is_err() {
        return false;
    }
    let mut reader = BufReader::new(file.take(MAX_BYTES));
    let mut bytes = Vec::new();
    while reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes).is_ok_and(|length| length > 0) {
        if bytes.len() as u64 == MAX_LINE_BYTES {
            return false;
        }
        if needles.iter().any(|needle| memmem::find(&bytes, needle).is_some())
            && let Ok(line) = serde_json::from_slice::<TranscriptLine>(&bytes)
        {
            see(&line);
        }
        bytes.clear();
    }
    reader.get_ref().limit() > 0
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    content: MessageContent<'a>,
}

/// The content of a message: a text, or blocks.
#[derive(Deserialize)]
#[serde(untagged)]
enum MessageContent<'a> {
    Text(#[serde(borrow)] Cow<'a, str>),
    Blocks(Vec<ContentBlock>),
}

#[derive(Deserialize)]
struct ContentBlock {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    tool_use_id: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<BTreeMap<String, Value>>,
    content: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NamedAgentResult {
    agent_id: String,
}

/// Attachments of hooks whose words no model reads.
const SILENT_HOOKS: [&str; 5] = [
    "hook_cancelled",
    "hook_error_during_execution",
    "hook_non_blocking_error",
    "hook_permission_decision",
    "hook_system_message",
];

/// The answer of a hook changes an input or a result, or adds text.
fn intervenes(answer: &Value) -> bool {
    let changes = |name: &String| name == "additionalContext" || name.starts_with("updated");
    let own = answer.as_object().into_iter().chain(answer.get("hookSpecificOutput").and_then(Value::as_object));
    own.flat_map(|fields| fields.keys()).any(changes)
}

/// The text of a result: a string, or blocks.
fn text_of(content: &Value) -> String {
    let of_block = |block: &Value| block.get("text").and_then(Value::as_str).map(str::to_owned);
    match content {
        Value::Array(blocks) => blocks.iter().filter_map(of_block).collect::<Vec<_>>().join("\n"),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HookRun {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    hook_event: String,
    command: Option<String>,
    #[serde(default)]
    stdout: String,
}

#[derive(Deserialize)]
struct Queued {
    #[serde(rename = "type")]
    kind: String,
    prompt: Option<serde_json::Value>,
}

impl TranscriptLine<'_> {
    fn pieces(&self) -> Vec<ContentBlock> {
        match self.message.map(|raw| serde_json::from_str::<Content>(raw.get())) {
            Some(Ok(Content { content: MessageContent::Blocks(pieces) })) => pieces,
            _ => Vec::new(),
        }
    }

    /// What this line gives an agent to do; `None` for what a tool or the client itself said.
    fn prompt(&self) -> Option<String> {
        if self.kind == "attachment" {
            let queued: Queued = serde_json::from_str(self.attachment?.get()).ok()?;
            let text = queued.prompt.map(|text| text.as_str().map_or_else(|| text.to_string(), str::to_owned));
            return (queued.kind == "queued_command").then(|| text.unwrap_or_default());
        }
        if self.kind != "user" || self.is_compact_summary {
            return None;
        }
        match serde_json::from_str::<Content>(self.message?.get()).ok()?.content {
            MessageContent::Text(text) => Some(text.into_owned()),
            MessageContent::Blocks(pieces) => {
                let texts: Vec<String> =
                    pieces.into_iter().filter(|piece| piece.kind == "text").filter_map(|piece| piece.text).collect();
                (!texts.is_empty()).then(|| texts.join("\n"))
            }
        }
    }

    /// The calls of the agent tool in a line of the model, by their ids.
    fn calls(&self) -> Vec<(String, AgentCall)> {
        let pieces = if self.is_of_the_model() { self.pieces() } else { Vec::new() };
        let call = |piece: ContentBlock| {
            let input = piece.input.filter(|_| matches!(piece.name.as_deref(), Some("Agent" | "Task")))?;
            let options = input.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| name).collect();
            Some((piece.id?, AgentCall { options }))
        };
        pieces.into_iter().filter_map(call).collect()
    }

    /// The paths that the tool `Read` is called with in a line of the model, by the ids of the calls.
    fn reads(&self) -> Vec<(String, PathBuf)> {
        let pieces = if self.kind == "assistant" { self.pieces() } else { Vec::new() };
        let read = |piece: ContentBlock| {
            let input = piece.input.filter(|_| piece.name.as_deref() == Some("Read"))?;
            Some((piece.id?, PathBuf::from(input.get("file_path")?.as_str()?)))
        };
        pieces.into_iter().filter_map(read).collect()
    }

    /// The texts of results of tools, by the ids of the calls.
    fn read_results(&self) -> Vec<(String, String)> {
        let pieces = if self.kind == "user" { self.pieces() } else { Vec::new() };
        let result = |piece: ContentBlock| Some((piece.tool_use_id?, text_of(&piece.content?)));
        pieces.into_iter().filter_map(result).collect()
    }

    /// The hook of an attachment, where it changed an input or added text.
    fn intervention(&self) -> Option<HookIntervention> {
        let ran: HookRun = serde_json::from_str(self.attachment.filter(|_| self.kind == "attachment")?.get()).ok()?;
        let is_one = match &*ran.kind {
            "hook_success" => serde_json::from_str(&ran.stdout).is_ok_and(|answer| intervenes(&answer)),
            kind => kind.contains("hook") && !SILENT_HOOKS.contains(&kind),
        };
        is_one.then_some(HookIntervention { event: ran.hook_event, command: ran.command })
    }

    /// The id of the call whose result names this agent.
    fn result_of(&self, agent: &str) -> Option<String> {
        let own = self.kind == "user" && !self.is_sidechain;
        let result: NamedAgentResult = serde_json::from_str(self.tool_use_result.filter(|_| own)?.get()).ok()?;
        (result.agent_id == agent).then(|| self.pieces().into_iter().find_map(|piece| piece.tool_use_id)).flatten()
    }
}
