//! Common parts of the dialects whose tasks are headings `### Task N:`.

mod commands;
mod heading_fields;
mod steps;

use std::ops::Range;

use omo_core::check::task_check::has_pipe;

use crate::batches::{TaskHeading, TaskOutline};
use crate::diagnostic::Code;
use crate::document::{MarkdownDocument, line_ranges};
use crate::fields::stated_checks::StatedCheck;
use crate::labels::read_labels;
pub(super) use heading_fields::{HeadingFields, unique_checks};
pub(super) use steps::TaskSteps;

/// Goal of the plan, from a `**Goal:**` before its first task.
pub(super) fn read_goal(document: &MarkdownDocument<'_>, outline: &TaskOutline<'_>) -> String {
    let end = outline
        .tasks
        .first()
        .map_or(document.text.len(), |task| task.section.start);
    let found = read_labels(document, document.body_start..end, &["goal"]);
    let goal = found.iter().find(|label| label.key == "goal");
    goal.map_or(String::new(), |goal| {
        document.slice(goal.first_line.clone()).to_owned()
    })
}

/// A task's text without empty lines, a line of dashes, and the section comment at its end.
pub(super) fn without_tail(document: &MarkdownDocument<'_>, section: Range<usize>) -> Range<usize> {
    let mut end = section.start;
    for line in line_ranges(document.text, section.clone()) {
        let row = document.slice(line.clone()).trim();
        let is_rule = row.len() > 2 && row.chars().all(|char| char == '-');
        if !(row.is_empty() || is_rule || row.starts_with("<!-- section:")) {
            end = line.end;
        }
    }
    section.start..end
}

/// Ids of `Depends on`; `None` without that label.
pub(super) fn stated_dependencies(
    outline: &TaskOutline<'_>,
    task: &TaskHeading<'_>,
) -> Option<Vec<String>> {
    let named = || {
        task.depends_on
            .iter()
            .filter_map(|place| outline.tasks.get(*place))
    };
    task.states_dependencies
        .then(|| named().map(|task| task.id.to_owned()).collect())
}

/// Stated dependencies, and the tests of an implementation.
pub(super) fn task_dependencies(
    outline: &TaskOutline<'_>,
    task: &TaskHeading<'_>,
    pair: Option<&str>,
) -> Vec<String> {
    let named = || {
        task.depends_on
            .iter()
            .filter_map(|place| outline.tasks.get(*place))
            .map(|task| task.id)
    };
    let tests = pair.filter(|half| half.ends_with("-tests") && named().all(|id| id != *half));
    named().chain(tests).map(str::to_owned).collect()
}

pub(super) fn report_check_doubts(
    found: &[StatedCheck],
    report: &mut impl FnMut(Code, Range<usize>, String),
) {
    for one in found {
        let shown = omo_core::text::sanitize(&one.check.command, 60);
        let mut tell = |holds: bool, code: Code, what: &str| {
            if holds {
                report(code, one.span.clone(), format!("`{shown}` {what}"));
            }
        };
        tell(
            one.is_prose,
            Code::VerifyMayBeProse,
            "reads like a sentence, not like a command",
        );
        let is_piped = has_pipe(&one.check.command);
        tell(
            is_piped,
            Code::PipeInVerify,
            "has a pipe: without pipefail only what stands behind it counts",
        );
        let has_lines = one
            .check
            .command
            .lines()
            .filter(|line| !line.trim_end().ends_with('\\'))
            .count()
            > 1;
        tell(
            has_lines,
            Code::SeveralCommands,
            "has several lines: only the status of the last one counts",
        );
        let words = "is held to its exit status alone: what else is expected is prose";
        tell(one.is_expected_in_prose, Code::ExpectationIsProse, words);
    }
}
