//! Output of hooks: nothing, plain text, or one JSON object of a fixed shape.

mod highlight;

use std::sync::atomic::{AtomicBool, Ordering};

use omo_core::session::HookEvent;
use omo_state::env;
use serde_json::{Value, json};

use crate::platform;

static IS_ANSWERED: AtomicBool = AtomicBool::new(false);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookAnswer {
    /// Plain text as context for the model.
    Context(String),
    /// A prompt that the model never sees; its user reads this instead.
    RejectPrompt(String),
    /// Omo answers in place of the model. Unlike after a rejection, the prompt does not come back into the input box
    /// (measured on 2.1.328); the model reads both later.
    AnswerPrompt(String),
    Notice {
        user: String,
        model: Option<String>,
    },
    /// Lines for the user, and control sequences (bell, notification) that the client writes to its terminal as they
    /// are (measured on 2.1.328); a hook has none.
    Notify {
        user: String,
        /// Empty for none.
        terminal: String,
    },
    /// The session goes on: `decision: block`.
    Block(String),
    /// The session goes on: `additionalContext`.
    ContinueWithContext(String),
}

impl HookAnswer {
    /// `answer` with a line for the user before it.
    pub fn with_line(line: Option<String>, answer: Option<Self>) -> Option<Self> {
        let Some(line) = line else { return answer };
        Some(match answer {
            None => Self::Notice {
                user: line,
                model: None,
            },
            Some(Self::Context(model) | Self::ContinueWithContext(model)) => Self::Notice {
                user: line,
                model: Some(model),
            },
            Some(Self::Notice { user, model }) => Self::Notice {
                user: format!("{line}\n{user}"),
                model,
            },
            // Beside a reason the client shows no other line.
            Some(Self::RejectPrompt(reason)) => Self::RejectPrompt(format!("{line}\n{reason}")),
            Some(Self::AnswerPrompt(answer)) => Self::AnswerPrompt(format!("{line}\n{answer}")),
            Some(Self::Block(reason)) => Self::Block(format!("{line}\n{reason}")),
            Some(Self::Notify { user, terminal }) => Self::Notify {
                user: format!("{line}\n{user}"),
                terminal,
            },
        })
    }

    /// Writes the first answer of this process to `stdout`; later calls do nothing. Unbuffered: the
    /// answer must be out before the session's lock is given back.
    pub fn print(&self, event: HookEvent) {
        if !IS_ANSWERED.swap(true, Ordering::Relaxed) {
            let answer = if env::has_coloured_client() {
                self.clone().highlighted()
            } else {
                self.clone()
            };
            let _ = platform::write(answer.to_output(event).as_bytes());
        }
    }

    /// The answer with colours for the user's lines; a reason of a refused prompt has none.
    fn highlighted(self) -> Self {
        match self {
            Self::Notice { user, model } => Self::Notice {
                user: highlight::highlight(&user),
                model,
            },
            Self::Notify { user, terminal } => Self::Notify {
                user: highlight::highlight(&user),
                terminal,
            },
            other => other,
        }
    }

    /// Text for `stdout`, as the client expects it from a hook of `event`.
    pub fn to_output(&self, event: HookEvent) -> String {
        match self {
            Self::Context(text) => return text.clone(),
            Self::RejectPrompt(reason) => json!({
                "decision": "block",
                "reason": reason,
            "hookSpecificOutput": event_output(event, "suppressOriginalPrompt", true.into()),
            }),
            Self::AnswerPrompt(answer) => json!({ "continue": false, "stopReason": answer }),
            Self::Notice { user, model: None } => json!({ "systemMessage": user }),
            Self::Notice {
                user,
                model: Some(model),
            } => json!({
                "systemMessage": user,
            "hookSpecificOutput": event_output(event, "additionalContext", model.as_str().into()),
            }),
            Self::Notify { user, terminal } if terminal.is_empty() => {
                json!({ "systemMessage": user })
            }
            Self::Notify { user, terminal } => {
                json!({ "systemMessage": user, "terminalSequence": terminal })
            }
            Self::Block(reason) => json!({ "decision": "block", "reason": reason }),
            Self::ContinueWithContext(context) => json!({
            "hookSpecificOutput": event_output(event, "additionalContext", context.as_str().into()),
            }),
        }
        .to_string()
    }
}

fn event_output(event: HookEvent, key: &str, value: Value) -> Value {
    Value::from_iter([(key, value), ("hookEventName", event.name().into())])
}
