//! The files that a unit names, such as `- Create: src/a.rs` or `- Modify: b.rs:10-20`, and what is
//! wrong with their paths.

use std::ops::Range;

use crate::diagnostic::Code;
use crate::document::{Document, lines};
use crate::labels::item;
use crate::model::{FileAction, FileUse};
use crate::paths::normal;

use super::verify::code_span;

/// Reads the items of a `Files` label, each with the bytes of its line. One below an item without a file
/// of its own takes over what that one says is done.
pub fn read(document: &Document<'_>, value: Range<usize>) -> Vec<(FileUse, Range<usize>)> {
    let mut found = Vec::new();
    let mut above = FileAction::Modify;
    for line in lines(document.text, value) {
        if document.code_at(line.start).is_some() {
            continue;
        }
        let (_, row) = item(document.slice(line.clone()));
        let (said, rest) = action(row);
        let names = names(rest);
        let is_new = row.to_lowercase().contains("(new)");
        let action = if is_new { FileAction::Create } else { said.unwrap_or(above) };
        if names.is_empty() {
            above = said.unwrap_or(above);
        }
        found.extend(names.into_iter().map(|name| {
            let (path, lines) = without_lines(name);
            (FileUse { path: path.to_owned(), action, lines: lines.map(str::to_owned) }, line.clone())
        }));
    }
    found
}

/// What an item says is done, and what it says behind that.
fn action(row: &str) -> (Option<FileAction>, &str) {
    let plain = row.trim_start_matches(['*', '_']);
    let word = plain.split(|char: char| !char.is_ascii_alphabetic()).next().unwrap_or_default();
    let action = match word.to_ascii_lowercase().as_str() {
        "create" | "add" | "new" => FileAction::Create,
        "modify" | "edit" | "update" | "change" | "rename" | "move" => FileAction::Modify,
        "test" | "tests" => FileAction::Test,
        "delete" | "remove" => FileAction::Delete,
        _ => return (None, row),
    };
    let rest = plain.get(word.len()..).unwrap_or_default();
    // `Test files: …`, `**Create:** …`, but no path such as `test.rs` or `tests/a.rs`.
    let behind = rest.split_once(':').filter(|(between, _)| !between.contains(['/', '.', '`']));
    match behind {
        Some((_, behind)) => (Some(action), behind.trim_start_matches(['*', '_', ' '])),
        None if rest.trim_start().starts_with('`') => (Some(action), rest),
        None => (None, row),
    }
}

/// The names in a text: the first one, and others that are joined to it.
fn names(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    if !rest.contains('`') {
        let part = |part: &'_ str| part.split_whitespace().next().map(str::len);
        let names = rest.split(',').filter_map(|name| name.trim().get(..part(name)?));
        return names.filter(|name| is_name(name)).collect();
    }
    rest = rest.get(rest.find('`').unwrap_or(0)..).unwrap_or_default();
    while let Some((name, behind)) = code_span(rest) {
        found.push(name);
        let next = behind.find('`').unwrap_or(behind.len());
        let (between, more) = behind.split_at(next);
        let between = between.replace("(new)", "");
        let is_joined = matches!(between.trim(), "," | "" | "and" | "&" | ";" | "+" | ", and" | "/" | "→" | "->");
        rest = if is_joined { more } else { "" };
    }
    found.retain(|name| !name.trim().is_empty());
    found
}

/// Whether a word without code around it is a path: `none` and prose are not.
fn is_name(word: &str) -> bool {
    let is_nothing = word.eq_ignore_ascii_case("n/a");
    !is_nothing && word.contains(['/', '.', '\\']) && word.chars().any(char::is_alphanumeric) && !word.ends_with('.')
}

/// A path and the lines behind its colon.
fn without_lines(name: &str) -> (&str, Option<&str>) {
    let is_lines = |text: &str| {
        text.starts_with(|char: char| char.is_ascii_digit() || char == 'L')
            && text.chars().all(|char| char.is_ascii_digit() || "-–,L ".contains(char))
    };
    match name.trim().split_once(':') {
        Some((path, lines)) if !path.is_empty() && is_lines(lines) => (path, Some(lines.trim())),
        _ => (name.trim(), None),
    }
}

/// What is wrong with a path.
pub fn complaint(path: &str) -> Option<(Code, String)> {
    let shown = omo_core::words::neutral(path, 80);
    let Some(plain) = normal(path) else {
        return Some((Code::PathOutsideRepository, format!("`{shown}` leads out of the repository")));
    };
    if plain.split('/').any(|part| part.eq_ignore_ascii_case(".git")) {
        return Some((Code::PathInGitDir, format!("`{shown}` leads into the folder of git")));
    }
    if path.contains(['*', '?']) {
        return Some((Code::GlobInFiles, format!("`{shown}` is a pattern")));
    }
    let is_normal = plain == path || path.strip_suffix('/').is_some_and(|path| path == plain);
    (!is_normal).then(|| (Code::PathNotNormal, format!("`{shown}` is `{plain}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_in_every_form() {
        for (text, expected) in [
            ("- Create: `src/a.rs`", "Create src/a.rs"),
            ("- **Modify:** `b.rs:10-20`", "Modify b.rs 10-20"),
            ("- Test: `tests/c.rs:7`", "Test tests/c.rs 7"),
            ("- Delete: `d.rs`", "Delete d.rs"),
            ("- `src/build.py`", "Modify src/build.py"),
            ("- `src/e.rs` (new)", "Create src/e.rs"),
            ("`a.rs`, `b.rs` and `c.rs`", "Modify a.rs;Modify b.rs;Modify c.rs"),
            ("- Modify: `a.rs` — the `open()` of it", "Modify a.rs"),
            ("- Create `a b.txt`", "Create a b.txt"),
            ("- Modify: src/a.rs, src/b.rs (lines)", "Modify src/a.rs;Modify src/b.rs"),
            ("- Create:\n  - `a.rs`\n  - `b.rs`\n- Modify:\n  - `c.rs`", "Create a.rs;Create b.rs;Modify c.rs"),
            ("- tests/a.rs", "Modify tests/a.rs"),
            ("none", ""),
            ("- N/A (no files).", ""),
            ("```\n- Create: `x`\n```", ""),
        ] {
            let document = Document::read(text);
            let found = read(&document, 0..text.len());
            let shown = found.iter().map(|(file, _)| {
                format!("{:?} {} {}", file.action, file.path, file.lines.as_deref().unwrap_or_default())
                    .trim()
                    .to_owned()
            });
            assert_eq!(shown.collect::<Vec<_>>().join(";"), expected, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_path_is_told() {
        for (path, code) in [
            ("src/a.rs", None),
            ("src/", None),
            (".github/x.yml", None),
            ("../a", Some(Code::PathOutsideRepository)),
            ("/etc/passwd", Some(Code::PathOutsideRepository)),
            ("~/.bashrc", Some(Code::PathOutsideRepository)),
            (".git/hooks/x", Some(Code::PathInGitDir)),
            ("sub/.GIT/config", Some(Code::PathInGitDir)),
            ("src/*.rs", Some(Code::GlobInFiles)),
            ("./src/a.rs", Some(Code::PathNotNormal)),
            ("src//a.rs", Some(Code::PathNotNormal)),
        ] {
            assert_eq!(complaint(path).map(|found| found.0), code, "{path}");
        }
    }
}
