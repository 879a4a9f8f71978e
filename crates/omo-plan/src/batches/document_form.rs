//! Finds the form of a plan's task headings, such as `### Task 1: title` or `### 1. title`.

use super::heading_form::HeadingForm;
use super::task_outline::{TaskOutline, has_tasks};
use crate::document::MarkdownDocument;
use crate::labels::read_labels;
use crate::pattern::Pattern;

/// Form of the headings in `document`; [`HeadingForm::Loose`] where there is no task.
pub(crate) fn find_form(document: &MarkdownDocument<'_>) -> HeadingForm {
    let forms = [HeadingForm::Loose, HeadingForm::Deep].into_iter();
    forms
        .into_iter()
        .find(|form| has_tasks(document, *form))
        .or_else(|| Some(HeadingForm::Numbered).filter(|_| has_numbered_tasks(document)))
        .unwrap_or(HeadingForm::Loose)
}

static NUMBERED_BOX: Pattern = Pattern::new(
    r"(?m)^[ \t]*[-*+][ \t]+\[[ xX]\][ \t]+[*_]*(?:[A-Z]{0,3}-?[0-9]+[.)]|[0-9]+\.[0-9]|T[0-9])",
);
const TASK_LABELS: [&str; 4] = [
    "acceptance criteria",
    "acceptance",
    "definition of done",
    "done when",
];

/// `true` where most numbered headings have acceptance criteria, and no item is a task by its
/// number.
fn has_numbered_tasks(document: &MarkdownDocument<'_>) -> bool {
    if NUMBERED_BOX.is_match(document.text) {
        return false;
    }
    let outline = TaskOutline::read_tasks(document, HeadingForm::Numbered);
    let count = outline.tasks.len();
    let with_fields = outline.tasks.iter().filter(|task| {
        let labels = read_labels(document, task.heading.end..task.section.end, &[]);
        labels
            .iter()
            .any(|label| TASK_LABELS.contains(&&*label.key))
    });
    count > 1 && with_fields.count() * 2 > count
}
