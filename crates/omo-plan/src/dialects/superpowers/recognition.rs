//! Tells a plan of superpowers from one of dev-workflow, which looks alike.

use crate::batches::{HeadingForm, TaskOutline, find_form, has_tasks};
use crate::dialects::outlined_task::TaskSteps;
use crate::document::{MarkdownDocument, line_ranges};
use crate::labels::read_labels;
use crate::pattern::Pattern;

/// Label of dev-workflow alone. Its tasks mostly have a `Verify`, too; dependencies are in both.
const CONTRACT_LABEL: &str = "task contract";
const VERIFY_LABEL: &str = "verify";
const NEEDS_LABEL: &str = "depends on";
static SKILL: Pattern = Pattern::new(r"(?i-u:superpowers|required sub-?skill|for agentic workers)");
static OPTIONAL: Pattern = Pattern::new(r"(?i-u:[(\[]\s*optional|optional\s*[)\]])");

pub(super) fn is_called_optional(heading: &str) -> bool {
    OPTIONAL.is_match(heading)
}

/// `true` for a plan of superpowers; one at its usual path needs fewer signs.
pub(super) fn is_superpowers(document: &MarkdownDocument<'_>, is_at_place: bool) -> bool {
    let form = find_form(document);
    if !has_tasks(document, form) || document.front_matter_field("contract_version").is_some() {
        return false;
    }
    let outline = TaskOutline::read_tasks(document, form);
    let (mut has_steps, mut has_boxes, mut has_verify, mut has_needs) =
        (false, false, false, false);
    for task in &outline.tasks {
        let part = task.heading.end..task.section.end;
        let labels = read_labels(document, part.clone(), &[]);
        if task.is_marked
            || task.other_half().is_some()
            || labels.iter().any(|label| label.key == CONTRACT_LABEL)
        {
            return false;
        }
        has_verify |= labels.iter().any(|label| label.key == VERIFY_LABEL);
        has_needs |= labels.iter().any(|label| label.key == NEEDS_LABEL);
        let steps = TaskSteps::read(document, part);
        has_boxes |= !steps.boxes.is_empty();
        has_steps |= steps
            .steps
            .iter()
            .any(|step| is_numbered_step(document.slice(step.title.clone())));
    }
    let first = outline
        .tasks
        .first()
        .map_or(document.text.len(), |task| task.section.start);
    let mut head =
        line_ranges(document.text, document.body_start..first).map(|line| document.slice(line));
    let has_skill = head.any(|row| SKILL.is_match(row));
    let is_loose_only = !has_tasks(document, HeadingForm::Exact);
    has_steps
        || has_skill
        || (!has_verify && (has_boxes || !has_needs && (is_loose_only || is_at_place)))
}

static NUMBERED_STEP: Pattern = Pattern::new(r"^(?:{step})[ \t]*[0-9]");

fn is_numbered_step(title: &str) -> bool {
    NUMBERED_STEP.is_match(title)
}
