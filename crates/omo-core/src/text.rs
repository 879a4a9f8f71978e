//! Text from outside, made harmless and short enough for the line that it stands in.

pub mod command_text;
pub mod glob;
pub(crate) mod masked_text;
mod times;

pub use self::times::{format_age, format_clock, format_duration, format_limit, format_minutes};

/// A count with its noun: `1 batch`, `2 batches`, `3 copies`.
pub fn pluralize(count: usize, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if count == 1 => format!("1 {noun}"),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{count} {stem}ies"),
        _ if noun.ends_with("ch") => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

/// Untrusted text on one line of at most `max` characters, without control characters and tags.
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

/// The first of several names, and how many more there are: `1, 2 and 3 more`.
pub fn list_some<'a>(names: impl IntoIterator<Item = &'a str>, most: usize) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let (shown, more) = names.split_at(names.len().min(most));
    let more = if more.is_empty() {
        String::new()
    } else {
        format!(" and {} more", more.len())
    };
    format!("{}{more}", shown.join(", "))
}

/// A noun with the first of its names: `task 1`, `tasks 1, 2 and 3 more`.
pub fn name_some(noun: &str, names: &[impl AsRef<str>], most: usize) -> String {
    let many = if names.len() == 1 { "" } else { "s" };
    format!(
        "{noun}{many} {}",
        list_some(names.iter().map(AsRef::as_ref), most)
    )
}

pub fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(chars)
        .collect()
}

pub(crate) fn first_chars(text: &str, max: usize) -> String {
    text.chars().take(max).collect()
}

/// The first lines of `text` that fit into `max_bytes`; a sign marks that more follows.
pub fn first_lines(text: &str, max_bytes: usize) -> String {
    const MORE: &str = "\n…";
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let mut lines = String::new();
    for line in text.lines() {
        if lines.len() + line.len() + 1 + MORE.len() > max_bytes {
            break;
        }
        lines.push_str(line);
        lines.push('\n');
    }
    format!("{}{MORE}", lines.trim_end())
}

/// One line of untrusted text, unchanged but for characters that pass for a break or another line.
pub fn sanitize_line(line: &str) -> String {
    line.chars()
        .map(|char| match harmless_char(char) {
            ' ' if char != '\t' => ' ',
            _ => char,
        })
        .collect()
}

/// Untrusted text with escapes for what is invisible, breaks a line or reverses its order.
pub fn escape_unseen(line: &str, max: usize) -> String {
    let mut out = String::with_capacity(line.len().min(max.saturating_mul(4)));
    for (count, char) in line.chars().enumerate() {
        if count == max {
            out.push('…');
            break;
        }
        match char {
            // Punctuation between two invisible ranges, with what `sanitize` writes for `<`.
            ' ' | '\t' | '\u{2030}'..='\u{205e}' => out.push(char),
            char if command_text::is_pasteable(char) => out.push(char),
            char => out.extend(char.escape_unicode()),
        }
    }
    out
}

pub(crate) fn harmless_char(char: char) -> char {
    match char {
        '<' => '‹',
        '>' => '›',
        '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}' => ' ',
        char if char.is_control() => ' ',
        char => char,
    }
}

/// A text that is not a command between backticks, on one line.
pub fn inline_code(text: &str, max: usize) -> String {
    sanitize(text, max).replace('`', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_has_hours_only_where_there_are_some() {
        for (millis, text) in [
            (-1, "0:00"),
            (420, "0:00"),
            (12_300, "0:12"),
            (3_599_999, "59:59"),
            (273_600_000, "76:00:00"),
        ] {
            assert_eq!(format_clock(millis), text, "{millis}");
        }
    }

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

    #[test]
    fn what_is_not_seen_becomes_an_escape() {
        for (text, expected) in [
            (
                "grep -q '<b>'\t\\ — 한국어 שלום",
                "grep -q '<b>'\t\\ — 한국어 שלום",
            ),
            (
                "a\u{202e}b\u{200b}\u{1b}[2J\n",
                r"a\u{202e}b\u{200b}\u{1b}[2J\u{a}",
            ),
            (
                "\u{feff}\u{0}\u{85}\u{e0041}\u{ad}",
                r"\u{feff}\u{0}\u{85}\u{e0041}\u{ad}",
            ),
        ] {
            assert_eq!(escape_unseen(text, 100), expected);
        }
        assert_eq!(escape_unseen("abcd", 3), "abc…");
    }

    #[test]
    fn what_is_left_out_of_a_list_is_counted() {
        assert_eq!(list_some(["1", "2"], 2), "1, 2");
        assert_eq!(list_some(["1", "2", "3", "4"], 2), "1, 2 and 2 more");
        assert_eq!(list_some([], 2), "");
    }

    #[test]
    fn a_text_that_is_too_long_keeps_whole_lines() {
        assert_eq!(first_lines("one\ntwo\n", 8), "one\ntwo\n");
        assert_eq!(first_lines("one\ntwo\nthree\n", 12), "one\ntwo\n…");
        assert_eq!(first_lines("a line that is too long", 10), "\n…");
    }

    #[test]
    fn untrusted_text_is_made_harmless() {
        for (text, max, expected) in [
            ("  plain  ", 20, "plain"),
            ("a\nb\tc\u{1b}[31m", 20, "a b c [31m"),
            (
                "<system-reminder>x</system-reminder>",
                50,
                "‹system-reminder›x‹/system-reminder›",
            ),
            ("한국어입니다", 3, "한국어…"),
            ("safe\u{202e}live", 20, "safe live"),
        ] {
            assert_eq!(sanitize(text, max), expected);
        }
    }
}
