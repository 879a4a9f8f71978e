//! One answer of the scripted model: what it says and how it is delivered.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use omo_scripted_model::{ModelMessage, ModelReply, ReplyBlock};
use serde_json::{Value, json};

use super::request::RecordedRequest;

/// One answer of the model.
#[derive(Debug, Clone)]
pub struct ModelTurn {
    pub(super) kind: TurnKind,
    pub(super) delay: Duration,
    pub(super) message: ModelMessage,
}

/// Kind of a turn.
#[derive(Clone)]
pub(super) enum TurnKind {
    Message,
    Failure(ModelReply),
    Hang,
    Computed(Arc<dyn Fn(&RecordedRequest) -> ModelTurn + Send + Sync>),
}

impl fmt::Debug for TurnKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message => formatter.write_str("Message"),
            Self::Failure(error) => error.fmt(formatter),
            Self::Hang => formatter.write_str("Hang"),
            Self::Computed(_) => formatter.write_str("Computed"),
        }
    }
}

impl ModelTurn {
    /// The model says `text`.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(TurnKind::Message).block(ReplyBlock::Text(text.into()))
    }

    /// The model calls a tool and says nothing.
    pub fn call(name: &str, input: Value) -> Self {
        Self::new(TurnKind::Message).tool(name, input)
    }

    /// The model runs a shell command.
    pub fn bash(command: &str) -> Self {
        Self::call(
            "Bash",
            json!({"command": command, "description": "run a test command"}),
        )
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

    /// A reviewer reads the file that its prompt names.
    pub fn reads_what_is_reviewed() -> Self {
        Self::computed(|request| {
            let text = request.first_text();
            let path = text
                .split_once(" described in ")
                .and_then(|(_, rest)| rest.split_once(": its task"));
            Self::call(
                "Read",
                json!({"file_path": path.map_or("", |(path, _)| path)}),
            )
        })
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
        Self::new(TurnKind::Failure(ModelReply::error(status, kind, message)))
    }

    /// The API says that a subscription has no more use left for five hours, until `resets_at`, in seconds since 1970.
    /// The client believes the headers where it was given a token of a subscription, and only then.
    pub fn usage_limit(resets_at: i64) -> Self {
        let mut turn = Self::error(
            429,
            "rate_limit_error",
            "This request would exceed the limit of use.",
        );
        if let TurnKind::Failure(ModelReply::Error { headers, .. }) = &mut turn.kind {
            headers.extend([
                ("anthropic-ratelimit-unified-status", "rejected".to_owned()),
                ("anthropic-ratelimit-unified-reset", resets_at.to_string()),
                (
                    "anthropic-ratelimit-unified-representative-claim",
                    "five_hour".to_owned(),
                ),
            ]);
        }
        turn
    }

    /// The API never answers.
    pub fn hang() -> Self {
        Self::new(TurnKind::Hang)
    }

    /// The answer depends on the request, for example to repeat a token that a hook gave.
    pub fn computed(answer: impl Fn(&RecordedRequest) -> Self + Send + Sync + 'static) -> Self {
        Self::new(TurnKind::Computed(Arc::new(answer)))
    }

    /// Adds a tool call.
    #[must_use]
    pub fn tool(self, name: &str, input: Value) -> Self {
        self.block(ReplyBlock::Tool {
            name: name.to_owned(),
            input,
        })
    }

    /// Adds a thinking block.
    #[must_use]
    pub fn thinking(self, text: &str) -> Self {
        self.block(ReplyBlock::Thinking(text.to_owned()))
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
        self.message.chunks = chunks.max(1);
        self.message.chunk_delay = delay;
        self
    }

    /// Sets fields of `usage`, for example `{"input_tokens": 195000}` to make the client compact.
    #[must_use]
    pub fn usage(mut self, usage: Value) -> Self {
        self.message.usage = usage;
        self
    }

    /// Sets the stop reason instead of `end_turn` or `tool_use`.
    #[must_use]
    pub fn stop_reason(mut self, reason: &str) -> Self {
        self.message.stop_reason = Some(reason.to_owned());
        self
    }

    fn new(kind: TurnKind) -> Self {
        Self {
            kind,
            delay: Duration::ZERO,
            message: ModelMessage::new(Vec::new()),
        }
    }

    fn block(mut self, block: ReplyBlock) -> Self {
        self.message.blocks.push(block);
        self
    }
}

impl From<&str> for ModelTurn {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}
