//! Output of findings: a table for people, JSON for programs.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::finding::{Finding, Level};
use crate::output::table::{self, Cell};

pub(super) const MOST_COLUMNS: usize = 100;
const LEAST_COLUMNS: usize = 40;

#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    checks: &'a [Finding],
}

pub(super) fn to_json(findings: &[Finding]) -> String {
    let ok = findings.iter().all(|finding| finding.level != Level::Bad);
    serde_json::to_string_pretty(&Report {
        ok,
        checks: findings,
    })
    .unwrap_or_default()
}

pub(super) fn write_table(
    out: &mut impl Write,
    findings: &[Finding],
    columns: usize,
) -> std::io::Result<()> {
    const HEADS: [&str; 3] = ["", "check", "found"];
    let levels = findings.iter().map(|finding| finding.level.word().len());
    let names = findings.iter().map(|finding| finding.name.len());
    let before =
        levels.max().unwrap_or(0) + names.chain([HEADS[1].len()]).max().unwrap_or(0) + 2 * 2;
    let room = columns
        .clamp(LEAST_COLUMNS, MOST_COLUMNS)
        .saturating_sub(before);
    let rows = findings
        .iter()
        .flat_map(|finding| rows(finding, room))
        .collect();
    table::write_table(out, HEADS, rows)
}

fn rows(finding: &Finding, room: usize) -> Vec<[Cell; 3]> {
    let mut lines = wrapped("", &finding.found, room);
    for (label, text) in [("why: ", &finding.why), ("fix: ", &finding.fix)] {
        lines.extend(text.iter().flat_map(|text| wrapped(label, text, room)));
    }
    let level = Cell::new(finding.level.word(), style(finding.level));
    let heads = [[level, Cell::plain(finding.name)]].into_iter();
    heads
        .chain(std::iter::repeat_with(|| {
            [Cell::plain(""), Cell::plain("")]
        }))
        .zip(lines)
        .map(|([level, name], line)| [level, name, Cell::plain(line)])
        .collect()
}

fn wrapped(label: &str, text: &str, room: usize) -> Vec<String> {
    let indent = " ".repeat(label.len());
    let options = textwrap::Options::new(room)
        .initial_indent(label)
        .subsequent_indent(&indent);
    let lines = textwrap::wrap(text, options);
    lines
        .into_iter()
        .map(std::borrow::Cow::into_owned)
        .collect()
}

fn style(level: Level) -> Style {
    let colour = match level {
        Level::Bad => AnsiColor::Red,
        Level::Warning => AnsiColor::Yellow,
        Level::Unknown => AnsiColor::Cyan,
        Level::Good => AnsiColor::Green,
    };
    Style::new().fg_color(Some(colour.into())).bold()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(columns: usize) -> String {
        let long = "a very long text that has to be broken somewhere between its words ".repeat(3);
        let findings = [
            Finding::new(
                "goal",
                Level::Bad,
                long.clone(),
                long,
                "/one/path/that/cannot/be/broken",
            ),
            Finding::good("other-loops", "한국어 none"),
        ];
        let mut out = Vec::new();
        write_table(&mut out, &findings, columns).unwrap();
        String::from_utf8(anstream::adapter::strip_bytes(&out).into_vec()).unwrap()
    }

    #[test]
    fn no_line_is_wider_than_asked_for() {
        for (asked, most) in [(60, 60), (100, 100), (500, 100)] {
            let text = shown(asked);
            let widest = text
                .lines()
                .map(unicode_width::UnicodeWidthStr::width)
                .max();
            assert!(
                widest.is_some_and(|width| width <= most && width > most - 20),
                "{widest:?} for {asked}\n{text}"
            );
        }
    }

    #[test]
    fn a_row_says_what_why_and_how_and_a_good_one_is_one_line() {
        let text = shown(100);
        assert!(
            text.starts_with("      check        found\nbad   goal         a very long"),
            "{text}"
        );
        assert!(
            text.contains("\n                   why: a very long"),
            "{text}"
        );
        assert!(
            text.contains("\n                   fix: /one/path/that/cannot/be/broken\n"),
            "{text}"
        );
        assert!(
            text.ends_with("\ngood  other-loops  한국어 none\n"),
            "{text}"
        );
    }

    #[test]
    fn only_what_is_bad_is_not_ok() {
        let finding = |level| Finding::new("git", level, "a", "b", "c");
        assert!(
            to_json(&[finding(Level::Warning), finding(Level::Unknown)]).contains("\"ok\": true")
        );
        let bad = to_json(&[finding(Level::Bad), Finding::good("state", "fine")]);
        assert!(
            bad.contains("\"ok\": false")
                && bad.contains("\"level\": \"bad\"")
                && bad.contains("\"why\": null"),
            "{bad}"
        );
    }
}
