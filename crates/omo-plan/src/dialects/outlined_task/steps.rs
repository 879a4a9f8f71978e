//! Finds the steps of a task (`- [ ] **Step 1: …**`) and their checkboxes, which are its state.

use std::ops::Range;

use crate::document::{MarkdownDocument, line_ranges};
use crate::labels::CHECKBOX;
use crate::pattern::Pattern;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::dialects) struct TaskStep {
    pub(in crate::dialects) title: Range<usize>,
    pub(in crate::dialects) span: Range<usize>,
}

/// Steps of a task, as bytes of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::dialects) struct TaskSteps {
    pub(in crate::dialects) preamble: Range<usize>,
    pub(in crate::dialects) steps: Vec<TaskStep>,
    /// Byte in each box; `true` for a ticked one.
    pub(in crate::dialects) boxes: Vec<(usize, bool)>,
}

/// Step without a box: `**Step 1: …**`, `#### Step 1 …`, as an item or not.
static NAMED_STEP: Pattern = Pattern::new(
    r"^ {0,3}(?:(?:[-*+]|[0-9]+[.)])[ \t]+)?(?:#{3,6}[ \t]+)?(?:\*\*|__)?(?:{step})[ \t]*[0-9]",
);
static STATUS_BOX: Pattern =
    Pattern::new(r"^[ \t]*(?:[-*+][ \t]+)?[*_]*(?i-u:status)[*_]*[:：][*_]*[ \t]*\[[ xX]\]");
static STEP_SIGN: Pattern =
    Pattern::new(r"^[ \t]*(?:(?:[-*+]|[0-9]+[.)])[ \t]+(?:\[[ xX]\]\s*)?)?(?:#{3,6}[ \t]+)?[*_]*");

impl TaskSteps {
    pub(in crate::dialects) fn read(document: &MarkdownDocument<'_>, part: Range<usize>) -> Self {
        let (mut steps, mut boxes): (Vec<TaskStep>, Vec<(usize, bool)>) = (Vec::new(), Vec::new());
        for line in line_ranges(document.text, part.clone()) {
            let row = document.slice(line.clone());
            let has_box = CHECKBOX.is_match(row);
            let is_outer = !row.starts_with("    ") && !row.starts_with('\t');
            let is_step = is_outer && has_box || NAMED_STEP.is_match(row);
            let is_status = STATUS_BOX.is_match(row);
            if !(has_box || is_step || is_status)
                || document
                    .code_at(line.end.saturating_sub(1).max(line.start))
                    .is_some()
            {
                continue;
            }
            if document.is_in_html(line.start) {
                continue;
            }
            if let Some(at) = row.find('[').filter(|_| has_box || is_status) {
                boxes.push((line.start + at + 1, row.get(at + 1..at + 2) != Some(" ")));
            }
            // A box below a step is a part of it.
            let indentation = row.len() - row.trim_start().len();
            let is_nested = indentation > 1 && !steps.is_empty();
            if is_step && !is_nested {
                end_last(&mut steps, line.start);
                let text = STEP_SIGN.behind(row).unwrap_or(row);
                steps.push(TaskStep {
                    title: line.end - text.len()..line.end,
                    span: line.start..part.end,
                });
            }
        }
        let first = steps.first().map_or(part.end, |step| step.span.start);
        Self {
            preamble: part.start..first,
            steps,
            boxes,
        }
    }

    pub(in crate::dialects) fn is_done(&self) -> bool {
        !self.boxes.is_empty() && self.boxes.iter().all(|(_, is_ticked)| *is_ticked)
    }
}

fn end_last(steps: &mut [TaskStep], end: usize) {
    if let Some(last) = steps.last_mut() {
        last.span.end = end;
    }
}
