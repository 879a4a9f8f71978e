//! The first words of a line for the user in colour: the client shows such lines dimmed, and passes colours through
//! (measured on 2.1.328).

use anstyle::{AnsiColor, Style};

const MARK: &str = "[omo] ";
/// A head that is longer is no head.
const MAX_HEAD: usize = 32;

/// The text with the head of each line of omo's own set off: `[omo] VERIFIED:` in green, `[omo] NOT PROVED:` in red.
pub(super) fn highlight_heads(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(highlight_head).collect();
    lines.join("\n")
}

fn highlight_head(line: &str) -> String {
    let Some(rest) = line.strip_prefix(MARK) else { return line.to_owned() };
    let upper = rest.find(|char: char| !char.is_ascii_uppercase() && char != ' ').unwrap_or(rest.len());
    let words = rest.get(..upper).unwrap_or_default().trim_end();
    // `VERIFIED by review alone` has no colon, and the `B` of `Both` is no head.
    let head = match words.len() {
        0 | 1 => rest.find(':').filter(|at| *at <= MAX_HEAD).unwrap_or(0),
        length => length,
    };
    let (head, rest) = rest.split_at_checked(head).unwrap_or(("", rest));
    let (colon, rest) = rest.strip_prefix(':').map_or(("", rest), |rest| (":", rest));
    let style = style(head);
    format!("{style}{MARK}{head}{colon}{style:#}{rest}")
}

fn style(head: &str) -> Style {
    let colour = match head {
        "VERIFIED" | "on" | "goes on" => Some(AnsiColor::Green),
        "NOT PROVED" | "NOT ON" | "NOT HELD" => Some(AnsiColor::Red),
        "BLOCKED" | "STOPPED" => Some(AnsiColor::Yellow),
        _ => None,
    };
    Style::new().bold().fg_color(colour.map(Into::into))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_is_the_brightest() {
        for (line, expected) in [
            ("[omo] VERIFIED: 1 check green", "\u{1b}[1m\u{1b}[32m[omo] VERIFIED:\u{1b}[0m 1 check green"),
            ("[omo] VERIFIED by review alone", "\u{1b}[1m\u{1b}[32m[omo] VERIFIED\u{1b}[0m by review alone"),
            ("[omo] NOT PROVED: x: y", "\u{1b}[1m\u{1b}[31m[omo] NOT PROVED:\u{1b}[0m x: y"),
            ("[omo] on: review only", "\u{1b}[1m\u{1b}[32m[omo] on:\u{1b}[0m review only"),
            ("[omo] Both are here", "\u{1b}[1m[omo] \u{1b}[0mBoth are here"),
            ("log: /tmp/x", "log: /tmp/x"),
        ] {
            assert_eq!(highlight_heads(line), expected);
        }
        assert_eq!(highlight_heads("a\nb"), "a\nb");
    }
}
