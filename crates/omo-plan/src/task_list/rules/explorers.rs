//! Explorers of a task list: agents that look at the project first, and their findings.

use serde_json::{Map, Value, json};

use crate::task_list::{ContextFile, ExplorerEntry};

const EXPECTED_EXPLORERS: &str = "expected_explorers";
const KEY_FILES: &str = "key_files";
const PATTERNS: &str = "patterns";

/// Finding of one explorer.
#[derive(Clone, Debug, Default)]
pub struct ExplorerFinding {
    pub id: String,
    pub hint: String,
    pub file: String,
    pub summary: String,
    pub key_files: Vec<String>,
    pub patterns: Vec<String>,
}

/// Context in which exploration begins anew, by the `expected` explorers.
pub fn expect_explorers(context: Option<ContextFile>, expected: &[String]) -> ContextFile {
    let mut context = context.unwrap_or_else(|| {
        let mut context = empty_context("2.2");
        context
            .extra
            .insert("scopeExpansion".to_owned(), Value::Null);
        context
    });
    context
        .extra
        .insert(EXPECTED_EXPLORERS.to_owned(), json!(expected));
    context.exploration_complete = false;
    context
}

/// Context with a finding; `None` for a repeated one. The last expected one completes exploration.
pub fn add_explorer_finding(
    context: Option<ContextFile>,
    found: ExplorerFinding,
) -> Option<ContextFile> {
    let mut context = context.unwrap_or_else(|| empty_context("2.1"));
    if context
        .explorers
        .iter()
        .any(|explorer| explorer.id == found.id)
    {
        return None;
    }
    let answers = [
        ("hint", found.hint),
        ("file", found.file),
        ("summary", found.summary),
    ];
    let answers = answers
        .into_iter()
        .map(|(name, text)| (name.to_owned(), Value::from(text)))
        .collect();
    context.explorers.push(ExplorerEntry {
        id: found.id,
        said: answers,
    });
    merge_texts(&mut context.extra, KEY_FILES, found.key_files);
    merge_texts(&mut context.extra, PATTERNS, found.patterns);
    if expected_explorers(&context).next().is_some() && !awaits_explorers(&context) {
        context.exploration_complete = true;
    }
    Some(context)
}

pub fn awaits_explorers(context: &ContextFile) -> bool {
    expected_explorers(context).any(|id| context.explorers.iter().all(|explorer| explorer.id != id))
}

fn expected_explorers(context: &ContextFile) -> impl Iterator<Item = &str> {
    context
        .extra
        .get(EXPECTED_EXPLORERS)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn empty_context(version: &str) -> ContextFile {
    let lists = [EXPECTED_EXPLORERS, KEY_FILES, PATTERNS, "constraints"]
        .map(|name| (name.to_owned(), json!([])));
    let mut extra: Map<String, Value> = lists.into_iter().collect();
    extra.insert("version".to_owned(), version.into());
    ContextFile {
        extra,
        ..ContextFile::default()
    }
}

fn merge_texts(into: &mut Map<String, Value>, name: &str, texts: Vec<String>) {
    let list = into.entry(name).or_insert_with(|| json!([]));
    if let Some(list) = list.as_array_mut() {
        for text in texts.into_iter().map(Value::from) {
            if !list.contains(&text) {
                list.push(text);
            }
        }
    }
}
