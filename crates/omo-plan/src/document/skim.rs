//! The places in a text that is written plainly, found line by line: several times as fast as by reading all of
//! its Markdown, and the same.
//!
//! Only what stands at the very start of a line can open or close anything in such a text. Wherever a line might
//! mean something else, nothing is found here at all, and pulldown-cmark reads the text: a property holds the two
//! to the same answer.

use std::cell::OnceCell;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, CowStr, HeadingLevel};

use super::{Document, code, heading, lines};

/// Bytes that a line has at least, on the whole.
const LINE: usize = 16;

/// What a line is, outside of code.
enum Line {
    /// An empty one, or text, or an item of a list: nothing that is kept.
    Text,
    /// A heading of this level.
    Heading(HeadingLevel),
    /// The fence that begins a code block: the sign, and how many of it.
    Fence(u8, usize),
    /// A comment that ends where the line does.
    Comment,
    /// It has to be read with what stands around it.
    Unclear,
}

/// Fills in the places of a document; `None`, with nothing of worth in it, where it is not plain.
pub(super) fn fill(document: &mut Document<'_>) -> Option<()> {
    let text = document.text;
    let bytes = text.as_bytes();
    // Most plans have none at all: their lines need not be asked one by one.
    let may_be_unusual = is_unusual(bytes);
    // The code block that is open: where it begins, its sign, and how many of it close it.
    let mut open: Option<(usize, u8, usize)> = None;
    let mut start = document.body;
    // The lines of a front matter, the last of which ends here. A byte order mark is part of a line that goes on.
    let mut starts: Vec<usize> = Vec::with_capacity(text.len() / LINE);
    starts.extend(lines(text, 0..start).map(|line| line.start));
    let mut goes_on = start > 0;
    if goes_on && bytes.get(start) == Some(&b'\n') {
        start += 1;
        goes_on = false;
    }
    while start < bytes.len() {
        if !goes_on {
            starts.push(start);
        }
        goes_on = false;
        let rest = bytes.get(start..)?;
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let row = rest.get(..length)?;
        let end = start + length;
        match open {
            Some((begin, sign, count)) => {
                if may_be_unusual && row.contains(&b'\r') {
                    return None;
                }
                if closes(row, sign, count)? {
                    document.code.push(fenced(text, begin..end));
                    open = None;
                }
            }
            None if may_be_unusual && is_unusual(row) => return None,
            None => match line(row) {
                Line::Text => {}
                Line::Heading(level) => document.headings.extend(heading(text, level, start..end)),
                Line::Fence(sign, count) => open = Some((start, sign, count)),
                Line::Comment => document.html.push(start..(end + 1).min(bytes.len())),
                Line::Unclear => return None,
            },
        }
        start = end + 1;
    }
    // A fence that is not closed is worth a second look.
    if open.is_some() {
        return None;
    }
    document.line_starts = OnceCell::from(starts);
    Some(())
}

fn fenced(text: &str, span: Range<usize>) -> super::Code<'_> {
    code(text, &CodeBlockKind::Fenced(CowStr::Borrowed("")), span)
}

/// Whether a line in a code block ends it. A line that nearly does is unclear.
fn closes(row: &[u8], sign: u8, count: usize) -> Option<bool> {
    let signs = row.iter().take_while(|byte| **byte == sign).count();
    if signs >= count {
        let rest = row.get(signs..)?;
        return rest.iter().all(|byte| *byte == b' ').then_some(true);
    }
    // Up to three blanks may stand before it.
    let inner = row.trim_ascii_start();
    let is_close = inner.len() < row.len() && inner.iter().take_while(|byte| **byte == sign).count() >= count;
    if is_close { None } else { Some(false) }
}

/// Whether bytes have one that parts lines, stands for blanks, or is none of a text.
fn is_unusual(bytes: &[u8]) -> bool {
    memchr::memchr3(b'\r', b'\t', 0, bytes).is_some()
}

fn line(row: &[u8]) -> Line {
    match row.first() {
        Some(b' ') => indented(row),
        Some(b'#') => headed(row),
        Some(sign @ (b'`' | b'~')) => fence(row, *sign),
        Some(b'<') => comment(row),
        Some(b'[') => bracketed(row),
        Some(b'>' | 1..=31) => Line::Unclear,
        Some(b'-' | b'+' | b'*') if row.get(1) == Some(&b' ') => item(row.get(2..).unwrap_or_default()),
        Some(b'0'..=b'9') => {
            let digits = row.iter().take_while(|byte| byte.is_ascii_digit()).count();
            match row.get(digits..) {
                Some([b'.' | b')', b' ', content @ ..]) => item(content),
                _ => Line::Text,
            }
        }
        _ => Line::Text,
    }
}

/// What an item of a list holds may be anything that a page does.
fn item(content: &[u8]) -> Line {
    match content.first() {
        Some(b'[') => bracketed(content),
        Some(1..=31 | b' ' | b'#' | b'`' | b'~' | b'<' | b'>' | b'-' | b'+' | b'*' | b'0'..=b'9') => within(content),
        _ => Line::Text,
    }
}

/// A definition of a link may go on in the next lines.
fn bracketed(row: &[u8]) -> Line {
    if memchr::memmem::find(row, b"]:").is_some() { Line::Unclear } else { Line::Text }
}

/// Bold text and code within a line are text; so is a number without a point.
fn within(content: &[u8]) -> Line {
    let is_text = match content {
        [b'*', b'*', third, ..] => !matches!(third, b' ' | b'*'),
        [b'`', second, ..] => *second != b'`',
        [b'0'..=b'9', ..] => {
            let digits = content.iter().take_while(|byte| byte.is_ascii_digit()).count();
            !matches!(content.get(digits), Some(b'.' | b')'))
        }
        _ => false,
    };
    if is_text { Line::Text } else { Line::Unclear }
}

/// Up to three blanks make no code, and what stands behind them is part of an item or of a paragraph.
fn indented(row: &[u8]) -> Line {
    let content = row.trim_ascii_start();
    let blanks = row.len() - content.len();
    if content.is_empty() {
        return Line::Text;
    }
    if blanks > 3 {
        return Line::Unclear;
    }
    match content {
        [b'-' | b'+' | b'*', b' ', inner @ ..] => item(inner),
        content => item(content),
    }
}

/// Text that begins with the sign of a heading becomes one by a line of dashes below it.
fn headed(row: &[u8]) -> Line {
    let signs = row.iter().take_while(|byte| **byte == b'#').count();
    match (HeadingLevel::try_from(signs), row.get(signs)) {
        (Ok(level), None | Some(b' ')) => Line::Heading(level),
        _ => Line::Unclear,
    }
}

fn fence(row: &[u8], sign: u8) -> Line {
    let signs = row.iter().take_while(|byte| **byte == sign).count();
    if signs < 3 {
        return Line::Text;
    }
    let info = row.get(signs..).unwrap_or_default();
    // Between two of them on one line it would be code within text.
    if info.contains(&b'`') { Line::Unclear } else { Line::Fence(sign, signs) }
}

fn comment(row: &[u8]) -> Line {
    let is_whole = row.starts_with(b"<!-- ") && memchr::memmem::find(row, b"-->").is_some();
    if is_whole { Line::Comment } else { Line::Unclear }
}

#[cfg(test)]
mod tests;
