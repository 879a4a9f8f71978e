//! Splits a text into sentences and clauses, and finds those around a word.

use std::ops::Range;

/// Maximum bytes of a sentence to each side; a long text stays cheap.
const WINDOW: usize = 240;

/// The clause around a keyword, in lower case.
#[derive(Debug)]
pub(super) struct WordContext {
    pub(super) clauses_before: String,
    pub(super) before: String,
    pub(super) after: String,
    pub(super) end: char,
    pub(super) opened_by: Option<char>,
    pub(super) next: String,
}

/// The clause around the keyword at `word`, with its neighbours.
pub(super) fn word_context(text: &str, word: &Range<usize>) -> WordContext {
    let before = text.get(..word.start).unwrap_or_default();
    let after = text.get(word.end..).unwrap_or_default();
    let before = before.trim_end_matches(['*', '_']);
    let after = after.trim_start_matches(['*', '_']);
    let start = start_behind(before, |char, next| {
        ends_sentence(char, next) || ends_clause(char, next)
    });
    let sentence = start_behind(before, ends_sentence);
    let (length, end) = sentence_end(after);
    WordContext {
        clauses_before: lower(before.get(sentence..start).unwrap_or_default()),
        before: lower(before.get(start..).unwrap_or_default()),
        after: lower(after.get(..length).unwrap_or_default()),
        end,
        opened_by: before
            .get(..start)
            .and_then(|rest| rest.chars().next_back()),
        next: lower(next_sentence(after.get(length..).unwrap_or_default())),
    }
}

fn lower(text: &str) -> String {
    text.to_lowercase().replace(['’', 'ʼ'], "'")
}

/// Offset behind the last character that `ends` accepts.
fn start_behind(before: &str, ends: impl Fn(char, char) -> bool) -> usize {
    let mut next = ' ';
    for (at, char) in before.char_indices().rev() {
        if before.len() - at > WINDOW || ends(char, next) {
            return at + char.len_utf8();
        }
        next = char;
    }
    0
}

fn sentence_end(after: &str) -> (usize, char) {
    let mut chars = after.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let next = chars.peek().map_or('\n', |&(_, next)| next);
        if at > WINDOW || ends_sentence(char, next) {
            return (at, char);
        }
    }
    (after.len(), '\n')
}

fn next_sentence(rest: &str) -> &str {
    let rest = rest.trim_start_matches(|char: char| !char.is_alphanumeric());
    let (length, end) = sentence_end(rest);
    rest.get(..length + end.len_utf8()).unwrap_or(rest)
}

/// `next` is the character behind: the dot of `v1.2` ends nothing.
pub(super) fn ends_sentence(char: char, next: char) -> bool {
    match char {
        '.' | '!' | '?' => !next.is_ascii_alphanumeric(),
        '\n' | ';' | '。' | '！' | '？' | '；' | '．' | '｡' | '…' | '؟' | '।' => true,
        _ => false,
    }
}

/// A comma, colon, dash or bracket; not the colon of `12:30`, nor the dash of `off-by-one`.
pub(super) fn ends_clause(char: char, next: char) -> bool {
    match char {
        ',' | ':' => !next.is_ascii_alphanumeric(),
        '-' => next == ' ',
        '，' | '、' | '：' | '—' | '–' | '(' | ')' | '（' | '）' | '[' | ']' | '→' | '·' => {
            true
        }
        _ => false,
    }
}

pub(super) fn split_words(text: &str) -> Vec<&str> {
    text.split(|char: char| {
        !(char.is_alphanumeric()
            || matches!(
                char,
                '\'' | '_' | '-' | '/' | '=' | crate::text::masked_text::COVERED
            ))
    })
    .filter(|word| !word.trim_matches(['-', '/']).is_empty())
    .collect()
}
