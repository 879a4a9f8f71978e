//! Choice of a worker's model, such as the stronger one for a hard task.

use omo_core::plan_models::SESSION_MODEL;
use omo_plan::model::{Dialect, Plan, Task, TaskComplexity};

use crate::client_policy::ClientPolicy;
use crate::execution_mode::ExecutionMode;

/// Number of the first attempt with the stronger model.
const ESCALATES_AT: u32 = 3;
/// Model of most workers of a plan whose dialect has models.
const USUAL_MODEL: &str = "sonnet";
/// Model for hard tasks, and for tasks that have failed twice.
const STRONGER_MODEL: &str = "opus";

/// Model for an `attempt`, counted from `1`; `None` for the session's own. The user's choice goes before the plan's.
pub fn choose_model<'a>(plan: &'a Plan, task: &'a Task, attempt: u32) -> Option<&'a str> {
    let models = &plan.policy.models;
    let chosen = if task.is_verification() {
        &models.verifier
    } else {
        &models.tasks
    };
    if let Some(model) = chosen {
        return (model != SESSION_MODEL).then_some(model);
    }
    let named = task
        .model
        .as_deref()
        .filter(|model| omo_plan::id::is_id(model));
    let is_hard = task.complexity == TaskComplexity::Complex || task.is_verification();
    let stronger = is_hard || attempt >= ESCALATES_AT;
    let usual = has_models(plan.dialect).then_some(if stronger {
        STRONGER_MODEL
    } else {
        USUAL_MODEL
    });
    named.or(usual)
}

fn has_models(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::DevWorkflow | Dialect::TasksJson)
}

/// Sentence about the models of a plan's workers; `None` where the session itself does the work.
pub(crate) fn model_words(
    plan: &Plan,
    mode: ExecutionMode,
    clients: &ClientPolicy,
) -> Option<String> {
    const MODEL_HINT: &str = "`--model NAME` takes another";
    match mode {
        ExecutionMode::StepByStep => None,
        ExecutionMode::Parallel => Some(format!(
            "Workers use {} ({MODEL_HINT}).",
            clients.model.as_deref().unwrap_or("your usual model")
        )),
        ExecutionMode::Batches | ExecutionMode::Waves => {
            let session_model = "this session's model";
            let task = plan.tasks.iter().find(|task| !task.is_verification());
            let tasks = task
                .and_then(|task| choose_model(plan, task, 1))
                .unwrap_or(session_model);
            let verifier = plan
                .verification_task()
                .map(|task| choose_model(plan, task, 1).unwrap_or(session_model));
            Some(match verifier.filter(|verifier| *verifier != tasks) {
                Some(verifier) => {
                    format!("Tasks go to {tasks}, the verifier is {verifier} ({MODEL_HINT}).")
                }
                None => format!("Agents use {tasks} ({MODEL_HINT})."),
            })
        }
    }
}
