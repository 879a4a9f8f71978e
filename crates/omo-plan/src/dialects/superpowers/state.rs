//! Ticks or clears the boxes of a task's steps, which are its state.

use crate::batches::{find_form, read_outline};
use crate::dialects::outlined_task::TaskSteps;
use crate::document::MarkdownDocument;
use crate::pattern::Pattern;

static DONE_HEADING: Pattern =
    Pattern::new(r"^[#\s*_~]*(?:[✅✔☑]|\[[xX]\])|[✅✔☑]\x{FE0F}?[\s*_#]*$");

/// `true` for a heading with a mark such as `✅`.
pub(super) fn is_marked_done(heading: &str) -> bool {
    DONE_HEADING.is_match(heading)
}

/// Mark in a box: `x` or a blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepMark {
    Ticked,
    Open,
}

/// Text with all boxes of a task changed; `None` without a box, or for an unknown task.
pub(super) fn mark_steps(text: &str, id: &str, mark: StepMark) -> Option<String> {
    let document = MarkdownDocument::read(text);
    let outline = read_outline(&document, find_form(&document));
    let task = outline
        .positions
        .get(id)
        .and_then(|place| outline.tasks.get(*place))?;
    let steps = TaskSteps::read(&document, task.heading.end..task.section.end);
    let (mut changed, mut done) = (String::with_capacity(text.len()), 0);
    for (at, _) in steps
        .boxes
        .iter()
        .filter(|(_, is_ticked)| *is_ticked != (mark == StepMark::Ticked))
    {
        changed.push_str(text.get(done..*at)?);
        changed.push(if mark == StepMark::Ticked { 'x' } else { ' ' });
        done = at + 1;
    }
    changed.push_str(text.get(done..)?);
    (!steps.boxes.is_empty()).then_some(changed)
}
