//! File paths in a sentence of a plan, each as changed or as only mentioned.

use super::file_names::is_file_name;
use super::{TaskVerb, file_action, read_verb, words_before};
use crate::diagnostic::Severity;
use crate::fields::named_files::path_problem;
use crate::fields::stated_checks::split_code_span;
use crate::model::FileUse;
use crate::pattern::Pattern;

const MAX_PATH_BYTES: usize = 300;
const MAX_ROW_BYTES: usize = 16_384;

/// Words right before a file that is only mentioned.
const MENTIONS: &[&str] = &[
    "per",
    "see",
    "from",
    "like",
    "using",
    "load",
    "loads",
    "reads",
    "read",
    "reuse",
    "reusing",
    "reuses",
    "following",
    "follow",
    "follows",
    "of",
    "matching",
    "match",
    "matches",
    "than",
    "via",
    "with",
    "by",
    "to match",
    "mirrors",
    "mirror",
    "against",
    "calls",
    "call",
    "run",
    "runs",
    "or",
    "as",
    "uses",
    "imports",
    "import",
    "loading",
    "importing",
    "for",
    "verify",
    "verifies",
    "verifying",
    "checks",
    "validates",
];

pub(super) fn read_paths(row: &str) -> Vec<FileUse> {
    if row.len() > MAX_ROW_BYTES {
        return Vec::new();
    }
    let mut reader = PathReader {
        row,
        verb: read_verb(row),
        found: Vec::new(),
    };
    let mut rest = row;
    while let Some(at) = rest.find('`') {
        let plain_start = row.len() - rest.len();
        reader.read_plain(rest.get(..at).unwrap_or_default(), plain_start);
        let code_text = rest.get(at..).unwrap_or_default();
        match split_code_span(code_text) {
            Some((code, behind)) => {
                reader.read(code, plain_start + at, true);
                rest = behind;
            }
            None => rest = code_text.trim_start_matches('`'),
        }
    }
    reader.read_plain(rest, row.len() - rest.len());
    reader.found
}

struct PathReader<'r> {
    row: &'r str,
    verb: TaskVerb,
    found: Vec<FileUse>,
}

impl PathReader<'_> {
    fn read(&mut self, word: &str, byte: usize, is_code: bool) {
        let before = self.row.get(..byte);
        if is_content(self.row, byte) || before.is_some_and(|before| KEPT.is_match(before)) {
            return;
        }
        for word in split_names(word, is_code) {
            if let Some(path) = read_path(word, is_code) {
                let is_optional = is_mention(self.row, byte, self.verb);
                self.found.push(FileUse {
                    is_optional,
                    ..FileUse::new(path.clone(), file_action(self.verb, &path))
                });
            }
        }
    }

    /// Reads the words of text outside of code spans; `start` is its offset in `row`.
    fn read_plain(&mut self, text: &str, start: usize) {
        let mut from = 0;
        while from < text.len() {
            let rest = text.get(from..).unwrap_or_default();
            let part = rest.get(..word_end(rest)).unwrap_or_default();
            // The target of a Markdown link names no further file.
            let is_link = text
                .get(..from)
                .is_some_and(|before| before.ends_with("]("));
            if !part.is_empty() && !is_link {
                self.read(part, start + from, false);
            }
            let length = text
                .get(from + part.len()..)
                .and_then(|rest| rest.chars().next())
                .map_or(0, char::len_utf8);
            from += part.len() + length;
        }
    }
}

/// Beginning of a remark in brackets on the content of a file, such as `a.rs: `; paths in it do not count.
static CONTENT: Pattern = Pattern::new(r"^[^\s()]*\.[A-Za-z]+(?::\s|\s+[-–—]\s)");

fn is_content(row: &str, byte: usize) -> bool {
    let inside = row
        .get(..byte)
        .and_then(|before| before.rsplit_once('('))
        .map(|(_, inside)| inside);
    inside.is_some_and(|inside| !inside.contains(')') && CONTENT.is_match(inside))
}

/// Words right before a file that is to stay as it is, such as `do not touch`.
static KEPT: Pattern = Pattern::new(
    r"(?i-u:\b(?:do not|don't|never|without)\s+(?:touch|chang|modify|edit|delet|remov)(?:e|ing)?)\s+`?$",
);

/// File names that a slash joins, such as `go.mod/go.sum`.
fn split_names(word: &str, is_code: bool) -> Vec<&str> {
    let names: Vec<&str> = word.split('/').collect();
    let is_joined = names.len() == 2
        && names
            .iter()
            .all(|name| name.contains('.') && is_file_name(name, is_code));
    if is_joined { names } else { vec![word] }
}

/// Folder that only groups routes in a web framework, such as `(auth)/`.
static GROUP_FOLDER: Pattern = Pattern::new(r"^\([A-Za-z0-9_.@-]{1,40}\)/");

/// End of the first word, with any `GROUP_FOLDER` in it.
fn word_end(text: &str) -> usize {
    let mut end = 0;
    loop {
        let rest = text.get(end..).unwrap_or_default();
        end += rest
            .find(|char: char| {
                !(char.is_ascii_alphanumeric() || "._-/@[]*+~\\:<>{}$".contains(char))
            })
            .unwrap_or(rest.len());
        let before = text.get(..end).unwrap_or_default();
        let behind = text
            .get(end..)
            .and_then(|rest| GROUP_FOLDER.behind(rest))
            .filter(|_| before.ends_with('/'));
        let Some(behind) = behind else { return end };
        end = text.len() - behind.len();
    }
}

/// Path with `auth` for `(auth)`.
fn without_groups(path: &str) -> String {
    let parts = path.split('/').map(|part| {
        let inner = part
            .strip_prefix('(')
            .and_then(|part| part.strip_suffix(')'));
        inner.filter(|inner| !inner.is_empty()).unwrap_or(part)
    });
    parts.collect::<Vec<_>>().join("/")
}

fn read_path(word: &str, is_code: bool) -> Option<String> {
    if !word.contains('.') && !word.contains("file") && !word.contains("CODEOWNERS") {
        return None;
    }
    let word = word.trim().trim_end_matches([',', ';', '.', ':', '!', '?']);
    let word = if is_code {
        word
    } else {
        word.trim_matches(['*', '[', ']', '<', '>', ':'])
    };
    let word = trim_brackets(word);
    if word.len() > MAX_PATH_BYTES
        || word.contains("://")
        || word.starts_with(['@', '-', '$', '~', '\\', '%', '#'])
    {
        return None;
    }
    let bare = without_lines(word.trim_end_matches('_'));
    if without_groups(bare).contains([
        '<', '>', '{', '}', '$', '(', ')', '"', '\'', '=', '|', '&', ';', ' ', ',', ':',
    ]) || bare.contains("...")
    {
        return None;
    }
    let path = bare.replace('\\', "/");
    let path = path.trim_start_matches("./");
    let path = if is_from_disk_root(path) {
        path
    } else {
        path.trim_start_matches('/')
    };
    if !is_file_name(path, is_code) {
        return None;
    }
    let is_inside = path_problem(path).is_none_or(|(code, _)| code.severity() != Severity::Error);
    is_inside.then(|| path.to_owned())
}

/// Folders at the root of a disk. Any other path with a leading slash counts from the top of the repository.
const ROOT_FOLDERS: [&str; 12] = [
    "home",
    "Users",
    "root",
    "mnt",
    "opt",
    "private",
    "srv",
    "tmp",
    "var",
    "Volumes",
    "workspace",
    "workspaces",
];

fn is_from_disk_root(path: &str) -> bool {
    let folder = path
        .strip_prefix('/')
        .and_then(|inner| inner.split_once('/'))
        .map(|(folder, _)| folder);
    folder.is_some_and(|folder| ROOT_FOLDERS.contains(&folder))
}

fn trim_brackets(word: &str) -> &str {
    let mut word = word;
    while word.ends_with(']') && !word.contains('[') {
        word = word.trim_end_matches(']');
    }
    word
}

/// Path without the line numbers or the name behind it: `a.rs:10-20`, `a.rs#L3`, `a.py::test_it`.
fn without_lines(word: &str) -> &str {
    match word.split_once([':', '#']) {
        Some((path, lines)) if is_line_list(lines) => path,
        Some((path, inner)) if inner.starts_with(':') && inner.len() > 1 && path.contains('/') => {
            path
        }
        _ => word,
    }
}

fn is_line_list(lines: &str) -> bool {
    !lines.is_empty()
        && lines
            .chars()
            .all(|char| char.is_ascii_digit() || matches!(char, 'L' | '-' | ':' | ','))
}

/// `true` for a file that the sentence only refers to.
fn is_mention(row: &str, byte: usize, verb: TaskVerb) -> bool {
    let inside = row
        .get(..byte)
        .and_then(|before| before.rsplit_once('('))
        .map(|(_, inside)| inside);
    let aside = inside
        .filter(|inside| !inside.contains(')'))
        .unwrap_or_default()
        .trim_start()
        .to_ascii_lowercase();
    let is_aside = [
        "see", "load", "e.g", "reuse", "run ", "per ", "from ", "using ", "like ",
    ]
    .iter()
    .any(|word| aside.starts_with(word));
    let mut before = words_before(row, byte)
        .filter(|word| !matches!(word.as_str(), "the" | "a" | "an" | "existing" | "file"));
    let last = before.next().unwrap_or_default();
    // `Remove x from a.rs` and `Export x from a.rs` change the file.
    let is_inside =
        last == "from" && (verb == TaskVerb::Delete || row.trim_start().starts_with("Export"));
    is_aside
        || !is_inside
            && (matches!(verb, TaskVerb::Inspect | TaskVerb::Run)
                || MENTIONS.contains(&last.as_str()))
}
