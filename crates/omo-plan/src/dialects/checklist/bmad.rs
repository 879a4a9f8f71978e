//! Stories of BMAD: `- [ ] Task 1: … (AC: 1)` with sub-tasks below `## Tasks / Subtasks`.

use omo_core::text::sanitize;

use super::{ChecklistDialect, NUMBERED, TaskItems};
use crate::dialects::PlanPlace;
use crate::document::{MarkdownDocument, line_ranges};
use crate::model::{Dialect, Plan};
use crate::pattern::Pattern;

static TASKS: Pattern = Pattern::new(r"^#{2,4} *(?i-u:tasks *(?:/|&|and) *sub-?tasks)\b");
static CRITERIA: Pattern = Pattern::new(r"^[^\p{L}]*(?i-u:acceptance criteria)\b");
static CRITERION: Pattern =
    Pattern::new(r"^(?:[-*] +)?[*_]*(?:AC ?-?#?)?(\d{1,3})[*_]*[.):][*_]* +");
static NAMED: Pattern = Pattern::new(r"\((?i-u:ac)s?:?([^()]*)\)");
const MAX_CRITERION: usize = 400;

/// Format of `docs/stories/*.md`, and the places of newer versions.
pub static BMAD: ChecklistDialect = ChecklistDialect {
    dialect: Dialect::Bmad,
    name: "bmad",
    places: &[
        PlanPlace::in_folder("docs/stories", "*.md"),
        PlanPlace::below("_bmad-output", "[0-9]*-[0-9]*-*.md"),
        PlanPlace::in_folder("docs/sprint-artifacts", "[0-9]*-[0-9]*-*.md"),
    ],
    tasks: TaskItems::Outer,
    form: "- [ ] Task 1: its title` below `## Tasks / Subtasks",
    sign: Some(&TASKS),
    section: Some(&TASKS),
    ticks_parts: true,
    finish: add_criteria,
    ..NUMBERED
};

/// Adds the acceptance criteria that a title names: `(AC: 1, 2)`.
fn add_criteria(document: &MarkdownDocument<'_>, plan: &mut Plan) {
    let mut sections = document.headings.iter().zip(document.section_ranges());
    let Some((_, part)) = sections.find(|(heading, _)| CRITERIA.is_match(heading.text)) else {
        return;
    };
    let rows = line_ranges(document.text, part).map(|line| document.slice(line));
    let criteria: Vec<(&str, &str)> = rows
        .filter_map(|row| CRITERION.read(row).map(|([id], text)| (id, text)))
        .collect();
    for task in &mut plan.tasks {
        let Some(([named], _)) = NAMED.read(&task.title) else {
            continue;
        };
        let mut ids = named
            .split(|char: char| !char.is_ascii_digit())
            .filter(|id| !id.is_empty());
        let texts = ids
            .by_ref()
            .filter_map(|id| criteria.iter().find(|(number, _)| *number == id));
        task.criteria
            .extend(texts.map(|(id, text)| format!("{id}. {}", sanitize(text, MAX_CRITERION))));
    }
}
