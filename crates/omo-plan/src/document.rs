//! `MarkdownDocument`: byte ranges of the headings, code blocks and HTML blocks in the file of a plan.
//!
//! Blocks are those of `CommonMark` (pulldown-cmark); [`crate::labels`] reads the text below a heading.

use std::cell::OnceCell;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A parsed file. Ranges are byte offsets into `text`, a byte order mark included.
#[derive(Debug, PartialEq, Eq)]
pub struct MarkdownDocument<'a> {
    pub text: &'a str,
    /// Offset of the text behind a byte order mark and a front matter.
    pub body_start: usize,
    pub front_matter: Vec<FrontMatterField<'a>>,
    /// Headings outside of quotes, lists, code and HTML, in order.
    pub headings: Vec<Heading<'a>>,
    /// Code blocks, also those in quotes and lists, in order.
    pub code_blocks: Vec<CodeBlock<'a>>,
    /// HTML blocks, in order; Markdown inside of them is ignored.
    pub html_blocks: Vec<Range<usize>>,
    lines: OnceCell<LineIndex>,
}

/// `key: value` of a front matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrontMatterField<'a> {
    pub key: &'a str,
    /// Value without the quotes around it.
    pub value: &'a str,
    pub span: Range<usize>,
}

/// A heading that begins with `#`. Text above a line of dashes is no heading: plans part their tasks with such lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading<'a> {
    /// Level from 1 to 6.
    pub level: usize,
    /// Text without the `#` before and behind it.
    pub text: &'a str,
    /// Range from the first `#` to the end of the line.
    pub span: Range<usize>,
    pub is_indented: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBlock<'a> {
    pub span: Range<usize>,
    /// Range between the fences; for an indented block, all of it.
    pub inner: Range<usize>,
    /// Text behind the opening fence; `None` for an indented block.
    pub info: Option<&'a str>,
    pub is_open: bool,
}

impl<'a> MarkdownDocument<'a> {
    pub fn read(text: &'a str) -> Self {
        let start = if text.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len()
        } else {
            0
        };
        let (front_matter, body) = read_front_matter(text, start);
        let mut document = Self {
            text,
            body_start: body,
            front_matter,
            headings: Vec::new(),
            code_blocks: Vec::new(),
            html_blocks: Vec::new(),
            lines: OnceCell::new(),
        };
        document.read_blocks();
        document
    }

    fn read_blocks(&mut self) {
        // Number of open quotes, lists and items.
        let mut depth = 0_usize;
        let markdown = self.slice(self.body_start..self.text.len());
        for (event, place) in Parser::new_ext(markdown, Options::empty()).into_offset_iter() {
            let span = place.start + self.body_start..place.end + self.body_start;
            match event {
                Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::Item) => depth += 1,
                Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item) => {
                    depth = depth.saturating_sub(1);
                }
                Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                    self.headings.extend(read_heading(self.text, level, span));
                }
                Event::Start(Tag::CodeBlock(kind)) => self
                    .code_blocks
                    .push(read_code_block(self.text, &kind, span)),
                Event::Start(Tag::HtmlBlock) => self.html_blocks.push(span),
                _ => {}
            }
        }
    }

    /// Text of a range; empty for a range outside of the file.
    pub fn slice(&self, bytes: Range<usize>) -> &'a str {
        self.text.get(bytes).unwrap_or_default()
    }

    pub(crate) fn front_matter_field(&self, key: &str) -> Option<&FrontMatterField<'a>> {
        self.front_matter
            .iter()
            .find(|field| field.key.eq_ignore_ascii_case(key))
    }

    /// Section of each heading, up to the next heading of at most its level; inner sections are listed too.
    pub(crate) fn section_ranges(&self) -> Vec<Range<usize>> {
        let mut ends = vec![self.text.len(); self.headings.len()];
        // Stack of later headings that may end the section, the nearest on top.
        let mut next: Vec<&Heading<'_>> = Vec::new();
        for (heading, end) in self.headings.iter().zip(&mut ends).rev() {
            while next.last().is_some_and(|later| later.level > heading.level) {
                next.pop();
            }
            *end = next
                .last()
                .map_or(self.text.len(), |later| later.span.start);
            next.push(heading);
        }
        self.headings
            .iter()
            .zip(ends)
            .map(|(heading, end)| heading.span.start..end)
            .collect()
    }

    /// Line of a byte, from 1.
    pub(crate) fn line_number(&self, byte: usize) -> usize {
        self.lines
            .get_or_init(|| LineIndex::new(self.text))
            .line_number(byte)
    }

    pub(crate) fn headings_in(&self, part: &Range<usize>) -> &[Heading<'a>] {
        let first = self
            .headings
            .partition_point(|heading| heading.span.start < part.start);
        let behind = self
            .headings
            .partition_point(|heading| heading.span.start < part.end);
        self.headings.get(first..behind).unwrap_or_default()
    }

    pub(crate) fn code_at(&self, byte: usize) -> Option<&CodeBlock<'a>> {
        let behind = self
            .code_blocks
            .partition_point(|code| code.span.start <= byte);
        self.code_blocks
            .get(behind.checked_sub(1)?)
            .filter(|code| code.span.contains(&byte))
    }

    pub(crate) fn is_in_html(&self, byte: usize) -> bool {
        let behind = self.html_blocks.partition_point(|span| span.start <= byte);
        behind
            .checked_sub(1)
            .and_then(|last| self.html_blocks.get(last))
            .is_some_and(|span| span.contains(&byte))
    }

    /// The last code block, where its missing fence makes the rest of the file code.
    pub fn unclosed_fence(&self) -> Option<&CodeBlock<'a>> {
        let last = self.code_blocks.last()?;
        let rest = self.text.get(last.span.end..).unwrap_or_default();
        (last.is_open && rest.trim().is_empty() && !self.is_blank(last)).then_some(last)
    }

    pub(crate) fn is_blank(&self, code: &CodeBlock<'_>) -> bool {
        self.slice(code.inner.clone()).trim().is_empty()
    }

    /// Content without the common indentation of its lines.
    pub(crate) fn dedented_code(&self, code: &CodeBlock<'_>) -> String {
        let rows: Vec<&str> = line_ranges(self.text, code.inner.clone())
            .map(|line| self.slice(line))
            .collect();
        let shared = rows
            .iter()
            .filter(|row| !row.trim().is_empty())
            .map(|row| row.len() - row.trim_start_matches([' ', '\t']).len())
            .min()
            .unwrap_or(0);
        let rows: Vec<&str> = rows
            .iter()
            .map(|row| row.get(shared..).unwrap_or_default())
            .collect();
        rows.join("\n").trim_end().to_owned()
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LineIndex(Vec<usize>);

impl LineIndex {
    pub(crate) fn new(text: &str) -> Self {
        Self(
            line_ranges(text, 0..text.len())
                .map(|line| line.start)
                .collect(),
        )
    }

    pub(crate) fn line_number(&self, byte: usize) -> usize {
        self.0.partition_point(|start| *start <= byte).max(1)
    }
}

/// Ranges of lines without their ends: LF, CRLF or CR, as in Markdown.
pub(crate) fn line_ranges(text: &str, part: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let end = part.end.min(bytes.len());
    let mut next = (part.start < end).then_some(part.start);
    std::iter::from_fn(move || {
        let start = next?;
        let rest = bytes.get(start..end).unwrap_or_default();
        let length = memchr::memchr2(b'\n', b'\r', rest);
        let stop = start + length.unwrap_or(rest.len());
        let ending = match (bytes.get(stop), bytes.get(stop + 1)) {
            (Some(b'\r'), Some(b'\n')) => 2,
            _ => 1,
        };
        next = (length.is_some() && stop + ending < end).then_some(stop + ending);
        Some(start..stop)
    })
}

/// Fields of the front matter and the offset of its end; `start` without a front matter.
fn read_front_matter(text: &str, start: usize) -> (Vec<FrontMatterField<'_>>, usize) {
    let mut rows = line_ranges(text, start..text.len()).map(|span| {
        let row = text.get(span.clone()).unwrap_or_default();
        (span, row)
    });
    if rows
        .next()
        .is_none_or(|(_, first)| first.trim_end() != "---")
    {
        return (Vec::new(), start);
    }
    let mut fields = Vec::new();
    for (span, row) in rows {
        if matches!(row.trim_end(), "---" | "...") {
            return (fields, span.end);
        }
        if let Some((key, value)) = row.split_once(':')
            && !key.starts_with([' ', '\t', '#', '-'])
        {
            let value = value.trim().trim_matches(['"', '\'']);
            fields.push(FrontMatterField {
                key: key.trim(),
                value,
                span,
            });
        }
    }
    (Vec::new(), start)
}

fn read_heading(text: &str, level: HeadingLevel, span: Range<usize>) -> Option<Heading<'_>> {
    let row = text.get(span.clone())?.trim_end();
    let before = text.get(..span.start)?;
    let is_indented =
        !(before.is_empty() || before.ends_with(['\n', '\r']) || before == BYTE_ORDER_MARK);
    let inner = row.strip_prefix('#')?.trim_start_matches('#').trim();
    // Trailing `#` belong to the text, unless a space stands before them.
    let open = inner.trim_end_matches('#');
    let inner = if open.is_empty() || open.ends_with([' ', '\t']) {
        open.trim_end()
    } else {
        inner
    };
    Some(Heading {
        level: level as usize,
        text: inner,
        span: span.start..span.start + row.len(),
        is_indented,
    })
}

fn read_code_block<'a>(
    text: &'a str,
    kind: &CodeBlockKind<'_>,
    span: Range<usize>,
) -> CodeBlock<'a> {
    let raw = text.get(span.clone()).unwrap_or_default();
    let span = span.start..span.start + raw.trim_end_matches(['\n', '\r']).len();
    if matches!(kind, CodeBlockKind::Indented) {
        return CodeBlock {
            inner: span.clone(),
            span,
            info: None,
            is_open: false,
        };
    }
    let mut rows = line_ranges(text, span.clone());
    let first = rows.next().unwrap_or(span.start..span.start);
    let row = text.get(first.clone()).unwrap_or_default();
    let sign = row.chars().next().unwrap_or('`');
    let info = row.trim_start_matches(sign);
    let fence = row.len() - info.len();
    let (mut begin, mut end) = (span.end, span.end);
    let mut last = None;
    for row in rows {
        begin = begin.min(row.start);
        last = Some(row);
    }
    let closing = last.filter(|row| {
        // In a quote or a list, markers stand before the fence.
        let row = text
            .get(row.clone())
            .unwrap_or_default()
            .trim()
            .trim_start_matches(['>', ' ', '\t']);
        row.len() >= fence && row.chars().all(|char| char == sign)
    });
    if let Some(closing) = &closing {
        end = closing.start;
    }
    CodeBlock {
        span,
        inner: begin..end.max(begin),
        info: Some(info.trim()),
        is_open: closing.is_none(),
    }
}

#[cfg(test)]
mod tests;
