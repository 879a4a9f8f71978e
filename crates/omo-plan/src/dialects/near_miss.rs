//! Explains a file of no known format: names its most task-like line, and the form of a task.

use std::ops::Range;

use omo_core::text::sanitize;

use super::{PlanInput, command_from_file};
use crate::batches::{span_diagnostic, task_diagnostic};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{MarkdownDocument, line_ranges};
use crate::labels::{CHECKBOX, split_list_marker};
use crate::pattern::Pattern;

static TASK_HEADING: Pattern = Pattern::new(
    r"^[^\p{L}\p{N}]*(?:(?i-u:(?:sub-?)?(?:task|step|ticket|issue|story|item|todo))\b|[A-Z]{1,4}-?[0-9]+\b)",
);
static NUMBERED_HEADING: Pattern = Pattern::new(r"^[^\p{L}\p{N}]*[0-9]+(?:\.[0-9]+)+[.):]?\s");
static PART_HEADING: Pattern = Pattern::new(
    r"^[^\p{L}\p{N}]*(?:[0-9]+[.):]?\s|(?i-u:phase|stage|milestone|sprint|wave|batch|part|week|day|iteration)\b.*[0-9])",
);
static NUMBERED_ITEM: Pattern = Pattern::new(r"^[ \t]*[0-9]{1,4}[.)][ \t]+\S");
const SHOWN_BYTES: usize = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TaskLook {
    Heading,
    NumberedHeading,
    Box,
    Item,
    PartHeading,
}

impl TaskLook {
    fn text(self, shown: &str) -> String {
        match self {
            Self::Heading | Self::NumberedHeading => {
                format!(
                    "the file is not a plan that omo knows: `{shown}` looks most like a task, and its heading is not one"
                )
            }
            Self::Box => format!(
                "the file is not a plan that omo knows: `{shown}` has a checkbox and no number"
            ),
            Self::Item => {
                format!(
                    "the file is not a plan that omo knows: `{shown}` stands in a list without checkboxes"
                )
            }
            Self::PartHeading => {
                format!(
                    "the file is not a plan that omo knows: `{shown}` is a part of the work, and has no task below it"
                )
            }
        }
    }

    fn form(self) -> &'static str {
        match self {
            Self::Heading | Self::NumberedHeading | Self::PartHeading => "`### Task 1: its title`",
            Self::Box | Self::Item => "`- [ ] 1.1 its title` below a heading `## 1. Its part`",
        }
    }
}

/// Diagnostic for a file that no dialect can read.
pub(super) fn describe(input: &PlanInput<'_>) -> Diagnostic {
    let document = input.document();
    let found = boxes(document)
        .chain(items(document))
        .chain(headings(document))
        .min_by_key(|(look, _)| *look);
    let (found, form) = if let Some((look, span)) = found {
        let row = split_list_marker(document.slice(span.clone()))
            .1
            .trim_start_matches(['#', ' ']);
        let text = look.text(&sanitize(&row.replace('`', "'"), SHOWN_BYTES));
        (
            span_diagnostic(document, Code::UnrecognizedFormat, span, text, None),
            look.form(),
        )
    } else {
        let text =
            "the file is not a plan that omo knows: nothing in it looks like a task".to_owned();
        let found = task_diagnostic(None, Code::UnrecognizedFormat, text);
        (found, "`### Task 1: its title` or `- [ ] 1.1 its title`")
    };
    let command = command_from_file(input.path());
    let help = format!(
        "`{command}` turns it into a task list; or write each task as {form}; if it is in a format that omo knows, \
         `--dialect NAME` says in which"
    );
    Diagnostic {
        help: Some(help),
        ..found
    }
}

pub(super) fn first_box(document: &MarkdownDocument<'_>) -> Option<Range<usize>> {
    boxes(document).next().map(|(_, span)| span)
}

fn boxes<'d>(
    document: &'d MarkdownDocument<'_>,
) -> impl Iterator<Item = (TaskLook, Range<usize>)> + 'd {
    text_lines(document)
        .filter(|line| CHECKBOX.is_match(document.slice(line.clone())))
        .take(1)
        .map(|line| (TaskLook::Box, line))
}

fn items<'d>(
    document: &'d MarkdownDocument<'_>,
) -> impl Iterator<Item = (TaskLook, Range<usize>)> + 'd {
    text_lines(document)
        .filter(|line| NUMBERED_ITEM.is_match(document.slice(line.clone())))
        .take(1)
        .map(|line| (TaskLook::Item, line))
}

fn headings<'d>(
    document: &'d MarkdownDocument<'_>,
) -> impl Iterator<Item = (TaskLook, Range<usize>)> + 'd {
    document
        .headings
        .iter()
        .filter(|heading| heading.level > 1)
        .filter_map(|heading| {
            let look = match heading.text {
                text if TASK_HEADING.is_match(text) => TaskLook::Heading,
                text if NUMBERED_HEADING.is_match(text) => TaskLook::NumberedHeading,
                text if PART_HEADING.is_match(text) => TaskLook::PartHeading,
                _ => return None,
            };
            Some((look, heading.span.clone()))
        })
}

fn text_lines<'d>(document: &'d MarkdownDocument<'_>) -> impl Iterator<Item = Range<usize>> + 'd {
    line_ranges(document.text, document.body_start..document.text.len()).filter(|line| {
        let end = line.end.saturating_sub(1).max(line.start);
        document.code_at(end).is_none_or(|code| code.info.is_none())
            && !document.is_in_html(line.start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialects::{BatchOptions, read};

    #[test]
    fn a_file_of_no_format_is_told_at_what_looks_most_like_a_task() {
        for (text, line, words) in [
            ("# A\n\n1. Do this\n2. Do that\n", 3, "without checkboxes"),
            (
                "# A\n\n* [ ] do this\n",
                3,
                "`do this` has a checkbox and no number",
            ),
            (
                "# A\n\n- [ ] a\n\n## Task one\n\ntext\n",
                5,
                "`Task one` looks most like a task",
            ),
            (
                "# A\n\n## Phase 1\n\n### 1.1 Do this\n",
                5,
                "`1.1 Do this` looks most like a task",
            ),
            (
                "# A\n\n## 1. Part\n\n- [ ] do this\n",
                5,
                "`do this` has a checkbox",
            ),
            (
                "# A\n\n## Stage 1 – Do this\n\n- text\n",
                3,
                "`Stage 1 – Do this` is a part",
            ),
            (
                "# A\n\n## Task one: do `this`\n",
                3,
                "`Task one: do 'this'` looks most",
            ),
            (
                "```\n- [ ] a\n```\n\n# Notes\n\ntext\n",
                1,
                "nothing in it looks like a task",
            ),
            ("text\n", 1, "nothing in it"),
            ("", 1, "nothing in it"),
            ("[{\"id\": 1,\n\"title\": \"A\"}]", 1, "a list"),
            (
                "{\"tasks\": [{\"id\": 1},\n {\"name\": \"A\"}]}",
                1,
                "no `title`",
            ),
            ("{\"tasks\": {\"build\": {}}}", 1, "no list `tasks`"),
            (
                "---\nphase: 1\nplan: 2\n---\n\n<objective>\na\n</objective>\n<tasks>\n</tasks>\n",
                9,
                "no element `<task>`",
            ),
        ] {
            let plan = read("docs/p.md", text.as_bytes(), BatchOptions::default());
            let [found] = plan.diagnostics.as_slice() else {
                panic!("{text}: {:?}", plan.diagnostics)
            };
            assert_eq!(found.line, line, "{text}: {}", found.text);
            assert!(found.text.contains(words), "{text}: {}", found.text);
            assert!(
                found.help.as_ref().is_some_and(|help| help.contains('`')),
                "{text}: {:?}",
                found.help
            );
            assert!(!plan.can_run());
        }
    }

    #[test]
    fn a_checklist_without_numbers_is_read_where_lists_of_tasks_stand() {
        let plan = read(
            "specs/a/tasks.md",
            b"# A\n\n- [ ] do this\n- [ ] do that\n",
            BatchOptions::default(),
        );
        let found: Vec<_> = plan
            .diagnostics
            .iter()
            .map(|found| (found.code, found.line))
            .collect();
        assert_eq!((found, plan.tasks.len()), (vec![(Code::OtherFormat, 1)], 2));
    }
}
