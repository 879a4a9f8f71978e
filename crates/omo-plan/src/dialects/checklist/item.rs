//! Reads a line of a checklist: `- [ ] T001 [P] [US1] title` → number, markers and title.

use std::ops::Range;

use crate::pattern::Pattern;

const MAX_NUMBER_BYTES: usize = 40;
const MAX_LINE_BYTES: usize = 16_384;
const TAB_COLUMNS: usize = 4;

/// Item of a checklist: a line with a checkbox.
#[expect(clippy::struct_excessive_bools, reason = "each is a marker of its own")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChecklistItem<'a> {
    pub indentation: usize,
    pub mark: Range<usize>,
    pub is_done: bool,
    /// Number as written, such as `T001` or `1.2`.
    pub number: Option<&'a str>,
    pub is_labelled: bool,
    /// `true` for a marker `[P]` or `(P)`: runs at the same time as its neighbors.
    pub is_parallel: bool,
    /// `true` for a marker `*`.
    pub is_optional: bool,
    pub title: String,
    pub span: Range<usize>,
}

/// List marker, checkbox and rest of the line. The `*` of an optional item may be escaped.
static CHECKBOX: Pattern =
    Pattern::new(r"^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX~\-/✓✔✅]?)\](\\?\*)?[ \t]+");
/// Emphasis, number of a task, its end sign, and the mark of an optional task.
static NUMBER: Pattern = Pattern::new(
    r"^([*_`~]*)((?i-u:(?:sub-?)?task[ \t]+)?)((?:T-[A-Z]{1,4}-?\d{1,4}|T-?\d+|t-?\d{2,}|[A-Z]{1,3}-?\d{3,}|[A-Z]{1,4}\d+[.-]\d+|[A-Z]\d{1,2}|\d+)[A-Za-z]?(?:[.-]\d+[a-z]?)*)([.):]|\b)([*_`]*)(\\?\*)?[*_`]*[.):]?(\s|$)",
);
/// Number with a word, such as `FOUNDATION-1: …`.
static WORD_NUMBER: Pattern =
    Pattern::new(r"^[*_`~]*([A-Z][A-Z0-9]{1,20}-\d{1,4}(?:\.\d+)?):[*_`~]*\s+");
static LABEL: Pattern = Pattern::new(r"^[*_]*(?i-u:(?:sub-?)?task)[*_]*[ \t]*[:：][*_ \t]*");
static BRACKETED: Pattern = Pattern::new(
    r"^[*_`~]*[\[(]([Tt]-?\d{2,}[A-Za-z]?(?:[.-]\d+[a-z]?)*)[\])][*_`~]*[.):]?(?:\s+|$)",
);
/// Marker of a postponed item, such as `(deferred)`.
pub(super) static DEFERRED: Pattern =
    Pattern::new(r"^[*_~]*[(\[](?i-u:deferred|postponed|later|future|skipped)[)\]]");
/// Marker behind the number: `[P]`, `[US1]`, `(P)`, `[US1, US2]`, `*`.
static MARKER: Pattern = Pattern::new(
    r"^(?:[*_`]*[\[(](P|p)[\])][*_`]*|[*_`]*\[(?:[A-Z]{1,8}[ -]?\d*(?:[,/& +-]+[A-Z]{0,8}\d+)*|(?i-u:foundation(?:al)?|setup|polish)[ -][A-Z]{1,4}\d*|(?i-u:story|setup|shared|foundation(?:al)?|polish|core|infra))\][*_`]*|(\\?\*))(?:[ \t:]+|$)",
);

impl<'a> ChecklistItem<'a> {
    /// Item of a line that is at `span` in the file; `None` for other lines.
    pub(super) fn read(line: &'a str, span: Range<usize>) -> Option<Self> {
        let is_listed = line
            .trim_start()
            .starts_with(|first: char| "-*+".contains(first) || first.is_ascii_digit());
        if line.len() > MAX_LINE_BYTES || !is_listed {
            return None;
        }
        let ([indent, mark, star], text) = CHECKBOX.read(line)?;
        let before = indent.len() + line.get(indent.len()..)?.find('[')? + 1;
        let mark_span = span.start + before..span.start + before + mark.len();
        let mut is_optional = !star.is_empty();
        let mut is_parallel = false;
        let (number, is_labelled, mut rest) = match read_number(text) {
            Some(found) => {
                is_optional |= found.is_optional;
                (Some(found.number), found.is_labelled, found.rest)
            }
            None => (None, false, text),
        };
        while let Some(([parallel, optional], behind)) = MARKER.read(rest) {
            is_parallel |= !parallel.is_empty();
            is_optional |= !optional.is_empty();
            rest = behind.trim_start();
        }
        let (title, trailing) = clean_title(rest);
        Some(Self {
            indentation: columns(indent),
            mark: mark_span,
            is_done: !matches!(mark, "" | " " | "-" | "~" | "/"),
            number,
            is_labelled,
            is_parallel: is_parallel || trailing.is_parallel,
            is_optional: is_optional || trailing.is_optional,
            title,
            span,
        })
    }
}

struct ItemNumber<'a> {
    number: &'a str,
    is_labelled: bool,
    is_optional: bool,
    rest: &'a str,
}

pub(super) fn written_number(text: &str) -> Option<&str> {
    read_number(text).map(|found| found.number)
}

fn read_number(text: &str) -> Option<ItemNumber<'_>> {
    if let Some(([number], rest)) = BRACKETED
        .read(text)
        .filter(|([number], _)| number.len() <= MAX_NUMBER_BYTES)
    {
        return Some(ItemNumber {
            number,
            is_labelled: false,
            is_optional: false,
            rest,
        });
    }
    if let Some(([number], rest)) = WORD_NUMBER.read(text) {
        return Some(ItemNumber {
            number,
            is_labelled: true,
            is_optional: false,
            rest,
        });
    }
    let ([open, word, number, end, close, star, _], rest) = NUMBER.read(text)?;
    // A plain number begins a title, and so does a letter with one: `3 tests fail`, `S3 bucket`.
    let is_ended = match number.as_bytes() {
        [b'T' | b't', ..] => true,
        [b'A'..=b'Z', _] | [b'A'..=b'Z', _, _] => matches!(end, "." | ")"),
        digits => !end.is_empty() || !digits.iter().all(u8::is_ascii_digit),
    };
    let is_number = number.len() <= MAX_NUMBER_BYTES && (is_ended || !word.is_empty());
    // A star that closes no emphasis marks an optional item.
    let is_optional = open.is_empty() && (close.starts_with('*') || !star.is_empty());
    is_number.then(|| ItemNumber {
        number,
        is_labelled: end == ":",
        is_optional,
        rest: rest.trim_start(),
    })
}

#[derive(Default)]
struct TrailingMarkers {
    is_parallel: bool,
    is_optional: bool,
}

fn clean_title(text: &str) -> (String, TrailingMarkers) {
    let mut found = TrailingMarkers::default();
    let mut title = text.trim();
    loop {
        let before = title;
        for marker in ["[P]", "(P)"] {
            if let Some(rest) = title.strip_suffix(marker) {
                title = rest.trim_end();
                found.is_parallel = true;
            }
        }
        if let Some(rest) = title.strip_suffix(" *") {
            title = rest.trim_end();
            found.is_optional = true;
        }
        if title == before {
            break;
        }
    }
    let lower = title.to_lowercase();
    found.is_optional |= ["(optional)", "[optional]"]
        .iter()
        .any(|word| lower.contains(word));
    // `Task: its title`
    if let Some(rest) = LABEL.behind(title) {
        title = rest;
    }
    for sign in ["~~", "**", "__"] {
        if title.matches(sign).count() == 1 {
            title = title.trim_end_matches(sign).trim_end();
        }
        if let Some(inner) = title
            .strip_prefix(sign)
            .and_then(|inner| inner.strip_suffix(sign))
            && !inner.contains(sign)
        {
            title = inner.trim();
        }
    }
    // Emphasis that began before the number ends in the title.
    let title = if title.matches("**").count() == 1 {
        title.replacen("**", "", 1)
    } else {
        title.to_owned()
    };
    (
        title
            .trim_start_matches(['-', '–', '—', ':'])
            .trim()
            .to_owned(),
        found,
    )
}

pub(super) fn columns(indent: &str) -> usize {
    indent
        .bytes()
        .map(|byte| if byte == b'\t' { TAB_COLUMNS } else { 1 })
        .sum()
}
