//! Output of hooks: nothing, plain text, or one JSON object of a fixed shape.

mod highlight;

use std::sync::atomic::{AtomicBool, Ordering};

use omo_core::session::HookEvent;
use omo_state::env;
use serde_json::{Value, json};

use crate::platform;

static IS_ANSWERED: AtomicBool = AtomicBool::new(false);

/// Answer of a hook, for `stdout`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookAnswer {
    /// Plain text, which the client hands to the model as context.
    Context(String),
    /// A prompt that the model never sees; its user reads this instead.
    RejectPrompt(String),
    /// A prompt that omo answers in the place of the model. Unlike a rejected one, its words do not come back into the
    /// input box, where the next command would be typed behind them (measured on 2.1.328); the model reads both later.
    AnswerPrompt(String),
    /// One line for the user, and context for the model where there is some.
    Notice {
        /// Text for the user.
        user: String,
        /// Text for the model.
        model: Option<String>,
    },
    /// Lines for the user, and a control sequence for their terminal: a bell, a notification. The client writes it
    /// there as it is, several in one as well (measured on 2.1.328); a hook has no terminal of its own.
    Notify {
        /// Text for the user.
        user: String,
        /// The sequence; empty for none.
        terminal: String,
    },
    /// The session goes on, as a decision.
    Block(String),
    /// The session goes on, as additional context.
    ContinueWithContext(String),
}

impl HookAnswer {
    /// The answer with a line for the user before it; that line alone where there is no answer.
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
            // The client shows no other line beside a reason.
            Some(Self::RejectPrompt(reason)) => Self::RejectPrompt(format!("{line}\n{reason}")),
            Some(Self::AnswerPrompt(answer)) => Self::AnswerPrompt(format!("{line}\n{answer}")),
            Some(Self::Block(reason)) => Self::Block(format!("{line}\n{reason}")),
            Some(Self::Notify { user, terminal }) => Self::Notify {
                user: format!("{line}\n{user}"),
                terminal,
            },
        })
    }

    /// Writes the answer to stdout, now and in one piece, where nothing was answered yet. A client that is gone needs
    /// none.
    ///
    /// Not through the standard library's stdout, which keeps what follows the last line break until
    /// the process ends: after the lock was given back, when a run may have been stopped already.
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

    /// The answer with what matters in colour. What a prompt is refused with is shown as it is.
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

    /// Text for `stdout`.
    pub fn to_output(&self, event: HookEvent) -> String {
        let specific = |mut value: Value| {
            if let Value::Object(fields) = &mut value {
                fields.insert("hookEventName".to_owned(), event.name().into());
            }
            value
        };
        match self {
            Self::Context(text) => return text.clone(),
            Self::RejectPrompt(reason) => json!({
                "decision": "block",
                "reason": reason,
                "hookSpecificOutput": specific(json!({ "suppressOriginalPrompt": true })),
            }),
            Self::AnswerPrompt(answer) => json!({ "continue": false, "stopReason": answer }),
            Self::Notice { user, model: None } => json!({ "systemMessage": user }),
            Self::Notice {
                user,
                model: Some(model),
            } => json!({
                "systemMessage": user,
                "hookSpecificOutput": specific(json!({ "additionalContext": model })),
            }),
            Self::Notify { user, terminal } if terminal.is_empty() => {
                json!({ "systemMessage": user })
            }
            Self::Notify { user, terminal } => {
                json!({ "systemMessage": user, "terminalSequence": terminal })
            }
            Self::Block(reason) => json!({ "decision": "block", "reason": reason }),
            Self::ContinueWithContext(context) => json!({
                "hookSpecificOutput": specific(json!({ "additionalContext": context })),
            }),
        }
        .to_string()
    }
}
