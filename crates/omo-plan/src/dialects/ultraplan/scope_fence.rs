//! Scope fence of an ultraplan's session: files it may and must not touch, and overlaps of a wave.

use std::ops::Range;

use omo_core::text::sanitize;

use super::{first_paragraph, is_nothing};
use crate::diagnostic::Code;
use crate::dialects::ultraplan::section_outline::{PlanFindings, SectionOutline};
use crate::fields::named_files::{self, FileMention};
use crate::labels::{normalize_key, read_labels, trim_range};
use crate::paths::{normalize_path, paths_overlap};

const TOUCH: [&str; 3] = ["touch", "touch list", "may touch"];
const NEVER: [&str; 6] = [
    "never touch",
    "never-touch",
    "never touch list",
    "never-touch list",
    "do not touch",
    "never",
];
/// Maximum compared pairs of bytes for a plan: less than a second of work.
const MAX_COMPARED: usize = 100_000_000;

/// Files that a session may and must not touch.
#[derive(Debug, Default)]
pub(crate) struct ScopeFence {
    pub touch: Vec<FileMention>,
    pub never: Vec<FileMention>,
    pub outside_paths: Vec<FileMention>,
    /// Text of either list that names no path.
    pub unread_spans: Vec<Range<usize>>,
}

impl ScopeFence {
    pub(crate) fn report_findings(&self, findings: &mut PlanFindings<'_>) {
        for (file, span) in &self.touch {
            if let Some((
                code @ (Code::PathOutsideRepository | Code::PathAbsolute | Code::PathInGitDir),
                text,
            )) = named_files::path_problem(&file.path)
            {
                findings.add(
                    code,
                    span.clone(),
                    None,
                    text,
                    "name it from the top of the repository",
                );
            }
        }
        for (file, span) in &self.outside_paths {
            let shown = sanitize(&file.path, 80);
            // A path from the root of the disk may be in the repository all the same.
            let (code, text, help) = if file.path.trim_start().starts_with("..") {
                let text =
                    format!("`{shown}` leads out of the repository, where no session writes");
                (Code::FenceNotRead, text, "it needs no entry here")
            } else {
                let text = format!(
                    "`{shown}` is not a path of the repository, and would hold nothing back"
                );
                let help = "name it from the top of the repository; what is outside of that needs no entry";
                (Code::PathOutsideRepository, text, help)
            };
            findings.add(code, span.clone(), None, text, help);
        }
        for span in &self.unread_spans {
            let text = "the scope fence names no path here: it holds nothing back".to_owned();
            findings.add(
                Code::FenceNotRead,
                span.clone(),
                None,
                text,
                "write each path between backticks, or `none`",
            );
        }
    }

    fn add_list(&mut self, list: List, outline: &SectionOutline<'_>, bytes: Range<usize>) {
        let bytes = trim_range(outline.document, bytes);
        let named = named_files::read_files(outline.document, bytes.clone());
        if named.is_empty() && !is_nothing(first_paragraph(outline.document.slice(bytes.clone()))) {
            self.unread_spans.push(bytes);
        }
        match list {
            List::Touch => self.touch.extend(named),
            List::Never => {
                let (never, elsewhere): (Vec<FileMention>, Vec<FileMention>) = named
                    .into_iter()
                    .partition(|(file, _)| normalize_path(&file.path).is_some());
                self.never.extend(never);
                self.outside_paths.extend(elsewhere);
            }
        }
    }

    pub(crate) fn touch_paths(&self) -> Vec<String> {
        self.touch
            .iter()
            .map(|(file, _)| file.path.clone())
            .collect()
    }

    pub(crate) fn never_paths(&self) -> Vec<String> {
        self.never
            .iter()
            .map(|(file, _)| file.path.clone())
            .collect()
    }
}

#[derive(Clone, Copy)]
enum List {
    Touch,
    Never,
}

fn parse_list_name(name: &str) -> Option<List> {
    match () {
        () if TOUCH.contains(&name) => Some(List::Touch),
        () if NEVER.contains(&name) => Some(List::Never),
        () => None,
    }
}

/// Reads the fence below labels, below headings, or on the line of `Scope fence:`.
pub(crate) fn read_scope_fence(outline: &SectionOutline<'_>, part: Range<usize>) -> ScopeFence {
    let document = outline.document;
    let known: Vec<&str> = TOUCH
        .iter()
        .chain(&NEVER)
        .copied()
        .chain(["scope fence"])
        .collect();
    let mut fence = ScopeFence::default();
    for label in read_labels(document, part.clone(), &known) {
        if let Some(list) = parse_list_name(&label.key) {
            fence.add_list(list, outline, label.value);
        } else if label.key == "scope fence" {
            let (touch, never) = split_one_line_fence(document.slice(label.first_line.clone()));
            let start = label.first_line.start;
            fence.add_list(List::Touch, outline, start + touch.start..start + touch.end);
            fence.add_list(List::Never, outline, start + never.start..start + never.end);
        }
    }
    for section in outline.sections_in(part) {
        if let Some(list) = parse_list_name(&normalize_key(
            section.heading.text.trim_matches([' ', '*', '_', ':']),
        )) {
            fence.add_list(list, outline, section.content());
        }
    }
    fence
}

/// Lists of `Touch: …; Never touch: …`. Without these words all of it may be touched; colons are optional.
fn split_one_line_fence(line: &str) -> (Range<usize>, Range<usize>) {
    let lower = line.to_ascii_lowercase();
    let never = ["never", "do not touch", "don't touch"]
        .iter()
        .filter_map(|words| lower.find(words))
        .min();
    let touch_end = never.unwrap_or(line.len());
    let touch = lower.find("touch").filter(|at| *at < touch_end);
    let touch = touch.map_or(0..touch_end, |at| behind_words(&lower, at..touch_end));
    let never = never.map_or(0..0, |at| behind_words(&lower, at..line.len()));
    let inner = line
        .get(touch.clone())
        .unwrap_or_default()
        .trim_end_matches([' ', ';', ',', '|', '.', '*', '(', '—']);
    (touch.start..touch.start + inner.len(), never)
}

fn behind_words(lower: &str, part: Range<usize>) -> Range<usize> {
    let words = lower.get(part.clone()).unwrap_or_default();
    let end = words
        .find(':')
        .map(|colon| colon + 1)
        .or_else(|| words.find("touch").map(|at| at + "touch".len()));
    part.start + end.or_else(|| words.find(' ')).unwrap_or(words.len())..part.end
}

#[derive(Debug)]
pub(crate) struct ComparisonLimit;

#[derive(Debug)]
pub(crate) struct PathComparer {
    remaining: usize,
}

impl PathComparer {
    pub(crate) fn with_budget() -> Self {
        Self {
            remaining: MAX_COMPARED,
        }
    }

    fn overlap(&mut self, one: &FileMention, other: &FileMention) -> Result<bool, ComparisonLimit> {
        let cost = (one.0.path.len() + 1).saturating_mul(other.0.path.len() + 1);
        self.remaining = self.remaining.checked_sub(cost).ok_or(ComparisonLimit)?;
        Ok(paths_overlap(&one.0.path, &other.0.path))
    }

    pub(crate) fn first_overlap<'n>(
        &mut self,
        ones: &'n [FileMention],
        others: &'n [FileMention],
    ) -> Result<Option<(&'n FileMention, &'n FileMention)>, ComparisonLimit> {
        self.remaining = self.remaining.checked_sub(1).ok_or(ComparisonLimit)?;
        for one in ones {
            for other in others {
                if self.overlap(one, other)? {
                    return Ok(Some((one, other)));
                }
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::MarkdownDocument;

    fn read(text: &str) -> (Vec<String>, Vec<String>) {
        let document = MarkdownDocument::read(text);
        let fence = read_scope_fence(&SectionOutline::new(&document), 0..text.len());
        (fence.touch_paths(), fence.never_paths())
    }

    #[test]
    fn a_fence_is_read_in_every_spelling() {
        for text in [
            "- **Scope fence:**\n  - Touch: `a.rs`, `b/`\n  - Never touch: `c.rs`\n",
            "- **Scope fence:**\n  - **Touch:** `a.rs`, `b/`\n  - **Never touch:** `c.rs`\n",
            "**Touch:**\n- `a.rs`\n- `b/` (new)\n\n**Never-touch:**\n- `c.rs`\n",
            "### Touch\n\n- `a.rs`\n- `b/`\n\n### Never touch\n\n- `c.rs`\n",
            "- **Scope fence:** Touch: `a.rs`, `b/`; Never touch: `c.rs`\n",
            "- **Scope fence**: touch: a.rs, b/ | never-touch: c.rs\n",
            "- **Scope fence:** `a.rs`, `b/` (never touch `c.rs`)",
            "**Scope fence:** `a.rs`, `b/`; never `c.rs`",
            "Scope fence: touch `a.rs`, `b/`; do not touch: `c.rs`",
            "Touch: a.rs, b/\r\nNever touch: c.rs\r\n",
        ] {
            let expected = (
                vec!["a.rs".to_owned(), "b/".to_owned()],
                vec!["c.rs".to_owned()],
            );
            assert_eq!(read(text), expected, "{text}");
        }
        assert_eq!(read("- Touch: none\n- Never touch: —\n"), (vec![], vec![]));
        assert_eq!(read("- **Scope fence:** none\n"), (vec![], vec![]));
    }

    #[test]
    fn what_names_no_path_holds_nothing_back_and_is_told() {
        for (text, unread) in [
            ("- Touch: `a.rs`\n- Never touch: everything else\n", 1),
            ("- Touch: the whole crate\n- Never touch: none\n", 1),
            ("- Touch: none\n- Never touch:\n", 0),
            ("**Scope fence:** the whole crate", 1),
        ] {
            let document = MarkdownDocument::read(text);
            assert_eq!(
                read_scope_fence(&SectionOutline::new(&document), 0..text.len())
                    .unread_spans
                    .len(),
                unread,
                "{text}"
            );
        }
    }
}
