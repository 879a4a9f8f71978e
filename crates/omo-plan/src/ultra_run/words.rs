//! The words of a line of arguments as a user types it: parted by blanks, quoted where they hold some.
//!
//! This is no shell: a `\` is a part of a path, and a quote within a word is a part of it, too.

use std::ops::Range;

/// One word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    /// What it says, without its quotes.
    pub text: &'a str,
    /// Where it stands in the line, its quotes included, in bytes.
    pub span: Range<usize>,
    /// It stands between quotes: it is no option, and its blanks are its own.
    pub is_quoted: bool,
}

/// The words of a line. `None` where a quote is not closed, or something follows a closing one at once.
pub(super) fn words(line: &str) -> Option<Vec<Word<'_>>> {
    let mut words = Vec::new();
    let mut at = 0;
    loop {
        let rest = line.get(at..)?;
        let blanks = rest.len() - rest.trim_start().len();
        at += blanks;
        let rest = line.get(at..)?;
        let Some(first) = rest.chars().next() else { return Some(words) };
        let quoted = rest.strip_prefix(['"', '\'']);
        let (text, length) = if let Some(inner) = quoted {
            let (text, behind) = inner.split_once(first)?;
            if behind.chars().next().is_some_and(|next| !next.is_whitespace()) {
                return None;
            }
            (text, text.len() + 2 * first.len_utf8())
        } else {
            let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
            (rest.get(..length)?, length)
        };
        words.push(Word { text, span: at..at + length, is_quoted: quoted.is_some() });
        at += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_parted_by_blanks_and_held_together_by_quotes() {
        let texts =
            |line: &'static str| words(line).map(|words| words.iter().map(|word| word.text).collect::<Vec<_>>());
        for (line, expected) in [
            ("", Some(vec![])),
            (" \t\n", Some(vec![])),
            ("--fg\tplan.md ", Some(vec!["--fg", "plan.md"])),
            ("\"my plan.md\" --fg", Some(vec!["my plan.md", "--fg"])),
            ("'a \"b\".md'", Some(vec!["a \"b\".md"])),
            ("it's.md", Some(vec!["it's.md"])),
            (r"docs\plan.md", Some(vec![r"docs\plan.md"])),
            ("\"\"", Some(vec![""])),
            ("\"plan.md", None),
            ("'plan.md'x", None),
        ] {
            assert_eq!(texts(line), expected, "{line}");
        }
        let found = words(" --fg 'a b'").unwrap();
        assert_eq!((found[1].span.clone(), found[1].is_quoted), (6..11, true));
    }
}
