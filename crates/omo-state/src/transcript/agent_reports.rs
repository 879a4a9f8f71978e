//! Reads reports of subagents from the transcript, for sessions without an event at their end.
//!
//! A report is the result of a call of the agent tool that the client marks as completed, or its
//! notice about a background agent. The client's own fields name the agent, never the text.

use std::path::Path;

use memchr::memmem;
use omo_core::timestamp::Timestamp;
use serde::Deserialize;

use super::line::{AgentResult, TranscriptLine};
use super::{Chunk, RawLine};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentReport {
    pub at: Option<Timestamp>,
    pub text: String,
    pub agent: Option<String>,
}

/// Completed reports of agents of the kind `agent`, from the offset `from` on.
pub fn read_agent_reports(path: &Path, from: u64, agent: &str) -> Vec<AgentReport> {
    let Some(chunk) = Chunk::read(path, from) else {
        return Vec::new();
    };
    let calls: Vec<String> = chunk
        .lines_with(b"subagent_type")
        .filter_map(RawLine::parse)
        .filter(TranscriptLine::is_of_the_model)
        .flat_map(|line| line.agent_calls(agent))
        .collect();
    let candidates =
        [b"toolUseResult".as_slice(), b"task-notification"].map(|needle| chunk.lines_with(needle));
    let mut lines: Vec<_> = candidates.into_iter().flatten().collect();
    lines.sort_by_key(|line| line.offset);
    lines.dedup_by_key(|line| line.offset);
    lines
        .into_iter()
        .filter_map(RawLine::parse)
        .filter_map(|line| {
            let (text, agent) = line
                .completed_agent(agent)
                .or_else(|| line.notice(&calls))?;
            Some(AgentReport {
                at: line.time(),
                text,
                agent,
            })
        })
        .collect()
}

impl TranscriptLine<'_> {
    fn agent_calls(&self, agent: &str) -> Vec<String> {
        #[derive(Deserialize)]
        struct Start {
            subagent_type: String,
        }
        self.calls()
            .filter(|call| matches!(call.name, "Agent" | "Task"))
            .filter(|call| {
                call.input()
                    .is_some_and(|start: Start| start.subagent_type == agent)
            })
            .map(|call| call.id.to_owned())
            .collect()
    }

    fn completed_agent(&self, agent: &str) -> Option<(String, Option<String>)> {
        let result: AgentResult = self.tool_result()?;
        let counts = result.status.as_deref() == Some("completed")
            && result.agent_type.as_deref() == Some(agent);
        counts.then(|| (result.text(), result.agent_id))
    }

    fn notice(&self, calls: &[String]) -> Option<(String, Option<String>)> {
        let text = self.notification()?;
        let call = between(&text, "<tool-use-id>", "</tool-use-id>")?;
        let is_done = between(&text, "<status>", "</status>") == Some("completed");
        if !is_done || !calls.iter().any(|known| known == call) {
            return None;
        }
        // The agent's own words are escaped: the last mark is the client's.
        let start = memmem::rfind(text.as_bytes(), b"<result>")? + "<result>".len();
        let end = memmem::rfind(text.as_bytes(), b"</result>")?;
        let agent = between(&text, "<task-id>", "</task-id>").map(str::to_owned);
        text.get(start..end).map(|text| (unescaped(text), agent))
    }
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    text.split_once(open)?
        .1
        .split_once(close)
        .map(|(inner, _)| inner)
}

fn unescaped(text: &str) -> String {
    // The ampersand last, or `&amp;lt;` would become a bracket.
    let pairs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ];
    pairs
        .iter()
        .fold(text.to_owned(), |text, (escaped, plain)| {
            text.replace(escaped, plain)
        })
}
