//! Which model a worker is.

use omo_plan::model::{Task, TaskComplexity};

/// The first attempt that the stronger model takes.
const ESCALATES_AT: u32 = 3;
/// The model of most workers.
const USUAL_MODEL: &str = "sonnet";
/// The one for what is hard, and for what has failed twice.
const STRONGER_MODEL: &str = "opus";

/// The model for an attempt at a task, counted from 1. What the plan names goes before.
pub fn choose_model(task: &Task, attempt: u32) -> &str {
    let named = task.model.as_deref().filter(|model| omo_plan::id::is_id(model));
    let is_hard = task.complexity == TaskComplexity::Complex || task.is_verification();
    let stronger = is_hard || attempt >= ESCALATES_AT;
    named.unwrap_or(if stronger { STRONGER_MODEL } else { USUAL_MODEL })
}
