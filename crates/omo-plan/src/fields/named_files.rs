//! Reads the files of a task, such as `- Create: src/a.rs` or `- Modify: b.rs:10-20`.

use std::ops::Range;

use crate::diagnostic::Code;
use crate::document::{MarkdownDocument, line_ranges};
use crate::fields::shell_commands::names_program;
use crate::fields::stated_checks::split_code_span;
use crate::labels::split_list_marker;
use crate::model::{FileAction, FileUse};
use crate::paths::normalize_path;
use crate::pattern::Pattern;
use crate::words::Word;

/// File or pattern, and its bytes in the text with the backticks.
pub type FileMention = (FileUse, Range<usize>);

/// Files in a `Files` label. An item below one without a file inherits the action of that one.
pub fn read_files(document: &MarkdownDocument<'_>, value: Range<usize>) -> Vec<FileMention> {
    let mut found = Vec::new();
    let mut above = Mention::Used(FileAction::Modify);
    for line in line_ranges(document.text, value) {
        if document.code_at(line.start).is_some() {
            continue;
        }
        let (_, row) = split_list_marker(document.slice(line.clone()));
        let mut mention_before = None;
        for part in split_parts(row) {
            let (mention, rest) = split_action(part.text);
            let mention = mention.or(mention_before);
            mention_before = mention;
            let names = read_names(rest);
            if names.is_empty() {
                above = mention.unwrap_or(above);
            }
            found.extend(names.into_iter().filter_map(|name| {
                let (path, lines) = without_lines(name.text);
                let (noted, lines_noted) = read_remark(name.note);
                let (action, is_optional) =
                    match noted.map(Mention::Used).or(mention).unwrap_or(above) {
                        Mention::Used(action) => (action, false),
                        Mention::Read => (FileAction::Modify, true),
                        Mention::Kept => return None,
                    };
                let lines = lines.or(lines_noted).map(str::to_owned);
                // Text behind a name is the same in the part, the row and the line.
                let start = line.end - part.left - name.left;
                is_path(path).then(|| {
                    let file = FileUse {
                        lines,
                        is_optional,
                        ..FileUse::new(path, action)
                    };
                    (file, start..start + name.length)
                })
            }));
        }
    }
    found
}

#[derive(Clone, Copy)]
enum Mention {
    Used(FileAction),
    Read,
    Kept,
}

/// Part of a row with an optional action; `left` counts the bytes of the row behind it.
struct RowPart<'a> {
    text: &'a str,
    left: usize,
}

fn split_parts(row: &str) -> Vec<RowPart<'_>> {
    let (mut found, mut start, mut depth, mut in_code) = (Vec::new(), 0, 0_usize, false);
    for (at, char) in row.char_indices() {
        match char {
            '`' => in_code = !in_code,
            '(' | '（' if !in_code => depth += 1,
            ')' | '）' if !in_code => depth = depth.saturating_sub(1),
            ';' | '；' | ',' | '，' | '、' | '.' | '。' if !in_code && depth == 0 => {
                let behind = at + char.len_utf8();
                let rest = row.get(behind..).unwrap_or_default();
                let is_end = matches!(char, ';' | '；')
                    || rest.starts_with([' ', '`']) && split_action(rest.trim_start()).0.is_some();
                if is_end {
                    found.push(RowPart {
                        text: row.get(start..at).unwrap_or_default(),
                        left: row.len() - at,
                    });
                    start = behind;
                }
            }
            _ => {}
        }
    }
    found.push(RowPart {
        text: row.get(start..).unwrap_or_default(),
        left: 0,
    });
    found
}

/// Action with its colon, or before code: `Test files: …`, `**Create:** …`, but no path such as
/// `test.rs`.
static ACTION: Pattern = Pattern::new(
    r"^\s*[*_]*([A-Za-zÀ-ÿ]+|[\x{4e00}-\x{9fff}]{2})(?:(?:[^A-Za-z/.`:：][^/.`:：]*)?[:：][*_ ]*|[*_]*\s*(`))",
);

/// Action right before a plain path: `Create src/a.rs`, `修改 src/a.rs`.
static BARE_ACTION: Pattern = Pattern::new(r"^\s*[*_]*([A-Za-z]+\s|[\x{4e00}-\x{9fff}]{2}\s?)\s*");

fn split_bare_action(row: &str) -> Option<(Mention, &str)> {
    let ([word], rest) = BARE_ACTION.read(row)?;
    let first = rest
        .split(|char: char| char.is_whitespace() || NAME_ENDS.contains(&char))
        .next()?;
    let mention = parse_mention(word.trim()).filter(|_| is_name(first.trim_end_matches('.')))?;
    Some((mention, rest))
}

fn split_action(row: &str) -> (Option<Mention>, &str) {
    if let Some((mention, rest)) = split_bare_action(row) {
        return (Some(mention), rest);
    }
    let read = ACTION
        .read(row)
        .and_then(|([word, code], rest)| Some((parse_mention(word)?, code, rest)));
    let Some((mention, code, rest)) = read else {
        return (None, row);
    };
    (
        Some(mention),
        row.get(row.len() - rest.len() - code.len()..)
            .unwrap_or_default(),
    )
}

fn parse_mention(word: &str) -> Option<Mention> {
    match word.to_ascii_lowercase().as_str() {
        "read" | "verify" | "see" | "check" | "review" | "inspect" | "reference" | "references"
        | "consult" => Some(Mention::Read),
        "keep" | "leave" | "unchanged" | "untouched" | "保留" | "不变" => Some(Mention::Kept),
        word => parse_action(word).map(Mention::Used),
    }
}

fn parse_action(word: &str) -> Option<FileAction> {
    let word = word.to_lowercase();
    let actions = [
        (Word::Create, FileAction::Create),
        (Word::Modify, FileAction::Modify),
        (Word::Test, FileAction::Test),
        (Word::Delete, FileAction::Delete),
    ];
    actions
        .iter()
        .find(|(words, _)| words.is(&word))
        .map(|(_, action)| *action)
}

fn is_path(text: &str) -> bool {
    let is_command = text.contains(char::is_whitespace)
        && (names_program(text) || !text.contains(['/', '.', '\\']));
    !is_command
        && !is_identifier(text)
        && !text.ends_with("()")
        && !text.contains(" && ")
        && !text.contains(['\n', '\r'])
}

/// Name of something in a file, such as `ParserTest`, `parseLine` or `parse_line`.
static IDENTIFIER: Pattern =
    Pattern::new(r"^[A-Za-z0-9]*(?:[a-z0-9][A-Z]|[a-z0-9]_[A-Za-z0-9])[A-Za-z0-9_]*$");

fn is_identifier(text: &str) -> bool {
    IDENTIFIER.is_match(text) && !text.to_ascii_lowercase().ends_with("file")
}

struct Name<'a> {
    text: &'a str,
    left: usize,
    length: usize,
    note: &'a str,
}

/// First name in a text, and others that are joined to it.
fn read_names(text: &str) -> Vec<Name<'_>> {
    let mut found = Vec::new();
    let Some(first) = text.find('`') else {
        return plain_names(text);
    };
    let mut rest = text.get(first..).unwrap_or_default();
    while let Some((name, behind)) = split_code_span(rest) {
        let (between, more) = behind.split_at(behind.find('`').unwrap_or(behind.len()));
        let (near, far) = split_at_comma(between);
        if !name.trim().is_empty() {
            found.push(Name {
                text: name,
                left: rest.len(),
                length: rest.len() - behind.len(),
                note: near,
            });
        }
        let plain = plain_names(far);
        let others = far
            .split(',')
            .filter(|part| !part.trim().is_empty() && part.trim() != "and")
            .count();
        let is_joined = matches!(
            without_remark(near).trim(),
            "" | "and" | "&" | ";" | "+" | "/" | "→" | "->"
        );
        rest = if is_joined && others == plain.len() {
            more
        } else {
            ""
        };
        if is_joined {
            found.extend(plain.into_iter().map(|name| Name {
                left: name.left + more.len(),
                ..name
            }));
        }
    }
    found
}

const NAME_ENDS: [char; 4] = [',', '，', '、', '。'];

fn plain_names(text: &str) -> Vec<Name<'_>> {
    let mut found = Vec::new();
    let mut left = text.len();
    for part in text.split_inclusive(NAME_ENDS) {
        let whole = part.len();
        let part = part.strip_suffix(NAME_ENDS).unwrap_or(part);
        let inner = part.trim_start();
        let name = inner.split(char::is_whitespace).next().unwrap_or_default();
        if is_name(name) {
            let start = left - (part.len() - inner.len());
            let note = inner.get(name.len()..).unwrap_or_default();
            found.push(Name {
                text: name,
                left: start,
                length: name.len(),
                note,
            });
        }
        left = left.saturating_sub(whole);
    }
    found
}

fn split_at_comma(text: &str) -> (&str, &str) {
    let remark = text
        .find('(')
        .filter(|open| text.find(',').is_some_and(|comma| *open < comma));
    let from = remark.map_or(0, |open| text.find(')').unwrap_or(open));
    let comma = text
        .get(from..)
        .and_then(|rest| rest.find(','))
        .map(|comma| from + comma);
    let at = comma.unwrap_or(text.len());
    (
        text.get(..at).unwrap_or_default(),
        text.get(at + 1..).unwrap_or_default(),
    )
}

fn without_remark(between: &str) -> String {
    let closed = between
        .split_once('(')
        .and_then(|(before, rest)| Some((before, rest.split_once(')')?.1)));
    closed.map_or_else(
        || between.to_owned(),
        |(before, after)| [before, after].concat().replace(['*', '_'], ""),
    )
}

/// Action or lines in a remark such as `(new)` or `(lines 3-5)`.
fn read_remark(text: &str) -> (Option<FileAction>, Option<&str>) {
    let in_brackets = text
        .split_once('(')
        .and_then(|(_, rest)| Some(rest.split_once(')')?.0.trim()));
    let inside = in_brackets.or_else(|| Some(text.trim()).filter(|text| text.starts_with("line")));
    let (first, rest) = inside.map_or(("", ""), |inside| {
        inside.split_once([' ', ',', ':']).unwrap_or((inside, ""))
    });
    let is_lines =
        matches!(first.to_ascii_lowercase().as_str(), "line" | "lines") && !rest.trim().is_empty();
    (parse_action(first), is_lines.then_some(rest.trim()))
}

/// `true` for a path, and not for `none` or prose.
fn is_name(word: &str) -> bool {
    let is_nothing = word.eq_ignore_ascii_case("n/a");
    !is_nothing
        && word.contains(['/', '.', '\\'])
        && word.chars().any(char::is_alphanumeric)
        && !word.ends_with('.')
}

/// Path with lines or a test behind it: `a.rs:10-20`, `a.rs:L3, 7`, `a.rs#L3`, `a.py::test_it`.
static WITH_LINES: Pattern = Pattern::new(r"^([^:#]+)(?:[:#]([0-9L~][0-9L, ~+:\-–]*)|::[^/]*)$");

fn without_lines(name: &str) -> (&str, Option<&str>) {
    let name = name.trim();
    WITH_LINES
        .read(name)
        .map_or((name, None), |([path, lines], _)| {
            (path, Some(lines.trim()).filter(|lines| !lines.is_empty()))
        })
}

const SYSTEM_FOLDERS: [&str; 12] = [
    "bin", "boot", "dev", "etc", "lib", "lib64", "proc", "run", "sbin", "sys", "system", "windows",
];

/// `true` for an absolute path where a repository may be.
fn may_be_in_repository(path: &str) -> bool {
    let path = path.trim().replace('\\', "/");
    let is_drive = path.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && path.get(1..3) == Some(":/");
    let inner = if is_drive {
        path.get(3..)
    } else {
        path.strip_prefix('/')
    };
    let Some((folder, rest)) = inner.and_then(|inner| inner.split_once('/')) else {
        return false;
    };
    let is_system = SYSTEM_FOLDERS.contains(&folder.to_ascii_lowercase().as_str());
    !folder.is_empty() && !is_system && !rest.split('/').any(|part| part == "..")
}

pub(crate) fn path_problem(path: &str) -> Option<(Code, String)> {
    if may_be_in_repository(path) && !is_in_git(path) {
        let text = "begins at the root of the disk, so the task is not held to it: write it from the top of the repository";
        return Some((Code::PathAbsolute, format!("`{}` {text}", shown(path))));
    }
    let Some(plain) = normalize_path(path) else {
        return Some((
            Code::PathOutsideRepository,
            format!("`{}` leads out of the repository", shown(path)),
        ));
    };
    if is_in_git(&plain) {
        return Some((
            Code::PathInGitDir,
            format!("`{}` leads into the folder of git", shown(path)),
        ));
    }
    if path.contains(['*', '?']) {
        return Some((Code::GlobInFiles, format!("`{}` is a pattern", shown(path))));
    }
    let is_normal = plain == path || path.strip_suffix('/').is_some_and(|path| path == plain);
    (!is_normal).then(|| {
        (
            Code::PathNotNormal,
            format!("`{}` is `{}`", shown(path), shown(&plain)),
        )
    })
}

fn shown(path: &str) -> String {
    omo_core::text::sanitize(path, 80)
}

fn is_in_git(path: &str) -> bool {
    path.split(['/', '\\'])
        .any(|part| part.eq_ignore_ascii_case(".git"))
}

#[cfg(test)]
mod tests;
