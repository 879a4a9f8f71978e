//! What a `Verify` label says: commands, and what is expected of each.
//!
//! A command is what stands behind `Run:`, in a code block, or as code at the start of a line. A
//! sentence is none. Of an expectation the exit status is taken where it is said, and a text of the
//! output where it is quoted; the rest is for people.

mod expectation;

use std::ops::Range;

use omo_core::check::task_check::TaskCheck;

use crate::document::{CodeBlock, MarkdownDocument, line_ranges};
use crate::labels::split_list_marker;
use crate::pattern::Pattern;
use expectation::{Expectation, parse_expectation};

pub use expectation::StatedOutcome;

/// Code blocks that hold commands.
const SHELLS: [&str; 9] = ["", "sh", "bash", "shell", "zsh", "console", "terminal", "shell-session", "cmd"];

/// A check with what the plan says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedCheck {
    /// The command and what is expected of it.
    pub check: TaskCheck,
    /// What its end is said to be.
    pub stated_outcome: StatedOutcome,
    /// What is expected is said in words that nothing is held to.
    pub is_expected_in_prose: bool,
    /// The command reads like a sentence.
    pub is_prose: bool,
    /// The bytes of the line, or of the code block, that it stands in.
    pub span: Range<usize>,
}

/// What the next line or block is for, where a label stands alone on its line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Awaited {
    Nothing,
    Command,
    Expectation,
}

/// Reads the checks of the value of a `Verify` label.
pub(crate) fn read_checks(document: &MarkdownDocument<'_>, value: Range<usize>) -> Vec<StatedCheck> {
    let mut found: Vec<StatedCheck> = Vec::new();
    let mut awaited = Awaited::Nothing;
    let mut done = value.start;
    for line in line_ranges(document.text, value.clone()) {
        if line.start < done {
            continue;
        }
        let row = document.slice(line.clone());
        if let Some(code) = document.code_at(line.end.saturating_sub(1).max(line.start)) {
            done = code.span.end;
            read_block(document, code, awaited, &mut found);
            awaited = Awaited::Nothing;
            continue;
        }
        let (_, text) = split_list_marker(row);
        if text.is_empty() {
            continue;
        }
        match split_keyword(text) {
            (Awaited::Command, "") => awaited = Awaited::Command,
            (Awaited::Expectation, "") => awaited = Awaited::Expectation,
            (Awaited::Command, rest) => {
                found.extend(read_command(rest, line.clone(), true));
                awaited = Awaited::Nothing;
            }
            (Awaited::Expectation, rest) => {
                apply_expectation(found.last_mut(), rest);
                awaited = Awaited::Nothing;
            }
            (Awaited::Nothing, _) => {
                match awaited {
                    Awaited::Command => found.extend(read_command(text, line.clone(), true)),
                    Awaited::Expectation => apply_expectation(found.last_mut(), text),
                    Awaited::Nothing => found.extend(read_command(text, line.clone(), false)),
                }
                awaited = Awaited::Nothing;
            }
        }
    }
    found
}

/// The word that says what a line is for, up to behind its colon or to the code behind it: `Expected output:`,
/// `**Run:** …`, `Run from the root: …`, and `Run` before code.
static KEYWORD: Pattern = Pattern::new(
    r"^[*_]*(?:((?i-u:run|command|cmd|execute))|(?i-u:expect(?:ed|s)?))(?:(?:[^A-Za-z`:：][^`:：]{0,38})?[:：][:：*_ \t]*|[*_ ]*(`))",
);

/// What a line is for, and what stands behind the word that says so.
fn split_keyword(text: &str) -> (Awaited, &str) {
    let Some(([command, code], rest)) = KEYWORD.read(text) else { return (Awaited::Nothing, text) };
    let kind = if command.is_empty() { Awaited::Expectation } else { Awaited::Command };
    (kind, text.get(text.len() - rest.len() - code.len()..).unwrap_or_default().trim_end())
}

fn read_block(document: &MarkdownDocument<'_>, code: &CodeBlock<'_>, awaited: Awaited, found: &mut Vec<StatedCheck>) {
    let text = document.dedented_code(code);
    if awaited == Awaited::Expectation {
        // More than one line of output is rarely the same twice: it is for people.
        let is_line = !text.is_empty() && !text.contains('\n');
        apply_expectation(found.last_mut(), &if is_line { format!("`{text}`") } else { text });
        return;
    }
    let language = code.info.unwrap_or_default().split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    if !SHELLS.contains(&language.as_str()) {
        return;
    }
    // Where lines have a prompt, the others are output.
    let prompted: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    let rows: Vec<&str> = if prompted.is_empty() { text.lines().collect() } else { prompted };
    let is_comment = |row: &&str| row.trim().is_empty() || row.trim_start().starts_with('#');
    if rows.iter().all(is_comment) {
        return;
    }
    let is_alone = rows.iter().filter(|row| !is_comment(row)).count() == 1;
    let command =
        if is_alone { rows.into_iter().find(|row| !is_comment(row)).map(str::to_owned) } else { Some(rows.join("\n")) };
    found.extend(command.map(|command| StatedCheck {
        check: TaskCheck::new(command.trim()),
        stated_outcome: StatedOutcome::Nothing,
        is_expected_in_prose: false,
        is_prose: false,
        span: code.span.clone(),
    }));
}

/// The check of a line. One that does not say that it is a command has to look like one.
fn read_command(text: &str, span: Range<usize>, is_said: bool) -> Option<StatedCheck> {
    let (command, rest) = match split_code_span(text) {
        Some((code, rest)) => (code.trim(), rest.trim()),
        None => (text.trim(), ""),
    };
    let is_code = text.starts_with('`');
    let joins = ["→", "->", "=>", "—", "–", "-", "(", ":", ",", ";", ".", "exit", "pass", "succeed", "fail", "return"];
    let has_end = rest.is_empty() || joins.iter().any(|join| rest.starts_with(join));
    let is_prose = reads_like_prose(command);
    let is_one = is_said || (if is_code { has_end && !is_prose } else { looks_like_command(command) });
    if command.is_empty() || !is_one {
        return None;
    }
    let mut found = StatedCheck {
        check: TaskCheck::new(command),
        stated_outcome: StatedOutcome::Nothing,
        is_expected_in_prose: false,
        is_prose,
        span,
    };
    let rest = rest.trim_matches(|char: char| !char.is_alphanumeric() && !"`\"“”".contains(char));
    if !rest.is_empty() {
        let rest = match split_keyword(rest) {
            (Awaited::Expectation, rest) => rest,
            _ => rest,
        };
        apply_expectation(Some(&mut found), rest);
    }
    Some(found)
}

fn apply_expectation(found: Option<&mut StatedCheck>, text: &str) {
    let Some(found) = found else { return };
    let Expectation { expect, stated, is_prose } = parse_expectation(text, &found.check.command);
    // Of two expectations the first that says something counts.
    if found.stated_outcome == StatedOutcome::Nothing {
        found.check.expect.exit = expect.exit;
        found.stated_outcome = stated;
    }
    found.check.expect.stdout_has = found.check.expect.stdout_has.take().or(expect.stdout_has);
    found.is_expected_in_prose |= is_prose;
}

/// The code that a text begins with, and what is behind it.
pub(crate) fn split_code_span(text: &str) -> Option<(&str, &str)> {
    let inner = text.trim_start_matches('`');
    let sign = text.get(..text.len() - inner.len()).filter(|sign| !sign.is_empty())?;
    let mut from = 0;
    loop {
        let at = from + inner.get(from..)?.find(sign)?;
        let behind = inner.get(at + sign.len()..)?;
        let more = behind.trim_start_matches('`');
        if more.len() == behind.len() {
            let code = inner.get(..at)?;
            let bare = code.strip_prefix(' ').and_then(|code| code.strip_suffix(' '));
            return Some((bare.filter(|bare| !bare.trim().is_empty()).unwrap_or(code), behind));
        }
        from = inner.len() - more.len();
    }
}

/// Whether a command reads like a sentence.
pub(crate) fn reads_like_prose(text: &str) -> bool {
    const SMALL: [&str; 18] = [
        "the", "a", "an", "is", "are", "should", "that", "with", "and", "to", "of", "it", "all", "in", "no", "when",
        "be", "on",
    ];
    let words: Vec<&str> = text.split_whitespace().collect();
    let first = words.first().copied().unwrap_or_default();
    let is_foreign = first.chars().any(|char| char.is_alphabetic() && !char.is_ascii());
    let is_capital = first.starts_with(|char: char| char.is_ascii_uppercase())
        && first.chars().skip(1).all(|char| char.is_ascii_lowercase());
    let small = words.iter().filter(|word| SMALL.contains(&word.to_ascii_lowercase().as_str())).count();
    let has_signs = text.contains(['|', '&', ';', '$', '=', '<', '>', '"', '\'', '\\', '/']) || text.contains(" -");
    is_foreign || (words.len() > 2 && (is_capital || (small >= 2 && !has_signs)))
}

/// Whether a text without code around it is likely a command: not a sentence, not one word.
fn looks_like_command(text: &str) -> bool {
    let words = text.split_whitespace().count();
    let is_start = text.starts_with(|char: char| char.is_ascii_lowercase() || "./![~".contains(char));
    let is_end = !text.ends_with(['.', ':', '。']) && !text.contains('`');
    let is_none = text.to_ascii_lowercase().starts_with("n/a") || text.to_ascii_lowercase().starts_with("none");
    words > 1 && is_start && is_end && !is_none && !reads_like_prose(text)
}

#[cfg(test)]
mod tests;
