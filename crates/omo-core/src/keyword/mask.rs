//! Covers what is not the writer's own in a prompt: code, quotations, tags, pasted output.

use std::collections::HashMap;
use std::ops::Range;

use memchr::memmem;

use super::{Keywords, keyword_match, notes, pasted_lines, pasted_tables};
use crate::text::masked_text::{self, MaskedText, lines, paragraphs};

/// The prompt with its writer's own words alone; every other byte is covered.
pub(super) fn own_words(text: &str, keywords: &Keywords) -> MaskedText {
    let mut masked = MaskedText::new(text);
    // Together: a note may end within a quoted line, whose mark it would take away.
    masked.cover(|text| [notes::notes(text), masked_text::quoted_lines(text)].concat());
    masked.cover(masked_text::fences);
    masked.cover(masked_text::inline_code);
    masked.cover(masked_text::comments);
    masked.cover(|text| banners(text, keywords));
    masked.cover(|text| pasted_lines::pasted_lines(text, keywords));
    masked.cover(|text| pasted_tables::tables(text, keywords));
    masked.cover(diffs);
    masked.cover(tags);
    masked.cover(links);
    masked.cover(masked_text::quotations);
    masked.cover(addresses);
    masked.cover(|text| code_words(text, keywords));
    masked
}

pub(super) fn is_only_a_banner(text: &str) -> bool {
    let mut blocks = paragraphs(text).into_iter();
    let (Some(block), None) = (blocks.next(), blocks.next()) else {
        return false;
    };
    text.starts_with(['[', '•'])
        && text
            .get(block)
            .is_some_and(|block| starts_as_loop(block.trim_start()))
}

/// `[ULW LOOP - ITERATION 3/100]`, `[ULTRAWORK #3/50]`, `[RALPH LOOP …]`.
fn starts_as_loop(line: &str) -> bool {
    let label = bracketed(line).unwrap_or_default().to_ascii_lowercase();
    let of_a_loop = ["ulw", "ultrawork", "ralph"]
        .iter()
        .any(|name| label.starts_with(name));
    label.starts_with("omo") || of_a_loop && label.contains([' ', '-', '#', '/'])
}

fn bracketed(line: &str) -> Option<&str> {
    let rest = line
        .trim_start_matches(|char: char| char.is_whitespace() || matches!(char, '•' | '*' | '-'));
    rest.strip_prefix('[')?
        .split_once(']')
        .map(|(label, _)| label)
}

/// Banners of loops and of omo, each with its paragraph: a loop repeats the task below its banner.
fn banners(text: &str, keywords: &Keywords) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    for block in paragraphs(text) {
        let inner = text.get(block.clone()).unwrap_or_default();
        let first = lines(inner).find(|(_, line)| is_banner(line, keywords));
        ranges.extend(first.map(|(line, _)| block.start + line.start..block.end));
    }
    ranges
}

fn is_banner(line: &str, keywords: &Keywords) -> bool {
    let Some(label) = bracketed(line) else {
        return false;
    };
    let after = line.split_once(']').map_or("", |(_, after)| after);
    // `[x](y)` is a link.
    let names_a_keyword = keyword_match::contains_keyword(label, keywords)
        && label.contains([' ', '-', '#', '/', ':']);
    !after.starts_with('(') && (names_a_keyword || starts_as_loop(line))
}

/// Added and removed lines of a paragraph that has both, or `@@ ` or `diff --git`.
fn diffs(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    for block in paragraphs(text) {
        let inner = text.get(block.clone()).unwrap_or_default();
        if has_line(inner, "@@ ")
            || has_line(inner, "diff --git")
            || has_line(inner, "+") && has_line(inner, "-")
        {
            let changed = lines(inner).filter(|(_, line)| line.starts_with(['+', '-']));
            ranges
                .extend(changed.map(|(line, _)| block.start + line.start..block.start + line.end));
        }
    }
    ranges
}

fn has_line(text: &str, start: &str) -> bool {
    text.lines().any(|line| line.starts_with(start))
}

/// Tags, and the text between a `<tag>` and its `</tag>`.
fn tags(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut open_of: HashMap<&str, usize> = HashMap::new();
    let mut from = 0;
    while let Some(tag) = next_tag(text, from) {
        from = tag.range.end;
        if tag.closes && open_of.get(tag.name).is_some_and(|&count| count > 0) {
            while let Some((name, start)) = open.pop() {
                open_of.entry(name).and_modify(|count| *count -= 1);
                if name == tag.name {
                    ranges.push(start..tag.range.end);
                    break;
                }
            }
        } else {
            ranges.push(tag.range.clone());
            if !tag.closes {
                open.push((tag.name, tag.range.start));
                *open_of.entry(tag.name).or_default() += 1;
            }
        }
    }
    ranges
}

struct Tag<'t> {
    name: &'t str,
    closes: bool,
    range: Range<usize>,
}

/// Maximum bytes of a tag: many `<` without a `>` stay cheap.
const MAX_TAG: usize = 400;

fn next_tag(text: &str, from: usize) -> Option<Tag<'_>> {
    let bytes = text.as_bytes();
    for at in memchr::memchr_iter(b'<', bytes.get(from..)?) {
        let start = from + at;
        let inner = bytes.get(start + 1..)?;
        let closes = inner.first() == Some(&b'/');
        let name_start = start + 1 + usize::from(closes);
        let rest = text.get(name_start..)?;
        if !rest.starts_with(|char: char| char.is_ascii_alphabetic()) {
            continue;
        }
        let name_length = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"_-:.".contains(byte))
            .count();
        let window = inner.get(..inner.len().min(MAX_TAG))?;
        match memchr::memchr2(b'>', b'<', window) {
            Some(end) if window.get(end) == Some(&b'>') => {
                let name = rest.get(..name_length)?;
                return Some(Tag {
                    name,
                    closes,
                    range: start..start + end + 2,
                });
            }
            _ => {}
        }
    }
    None
}

/// `[text](target)`: the name of a page.
fn links(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut open = None;
    for at in memchr::memchr3_iter(b'[', b']', b'\n', text.as_bytes()) {
        let mut rest = text.bytes().skip(at);
        match (rest.next(), rest.next()) {
            (Some(b'['), _) => open = Some(at),
            (Some(b']'), Some(b'(')) => {
                let target = text.get(at..).unwrap_or_default();
                let end = target
                    .bytes()
                    .take(MAX_TAG)
                    .position(|byte| byte == b')' || byte == b'\n');
                if let (Some(start), Some(end)) = (open.take(), end) {
                    ranges.push(start..at + end);
                }
            }
            _ => open = None,
        }
    }
    ranges
}

/// URLs, e-mail addresses and `@` references, up to a blank or a letter that addresses do not hold.
fn addresses(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    if !["://", "www.", "@"]
        .iter()
        .any(|mark| memmem::find(text.as_bytes(), mark.as_bytes()).is_some())
    {
        return ranges;
    }
    let mut start = 0;
    for piece in text.split_inclusive(|char: char| char.is_whitespace() || !char.is_ascii()) {
        let is_address = piece.contains("://") || piece.starts_with("www.") || piece.contains('@');
        if is_address {
            let from = ["http", "www.", "@"]
                .iter()
                .filter_map(|mark| piece.find(mark))
                .min()
                .unwrap_or(0);
            let end = piece
                .trim_end_matches(|char: char| char.is_whitespace() || !char.is_ascii())
                .len();
            ranges.push(start + from.min(end)..start + end);
        }
        start += piece.len();
    }
    ranges
}

/// Keywords that are part of code: `ulw(x)`, `x = ulw`, `^ulw|goal`.
fn code_words(text: &str, keywords: &Keywords) -> Vec<Range<usize>> {
    keyword_match::find_keywords(text, keywords)
        .into_iter()
        .filter(|word| is_code_word(text, word))
        .collect()
}

/// `=> make it green`: an instruction behind an arrow, unlike an arm of code.
fn is_behind_arrow(after: &str) -> bool {
    let line = after
        .strip_prefix("=>")
        .and_then(|rest| rest.lines().next())
        .unwrap_or_default()
        .trim();
    line.split_whitespace().nth(1).is_some()
        && !line.ends_with([',', ';', '{', '}', ')', '"', '\''])
}

fn is_code_word(text: &str, word: &Range<usize>) -> bool {
    let before = text.get(..word.start).unwrap_or_default();
    let after = text.get(word.end..).unwrap_or_default();
    let line_before = before.trim_end_matches(' ');
    let line_after = after.trim_start_matches(' ');
    let is_argument = before.ends_with('(')
        && before
            .trim_end_matches('(')
            .ends_with(|char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '!'));
    let is_quoted = ['"', '\'']
        .iter()
        .any(|&mark| before.ends_with(mark) && after.starts_with(mark));
    is_argument
        || is_quoted
        || before.ends_with('[') && after.starts_with(',')
        || before
            .strip_suffix('[')
            .is_some_and(|rest| rest.trim_end_matches(' ').ends_with(['=', ':']))
        || before
            .strip_suffix('!')
            .is_some_and(|rest| rest.is_empty() || rest.ends_with([' ', '(', '\n']))
        || before.ends_with(", ") && after.starts_with(']')
        || before.ends_with(['^', '+', '{', '}', '>', '~', '%'])
        || [".*", "(?i)", "\\b", "(?:", "(?!", "(?=", "\\s"]
            .iter()
            .any(|mark| before.ends_with(mark))
        || line_before.ends_with(['=', '|', '│', '≠'])
        || ["]+", "]*", ".*", ".+"]
            .iter()
            .any(|mark| line_before.ends_with(mark))
        || after.starts_with(['(', '^', '+', '{', '}', '[', '~'])
        || ["*.", "%", ".*", ".+", ")?", ")+", ")*", ")\\"]
            .iter()
            .any(|mark| after.starts_with(mark))
        || line_after.starts_with(['=', '|', '│', '≠', '<', '>']) && !is_behind_arrow(line_after)
        || ["&&", ":=", "!=", "+=", "-=", "++"]
            .iter()
            .any(|mark| line_after.starts_with(mark))
}
