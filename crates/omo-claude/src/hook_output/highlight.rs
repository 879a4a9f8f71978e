//! Colours of hook messages: the client shows the lines of hooks dimmed, and passes colours through
//! (measured on 2.1.328).

use anstyle::{AnsiColor, Style};

const MARK: &str = "[omo] ";

/// The text with each line of omo's own set off, by what it begins with: `[omo] VERIFIED` in green, for instance.
pub(super) fn highlight(text: &str) -> String {
    let highlight_line = |line: &str| match line.strip_prefix(MARK).map(style) {
        Some(style) => format!("{style}{line}{style:#}"),
        None => line.to_owned(),
    };
    text.lines()
        .map(highlight_line)
        .collect::<Vec<_>>()
        .join("\n")
}

fn style(words: &str) -> Style {
    let begins = |heads: &[&str]| heads.iter().any(|head| words.starts_with(head));
    let colour = match words {
        _ if begins(&["VERIFIED", "verified"]) => Some(AnsiColor::Green),
        _ if begins(&["NOT PROVED", "NOT ON", "NOT HELD"]) => Some(AnsiColor::Red),
        _ if begins(&["BLOCKED", "STOPPED"]) => Some(AnsiColor::Yellow),
        _ => None,
    };
    Style::new().bold().fg_color(colour.map(Into::into))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_is_the_brightest() {
        for (text, expected) in [
            (
                "[omo] VERIFIED: 1 check green\nlog: x",
                "\u{1b}[1m\u{1b}[32m[omo] VERIFIED: 1 check green\u{1b}[0m\nlog: x",
            ),
            (
                "[omo] NOT PROVED: x",
                "\u{1b}[1m\u{1b}[31m[omo] NOT PROVED: x\u{1b}[0m",
            ),
            (
                "[omo] BLOCKED: x",
                "\u{1b}[1m\u{1b}[33m[omo] BLOCKED: x\u{1b}[0m",
            ),
            (
                "[omo] on: review only",
                "\u{1b}[1m[omo] on: review only\u{1b}[0m",
            ),
            ("a\nb", "a\nb"),
        ] {
            assert_eq!(highlight(text), expected);
        }
    }
}
