//! Lines that a task added, read from git's patch between two snapshots.

use super::{TreeSnapshot, is_omo_path};
use crate::snapshots::Snapshots;
use crate::tree_path::relative_path;

const MAX_LINE_BYTES: usize = 2_000;

/// A line with `+` in a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedLine {
    /// Path as in [`super::PathChange::path`], with git's escapes (`\`) for quotation marks and
    /// ends of lines.
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
    /// Text without line end; a byte that is no UTF-8 is `U+FFFD`.
    pub text: String,
}

/// Added lines as an unparsed patch, which [`AddedLines::iter`] reads line by line.
#[derive(Clone, Debug)]
pub struct AddedLines {
    patch: Vec<u8>,
    project: String,
    own: Vec<String>,
}

impl AddedLines {
    /// Added lines, in git's order of files.
    pub fn iter(&self) -> impl Iterator<Item = AddedLine> {
        let own: Vec<&str> = self.own.iter().map(String::as_str).collect();
        parse_patch(&self.patch).filter_map(move |line| {
            let file = relative_path(&self.project, &line.file);
            (!is_omo_path(&file, &own)).then_some(AddedLine { file, ..line })
        })
    }
}

impl Snapshots<'_> {
    /// Lines added between two snapshots: a changed line counts, a moved file, a binary file, a submodule and omo's own
    /// files do not. `None` for a difference that is too large, for example.
    pub fn added_lines(&self, before: &TreeSnapshot, now: &TreeSnapshot) -> Option<AddedLines> {
        const PATCH: [&str; 13] = [
            // Names of other languages stay as they are.
            "-c",
            "core.quotePath=false",
            "diff-tree",
            "-r",
            "--patch",
            "--unified=0",
            "--find-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "--ignore-submodules=all",
        ];
        let (_, project) = self.worktree.project()?;
        let patch = self.diff(&PATCH, [before, now])?;
        Some(AddedLines {
            patch,
            project,
            own: self.own.iter().map(|path| (*path).to_owned()).collect(),
        })
    }
}

#[derive(Default)]
struct PatchReader {
    file: String,
    next: usize,
    left: (usize, usize),
}

fn parse_patch(patch: &[u8]) -> impl Iterator<Item = AddedLine> {
    let mut reader = PatchReader::default();
    patch
        .split(|byte| *byte == b'\n')
        .filter_map(move |line| reader.read(line))
}

impl PatchReader {
    /// By the announced numbers of lines: an added one that begins with `++` looks like the name of a file.
    fn read(&mut self, line: &[u8]) -> Option<AddedLine> {
        match (line.split_first(), self.left) {
            (Some((b'-', _)), (removed @ 1.., _)) => self.left.0 = removed - 1,
            (Some((b'+', text)), (_, added @ 1..)) => {
                self.left.1 = added - 1;
                self.next += 1;
                let text = text.get(..MAX_LINE_BYTES).unwrap_or(text);
                let text = String::from_utf8_lossy(text)
                    .trim_end_matches('\r')
                    .to_owned();
                return Some(AddedLine {
                    file: self.file.clone(),
                    line: self.next - 1,
                    text,
                });
            }
            _ => self.read_head(line),
        }
        None
    }

    fn read_head(&mut self, line: &[u8]) {
        if let Some(name) = line.strip_prefix(b"+++ ") {
            let name = String::from_utf8_lossy(name);
            // A name with a blank has a tab behind it; one with odd characters is quoted.
            let name = name.trim_end_matches('\t');
            let name = name
                .strip_prefix('"')
                .and_then(|name| name.strip_suffix('"'))
                .unwrap_or(name);
            name.strip_prefix("b/")
                .unwrap_or(name)
                .clone_into(&mut self.file);
        } else if let Some((removed, (from, added))) = parse_hunk_header(line) {
            (self.next, self.left) = (from, (removed, added));
        }
    }
}

/// Numbers of `@@ -5,2 +6,3 @@`: removed lines, and range of the added ones.
fn parse_hunk_header(line: &[u8]) -> Option<(usize, (usize, usize))> {
    let line = std::str::from_utf8(
        line.strip_prefix(b"@@ -")?
            .split(|byte| *byte == b'@')
            .next()?,
    )
    .ok()?;
    let (removed, added) = line.trim_end().split_once(" +")?;
    Some((parse_range(removed)?.1, parse_range(added)?))
}

fn parse_range(text: &str) -> Option<(usize, usize)> {
    let (from, count) = text.split_once(',').unwrap_or((text, "1"));
    Some((from.parse().ok()?, count.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_read_by_what_it_announces() {
        let patch =
            b"diff --git a/a.rs b/a.rs\nindex 1..2 100644\n--- a/a.rs\n+++ b/a.rs\n@@ -2 +2,2 @@ fn x() {\n--- b/x\n\
            +++ b/x\n+@@ -9 +9 @@\r\n\\ No newline at end of file\n@@ -9,0 +11 @@\n+last\n\
            diff --git a/gone b/gone\n--- a/gone\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n\
            diff --git \"a/n\\n\" \"b/n\\n\"\n--- /dev/null\n+++ \"b/n\\n\"\n@@ -0,0 +1 @@\n+\xff\n\
            Binary files a/y and b/y differ\n--- a/z z\t\n+++ b/z z\t\n@@ -1 +1 @@\n-1\n+2";
        let found: Vec<(String, usize, String)> = parse_patch(patch)
            .map(|found| (found.file, found.line, found.text))
            .collect();
        let expected = [
            ("a.rs", 2, "++ b/x"),
            ("a.rs", 3, "@@ -9 +9 @@"),
            ("a.rs", 11, "last"),
            ("n\\n", 1, "\u{fffd}"),
            ("z z", 1, "2"),
        ];
        let found: Vec<(&str, usize, &str)> = found
            .iter()
            .map(|(file, line, text)| (file.as_str(), *line, text.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_no_patch_has_no_lines() {
        for text in [
            "",
            "+a\n-b\n+++ b/x\n+y",
            "@@ -1 +1 @@",
            "@@ -x +y @@\n+a",
            "@@ -1,99999999999999999999 +1 @@\n+a",
        ] {
            assert_eq!(parse_patch(text.as_bytes()).count(), 0, "{text}");
        }
    }
}
