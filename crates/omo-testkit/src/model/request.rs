//! A request as the model saw it, and what it was for.

use serde_json::Value;

/// Purpose of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// The session's own conversation.
    Main,
    /// A subagent's conversation.
    Agent,
    /// A small request of the client itself, without tools.
    Side,
    /// A summary of the conversation.
    Compact,
    /// A count of tokens.
    Count,
    /// An address that the scripted model does not serve.
    Other,
}

/// The words that a request for a summary contains.
const SUMMARY_WORDS: [&str; 3] = [
    "Your task is to create a detailed summary of",
    "create a detailed summary of the conversation",
    "create a detailed summary of the RECENT",
];

/// One request that reached the scripted model.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// Purpose of the request.
    pub kind: RequestKind,
    /// The subagent's id, as the client's header names it.
    pub agent: Option<String>,
    /// The path, without the query.
    pub path: String,
    /// The body; `null` where there was none.
    pub body: Value,
    /// Foreseen by the script.
    pub scripted: bool,
}

impl RecordedRequest {
    pub(super) fn new(path: &str, agent: Option<String>, body: Value) -> Self {
        let mut request = Self {
            kind: RequestKind::Other,
            agent,
            path: path.to_owned(),
            body,
            scripted: false,
        };
        request.kind = match path {
            "/v1/messages" => classify(&request),
            "/v1/messages/count_tokens" => RequestKind::Count,
            _ => RequestKind::Other,
        };
        request
    }

    /// The messages of the conversation, oldest first.
    pub fn messages(&self) -> &[Value] {
        self.body
            .get("messages")
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// The text of the last message with the role `user`, with its tool results.
    pub fn last_user_text(&self) -> String {
        self.messages()
            .iter()
            .rfind(|message| role(message) == "user")
            .map(text_of)
            .unwrap_or_default()
    }

    /// The text of every message in order, with tool calls, tool results and the messages of the
    /// role `system`; not the system prompt.
    pub fn all_text(&self) -> String {
        let texts: Vec<_> = self.messages().iter().map(text_of).collect();
        texts.join("\n")
    }

    /// The text of the messages with the role `system`, where hooks' context arrives.
    pub fn system_messages_text(&self) -> String {
        let texts: Vec<_> = self
            .messages()
            .iter()
            .filter(|message| role(message) == "system")
            .map(text_of)
            .collect();
        texts.join("\n")
    }

    /// The system prompt.
    pub fn system_text(&self) -> String {
        self.body.get("system").map(flatten).unwrap_or_default()
    }

    /// Number of answers of the model in this conversation.
    pub fn answers(&self) -> usize {
        self.messages()
            .iter()
            .filter(|message| role(message) == "assistant")
            .count()
    }

    /// The name of the tool that the model called last, where its last answer called one.
    pub fn last_tool_called(&self) -> Option<&str> {
        let answer = self
            .messages()
            .iter()
            .rfind(|message| role(message) == "assistant")?;
        let blocks = answer.get("content")?.as_array()?;
        let call = blocks
            .iter()
            .rfind(|block| block.get("type").is_some_and(|kind| kind == "tool_use"))?;
        call.get("name")?.as_str()
    }

    /// Output of the tools that the model's last answer called; empty where it called none.
    pub fn tool_results_text(&self) -> String {
        let Some(answer) = self
            .messages()
            .iter()
            .rposition(|message| role(message) == "assistant")
        else {
            return String::new();
        };
        let behind = self.messages().get(answer + 1..).unwrap_or_default();
        let blocks = behind
            .iter()
            .filter_map(|message| message.get("content")?.as_array())
            .flatten();
        let results =
            blocks.filter(|block| block.get("type").is_some_and(|kind| kind == "tool_result"));
        results.map(flatten).collect::<Vec<_>>().join("\n")
    }

    /// Number of occurrences of `needle` in the messages.
    pub fn count_of(&self, needle: &str) -> usize {
        self.all_text().matches(needle).count()
    }

    /// The names of the tools that the model may call.
    pub fn tool_names(&self) -> Vec<&str> {
        self.body
            .get("tools")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|tool| tool.get("name").and_then(Value::as_str))
            .collect()
    }

    /// The text of the first message.
    pub fn first_text(&self) -> String {
        self.messages().first().map(text_of).unwrap_or_default()
    }
}

fn classify(request: &RecordedRequest) -> RequestKind {
    // The client puts what a hook has said lately behind the request for a summary.
    let last: Vec<String> = request
        .messages()
        .iter()
        .rev()
        .take(3)
        .map(text_of)
        .collect();
    let system = request.system_text();
    let tools = request.tool_names();
    if SUMMARY_WORDS
        .iter()
        .any(|words| last.iter().any(|text| text.contains(words)))
    {
        RequestKind::Compact
    } else if request.agent.is_some() {
        RequestKind::Agent
    } else if tools.is_empty() {
        RequestKind::Side
    } else if system.contains("cc_is_subagent=true")
        || system.contains("You are an agent for Claude Code")
    {
        RequestKind::Agent
    } else {
        RequestKind::Main
    }
}

fn role(message: &Value) -> &str {
    message
        .get("role")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn text_of(message: &Value) -> String {
    message.get("content").map(flatten).unwrap_or_default()
}

/// The text of a content value: a string, or blocks of text, tool calls and tool results.
fn flatten(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<_> = blocks.iter().map(flatten).collect();
            texts.join("\n")
        }
        Value::Object(block) => match block.get("type").and_then(Value::as_str) {
            Some("tool_use") => block.get("input").map(Value::to_string).unwrap_or_default(),
            Some("tool_result") => block.get("content").map(flatten).unwrap_or_default(),
            _ => block.get("text").map(flatten).unwrap_or_default(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn main_request() -> RecordedRequest {
        RecordedRequest::new(
            "/v1/messages",
            None,
            json!({
                "system": [{"type": "text", "text": "PROMPT"}],
                "tools": [{"name": "Bash"}],
                "messages": [
                    {"role": "user", "content": "hello needle"},
                    {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "needle"}}]},
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "out"}]}]},
                    {"role": "system", "content": "hook says needle"},
                ],
            }),
        )
    }

    #[test]
    fn reads_texts() {
        let request = main_request();
        assert_eq!(request.kind, RequestKind::Main);
        assert_eq!(request.count_of("needle"), 3);
        assert_eq!(request.last_user_text(), "out");
        assert_eq!(request.system_messages_text(), "hook says needle");
        assert_eq!(request.system_text(), "PROMPT");
        assert_eq!(
            (request.answers(), request.last_tool_called()),
            (1, Some("Bash"))
        );
        assert_eq!(request.tool_results_text(), "out");
    }

    #[test]
    fn distinguishes_requests() {
        let kind = |path: &str, agent: Option<&str>, body| {
            RecordedRequest::new(path, agent.map(str::to_owned), body).kind
        };
        let plain = json!({"messages": [{"role": "user", "content": "x"}]});
        assert_eq!(kind("/v1/messages", None, plain.clone()), RequestKind::Side);
        assert_eq!(
            kind("/v1/messages", Some("a1"), plain.clone()),
            RequestKind::Agent
        );
        assert_eq!(
            kind("/v1/messages/count_tokens", None, plain),
            RequestKind::Count
        );
        let summary = json!({"tools": [{"name": "Bash"}], "messages": [{"role": "user", "content": SUMMARY_WORDS[0]}]});
        assert_eq!(kind("/v1/messages", None, summary), RequestKind::Compact);
        assert_eq!(kind("/else", None, Value::Null), RequestKind::Other);
    }
}
