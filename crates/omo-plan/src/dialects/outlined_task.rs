//! Shared parts of dialects whose tasks are headings `### Task N:`, such as superpowers.

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

/// Text of `**Goal:**` before the first task.
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

/// Text of a task without trailing blank lines, rules and section comments.
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

/// Ids below `Depends on`; `None` without that label.
pub(super) fn stated_dependencies(
    outline: &TaskOutline<'_>,
    task: &TaskHeading<'_>,
) -> Option<Vec<String>> {
    task.states_dependencies.then(|| {
        task.depends_on
            .iter()
            .filter_map(|place| outline.tasks.get(*place))
            .map(|task| task.id.to_owned())
            .collect()
    })
}

/// Stated dependencies; an implementation needs its tests as well.
pub(super) fn task_dependencies(
    outline: &TaskOutline<'_>,
    task: &TaskHeading<'_>,
    pair: Option<&str>,
) -> Vec<String> {
    let named: Vec<&str> = task
        .depends_on
        .iter()
        .filter_map(|place| outline.tasks.get(*place))
        .map(|task| task.id)
        .collect();
    let tests = pair.filter(|half| half.ends_with("-tests") && !named.contains(half));
    named
        .iter()
        .copied()
        .chain(tests)
        .map(str::to_owned)
        .collect()
}

/// Reports checks whose result may not be the intended one, such as commands with a pipe.
pub(super) fn report_check_doubts(
    found: &[StatedCheck],
    report: &mut impl FnMut(Code, Range<usize>, String),
) {
    for stated in found {
        let command = &stated.check.command;
        let shown = omo_core::text::sanitize(command, 60);
        let line_count = command
            .lines()
            .filter(|line| !line.trim_end().ends_with('\\'))
            .count();
        let doubts = [
            (
                stated.is_prose,
                Code::VerifyMayBeProse,
                "reads like a sentence, not like a command",
            ),
            (
                has_pipe(command),
                Code::PipeInVerify,
                "has a pipe: without pipefail only what follows it counts",
            ),
            (
                line_count > 1,
                Code::SeveralCommands,
                "has several lines: only the status of the last one counts",
            ),
            (
                stated.is_expected_in_prose,
                Code::ExpectationIsProse,
                "is held to its exit status alone: what else is expected is prose",
            ),
        ];
        for (_, code, words) in doubts.iter().filter(|(holds, ..)| *holds) {
            report(*code, stated.span.clone(), format!("`{shown}` {words}"));
        }
    }
}
