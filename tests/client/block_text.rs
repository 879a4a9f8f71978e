//! What a scripted model reads in what `omo` printed for it: a block, its lines, and the commands in them.

use omo_testkit::ModelTurn;
use serde_json::{Value, json};

/// The words that a block begins with.
const BLOCKS: [&str; 9] = [
    "SPAWN workflow",
    "SPAWN agent",
    "SPAWN agents",
    "TASK",
    "DO",
    "ASK",
    "WAIT",
    "STOP",
    "DONE",
];

/// The last block of a text, from its word to the end.
pub(crate) fn last_block(text: &str) -> Option<&str> {
    let mut at = 0;
    let mut found = None;
    for line in text.split_inclusive('\n') {
        if BLOCKS.contains(&line.trim_end()) {
            found = Some(at);
        }
        at += line.len();
    }
    found.map(|at| text[at..].trim_end())
}

/// A command of a block, as it stands there.
pub(crate) fn bash(line: &str) -> ModelTurn {
    ModelTurn::call("Bash", bash_input(line))
}

/// The call for it.
pub(crate) fn bash_input(line: &str) -> Value {
    let mut parts = line.splitn(2, "      (");
    let command = parts.next().unwrap_or_default().trim();
    // Patience where the line asks for it: the client ends a command after two minutes by itself.
    let timeout = if parts.next().is_some() {
        600_000
    } else {
        120_000
    };
    json!({ "command": command, "description": "the command of omo", "timeout": timeout })
}

/// What stands behind a name in a block.
pub(crate) fn field<'a>(block: &'a str, name: &str) -> &'a str {
    let line = block
        .lines()
        .find_map(|line| line.trim_start().strip_prefix(name));
    line.unwrap_or_else(|| panic!("no {name} in:\n{block}"))
}

/// What is between the first `start` and the `end` behind it.
pub(crate) fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    text.split(start).nth(1)?.split(end).next()
}
