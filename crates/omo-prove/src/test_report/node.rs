//! `node --test`, in its form for people and in TAP. A file that is reported as if it were a test is none.

use super::{TestOutcome, TestReport};

/// A test that lies in others is named with them; they are told by how far each is indented.
#[derive(Debug, Default)]
pub(super) struct NodeReader {
    /// The suites that are open, each with its indent.
    suites: Vec<(usize, String)>,
    /// What follows repeats the tests that failed.
    is_repeating: bool,
}

impl NodeReader {
    pub(super) fn line(&mut self, line: &str, report: &mut TestReport) {
        if line.trim_end() == "✖ failing tests:" {
            self.is_repeating = true;
        }
        if self.is_repeating {
            return;
        }
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if let Some(name) = text.strip_prefix("▶ ").or_else(|| text.strip_prefix("# Subtest: ")) {
            self.close(indent);
            let is_end = name.ends_with("ms)");
            if !is_end && self.suites.len() < 64 {
                self.suites.push((indent, unescape(name)));
            }
            return;
        }
        let Some((name, outcome)) = spec(text).or_else(|| tap(text)) else { return };
        let name = unescape(name);
        // TAP names a test before it as well, at the same indent; a suite ends with a line like that of a test.
        let was_suite = self.close(indent) && text.starts_with(['✔', '✖', '▶']);
        if was_suite || is_file(&name) {
            return;
        }
        let above: Vec<&str> = self.suites.iter().map(|(_, name)| name.as_str()).collect();
        let separator = if above.is_empty() { "" } else { " > " };
        report.add(&format!("{}{separator}{name}", above.join(" > ")), outcome);
    }

    /// Closes what is not above a line with this indent; says whether one with the same indent was open.
    fn close(&mut self, indent: usize) -> bool {
        let mut was_open = false;
        while let Some((open, _)) = self.suites.last().filter(|(open, _)| *open >= indent) {
            was_open |= *open == indent;
            self.suites.pop();
        }
        was_open
    }
}

/// `✔ name (1.2ms)`, `✖ name (1.2ms)`, `﹣ name (0.1ms) # SKIP`
fn spec(text: &str) -> Option<(&str, TestOutcome)> {
    let (mark, rest) = text.split_once(' ')?;
    let outcome = match mark {
        "✔" => TestOutcome::Passed,
        "✖" => TestOutcome::Failed,
        "﹣" => TestOutcome::Skipped,
        _ => return None,
    };
    let is_marked = [" # SKIP", " # TODO"].iter().find_map(|mark| rest.split_once(mark));
    let (rest, outcome) = is_marked.map_or((rest, outcome), |(name, _)| (name, TestOutcome::Skipped));
    let (name, _) = rest.rsplit_once(" (").filter(|(_, time)| time.ends_with("ms)"))?;
    Some((name, outcome))
}

/// `ok 1 - name`, `not ok 2 - name`, with `# SKIP` behind it.
fn tap(text: &str) -> Option<(&str, TestOutcome)> {
    let (rest, outcome) = match text.strip_prefix("not ") {
        Some(rest) => (rest, TestOutcome::Failed),
        None => (text, TestOutcome::Passed),
    };
    let (number, name) = rest.strip_prefix("ok ")?.split_once(" - ")?;
    number.parse::<u32>().ok()?;
    Some(match name.split_once(" # ") {
        Some((name, mark)) if mark.starts_with("SKIP") || mark.starts_with("TODO") => (name, TestOutcome::Skipped),
        _ => (name, outcome),
    })
}

fn unescape(name: &str) -> String {
    name.trim().replace("\\#", "#")
}

fn is_file(name: &str) -> bool {
    [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"].iter().any(|ending| name.ends_with(ending))
}
