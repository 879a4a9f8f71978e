//! Colours of hook messages: the client dims them, and passes colours through (measured on 2.1.328).

use anstyle::{AnsiColor, Style};

const MARK: &str = "[omo] ";

/// `text` with each line in bold that begins with `[omo] `; a verdict has a colour, such as green
/// for `[omo] VERIFIED`.
pub(super) fn highlight(text: &str) -> String {
    text.lines()
        .map(|line| match line.strip_prefix(MARK).map(style) {
            Some(style) => format!("{style}{line}{style:#}"),
            None => line.to_owned(),
        })
        .collect::<Vec<_>>()
        .join("\n")
}

fn style(words: &str) -> Style {
    const COLOURS: [(&str, AnsiColor); 7] = [
        ("VERIFIED", AnsiColor::Green),
        ("verified", AnsiColor::Green),
        ("NOT PROVED", AnsiColor::Red),
        ("NOT ON", AnsiColor::Red),
        ("NOT HELD", AnsiColor::Red),
        ("BLOCKED", AnsiColor::Yellow),
        ("STOPPED", AnsiColor::Yellow),
    ];
    let colour = COLOURS.iter().find(|(head, _)| words.starts_with(head));
    Style::new()
        .bold()
        .fg_color(colour.map(|(_, colour)| (*colour).into()))
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
