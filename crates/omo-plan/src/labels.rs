//! Parses labels such as `**Verify:** …`, each with its value.
//!
//! A label stands first on a line: `**Label:** v`, `**Label**: v`, or `Label: v`. Its value ends at
//! the next label or heading. Code and HTML contain no labels.

use std::ops::Range;

use crate::document::{MarkdownDocument, line_ranges};
use crate::pattern::Pattern;

/// Maximum bytes of a name; a longer one is a sentence.
const MAX_NAME: usize = 60;

/// Label with the place of its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabeledField<'a> {
    pub name: &'a str,
    /// Name in lower case, with single spaces.
    pub key: String,
    /// Bytes from the emphasis to the colon or the end of the emphasis.
    pub span: Range<usize>,
    pub is_listed: bool,
    /// Trimmed value on the label's line.
    pub first_line: Range<usize>,
    /// Trimmed value up to the next label or heading.
    pub value: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct LabelLine {
    indentation: usize,
    is_listed: bool,
    is_numbered: bool,
    is_emphasized: bool,
    name: Range<usize>,
    span: Range<usize>,
}

/// Labels in order. One of `known`, in lower case, counts unless it is a numbered step below another label.
///
/// Any other counts if emphasized and not part of the value before: `- Create: …` belongs to `**Files:**`.
pub fn read_labels<'a>(
    document: &MarkdownDocument<'a>,
    part: Range<usize>,
    known: &[&str],
) -> Vec<LabeledField<'a>> {
    let mut found: Vec<LabeledField<'a>> = Vec::new();
    // Form of the label before: in a list, and its columns.
    let mut before = None;
    let first = document
        .headings
        .partition_point(|heading| heading.span.start < part.start);
    let mut headings = document.headings.iter().skip(first).peekable();
    for line in line_ranges(document.text, part.clone()) {
        if headings
            .next_if(|heading| heading.span.start < line.end)
            .is_some()
        {
            end_last_value(&mut found, document, line.start);
            before = None;
            continue;
        }
        let row = document.slice(line.clone());
        let Some(label) = read_label_line(row) else {
            continue;
        };
        let name = line.start + label.name.start..line.start + label.name.end;
        let name = document.slice(name);
        let key = normalize_key(name);
        let stands = (label.is_listed, label.indentation);
        let is_below = before.is_some_and(|before| stands > before);
        let is_known = known.contains(&key.as_str()) && !(is_below && label.is_numbered);
        if !is_known && (is_below || !label.is_emphasized) {
            continue;
        }
        if document.code_at(line.start + label.name.start).is_some()
            || document.is_in_html(line.start)
        {
            continue;
        }
        end_last_value(&mut found, document, line.start);
        before = Some(stands);
        let span = line.start + label.span.start..line.start + label.span.end;
        let rest = trim_range(document, span.end..line.end);
        found.push(LabeledField {
            name,
            key,
            value: span.end..part.end,
            span,
            first_line: rest,
            is_listed: label.is_listed,
        });
    }
    end_last_value(&mut found, document, part.end);
    found
}

pub(crate) fn normalize_key(name: &str) -> String {
    name.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

pub(crate) fn trim_range(document: &MarkdownDocument<'_>, bytes: Range<usize>) -> Range<usize> {
    let text = document.slice(bytes.clone());
    let start = bytes.start + (text.len() - text.trim_start().len());
    start..start + text.trim().len()
}

static ITEM: Pattern = Pattern::new(r"^[ \t]*(?:[-*+]|[0-9]+[.)])(?:[ \t]\s*(?:\[[ xX]\]\s*)?|$)");

/// Bytes before the text of a list item, and that text; `None` for a line that is no item.
pub(crate) fn split_list_marker(row: &str) -> (Option<usize>, &str) {
    match ITEM.behind(row) {
        Some(inner) => (Some(row.len() - inner.len()), inner),
        None => (None, row.trim_start_matches([' ', '\t'])),
    }
}

/// First paragraph of a value and the items behind it, up to other text or an item with a box, which is a step.
pub(crate) fn list_part(document: &MarkdownDocument<'_>, value: Range<usize>) -> Range<usize> {
    let (mut end, mut is_list, mut has_gap) = (value.start, false, false);
    for line in line_ranges(document.text, value.clone()) {
        let row = document.slice(line.clone());
        if row.trim().is_empty() {
            has_gap = end > value.start;
            continue;
        }
        let is_item = split_list_marker(row).0.is_some();
        let is_inside = is_list && row.starts_with([' ', '\t']);
        let is_paragraph = !is_list && !has_gap;
        if CHECKBOX.is_match(row) || !(is_item || is_inside || is_paragraph) {
            break;
        }
        is_list |= is_item;
        has_gap = false;
        end = line.end;
    }
    value.start..end
}

pub(crate) static CHECKBOX: Pattern =
    Pattern::new(r"^[ \t]*(?:[-*+]|[0-9]+[.)])[ \t]+\[[ xX]\](?:\s|$)");

fn end_last_value(found: &mut [LabeledField<'_>], document: &MarkdownDocument<'_>, end: usize) {
    if let Some(last) = found.last_mut() {
        last.value = trim_range(document, last.value.start..end.min(last.value.end));
    }
}

fn read_label_line(row: &str) -> Option<LabelLine> {
    let indentation = row.len() - row.trim_start_matches([' ', '\t']).len();
    let (sign, text) = split_list_marker(row);
    let start = row.len() - text.len();
    let open = text.len() - text.trim_start_matches(['*', '_']).len();
    let inner = text.get(open..)?;
    let (name, length) = if open == 0 {
        split_plain_label(inner)?
    } else {
        split_emphasized_label(inner, text.get(..open)?)?
    };
    let is_name =
        name.chars().any(char::is_alphabetic) && name.len() <= MAX_NAME && !name.contains('`');
    is_name.then(|| LabelLine {
        indentation,
        is_listed: sign.is_some(),
        is_numbered: sign.is_some()
            && row
                .trim_start()
                .starts_with(|char: char| char.is_ascii_digit()),
        is_emphasized: open > 0,
        name: start + open..start + open + name.len(),
        span: start..start + open + length,
    })
}

/// Name behind its opening emphasis, and its bytes with the colon and the closing emphasis.
fn split_emphasized_label<'a>(inner: &'a str, sign: &str) -> Option<(&'a str, usize)> {
    let close = inner.find(['*', '_'])?;
    let (text, behind) = (inner.get(..close)?, inner.get(close..)?);
    let closed = behind.strip_prefix(sign)?;
    if let Some(name) = text.trim_end().strip_suffix([':', '：']) {
        return Some((name.trim_end(), inner.len() - closed.len()));
    }
    let rest = closed.trim_start_matches(' ').strip_prefix([':', '：'])?;
    Some((text.trim_end(), inner.len() - rest.len()))
}

/// `split_emphasized_label` without emphasis: behind a narrow colon stands a space or nothing.
fn split_plain_label(inner: &str) -> Option<(&str, usize)> {
    let (name, behind) = inner.split_once([':', '：'])?;
    // A wide colon includes its space.
    let has_end = behind.is_empty()
        || behind.starts_with(char::is_whitespace)
        || name.len() + behind.len() + 3 == inner.len();
    has_end.then_some((name.trim_end(), inner.len() - behind.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(text: &'a str, known: &[&str]) -> Vec<(&'a str, &'a str)> {
        let document = MarkdownDocument::read(text);
        let found = read_labels(&document, 0..text.len(), known);
        found
            .iter()
            .map(|label| (label.name, document.slice(label.value.clone())))
            .collect()
    }

    #[test]
    fn a_label_is_known_in_every_spelling() {
        for text in [
            "**Verify:** a b",
            "**Verify**: a b",
            "**Verify** : a b",
            "Verify: a b",
            "- **Verify:** a b",
            "* **Verify**: a b",
            "1. Verify: a b",
            "  - [ ] **Verify:** a b",
            "__Verify:__ a b",
            "*Verify:* a b",
            "**Verify：** a b",
            "Verify：a b",
            "**Verify:**\n\n  a b\n\n",
            "\u{feff}Verify: a b",
        ] {
            let text = text.trim_start_matches('\u{feff}');
            assert_eq!(read(text, &["verify"]), [("Verify", "a b")], "{text:?}");
        }
        for text in [
            "**Verify: a** b",
            "**Verify** a",
            "Verify:a",
            "`Verify: a`",
            "**`x`:** a",
            "**:** a",
            "x ** y: **",
        ] {
            assert_eq!(read(text, &["verify"]), [], "{text:?}");
        }
    }

    #[test]
    fn a_value_runs_to_the_next_label_or_heading() {
        let text = "**Files:**\n- Create: `a`\n- Modify: `b`\n\n**Odd one:** x\ny\n### H\nz\nVerify:\n```\nFiles: no\n```\n";
        assert_eq!(
            read(text, &["files", "verify"]),
            [
                ("Files", "- Create: `a`\n- Modify: `b`"),
                ("Odd one", "x\ny"),
                ("Verify", "```\nFiles: no\n```")
            ]
        );
    }

    #[test]
    fn what_stands_below_a_label_is_its_value() {
        let text = "**Task Contract:**\n- **Expected:** a\n- **Automated:** b\n**Verify:** c\n";
        assert_eq!(
            read(text, &["verify"]),
            [
                ("Task Contract", "- **Expected:** a\n- **Automated:** b"),
                ("Verify", "c")
            ]
        );
        let text = "- **Files:** a\n  - **Odd:** b\n- **Verify:** c\n";
        assert_eq!(
            read(text, &[]),
            [("Files", "a\n  - **Odd:** b"), ("Verify", "c")]
        );
        let text = "**Steps:**\n1. a\n2. Verify: c\n";
        assert_eq!(read(text, &["verify"]), [("Steps", "1. a\n2. Verify: c")]);
        let text = "**Goal:** a\n- **Verify:** c\n";
        assert_eq!(read(text, &["verify"]), [("Goal", "a"), ("Verify", "c")]);
    }

    #[test]
    fn a_field_ends_where_its_list_ends() {
        for (text, part) in [
            ("\n- a\n- b\n\nRun: c\n", "\n- a\n- b"),
            (
                "\n\n- a\n\n  more\n- b\n\n- [ ] step\n",
                "\n\n- a\n\n  more\n- b",
            ),
            (" `a`, `b`\nand `c`\n\nA sentence.", " `a`, `b`\nand `c`"),
            (" these\n\n- a\nb", " these\n\n- a"),
            ("\n- [ ] step", ""),
            ("", ""),
        ] {
            let document = MarkdownDocument::read(text);
            assert_eq!(
                document.slice(list_part(&document, 0..text.len())),
                part,
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_comment_has_no_labels() {
        assert_eq!(
            read("<!--\nVerify: a\n-->\n\nVerify: b\n", &["verify"]),
            [("Verify", "b")]
        );
    }

    #[test]
    fn an_item_is_known_by_its_sign() {
        for (row, text, is_item) in [
            ("- a", "a", true),
            (" 12) b", "b", true),
            ("-a", "-a", false),
            ("* [x] c", "c", true),
            ("1.5 d", "1.5 d", false),
        ] {
            let (sign, found) = split_list_marker(row);
            assert_eq!((found, sign.is_some()), (text, is_item), "{row}");
        }
    }
}
