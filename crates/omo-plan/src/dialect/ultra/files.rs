//! The files that a step names, and the patterns of a fence.

use std::ops::Range;

use super::inline::pieces;
use crate::labels::item;
use crate::model::{FileAction, FileUse};

/// A file or pattern that was found, and where it stands in the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// It.
    pub file: FileUse,
    /// Its bytes in the value, backticks included.
    pub range: Range<usize>,
}

impl Named {
    /// The same, with its bytes counted from where the value begins that it stands in.
    #[must_use]
    pub fn at(self, start: usize) -> Self {
        Self { range: self.range.start + start..self.range.end + start, ..self }
    }
}

/// Reads a list of files: between backticks or as plain words, in one line or one to a line, each with
/// what happens to it and the lines that are meant.
pub fn files(value: &str) -> Vec<Named> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in value.split_inclusive('\n') {
        let (action, item) = led_by_action(item(line.trim()).1);
        if !super::says_nothing(item) && !super::is_rule(line) {
            // Both are parts of `value`: the distance of their ends is the same in both.
            let at = start + line.trim_end().len() - item.len();
            let from = found.len();
            of_item(item, at, &mut found);
            if let Some(action) = action {
                found.iter_mut().skip(from).for_each(|named: &mut Named| named.file.action = action);
            }
        }
        start += line.len();
    }
    found
}

/// `Create: …`, `**Modify:** …`: the action, and what stands behind it.
fn led_by_action(item: &str) -> (Option<FileAction>, &str) {
    let start = item.trim_start_matches(['*', '_']);
    let known = start.split_once(':').and_then(|(word, rest)| Some((action(word.trim_end_matches(['*', '_']))?, rest)));
    match known {
        Some((action, rest)) => (Some(action), rest.trim_start_matches(['*', '_']).trim_start()),
        None => (None, item),
    }
}

fn action(word: &str) -> Option<FileAction> {
    match word.trim().to_ascii_lowercase().as_str() {
        "create" | "new" | "add" | "created" => Some(FileAction::Create),
        "modify" | "update" | "edit" | "change" | "modified" => Some(FileAction::Modify),
        "test" | "tests" => Some(FileAction::Test),
        "delete" | "remove" | "deleted" | "removed" => Some(FileAction::Delete),
        _ => None,
    }
}

/// The files of one item. What stands between two of them, or behind the last, is about the first.
fn of_item(item: &str, at: usize, found: &mut Vec<Named>) {
    let parts = pieces(item);
    if !parts.iter().any(|piece| piece.is_code) {
        return plain_words(item, at, found);
    }
    let from = found.len();
    for piece in parts {
        if piece.is_code {
            let is_listed = found.len() == from || looks_like_a_path(piece.text);
            if is_listed && !piece.text.trim().is_empty() {
                found.push(named(piece.text, at + piece.range.start..at + piece.range.end));
            }
        } else if let Some(last) = found.get_mut(from..).and_then(<[Named]>::last_mut) {
            note(piece.text, &mut last.file);
        }
    }
}

/// Files that stand between no backticks: apart by commas, each with its remark in brackets. Several words
/// are a sentence.
fn plain_words(item: &str, at: usize, found: &mut Vec<Named>) {
    let mut start = 0;
    for part in item.split([',', ';']) {
        let remark = part.find(" *(").or_else(|| part.find('('));
        let path = part.get(..remark.unwrap_or(part.len())).unwrap_or_default().trim();
        if !super::says_nothing(path) && !path.contains(char::is_whitespace) {
            let from = at + start + (part.len() - part.trim_start().len());
            let mut one = named(path, from..from + path.len());
            note(part.get(part.find('(').unwrap_or(part.len())..).unwrap_or_default(), &mut one.file);
            found.push(one);
        }
        start += part.len() + 1;
    }
}

/// Whether code behind other words is a file and not, say, the name of a function.
fn looks_like_a_path(code: &str) -> bool {
    let is_word = !code.contains(|char: char| char.is_whitespace() || "()<>;".contains(char)) && !code.contains("::");
    let extension = code.rsplit_once('.').is_some_and(|(_, after)| !after.is_empty() || code.len() > 1);
    is_word && (code.contains('/') || extension)
}

fn named(code: &str, range: Range<usize>) -> Named {
    let (path, lines) = without_lines(code.trim());
    Named {
        file: FileUse { path: path.to_owned(), action: FileAction::Modify, lines: lines.map(str::to_owned) },
        range,
    }
}

/// `src/a.rs:10-20` is the file and the lines that are meant.
fn without_lines(path: &str) -> (&str, Option<&str>) {
    let is_lines = |lines: &str| {
        lines.starts_with(|char: char| char.is_ascii_digit())
            && lines.chars().all(|char| char.is_ascii_digit() || "-–, ".contains(char))
    };
    match path.rsplit_once(':') {
        Some((file, lines)) if !file.is_empty() && is_lines(lines) => (file, Some(lines.trim())),
        _ => (path, None),
    }
}

/// Takes a remark on a file for what it says: `(new)`, `(delete)`, `(lines 3-5)`.
fn note(text: &str, file: &mut FileUse) {
    let Some((_, inside)) = text.split_once('(') else { return };
    let inside = inside.split(')').next().unwrap_or_default().trim();
    let (first, rest) = inside.split_once([' ', ',', ':']).unwrap_or((inside, ""));
    if let Some(action) = action(first) {
        file.action = action;
    } else if matches!(first.to_ascii_lowercase().as_str(), "line" | "lines") && file.lines.is_none() {
        file.lines = Some(rest.trim().to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_in_every_spelling() {
        use FileAction::{Create, Delete, Modify, Test};
        for (value, expected) in [
            ("`src/a.rs` (new)", vec![("src/a.rs", Create, None)]),
            ("`src/a.rs`, `src/b.rs`", vec![("src/a.rs", Modify, None), ("src/b.rs", Modify, None)]),
            ("`a.rs:10-20`, `b.rs:7`", vec![("a.rs", Modify, Some("10-20")), ("b.rs", Modify, Some("7"))]),
            ("`docs/my file.md`", vec![("docs/my file.md", Modify, None)]),
            ("src/a.rs, src/b.rs (new)", vec![("src/a.rs", Modify, None), ("src/b.rs", Create, None)]),
            (
                "\n  - Create: `src/c.rs`\n  - **Modify:** `src/d.rs:5`\n  - `src/e.rs` *(new)*\n  * Test: `t.rs`",
                vec![
                    ("src/c.rs", Create, None),
                    ("src/d.rs", Modify, Some("5")),
                    ("src/e.rs", Create, None),
                    ("t.rs", Test, None),
                ],
            ),
            ("`a.rs` (delete), `b.rs` (new, 40 lines)", vec![("a.rs", Delete, None), ("b.rs", Create, None)]),
            ("`a.rs` (lines 3-5)", vec![("a.rs", Modify, Some("3-5"))]),
            (
                "`a.rs` — adds `limit` and `Clock::now`, see `b.rs`",
                vec![("a.rs", Modify, None), ("b.rs", Modify, None)],
            ),
            ("`src/**/*.rs`", vec![("src/**/*.rs", Modify, None)]),
            ("**/*.toml", vec![("**/*.toml", Modify, None)]),
            ("`Makefile`, `.gitignore`", vec![("Makefile", Modify, None), (".gitignore", Modify, None)]),
            (r"`C:\x`", vec![(r"C:\x", Modify, None)]),
            ("`a.rs`\n\n---", vec![("a.rs", Modify, None)]),
            ("See what the last step changed.", vec![]),
            ("none", vec![]),
            ("", vec![]),
        ] {
            let found = files(value);
            let shown: Vec<_> =
                found.iter().map(|one| (one.file.path.as_str(), one.file.action, one.file.lines.as_deref())).collect();
            assert_eq!(shown, expected, "{value}");
            for one in found {
                assert!(value[one.range.clone()].contains(&one.file.path), "{value} {:?}", one.range);
            }
        }
    }
}
