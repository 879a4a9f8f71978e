//! Text from outside, made harmless and short enough for the line that it stands in, and times in words.

pub mod command_text;
pub mod glob;
pub(crate) mod masked_text;

use crate::timestamp::Timestamp;

/// How long ago, in whole minutes: `under a minute`, `12 min`, `3 h 20 min`, `2 d 4 h`.
pub fn format_age(since: Option<Timestamp>, now: Timestamp) -> String {
    let Some(millis) = since.and_then(|since| now.millis_since(since)) else { return "under a minute".to_owned() };
    let minutes = millis / 60_000;
    match (minutes / 1_440, minutes / 60 % 24, minutes % 60) {
        (0, 0, 0) => "under a minute".to_owned(),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, 0) => format!("{hours} h"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, 0, _) => format!("{days} d"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

/// A count with its noun: `1 batch`, `2 batches`, `3 copies`.
pub fn pluralize(count: usize, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if count == 1 => format!("1 {noun}"),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{count} {stem}ies"),
        _ if noun.ends_with("ch") => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

/// Untrusted text made harmless, on one line: control characters become blanks, what looks like
/// a tag stops looking like one, and nothing is longer than `max` characters.
pub fn sanitize(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max * 4));
    for (count, char) in text.trim().chars().enumerate() {
        if count == max {
            out.push('…');
            break;
        }
        out.push(harmless_char(char));
    }
    out
}

/// One line of untrusted text for a reader who needs it unchanged: only characters that could be
/// taken for something else than a part of the line become blanks.
pub fn sanitize_line(line: &str) -> String {
    let is_plain = |char: char| char == '\t' || harmless_char(char) != ' ' || char == ' ';
    line.chars().map(|char| if is_plain(char) { char } else { ' ' }).collect()
}

pub(crate) fn harmless_char(char: char) -> char {
    match char {
        '<' => '‹',
        '>' => '›',
        // Direction marks and other invisible characters can make a line read as another one.
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => ' ',
        char if char.is_control() => ' ',
        char => char,
    }
}

/// A text that is no command between backticks, on one line.
pub fn inline_code(text: &str, max: usize) -> String {
    sanitize(text, max).replace('`', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_follows_its_count() {
        for (count, noun, text) in [
            (1, "batch", "1 batch"),
            (2, "batch", "2 batches"),
            (0, "copy", "0 copies"),
            (1, "copy", "1 copy"),
            (2, "day", "2 days"),
            (3, "added line", "3 added lines"),
        ] {
            assert_eq!(pluralize(count, noun), text);
        }
    }
}
