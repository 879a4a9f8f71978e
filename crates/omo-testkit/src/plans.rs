//! Plans, and what happens in runs of them, for tests of what is done with a plan once it was read.

use omo_core::timestamp::Timestamp;
use omo_engine::event::EventKind;
use omo_plan::model::{Dialect, Plan, PlanSource, RunPolicy, Task};

/// A plan with these tasks, each with what it depends on.
pub fn plan(tasks: &[(&str, &[&str])]) -> Plan {
    let source = PlanSource::new("docs/plan.md", "0".repeat(64), 1);
    Plan {
        title: "A plan".to_owned(),
        tasks: tasks.iter().map(|(id, deps)| task(id, deps)).collect(),
        policy: RunPolicy {
            batch_size: 5,
            hub_dependents: 3,
            ..RunPolicy::default()
        },
        ..Plan::new(Dialect::DevWorkflow, source)
    }
}

fn task(id: &str, deps: &[&str]) -> Task {
    Task {
        deps: deps.iter().map(|dep| (*dep).to_owned()).collect(),
        body_sha256: "0".repeat(64),
        ..Task::new(id, format!("Unit {id}"))
    }
}

/// The event that opens a run of a plan.
pub fn run_opened(plan: Plan) -> EventKind {
    EventKind::RunOpened {
        plan: Box::new(plan),
        approved: "0".repeat(64),
        root: "/p".to_owned(),
        worktree: None,
        base: None,
        branch: None,
        scope: None,
        mode: None,
        guard: None,
    }
}

/// An event that can happen at any time, and that tells itself from others.
pub fn marker_event(name: &str) -> EventKind {
    EventKind::ProjectionChanged {
        file: name.to_owned(),
        backup: None,
    }
}

/// A time, so many seconds after another.
pub fn time(seconds: u64) -> Timestamp {
    Timestamp::from_millis(1_780_000_000_000 + i64::try_from(seconds).unwrap_or(0) * 1_000)
}
