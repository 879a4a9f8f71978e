//! What in a prompt is not its writer speaking: code, quotations and tags, and what was pasted
//! from a terminal, a chat, a table, a diff or a loop.

use std::collections::HashMap;
use std::ops::Range;

use memchr::memmem;

use super::{Keywords, keyword_match, notes};
use crate::text::masked_text::{self, MaskedText, lines, paragraphs};

/// The prompt with all of that covered.
pub(super) fn own_words(text: &str, keywords: &Keywords) -> MaskedText {
    let mut masked = MaskedText::new(text);
    // Together: a note may end within a quoted line, whose mark it would take away.
    masked.cover(|text| [notes::notes(text), masked_text::quoted_lines(text)].concat());
    masked.cover(masked_text::fences);
    masked.cover(masked_text::inline_code);
    masked.cover(masked_text::comments);
    masked.cover(|text| banners(text, keywords));
    masked.cover(pasted_lines);
    masked.cover(tables);
    masked.cover(diffs);
    masked.cover(tags);
    masked.cover(links);
    masked.cover(masked_text::quotations);
    masked.cover(addresses);
    masked.cover(|text| calls(text, keywords));
    masked
}

/// Whether a prompt is a loop's banner and nothing else.
pub(super) fn is_only_a_banner(text: &str) -> bool {
    let mut blocks = paragraphs(text).into_iter();
    let is_banner = |block: Range<usize>| text.get(block).is_some_and(|block| starts_as_loop(block.trim_start()));
    text.starts_with(['[', '•']) && blocks.next().is_some_and(is_banner) && blocks.next().is_none()
}

/// `[ULW LOOP - ITERATION 3/100]`, `[ULTRAWORK #3/50]`, `[RALPH LOOP …]`.
fn starts_as_loop(line: &str) -> bool {
    let label = bracketed(line).unwrap_or_default().to_ascii_lowercase();
    let of_a_loop = ["ulw", "ultrawork", "ralph"].iter().any(|name| label.starts_with(name));
    label.starts_with("omo") || of_a_loop && label.contains([' ', '-', '#', '/'])
}

/// What stands in the brackets that a line begins with.
fn bracketed(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|char: char| char.is_whitespace() || matches!(char, '•' | '*' | '-'));
    rest.strip_prefix('[')?.split_once(']').map(|(label, _)| label)
}

/// Banners of loops, omo's own lines among them: each with its paragraph, since a loop repeats
/// the task below its banner.
fn banners(text: &str, keywords: &Keywords) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for block in paragraphs(text) {
        let inner = text.get(block.clone()).unwrap_or_default();
        let first = lines(inner).find(|(_, line)| is_banner(line, keywords));
        found.extend(first.map(|(line, _)| block.start + line.start..block.end));
    }
    found
}

fn is_banner(line: &str, keywords: &Keywords) -> bool {
    let Some(label) = bracketed(line) else { return false };
    let after = line.split_once(']').map_or("", |(_, after)| after);
    // `[x](y)` is a link.
    let names_a_keyword = keyword_match::contains_keyword(label, keywords) && label.contains([' ', '-', '#', '/', ':']);
    !after.starts_with('(') && (names_a_keyword || starts_as_loop(line))
}

/// Lines of a shell or a chat.
fn pasted_lines(text: &str) -> Vec<Range<usize>> {
    lines(text).filter(|(_, line)| is_shell(line.trim_start()) || is_chat(line)).map(|(range, _)| range).collect()
}

fn is_shell(line: &str) -> bool {
    let marked = ["$ ", "% ", "❯", "› ", "➜ ", "⏺ ", "PS C:"].iter().any(|mark| line.starts_with(mark));
    // `me@host:~$ ulw`
    let first = line.split_whitespace().next().unwrap_or_default();
    marked || first.contains('@') && first.ends_with(['$', '#', '%'])
}

/// How far into a line the colon after a role is looked for, in characters.
const LONGEST_ROLE: usize = 24;

fn is_chat(line: &str) -> bool {
    const ROLES: [&str; 17] = [
        "user",
        "assistant",
        "human",
        "system",
        "claude",
        "ai",
        "agent",
        "bot",
        "you",
        "me",
        "사용자",
        "어시스턴트",
        "用户",
        "助手",
        "ユーザー",
        "アシスタント",
        "developer",
    ];
    let line = line.trim_start_matches(|char: char| char.is_whitespace() || matches!(char, '*' | '_' | '-' | '#'));
    let colon = line.char_indices().take(LONGEST_ROLE).find(|(_, char)| matches!(char, ':' | '：'));
    let Some((colon, _)) = colon else { return false };
    let role = line.get(..colon).unwrap_or_default().trim_matches(['*', '_', ' ']);
    ROLES.iter().any(|name| role.eq_ignore_ascii_case(name))
}

/// Lines that begin with a bar, and the lines around a row of dashes.
fn tables(text: &str) -> Vec<Range<usize>> {
    let all: Vec<(Range<usize>, &str)> = lines(text).filter(|(_, line)| line.contains('|')).collect();
    let mut found: Vec<Range<usize>> = Vec::new();
    for (index, (range, line)) in all.iter().enumerate() {
        let is_below = |upper: &Range<usize>| upper.end + 1 == range.start;
        if line.trim_start().starts_with('|') {
            found.push(range.clone());
        } else if is_rule(line) {
            let head = index.checked_sub(1).and_then(|index| all.get(index));
            found.extend(head.map(|(head, _)| head.clone()).filter(|head| is_below(head)));
            found.push(range.clone());
        } else if found.last().is_some_and(is_below) {
            found.push(range.clone());
        }
    }
    found
}

fn is_rule(line: &str) -> bool {
    line.contains("--") && line.chars().all(|char| matches!(char, '|' | '-' | ':') || char.is_whitespace())
}

/// Added and removed lines, where a paragraph has both or says that it is a diff.
fn diffs(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for block in paragraphs(text) {
        let inner = text.get(block.clone()).unwrap_or_default();
        let has = |mark: &str| inner.lines().any(|line| line.starts_with(mark));
        if has("@@ ") || has("diff --git") || has("+") && has("-") {
            let changed = lines(inner).filter(|(_, line)| line.starts_with(['+', '-']));
            found.extend(changed.map(|(line, _)| block.start + line.start..block.start + line.end));
        }
    }
    found
}

/// Tags, and what stands between an opening and its closing one.
fn tags(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut open_of: HashMap<&str, usize> = HashMap::new();
    let mut from = 0;
    while let Some(tag) = next_tag(text, from) {
        from = tag.range.end;
        if tag.closes && open_of.get(tag.name).is_some_and(|&count| count > 0) {
            while let Some((name, start)) = open.pop() {
                open_of.entry(name).and_modify(|count| *count -= 1);
                if name == tag.name {
                    found.push(start..tag.range.end);
                    break;
                }
            }
        } else {
            found.push(tag.range.clone());
            if !tag.closes {
                open.push((tag.name, tag.range.start));
                *open_of.entry(tag.name).or_default() += 1;
            }
        }
    }
    found
}

struct Tag<'t> {
    name: &'t str,
    closes: bool,
    range: Range<usize>,
}

/// The longest tag that is read, so that many `<` without a `>` stay cheap.
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
        let name_length =
            rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-:.".contains(byte)).count();
        let window = inner.get(..inner.len().min(MAX_TAG))?;
        match memchr::memchr2(b'>', b'<', window) {
            Some(end) if window.get(end) == Some(&b'>') => {
                let name = rest.get(..name_length)?;
                return Some(Tag { name, closes, range: start..start + end + 2 });
            }
            _ => {}
        }
    }
    None
}

/// `[text](target)`: the name of a page, and no instruction.
fn links(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open = None;
    for at in memchr::memchr3_iter(b'[', b']', b'\n', text.as_bytes()) {
        let mut rest = text.bytes().skip(at);
        match (rest.next(), rest.next()) {
            (Some(b'['), _) => open = Some(at),
            (Some(b']'), Some(b'(')) => {
                let target = text.get(at..).unwrap_or_default();
                let end = target.bytes().take(MAX_TAG).position(|byte| byte == b')' || byte == b'\n');
                if let (Some(start), Some(end)) = (open.take(), end) {
                    found.push(start..at + end);
                }
            }
            _ => open = None,
        }
    }
    found
}

/// URLs, e-mail addresses and `@` references, each to its blank or to the first letter of a
/// script that addresses are not written in.
fn addresses(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !["://", "www.", "@"].iter().any(|mark| memmem::find(text.as_bytes(), mark.as_bytes()).is_some()) {
        return found;
    }
    let mut start = 0;
    for piece in text.split_inclusive(|char: char| char.is_whitespace() || !char.is_ascii()) {
        let is_address = piece.contains("://") || piece.starts_with("www.") || piece.contains('@');
        if is_address {
            let from = ["http", "www.", "@"].iter().filter_map(|mark| piece.find(mark)).min().unwrap_or(0);
            let end = piece.trim_end_matches(|char: char| char.is_whitespace() || !char.is_ascii()).len();
            found.push(start + from.min(end)..start + end);
        }
        start += piece.len();
    }
    found
}

/// `ulw()`: the name of a function.
fn calls(text: &str, keywords: &Keywords) -> Vec<Range<usize>> {
    let is_call = |word: &Range<usize>| text.get(word.end..).is_some_and(|after| after.starts_with("()"));
    keyword_match::find_keywords(text, keywords).into_iter().filter(is_call).collect()
}
