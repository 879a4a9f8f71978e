//! The form in which a document writes the headings of its tasks.

use super::heading_form::HeadingForm;
use super::task_outline::{TaskHeading, TaskOutline, has_tasks};
use crate::document::MarkdownDocument;
use crate::labels::read_labels;
use crate::pattern::Pattern;

/// The form of a plan that keeps to no template; [`HeadingForm::Loose`] where it has no task.
pub(crate) fn find_form(document: &MarkdownDocument<'_>) -> HeadingForm {
    let forms = [HeadingForm::Loose, HeadingForm::Deep].into_iter();
    let numbered = || Some(HeadingForm::Numbered).filter(|_| has_numbered_tasks(document));
    forms
        .into_iter()
        .find(|form| has_tasks(document, *form))
        .or_else(numbered)
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

/// `true` where the numbered headings of a document are tasks: most have acceptance criteria, and no item is a task by
/// its number.
fn has_numbered_tasks(document: &MarkdownDocument<'_>) -> bool {
    if NUMBERED_BOX.is_match(document.text) {
        return false;
    }
    let outline = TaskOutline::read_tasks(document, HeadingForm::Numbered);
    let has_fields = |task: &&TaskHeading<'_>| {
        let labels = read_labels(document, task.heading.end..task.section.end, &[]);
        labels
            .iter()
            .any(|label| TASK_LABELS.contains(&&*label.key))
    };
    let count = outline.tasks.len();
    count > 1 && outline.tasks.iter().filter(has_fields).count() * 2 > count
}
