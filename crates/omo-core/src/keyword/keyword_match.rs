//! Finds keywords such as `ulw` in a text, where they are words of their own.

use std::collections::VecDeque;
use std::ops::Range;

use super::Keywords;

/// Maximum places at each end: a prompt of nothing but keywords must not fill the memory.
const PLACES: usize = 1_000;

/// Byte ranges of the keywords in `text`, in order; `ulw/ultrawork` is one word.
pub(super) fn find_keywords(text: &str, keywords: &Keywords) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for found in matches(text, keywords) {
        match words.last_mut() {
            Some(last) if found.start < last.end => {}
            Some(last) if last.end + 1 == found.start && byte_at(text, last.end) == Some(b'/') => {
                last.end = found.end;
            }
            _ => words.push(found),
        }
    }
    words.retain(|word| is_free(text, word));
    words
}

pub(super) fn contains_keyword(text: &str, keywords: &Keywords) -> bool {
    keywords
        .words()
        .iter()
        .any(|keyword| places(text, keyword).next().is_some())
}

fn matches(text: &str, keywords: &Keywords) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = keywords
        .words()
        .iter()
        .flat_map(|keyword| ends(places(text, keyword)))
        .collect();
    // Of two that begin together the longer one counts.
    words.sort_unstable_by(|a, b| a.start.cmp(&b.start).then(b.end.cmp(&a.end)));
    words
}

/// The first and the last [`PLACES`] of all places.
fn ends(mut places: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut kept: Vec<Range<usize>> = places.by_ref().take(PLACES).collect();
    let mut last = VecDeque::new();
    for place in places {
        last.push_back(place);
        if last.len() > PLACES {
            last.pop_front();
        }
    }
    kept.extend(last);
    kept
}

fn places<'t>(text: &'t str, keyword: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    narrow_places(text, keyword).chain(wide_places(text, keyword))
}

/// Places in full-width letters (`ｕｌｗ`), which East Asian keyboards type.
fn wide_places<'t>(text: &'t str, keyword: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    const LEAD: u8 = 0xef;
    const BYTES: usize = 3;
    memchr::memchr_iter(LEAD, text.as_bytes()).filter_map(move |start| {
        let end = start + keyword.len() * BYTES;
        let found = text
            .get(start..end)?
            .chars()
            .map(|char| narrow(char).to_ascii_lowercase());
        found
            .eq(keyword.chars().map(|char| char.to_ascii_lowercase()))
            .then_some(start..end)
    })
}

fn narrow(char: char) -> char {
    const DISTANCE: u32 = 0xfee0;
    match char {
        '！'..='～' => char::from_u32(u32::from(char) - DISTANCE).unwrap_or(char),
        _ => char::REPLACEMENT_CHARACTER,
    }
}

fn narrow_places<'t>(text: &'t str, keyword: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    let first = keyword.bytes().next().unwrap_or_default();
    memchr::memchr2_iter(
        first.to_ascii_lowercase(),
        first.to_ascii_uppercase(),
        text.as_bytes(),
    )
    .filter_map(move |start| {
        let end = start + keyword.len();
        let same = text
            .get(start..end)
            .is_some_and(|found| found.eq_ignore_ascii_case(keyword));
        same.then_some(start..end)
    })
}

fn byte_at(text: &str, at: usize) -> Option<u8> {
    text.as_bytes().get(at).copied()
}

/// `false` for a part of a longer name, path, option or number.
fn is_free(text: &str, word: &Range<usize>) -> bool {
    let keyword = text.get(word.clone()).unwrap_or_default();
    let outer = with_emphasis(text, word);
    let before = text
        .get(..outer.start)
        .unwrap_or_default()
        .chars()
        .next_back();
    let mut after = without_case_ending(text.get(outer.end..).unwrap_or_default()).chars();
    let next = after.next();
    let joined_before = before.is_some_and(|char| joins(char) || matches!(char, '.' | ':'));
    let joined_after = next.is_some_and(|char| {
        joins(char)
            || matches!(char, '.' | ':')
                && after
                    .next()
                    .is_some_and(|beyond| is_name_char(beyond) || beyond == ':')
    });
    !joined_before
        && !joined_after
        && !within_katakana(before, keyword.chars().next())
        && !within_katakana(keyword.chars().next_back(), next)
}

/// The word with the marks of `_ulw_`.
fn with_emphasis(text: &str, word: &Range<usize>) -> Range<usize> {
    let start = word.start.saturating_sub(1);
    let is_marked = word.start > 0
        && byte_at(text, start) == Some(b'_')
        && byte_at(text, word.end) == Some(b'_');
    if is_marked {
        start..word.end + 1
    } else {
        word.clone()
    }
}

/// The text `after` a keyword without a Finnish or Hungarian ending, as of `ulw:tä` and `ulw-t`.
fn without_case_ending(after: &str) -> &str {
    const ENDINGS: [&str; 10] = [
        ":tä", ":ta", ":llä", ":lla", ":ää", ":aa", "-t", "-et", "-vel", "-val",
    ];
    ENDINGS
        .iter()
        .find_map(|ending| {
            after
                .strip_prefix(ending)
                .filter(|rest| rest.is_empty() || rest.starts_with([' ', ',', '.', '!', '\n']))
        })
        .unwrap_or(after)
}

fn joins(char: char) -> bool {
    is_name_char(char) || matches!(char, '_' | '-' | '/' | '\\' | '@' | '#' | '$' | '=' | '&')
}

fn is_name_char(char: char) -> bool {
    char.is_numeric() || is_latin(char)
}

/// Latin letters and their marks; other scripts write no blanks, or attach their particles.
fn is_latin(char: char) -> bool {
    match char {
        'ª' | 'º' | '\u{300}'..='\u{36f}' | '\u{1dc0}'..='\u{1dff}' => true,
        '\u{0}'..='\u{24f}'
        | '\u{250}'..='\u{2af}'
        | '\u{1e00}'..='\u{1eff}'
        | '\u{2c60}'..='\u{2c7f}'
        | '\u{a720}'..='\u{a7ff}'
        | '\u{ab30}'..='\u{ab6f}'
        | '\u{ff21}'..='\u{ff3a}'
        | '\u{ff41}'..='\u{ff5a}' => char.is_alphabetic(),
        _ => false,
    }
}

fn within_katakana(left: Option<char>, right: Option<char>) -> bool {
    left.is_some_and(is_katakana) && right.is_some_and(is_katakana)
}

fn is_katakana(char: char) -> bool {
    matches!(char, '\u{30a0}'..='\u{30ff}')
}
