//! Reads the steps of an ultraplan (`### Step 3: title`), each with its task.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use omo_core::check::task_check::{ExpectedExit, ExpectedResult, TaskCheck};

use super::commands;
use crate::diagnostic::Code;
use crate::dialects::ultraplan::inline_code::split_inline_code;
use crate::dialects::ultraplan::section_outline::{
    NumberedHeading, PlanFindings, PlanSection, SectionOutline, parse_numbered_heading,
};
use crate::dialects::ultraplan::{commit_checkpoint, expectation, on_failure};
use crate::fields::named_files::{self, FileMention};
use crate::labels::{LabeledField, read_labels, trim_range};
use crate::model::{MAX_PLAN_TASKS, OnFailure, Task, TaskCommit};

const KNOWN: [&str; 8] = [
    "files",
    "changes",
    "reuses",
    "test first",
    "verify",
    "expected",
    "on failure",
    "checkpoint",
];
/// Labels whose values are in other fields of a task.
const INTERPRETED: [&str; 5] = ["files", "verify", "expected", "on failure", "checkpoint"];

/// Step with its number and its task.
#[derive(Debug)]
pub(crate) struct ParsedStep {
    pub number: u64,
    pub heading: Range<usize>,
    pub files: Vec<FileMention>,
    pub task: Task,
}

pub(crate) fn has_steps(outline: &SectionOutline<'_>) -> bool {
    outline.sections.iter().any(|section| {
        matches!(
            parse_numbered_heading(section.heading, "Step"),
            NumberedHeading::Is(..)
        )
    })
}

pub(crate) fn read_steps(
    outline: &SectionOutline<'_>,
    findings: &mut PlanFindings<'_>,
) -> Vec<ParsedStep> {
    let plan = outline
        .section_named("implementation plan")
        .map(|section| section.span.clone());
    let mut steps = Vec::new();
    let mut seen = HashSet::new();
    for section in &outline.sections {
        let span = section.heading.span.clone();
        match parse_numbered_heading(section.heading, "Step") {
            NumberedHeading::Is(number, title) => {
                let step = read_step(outline, section, number, title, findings);
                if !seen.insert(number) {
                    let text = format!("step {number} is there twice");
                    findings.add(
                        Code::DuplicateId,
                        span.clone(),
                        Some(&step.task.id),
                        text,
                        "give each its own number",
                    );
                }
                if plan
                    .as_ref()
                    .is_some_and(|plan| !plan.contains(&span.start))
                {
                    let text = format!("step {number} stands outside of `## Implementation Plan`");
                    findings.add(
                        Code::StepOutsidePlanSection,
                        span,
                        Some(&step.task.id),
                        text,
                        "",
                    );
                }
                steps.push(step);
            }
            NumberedHeading::LooksLike => {
                let text = "this heading looks like a step and is not one".to_owned();
                findings.add(
                    Code::LooksLikeAStep,
                    span,
                    None,
                    text,
                    "a step is written `### Step 1: Title`",
                );
            }
            NumberedHeading::Other => {}
        }
    }
    if steps.len() > MAX_PLAN_TASKS {
        let text = format!(
            "{} steps, of which a run can have {MAX_PLAN_TASKS}",
            steps.len()
        );
        findings.add(
            Code::TooManyTasks,
            outline.document.body_start..outline.document.body_start,
            None,
            text,
            "",
        );
    }
    steps
}

fn read_step(
    outline: &SectionOutline<'_>,
    section: &PlanSection<'_>,
    number: u64,
    title: &str,
    findings: &mut PlanFindings<'_>,
) -> ParsedStep {
    let document = outline.document;
    let whole = trim_range(document, section.span.clone());
    let id = number.to_string();
    // Labels below a heading that looks like a step likely belong to that.
    let inner = outline.sections_in(section.content()).iter();
    let other = inner
        .map(|inner| inner.heading)
        .find(|heading| parse_numbered_heading(heading, "Step") == NumberedHeading::LooksLike);
    let end = other.map_or(whole.end, |heading| heading.span.start);
    let labels = read_labels(document, section.heading.span.end..end, &KNOWN);
    let mut reader = StepReader {
        outline,
        id: &id,
        heading: section.heading.span.clone(),
        findings,
    };
    let (on_failure, alternative) = reader.on_failure(find_label(&labels, "on failure"));
    let files = reader.files(find_label(&labels, "files"));
    let (checks, criteria) = reader.verify(
        find_label(&labels, "verify"),
        find_label(&labels, "expected"),
    );
    let commit = reader.checkpoint(find_label(&labels, "checkpoint"));
    let test_first =
        find_label(&labels, "test first").map(|label| document.slice(label.value.clone()));
    let mut extra = BTreeMap::new();
    for label in labels
        .iter()
        .filter(|label| !INTERPRETED.contains(&label.key.as_str()))
    {
        extra
            .entry(label.name.to_owned())
            .or_insert_with(|| document.slice(label.value.clone()).to_owned());
    }
    let lines = [
        document.line_number(whole.start),
        document.line_number(whole.end.saturating_sub(1).max(whole.start)),
    ];
    let task = Task {
        files: files.iter().map(|(file, _)| file.clone()).collect(),
        checks,
        red_check: test_first.and_then(red_check),
        on_failure,
        alternative,
        max_attempts: on_failure::max_attempts(on_failure),
        commit,
        criteria,
        extra,
        ..Task::new(id.clone(), title).with_body(document.slice(whole), lines)
    };
    ParsedStep {
        number,
        heading: section.heading.span.clone(),
        files,
        task,
    }
}

fn find_label<'l, 'a>(labels: &'l [LabeledField<'a>], key: &str) -> Option<&'l LabeledField<'a>> {
    labels.iter().find(|label| label.key == key)
}

struct StepReader<'r, 'd, 'f> {
    outline: &'r SectionOutline<'d>,
    id: &'r str,
    heading: Range<usize>,
    findings: &'r mut PlanFindings<'f>,
}

impl<'d> StepReader<'_, 'd, '_> {
    fn add(&mut self, code: Code, span: Range<usize>, text: String, help: &str) {
        self.findings.add(code, span, Some(self.id), text, help);
    }

    fn text(&self, label: &LabeledField<'_>) -> &'d str {
        self.outline.document.slice(label.value.clone())
    }

    fn files(&mut self, label: Option<&LabeledField<'_>>) -> Vec<FileMention> {
        let Some(label) = label else {
            return Vec::new();
        };
        let files = named_files::read_files(self.outline.document, label.value.clone());
        let mut spellings = BTreeMap::new();
        for (file, span) in &files {
            let path = &file.path;
            if let Some((code, text)) = named_files::path_problem(path) {
                self.add(code, span.clone(), text, "");
            }
            let first = spellings.entry(path.to_lowercase()).or_insert(path);
            if *first != path {
                let text = format!("`{first}` and `{path}` differ only by case");
                self.add(
                    Code::FilesDifferOnlyByCase,
                    span.clone(),
                    text,
                    "some file systems hold them for one",
                );
            }
        }
        files
    }

    fn verify(
        &mut self,
        label: Option<&LabeledField<'_>>,
        expected: Option<&LabeledField<'_>>,
    ) -> (Vec<TaskCheck>, Vec<String>) {
        let mut found = label.map_or_else(Vec::new, |label| {
            commands::read_commands(self.outline.document, label.value.clone())
        });
        if let (Some(last), Some(expected)) = (found.last_mut(), expected) {
            expectation::apply_expectation(last, self.text(expected));
        }
        let span = label.map_or(self.heading.clone(), |label| {
            label.span.start..label.value.end
        });
        if found.is_empty() {
            let text = format!("step {} has no check: nothing can prove it", self.id);
            self.add(
                Code::MissingVerify,
                span,
                text,
                "add a line `- **Verify:** `command``",
            );
            return (Vec::new(), Vec::new());
        }
        for command in &found {
            commands::report_command(command, &span, Some(self.id), self.findings);
        }
        let criteria = found
            .iter()
            .filter_map(|command| command.expected_sentence.clone())
            .collect();
        (
            found.into_iter().map(|command| command.check).collect(),
            criteria,
        )
    }

    fn on_failure(&mut self, label: Option<&LabeledField<'_>>) -> (OnFailure, Option<String>) {
        let span = label.map_or(self.heading.clone(), |label| {
            label.span.start..label.value.end
        });
        let value = label.map(|label| self.text(label)).unwrap_or_default();
        let help = "use one of revert, retry, skip and escalate";
        let Some(clause) = on_failure::parse_on_failure(value) else {
            let text = format!(
                "step {} has no action on a failure: the run stops there and waits",
                self.id
            );
            self.add(Code::MissingOnFailure, span, text, help);
            return (OnFailure::Escalate, None);
        };
        let Some(action) = clause.action else {
            let text = format!(
                "`{}` is not an action on a failure",
                omo_core::text::sanitize(value, 60)
            );
            self.add(Code::UnknownOnFailure, span, text, help);
            return (OnFailure::Escalate, None);
        };
        if clause.has_more {
            let text = format!(
                "On failure of step {} has more than an action: only the action counts",
                self.id
            );
            self.add(Code::OnFailureHasMore, span, text, "");
        }
        let alternative = clause
            .detail
            .filter(|_| action == OnFailure::Retry)
            .map(str::to_owned);
        (action, alternative)
    }

    fn checkpoint(&mut self, label: Option<&LabeledField<'_>>) -> Option<TaskCommit> {
        let label = label?;
        let block = commands::fenced_blocks(self.outline.document, &label.value).next();
        let block = block
            .filter(|block| label.first_line.is_empty() && block.span.start >= label.value.start);
        let block = block.map(|block| self.outline.document.dedented_code(block));
        let checkpoint = commit_checkpoint::parse_checkpoint(
            block.as_deref().unwrap_or_else(|| self.text(label)),
        )?;
        if !checkpoint.is_plain {
            let shown = omo_core::text::sanitize(&checkpoint.command, 80);
            let use_words = if checkpoint.message.is_some() {
                "only its message is used"
            } else {
                "it is not used"
            };
            let text = format!("`{shown}` is not a plain commit: {use_words}");
            let span = label.span.start..label.value.end;
            self.add(
                Code::CheckpointNotACommit,
                span,
                text,
                "write `git commit -m \"message\"`",
            );
        }
        checkpoint.message.map(|message| TaskCommit { message })
    }
}

/// Command of `Test first:`, which has to fail without the work; `None` for a path alone.
fn red_check(value: &str) -> Option<TaskCheck> {
    let code = split_inline_code(value).into_iter().find(|piece| {
        let program = piece.text.split_whitespace().next().unwrap_or_default();
        piece.is_code
            && piece.text.trim().contains(' ')
            && (program.starts_with("./") || !program.contains(['/', '.']))
    })?;
    let check = TaskCheck::new(code.text.trim());
    Some(TaskCheck {
        expect: ExpectedResult {
            exit: ExpectedExit::NonZero,
            stdout_has: None,
        },
        ..check
    })
}
