//! The mode that a plan asks for, and the reason.

use omo_plan::model::{Plan, Precondition};
use omo_plan::plan_summary::session_groups;
use omo_plan::strategy::RunStrategy;

use super::ExecutionMode;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeChoice {
    pub mode: ExecutionMode,
    pub reason: String,
}

/// The mode by the plan: parallel for sessions, batches for stops, waves for dependencies.
pub fn choose(plan: &Plan) -> ModeChoice {
    let (mode, reason) = if RunStrategy::for_plan(plan).starts_clients() {
        let count = session_groups(plan).count();
        (
            ExecutionMode::Parallel,
            format!("an Execution Strategy with {count} sessions"),
        )
    } else if plan.tasks.iter().any(|task| task.stop_after) {
        (
            ExecutionMode::Batches,
            "tasks with stops after them".to_owned(),
        )
    } else if plan
        .preconditions
        .iter()
        .any(|known| matches!(known, Precondition::Decision(_)))
    {
        (ExecutionMode::Batches, "decisions to take".to_owned())
    } else if plan.dialect.rules().states_dependencies(plan) {
        (ExecutionMode::Waves, "tasks with dependencies".to_owned())
    } else {
        (
            ExecutionMode::Batches,
            format!("{}s without dependencies", plan.dialect.unit_word()),
        )
    };
    ModeChoice { mode, reason }
}

impl ModeChoice {
    /// Text such as `p.md: decisions to take, run in batches; --waves or … choose another way`.
    pub fn line(&self, name: &str) -> String {
        let modes = [
            ExecutionMode::Batches,
            ExecutionMode::Waves,
            ExecutionMode::Parallel,
        ];
        let others: Vec<&str> = modes
            .into_iter()
            .filter(|mode| *mode != self.mode)
            .map(ExecutionMode::option)
            .collect();
        format!(
            "{name}: {}, run {}; {} choose another way",
            self.reason,
            self.mode.words(),
            others.join(" or ")
        )
    }
}
