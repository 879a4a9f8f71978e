//! Plans of the dialect Task Master: `tasks.json` with tags, tasks and subtasks.
//!
//! One tag is read. Subtasks are tasks called `1.2`; their parent is done behind them, with what it says about all of
//! them. Numbers among the dependencies of a subtask are its siblings, where there are such.

mod dependencies;
mod state;
mod task_text;
mod tasks_file;

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use omo_core::text::{list_some, sanitize};

use super::task_problems::report_task_problems;
use super::{BatchOptions, PlanChange, PlanDialect, PlanInput, PlanPlace};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{LineIndex, line_ranges};
use crate::model::{Plan, PlannedState, Task};
use dependencies::TaskIds;
use state::parse_status;
use tasks_file::{JsonTask, TasksFile, collect_tasks, json_text, span_of};

/// Names in a message.
const SHOWN_NAMES: usize = 8;

/// `tasks.json` of Task Master: tags, tasks, subtasks.
#[derive(Debug)]
pub struct TaskMasterDialect;

impl PlanDialect for TaskMasterDialect {
    fn name(&self) -> &'static str {
        "task-master"
    }

    fn unproved_continues(&self) -> bool {
        true
    }

    fn places(&self) -> &'static [PlanPlace] {
        const { &[PlanPlace::below(".taskmaster", "tasks.json"), PlanPlace::in_folder("tasks", "tasks.json")] }
    }

    fn recognizes(&self, input: &PlanInput<'_>) -> bool {
        input.is_json() && TasksFile::parse(input.text()).is_ok_and(|file| file.has_tasks())
    }

    fn near_miss(&self, input: &PlanInput<'_>) -> Option<Diagnostic> {
        let is_list =
            json_text(input.text()).strip_prefix('[').is_some_and(|inner| inner.trim_start().starts_with('{'));
        (input.is_json() || is_list).then(|| why_unrecognized(input.text()))
    }

    fn read_plan(&self, input: &PlanInput<'_>, _options: BatchOptions, plan: &mut Plan) {
        if let Ok(file) = TasksFile::parse(input.text()) {
            read_tasks(input.text(), &file, plan);
        }
    }

    fn write_back(&self, text: &str, change: &PlanChange<'_>) -> Option<String> {
        match change {
            PlanChange::Done { task } => state::write_done(text, task),
            PlanChange::Open { task } => state::write_open(text, task),
            PlanChange::Choice { .. } => None,
        }
    }

    fn without_state(&self, text: &str) -> Option<String> {
        state::without_statuses(text)
    }
}

fn read_tasks(text: &str, file: &TasksFile<'_>, plan: &mut Plan) {
    let lines = LineIndex::new(text);
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut report = |code: Code, span: Range<usize>, task: Option<&str>, text: String, help: Option<&str>| {
        let line = lines.line_number(span.start);
        let (task, help) = (task.map(str::to_owned), help.map(str::to_owned));
        found.push(Diagnostic { code, severity: code.severity(), span, line, task, text, help });
    };
    let Some(tag) = file.chosen_tag() else { return };
    let start = span_of(text, json_text(text)).start;
    let name =
        tag.name.as_deref().map_or("the tasks without a tag".to_owned(), |name| format!("`{}`", sanitize(name, 40)));
    let others = file.tags.iter().filter(|other| !std::ptr::eq(*other, tag) && !other.tasks.is_empty());
    let others: Vec<String> = others.map(|other| sanitize(other.name.as_deref().unwrap_or("no tag"), 40)).collect();
    if !others.is_empty() {
        let others = list_some(others.iter().map(String::as_str), SHOWN_NAMES);
        report(
            Code::OtherTags,
            start..start,
            None,
            format!("{name} is read; there are tasks below {others} too"),
            None,
        );
    }
    if tag.tasks.is_empty() {
        report(Code::NoTasks, start..start, None, format!("{name} has no task"), Some(FORM));
    }
    if let Some(title) = plan_title(file) {
        plan.title = title;
    }
    let entries = collect_tasks(text, tag);
    let ids = TaskIds::new(&entries);
    // By the place of a parent that is done, its subtasks that are not.
    let mut open_below: BTreeMap<Option<usize>, Vec<String>> = BTreeMap::new();
    let mut tasks: Vec<Task> = Vec::with_capacity(entries.len());
    for (place, entry) in entries.iter().enumerate() {
        let above = entry.parent.and_then(|parent| tasks.get(parent));
        let mut task = task_text::read_task(entry, above);
        task.lines = [lines.line_number(entry.span.start), lines.line_number(entry.span.end.saturating_sub(1))];
        apply_status(entry, &mut task, &mut report);
        match above.map_or(PlannedState::Open, |above| above.state) {
            PlannedState::Done if task.state == PlannedState::Open => {
                task.state = PlannedState::Done;
                open_below.entry(entry.parent).or_default().push(task.id.clone());
            }
            PlannedState::LeftOut if task.state == PlannedState::Open => task.state = PlannedState::LeftOut,
            _ => {}
        }
        task.stated_deps = ids.stated_dependencies(place);
        for gone in ids.drop_gone(&mut task).into_iter().take(SHOWN_NAMES) {
            let text = format!("there is no task {}: it counts as done", sanitize(&gone, 60));
            report(Code::GoneDependency, entry.span.clone(), Some(&task.id), text, None);
        }
        if entry.is_too_deep {
            let text = format!("the subtasks of {} are too deep to be read", sanitize(&task.id, 60));
            report(Code::TooManyTasks, entry.span.clone(), Some(&task.id), text, None);
        }
        tasks.push(task);
    }
    if !ids.derive_dependencies(&mut tasks) {
        report(Code::TooManyDependencies, start..start, None, "the tasks have too many dependencies".to_owned(), None);
    }
    for (place, open) in open_below {
        let Some(entry) = place.and_then(|place| entries.get(place)) else { continue };
        let shown = list_some(open.iter().map(String::as_str), SHOWN_NAMES);
        let text = format!("task {} is done and {} are not: they count as done", entry.id, shown);
        let help = "set its `status` to `pending` to have them done";
        report(Code::OpenBelowDone, entry.span.clone(), Some(&entry.id), sanitize(&text, 400), Some(help));
    }
    report_needs_left_out(&tasks, &entries, &mut report);
    plan.tasks = tasks;
    plan.diagnostics.append(&mut found);
    let heads: Vec<Range<usize>> = entries.into_iter().map(|entry| entry.span).collect();
    report_task_problems(plan, &heads, |byte| lines.line_number(byte));
}

/// Where findings go: the rule, the bytes, the task, the text, and what fixes it.
type Report<'r> = dyn FnMut(Code, Range<usize>, Option<&str>, String, Option<&str>) + 'r;

/// The name of the project, where the file has one.
fn plan_title(file: &TasksFile<'_>) -> Option<String> {
    let described = ["meta", "metadata"].iter().find_map(|key| file.object(key)?.text("projectName"));
    described.or_else(|| file.root.text("name")).map(|title| sanitize(&title, 200))
}

/// What the status says of a task, and what has to be known about one that is left out.
fn apply_status(entry: &JsonTask<'_>, task: &mut Task, report: &mut Report<'_>) {
    let word = entry.fields.text("status").unwrap_or_default();
    let shown = sanitize(&word, 40);
    task.state = parse_status(&word);
    if task.state == PlannedState::LeftOut {
        let text =
            format!("task {} is {shown}: a run leaves it out, and goes on with what needs it", sanitize(&task.id, 60));
        let help = "set its `status` to `pending` to have it done";
        report(Code::TaskLeftOut, entry.span.clone(), Some(&task.id), text, Some(help));
    }
    if !word.is_empty() && task.state != PlannedState::Done && word != "pending" {
        task.extra.insert("Status".to_owned(), shown);
    }
}

/// Tells what an open task needs that is left out.
fn report_needs_left_out(tasks: &[Task], entries: &[JsonTask<'_>], report: &mut Report<'_>) {
    let in_state = |state: PlannedState| tasks.iter().zip(entries).filter(move |(task, _)| task.state == state);
    let left_out: HashSet<&str> = in_state(PlannedState::LeftOut).map(|(task, _)| task.id.as_str()).collect();
    for (task, entry) in in_state(PlannedState::Open) {
        let needs: Vec<&str> = task.deps.iter().map(String::as_str).filter(|id| left_out.contains(id)).collect();
        if !needs.is_empty() {
            let shown = [&task.id, &list_some(needs, SHOWN_NAMES)].map(|text| sanitize(text, 200));
            let text = format!("task {} needs what is left out: {}", shown[0], shown[1]);
            report(Code::TaskLeftOut, entry.span.clone(), Some(&task.id), text, None);
        }
    }
}

/// How a task is written.
const FORM: &str = "a task is `{\"id\": 1, \"title\": \"…\", \"status\": \"pending\", \"dependencies\": []}`, and `tasks` is the \
                    list of them";

/// What is wrong with a JSON file that is none of tasks.
fn why_unrecognized(text: &str) -> Diagnostic {
    let inner = json_text(text);
    let start = span_of(text, inner).start;
    let (at, why) = if inner.starts_with('[') {
        (start, "the file is a list, and no object with a list `tasks`".to_owned())
    } else {
        match TasksFile::parse(text) {
            Ok(file) => match file.tags.iter().find_map(|tag| tag.tasks.first()) {
                Some(first) => {
                    (span_of(text, first).start, "this item of `tasks` has no `id` or no `title`".to_owned())
                }
                None => (start, "the file has no list `tasks` of objects with an `id` and a `title`".to_owned()),
            },
            Err(error) => {
                let at = line_ranges_start(inner, error.line().max(1)).map_or(start, |at| start + at);
                (at, format!("the file is no JSON that can be read: {error}"))
            }
        }
    };
    let code = Code::UnrecognizedFormat;
    let (severity, line) = (code.severity(), LineIndex::new(text).line_number(at));
    Diagnostic { code, severity, span: at..at, line, task: None, text: why, help: Some(FORM.to_owned()) }
}

fn line_ranges_start(text: &str, line: usize) -> Option<usize> {
    line_ranges(text, 0..text.len()).nth(line.saturating_sub(1)).map(|line| line.start)
}
