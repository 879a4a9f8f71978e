//! Reads checks from a `Verify` label: commands and their expected results.
//!
//! A command stands behind `Run:`, in a code block, or as code first on a line. A stated exit
//! status and quoted output are compared; any other expectation is only shown.

mod expectation;

use std::ops::Range;

use omo_core::check::task_check::TaskCheck;

use crate::document::{CodeBlock, MarkdownDocument, line_ranges};
use crate::fields::shell_commands::names_program;
use crate::labels::split_list_marker;
use crate::pattern::Pattern;
use expectation::{Expectation, parse_expectation};

pub use expectation::StatedOutcome;

const SHELLS: [&str; 16] = [
    "",
    "sh",
    "bash",
    "shell",
    "zsh",
    "fish",
    "console",
    "terminal",
    "shell-session",
    "cmd",
    "bat",
    "batch",
    "powershell",
    "pwsh",
    "ps1",
    "ps",
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedCheck {
    pub check: TaskCheck,
    pub stated_outcome: StatedOutcome,
    /// `true` where the expectation is a sentence, which is not compared.
    pub is_expected_in_prose: bool,
    pub is_prose: bool,
    /// Bytes of the line, or the code block, with the command.
    pub span: Range<usize>,
}

/// Purpose of a line, or of the next one behind a lone label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinePurpose {
    Other,
    Command,
    Expectation,
}

impl StatedCheck {
    pub(crate) fn new(command: &str, span: Range<usize>) -> Self {
        Self {
            check: TaskCheck::new(command.trim()),
            stated_outcome: StatedOutcome::Nothing,
            is_expected_in_prose: false,
            is_prose: false,
            span,
        }
    }
}

pub(crate) fn read_checks(
    document: &MarkdownDocument<'_>,
    value: Range<usize>,
) -> Vec<StatedCheck> {
    let mut found: Vec<StatedCheck> = Vec::new();
    let mut awaited = LinePurpose::Other;
    let mut done = value.start;
    for line in line_ranges(document.text, value.clone()) {
        if line.start < done {
            continue;
        }
        let row = document.slice(line.clone());
        if let Some(code) = document.code_at(line.end.saturating_sub(1).max(line.start)) {
            done = code.span.end;
            read_block(document, code, awaited, &mut found);
            awaited = LinePurpose::Other;
            continue;
        }
        let (_, text) = split_list_marker(row);
        if text.is_empty() {
            continue;
        }
        match split_keyword(text) {
            (LinePurpose::Command, "") => awaited = LinePurpose::Command,
            (LinePurpose::Expectation, "") => awaited = LinePurpose::Expectation,
            (LinePurpose::Command, rest) => {
                found.extend(read_commands(rest, &line, true));
                awaited = LinePurpose::Other;
            }
            (LinePurpose::Expectation, rest) => {
                apply_expectation(found.last_mut(), rest);
                awaited = LinePurpose::Other;
            }
            (LinePurpose::Other, _) => {
                match awaited {
                    LinePurpose::Command => found.extend(read_commands(text, &line, true)),
                    LinePurpose::Expectation => apply_expectation(found.last_mut(), text),
                    LinePurpose::Other => found.extend(read_commands(text, &line, false)),
                }
                awaited = LinePurpose::Other;
            }
        }
    }
    found
}

/// Purpose with its colon, or before code: `Expected output:`, `**Run:** …`,
/// `Run from the root: …`.
static KEYWORD: Pattern = Pattern::new(
    r"^[*_]*(?:({run})|(?:{expected}))(?:(?:[^A-Za-z`:：][^`:：]{0,38})?[:：][:：*_ \t]*|[*_ ]*(`))",
);

pub(crate) fn split_keyword(text: &str) -> (LinePurpose, &str) {
    let Some(([command, code], rest)) = KEYWORD.read(text) else {
        return (LinePurpose::Other, text);
    };
    let kind = if command.is_empty() {
        LinePurpose::Expectation
    } else {
        LinePurpose::Command
    };
    (
        kind,
        text.get(text.len() - rest.len() - code.len()..)
            .unwrap_or_default()
            .trim_end(),
    )
}

fn read_block(
    document: &MarkdownDocument<'_>,
    code: &CodeBlock<'_>,
    awaited: LinePurpose,
    found: &mut Vec<StatedCheck>,
) {
    let text = document.dedented_code(code);
    if awaited == LinePurpose::Expectation {
        apply_expectation(found.last_mut(), &quote_output(&text));
        return;
    }
    found.extend(
        read_shell_block(document, code)
            .map(|command| StatedCheck::new(&command, code.span.clone())),
    );
}

/// Output as an expectation; several lines, which are rarely the same twice, are not compared.
pub(crate) fn quote_output(text: &str) -> String {
    if text.is_empty() || text.contains('\n') {
        text.to_owned()
    } else {
        format!("`{text}`")
    }
}

pub(crate) fn read_shell_block(
    document: &MarkdownDocument<'_>,
    code: &CodeBlock<'_>,
) -> Option<String> {
    let text = document.dedented_code(code);
    let language = code
        .info
        .unwrap_or_default()
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    if !SHELLS.contains(&language.as_str()) {
        return None;
    }
    // Where lines have a prompt, the others are output.
    let prompted: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("$ "))
        .collect();
    let rows: Vec<&str> = if prompted.is_empty() {
        text.lines().collect()
    } else {
        prompted
    };
    let mut commands = rows
        .iter()
        .filter(|row| !(row.trim().is_empty() || row.trim_start().starts_with('#')));
    match (commands.next(), commands.next()) {
        (None, _) => None,
        (Some(only), None) => Some((*only).to_owned()),
        _ => Some(rows.join("\n")),
    }
}

/// Checks joined by `and`, `then` or a comma. Without a keyword (`is_said`) a command has to look like one.
fn read_commands(text: &str, span: &Range<usize>, is_said: bool) -> Vec<StatedCheck> {
    let (command, rest) = match split_code_span(text) {
        Some((code, rest)) => (code.trim(), rest.trim()),
        None => (without_sentence(text.trim()), ""),
    };
    let is_code = text.starts_with('`');
    let (others, rest) = if is_code {
        split_joined_commands(rest)
    } else {
        (Vec::new(), rest)
    };
    let joins = [
        "→", "->", "=>", "—", "–", "-", "(", ":", ",", ";", ".", "exit", "pass", "succeed", "fail",
        "return",
    ];
    let has_end =
        rest.is_empty() || !others.is_empty() || joins.iter().any(|join| rest.starts_with(join));
    let is_prose = reads_like_prose(command);
    let is_one = is_said
        || (if is_code {
            has_end && !is_prose
        } else {
            looks_like_command(command)
        });
    if command.is_empty() || !is_one {
        return Vec::new();
    }
    let mut found = vec![StatedCheck {
        is_prose,
        ..StatedCheck::new(command, span.clone())
    }];
    found.extend(
        others
            .into_iter()
            .map(|command| StatedCheck::new(command, span.clone())),
    );
    let rest = rest.trim_matches(|char: char| !char.is_alphanumeric() && !"`\"“”".contains(char));
    if !rest.is_empty() {
        let rest = match split_keyword(rest) {
            (LinePurpose::Expectation, rest) => rest,
            _ => rest,
        };
        apply_expectation(found.last_mut(), rest);
    }
    found
}

static JOINT: Pattern = Pattern::new(
    r"^\s*(?:[(（][^)）]*[)）])?\s*(?:[,;&+，；、]\s*)?(?:(?:and|then|also|und|dann|y|et|和|与|及|然后)\s+)*",
);

pub(crate) fn split_joined_commands(text: &str) -> (Vec<&str>, &str) {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some(behind) = JOINT
        .behind(rest)
        .filter(|behind| behind.len() < rest.trim_start().len())
    {
        let code = split_code_span(behind).filter(|(code, _)| names_program(code));
        let Some((code, behind)) = code else { break };
        found.push(code.trim());
        rest = behind;
    }
    (found, rest.trim_start())
}

pub(crate) fn apply_expectation(found: Option<&mut StatedCheck>, text: &str) {
    let Some(found) = found else { return };
    let Expectation {
        expect,
        stated,
        is_prose,
    } = parse_expectation(text, &found.check.command);
    // The first of two meaningful expectations counts.
    if found.stated_outcome == StatedOutcome::Nothing {
        found.check.expect.exit = expect.exit;
        found.stated_outcome = stated;
    }
    found.check.expect.stdout_has = found.check.expect.stdout_has.take().or(expect.stdout_has);
    found.is_expected_in_prose |= is_prose;
}

pub(crate) fn split_code_span(text: &str) -> Option<(&str, &str)> {
    let inner = text.trim_start_matches('`');
    let sign = text
        .get(..text.len() - inner.len())
        .filter(|sign| !sign.is_empty())?;
    let mut from = 0;
    loop {
        let at = from + inner.get(from..)?.find(sign)?;
        let behind = inner.get(at + sign.len()..)?;
        let more = behind.trim_start_matches('`');
        if more.len() == behind.len() {
            let code = inner.get(..at)?;
            let bare = code
                .strip_prefix(' ')
                .and_then(|code| code.strip_suffix(' '));
            return Some((
                bare.filter(|bare| !bare.trim().is_empty()).unwrap_or(code),
                behind,
            ));
        }
        from = inner.len() - more.len();
    }
}

pub(crate) fn reads_like_prose(text: &str) -> bool {
    const SMALL: [&str; 18] = [
        "the", "a", "an", "is", "are", "should", "that", "with", "and", "to", "of", "it", "all",
        "in", "no", "when", "be", "on",
    ];
    let words: Vec<&str> = text.split_whitespace().collect();
    let first = words.first().copied().unwrap_or_default();
    let is_foreign = first
        .chars()
        .any(|char| char.is_alphabetic() && !char.is_ascii());
    let is_capital = first.starts_with(|char: char| char.is_ascii_uppercase())
        && first.chars().skip(1).all(|char| char.is_ascii_lowercase());
    let small = words
        .iter()
        .filter(|word| SMALL.contains(&word.to_ascii_lowercase().as_str()))
        .count();
    let has_signs = text.contains(['|', '&', ';', '$', '=', '<', '>', '"', '\'', '\\', '/'])
        || text.contains(" -");
    is_foreign || (words.len() > 2 && (is_capital || (small >= 2 && !has_signs)))
}

/// `true` for text without backticks that looks like a command: no sentence, and not one word.
fn looks_like_command(text: &str) -> bool {
    let words = text.split_whitespace().count();
    let is_start =
        text.starts_with(|char: char| char.is_ascii_lowercase() || "./![~".contains(char));
    let is_end = !text.ends_with(['.', ':', '。']) && !text.contains('`');
    let is_none = text.to_ascii_lowercase().starts_with("n/a")
        || text.to_ascii_lowercase().starts_with("none");
    let has_sign = text.contains(['/', '=', '|', '&', '$', '.', '"', '\'']) || text.contains(" -");
    let is_known = names_program(text) || has_sign;
    words > 1 && is_start && is_end && !is_none && is_known && !reads_like_prose(text)
}

static SAID: Pattern = Pattern::new(
    r"\s+(?i-u:(?:should |must )?(?:passe?s?|succeeds?|completes|exits 0)|is green)\.?$",
);

/// Command without the words of a sentence around it: `run npm test`, `npm test passes`.
fn without_sentence(text: &str) -> &str {
    let text = SAID.around(text).map_or(text, |(command, _)| command);
    text.strip_prefix("run ")
        .filter(|command| names_program(command))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests;
