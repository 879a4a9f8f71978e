//! The models of the agents of a plan.

use serde::{Deserialize, Serialize};

/// The models of a run's agents: names that the client knows, or [`SESSION_MODEL`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanModels {
    pub tasks: Option<String>,
    pub verifier: Option<String>,
}

pub const SESSION_MODEL: &str = "inherit";
const MAX_MODEL_CHARS: usize = 100;

/// `true` for a model's name, such as `sonnet` or `claude-opus-5-5[1m]`.
pub fn is_model_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphanumeric())
        && word.len() <= MAX_MODEL_CHARS
        && word
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || "-._:/@[]".contains(char))
}
