//! Findings in a plan: as text with the lines that they are about, cut since untrusted, and as rows of JSON.

use std::fmt::Write;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use omo_core::text::command_text::quote_argument;
use omo_core::text::{pluralize, sanitize};
use omo_engine::work::PlanFile;
use omo_plan::diagnostic::{Diagnostic, Severity};
use omo_plan::model::Plan;
use serde::Serialize;

const MAX_FINDINGS: usize = 40;
const MAX_MARKED_BYTES: usize = 60;
const MAX_BYTES_BEHIND: usize = 40;
/// Maximum bytes from the start of a line to a finding in it; farther in, only its line and column are shown.
const MAX_BYTES_BEFORE: usize = 10_000;
const WIDTH: usize = 100;
const MAX_SENTENCE_CHARS: usize = 400;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// All findings of a plan with their lines, coloured, each followed by an empty line.
pub(crate) fn render_diagnostics(plan: &Plan, file: &PlanFile) -> String {
    if !file.is_folder() {
        return render_findings(&plan.source.path, &file.bytes, &plan.diagnostics);
    }
    let mut remaining = plan.diagnostics.clone();
    let mut text = String::new();
    for (path, bytes) in file.files() {
        // The text of a finding in a folder begins with the path of its file.
        let head = format!("{}: ", sanitize(path, 200));
        let (of_file, others): (Vec<_>, Vec<_>) = remaining
            .into_iter()
            .partition(|finding| finding.text.starts_with(&head));
        let of_file: Vec<Diagnostic> = of_file
            .into_iter()
            .map(|finding| Diagnostic {
                text: finding
                    .text
                    .strip_prefix(&head)
                    .unwrap_or_default()
                    .to_owned(),
                ..finding
            })
            .collect();
        text += &render_findings(path, bytes, &of_file);
        remaining = others;
    }
    text + &render_findings(&plan.source.path, &[], &remaining)
}

pub(super) fn render_findings(path: &str, bytes: &[u8], found: &[Diagnostic]) -> String {
    let mut worst: Vec<&Diagnostic> = found.iter().collect();
    worst.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.span.start));
    worst.truncate(MAX_FINDINGS);
    worst.sort_by_key(|finding| finding.span.start);
    let places = places(bytes, &worst);
    let mut text = String::new();
    for (finding, place) in worst.iter().zip(&places) {
        let _ = writeln!(text, "{}\n", render_one(path, bytes, finding, place));
    }
    if found.len() > MAX_FINDINGS {
        let _ = writeln!(
            text,
            "… and {} more: `omo plan lint --json {}` has all of them\n",
            found.len() - MAX_FINDINGS,
            quote_argument(path)
        );
    }
    text
}

fn render_one(path: &str, bytes: &[u8], finding: &Diagnostic, place: &LinePlace) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level
        .primary_title(sentence(&finding.text))
        .id(finding.code.word());
    let path = sanitize(path, 200);
    let mut group = match excerpt(bytes, place.line_start, &finding.span) {
        Some(Excerpt { text, marked }) => {
            let snippet = Snippet::source(text).line_start(finding.line).path(path);
            Group::with_title(title)
                .element(snippet.annotation(AnnotationKind::Primary.span(marked)))
        }
        None => Group::with_title(title).element(
            Origin::path(path)
                .line(finding.line)
                .char_column(place.column),
        ),
    };
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(sentence(help)));
    }
    Renderer::styled().term_width(WIDTH).render(&[group])
}

fn sentence(text: &str) -> String {
    let one_line = text.replace(['\n', '\r'], " ");
    match one_line.char_indices().nth(MAX_SENTENCE_CHARS) {
        Some((end, _)) => format!("{}…", one_line.get(..end).unwrap_or_default()),
        None => one_line,
    }
}

struct Excerpt {
    text: String,
    marked: Range<usize>,
}

/// First line of the marked text. `None` for a finding about the whole file, or beyond `MAX_BYTES_BEFORE`.
fn excerpt(bytes: &[u8], line_start: usize, span: &Range<usize>) -> Option<Excerpt> {
    if *span == (0..0) || span.start.saturating_sub(line_start) > MAX_BYTES_BEFORE {
        return None;
    }
    let start = span.start.max(line_start);
    let rest = bytes.get(start..)?;
    let seen = rest
        .get(..MAX_MARKED_BYTES + MAX_BYTES_BEHIND)
        .unwrap_or(rest);
    let line_end = seen
        .iter()
        .position(|byte| matches!(byte, b'\n' | b'\r'))
        .unwrap_or(seen.len());
    let marked_end = next_char_start(
        rest,
        line_end
            .min(MAX_MARKED_BYTES)
            .min(span.end.saturating_sub(start)),
    );
    let before = lossy_text(bytes.get(line_start..start));
    let marked = lossy_text(rest.get(..marked_end));
    let behind = lossy_text(rest.get(marked_end..next_char_start(rest, line_end.max(marked_end))));
    let is_cut = line_end == seen.len() && seen.len() < rest.len();
    let begin = before.len();
    let end = begin + marked.len();
    let text = before + &marked + &behind + if is_cut { "…" } else { "" };
    Some(Excerpt {
        text,
        marked: begin..end,
    })
}

fn lossy_text(piece: Option<&[u8]>) -> String {
    String::from_utf8_lossy(piece.unwrap_or_default()).into_owned()
}

fn next_char_start(bytes: &[u8], at: usize) -> usize {
    let inner = bytes
        .get(at..)
        .unwrap_or_default()
        .iter()
        .take_while(|byte| is_continuation_byte(**byte))
        .count();
    at + inner
}

fn is_continuation_byte(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[derive(Clone, Copy)]
struct LinePlace {
    line_start: usize,
    /// Character of the line, from 1.
    column: usize,
}

fn places(bytes: &[u8], found: &[&Diagnostic]) -> Vec<LinePlace> {
    let mut at = if bytes.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.len()
    } else {
        0
    };
    let mut place = LinePlace {
        line_start: at,
        column: 1,
    };
    let mut places = Vec::with_capacity(found.len());
    for finding in found {
        let between = bytes
            .get(at..finding.span.start.min(bytes.len()))
            .unwrap_or_default();
        for byte in between {
            at += 1;
            match byte {
                b'\n' => {
                    place = LinePlace {
                        line_start: at,
                        column: 1,
                    }
                }
                byte if is_continuation_byte(*byte) => {}
                _ => place.column += 1,
            }
        }
        places.push(place);
    }
    places
}

#[derive(Debug, Serialize)]
pub(super) struct FindingRow<'a> {
    code: &'static str,
    severity: Severity,
    line: usize,
    column: usize,
    span: &'a Range<usize>,
    task: Option<&'a str>,
    text: &'a str,
    help: Option<&'a str>,
}

pub(super) fn finding_rows<'a>(bytes: &[u8], found: &'a [Diagnostic]) -> Vec<FindingRow<'a>> {
    let mut found: Vec<&Diagnostic> = found.iter().collect();
    found.sort_by_key(|finding| finding.span.start);
    let places = places(bytes, &found);
    found
        .into_iter()
        .zip(places)
        .map(|(finding, place)| FindingRow {
            code: finding.code.word(),
            severity: finding.severity,
            line: finding.line,
            column: place.column,
            span: &finding.span,
            task: finding.task.as_deref(),
            text: &finding.text,
            help: finding.help.as_deref(),
        })
        .collect()
}

pub(super) fn count_words(found: &[Diagnostic]) -> String {
    let notes = match count_severity(found, Severity::Note) {
        0 => String::new(),
        notes => format!("{}, ", pluralize(notes, "note")),
    };
    format!(
        "{notes}{}, {}",
        pluralize(count_severity(found, Severity::Warning), "warning"),
        error_count_words(found)
    )
}

pub(crate) fn error_count_words(found: &[Diagnostic]) -> String {
    pluralize(count_severity(found, Severity::Error), "error")
}

pub(super) fn count_severity(found: &[Diagnostic], severity: Severity) -> usize {
    found
        .iter()
        .filter(|finding| finding.severity == severity)
        .count()
}

#[cfg(test)]
mod tests {
    use omo_plan::diagnostic::Code;

    use super::*;

    fn finding(code: Code, span: Range<usize>) -> Diagnostic {
        let (text, help) = ("it is wrong".to_owned(), None);
        Diagnostic {
            code,
            severity: code.severity(),
            span,
            line: 1,
            task: None,
            text,
            help,
        }
    }

    #[test]
    fn an_excerpt_is_one_line_with_the_place_in_it() {
        let check =
            |file: &str, line_start: usize, span: Range<usize>, expected: &str, marked: &str| {
                let found = excerpt(file.as_bytes(), line_start, &span).unwrap();
                assert_eq!(found.text, expected);
                assert_eq!(&found.text[found.marked], marked, "{file:?}");
            };
        check("one two\nthree\n", 0, 4..7, "one two", "two");
        check("one two\r\nthree\r\n", 0, 4..12, "one two", "two");
        check("one two", 0, 7..7, "one two", "");
        check("one\n한국어 x\n", 4, 7..10, "한국어 x", "국");
        check("\u{feff}one\n", 3, 0..6, "one", "one");
        let long = "한".repeat(100);
        check(
            &long,
            0,
            3..300,
            &format!("{}…", "한".repeat(34 + 1)),
            &"한".repeat(20),
        );
    }

    #[test]
    fn what_is_about_the_file_or_far_from_its_line_has_no_excerpt() {
        assert!(excerpt(b"one\n", 0, &(0..0)).is_none());
        let line = "x".repeat(MAX_BYTES_BEFORE + 20);
        assert!(
            excerpt(
                line.as_bytes(),
                0,
                &(MAX_BYTES_BEFORE..MAX_BYTES_BEFORE + 1)
            )
            .is_some()
        );
        assert!(
            excerpt(
                line.as_bytes(),
                0,
                &(MAX_BYTES_BEFORE + 1..MAX_BYTES_BEFORE + 2)
            )
            .is_none()
        );
        let shown = render_findings(
            "plan.md",
            line.as_bytes(),
            &[finding(
                Code::Cycle,
                MAX_BYTES_BEFORE + 1..MAX_BYTES_BEFORE + 2,
            )],
        );
        assert!(
            shown.contains(&format!("plan.md:1:{}", MAX_BYTES_BEFORE + 2)) && shown.len() < 200,
            "{shown}"
        );
    }

    #[test]
    fn columns_are_of_characters_and_a_mark_at_the_start_is_none() {
        let file = "\u{feff}ab\n한국어";
        let spans = [0..0, 3..4, 4..5, 6..9, 12..15, 99..99];
        let all: Vec<Diagnostic> = spans
            .into_iter()
            .map(|span| finding(Code::Cycle, span))
            .collect();
        let columns: Vec<usize> = places(file.as_bytes(), &all.iter().collect::<Vec<_>>())
            .iter()
            .map(|place| place.column)
            .collect();
        assert_eq!(columns, [1, 1, 2, 1, 3, 4]);
    }

    #[test]
    fn of_too_many_the_worst_are_shown_in_the_order_of_the_file() {
        let file = "x\n".repeat(100);
        let mut all: Vec<Diagnostic> = (1..50)
            .map(|line| finding(Code::MissingVerify, line * 2..line * 2 + 1))
            .collect();
        all.push(finding(Code::Cycle, 120..121));
        let shown = render_findings("plan.md", file.as_bytes(), &all);
        assert_eq!(shown.matches("-->").count(), MAX_FINDINGS);
        assert!(
            shown.contains("cycle") && shown.contains("… and 10 more"),
            "{shown}"
        );
        assert!(
            shown.rfind("missing_verify") < shown.find("cycle"),
            "{shown}"
        );
    }

    #[test]
    fn a_sentence_is_one_line_of_some_length() {
        assert_eq!(sentence("a\r\nb"), "a  b");
        assert_eq!(
            sentence(&"한".repeat(1_000)).chars().count(),
            MAX_SENTENCE_CHARS + 1
        );
    }

    #[test]
    fn a_tally_names_notes_where_there_are_some() {
        assert_eq!(count_words(&[]), "0 warnings, 0 errors");
        let all = [
            Code::Reordered,
            Code::MissingVerify,
            Code::MissingVerify,
            Code::Cycle,
        ]
        .map(|code| finding(code, 0..0));
        assert_eq!(count_words(&all), "1 note, 2 warnings, 1 error");
    }
}
