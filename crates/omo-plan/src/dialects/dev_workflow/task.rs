//! Reads a task of `dev-workflow` by its labels, such as `**Files:**` and `**Verify:**`.

use std::collections::BTreeMap;
use std::ops::Range;

use omo_core::check::task_check::{ExpectedExit, TaskCheck};

use crate::batches::{TaskHeading, TaskOutline, span_diagnostic};
use crate::diagnostic::{Code, Diagnostic};
use crate::dialects::outlined_task::{
    HeadingFields, report_check_doubts, stated_dependencies, task_dependencies, unique_checks,
    without_tail,
};
use crate::document::MarkdownDocument;
use crate::fields::stated_checks::{StatedCheck, StatedOutcome};
use crate::fields::{named_files, stated_checks};
use crate::labels::{LabeledField, read_labels};
use crate::model::{FileUse, Task, TaskKind};

/// Labels that are read, and others that end a value without emphasis.
const KNOWN: [&str; 9] = [
    "files",
    "depends on",
    "verify",
    "task contract",
    "steps",
    "expected outcome",
    "non-goals",
    "touched surface",
    "regression shield",
];
/// Labels with a meaning for a run; all others are kept by name.
const INTERPRETED: [&str; 4] = ["files", "depends on", "verify", "task contract"];

pub(super) fn read_task(
    document: &MarkdownDocument<'_>,
    outline: &TaskOutline<'_>,
    task: &TaskHeading<'_>,
    wants_contract: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Task {
    let mut report = |code: Code, span: Range<usize>, text: String| {
        diagnostics.push(span_diagnostic(document, code, span, text, Some(task.id)));
    };
    let section = without_tail(document, task.section.clone());
    let found = read_labels(document, task.heading.end..section.end, &KNOWN);
    let contract = read_contract(document, &found);
    if wants_contract && contract.is_none() {
        let text = format!(
            "task {} has no `**Task Contract:**`: it is recorded as failed and not run",
            task.id
        );
        report(Code::MissingTaskContract, task.heading.clone(), text);
    }
    let mut files = read_files(document, &found, &mut report);
    let has_files = found.iter().any(|label| label.key == "files");
    let has_verify = found.iter().any(|label| label.key == "verify");
    // A plan of a simpler kind has labels of its own, or none.
    let is_simple = !wants_contract && contract.is_none() && !has_verify;
    let fields = is_simple
        .then(|| HeadingFields::read(document, task.heading.end..section.end, &task.title));
    if let Some(fields) = fields.as_ref().filter(|_| !has_files) {
        files.clone_from(&fields.files);
    }
    let (checks, red_check) = match fields {
        Some(fields) if !fields.checks.is_empty() || fields.red_check.is_some() => {
            report_check_doubts(&fields.checks, &mut report);
            (unique_checks(fields.checks), fields.red_check)
        }
        _ => split_checks(task, read_verify(document, task, &found, &mut report)),
    };
    let pair = task
        .other_half()
        .filter(|half| outline.positions.contains_key(half.as_str()));
    let lines = [
        task.line,
        document.line_number(section.end.saturating_sub(1).max(section.start)),
    ];
    Task {
        kind: if task.is_tests() {
            TaskKind::Tests
        } else {
            TaskKind::Impl
        },
        deps: task_dependencies(outline, task, pair.as_deref()),
        stated_deps: stated_dependencies(outline, task),
        pair,
        files,
        checks,
        red_check,
        stop_after: task.is_marked,
        contract,
        extra: extra_labels(document, &found),
        ..Task::new(task.id, task.title.clone()).with_body(document.slice(section), lines)
    }
}

fn read_contract(document: &MarkdownDocument<'_>, labels: &[LabeledField<'_>]) -> Option<String> {
    let label = labels.iter().find(|label| label.key == "task contract")?;
    Some(document.slice(label.value.clone()).to_owned()).filter(|contract| !contract.is_empty())
}

fn read_files(
    document: &MarkdownDocument<'_>,
    labels: &[LabeledField<'_>],
    report: &mut impl FnMut(Code, Range<usize>, String),
) -> Vec<FileUse> {
    let values = labels
        .iter()
        .filter(|label| label.key == "files")
        .map(|label| label.value.clone());
    let found: Vec<_> = values
        .flat_map(|value| named_files::read_files(document, value))
        .collect();
    for (file, span) in &found {
        if let Some((code, text)) = named_files::path_problem(&file.path) {
            report(code, span.clone(), text);
        }
    }
    found.into_iter().map(|(file, _)| file).collect()
}

fn read_verify(
    document: &MarkdownDocument<'_>,
    task: &TaskHeading<'_>,
    labels: &[LabeledField<'_>],
    report: &mut impl FnMut(Code, Range<usize>, String),
) -> Vec<StatedCheck> {
    let all: Vec<_> = labels
        .iter()
        .filter(|label| label.key == "verify")
        .collect();
    // One among the items of another list is a step, unless it is the only one.
    let has_own = all.iter().any(|label| !label.is_listed);
    let own = all.iter().filter(|label| !(has_own && label.is_listed));
    let found: Vec<StatedCheck> = own
        .flat_map(|label| stated_checks::read_checks(document, label.value.clone()))
        .collect();
    let filled_label = all.iter().find(|label| !label.value.is_empty());
    match filled_label {
        Some(label) if found.is_empty() => {
            let text = format!(
                "the Verify of task {} has no command: nothing can prove the task",
                task.id
            );
            report(Code::VerifyMayBeProse, label.span.clone(), text);
        }
        None => {
            let text = format!(
                "task {} has no `**Verify:**`: nothing can prove it",
                task.id
            );
            report(Code::MissingVerify, task.heading.clone(), text);
        }
        Some(_) => {}
    }
    report_check_doubts(&found, report);
    found
}

/// Checks, and the check that has to fail before the work. Tests written first have to fail, unless
/// the plan expects success of a command.
fn split_checks(
    task: &TaskHeading<'_>,
    found: Vec<StatedCheck>,
) -> (Vec<TaskCheck>, Option<TaskCheck>) {
    if !task.is_tests() {
        return (found.into_iter().map(|one| one.check).collect(), None);
    }
    let (mut checks, mut red) = (Vec::new(), None);
    for StatedCheck {
        mut check,
        stated_outcome: stated,
        ..
    } in found
    {
        if stated != StatedOutcome::Success && check.expect.exit == ExpectedExit::Zero {
            check.expect.exit = ExpectedExit::NonZero;
        }
        if check.expect.exit != ExpectedExit::Zero && red.is_none() {
            red = Some(check);
        } else {
            checks.push(check);
        }
    }
    (checks, red)
}

fn extra_labels(
    document: &MarkdownDocument<'_>,
    labels: &[LabeledField<'_>],
) -> BTreeMap<String, String> {
    let mut extra: BTreeMap<String, String> = BTreeMap::new();
    for label in labels
        .iter()
        .filter(|label| !INTERPRETED.contains(&label.key.as_str()))
    {
        let value = document.slice(label.value.clone());
        let known = extra.entry(label.name.to_owned()).or_default();
        if !known.is_empty() {
            known.push('\n');
        }
        known.push_str(value);
    }
    extra
}
