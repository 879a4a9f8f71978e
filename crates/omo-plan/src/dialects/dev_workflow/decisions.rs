//! Decisions in a plan (`[DP-001] title` with options): reads them, and writes the user's choice.

use std::ops::Range;

use crate::document::{Heading, MarkdownDocument, line_ranges};
use crate::labels::{LabeledField, normalize_key, read_labels, split_list_marker, trim_range};
use crate::model::{DecisionOption, PlanDecision};
use crate::pattern::Pattern;

const KNOWN: [&str; 6] = [
    "context",
    "options",
    "recommendation",
    "recommendation (unverified)",
    "chosen",
    "previously chosen",
];

pub(super) fn read_decisions(document: &MarkdownDocument<'_>) -> Vec<(PlanDecision, Range<usize>)> {
    let mut found = Vec::new();
    let mut is_inside = false;
    for (heading, section) in document.headings.iter().zip(document.section_ranges()) {
        if heading.level <= 2 {
            is_inside = heading.level == 2 && normalize_key(heading.text) == "decisions";
        } else if let Some((id, title)) = split_decision_heading(heading).filter(|_| is_inside) {
            found.push((
                read_decision(document, id, title, heading.span.end..section.end),
                heading.span.clone(),
            ));
        }
    }
    found
}

/// Id of `[DP-001] its title` or `DP-001: its title`.
static NAME: Pattern = Pattern::new(r"^(?:\[([^\]]*)\]|(DP-[^: ]*)[: ])[\s:\-–—]*");
/// Label of `A: …` or `**Option B:** …`.
static OPTION: Pattern = Pattern::new(r"^[*_]*(?:Option )?([A-Za-z0-9]{1,3})[*_ ]*[:)：][*_ ]*");

fn split_decision_heading<'a>(heading: &Heading<'a>) -> Option<(&'a str, &'a str)> {
    let ([in_brackets, plain], title) = NAME.read(heading.text)?;
    let id = if plain.is_empty() {
        in_brackets.trim()
    } else {
        plain
    };
    crate::id::is_id(id).then_some((id, title))
}

fn read_decision(
    document: &MarkdownDocument<'_>,
    id: &str,
    title: &str,
    section: Range<usize>,
) -> PlanDecision {
    let labels = read_labels(document, section.clone(), &KNOWN);
    let options = find_label(&labels, "options")
        .map(|label| read_options(document, label.value.clone()))
        .unwrap_or_default();
    let recommendation = find_label(&labels, "recommendation");
    let recommended = recommendation
        .and_then(|label| chosen_label_in(document.slice(label.first_line.clone()), &options));
    let place = find_label(&labels, "chosen").or_else(|| find_label(&labels, "previously chosen"));
    let chosen =
        place.and_then(|label| chosen_label_in(document.slice(label.first_line.clone()), &options));
    // A template has the label already, with no value.
    let goes_to = place.or(recommendation).map_or_else(
        || {
            let end = trim_range(document, section).end;
            end..end
        },
        |label| label.span.start..label.first_line.end.max(label.span.end),
    );
    let (title, is_recommended) = match title.rsplit_once('(') {
        Some((before, kind)) if kind.contains("recommended") => (before, true),
        Some((before, kind)) if kind.contains("blocking") => (before, false),
        _ => (title, false),
    };
    PlanDecision {
        id: id.to_owned(),
        title: title.trim().to_owned(),
        blocking: !is_recommended,
        recommended,
        choice_range: Some(goes_to).filter(|_| chosen.is_none()),
        chosen,
        options,
    }
}

fn find_label<'l, 'a>(labels: &'l [LabeledField<'a>], key: &str) -> Option<&'l LabeledField<'a>> {
    labels.iter().find(|label| label.key.starts_with(key))
}

/// Options of a decision, from items `- A: …`.
fn read_options(document: &MarkdownDocument<'_>, value: Range<usize>) -> Vec<DecisionOption> {
    let items =
        line_ranges(document.text, value).map(|line| split_list_marker(document.slice(line)));
    let read = items.filter_map(|(sign, row)| OPTION.read(row).filter(|_| sign.is_some()));
    read.map(|([label], text)| DecisionOption {
        label: label.to_owned(),
        text: text.trim_end().to_owned(),
    })
    .collect()
}

fn chosen_label_in(text: &str, options: &[DecisionOption]) -> Option<String> {
    let plain = text.trim_start_matches(|char: char| !char.is_alphanumeric());
    let inner = plain
        .strip_prefix("Option ")
        .or_else(|| plain.strip_prefix("option "))
        .unwrap_or(plain);
    let end = inner
        .find(|char: char| !char.is_alphanumeric())
        .unwrap_or(inner.len());
    let word = inner.get(..end).unwrap_or_default();
    let known = options
        .iter()
        .find(|option| option.label.eq_ignore_ascii_case(word));
    known
        .map(|option| option.label.clone())
        .or_else(|| Some(word.to_owned()).filter(|_| is_letter(word)))
        .or_else(|| {
            let is_empty = plain.trim().is_empty();
            (!is_empty).then(|| text.trim().to_owned())
        })
}

fn is_letter(word: &str) -> bool {
    word.len() == 1 && word.starts_with(|char: char| char.is_ascii_uppercase())
}

/// Text with `**Chosen:** Option A` in place of an empty choice, or at the end. A made decision
/// stays.
pub(super) fn write_choice(text: &str, decision: &PlanDecision, label: &str) -> String {
    let Some(place) = decision.choice_range.clone() else {
        return text.to_owned();
    };
    let (Some(before), Some(behind)) = (text.get(..place.start), text.get(place.end..)) else {
        return text.to_owned();
    };
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = if place.is_empty() { line_end } else { "" };
    let label = label.strip_prefix("Option ").unwrap_or(label);
    format!("{before}{gap}**Chosen:** Option {label}{behind}")
}
