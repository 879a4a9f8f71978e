//! Lines of a report: sections below headings, wrapped to the width of the terminal.

use textwrap::Options;

/// Columns where the terminal tells none.
const COLUMNS: usize = 80;
const LEAST_COLUMNS: usize = 40;
const MOST_COLUMNS: usize = 100;

pub(super) struct TextLines {
    text: String,
    columns: usize,
}

impl TextLines {
    pub(super) fn new(columns: Option<usize>) -> Self {
        let columns = columns
            .unwrap_or(COLUMNS)
            .clamp(LEAST_COLUMNS, MOST_COLUMNS);
        Self {
            text: String::new(),
            columns,
        }
    }

    pub(super) fn heading(&mut self, heading: &str) {
        self.text.push_str(heading);
        self.text.push_str("\n\n");
    }

    pub(super) fn rows(&mut self, rows: &[(&str, String)]) {
        let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
        for (label, value) in rows {
            self.wrapped(&format!("{label:width$}  "), value);
        }
    }

    /// Wraps `text` behind `before`; further lines are indented by its width.
    pub(super) fn wrapped(&mut self, before: &str, text: &str) {
        // Words between backticks stay on one line, as a command to copy.
        let parts = text.split('`').enumerate();
        let kept = parts.map(|(place, part)| {
            if place % 2 == 1 {
                part.replace(' ', "\u{a0}")
            } else {
                part.to_owned()
            }
        });
        let text = kept.collect::<Vec<_>>().join("`");
        let gap = " ".repeat(textwrap::core::display_width(before));
        let options = Options::new(self.columns)
            .initial_indent(before)
            .subsequent_indent(&gap)
            .break_words(false)
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        self.text
            .push_str(&textwrap::fill(&text, options).replace('\u{a0}', " "));
        self.text.push('\n');
    }

    /// A line that is never wrapped: a command, or output of a program.
    pub(super) fn whole(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub(super) fn section_heading(&mut self, name: &str) {
        self.text.push('\n');
        self.text.push_str(name);
        self.text.push('\n');
    }

    pub(super) fn section(&mut self, name: &str, points: &[String]) {
        if points.is_empty() {
            return;
        }
        self.section_heading(name);
        for point in points {
            self.wrapped("  ", point);
        }
    }

    pub(super) fn numbered(&mut self, name: &str, points: &[String]) {
        if points.is_empty() {
            return;
        }
        self.section_heading(name);
        for (point, number) in points.iter().zip(1..) {
            self.wrapped(&format!("  {number}. "), point);
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_stands_behind_its_label() {
        let mut lines = TextLines {
            text: String::new(),
            columns: 40,
        };
        lines.rows(&[
            ("plan", "a/b.md".to_owned()),
            ("cancelled", "one two three four five six seven".to_owned()),
        ]);
        lines.numbered(
            "Next",
            &["eight nine ten eleven `twelve thirteen` fourteen".to_owned()],
        );
        let expected = "plan       a/b.md\ncancelled  one two three four five six\n           seven\n\nNext\n  1. eight nine \
                        ten eleven\n     `twelve thirteen` fourteen\n";
        assert_eq!(lines.into_text(), expected);
    }
}
