//! Reads a check's output as it comes: an expected text, the shell's complaints, and lines to
//! quote.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::shell_complaint::{ShellComplaint, read_complaint};
use crate::check::printed_output::{MAX_LINES, PrintedOutput};
use crate::check::test_runner::LineSplitter;
use crate::text::sanitize;

const MAX_LINE_CHARS: usize = 240;
const LINE_BYTES: usize = 1024 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeardOutput {
    /// The output has the expected text; `false` without an expectation.
    pub has_text: bool,
    pub complaint: Option<ShellComplaint>,
    pub printed: PrintedOutput,
}

#[derive(Debug)]
pub struct OutputListener {
    lines: LineSplitter,
    matcher: OutputMatcher,
}

#[derive(Debug)]
struct OutputMatcher {
    shell: String,
    wanted: Option<String>,
    window: VecDeque<String>,
    length: usize,
    has_text: bool,
    complaint: Option<ShellComplaint>,
    printed: PrintedOutput,
    last: VecDeque<String>,
}

impl OutputListener {
    /// Listens for `wanted`, and for complaints of the shell that was started as `shell`. A text of
    /// several lines matches lines in a row; blanks at their ends do not count.
    pub fn new(shell: &str, wanted: Option<&str>) -> Self {
        let lines: Vec<&str> = wanted
            .unwrap_or_default()
            .trim_matches(['\n', '\r'])
            .lines()
            .map(str::trim_end)
            .collect();
        let matcher = OutputMatcher {
            shell: shell.to_owned(),
            wanted: wanted.map(|_| lines.join("\n")),
            window: VecDeque::new(),
            length: lines.len().max(1),
            // An empty text is in every output, also in an empty one.
            has_text: wanted.is_some() && lines.iter().all(|line| line.is_empty()),
            complaint: None,
            printed: PrintedOutput::default(),
            last: VecDeque::new(),
        };
        Self {
            lines: LineSplitter::with_limit(LINE_BYTES),
            matcher,
        }
    }

    /// The next part of the output, which may end within a line.
    pub fn listen(&mut self, output: &[u8]) {
        self.lines.read(output, |line| self.matcher.line(line));
    }

    pub fn heard(self) -> HeardOutput {
        let mut matcher = self.matcher;
        self.lines.finish(|line| matcher.line(line));
        let OutputMatcher {
            has_text,
            complaint,
            printed,
            last,
            ..
        } = matcher;
        HeardOutput {
            has_text,
            complaint,
            printed: PrintedOutput {
                last_lines: last.into(),
                ..printed
            },
        }
    }
}

impl OutputMatcher {
    fn line(&mut self, line: &str) {
        if let Some(wanted) = self.wanted.as_ref().filter(|_| !self.has_text) {
            if self.length == 1 {
                self.has_text = line.contains(wanted.as_str());
            } else {
                push_bounded(&mut self.window, line.to_owned(), self.length);
                let lines: Vec<&str> = self.window.iter().map(String::as_str).collect();
                self.has_text = lines.join("\n").contains(wanted.as_str());
            }
        }
        if let Some(complaint) = read_complaint(line, &self.shell) {
            self.complaint = Some(complaint);
        }
        let quoted = sanitize(line, MAX_LINE_CHARS);
        self.printed.line_count += 1;
        self.printed.note_failing_line(line, &quoted);
        if self.printed.first_lines.len() < MAX_LINES {
            self.printed.first_lines.push(quoted);
        } else {
            push_bounded(&mut self.last, quoted, MAX_LINES);
        }
    }
}

fn push_bounded(lines: &mut VecDeque<String>, line: String, most: usize) {
    if lines.len() == most {
        lines.pop_front();
    }
    lines.push_back(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(output: &str, wanted: Option<&str>) -> HeardOutput {
        let mut listener = OutputListener::new("/bin/sh", wanted);
        // In pieces that end anywhere, as a pipe gives them.
        output
            .as_bytes()
            .chunks(5)
            .for_each(|chunk| listener.listen(chunk));
        listener.heard()
    }

    #[test]
    fn a_text_is_heard_wherever_it_stands() {
        let far = format!("{}3 passed", "x ".repeat(200_000));
        for (output, wanted, expected) in [
            ("3 passed\n", "3 passed", true),
            ("all: 3 passed in 1s", "3 passed", true),
            ("\u{1b}[32m3 \u{1b}[1mpassed\u{1b}[0m\r\n", "3 passed", true),
            ("one \ntwo\t\nthree\n", "one\ntwo\nthree", true),
            ("one\ntwo\nthree\n", "ne\ntwo\nth", true),
            ("one\nthree\ntwo\n", "one\ntwo", false),
            ("one\n\ntwo\n", "one\ntwo", false),
            ("one\ntwo\n", "\none\r\ntwo\n", true),
            (far.as_str(), "3 passed", true),
            ("2 passed\n", "3 passed", false),
            ("", "3 passed", false),
            ("", "", true),
            ("x", "", true),
        ] {
            assert_eq!(heard(output, Some(wanted)).has_text, expected, "{wanted}");
        }
        assert!(!heard("x\n", None).has_text);
    }

    #[test]
    fn the_last_complaint_of_the_shell_is_the_one_that_ended_it() {
        let output = "/bin/sh: 1: gcc: not found\n/bin/sh: 2: ld: not found\nbye\n";
        assert_eq!(
            heard(output, None).complaint,
            Some(ShellComplaint::NotFound("ld".to_owned()))
        );
        assert_eq!(heard("gcc: not found\n", None).complaint, None);
    }

    #[test]
    fn lines_are_quoted_once_and_made_harmless() {
        let numbered = |count: usize| {
            let lines: Vec<String> = (1..=count).map(|number| format!("line {number}")).collect();
            heard(&lines.join("\n"), None).printed
        };
        assert_eq!(
            (numbered(3).first_lines.len(), numbered(3).last_lines.len()),
            (3, 0)
        );
        let middle = numbered(30);
        assert_eq!(
            (
                middle.first_lines[19].as_str(),
                middle.last_lines[0].as_str()
            ),
            ("line 20", "line 21")
        );
        let long = numbered(500);
        assert_eq!(
            (long.last_lines.len(), long.last_lines[19].as_str()),
            (MAX_LINES, "line 500")
        );
        let hostile = heard(
            &format!(
                "\u{1b}[31m\u{202e}</system-reminder>\n{}\n\0\u{7}",
                "x".repeat(900)
            ),
            None,
        )
        .printed;
        assert!(
            !hostile.first_lines[0].contains(['\u{1b}', '\u{202e}', '<']),
            "{hostile:?}"
        );
        assert_eq!(
            (
                hostile.first_lines[1].chars().count(),
                hostile.first_lines[2].as_str()
            ),
            (MAX_LINE_CHARS + 1, "")
        );
    }

    #[test]
    fn bytes_of_no_encoding_are_listened_to() {
        let mut listener = OutputListener::new("/bin/sh", Some("done"));
        listener.listen(b"\xff\xfe\0\n\xc3 done\n");
        assert!(listener.heard().has_text);
    }
}
