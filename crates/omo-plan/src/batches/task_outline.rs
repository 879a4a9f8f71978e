//! Outline of a plan: task headings with ids, line numbers, dependencies and markers.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::batches::heading_form::{HeadingForm, split_task_heading};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{Heading, MarkdownDocument, line_ranges};
use crate::id::is_id;

pub(super) const MAX_FINDINGS_OF_A_KIND: usize = 1000;

/// Heading of a task with its section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskHeading<'a> {
    /// Number without leading zeros, with `-tests` or `-impl` of a pair: `2`, `2-tests`.
    pub id: &'a str,
    /// Title without comments.
    pub title: Cow<'a, str>,
    pub heading: Range<usize>,
    /// Line of the heading, from 1.
    pub line: usize,
    /// Bytes up to the next task, or the next heading of level 1 or 2.
    pub section: Range<usize>,
    /// Indices of needed tasks, each once.
    pub depends_on: Vec<usize>,
    /// `true` for a stated dependency, also for `none`.
    pub states_dependencies: bool,
    pub is_marked: bool,
}

impl TaskHeading<'_> {
    pub(crate) fn other_half(&self) -> Option<String> {
        let (number, half) = self.id.split_once('-')?;
        match half {
            "tests" => Some(format!("{number}-impl")),
            "impl" => Some(format!("{number}-tests")),
            _ => None,
        }
    }

    pub(crate) fn is_tests(&self) -> bool {
        self.id.ends_with("-tests")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskOutline<'a> {
    pub tasks: Vec<TaskHeading<'a>>,
    pub positions: HashMap<&'a str, usize>,
    /// Problems, at most 1,000 of each `Code`.
    pub diagnostics: Vec<Diagnostic>,
    counts: BTreeMap<Code, usize>,
    pub(super) form: HeadingForm,
}

impl<'a> TaskOutline<'a> {
    /// Outline with empty `depends_on`.
    pub(crate) fn read_tasks(document: &MarkdownDocument<'a>, form: HeadingForm) -> Self {
        let mut outline = TaskOutline {
            tasks: Vec::new(),
            positions: HashMap::new(),
            diagnostics: Vec::new(),
            counts: BTreeMap::new(),
            form,
        };
        outline.find_tasks(document);
        if outline.tasks.is_empty() {
            let end = document
                .headings
                .last()
                .map_or(0..0, |last| last.span.clone());
            let text = "the plan has no task: a task begins with a line `### Task 1: its title`"
                .to_owned();
            outline.report(document, Code::NoTasks, end, text, None);
        }
        outline.find_open_fences(document);
        outline.find_markers(document);
        outline
    }

    fn find_tasks(&mut self, document: &MarkdownDocument<'a>) {
        let mut open = false;
        for heading in &document.headings {
            let task = read_task(document, heading, self.form);
            let ends = task.is_some() || self.form.ends_at(heading.level);
            if let Some(last) = self.tasks.last_mut().filter(|_| open && ends) {
                last.section.end = heading.span.start;
            }
            if let Some(task) = task {
                open = true;
                self.add(document, task);
            } else {
                open &= !ends;
                if resembles_task(heading.text) {
                    self.report_look_alike(document, heading.span.clone());
                }
            }
        }
        for span in &document.html_blocks {
            for line in line_ranges(document.text, span.clone()) {
                if is_task_line(document.slice(line.clone()), self.form) {
                    self.report_look_alike(document, line);
                }
            }
        }
    }

    fn add(&mut self, document: &MarkdownDocument<'a>, task: TaskHeading<'a>) {
        let place = self.tasks.len();
        let first = *self.positions.entry(task.id).or_insert(place);
        if first != place {
            let line = self.tasks.get(first).map_or(0, |first| first.line);
            let text = format!("task {} stands on line {line} already", task.id);
            self.report(
                document,
                Code::DuplicateId,
                task.heading.clone(),
                text,
                Some(task.id),
            );
        }
        self.tasks.push(task);
    }

    fn report_look_alike(&mut self, document: &MarkdownDocument<'_>, span: Range<usize>) {
        let text =
            "this is not a task: a task begins with `### Task 1: its title`, at the start of a line"
                .to_owned();
        self.report(document, Code::LooksLikeAStep, span, text, None);
    }

    fn find_open_fences(&mut self, document: &MarkdownDocument<'_>) {
        let last = document.unclosed_fence();
        if document.code_blocks.iter().all(|code| !code.is_open) {
            return;
        }
        // A fence that opens where it should close can hide tasks: nothing is run then.
        let hidden = document
            .code_blocks
            .iter()
            .flat_map(|code| line_ranges(document.text, code.inner.clone()));
        let form = self.form;
        for line in hidden
            .filter(|line| is_task_line(document.slice(line.clone()), form))
            .take(1)
        {
            let text = "this task stands in code, after a fence that is not closed where it began"
                .to_owned();
            self.report(document, Code::UnclosedFence, line, text, None);
        }
        for fence in document
            .code_blocks
            .iter()
            .filter(|code| code.is_open && !document.is_blank(code))
        {
            let (code, text) = if last == Some(fence) {
                (
                    Code::UnclosedFence,
                    "the fence is not closed: all that follows is code",
                )
            } else {
                (
                    Code::FenceEndsWithList,
                    "the fence is not closed where it stands, as deep in its list as it began",
                )
            };
            let span = line_ranges(document.text, fence.span.clone())
                .next()
                .unwrap_or(fence.span.clone());
            self.report(document, code, span, text.to_owned(), None);
        }
    }

    /// A comment counts everywhere but in code blocks; in a heading it belongs to the task.
    fn find_markers(&mut self, document: &MarkdownDocument<'_>) {
        for start in memchr::memmem::find_iter(document.text.as_bytes(), "<!--") {
            let Some(kind) = read_marker(document.slice(start..document.text.len())) else {
                continue;
            };
            if document.code_at(start).is_some() {
                continue;
            }
            let span = start..start + "<!--".len();
            let task = self.task_at(start);
            match (kind, task.and_then(|task| self.tasks.get_mut(task))) {
                (Marker::Exact, Some(task)) => task.is_marked = true,
                (Marker::Exact, None) => {
                    let text =
                        "the marker stands outside of every task and has no effect".to_owned();
                    self.report(document, Code::MarkerOutsideTask, span, text, None);
                }
                (Marker::Resembling, _) => {
                    let text =
                        "this is not a checkpoint marker: one is `<!-- checkpoint -->`, on one line"
                            .to_owned();
                    self.report(document, Code::LooksLikeAMarker, span, text, None);
                }
            }
        }
    }

    pub(crate) fn is_task_heading(&self, heading: &Heading<'_>) -> bool {
        self.tasks
            .binary_search_by_key(&heading.span.start, |task| task.heading.start)
            .is_ok()
    }

    pub(crate) fn task_at(&self, byte: usize) -> Option<usize> {
        let behind = self
            .tasks
            .partition_point(|task| task.section.start <= byte);
        let place = behind.checked_sub(1)?;
        self.tasks
            .get(place)
            .filter(|task| task.section.contains(&byte))
            .map(|_| place)
    }

    pub(super) fn report(
        &mut self,
        document: &MarkdownDocument<'_>,
        code: Code,
        span: Range<usize>,
        text: String,
        task: Option<&str>,
    ) {
        let count = self.counts.entry(code).or_default();
        *count += 1;
        if *count <= MAX_FINDINGS_OF_A_KIND {
            self.diagnostics
                .push(span_diagnostic(document, code, span, text, task));
        }
    }
}

pub(crate) fn task_diagnostic(
    task: Option<&TaskHeading<'_>>,
    code: Code,
    text: String,
) -> Diagnostic {
    let (span, line) = task.map_or((0..0, 1), |task| (task.heading.clone(), task.line));
    let unit = task.map(|task| task.id.to_owned());
    Diagnostic {
        code,
        severity: code.severity(),
        span,
        line,
        task: unit,
        text,
        help: None,
    }
}

pub(crate) fn span_diagnostic(
    document: &MarkdownDocument<'_>,
    code: Code,
    span: Range<usize>,
    text: String,
    task: Option<&str>,
) -> Diagnostic {
    let line = document.line_number(span.start);
    Diagnostic {
        code,
        severity: code.severity(),
        span,
        line,
        task: task.map(str::to_owned),
        text,
        help: None,
    }
}

pub(crate) fn has_tasks(document: &MarkdownDocument<'_>, form: HeadingForm) -> bool {
    document
        .headings
        .iter()
        .any(|heading| read_task(document, heading, form).is_some())
}

fn read_task<'a>(
    document: &MarkdownDocument<'a>,
    heading: &Heading<'a>,
    form: HeadingForm,
) -> Option<TaskHeading<'a>> {
    if !form.is_of_level(heading.level) || (heading.is_indented && form == HeadingForm::Exact) {
        return None;
    }
    let (id, title) = split_task_heading(heading.text, form)?;
    is_id(id).then(|| TaskHeading {
        id,
        title: without_comments(title),
        heading: heading.span.clone(),
        line: document.line_number(heading.span.start),
        section: heading.span.start..document.text.len(),
        depends_on: Vec::new(),
        states_dependencies: false,
        is_marked: false,
    })
}

fn is_task_line(row: &str, form: HeadingForm) -> bool {
    let text = row.strip_prefix("### ").or_else(|| row.strip_prefix("## "));
    text.is_some_and(|text| split_task_heading(text.trim_start(), form).is_some())
}

fn resembles_task(text: &str) -> bool {
    let word = text.trim_start_matches(|char: char| !char.is_alphanumeric());
    let is_task = word
        .get(..4)
        .is_some_and(|word| word.eq_ignore_ascii_case("task"));
    let behind = word.get(4..).unwrap_or_default();
    let number =
        behind.trim_start_matches(|char: char| char.is_whitespace() || "#-_.:*`".contains(char));
    is_task && number.starts_with(char::is_numeric)
}

enum Marker {
    Exact,
    Resembling,
}

fn read_marker(text: &str) -> Option<Marker> {
    let inner = text.strip_prefix("<!--")?;
    // A marker is short: 60 characters are searched.
    let near = inner.get(
        ..inner
            .char_indices()
            .nth(60)
            .map_or(inner.len(), |(end, _)| end),
    )?;
    let inner = near.split_once("-->").map_or("", |(inner, _)| inner);
    let letters: String = inner.chars().filter(|char| char.is_alphabetic()).collect();
    if inner.trim() == "checkpoint" && !inner.contains(['\n', '\r']) {
        return Some(Marker::Exact);
    }
    letters
        .to_lowercase()
        .starts_with("checkpoint")
        .then_some(Marker::Resembling)
}

fn without_comments(title: &str) -> Cow<'_, str> {
    if !title.contains("<!--") {
        return Cow::Borrowed(title.trim());
    }
    let mut plain = String::new();
    let mut rest = title;
    while let Some((before, comment)) = rest.split_once("<!--") {
        let Some((_, behind)) = comment.split_once("-->") else {
            break;
        };
        plain.push_str(before);
        rest = behind;
    }
    plain.push_str(rest);
    Cow::Owned(plain.trim().to_owned())
}
