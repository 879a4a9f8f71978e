//! Reads the sessions and waves below `## Execution Strategy` of an ultraplan.

use std::collections::HashSet;
use std::ops::Range;

use omo_core::text::sanitize;

use super::brief_sessions;
use super::numbers::parse_numbers;
use super::strategy::{
    ExecutionStrategy, NumberList, SESSION_WORDS, SessionSection, WaveLine, names_session,
};
use crate::diagnostic::Code;
use crate::dialects::ultraplan::scope_fence::read_scope_fence;
use crate::dialects::ultraplan::section_outline::{
    NumberedHeading, PlanFindings, PlanSection, SectionOutline, is_heading_named,
    parse_numbered_heading,
};
use crate::document::line_ranges;
use crate::labels::{LabeledField, read_labels, split_list_marker};
use crate::model::MAX_PLAN_TASKS;

const KNOWN: [&str; 5] = ["steps", "wave", "depends on", "dependencies", "scope fence"];
const MAX_NUMBERS: usize = 2 * MAX_PLAN_TASKS;

/// Strategy of a plan, whose steps have the numbers `steps`; `None` without such a section.
pub(crate) fn read_strategy(
    outline: &SectionOutline<'_>,
    steps: &[u64],
    findings: &mut PlanFindings<'_>,
) -> Option<ExecutionStrategy> {
    let section = outline.section_named("execution strategy")?;
    let mut sessions = Vec::new();
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    let mut reader = StrategyReader {
        outline,
        left: MAX_NUMBERS,
        findings,
    };
    for inner in outline.sections_in(section.content()) {
        match parse_numbered_heading(inner.heading, "Session") {
            NumberedHeading::Is(number, title) => {
                sessions.push(reader.session(inner, number, title));
                if !seen.insert(number) {
                    let text = format!("session {number} is there twice");
                    let help = "give each its own number";
                    reader.findings.add(
                        Code::DuplicateSession,
                        inner.heading.span.clone(),
                        None,
                        text,
                        help,
                    );
                }
            }
            NumberedHeading::LooksLike => {
                let text = "this heading looks like a session and is not one".to_owned();
                let help = "a session is written `### Session 1: Title`";
                reader.findings.add(
                    Code::LooksLikeAStep,
                    inner.heading.span.clone(),
                    None,
                    text,
                    help,
                );
            }
            NumberedHeading::Other if is_heading_named(inner.heading.text, "execution order") => {
                order.extend(reader.ordered_waves(inner));
            }
            NumberedHeading::Other => {}
        }
    }
    if sessions.is_empty() {
        if let Some(strategy) = brief_sessions::read(outline.document, section.content(), steps) {
            return Some(strategy);
        }
        report_unread_sessions(outline, section.content(), findings);
    }
    Some(ExecutionStrategy {
        sessions,
        wave_lines: order,
    })
}

/// Reports sessions without headings that cannot be read, and would get lost.
fn report_unread_sessions(
    outline: &SectionOutline<'_>,
    part: Range<usize>,
    findings: &mut PlanFindings<'_>,
) {
    let document = outline.document;
    let mut lines =
        line_ranges(document.text, part).filter(|line| document.code_at(line.start).is_none());
    let unread = lines.find(|line| {
        let row = document.slice(line.clone());
        !row.trim_start().starts_with('#') && names_session(row)
    });
    if let Some(line) = unread {
        let text =
            "the sessions here have no headings: the steps are run in one session, one after the other".to_owned();
        let help = "write each session as `### Session 1: Title` with `**Steps:**`, `**Wave:**` and `**Scope fence:**` below it";
        findings.add(Code::StrategyNotRead, line, None, text, help);
    }
}

struct StrategyReader<'r, 'd, 'f> {
    outline: &'r SectionOutline<'d>,
    left: usize,
    findings: &'r mut PlanFindings<'f>,
}

impl StrategyReader<'_, '_, '_> {
    fn session(&mut self, section: &PlanSection<'_>, number: u64, title: &str) -> SessionSection {
        let heading = section.heading.span.clone();
        let labels = read_labels(self.outline.document, section.content(), &KNOWN);
        let steps = find_label(&labels, &["steps"]);
        let steps = self.listed(steps, &["step", "steps"], &heading);
        let deps = find_label(&labels, &["depends on", "dependencies"]);
        let deps = self.listed(deps, &SESSION_WORDS, &heading);
        let wave = find_label(&labels, &["wave"]);
        let waves = self.listed(wave, &["wave"], &heading).numbers;
        let fence = read_scope_fence(self.outline, section.content());
        fence.report_findings(self.findings);
        SessionSection {
            number,
            title: title.to_owned(),
            heading,
            steps,
            wave: waves.first().copied(),
            deps,
            fence,
        }
    }

    fn listed(
        &mut self,
        label: Option<&LabeledField<'_>>,
        words: &[&str],
        heading: &Range<usize>,
    ) -> NumberList {
        let Some(label) = label else {
            return NumberList {
                numbers: Vec::new(),
                span: heading.clone(),
            };
        };
        let span = label.span.start..label.value.end.max(label.span.end);
        self.numbers(
            self.outline.document.slice(label.value.clone()),
            words,
            span,
        )
    }

    fn numbers(&mut self, value: &str, words: &[&str], span: Range<usize>) -> NumberList {
        let numbers = parse_numbers(value, words, self.left).unwrap_or_else(|part| {
            let text = format!(
                "`{}` is not the number of a {}",
                sanitize(&part, 60),
                words.first().unwrap_or(&"")
            );
            let help = "write `1`, `1, 2`, `1-3` or `none`";
            self.findings
                .add(Code::UnparsedDependency, span.clone(), None, text, help);
            Vec::new()
        });
        self.left = self.left.saturating_sub(numbers.len());
        NumberList { numbers, span }
    }

    /// Waves in lines such as `- **Wave 1:** Session 1, Session 2`.
    fn ordered_waves(&mut self, section: &PlanSection<'_>) -> Vec<WaveLine> {
        let document = self.outline.document;
        let mut found = Vec::new();
        for span in line_ranges(document.text, section.content()) {
            let line = split_list_marker(document.slice(span.clone()))
                .1
                .replace(['*', '_'], "");
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let wave = parse_numbers(name, &["wave"], 1)
                .ok()
                .and_then(|waves| waves.first().copied());
            if let Some(wave) = wave.filter(|_| document.code_at(span.start).is_none()) {
                found.push(WaveLine {
                    wave,
                    sessions: self.numbers(value, &SESSION_WORDS, span),
                });
            }
        }
        found
    }
}

fn find_label<'l, 'a>(
    labels: &'l [LabeledField<'a>],
    keys: &[&str],
) -> Option<&'l LabeledField<'a>> {
    labels
        .iter()
        .find(|label| keys.contains(&label.key.as_str()))
}
