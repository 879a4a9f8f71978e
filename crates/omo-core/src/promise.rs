//! The promise: a tag at the end of the model's last message that claims the work done or blocked.
//!
//! A tag in code, in a quotation or in a comment is no claim.

use memchr::memmem;

use crate::text::masked_text::{self, COVERED, MaskedText};

const OPEN: &str = "<promise>";
const CLOSE: &str = "</promise>";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    Done,
    Blocked {
        /// Reason in the model's words; may be empty.
        reason: String,
    },
}

/// Claim of a final message; `None` for any other text.
pub fn read_claim(text: &str) -> Option<Claim> {
    let promise = final_promise(text)?;
    if promise == "DONE" {
        return Some(Claim::Done);
    }
    let rest = promise.strip_prefix("BLOCKED")?.trim_start();
    let reason = if rest.is_empty() {
        rest
    } else {
        rest.strip_prefix([':', '：'])?
    };
    Some(Claim::Blocked {
        reason: reason.trim().to_owned(),
    })
}

/// Trimmed content of the promise at the end of `text`, alone on its line or behind a finished
/// sentence. Code, quoted lines, quotations and comments do not count.
pub fn final_promise(text: &str) -> Option<&str> {
    memmem::rfind(text.as_bytes(), CLOSE.as_bytes())?;
    let masked = own_words(text);
    let masked_text = masked.text();
    let end = memmem::rfind(masked_text.as_bytes(), CLOSE.as_bytes())?;
    let start = memmem::rfind(masked_text.get(..end)?.as_bytes(), OPEN.as_bytes())?;
    let nothing_follows = is_last(masked_text.get(end + CLOSE.len()..)?);
    let counts = nothing_follows && stands_free(masked_text.get(..start)?);
    if counts {
        text.get(start + OPEN.len()..end).map(str::trim)
    } else {
        None
    }
}

fn own_words(text: &str) -> MaskedText {
    let mut masked = MaskedText::new(text);
    masked.cover(masked_text::fences);
    masked.cover(masked_text::quoted_lines);
    masked.cover(masked_text::inline_code);
    masked.cover(masked_text::comments);
    masked.cover(masked_text::quotations);
    masked
}

/// `true` where nothing but emphasis and removed text follows.
fn is_last(after: &str) -> bool {
    let (line, below) = after.split_once('\n').unwrap_or((after, ""));
    line.trim().chars().all(is_emphasis)
        && below
            .chars()
            .all(|char| char.is_whitespace() || char == COVERED)
}

fn is_emphasis(char: char) -> bool {
    matches!(char, '*' | '_')
}

/// `true` at the start of a line, or behind a finished sentence.
fn stands_free(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let line = line.trim_end_matches(is_emphasis).trim();
    line.is_empty() || is_finished(line)
}

pub(crate) fn is_finished(line: &str) -> bool {
    let sentence = line.trim_end_matches(is_closing);
    let unfinished = ["...", "…", "e.g.", "i.e.", "cf.", "viz."];
    if unfinished.iter().any(|end| sentence.ends_with(end)) || is_list_marker(sentence) {
        return false;
    }
    sentence.chars().next_back().is_some_and(ends_a_sentence)
}

/// `true` for a mark between a sentence's end and the promise, such as `)`.
fn is_closing(char: char) -> bool {
    char.is_whitespace()
        || is_emphasis(char)
        || matches!(char, ')' | ']' | '）' | '】' | '\u{fe0f}')
}

fn ends_a_sentence(char: char) -> bool {
    let stop = matches!(
        char,
        '.' | '!'
            | '?'
            | '。'
            | '！'
            | '？'
            | '．'
            | '｡'
            | '‼'
            | '؟'
            | '۔'
            | '।'
            | '॥'
            | '։'
            | '።'
    );
    // People and models end a sentence with these, too.
    let cheer = matches!(
        char,
        '✅' | '✔' | '☑' | '✓' | '🎉' | '🚀' | '🏁' | '💯' | '👍' | '🥳'
    );
    stop || cheer
}

/// `1.` begins a list; it ends no sentence.
fn is_list_marker(line: &str) -> bool {
    line.strip_suffix('.')
        .is_some_and(|number| number.chars().all(|char| char.is_ascii_digit()))
}
