//! A plan file: Markdown from any author.

use std::collections::BTreeSet;

use omo_plan::batches::{PlanBatches, compute_batches};
use omo_plan::dialects::{BatchOptions, PlanChange, read};
use omo_plan::id::is_id;
use omo_plan::model::{Dialect, Plan, Precondition};

/// Any file is a `Plan` or has a reason against it; a runnable plan has an order that keeps its promises; shown text
/// moves no terminal; and the same file gives the same result.
pub fn check(data: &[u8]) {
    let size = usize::from(data.first().copied().unwrap_or(5) % 7);
    let computed = compute_batches(data, 3, size);
    in_order(&computed, size.max(1));
    let plan = read(
        "docs/plan.md",
        data,
        BatchOptions {
            k: 3,
            batch_size: size,
        },
    );
    assert_eq!(plan.can_run(), !has_errors(&plan), "{:?}", plan.diagnostics);
    let batches: Vec<_> = plan.groups.iter().map(|group| &group.tasks).collect();
    let has_batches = plan.dialect == Dialect::DevWorkflow && !plan.tasks.is_empty();
    assert!(
        !has_batches
            || batches
                .iter()
                .eq(computed.batches.iter().collect::<Vec<_>>().iter())
    );
    assert!(
        plan.tasks
            .iter()
            .all(|task| is_id(&task.id) && task.lines[0] <= task.lines[1])
    );
    match std::str::from_utf8(data) {
        Ok(text) => of_a_text(text, &plan),
        Err(_) => assert!(!plan.can_run() && plan.tasks.is_empty()),
    }
    assert_eq!(
        read(
            "docs/plan.md",
            data,
            BatchOptions {
                k: 3,
                batch_size: size
            }
        ),
        plan
    );
}

fn has_errors(plan: &Plan) -> bool {
    plan.diagnostics
        .iter()
        .any(|found| format!("{:?}", found.severity) == "Error")
}

fn in_order(computed: &PlanBatches<'_>, size: usize) {
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for batch in &computed.batches {
        let is_pair = batch.len() == 2 && batch.first().is_some_and(|id| id.ends_with("-tests"));
        assert!(
            !batch.is_empty() && (batch.len() <= size || is_pair),
            "{batch:?}"
        );
        for id in batch {
            let task = computed.tasks.iter().find(|task| task.id == *id);
            let needs = task
                .map(|task| task.depends_on.as_slice())
                .unwrap_or_default();
            assert!(
                needs.iter().all(|need| done.contains(*need)),
                "{id} before {needs:?}"
            );
            assert!(done.insert(id), "{id} stands twice");
        }
    }
    assert!(
        computed.batches.is_empty() || done.len() == computed.total,
        "a task is in no batch"
    );
    assert_eq!(
        computed.hard_stops.first(),
        computed.batches.first().map(|_| &0)
    );
}

fn of_a_text(text: &str, plan: &Plan) {
    for found in &plan.diagnostics {
        assert!(
            text.get(found.span.clone()).is_some(),
            "{found:?} is not about bytes of the file"
        );
        assert!(
            found.line >= 1 && found.line <= text.split(['\n', '\r']).count(),
            "{found:?}"
        );
        assert!(!found.text.contains(char::is_control), "{found:?}");
    }
    for task in &plan.tasks {
        assert!(
            text.contains(&task.body),
            "{} is not as it stands in the file",
            task.id
        );
    }
    for precondition in &plan.preconditions {
        if let Precondition::Decision(decision) = precondition {
            let change = PlanChange::Choice {
                decision,
                option: "A",
            };
            let changed = plan.dialect.rules().write_back(text, &change);
            let is_changed = changed.is_some_and(|changed| changed != *text);
            assert_eq!(decision.choice_range.is_some(), is_changed, "{decision:?}");
        }
    }
}
