//! One answer of the scripted model: what it says and how it is delivered.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::request::RecordedRequest;

/// One answer of the model.
#[derive(Debug, Clone)]
pub struct ModelTurn {
    pub(super) body: Body,
    pub(super) delay: Duration,
    pub(super) chunks: usize,
    pub(super) chunk_delay: Duration,
    pub(super) usage: Value,
    pub(super) stop_reason: Option<String>,
}

/// What an answer consists of.
#[derive(Clone)]
pub(super) enum Body {
    Message(Vec<Block>),
    Failure { status: u16, kind: String, message: String, headers: Vec<(&'static str, String)> },
    Hang,
    Computed(Arc<dyn Fn(&RecordedRequest) -> ModelTurn + Send + Sync>),
}

impl fmt::Debug for Body {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(blocks) => formatter.debug_tuple("Message").field(blocks).finish(),
            Self::Failure { status, kind, .. } => write!(formatter, "Failure({status} {kind})"),
            Self::Hang => formatter.write_str("Hang"),
            Self::Computed(_) => formatter.write_str("Computed"),
        }
    }
}

/// One content block of a message.
#[derive(Debug, Clone)]
pub(super) enum Block {
    Thinking(String),
    Text(String),
    Tool { name: String, input: Value },
}

impl ModelTurn {
    /// The model says `text`.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Body::Message(vec![Block::Text(text.into())]))
    }

    /// The model calls a tool and says nothing.
    pub fn call(name: &str, input: Value) -> Self {
        Self::new(Body::Message(Vec::new())).tool(name, input)
    }

    /// The model runs a shell command.
    pub fn bash(command: &str) -> Self {
        Self::call("Bash", json!({"command": command, "description": "run a test command"}))
    }

    /// The model starts a subagent and waits for its report.
    pub fn agent(agent_type: &str, prompt: &str) -> Self {
        Self::call(
            "Agent",
            json!({
                "description": "do a test task",
                "subagent_type": agent_type,
                "prompt": prompt,
                "run_in_background": false,
            }),
        )
    }

    /// The model starts a subagent in the background; its report comes as a new prompt.
    pub fn background_agent(agent_type: &str, prompt: &str) -> Self {
        Self::call(
            "Agent",
            json!({
                "description": "do a test task",
                "subagent_type": agent_type,
                "prompt": prompt,
            }),
        )
    }

    /// The API answers with an error. The client retries most of them; see `LabBuilder::env` and
    /// `CLAUDE_CODE_MAX_RETRIES`.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        Self::new(Body::Failure { status, kind: kind.to_owned(), message: message.to_owned(), headers: Vec::new() })
    }

    /// The API says that a subscription has no more use left for five hours, until `resets_at`, in seconds since 1970.
    /// The client believes the headers where it was given a token of a subscription, and only then.
    pub fn usage_limit(resets_at: i64) -> Self {
        let mut turn = Self::error(429, "rate_limit_error", "This request would exceed the limit of use.");
        if let Body::Failure { headers, .. } = &mut turn.body {
            headers.extend([
                ("anthropic-ratelimit-unified-status", "rejected".to_owned()),
                ("anthropic-ratelimit-unified-reset", resets_at.to_string()),
                ("anthropic-ratelimit-unified-representative-claim", "five_hour".to_owned()),
            ]);
        }
        turn
    }

    /// The API never answers.
    pub fn hang() -> Self {
        Self::new(Body::Hang)
    }

    /// The answer depends on the request, for example to repeat a token that a hook gave.
    pub fn computed(answer: impl Fn(&RecordedRequest) -> Self + Send + Sync + 'static) -> Self {
        Self::new(Body::Computed(Arc::new(answer)))
    }

    /// Adds a tool call.
    #[must_use]
    pub fn tool(self, name: &str, input: Value) -> Self {
        self.block(Block::Tool { name: name.to_owned(), input })
    }

    /// Adds a thinking block.
    #[must_use]
    pub fn thinking(self, text: &str) -> Self {
        self.block(Block::Thinking(text.to_owned()))
    }

    /// Waits before the first byte.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Streams each text in `chunks` pieces with a wait after each of them.
    ///
    /// The client shows finished paragraphs only: a text to be seen growing needs blank lines.
    #[must_use]
    pub fn stream_chunks(mut self, chunks: usize, delay: Duration) -> Self {
        self.chunks = chunks.max(1);
        self.chunk_delay = delay;
        self
    }

    /// Sets fields of `usage`, for example `{"input_tokens": 195000}` to make the client compact.
    #[must_use]
    pub fn usage(mut self, usage: Value) -> Self {
        self.usage = usage;
        self
    }

    /// Sets the stop reason instead of `end_turn` or `tool_use`.
    #[must_use]
    pub fn stop_reason(mut self, reason: &str) -> Self {
        self.stop_reason = Some(reason.to_owned());
        self
    }

    fn new(body: Body) -> Self {
        Self {
            body,
            delay: Duration::ZERO,
            chunks: 1,
            chunk_delay: Duration::ZERO,
            usage: Value::Null,
            stop_reason: None,
        }
    }

    fn block(mut self, block: Block) -> Self {
        if let Body::Message(blocks) = &mut self.body {
            blocks.push(block);
        }
        self
    }
}

impl From<&str> for ModelTurn {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}
