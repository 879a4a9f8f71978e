//! Commands of `Verify:`, `## Verification` and `## Exit Condition`, and their expectations.
//!
//! Here `Verify:` takes a command with or without backticks; [`crate::fields::stated_checks`] reads other plans.

use std::ops::Range;

use omo_core::check::task_check::{TaskCheck, has_pipe};
use omo_core::text::sanitize;

use super::is_horizontal_rule;
use crate::diagnostic::Code as DiagnosticCode;
use crate::dialects::ultraplan::expectation::{VerifyCommand, apply_expectation, strip_word};
use crate::dialects::ultraplan::inline_code::{InlinePiece, split_inline_code};
use crate::dialects::ultraplan::section_outline::PlanFindings;
use crate::document::{CodeBlock, MarkdownDocument, line_ranges};
use crate::labels::split_list_marker;

const MARKS: [&str; 9] = [
    "→",
    "->",
    "=>",
    "expect",
    "should ",
    "prints ",
    "outputs ",
    "contains ",
    "shows ",
];
/// Marks of an expectation behind a command without backticks, which may itself hold words of `MARKS`.
const PLAIN_MARKS: [&str; 4] = ["→", "expected:", "expected output:", "(expect"];

pub(crate) fn read_commands(
    document: &MarkdownDocument<'_>,
    bytes: Range<usize>,
) -> Vec<VerifyCommand> {
    let mut found = Vec::new();
    let mut start = bytes.start;
    for code in fenced_blocks(document, &bytes) {
        read_item_commands(document.slice(start..code.span.start), &mut found);
        found.extend(
            block_commands(&document.dedented_code(code))
                .iter()
                .map(|command| plain_command(command)),
        );
        start = code.span.end;
    }
    read_item_commands(document.slice(start..bytes.end), &mut found);
    found
}

/// Commands of a section, and its items without a command. Headings and text of paragraphs are skipped.
pub(crate) fn read_section_commands(
    document: &MarkdownDocument<'_>,
    bytes: Range<usize>,
) -> (Vec<VerifyCommand>, Vec<Range<usize>>) {
    let mut found = Vec::new();
    let mut without_command = Vec::new();
    let mut code = fenced_blocks(document, &bytes).peekable();
    for line in line_ranges(document.text, bytes.clone()) {
        while let Some(block) = code.next_if(|block| block.span.start < line.end) {
            found.extend(
                block_commands(&document.dedented_code(block))
                    .iter()
                    .map(|command| plain_command(command)),
            );
        }
        let text = document.slice(line.clone());
        let (sign, item) = split_list_marker(text);
        if document.code_at(line.start).is_some()
            || document.is_in_html(line.start)
            || item.starts_with('#')
            || is_horizontal_rule(text)
        {
            continue;
        }
        let (commands, after) = item_commands(item);
        let has_code = split_inline_code(item).iter().any(|piece| piece.is_code);
        let commands: Vec<VerifyCommand> = commands
            .into_iter()
            .filter(|command| !command.is_prose)
            .collect();
        // A plain line adds no command; it may be the expectation of the command above.
        if sign.is_some() || has_code {
            if commands.is_empty() && after.is_empty() && !super::is_nothing(item) {
                without_command.push(line);
                continue;
            }
            found.extend(commands);
        }
        if let Some(last) = found.last_mut() {
            apply_expectation(last, after);
        }
    }
    (found, without_command)
}

pub(crate) fn fenced_blocks<'d>(
    document: &'d MarkdownDocument<'_>,
    bytes: &Range<usize>,
) -> impl Iterator<Item = &'d CodeBlock<'d>> {
    let from = document
        .code_blocks
        .partition_point(|code| code.span.start < bytes.start);
    let behind = document
        .code_blocks
        .iter()
        .skip(from)
        .take_while(move |code| code.span.start < bytes.end);
    behind.filter(|code| code.info.is_some())
}

fn read_item_commands(text: &str, found: &mut Vec<VerifyCommand>) {
    for item in split_items(text) {
        let (commands, after) = item_commands(&item);
        found.extend(commands);
        if let Some(last) = found.last_mut() {
            apply_expectation(last, after);
        }
    }
}

/// List items, or the text as one. A paragraph behind an empty line is skipped, unless it is an expectation.
pub(crate) fn split_items(text: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut is_behind_empty = false;
    for line in text
        .lines()
        .map(str::trim)
        .filter(|line| !is_horizontal_rule(line))
    {
        let (sign, inner) = split_list_marker(line);
        let is_expectation = line.starts_with('→')
            || strip_word(inner.trim_start_matches('*'), "expected").is_some();
        if line.is_empty() {
            is_behind_empty = true;
            continue;
        }
        match items.last_mut() {
            Some(_) if sign.is_none() && is_behind_empty && !is_expectation => continue,
            Some(open) if sign.is_none() => {
                open.push(' ');
                open.push_str(inner);
            }
            _ => items.push(inner.to_owned()),
        }
        is_behind_empty = false;
    }
    items.retain(|item| !item.trim().is_empty());
    items
}

fn plain_command(command: &str) -> VerifyCommand {
    VerifyCommand {
        check: TaskCheck::new(command),
        is_prose: false,
        expected_sentence: None,
    }
}

/// A command for each line, or for the whole block where a line goes on in the next.
fn block_commands(block: &str) -> Vec<String> {
    let lines: Vec<&str> = block
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let goes_on = lines.iter().map(|line| line.trim()).any(|line| {
        let first_word = line.split([' ', ';']).next().unwrap_or_default();
        line.ends_with(['\\', '|', '{', '(', '&'])
            || line.contains("<<")
            || matches!(
                first_word,
                "if" | "for" | "while" | "until" | "case" | "cd" | "export" | "set"
            )
    });
    if goes_on {
        // The block ends with its first command that fails, as separate commands would.
        return vec![format!("set -e\n{}", lines.join("\n"))];
    }
    let commands = lines
        .iter()
        .map(|line| line.trim())
        .filter(|line| !line.starts_with('#'));
    commands
        .map(|line| line.strip_prefix("$ ").unwrap_or(line).to_owned())
        .collect()
}

/// Commands of an item, which stand before its expectation if it has one, and the text of the expectation.
fn item_commands(item: &str) -> (Vec<VerifyCommand>, &str) {
    let item = ["run:", "command:"]
        .iter()
        .find_map(|lead| strip_word(item, lead))
        .unwrap_or(item);
    let parts = split_inline_code(item);
    let has_code = parts.iter().any(|piece| piece.is_code);
    let marks: &[&str] = if has_code { &MARKS } else { &PLAIN_MARKS };
    let end = parts
        .iter()
        .filter(|piece| !piece.is_code)
        .find_map(|piece| find_mark(item, piece, marks))
        .unwrap_or(item.len());
    let (before, after) = item.split_at(end);
    let code = commands_before_mark(before);
    let mut found: Vec<VerifyCommand> = code
        .iter()
        .map(|command| VerifyCommand {
            is_prose: is_file(command),
            ..plain_command(command)
        })
        .collect();
    if found.is_empty() && !super::is_nothing(before) {
        let command = before.trim().trim_end_matches(['—', '-', ',']).trim();
        found.push(VerifyCommand {
            is_prose: is_sentence(command),
            ..plain_command(command)
        });
    }
    (found, after)
}

/// The first code span, and those joined to it by `,` or `and`. A file name is a command only without other code.
fn commands_before_mark(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut file = None;
    let mut is_apart = false;
    for piece in split_inline_code(text) {
        let code = piece.text.trim();
        if piece.is_code && found.is_empty() && is_file(code) {
            file = file.or(Some(code));
        } else if piece.is_code {
            found.extend(Some(code.to_owned()).filter(|code| !code.is_empty() && !is_apart));
        } else if !found.is_empty() {
            is_apart = is_apart
                || !piece
                    .text
                    .replace([',', ';'], " ")
                    .split_whitespace()
                    .all(|word| matches!(word, "and" | "then" | "&&" | "," | ";" | "&" | "+"));
        }
    }
    if found.is_empty() {
        file.map(str::to_owned).into_iter().collect()
    } else {
        found
    }
}

fn find_mark(item: &str, piece: &InlinePiece, marks: &[&str]) -> Option<usize> {
    let lower = item.get(piece.range.clone())?.to_ascii_lowercase();
    let marked = marks.iter().filter_map(|mark| {
        lower.match_indices(mark).map(|(at, _)| at).find(|at| {
            // `unexpected` is no mark.
            let before = lower.get(..*at).unwrap_or_default();
            !before.ends_with(char::is_alphabetic)
        })
    });
    Some(piece.range.start + marked.min()?)
}

/// A file name that no shell would find as a command.
fn is_file(code: &str) -> bool {
    let ending = code.rsplit_once('.').map(|(_, ending)| ending);
    let has_ending = ending
        .is_some_and(|ending| !ending.is_empty() && ending.chars().all(char::is_alphanumeric));
    has_ending && !code.starts_with(['.', '/', '~']) && !code.contains(char::is_whitespace)
}

/// A command without backticks that reads like a sentence.
fn is_sentence(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let begins_upper = command.starts_with(char::is_uppercase) && !command.contains('=');
    let ends_like_sentence =
        command.ends_with('.') && !command.ends_with("..") && !command.ends_with(" .");
    words.len() > 1
        && (begins_upper
            || ends_like_sentence
            || words.iter().any(|word| matches!(*word, "the" | "that")))
}

pub(crate) fn report_command(
    command: &VerifyCommand,
    span: &Range<usize>,
    task: Option<&str>,
    findings: &mut PlanFindings<'_>,
) {
    let shown = sanitize(&command.check.command, 80);
    if command.is_prose {
        let text = format!("`{shown}` reads like a sentence, not like a command");
        findings.add(
            DiagnosticCode::VerifyMayBeProse,
            span.clone(),
            task,
            text,
            "write the command between backticks",
        );
    }
    if let Some(outcome) = &command.expected_sentence {
        let text = format!(
            "`{}` reads like a sentence: only the exit status counts",
            sanitize(outcome, 80)
        );
        let help = "write what the output has to hold between backticks";
        findings.add(
            DiagnosticCode::ExpectationIsProse,
            span.clone(),
            task,
            text,
            help,
        );
    }
    if has_pipe(&command.check.command) {
        let text = format!("`{shown}` pipes its output on");
        findings.add(DiagnosticCode::PipeInVerify, span.clone(), task, text, "");
    }
}

#[cfg(test)]
mod tests;
