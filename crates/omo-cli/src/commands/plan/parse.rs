//! `omo plan parse`: a plan as JSON.

use std::collections::HashSet;

use omo_plan::model::{Plan, Task};
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::output::print_json;

/// Prints a plan as in the ledger, tasks in the order of the file, stated dependencies apart from derived ones.
pub(super) fn print_plan(mut plan: Plan) -> Result<(), CommandError> {
    plan.tasks.sort_by_key(|task| task.lines);
    let mut value = serde_json::to_value(&plan).map_err(|error| {
        CommandError::io(
            format!("the plan cannot be written as JSON: {error}"),
            "please report this, with the plan",
        )
    })?;
    let shown = value.get_mut("tasks").and_then(Value::as_array_mut);
    for (shown, task) in shown.into_iter().flatten().zip(&plan.tasks) {
        if let Some(fields) = shown.as_object_mut() {
            fields.remove("deps");
            fields.remove("stated_deps");
            fields.insert("depends_on".to_owned(), json!(task.stated_deps));
            fields.insert(
                "derived_depends_on".to_owned(),
                json!(derived_dependencies(task)),
            );
        }
    }
    print_json(&value)
}

fn derived_dependencies(task: &Task) -> Vec<&str> {
    let stated: HashSet<&str> = task
        .stated_deps
        .iter()
        .flatten()
        .map(String::as_str)
        .collect();
    task.deps
        .iter()
        .map(String::as_str)
        .filter(|id| !stated.contains(id))
        .collect()
}
