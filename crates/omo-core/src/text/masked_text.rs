//! Covers stretches of a text that are not its writer's own words: code, quotations, comments.
//!
//! Each pass walks the text once, so hostile input costs its length. Stretches are covered, never
//! cut out: offsets into the masked text are offsets into the original.

use std::collections::HashMap;
use std::ops::Range;

use memchr::memmem;

/// Replacement of a covered byte; line breaks stay.
pub(crate) const COVERED: char = '\u{1}';

#[derive(Clone, Debug)]
pub(crate) struct MaskedText {
    text: String,
}

impl MaskedText {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
        }
    }

    /// The text with covered stretches, as long as the original.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Covers the byte ranges that `pass` finds in the masked text.
    pub(crate) fn cover(&mut self, pass: impl FnOnce(&str) -> Vec<Range<usize>>) {
        let mut ranges = pass(&self.text);
        if ranges.is_empty() {
            return;
        }
        ranges.sort_unstable_by_key(|range| range.start);
        let mut out = String::with_capacity(self.text.len());
        for range in ranges {
            // Nested ranges lie behind `out` already, wholly or in part.
            let start = range.start.max(out.len());
            out.push_str(self.text.get(out.len()..start).unwrap_or_default());
            cover_bytes(
                self.text.get(start..range.end).unwrap_or_default(),
                &mut out,
            );
        }
        out.push_str(self.text.get(out.len()..).unwrap_or_default());
        self.text = out;
    }
}

fn cover_bytes(text: &str, out: &mut String) {
    out.extend(
        text.bytes()
            .map(|byte| if byte == b'\n' { '\n' } else { COVERED }),
    );
}

pub(crate) fn lines(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut start = 0;
    text.split('\n').map(move |line| {
        let range = start..start + line.len();
        start = range.end + 1;
        (range, line)
    })
}

/// Fenced code: three or more backticks or tildes, closed by as many, or never.
pub(crate) fn fences(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut open: Option<(usize, FenceMark)> = None;
    for (range, line) in lines(text) {
        match (&open, fence_mark(line)) {
            (None, Some(mark)) if mark.sign == '~' || !mark.info.contains('`') => {
                open = Some((range.start, mark));
            }
            (Some((start, opening)), Some(mark))
                if mark.sign == opening.sign
                    && mark.length >= opening.length
                    && mark.info.trim().is_empty() =>
            {
                ranges.push(*start..range.end);
                open = None;
            }
            _ => {}
        }
    }
    ranges.extend(open.map(|(start, _)| start..text.len()));
    ranges
}

struct FenceMark<'a> {
    sign: char,
    length: usize,
    /// Rest of the line.
    info: &'a str,
}

/// The fence that a line opens or closes; any indentation counts, as in a list.
fn fence_mark(line: &str) -> Option<FenceMark<'_>> {
    let line = line.trim_start();
    let sign = line
        .chars()
        .next()
        .filter(|sign| matches!(sign, '`' | '~'))?;
    let info = line.trim_start_matches(sign);
    let length = line.len() - info.len();
    (length >= 3).then_some(FenceMark { sign, length, info })
}

/// Lines that quote: `> …`.
pub(crate) fn quoted_lines(text: &str) -> Vec<Range<usize>> {
    lines(text)
        .filter(|(_, line)| line.trim_start().starts_with('>'))
        .map(|(range, _)| range)
        .collect()
}

/// HTML comments; one without `-->` reaches to the end.
pub(crate) fn comments(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    while let Some(start) = find(text, "<!--", from) {
        let end = find(text, "-->", start + 4).map_or(text.len(), |end| end + 3);
        ranges.push(start..end);
        from = end;
    }
    ranges
}

pub(crate) fn find(text: &str, needle: &str, from: usize) -> Option<usize> {
    let rest = text.as_bytes().get(from..)?;
    memmem::find(rest, needle.as_bytes()).map(|at| from + at)
}

/// Inline code: a run of backticks up to the next run of the same length in the same paragraph.
pub(crate) fn inline_code(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    for paragraph in paragraphs(text) {
        let offset = paragraph.start;
        let runs = backtick_runs(text.get(paragraph).unwrap_or_default(), offset);
        pair_runs(&runs, &mut ranges);
    }
    ranges
}

fn backtick_runs(text: &str, offset: usize) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in memchr::memchr_iter(b'`', text.as_bytes()) {
        let at = at + offset;
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

fn pair_runs(runs: &[Range<usize>], found: &mut Vec<Range<usize>>) {
    let mut next_of_length = HashMap::new();
    let mut closers: Vec<Option<&Range<usize>>> = Vec::with_capacity(runs.len());
    for run in runs.iter().rev() {
        closers.push(next_of_length.insert(run.len(), run));
    }
    let mut done = 0;
    for (run, closer) in runs.iter().zip(closers.iter().rev()) {
        if let (true, Some(closer)) = (run.start >= done, closer) {
            found.push(run.start..closer.end);
            done = closer.end;
        }
    }
}

pub(crate) fn paragraphs(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut inside = false;
    for (range, line) in lines(text) {
        let blank = line.trim().is_empty();
        match ranges.last_mut() {
            Some(last) if inside && !blank => last.end = range.end,
            _ if !blank => ranges.push(range),
            _ => {}
        }
        inside = !blank;
    }
    ranges
}

pub(crate) fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut open = [const { None::<usize> }; KINDS];
    let mut ranges = Vec::new();
    for (at, _) in text
        .bytes()
        .enumerate()
        .filter(|&(_, byte)| may_be_a_mark(byte))
    {
        let Some((left, right)) = text.split_at_checked(at) else {
            continue;
        };
        let mut rest = right.chars();
        let Some(char) = rest.next() else { continue };
        let before = left.chars().next_back().unwrap_or('\n');
        let after = rest.next().unwrap_or('\n');
        if char == '\n' && after == '\n' {
            // A straight mark that is still open after its paragraph opened nothing.
            close_kinds(&mut open, &[STRAIGHT, APOSTROPHE]);
        }
        if char == '\n' {
            close_kinds(&mut open, &[APOSTROPHE, CURLY_SINGLE]);
        }
        let mark = Mark {
            char,
            before,
            after,
        };
        if let Some(start) = mark
            .closes()
            .iter()
            .find_map(|&kind| open.get_mut(kind)?.take())
        {
            ranges.push(start..at + char.len_utf8());
        } else if let Some(slot) = mark.opens().and_then(|kind| open.get_mut(kind)) {
            *slot = match *slot {
                Some(outer) if mark.nests() => Some(outer),
                _ => Some(at),
            };
        }
    }
    ranges
}

fn may_be_a_mark(byte: u8) -> bool {
    matches!(byte, b'\n' | b'"' | b'\'' | 0xc2 | 0xe2 | 0xe3 | 0xef)
}

fn close_kinds(open: &mut [Option<usize>; KINDS], kinds: &[usize]) {
    for &kind in kinds {
        if let Some(slot) = open.get_mut(kind) {
            *slot = None;
        }
    }
}

const STRAIGHT: usize = 0;
const APOSTROPHE: usize = 1;
const CURLY_SINGLE: usize = 2;
const CURLY: usize = 3;
const LOW: usize = 4;
const GUILLEMET: usize = 5;
const GUILLEMET_INWARD: usize = 6;
const CORNER: usize = 7;
const WHITE_CORNER: usize = 8;
const DOUBLE_ANGLE: usize = 9;
const ANGLE: usize = 10;
const PRIME: usize = 11;
const FULL_WIDTH: usize = 12;
const HALF_CORNER: usize = 13;
const KINDS: usize = 14;

#[derive(Clone, Copy)]
struct Mark {
    char: char,
    before: char,
    after: char,
}

impl Mark {
    fn opens(self) -> Option<usize> {
        let after_gap = !self.before.is_ascii_alphanumeric();
        Some(match self.char {
            '"' if after_gap => STRAIGHT,
            '\'' if !self.before.is_alphanumeric() && !self.after.is_whitespace() => APOSTROPHE,
            '‘' => CURLY_SINGLE,
            '“' => CURLY,
            '„' => LOW,
            '«' => GUILLEMET,
            '»' => GUILLEMET_INWARD,
            '「' => CORNER,
            '『' => WHITE_CORNER,
            '《' => DOUBLE_ANGLE,
            '〈' => ANGLE,
            '〝' => PRIME,
            '＂' => FULL_WIDTH,
            '｢' => HALF_CORNER,
            _ => return None,
        })
    }

    /// The kinds that this character closes, the likeliest first.
    fn closes(self) -> &'static [usize] {
        match self.char {
            '"' => &[STRAIGHT],
            '\'' if !self.before.is_whitespace() && !self.after.is_ascii_alphanumeric() => {
                &[APOSTROPHE]
            }
            '’' if !self.after.is_ascii_alphanumeric() => &[CURLY_SINGLE],
            '”' => &[CURLY, LOW],
            '“' => &[LOW],
            '»' => &[GUILLEMET],
            '«' => &[GUILLEMET_INWARD],
            '」' => &[CORNER],
            '』' => &[WHITE_CORNER],
            '》' => &[DOUBLE_ANGLE],
            '〉' => &[ANGLE],
            '〟' | '〞' => &[PRIME],
            '＂' => &[FULL_WIDTH],
            '｣' => &[HALF_CORNER],
            _ => &[],
        }
    }

    /// A second opening mark lies inside the first one's quotation; a stray apostrophe does not.
    fn nests(self) -> bool {
        !matches!(self.char, '\'' | '‘')
    }
}
