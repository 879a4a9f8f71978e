//! The order of a plan's tasks: what is needed before what needs it, and else as in the file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::batches::task_outline::{MAX_FINDINGS_OF_A_KIND, TaskOutline, task_diagnostic};
use crate::diagnostic::{Code, Diagnostic};

/// So many members of a circle are named.
const SHOWN: usize = 12;

/// What is done as one: a task, or the two halves of a pair.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    /// The place in the file of what is done first.
    first: usize,
    second: Option<usize>,
}

impl Unit {
    /// The places of its tasks in the file, in the order in which they are done.
    pub(super) fn positions(self) -> impl Iterator<Item = usize> {
        std::iter::once(self.first).chain(self.second)
    }

    /// How many tasks it has.
    pub(super) fn len(self) -> usize {
        1 + usize::from(self.second.is_some())
    }
}

/// The tasks in the order in which they are run. `None` where there is no order, and what stands in its way is
/// reported.
pub(super) fn order_tasks(outline: &TaskOutline<'_>, diagnostics: &mut Vec<Diagnostic>) -> Option<Vec<Unit>> {
    let (tasks, unit_of) = pair_tasks(outline);
    let needs = collect_needs(outline, &unit_of, diagnostics)?;
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); tasks.len()];
    let mut open: Vec<usize> = needs.iter().map(Vec::len).collect();
    for (task, needs) in needs.iter().enumerate() {
        for need in needs {
            needed_by.get_mut(*need)?.push(task);
        }
    }
    let is_free = |(task, open): (usize, &usize)| (*open == 0).then_some(Reverse(task));
    // Of what can be run, what stands first in the file.
    let mut free: BinaryHeap<Reverse<usize>> = open.iter().enumerate().filter_map(is_free).collect();
    let mut order = Vec::with_capacity(tasks.len());
    while let Some(Reverse(task)) = free.pop() {
        order.push(task);
        for dependent in needed_by.get(task)? {
            let open = open.get_mut(*dependent)?;
            *open -= 1;
            if *open == 0 {
                free.push(Reverse(*dependent));
            }
        }
    }
    if order.len() < tasks.len() {
        diagnostics.push(report_cycle(outline, &tasks, &needs, &open));
        return None;
    }
    report_reordered(outline, &tasks, &order, diagnostics);
    Some(order.into_iter().filter_map(|task| tasks.get(task).copied()).collect())
}

/// The tasks in the order of the file, and the task of each task.
fn pair_tasks(outline: &TaskOutline<'_>) -> (Vec<Unit>, Vec<usize>) {
    let mut units: Vec<Unit> = Vec::with_capacity(outline.tasks.len());
    let mut unit_of = vec![0; outline.tasks.len()];
    for (place, task) in outline.tasks.iter().enumerate() {
        let other = task.other_half().and_then(|id| outline.positions.get(id.as_str()).copied());
        let unit = match other {
            Some(other) if other < place => unit_of.get(other).copied().unwrap_or(0),
            _ => units.len(),
        };
        if let Some(slot) = unit_of.get_mut(place) {
            *slot = unit;
        }
        match units.get_mut(unit) {
            // The half that stands first in the file is there already.
            Some(pair) if task.is_tests() => *pair = Unit { first: place, second: Some(pair.first) },
            Some(pair) => pair.second = Some(place),
            None => units.push(Unit { first: place, second: None }),
        }
    }
    (units, unit_of)
}

/// The tasks that each task needs, each once for every task that names one.
fn collect_needs(
    outline: &TaskOutline<'_>,
    unit_of: &[usize],
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Vec<Vec<usize>>> {
    let mut needs = vec![Vec::new(); unit_of.iter().max().map_or(0, |last| last + 1)];
    let mut is_sound = true;
    for (task, unit) in outline.tasks.iter().zip(unit_of) {
        for place in &task.depends_on {
            let need = *unit_of.get(*place)?;
            if need != *unit {
                needs.get_mut(*unit)?.push(need);
            } else if task.is_tests() {
                let after = outline.tasks.get(*place).map_or("", |after| after.id);
                let text = format!("task {} depends on {after}, which is written after it", task.id);
                diagnostics.push(task_diagnostic(Some(task), Code::Cycle, text));
                is_sound = false;
            }
        }
    }
    is_sound.then_some(needs)
}

/// One circle of those that wait for each other. Each task that is open waits for one that is open.
fn report_cycle(outline: &TaskOutline<'_>, units: &[Unit], needs: &[Vec<usize>], open: &[usize]) -> Diagnostic {
    let is_open = |unit: &usize| open.get(*unit).is_some_and(|open| *open > 0);
    let mut seen = vec![None; units.len()];
    let mut path: Vec<usize> = Vec::new();
    let mut at = (0..units.len()).find(is_open);
    while let Some(unit) = at {
        match seen.get_mut(unit) {
            Some(slot @ None) => *slot = Some(path.len()),
            Some(Some(first)) => {
                path.drain(..*first);
                break;
            }
            None => break,
        }
        path.push(unit);
        at = needs.get(unit).and_then(|needs| needs.iter().copied().find(is_open));
    }
    let name = |unit: &usize| {
        let places = units.get(*unit).into_iter().flat_map(|unit| unit.positions());
        places.filter_map(|place| outline.tasks.get(place)).map(|task| task.id).collect::<Vec<_>>().join("/")
    };
    let mut names: Vec<String> = path.iter().take(SHOWN).map(name).collect();
    if path.len() > SHOWN {
        names.push("…".to_owned());
    }
    names.extend(path.first().map(name));
    let text = format!("tasks depend on each other in a circle: {}", names.join(" → "));
    let first = path.first().and_then(|unit| outline.tasks.get(units.get(*unit)?.first));
    task_diagnostic(first, Code::Cycle, text)
}

/// Tells what is run after something that stands behind it.
fn report_reordered(outline: &TaskOutline<'_>, units: &[Unit], order: &[usize], diagnostics: &mut Vec<Diagnostic>) {
    let mut last = 0;
    let late = order.iter().filter(|unit| {
        last = last.max(**unit);
        **unit < last
    });
    let places = late.filter_map(|unit| units.get(*unit)).flat_map(|unit| unit.positions());
    let tasks = places.filter_map(|place| outline.tasks.get(place));
    for task in tasks.take(MAX_FINDINGS_OF_A_KIND) {
        let text = format!("task {} is run after what it depends on, later than it stands here", task.id);
        diagnostics.push(task_diagnostic(Some(task), Code::Reordered, text));
    }
}
