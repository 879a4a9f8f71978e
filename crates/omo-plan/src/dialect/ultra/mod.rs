//! What an ultraplan and one session of it have in common: steps, their fields, and fences.

pub mod clauses;
pub mod commands;
pub mod commit;
pub mod expected;
pub mod fence;
pub mod inline;
pub mod numbers;
pub mod outline;
pub mod report;
pub mod scope;
pub mod sessions;
pub mod steps;
pub mod waves;

use std::collections::HashMap;

use omo_core::check::Check;
use omo_core::words::sanitize;

use self::outline::{Findings, Numbered, Outline, numbered};
use super::{session_spec, ultraplan};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::Document;
use crate::model::{Group, OnUnitFail, Parallel, Plan, Policy, Unit};

/// What is said of a file that is neither.
pub const UNRECOGNIZED: &str = "unrecognized file format. Expected an ultraplan or session spec.";

/// How much of what a plan is for is kept, in characters.
const MAX_GOAL: usize = 1_000;

/// Whether a value says that there is nothing: `none`, a dash, `n/a`, or no word at all.
pub fn says_nothing(value: &str) -> bool {
    let plain = value.trim_matches(|char: char| char.is_whitespace() || "*_`().".contains(char));
    let first = plain.split([' ', '(', ',']).next().unwrap_or_default();
    matches!(plain.to_ascii_lowercase().as_str(), "" | "-" | "—" | "–" | "n/a" | "nothing" | "nil")
        || first.eq_ignore_ascii_case("none")
}

/// What stands before the first empty line.
pub fn first_paragraph(text: &str) -> &str {
    let text = text.trim();
    let mut end = 0;
    for line in text.split_inclusive('\n').take_while(|line| !line.trim().is_empty()) {
        end += line.len();
    }
    text.get(..end).unwrap_or(text).trim_end()
}

/// Whether a line is a rule between two parts: three signs or more and nothing else.
pub fn is_rule(line: &str) -> bool {
    let signs = line.split_whitespace().collect::<String>();
    signs.len() >= 3 && ['-', '*', '_'].iter().any(|sign| signs.chars().all(|char| char == *sign))
}

/// Reads a plan of this family, and fills in what it says. `false` where it is of none of its dialects.
pub fn read(document: &Document<'_>, plan: &mut Plan) -> bool {
    let outline = Outline::of(document);
    match () {
        () if session_spec::is_one(&outline) => session_spec::read(&outline, plan),
        () if ultraplan::is_one(&outline) => ultraplan::read(&outline, plan),
        () => return false,
    }
    true
}

/// What is wrong with a file that is of none of these dialects, and has steps, or what looks like some.
/// `None` for one without any.
pub fn unrecognized(document: &Document<'_>) -> Option<Diagnostic> {
    let outline = Outline::of(document);
    let step = outline.sections.iter().find(|section| numbered(section.heading, "Step") != Numbered::Other)?;
    let mut findings = Findings::new(document);
    let help = "a plan has `## Implementation Plan` above its `### Step 1: Title`";
    findings.add(Code::UnrecognizedFormat, step.heading.span.clone(), None, UNRECOGNIZED.to_owned(), help);
    findings.into_diagnostics().pop()
}

/// What a plan is for: the first paragraph of its goal or context.
pub fn goal(outline: &Outline<'_>) -> String {
    let section = ["goal", "context"].iter().find_map(|name| outline.part(name));
    let text = section.map(|section| outline.document.slice(section.content()).trim()).unwrap_or_default();
    let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty() && !line.starts_with('#'));
    lines.collect::<Vec<_>>().join(" ").chars().take(MAX_GOAL).collect()
}

/// The commands of `## Verification` or `## Exit Condition`.
pub fn closing_checks(outline: &Outline<'_>, name: &str, findings: &mut Findings<'_>) -> Vec<Check> {
    let Some(section) = outline.part(name) else { return Vec::new() };
    let (found, sentences) = commands::of_a_section(outline.document, section.content());
    for sentence in sentences {
        let shown = sanitize(outline.document.slice(sentence.clone()), 80);
        let text = format!("`{shown}` holds no command: nobody checks it");
        findings.add(Code::VerifyMayBeProse, sentence, None, text, "write its command between backticks");
    }
    for command in &found {
        commands::add_findings(command, &section.heading.span, None, findings);
    }
    found.into_iter().map(|command| command.check).collect()
}

/// The units in the order in which they are run: by stage, then as their groups have them. Each depends on
/// the one before it in its group.
pub fn in_order(mut units: Vec<Unit>, groups: &[Group]) -> Vec<Unit> {
    let mut places: HashMap<&str, (usize, usize, usize)> = HashMap::new();
    let mut before: HashMap<&str, &str> = HashMap::new();
    for (number, group) in groups.iter().enumerate() {
        let mut last = None;
        for (place, unit) in group.units.iter().enumerate() {
            if places.contains_key(unit.as_str()) {
                continue;
            }
            places.insert(unit, (group.stage, number, place));
            before.extend(last.map(|last| (unit.as_str(), last)));
            last = Some(unit.as_str());
        }
    }
    for unit in &mut units {
        unit.deps = before.get(unit.id.as_str()).map(|id| (*id).to_owned()).into_iter().collect();
    }
    units.sort_by_key(|unit| places.get(unit.id.as_str()).copied());
    units
}

/// How a run goes.
pub fn policy(parallel: Parallel) -> Policy {
    Policy {
        on_unit_fail: OnUnitFail::Stop,
        parallel,
        max_workers: 0,
        max_iterations: 1,
        batch_size: 0,
        wants_contracts: false,
        hub_k: 0,
        skips_verification: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_in_many_ways() {
        for value in ["", " ", "none", "None.", "*none*", "`none`", "none (first session)", "—", "N/A"] {
            assert!(says_nothing(value), "{value}");
        }
        for value in ["1", "nonexistent.rs", "Session 1", "no-op.sh"] {
            assert!(!says_nothing(value), "{value}");
        }
    }
}
