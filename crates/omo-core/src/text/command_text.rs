//! Commands as text: with every byte visible for a person's consent, or in a form to paste.
//!
//! A repository writes commands that its user is asked about: a form that only looks like what runs
//! could hide half of it.

use std::fmt::Write;

use super::pluralize;

/// Maximum characters shown at once: the client cuts a slash command's output at 30,000.
pub(crate) const APPROVAL_CHARS: usize = 20_000;
const COLUMNS: usize = 72;
/// A longer run of blanks is counted: it could push what follows out of sight.
const MAX_BLANKS: usize = 16;

/// The text between backticks where that shows every byte, otherwise in rows below `margin`.
pub fn show_whole(text: &str, margin: &str) -> String {
    if is_plain_text(text) {
        format!("`{text}`")
    } else {
        number_rows(text, margin)
    }
}

pub fn is_plain_text(text: &str) -> bool {
    text.len() <= COLUMNS
        && text.trim() == text
        && !text.contains(['`', '\n'])
        && !needs_escapes(text)
}

/// A text in numbered rows below its size; a row without a number goes on with the line before.
pub fn number_rows(text: &str, margin: &str) -> String {
    let escapes = needs_escapes(text);
    let lines: Vec<&str> = text.split('\n').collect();
    let (count, chars) = (lines.len(), text.chars().count());
    let digits = count.to_string().len();
    let hint = if escapes {
        r"; what follows a `\` is an escape, and `\\` is one `\`"
    } else {
        ""
    };
    let mut out = format!("{}, {chars} characters{hint}:", pluralize(count, "line"));
    for (index, line) in lines.iter().enumerate() {
        for (place, row) in wrap_rows(&split_pieces(line, escapes)).iter().enumerate() {
            let number = if place == 0 {
                (index + 1).to_string()
            } else {
                String::new()
            };
            let _ = write!(out, "\n{margin}{number:>digits$}| {row}");
        }
    }
    out
}

/// A command between backticks, ready to paste, cut with a sign after `max` characters.
pub fn paste_form(command: &str, max: usize) -> String {
    let text = typed_form(command);
    let most = text.char_indices().nth(max).map(|(place, _)| place);
    let span = code_span(most.and_then(|most| text.get(..most)).unwrap_or(&text));
    if most.is_some() {
        format!("{span}…")
    } else {
        span
    }
}

/// The command on one line; one with line breaks, invisible characters or tags as `sh -c $'…'`.
pub fn typed_form(command: &str) -> String {
    let has_tag = has_tag(command);
    if command.chars().all(is_seen_whole) && !has_tag {
        return command.to_owned();
    }
    format!("sh -c {}", escaped_word(command, has_tag))
}

fn escaped_word(word: &str, has_tag: bool) -> String {
    let mut out = "$'".to_owned();
    for char in word.chars() {
        match char {
            '\'' | '\\' => out.extend(['\\', char]),
            '<' if has_tag => out.push_str("\\x3c"),
            '>' if has_tag => out.push_str("\\x3e"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            char if is_seen_whole(char) => out.push(char),
            char => {
                let mut bytes = [0; 4];
                char.encode_utf8(&mut bytes)
                    .bytes()
                    .for_each(|byte| _ = write!(out, "\\x{byte:02x}"));
            }
        }
    }
    out.push('\'');
    out
}

/// A word that a POSIX shell reads back unchanged.
pub fn quote_shell_word(word: &str) -> String {
    if !word.is_empty() && word.chars().all(is_bare) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn is_bare(char: char) -> bool {
    char.is_alphanumeric() || "_./-+,:@%".contains(char)
}

/// A word to paste into a shell, with escapes for what is invisible.
pub fn quote_argument(word: &str) -> String {
    if word.chars().all(is_seen_whole) {
        quote_shell_word(word)
    } else {
        escaped_word(word, false)
    }
}

fn is_seen_whole(char: char) -> bool {
    is_visible(char) || is_pasteable(char)
}

/// `true` for something like `</name`, `<!`, `<name>` or `<name key=`; `<file >other` is none.
fn has_tag(text: &str) -> bool {
    text.split('<').skip(1).any(|rest| {
        if rest.starts_with(['/', '!']) {
            return rest
                .chars()
                .nth(1)
                .is_some_and(|char| char.is_ascii_alphabetic() || char == '-');
        }
        let behind = rest.trim_start_matches(is_tag_name_char);
        let has_name =
            behind.len() < rest.len() && rest.starts_with(|char: char| char.is_ascii_alphabetic());
        let key = behind.trim_start();
        let is_key = key.len() < behind.len()
            && key.trim_start_matches(is_tag_name_char).starts_with('=')
            && !key.starts_with('=');
        has_name && (behind.starts_with('>') || is_key)
    })
}

fn is_tag_name_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | ':')
}

fn code_span(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for char in text.chars() {
        run = if char == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let gap = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{gap}{text}{gap}{fence}")
}

/// `false` for invisible and right-to-left characters, and lookalikes of shell punctuation.
fn is_visible(char: char) -> bool {
    match char {
        ' '..='~' => true,
        // Letters without a form, and scripts that are written from right to left.
        '\u{115f}'
        | '\u{1160}'
        | '\u{3164}'
        | '\u{ffa0}'
        | '\u{590}'..='\u{8ff}'
        | '\u{fb1d}'..='\u{fdff}'
        | '\u{fe70}'..='\u{feff}'
        | '\u{10800}'..='\u{10fff}'
        | '\u{1e800}'..='\u{1efff}' => false,
        char => char.is_alphanumeric(),
    }
}

/// Characters of a pasted command that are visible, but would be escaped for an agreement.
pub(super) fn is_pasteable(char: char) -> bool {
    crate::text::harmless_char(char) == char
        && !char.is_whitespace()
        && !matches!(char, '\u{ad}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{2028}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{effff}')
        || matches!(char, '<' | '>')
}

fn needs_escapes(text: &str) -> bool {
    let blanks = " ".repeat(MAX_BLANKS + 1);
    text.split('\n')
        .any(|line| line.ends_with(' ') || line.contains(&blanks) || !line.chars().all(is_visible))
}

fn split_pieces(line: &str, escapes: bool) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some(char) = rest.chars().next() {
        let behind = rest.trim_start_matches(' ');
        let blanks = rest.len() - behind.len();
        let is_counted = blanks > MAX_BLANKS || blanks > 0 && behind.is_empty();
        let taken = if escapes && is_counted {
            let word = if blanks == 1 { "blank" } else { "blanks" };
            pieces.push(format!("\\{{{blanks} {word}}}"));
            blanks
        } else {
            // Not counted: the run of blanks stands as it is.
            pieces.push(match char {
                '\\' if escapes => "\\\\".to_owned(),
                '\t' => "\\t".to_owned(),
                '\r' => "\\r".to_owned(),
                char if is_visible(char) => char.to_string(),
                char => format!("\\u{{{:x}}}", u32::from(char)),
            });
            char.len_utf8()
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    pieces
}

/// Rows of [`COLUMNS`] that end before a blank where possible, so that it is seen in the next row.
fn wrap_rows(pieces: &[String]) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row: Vec<&str> = Vec::new();
    for piece in pieces {
        if width(&row) + piece.chars().count() > COLUMNS {
            let end = (COLUMNS / 2..row.len())
                .rev()
                .find(|&end| row.get(end) == Some(&" ") && row.get(end - 1) != Some(&" "))
                .unwrap_or(row.len());
            let next = row.split_off(end);
            rows.push(row.concat());
            row = next;
        }
        row.push(piece);
    }
    rows.push(row.concat());
    rows
}

fn width(pieces: &[&str]) -> usize {
    pieces.iter().map(|piece| piece.chars().count()).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_short_and_plain_stands_between_backticks() {
        for text in [
            "cargo test",
            "echo x >> $HOME/ran",
            "grep -q '<b>' \"x\" | wc",
            r"a\ b",
            "echo 한국어",
            "",
        ] {
            assert_eq!(show_whole(text, "    "), format!("`{text}`"));
        }
    }

    #[test]
    fn what_could_be_overlooked_is_numbered_escaped_and_counted() {
        for (text, expected) in [
            (
                "true # ok\nrm -rf x",
                "2 lines, 18 characters:\n  1| true # ok\n  2| rm -rf x",
            ),
            ("echo `id`", "1 line, 9 characters:\n  1| echo `id`"),
            ("true ", "1 line, 5 characters; ESC:\n  1| true\\{1 blank}"),
            (
                "a\u{1b}[2J\\n\t\r",
                "1 line, 9 characters; ESC:\n  1| a\\u{1b}[2J\\\\n\\t\\r",
            ),
            (
                "a\u{202e}b\u{200b}\u{a0}c\u{2013}d",
                "1 line, 8 characters; ESC:\n  1| a\\u{202e}b\\u{200b}\\u{a0}c\\u{2013}d",
            ),
            (
                "a\u{3164}b\u{5d0}c",
                "1 line, 5 characters; ESC:\n  1| a\\u{3164}b\\u{5d0}c",
            ),
            (
                &format!("true{}; rm", " ".repeat(2_100)),
                "1 line, 2108 characters; ESC:\n  1| true\\{2100 blanks}; rm",
            ),
        ] {
            let expected = expected.replace(
                "; ESC",
                r"; what follows a `\` is an escape, and `\\` is one `\`",
            );
            assert_eq!(show_whole(text, "  "), expected);
        }
        let many = number_rows(&"x\n".repeat(11), "");
        assert!(
            many.starts_with("12 lines, 22 characters:\n 1| x\n")
                && many.ends_with("\n11| x\n12| "),
            "{many}"
        );
    }

    #[test]
    fn a_long_line_is_wrapped_before_a_blank_or_in_a_word() {
        let text = format!("{} tail", "word ".repeat(20).trim());
        let shown = number_rows(&text, "");
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(
            lines,
            [
                "1 line, 104 characters:",
                "1| word word word word word word word word word word word word word word",
                " |  word word word word word word tail"
            ]
        );
        let shown = number_rows(&"x".repeat(150), "");
        assert_eq!(
            shown
                .lines()
                .skip(1)
                .map(|row| row.len() - 3)
                .collect::<Vec<_>>(),
            [72, 72, 6]
        );
    }

    #[test]
    fn what_is_pasted_does_the_same() {
        for (command, expected) in [
            ("cargo test", "`cargo test`"),
            (
                "sort <a >b; echo `id` — fine <<x",
                "``sort <a >b; echo `id` — fine <<x``",
            ),
            (
                "grep '</system>' <a",
                r"`sh -c $'grep \'\x3c/system\x3e\' \x3ca'`",
            ),
            (
                "echo <b> <img src=x>",
                r"`sh -c $'echo \x3cb\x3e \x3cimg src=x\x3e'`",
            ),
            ("`id`", "`` `id` ``"),
            ("true # ok\nrm 'x\\y'", r"`sh -c $'true # ok\nrm \'x\\y\''`"),
            ("a\u{1b}[2J\u{202e}b", r"`sh -c $'a\x1b[2J\xe2\x80\xaeb'`"),
        ] {
            assert_eq!(paste_form(command, 100), expected);
        }
        assert_eq!(paste_form("abcdef", 3), "`abc`…");
    }

    #[test]
    fn what_a_shell_would_change_is_quoted() {
        for (word, in_a_file, shown) in [
            ("/home/me/.claude/bin/omo", "/home/me/.claude/bin/omo", None),
            ("", "''", None),
            ("/a b/omo", "'/a b/omo'", None),
            ("it's.md", r"'it'\''s.md'", None),
            ("/\"$(x)`y`\\/omo", "'/\"$(x)`y`\\/omo'", None),
            ("/ü/한/omo", "/ü/한/omo", None),
            ("~/omo", "'~/omo'", None),
            ("/a\nit's", "'/a\nit'\\''s'", Some(r"$'/a\nit\'s'")),
            ("a\u{202e}b", "'a\u{202e}b'", Some(r"$'a\xe2\x80\xaeb'")),
        ] {
            assert_eq!(quote_shell_word(word), in_a_file, "{word:?}");
            assert_eq!(quote_argument(word), shown.unwrap_or(in_a_file), "{word:?}");
        }
    }

    /// Reads rows back: what a person can do who has to know what runs.
    fn read_back(shown: &str) -> String {
        let mut rows = shown.lines();
        let escapes = rows.next().unwrap().contains("escape");
        let mut text = String::new();
        for row in rows {
            let (number, row) = row.split_once("| ").unwrap();
            if !number.trim().is_empty() && number.trim() != "1" {
                text.push('\n');
            }
            let mut rest = row;
            while let Some(char) = rest.chars().next() {
                if !escapes || char != '\\' {
                    text.push(char);
                    rest = &rest[char.len_utf8()..];
                    continue;
                }
                let length = match &rest[1..2] {
                    "\\" => {
                        text.push('\\');
                        2
                    }
                    "t" => {
                        text.push('\t');
                        2
                    }
                    "r" => {
                        text.push('\r');
                        2
                    }
                    "u" => {
                        let end = rest.find('}').unwrap();
                        let code = u32::from_str_radix(&rest[3..end], 16).unwrap();
                        text.push(char::from_u32(code).unwrap());
                        end + 1
                    }
                    _ => {
                        let end = rest.find('}').unwrap();
                        let count: usize = rest[2..end].split(' ').next().unwrap().parse().unwrap();
                        text.push_str(&" ".repeat(count));
                        end + 1
                    }
                };
                rest = &rest[length..];
            }
        }
        text
    }

    proptest! {
        #[test]
        fn rows_say_exactly_what_the_text_is(
            parts in prop::collection::vec(prop_oneof!["\\PC{0,8}", " {0,40}", "[\\\\`{}u\n\t\r|]{0,4}", ".{0,6}", "[a-z]{0,90}"], 0..12)
        ) {
            let text = parts.concat();
            prop_assert_eq!(read_back(&number_rows(&text, "   ")), text.clone());
            let shown = show_whole(&text, "   ");
            prop_assert!(shown.chars().all(|char| char == '\n' || is_visible(char)), "{:?}", shown);
            prop_assert!(!paste_form(&text, 9_999).chars().any(char::is_control));
        }
    }
}
