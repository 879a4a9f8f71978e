//! Lines of a report: sections below their heading, broken to the width of the terminal.

use textwrap::Options;

use crate::output::stdout_columns;

/// How wide a report is where nothing says how wide it may be.
const COLUMNS: usize = 80;
/// In fewer columns no line is broken.
const LEAST_COLUMNS: usize = 40;
/// A wider line is not read as one.
const MOST_COLUMNS: usize = 100;

/// The text of a report.
pub(super) struct TextLines {
    text: String,
    columns: usize,
}

impl TextLines {
    /// Nothing yet, as wide as stdout.
    pub(super) fn new() -> Self {
        let columns = stdout_columns().unwrap_or(COLUMNS).clamp(LEAST_COLUMNS, MOST_COLUMNS);
        Self { text: String::new(), columns }
    }

    /// What stands above everything.
    pub(super) fn heading(&mut self, heading: &str) {
        self.text.push_str(heading);
        self.text.push_str("\n\n");
    }

    /// Labels and their values.
    pub(super) fn rows(&mut self, rows: &[(&str, String)]) {
        let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
        for (label, value) in rows {
            self.wrapped(&format!("{label:width$}  "), value);
        }
    }

    /// A text behind what stands before its first line.
    pub(super) fn wrapped(&mut self, before: &str, text: &str) {
        // A command between backticks stays on one line, for a reader who copies it.
        let parts = text.split('`').enumerate();
        let kept =
            parts.map(|(place, part)| if place % 2 == 1 { part.replace(' ', "\u{a0}") } else { part.to_owned() });
        let text = kept.collect::<Vec<_>>().join("`");
        let gap = " ".repeat(textwrap::core::display_width(before));
        let options = Options::new(self.columns)
            .initial_indent(before)
            .subsequent_indent(&gap)
            .break_words(false)
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        self.text.push_str(&textwrap::fill(&text, options).replace('\u{a0}', " "));
        self.text.push('\n');
    }

    /// A line that is never broken: a command, or what a program has printed.
    pub(super) fn whole(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The name of what follows.
    pub(super) fn section_heading(&mut self, name: &str) {
        self.text.push('\n');
        self.text.push_str(name);
        self.text.push('\n');
    }

    /// Points below their heading; nothing where there are none.
    pub(super) fn section(&mut self, name: &str, points: &[String]) {
        if points.is_empty() {
            return;
        }
        self.section_heading(name);
        for point in points {
            self.wrapped("  ", point);
        }
    }

    /// The same, numbered.
    pub(super) fn numbered(&mut self, name: &str, points: &[String]) {
        if points.is_empty() {
            return;
        }
        self.section_heading(name);
        for (point, number) in points.iter().zip(1..) {
            self.wrapped(&format!("  {number}. "), point);
        }
    }

    /// All of it.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// How long something took, in words: `0.4 s`, `34 s`, `2 min 5 s`, `1 h 12 min`.
pub(crate) fn duration_words(millis: u64) -> String {
    let (seconds, tenths) = (millis / 1_000, millis % 1_000 / 100);
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds @ 0..10) => format!("{seconds}.{tenths} s"),
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes @ 1..10, seconds @ 1..) => format!("{minutes} min {seconds} s"),
        (0, minutes, _) => format!("{minutes} min"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_said_in_the_units_that_matter() {
        for (millis, words) in [
            (0, "0.0 s"),
            (430, "0.4 s"),
            (34_900, "34 s"),
            (60_000, "1 min"),
            (125_000, "2 min 5 s"),
            (754_000, "12 min"),
            (3_600_000, "1 h"),
            (4_320_000, "1 h 12 min"),
        ] {
            assert_eq!(duration_words(millis), words, "{millis}");
        }
    }

    #[test]
    fn a_long_value_stands_behind_its_label() {
        let mut lines = TextLines { text: String::new(), columns: 40 };
        lines.rows(&[("plan", "a/b.md".to_owned()), ("cancelled", "one two three four five six seven".to_owned())]);
        lines.numbered("Next", &["eight nine ten eleven `twelve thirteen` fourteen".to_owned()]);
        let expected = "plan       a/b.md\ncancelled  one two three four five six\n           seven\n\nNext\n  1. eight nine \
                        ten eleven\n     `twelve thirteen` fourteen\n";
        assert_eq!(lines.into_text(), expected);
    }
}
