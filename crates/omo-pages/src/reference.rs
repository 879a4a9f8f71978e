//! Markdown tables for the docs: slash commands, exit statuses, limits and hooks.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use omo_core::events::EVENTS;
use omo_core::limits::LIMITS;

/// Every slash command, from the front matter of its file. The client shows its arguments.
pub(crate) fn slash_commands(folder: &Path) -> Result<String> {
    let mut rows = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))? {
        let path = entry?.path();
        let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        let name = path
            .file_stem()
            .and_then(|name| name.to_str())
            .context("a command without a name")?;
        let description = front_matter(&text, "description")
            .with_context(|| format!("{name} has no description"))?;
        let typed = format!("/omo:{name}");
        rows.push(format!("| `{typed}` | {} |", cell(&description)));
    }
    rows.sort();
    Ok(table("you type | what it does", &rows))
}

fn front_matter(text: &str, field: &str) -> Option<String> {
    let front = text.strip_prefix("---\n")?.split("\n---\n").next()?;
    let value = front
        .lines()
        .find_map(|line| line.strip_prefix(field)?.strip_prefix(": "))?
        .trim();
    let quoted = value
        .strip_prefix('"')
        .and_then(|value| value.strip_suffix('"'));
    Some(quoted.map_or_else(|| value.to_owned(), |value| value.replace("\\\"", "\"")))
}

/// Exit statuses of `omo`, for scripts.
pub(crate) fn exit_statuses() -> String {
    let rows: Vec<String> = omo_cli::exit_statuses()
        .map(|(status, kind, meaning)| format!("| {status} | `{kind}` | {meaning} |"))
        .collect();
    table("exit status | kind | meaning", &rows)
}

/// Meanings of the limits; the settings above have their defaults and ranges.
pub(crate) fn limits() -> String {
    let rows = LIMITS.map(|row| format!("| `{}` | {} |", row.name, row.meaning));
    table("limit | meaning", &rows)
}

/// Hooks of the client, with their time limits.
pub(crate) fn hooks() -> String {
    let rows = EVENTS.map(|row| {
        format!(
            "| {} | `{}` | {} s | {} |",
            row.name, row.program, row.timeout_seconds, row.purpose
        )
    });
    table("event | program | at most | what it does", &rows)
}

/// A Markdown table; `heading` is its first row, without the outer bars.
pub(crate) fn table(heading: &str, rows: &[String]) -> String {
    let columns = heading.split(" | ").count();
    format!(
        "| {heading} |\n|{}\n{}\n",
        "---|".repeat(columns),
        rows.join("\n")
    )
}

/// Text for a cell, with `|` escaped.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_read_with_and_without_quotes() {
        let text = "---\ndescription: Show it\nargument-hint: \"[--check \\\"C\\\"] a | b\"\n---\nhint: no\n";
        assert_eq!(
            front_matter(text, "description").as_deref(),
            Some("Show it")
        );
        assert_eq!(
            front_matter(text, "argument-hint").as_deref(),
            Some("[--check \"C\"] a | b")
        );
        assert_eq!(front_matter(text, "hint"), None);
        assert_eq!(cell("a | b"), "a \\| b");
    }
}
