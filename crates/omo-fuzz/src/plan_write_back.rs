//! A `PlanChange` for a passed task.

use omo_plan::dialects::{BatchOptions, PlanChange, read};
use omo_plan::model::{Plan, PlannedState, Task};

use crate::plan_readers::split_input;

const MOST_TASKS: usize = 8;

/// A passed `Task` is done in the file, which has as many lines as before and differs in the mark only; a second write
/// changes nothing.
pub fn check(data: &[u8]) {
    let (path, bytes) = split_input(data);
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let plan = read(path, bytes, BatchOptions::default());
    if !plan.can_run() {
        return;
    }
    for task in plan
        .tasks
        .iter()
        .filter(|task| task.state == PlannedState::Open)
        .take(MOST_TASKS)
    {
        let change = PlanChange::Done { task: &task.id };
        let Some(changed) = plan.dialect.rules().write_back(text, &change) else {
            continue;
        };
        let after = read(path, changed.as_bytes(), BatchOptions::default());
        assert_eq!(after.dialect, plan.dialect);
        assert!(after.can_run(), "{:?}", after.diagnostics);
        assert_eq!(after.tasks.len(), plan.tasks.len());
        for (before, after) in plan.tasks.iter().zip(&after.tasks) {
            let expected = if before.id == task.id {
                PlannedState::Done
            } else {
                before.state
            };
            // Tasks below a finished one count as done.
            let is_below = before
                .id
                .strip_prefix(&task.id)
                .is_some_and(|rest| rest.starts_with('.'));
            assert!(
                after.state == expected || is_below,
                "{} by {}",
                before.id,
                task.id
            );
            // Finished work may need nothing any more.
            let needs = |task: &Task| {
                if after.state == PlannedState::Open {
                    task.deps.clone()
                } else {
                    Vec::new()
                }
            };
            assert_eq!(
                (without_state(before), needs(before)),
                (without_state(after), needs(after))
            );
        }
        differs_in_marks(text, &changed, &plan);
        assert_eq!(
            plan.dialect
                .rules()
                .write_back(&changed, &change)
                .as_deref(),
            Some(changed.as_str())
        );
    }
}

fn without_state(task: &Task) -> Task {
    let mut task = Task {
        state: PlannedState::Open,
        body: String::new(),
        body_sha256: String::new(),
        deps: Vec::new(),
        ..task.clone()
    };
    task.extra.remove("Status");
    // A line of its own for the status moves the following ones.
    task.lines = [1, 1];
    task
}

/// The rest of both texts without the common prefix and suffix is small: marks of boxes, or a status.
fn differs_in_marks(before: &str, after: &str, plan: &Plan) {
    let is_status = ["task-master", "ralph", "backlog"].contains(&plan.dialect.word());
    let rows = |text: &str| text.split('\n').map(str::to_owned).collect::<Vec<_>>();
    let (before, after) = (rows(before), rows(after));
    if before.len() != after.len() {
        assert_eq!((before.len() + 1, is_status), (after.len(), true));
        return;
    }
    for (before, after) in before
        .iter()
        .zip(&after)
        .filter(|(before, after)| before != after)
    {
        let kept = before.len().min(after.len());
        let start = before
            .bytes()
            .zip(after.bytes())
            .take_while(|(one, other)| one == other)
            .count();
        let end = before
            .bytes()
            .rev()
            .zip(after.bytes().rev())
            .take_while(|(one, other)| one == other)
            .count();
        let is_mark = after.get(start..).is_some_and(|rest| rest.starts_with('x'));
        assert!(
            is_status || is_mark && start + end + 4 >= kept || before.contains('\r'),
            "{before:?} to {after:?}"
        );
    }
}
