//! Waves of a Kiro plan, read from JSON at its end: groups of tasks that run at the same time.

use serde::Deserialize;
use serde_json::Value;

use crate::document::MarkdownDocument;

#[derive(Deserialize)]
struct WaveGraph {
    waves: Vec<Wave>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Wave {
    Named { tasks: Vec<Value> },
    Plain(Vec<Value>),
}

/// Task ids of each wave in order; `None` for a plan without waves.
pub(super) fn read_waves(document: &MarkdownDocument<'_>) -> Option<Vec<Vec<String>>> {
    let mut blocks = document
        .code_blocks
        .iter()
        .rev()
        .map(|code| document.slice(code.inner.clone()));
    let graph = blocks.find_map(|text| {
        let is_graph = text.contains("\"waves\"");
        if is_graph {
            serde_json::from_str::<WaveGraph>(text).ok()
        } else {
            None
        }
    })?;
    let waves = graph.waves.into_iter().map(|wave| match wave {
        Wave::Named { tasks } | Wave::Plain(tasks) => {
            tasks.into_iter().filter_map(read_id).collect()
        }
    });
    Some(waves.collect())
}

fn read_id(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().trim_end_matches('.').to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(mut fields) => fields.remove("id").and_then(|id| match id {
            Value::String(text) => Some(text),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }),
        _ => None,
    }
}
