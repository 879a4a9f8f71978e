//! Results of checks for CI services: annotations of a GitHub workflow, its step summary, JUnit
//! XML.
//!
//! Names, lines and details come from commands: every part is escaped for its form.

use std::fmt::Write as _;

use crate::check::test_report::TestOutcome;
use crate::text::{inline_code, sanitize_line};

/// GitHub shows at most this many annotations of one step.
const MAX_ANNOTATIONS: usize = 10;
const MAX_LINE_CHARS: usize = 400;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CiCheck {
    pub name: String,
    pub command: String,
    pub answer: CiAnswer,
    pub detail: String,
    /// Milliseconds; `0` where unknown.
    pub took_millis: u64,
    pub tests: Vec<(String, TestOutcome)>,
    pub lines: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CiAnswer {
    Passed,
    Failed,
    Error,
}

/// An annotation for each place of the project that a red check names, or one for the check itself;
/// `is_file` is `true` for a path of the project.
pub fn github_annotations(checks: &[CiCheck], is_file: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    let mut remaining = MAX_ANNOTATIONS;
    for check in checks
        .iter()
        .filter(|check| check.answer != CiAnswer::Passed)
    {
        let title = github_property(&check.name);
        let mut places: Vec<(&str, u32, &str)> = Vec::new();
        for line in &check.lines {
            let place = source_place(line).filter(|(path, _)| is_file(path));
            if let Some((path, number)) =
                place.filter(|it| !places.iter().any(|known| (known.0, known.1) == *it))
            {
                places.push((path, number, line));
            }
        }
        for (path, number, line) in places.iter().take(remaining) {
            let (file, message) = (
                github_property(path),
                github_message([&*check.detail, line]),
            );
            _ = writeln!(
                text,
                "::error file={file},line={number},title={title}::{message}"
            );
        }
        remaining = remaining.saturating_sub(places.len());
        if places.is_empty() {
            let lines = check.lines.iter().map(String::as_str);
            let message = github_message(std::iter::once(&*check.detail).chain(lines));
            _ = writeln!(text, "::error title={title}::{message}");
            remaining = remaining.saturating_sub(1);
        }
    }
    text
}

/// Markdown for the step summary of a GitHub workflow.
pub fn github_summary(checks: &[CiCheck]) -> String {
    let mut text = String::from("### omo\n\n");
    for check in checks {
        let word = match check.answer {
            CiAnswer::Passed => "green",
            CiAnswer::Failed => "**red**",
            CiAnswer::Error => "**not told**",
        };
        let (command, detail) = (
            inline_code(&check.command, 200),
            inline_code(&check.detail, 300),
        );
        _ = writeln!(text, "- {word}: `{command}`: `{detail}`");
    }
    text
}

/// A suite for each check, with a case for the check itself and one for each named test.
pub fn junit_xml(command: &str, checks: &[CiCheck]) -> String {
    let mut suites = String::new();
    let mut totals = CaseCounts::default();
    for check in checks {
        let counts = CaseCounts::of(check);
        let (name, seconds) = (xml_text(&check.name), seconds(check.took_millis));
        _ = writeln!(
            suites,
            "  <testsuite name=\"{name}\" {} time=\"{seconds}\">",
            counts.attributes()
        );
        let itself = xml_text(&check.command);
        _ = write!(
            suites,
            "    <testcase classname=\"{name}\" name=\"{itself}\" time=\"{seconds}\""
        );
        let element = match check.answer {
            CiAnswer::Passed => None,
            CiAnswer::Failed => Some("failure"),
            CiAnswer::Error => Some("error"),
        };
        suites.push_str(&element.map_or_else(
            || "/>\n".to_owned(),
            |element| {
                let lines: Vec<String> = check.lines.iter().map(|line| xml_text(line)).collect();
                let (detail, lines) = (xml_text(&check.detail), lines.join("\n"));
                format!(">\n      <{element} message=\"{detail}\">{lines}</{element}>\n    </testcase>\n")
            },
        ));
        for (test, outcome) in &check.tests {
            let test = xml_text(test);
            let end = match outcome {
                TestOutcome::Passed => "/>",
                TestOutcome::Skipped => "><skipped/></testcase>",
                TestOutcome::Failed => "><failure message=\"failed\"/></testcase>",
            };
            _ = writeln!(
                suites,
                "    <testcase classname=\"{name}\" name=\"{test}\"{end}"
            );
        }
        suites.push_str("  </testsuite>\n");
        totals = totals.plus(&counts);
    }
    let time = seconds(
        checks
            .iter()
            .map(|check| check.took_millis)
            .fold(0, u64::saturating_add),
    );
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" {} time=\"{time}\">\n{suites}</testsuites>\n",
        xml_text(command),
        totals.attributes(),
    )
}

#[derive(Default)]
struct CaseCounts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl CaseCounts {
    fn of(check: &CiCheck) -> Self {
        Self {
            tests: check.tests.len() + 1,
            failures: count_tests(check, TestOutcome::Failed)
                + usize::from(check.answer == CiAnswer::Failed),
            errors: usize::from(check.answer == CiAnswer::Error),
            skipped: count_tests(check, TestOutcome::Skipped),
        }
    }

    fn plus(&self, other: &Self) -> Self {
        Self {
            tests: self.tests + other.tests,
            failures: self.failures + other.failures,
            errors: self.errors + other.errors,
            skipped: self.skipped + other.skipped,
        }
    }

    fn attributes(&self) -> String {
        let Self {
            tests,
            failures,
            errors,
            skipped,
        } = self;
        format!(
            "tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\""
        )
    }
}

fn seconds(millis: u64) -> String {
    format!("{}.{:03}", millis / 1000, millis % 1000)
}

fn count_tests(check: &CiCheck, wanted: TestOutcome) -> usize {
    check
        .tests
        .iter()
        .filter(|(_, outcome)| *outcome == wanted)
        .count()
}

/// The first place that a line names: `src/a.rs:3:14: unused`, or `File "a.py", line 3`.
fn source_place(line: &str) -> Option<(&str, u32)> {
    let (path, number) = python_place(line).or_else(|| {
        line.split(|char: char| char.is_whitespace() || "()[]{}<>‹›,;'\"`".contains(char))
            .find_map(word_place)
    })?;
    let is_inside = !path.is_empty()
        && !path.starts_with(['/', '\\'])
        && !path.split('/').any(|part| part == "..");
    is_inside.then_some((path.trim_start_matches("./"), number))
}

fn python_place(line: &str) -> Option<(&str, u32)> {
    let (path, rest) = line.split_once("File \"")?.1.split_once("\", line ")?;
    let digits = rest.split(|char: char| !char.is_ascii_digit()).next()?;
    Some((path, digits.parse().ok()?))
}

fn word_place(word: &str) -> Option<(&str, u32)> {
    let mut parts = word.split(':');
    Some((parts.next()?, parts.next()?.parse().ok()?))
}

fn github_message<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    let lines: Vec<String> = lines
        .into_iter()
        .map(|line| github_data(&cut_line(line)))
        .collect();
    lines.join("%0A")
}

fn github_data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn github_property(text: &str) -> String {
    github_data(&cut_line(text))
        .replace(':', "%3A")
        .replace(',', "%2C")
}

fn cut_line(line: &str) -> String {
    sanitize_line(line).chars().take(MAX_LINE_CHARS).collect()
}

fn xml_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in cut_line(text).chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\u{fffe}' | '\u{ffff}' => out.push(' '),
            char => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn red(lines: &[&str]) -> CiCheck {
        CiCheck {
            name: "lint, all".to_owned(),
            command: "make \"a\" && b".to_owned(),
            answer: CiAnswer::Failed,
            detail: "exit status 3".to_owned(),
            took_millis: 1_230,
            tests: vec![
                ("a<b>".to_owned(), TestOutcome::Failed),
                ("c".to_owned(), TestOutcome::Passed),
            ],
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        }
    }

    #[test]
    fn a_line_names_a_place_in_a_file_of_the_project() {
        for (line, place) in [
            ("src/a.rs:3:14: unused", Some(("src/a.rs", 3))),
            ("  --> ./src/a.rs:3:14", Some(("src/a.rs", 3))),
            ("at f (web/b.js:7:1)", Some(("web/b.js", 7))),
            ("  File \"t.py\", line 12, in f", Some(("t.py", 12))),
            ("at 12:30:00 it failed", Some(("12", 30))),
            ("/etc/passwd:1: x", None),
            ("../../x.rs:1: x", None),
            ("error: :3", None),
            ("", None),
        ] {
            assert_eq!(source_place(line), place, "{line}");
        }
    }

    #[test]
    fn a_red_check_is_an_annotation_at_each_place_that_it_names() {
        let check = red(&[
            "src/a.rs:3: unused 100%",
            "src/a.rs:3: again",
            "12:30:00 done",
            "b.rs:9: x",
        ]);
        let text = github_annotations(&[check], |path| path != "12");
        let expected = "::error file=src/a.rs,line=3,title=lint%2C all::exit status 3%0Asrc/a.rs:3: unused 100%25\n\
                        ::error file=b.rs,line=9,title=lint%2C all::exit status 3%0Ab.rs:9: x\n";
        assert_eq!(text, expected);
        let placeless = github_annotations(&[red(&["no"])], |_| true);
        assert_eq!(placeless, "::error title=lint%2C all::exit status 3%0Ano\n");
        let many: Vec<String> = (1..50).map(|line| format!("b.rs:{line}: x")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(
            github_annotations(&[red(&many)], |_| true).lines().count(),
            MAX_ANNOTATIONS
        );
    }

    #[test]
    fn output_writes_no_command_and_no_tag_of_its_own() {
        let hostile = "x\n::set-env name=A::b\r]]><evil a=\"&\"/>\u{1b}[2J\u{0}\u{fffe}";
        let check = CiCheck {
            name: hostile.to_owned(),
            detail: hostile.to_owned(),
            ..red(&[hostile])
        };
        let annotations = github_annotations(std::slice::from_ref(&check), |_| false);
        assert_eq!(annotations.lines().count(), 1, "{annotations}");
        assert!(
            annotations.starts_with("::error title=x %3A%3Aset-env"),
            "{annotations}"
        );
        let xml = junit_xml("omo verify", std::slice::from_ref(&check));
        assert!(
            !xml.contains("<evil") && !xml.contains('\u{1b}') && !xml.contains('\u{fffe}'),
            "{xml}"
        );
        assert!(
            xml.chars().all(|char| char == '\n' || !char.is_control()),
            "{xml}"
        );
        assert!(github_summary(&[check]).lines().skip(2).count() == 1);
    }

    #[test]
    fn a_suite_counts_the_check_and_its_tests() {
        let xml = junit_xml("omo verify", &[red(&["a < b"])]);
        let expected = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"omo verify\" tests=\"3\" failures=\"2\" errors=\"0\" skipped=\"0\" time=\"1.230\">
  <testsuite name=\"lint, all\" tests=\"3\" failures=\"2\" errors=\"0\" skipped=\"0\" time=\"1.230\">
    <testcase classname=\"lint, all\" name=\"make &quot;a&quot; &amp;&amp; b\" time=\"1.230\">
      <failure message=\"exit status 3\">a &lt; b</failure>
    </testcase>
    <testcase classname=\"lint, all\" name=\"a&lt;b&gt;\"><failure message=\"failed\"/></testcase>
    <testcase classname=\"lint, all\" name=\"c\"/>
  </testsuite>
</testsuites>
";
        assert_eq!(xml, expected);
    }
}
