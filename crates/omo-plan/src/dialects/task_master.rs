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
use super::{BatchOptions, PlanChange, PlanDialect, PlanInput};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{LineIndex, line_ranges};
use crate::model::{Plan, Task};
use dependencies::TaskIds;
use state::{TaskStatus, parse_status};
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

    fn recognizes(&self, input: &PlanInput<'_>) -> bool {
        input.is_json() && TasksFile::parse(input.text()).is_ok_and(|file| file.has_tasks())
    }

    fn near_miss(&self, input: &PlanInput<'_>) -> Option<Diagnostic> {
        input.is_json().then(|| why_unrecognized(input.text()))
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
        let help = "a task is `{\"id\": 1, \"title\": \"…\", \"status\": \"pending\", \"dependencies\": []}`";
        report(Code::NoTasks, start..start, None, format!("{name} has no task"), Some(help));
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
        if !task.is_done && above.is_some_and(|above| above.is_done) {
            task.is_done = true;
            open_below.entry(entry.parent).or_default().push(task.id.clone());
        }
        task.stated_deps = ids.stated_dependencies(place);
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
    report_deferred_needs(&tasks, &entries, &mut report);
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

/// What the status says of a task, and what is to know about a cancelled or deferred one.
fn apply_status(entry: &JsonTask<'_>, task: &mut Task, report: &mut Report<'_>) {
    let word = entry.fields.text("status").unwrap_or_default();
    let status = parse_status(&word);
    let shown = sanitize(&task.id, 60);
    task.is_done = matches!(status, TaskStatus::Done | TaskStatus::Cancelled);
    task.is_optional = status == TaskStatus::Deferred;
    if !word.is_empty() && status != TaskStatus::Done && word != "pending" {
        task.extra.insert("Status".to_owned(), sanitize(&word, 40));
    }
    match status {
        TaskStatus::Cancelled => {
            let text = format!("task {shown} is cancelled: it is not worked on, and counts as done for what needs it");
            report(Code::TaskLeftOut, entry.span.clone(), Some(&task.id), text, None);
        }
        TaskStatus::Deferred => {
            let text = format!("task {shown} is deferred, and a run works on it all the same");
            let help = "`omo run skip ID` leaves it out";
            report(Code::TaskLeftOut, entry.span.clone(), Some(&task.id), text, Some(help));
        }
        TaskStatus::Open | TaskStatus::Done => {}
    }
}

/// Tells what an open task needs that is deferred.
fn report_deferred_needs(tasks: &[Task], entries: &[JsonTask<'_>], report: &mut Report<'_>) {
    let deferred: HashSet<&str> = tasks.iter().filter(|task| task.is_optional).map(|task| task.id.as_str()).collect();
    let open = tasks.iter().zip(entries).filter(|(task, _)| !task.is_done && !task.is_optional);
    for (task, entry) in open {
        let needs: Vec<&str> = task.deps.iter().map(String::as_str).filter(|id| deferred.contains(id)).collect();
        if !needs.is_empty() {
            let shown = [&task.id, &list_some(needs, SHOWN_NAMES)].map(|text| sanitize(text, 200));
            let text = format!("task {} needs what is deferred: {}", shown[0], shown[1]);
            report(Code::TaskLeftOut, entry.span.clone(), Some(&task.id), text, None);
        }
    }
}

/// What is wrong with a JSON file that is none of tasks.
fn why_unrecognized(text: &str) -> Diagnostic {
    let inner = json_text(text);
    let start = span_of(text, inner).start;
    let (line, text) = match TasksFile::parse(text) {
        Ok(_) => (1, "the file has no list `tasks` of objects with an `id` and a `title`".to_owned()),
        Err(error) => {
            let above = text.get(..start).unwrap_or_default().matches('\n').count();
            (error.line().max(1) + above, format!("the file is no JSON that can be read: {error}"))
        }
    };
    let at = line_ranges_start(inner, line).map_or(start, |at| start + at);
    let code = Code::UnrecognizedFormat;
    Diagnostic { code, severity: code.severity(), span: at..at, line, task: None, text, help: None }
}

fn line_ranges_start(text: &str, line: usize) -> Option<usize> {
    line_ranges(text, 0..text.len()).nth(line.saturating_sub(1)).map(|line| line.start)
}
