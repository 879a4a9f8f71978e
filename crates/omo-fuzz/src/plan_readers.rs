//! Fuzz target: arbitrary bytes as a plan file, for the reader of each `Dialect`.

use std::collections::HashSet;

use omo_plan::dialects::{BatchOptions, PlanInput, read};
use omo_plan::id::is_id;
use omo_plan::model::{Dialect, Plan, PlannedState};

const PATHS: [&str; 14] = [
    "docs/plan.md",
    "docs/superpowers/plans/a.md",
    "specs/001-a/tasks.md",
    "openspec/changes/a/tasks.md",
    ".kiro/specs/a/tasks.md",
    ".taskmaster/tasks/tasks.json",
    ".planning/phases/01-a/01-01-PLAN.md",
    "docs/06-plans/a-plan.md",
    ".sisyphus/plans/a.md",
    "conductor/tracks/a/plan.md",
    "docs/stories/1.1.story.md",
    "agent-os/specs/a/tasks.md",
    "backlog/tasks/task-1.md",
    "prd.json",
];

/// The first byte selects the path, the rest is the content.
pub(crate) fn split_input(data: &[u8]) -> (&'static str, &[u8]) {
    let (place, bytes) = data.split_first().unwrap_or((&0, &[]));
    (
        PATHS
            .get(usize::from(*place) % PATHS.len())
            .copied()
            .unwrap_or_default(),
        bytes,
    )
}

/// Asserts, for every reader whether the path is its own or not: the same bytes give the same plan; findings point at
/// bytes and lines of the file; and the tasks of a runnable plan have unique ids, need existing tasks, and have an
/// order.
pub fn check(data: &[u8]) {
    let (path, bytes) = split_input(data);
    let plan = read(path, bytes, BatchOptions::default());
    assert_eq!(plan, read(path, bytes, BatchOptions::default()));
    let Ok(text) = std::str::from_utf8(bytes) else {
        return assert!(!plan.can_run() && plan.tasks.is_empty());
    };
    assert_sound(&plan, text);
    let input = PlanInput::new(path, text);
    for dialect in Dialect::ALL {
        let mut plan = read(path, b"", BatchOptions::default());
        plan.diagnostics.clear();
        dialect
            .rules()
            .read_plan(&input, BatchOptions::default(), &mut plan);
        assert_sound(&plan, text);
    }
}

fn assert_sound(plan: &Plan, text: &str) {
    let lines = text.split(['\n', '\r']).count();
    for found in &plan.diagnostics {
        assert!(
            text.get(found.span.clone()).is_some(),
            "{found:?} is not about bytes of the file"
        );
        assert!(found.line >= 1 && found.line <= lines, "{found:?}");
        assert!(!found.text.contains(char::is_control), "{found:?}");
    }
    for task in &plan.tasks {
        assert!(
            task.lines[0] >= 1 && task.lines[0] <= task.lines[1] && task.lines[1] <= lines,
            "{task:?}"
        );
    }
    if !plan.can_run() {
        return;
    }
    let ids: HashSet<&str> = plan.tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids.len(), plan.tasks.len(), "ids stand twice");
    for task in &plan.tasks {
        assert!(is_id(&task.id), "{:?}", task.id);
        // Finished work may name missing tasks.
        let stated = task
            .stated_deps
            .iter()
            .flatten()
            .filter(|_| task.state == PlannedState::Open);
        let needs = task.deps.iter().chain(stated);
        assert!(
            task.deps.iter().all(|id| *id != task.id),
            "{} needs itself",
            task.id
        );
        for need in needs {
            assert!(
                ids.contains(need.as_str()),
                "{} needs {need}, which is not there",
                task.id
            );
        }
    }
    assert_order(plan);
}

fn assert_order(plan: &Plan) {
    let mut left: Vec<_> = plan.tasks.iter().collect();
    while !left.is_empty() {
        let open: HashSet<&str> = left.iter().map(|task| task.id.as_str()).collect();
        let before = left.len();
        left.retain(|task| task.deps.iter().any(|id| open.contains(id.as_str())));
        assert!(left.len() < before, "tasks need each other: {open:?}");
        if plan.tasks.len() > 1_000 {
            return;
        }
    }
}
