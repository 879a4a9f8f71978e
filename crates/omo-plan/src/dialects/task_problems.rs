//! Checks the tasks of any plan: unique ids, known dependencies without cycles, paths in the repository.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use omo_core::text::sanitize;

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::fields::named_files::path_problem;
use crate::id::{MAX_ID_BYTES, is_id};
use crate::model::{MAX_PLAN_TASKS, Plan, PlannedState, Task};
use crate::task_graph;

const MAX_FINDINGS: usize = 1000;
const SHOWN_BYTES: usize = 60;

/// Adds diagnostics to `plan`. `heads` are the bytes of each task's first line; `line_of` counts
/// from 1.
pub(crate) fn report_task_problems(
    plan: &mut Plan,
    heads: &[Range<usize>],
    line_of: impl Fn(usize) -> usize,
) {
    let mut problems = TaskProblems {
        tasks: &plan.tasks,
        heads,
        line_of,
        found: Vec::new(),
    };
    if plan.tasks.len() > MAX_PLAN_TASKS {
        // Tasks behind the limit may be unread, so that needs cannot be checked.
        let text = format!(
            "the plan has more than {MAX_PLAN_TASKS} tasks, which is all that a run can have"
        );
        problems.report(MAX_PLAN_TASKS, Code::TooManyTasks, text);
        let mut found = problems.found;
        plan.diagnostics.append(&mut found);
        return;
    }
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (place, task) in plan.tasks.iter().enumerate() {
        let first = *places.entry(&task.id).or_insert(place);
        if !is_id(&task.id) {
            let shown = sanitize(&task.id, SHOWN_BYTES);
            let text = format!(
                "`{shown}` is not the id of a task: that is a letter or digit, then up to {} of letters, digits, `.`, `_` and `-`",
                MAX_ID_BYTES - 1
            );
            problems.report(place, Code::InvalidId, text);
        } else if first != place {
            let line = heads
                .get(first)
                .map_or(1, |head| (problems.line_of)(head.start));
            problems.report(
                place,
                Code::DuplicateId,
                format!("task {} stands on line {line} already", task.id),
            );
        }
        for (code, text) in task
            .files
            .iter()
            .filter_map(|file| path_problem(&file.path))
        {
            problems.report(place, code, text);
        }
    }
    let needs: Vec<Vec<usize>> = plan
        .tasks
        .iter()
        .map(|task| {
            task.deps
                .iter()
                .filter_map(|id| places.get(id.as_str()).copied())
                .collect()
        })
        .collect();
    for (place, task) in plan.tasks.iter().enumerate() {
        for id in &task.deps {
            let shown = sanitize(id, SHOWN_BYTES);
            match places.get(id.as_str()) {
                None => problems.report(
                    place,
                    Code::UnknownDependency,
                    format!("there is no task {shown}"),
                ),
                Some(need) if *need == place => {
                    problems.report(
                        place,
                        Code::SelfDependency,
                        format!("task {shown} depends on itself"),
                    );
                }
                Some(_) => {}
            }
        }
    }
    let circle = task_graph::order_by_needs(&needs).err();
    let is_harmless = circle.is_some() && {
        let open_needs: Vec<Vec<usize>> = needs
            .iter()
            .enumerate()
            .map(|(place, own)| {
                if problems.is_finished(place) {
                    Vec::new()
                } else {
                    own.clone()
                }
            })
            .collect();
        task_graph::order_by_needs(&open_needs).is_ok()
    };
    if let Some(circle) = &circle {
        let names = circle
            .iter()
            .filter_map(|place| plan.tasks.get(*place))
            .map(|task: &Task| task.id.as_str());
        let text = format!(
            "tasks depend on each other in a circle: {}",
            task_graph::circle_words(names)
        );
        problems.report(circle.first().copied().unwrap_or(0), Code::Cycle, text);
    }
    let mut found = problems.found;
    let ids: HashSet<String> = plan.tasks.iter().map(|task| task.id.clone()).collect();
    for task in plan
        .tasks
        .iter_mut()
        .filter(|task| task.state != PlannedState::Open)
    {
        task.deps
            .retain(|id| !is_harmless && ids.contains(id) && *id != task.id);
    }
    let circles = found
        .iter_mut()
        .filter(|found| is_harmless && found.code == Code::Cycle);
    circles.for_each(|found| found.severity = Severity::Warning);
    plan.diagnostics.append(&mut found);
}

struct TaskProblems<'p, F> {
    tasks: &'p [Task],
    heads: &'p [Range<usize>],
    line_of: F,
    found: Vec<Diagnostic>,
}

impl<F: Fn(usize) -> usize> TaskProblems<'_, F> {
    fn report(&mut self, place: usize, code: Code, text: String) {
        if self.found.len() >= MAX_FINDINGS {
            return;
        }
        let severity = match code {
            Code::UnknownDependency | Code::SelfDependency if self.is_finished(place) => {
                Severity::Warning
            }
            _ => code.severity(),
        };
        let span = self.heads.get(place).cloned().unwrap_or(0..0);
        self.found.push(Diagnostic {
            code,
            severity,
            line: (self.line_of)(span.start),
            span,
            task: self.tasks.get(place).map(|task| task.id.clone()),
            text,
            help: None,
        });
    }

    fn is_finished(&self, place: usize) -> bool {
        self.tasks
            .get(place)
            .is_some_and(|task| task.state != PlannedState::Open)
    }
}
