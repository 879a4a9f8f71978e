//! Reads plans in JSON: `tasks.json` of Task Master, and `prd.json` of ralph.
//!
//! Of several tags one is read. A subtask becomes a task such as `1.2`, which its parent needs.

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
use dependencies::TaskMasterIds;
use state::parse_status;
use tasks_file::{JsonTask, TasksFile, collect_tasks, json_text, span_of};

const SHOWN_NAMES: usize = 8;

/// A JSON format of plans, by its keys.
#[derive(Debug)]
pub struct JsonDialect {
    name: &'static str,
    places: &'static [PlanPlace],
    lists: &'static [&'static str],
    has_tags: bool,
    keys: &'static [&'static str],
    /// Key of a task's state, and its values for a finished and a reopened task.
    state: &'static str,
    done: &'static str,
    open: &'static str,
    form: &'static str,
}

/// Format with tags, tasks and subtasks.
pub static TASK_MASTER: JsonDialect = JsonDialect {
    name: "task-master",
    places: &[
        PlanPlace::below(".taskmaster", "tasks.json"),
        PlanPlace::in_folder("tasks", "tasks.json"),
    ],
    lists: &["tasks"],
    has_tags: true,
    keys: &["id", "title"],
    state: "status",
    done: "\"done\"",
    open: "\"pending\"",
    form: "a task is `{\"id\": 1, \"title\": \"…\", \"status\": \"pending\", \"dependencies\": []}`, and `tasks` is \
           the list of them",
};

/// Format with user stories, each with `passes`.
pub static RALPH: JsonDialect = JsonDialect {
    name: "ralph",
    places: &[
        PlanPlace::in_folder("", "prd.json"),
        PlanPlace::in_folder("scripts/ralph", "prd.json"),
        PlanPlace::in_folder(".ralph", "prd.json"),
    ],
    lists: &["userStories", "stories"],
    has_tags: false,
    keys: &["id", "title", "passes"],
    state: "passes",
    done: "true",
    open: "false",
    form: "a story is `{\"id\": \"US-001\", \"title\": \"…\", \"passes\": false}`, and `userStories` is the list of them",
};

impl PlanDialect for JsonDialect {
    fn name(&self) -> &'static str {
        self.name
    }

    fn unproved_continues(&self) -> bool {
        true
    }

    fn places(&self) -> &'static [PlanPlace] {
        self.places
    }

    fn recognizes(&self, input: &PlanInput<'_>) -> bool {
        input.is_json()
            && TasksFile::parse(input.text(), self).is_ok_and(|file| file.has_tasks(self))
    }

    fn near_miss(&self, input: &PlanInput<'_>) -> Option<Diagnostic> {
        let is_list = json_text(input.text())
            .strip_prefix('[')
            .is_some_and(|inner| inner.trim_start().starts_with('{'));
        let has_stories =
            TasksFile::parse(input.text(), &RALPH).is_ok_and(|file| !file.tags.is_empty());
        let dialect = if has_stories { &RALPH } else { self };
        (input.is_json() || is_list).then(|| dialect.why_unrecognized(input.text()))
    }

    fn read_plan(&self, input: &PlanInput<'_>, _options: BatchOptions, plan: &mut Plan) {
        if let Ok(file) = TasksFile::parse(input.text(), self) {
            self.read_tasks(input.text(), &file, plan);
        }
    }

    fn write_back(&self, text: &str, change: &PlanChange<'_>) -> Option<String> {
        match change {
            PlanChange::Done { task } => state::write_done(text, task, self),
            PlanChange::Open { task } => state::write_open(text, task, self),
            PlanChange::Choice { .. } => None,
        }
    }

    fn without_state(&self, text: &str) -> Option<String> {
        state::without_statuses(text, self)
    }
}

impl JsonDialect {
    fn read_tasks(&self, text: &str, file: &TasksFile<'_>, plan: &mut Plan) {
        let lines = LineIndex::new(text);
        let mut found: Vec<Diagnostic> = Vec::new();
        let mut report = |code: Code,
                          span: Range<usize>,
                          task: Option<&str>,
                          text: String,
                          help: Option<&str>| {
            let line = lines.line_number(span.start);
            let (task, help) = (task.map(str::to_owned), help.map(str::to_owned));
            found.push(Diagnostic {
                code,
                severity: code.severity(),
                span,
                line,
                task,
                text,
                help,
            });
        };
        let Some(tag) = file.chosen_tag() else { return };
        let start = span_of(text, json_text(text)).start;
        let name = tag
            .name
            .as_deref()
            .map_or("the tasks without a tag".to_owned(), |name| {
                format!("`{}`", sanitize(name, 40))
            });
        let others = file
            .tags
            .iter()
            .filter(|other| !std::ptr::eq(*other, tag) && !other.tasks.is_empty());
        let others: Vec<String> = others
            .map(|other| sanitize(other.name.as_deref().unwrap_or("no tag"), 40))
            .collect();
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
            report(
                Code::NoTasks,
                start..start,
                None,
                format!("{name} has no task"),
                Some(self.form),
            );
        }
        if let Some(title) = plan_title(file) {
            plan.title = title;
        }
        let entries = collect_tasks(text, tag);
        let ids = TaskMasterIds::new(&entries);
        // By the index of a finished parent.
        let mut open_below: BTreeMap<Option<usize>, Vec<String>> = BTreeMap::new();
        let mut tasks: Vec<Task> = Vec::with_capacity(entries.len());
        for (place, entry) in entries.iter().enumerate() {
            let above = entry.parent.and_then(|parent| tasks.get(parent));
            let mut task = task_text::read_task(entry, above);
            task.lines = [
                lines.line_number(entry.span.start),
                lines.line_number(entry.span.end.saturating_sub(1)),
            ];
            let word = entry.fields.text(self.state).unwrap_or_default();
            apply_status(entry, &word, &mut task, &mut report);
            match above.map_or(PlannedState::Open, |above| above.state) {
                PlannedState::Done if task.state == PlannedState::Open => {
                    task.state = PlannedState::Done;
                    open_below
                        .entry(entry.parent)
                        .or_default()
                        .push(task.id.clone());
                }
                PlannedState::LeftOut if task.state == PlannedState::Open => {
                    task.state = PlannedState::LeftOut;
                }
                _ => {}
            }
            task.stated_deps = ids.stated_dependencies(place);
            for gone in ids.drop_gone(&mut task).into_iter().take(SHOWN_NAMES) {
                let text = format!(
                    "there is no task {}: it counts as done",
                    sanitize(&gone, 60)
                );
                report(
                    Code::GoneDependency,
                    entry.span.clone(),
                    Some(&task.id),
                    text,
                    None,
                );
            }
            if entry.is_too_deep {
                let text = format!(
                    "the subtasks of {} are too deep to be read",
                    sanitize(&task.id, 60)
                );
                report(
                    Code::TooManyTasks,
                    entry.span.clone(),
                    Some(&task.id),
                    text,
                    None,
                );
            }
            tasks.push(task);
        }
        if !ids.derive_dependencies(&mut tasks) {
            report(
                Code::TooManyDependencies,
                start..start,
                None,
                "the tasks have too many dependencies".to_owned(),
                None,
            );
        }
        if !self.has_tags && tasks.iter().all(|task| task.stated_deps.is_none()) {
            follow_priorities(&mut tasks);
        }
        for (place, open) in open_below {
            let Some(entry) = place.and_then(|place| entries.get(place)) else {
                continue;
            };
            let shown = list_some(open.iter().map(String::as_str), SHOWN_NAMES);
            let text = format!(
                "task {} is done and {} are not: they count as done",
                entry.id, shown
            );
            let help = "set its `status` to `pending` to have them done";
            report(
                Code::OpenBelowDone,
                entry.span.clone(),
                Some(&entry.id),
                sanitize(&text, 400),
                Some(help),
            );
        }
        report_needs_left_out(&tasks, &entries, &mut report);
        plan.tasks = tasks;
        plan.diagnostics.append(&mut found);
        let heads: Vec<Range<usize>> = entries.into_iter().map(|entry| entry.span).collect();
        report_task_problems(plan, &heads, |byte| lines.line_number(byte));
    }
}

fn follow_priorities(tasks: &mut [Task]) {
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by_key(|place| {
        let priority = tasks.get(*place)?.priority.as_deref();
        let number = priority.and_then(|word| word.parse::<u32>().ok());
        Some(number.unwrap_or(u32::MAX))
    });
    for (before, next) in order.iter().zip(order.iter().skip(1)) {
        let id = tasks.get(*before).map(|task| task.id.clone());
        if let Some(task) = tasks.get_mut(*next) {
            task.deps.extend(id);
        }
    }
}

/// Sink of rule, bytes, task, text and fix.
type Report<'r> = dyn FnMut(Code, Range<usize>, Option<&str>, String, Option<&str>) + 'r;

fn plan_title(file: &TasksFile<'_>) -> Option<String> {
    let described = ["meta", "metadata"]
        .iter()
        .find_map(|key| file.object(key)?.text("projectName"));
    described
        .or_else(|| file.root.text("name"))
        .map(|title| sanitize(&title, 200))
}

fn apply_status(entry: &JsonTask<'_>, word: &str, task: &mut Task, report: &mut Report<'_>) {
    let shown = sanitize(word, 40);
    task.state = parse_status(word);
    if task.state == PlannedState::LeftOut {
        let text = format!(
            "task {} is {shown}: a run leaves it out, and goes on with what needs it",
            sanitize(&task.id, 60)
        );
        let help = "set its `status` to `pending` to have it done";
        report(
            Code::TaskLeftOut,
            entry.span.clone(),
            Some(&task.id),
            text,
            Some(help),
        );
    }
    if !word.is_empty() && task.state != PlannedState::Done && !matches!(word, "pending" | "false")
    {
        task.extra.insert("Status".to_owned(), shown);
    }
}

fn report_needs_left_out(tasks: &[Task], entries: &[JsonTask<'_>], report: &mut Report<'_>) {
    let left_out: HashSet<&str> = tasks
        .iter()
        .filter(|task| task.state == PlannedState::LeftOut)
        .map(|task| task.id.as_str())
        .collect();
    for (task, entry) in tasks.iter().zip(entries) {
        if task.state != PlannedState::Open {
            continue;
        }
        let needs: Vec<&str> = task
            .deps
            .iter()
            .map(String::as_str)
            .filter(|id| left_out.contains(id))
            .collect();
        if !needs.is_empty() {
            let shown = [&task.id, &list_some(needs, SHOWN_NAMES)].map(|text| sanitize(text, 200));
            let text = format!("task {} needs what is left out: {}", shown[0], shown[1]);
            report(
                Code::TaskLeftOut,
                entry.span.clone(),
                Some(&task.id),
                text,
                None,
            );
        }
    }
}

impl JsonDialect {
    fn why_unrecognized(&self, text: &str) -> Diagnostic {
        let list = self.lists.first().copied().unwrap_or_default();
        let inner = json_text(text);
        let start = span_of(text, inner).start;
        let (at, why) = if inner.starts_with('[') {
            (
                start,
                format!("the file is a list, and no object with a list `{list}`"),
            )
        } else {
            match TasksFile::parse(text, self) {
                Ok(file) => match file.tags.iter().find_map(|tag| tag.tasks.first()) {
                    Some(first) => (
                        span_of(text, first).start,
                        format!(
                            "this item of `{list}` has no `{}`",
                            self.keys.join("` or no `")
                        ),
                    ),
                    None => (
                        start,
                        format!(
                            "the file has no list `{list}` of objects with an `id` and a `title`"
                        ),
                    ),
                },
                Err(error) => {
                    let at = line_ranges_start(inner, error.line().max(1))
                        .map_or(start, |at| start + at);
                    (at, format!("the file is not valid JSON: {error}"))
                }
            }
        };
        let code = Code::UnrecognizedFormat;
        let (severity, line) = (code.severity(), LineIndex::new(text).line_number(at));
        Diagnostic {
            code,
            severity,
            span: at..at,
            line,
            task: None,
            text: why,
            help: Some(self.form.to_owned()),
        }
    }
}

fn line_ranges_start(text: &str, line: usize) -> Option<usize> {
    line_ranges(text, 0..text.len())
        .nth(line.saturating_sub(1))
        .map(|line| line.start)
}
