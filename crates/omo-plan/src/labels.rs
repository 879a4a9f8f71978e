//! The labels of a part of a plan: `**Verify:** …` and its kin, each with what belongs to it.
//!
//! A label stands at the start of a line, behind a list's sign or not, with its colon inside of its
//! emphasis (`**Label:** v`), behind it (`**Label**: v`), or without any (`Label: v`). Its value runs
//! to the next label or heading, over lists, paragraphs and code. In code and in HTML is no label.

use std::ops::Range;

use crate::document::{MarkdownDocument, line_ranges};
use crate::pattern::Pattern;

/// A longer name is a sentence.
const MAX_NAME: usize = 60;

/// A label with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabeledField<'a> {
    /// Its name as it is written.
    pub name: &'a str,
    /// Its name in small letters, with single spaces.
    pub key: String,
    /// From its emphasis to its colon or the end of its emphasis.
    pub span: Range<usize>,
    /// It is an item of a list.
    pub is_listed: bool,
    /// What stands behind it on its line, without space around it.
    pub first_line: Range<usize>,
    /// All of its value, from behind it to the next label or heading, without space around it.
    pub value: Range<usize>,
}

/// What one line has of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LabelLine {
    /// How far its list's sign, or itself, stands from the line's start.
    indentation: usize,
    is_listed: bool,
    /// As a step of a list with numbers.
    is_numbered: bool,
    is_emphasized: bool,
    /// In bytes of the line, as all of these.
    name: Range<usize>,
    span: Range<usize>,
}

/// The labels of a part of a document, in their order.
///
/// A label whose name, in small letters, is one of `known` counts, unless it is a numbered step below another label.
/// Any other label counts where it is emphasized and is not part of the value of the one before: as an item of a list
/// below it, or further from the line's start. So the items `- Create: …` belong to `**Files:**`, and a label with an
/// unknown name is kept.
pub fn read_labels<'a>(document: &MarkdownDocument<'a>, part: Range<usize>, known: &[&str]) -> Vec<LabeledField<'a>> {
    let mut found: Vec<LabeledField<'a>> = Vec::new();
    // How the label before stands: an item, and how far from the line's start.
    let mut before = None;
    let first = document.headings.partition_point(|heading| heading.span.start < part.start);
    let mut headings = document.headings.iter().skip(first).peekable();
    for line in line_ranges(document.text, part.clone()) {
        if headings.next_if(|heading| heading.span.start < line.end).is_some() {
            end_last_value(&mut found, document, line.start);
            before = None;
            continue;
        }
        let row = document.slice(line.clone());
        let Some(label) = read_label_line(row) else { continue };
        let place = |bytes: Range<usize>| line.start + bytes.start..line.start + bytes.end;
        let name = document.slice(place(label.name.clone()));
        let key = normalize_key(name);
        let stands = (label.is_listed, label.indentation);
        let is_below = before.is_some_and(|before| stands > before);
        let is_known = known.contains(&key.as_str()) && !(is_below && label.is_numbered);
        if !is_known && (is_below || !label.is_emphasized) {
            continue;
        }
        if document.code_at(line.start + label.name.start).is_some() || document.is_in_html(line.start) {
            continue;
        }
        end_last_value(&mut found, document, line.start);
        before = Some(stands);
        let span = place(label.span);
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

/// A name in small letters, with single spaces.
pub(crate) fn normalize_key(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Some bytes of a document without the space around them.
pub(crate) fn trim_range(document: &MarkdownDocument<'_>, bytes: Range<usize>) -> Range<usize> {
    let text = document.slice(bytes.clone());
    let start = bytes.start + (text.len() - text.trim_start().len());
    start..start + text.trim().len()
}

/// What an item of a list begins with: its sign, and a box that may be ticked.
static ITEM: Pattern = Pattern::new(r"^[ \t]*(?:[-*+]|[0-9]+[.)])(?:[ \t]\s*(?:\[[ xX]\]\s*)?|$)");

/// The text of an item or a line behind its space, its list's sign and its box, and how many bytes
/// these have. `None` for the count of a line that is no item.
pub(crate) fn split_list_marker(row: &str) -> (Option<usize>, &str) {
    match ITEM.behind(row) {
        Some(inner) => (Some(row.len() - inner.len()), inner),
        None => (None, row.trim_start_matches([' ', '\t'])),
    }
}

/// The part of a label's value that is its list: its first paragraph, and the items that follow it. What stands behind
/// a list is not about the label any more, and neither is an item with a box, which is a step.
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

/// An item with a box, up to what is in the box.
pub(crate) static CHECKBOX: Pattern = Pattern::new(r"^[ \t]*(?:[-*+]|[0-9]+[.)])[ \t]+\[[ xX]\](?:\s|$)");

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
    let (name, length) =
        if open == 0 { split_plain_label(inner)? } else { split_emphasized_label(inner, text.get(..open)?)? };
    let is_name = name.chars().any(char::is_alphabetic) && name.len() <= MAX_NAME && !name.contains('`');
    is_name.then(|| LabelLine {
        indentation,
        is_listed: sign.is_some(),
        is_numbered: sign.is_some() && row.trim_start().starts_with(|char: char| char.is_ascii_digit()),
        is_emphasized: open > 0,
        name: start + open..start + open + name.len(),
        span: start..start + open + length,
    })
}

/// The name of a label behind its opening emphasis, and how many bytes it has with its colon and what
/// closes its emphasis.
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

/// The same for a label without emphasis, behind whose colon is a space or nothing, unless the colon is a wide one.
fn split_plain_label(inner: &str) -> Option<(&str, usize)> {
    let (name, behind) = inner.split_once([':', '：'])?;
    // The wide colon stands for a space as well.
    let has_end =
        behind.is_empty() || behind.starts_with(char::is_whitespace) || name.len() + behind.len() + 3 == inner.len();
    has_end.then_some((name.trim_end(), inner.len() - behind.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(text: &'a str, known: &[&str]) -> Vec<(&'a str, &'a str)> {
        let document = MarkdownDocument::read(text);
        let found = read_labels(&document, 0..text.len(), known);
        found.iter().map(|label| (label.name, document.slice(label.value.clone()))).collect()
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
        for text in
            ["**Verify: a** b", "**Verify** a", "Verify:a", "`Verify: a`", "**`x`:** a", "**:** a", "x ** y: **"]
        {
            assert_eq!(read(text, &["verify"]), [], "{text:?}");
        }
    }

    #[test]
    fn a_value_runs_to_the_next_label_or_heading() {
        let text =
            "**Files:**\n- Create: `a`\n- Modify: `b`\n\n**Odd one:** x\ny\n### H\nz\nVerify:\n```\nFiles: no\n```\n";
        assert_eq!(
            read(text, &["files", "verify"]),
            [("Files", "- Create: `a`\n- Modify: `b`"), ("Odd one", "x\ny"), ("Verify", "```\nFiles: no\n```")]
        );
    }

    #[test]
    fn what_stands_below_a_label_is_its_value() {
        let text = "**Task Contract:**\n- **Expected:** a\n- **Automated:** b\n**Verify:** c\n";
        assert_eq!(
            read(text, &["verify"]),
            [("Task Contract", "- **Expected:** a\n- **Automated:** b"), ("Verify", "c")]
        );
        let text = "- **Files:** a\n  - **Odd:** b\n- **Verify:** c\n";
        assert_eq!(read(text, &[]), [("Files", "a\n  - **Odd:** b"), ("Verify", "c")]);
        let text = "**Steps:**\n1. a\n2. Verify: c\n";
        assert_eq!(read(text, &["verify"]), [("Steps", "1. a\n2. Verify: c")]);
        let text = "**Goal:** a\n- **Verify:** c\n";
        assert_eq!(read(text, &["verify"]), [("Goal", "a"), ("Verify", "c")]);
    }

    #[test]
    fn a_field_ends_where_its_list_ends() {
        for (text, part) in [
            ("\n- a\n- b\n\nRun: c\n", "\n- a\n- b"),
            ("\n\n- a\n\n  more\n- b\n\n- [ ] step\n", "\n\n- a\n\n  more\n- b"),
            (" `a`, `b`\nand `c`\n\nA sentence.", " `a`, `b`\nand `c`"),
            (" these\n\n- a\nb", " these\n\n- a"),
            ("\n- [ ] step", ""),
            ("", ""),
        ] {
            let document = MarkdownDocument::read(text);
            assert_eq!(document.slice(list_part(&document, 0..text.len())), part, "{text:?}");
        }
    }

    #[test]
    fn a_comment_has_no_labels() {
        assert_eq!(read("<!--\nVerify: a\n-->\n\nVerify: b\n", &["verify"]), [("Verify", "b")]);
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
