//! The models of the agents of a plan.

use serde::{Deserialize, Serialize};

/// The models of the agents of a run: names that the client knows, or [`SESSION_MODEL`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanModels {
    /// Model of agents that work on tasks.
    pub tasks: Option<String>,
    /// Model of agents that verify.
    pub verifier: Option<String>,
}

/// The word for the model of the session itself.
pub const SESSION_MODEL: &str = "inherit";
const MAX_MODEL_CHARS: usize = 100;

/// `true` where a word may be the name of a model, such as `sonnet` or `claude-opus-5-5[1m]`.
pub fn is_model_name(word: &str) -> bool {
    let may_stand = |char: char| char.is_ascii_alphanumeric() || "-._:/@[]".contains(char);
    word.starts_with(|first: char| first.is_ascii_alphanumeric())
        && word.len() <= MAX_MODEL_CHARS
        && word.chars().all(may_stand)
}
