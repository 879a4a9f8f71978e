//! Order of a plan's tasks in a run: needs first, else as in the file.

use crate::batches::task_outline::{MAX_FINDINGS_OF_A_KIND, TaskOutline, task_diagnostic};
use crate::diagnostic::{Code, Diagnostic};
use crate::task_graph;

/// A task, or a pair: its `-tests` half, and then its `-impl` half.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    first: usize,
    second: Option<usize>,
}

impl Unit {
    /// Indices in the order of a run.
    pub(super) fn positions(self) -> impl Iterator<Item = usize> {
        std::iter::once(self.first).chain(self.second)
    }

    pub(super) fn len(self) -> usize {
        1 + usize::from(self.second.is_some())
    }
}

/// Tasks in the order of a run; `None` for a circle or a duplicate id, which is reported.
pub(super) fn order_tasks(
    outline: &TaskOutline<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Vec<Unit>> {
    let (units, unit_of) = pair_tasks(outline);
    let needs = collect_needs(outline, &unit_of, diagnostics)?;
    let order = match task_graph::order_by_needs(&needs) {
        Ok(order) => order,
        Err(circle) => {
            diagnostics.push(report_cycle(outline, &units, &circle));
            return None;
        }
    };
    report_reordered(outline, &units, &order, diagnostics);
    Some(
        order
            .into_iter()
            .filter_map(|unit| units.get(unit).copied())
            .collect(),
    )
}

fn pair_tasks(outline: &TaskOutline<'_>) -> (Vec<Unit>, Vec<usize>) {
    let mut units: Vec<Unit> = Vec::with_capacity(outline.tasks.len());
    let mut unit_of = vec![0; outline.tasks.len()];
    for (place, task) in outline.tasks.iter().enumerate() {
        let other = task
            .other_half()
            .and_then(|id| outline.positions.get(id.as_str()).copied());
        let unit = match other {
            Some(other) if other < place => unit_of.get(other).copied().unwrap_or(0),
            _ => units.len(),
        };
        if let Some(slot) = unit_of.get_mut(place) {
            *slot = unit;
        }
        match units.get_mut(unit) {
            // The half that stands first in the file is known already.
            Some(pair) if task.is_tests() => {
                *pair = Unit {
                    first: place,
                    second: Some(pair.first),
                }
            }
            Some(pair) => pair.second = Some(place),
            None => units.push(Unit {
                first: place,
                second: None,
            }),
        }
    }
    (units, unit_of)
}

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
                let text = format!(
                    "task {} depends on {after}, which is written after it",
                    task.id
                );
                diagnostics.push(task_diagnostic(Some(task), Code::Cycle, text));
                is_sound = false;
            }
        }
    }
    is_sound.then_some(needs)
}

fn report_cycle(outline: &TaskOutline<'_>, units: &[Unit], circle: &[usize]) -> Diagnostic {
    let names: Vec<String> = circle
        .iter()
        .map(|unit| {
            let places = units
                .get(*unit)
                .into_iter()
                .flat_map(|unit| unit.positions());
            places
                .filter_map(|place| outline.tasks.get(place))
                .map(|task| task.id)
                .collect::<Vec<_>>()
                .join("/")
        })
        .collect();
    let words = task_graph::circle_words(names.iter().map(String::as_str));
    let text = format!("tasks depend on each other in a circle: {words}");
    let first = circle
        .first()
        .and_then(|unit| outline.tasks.get(units.get(*unit)?.first));
    task_diagnostic(first, Code::Cycle, text)
}

fn report_reordered(
    outline: &TaskOutline<'_>,
    units: &[Unit],
    order: &[usize],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut highest = 0;
    let mut late_units = Vec::new();
    for unit in order {
        if *unit < highest {
            late_units.extend(units.get(*unit));
        }
        highest = highest.max(*unit);
    }
    let places = late_units.into_iter().flat_map(Unit::positions);
    let tasks = places.filter_map(|place| outline.tasks.get(place));
    for task in tasks.take(MAX_FINDINGS_OF_A_KIND) {
        let text = format!(
            "task {} is run after what it depends on, later than it stands here",
            task.id
        );
        diagnostics.push(task_diagnostic(Some(task), Code::Reordered, text));
    }
}
