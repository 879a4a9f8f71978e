//! The scope of a run: the requested part of a plan, and the mode.

use omo_plan::model::{GroupIsolation, Parallelism, Plan, RunPolicy, TaskGroup};
use serde::{Deserialize, Serialize};

use super::arguments::{PlanSelection, RunMode, RunRequest};
use crate::request::part;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunScope {
    pub mode: RunMode,
    pub selection: PlanSelection,
    /// The whole plan runs in the user's session, whatever its Execution Strategy says.
    #[serde(default)]
    pub is_foreground: bool,
    /// Number of steps of the whole plan, if known: the run itself has only those of its part.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub total_tasks: Option<usize>,
}

impl From<&RunRequest> for RunScope {
    fn from(request: &RunRequest) -> Self {
        let RunRequest {
            selection: part,
            is_foreground,
            ..
        } = *request;
        Self {
            mode: request.mode(),
            selection: part,
            is_foreground,
            total_tasks: None,
        }
    }
}

impl RunScope {
    /// Text such as `session 2` or `dry-run`.
    pub fn describe(self) -> String {
        let number = self
            .selection
            .session_or_task_number()
            .map(|number| format!(" {number}"))
            .unwrap_or_default();
        match self.mode {
            RunMode::Step | RunMode::Session => format!("{}{number}", self.mode.word()),
            mode => mode.word().to_owned(),
        }
    }

    /// The plan with the selected steps alone, without dependencies on others, and with checks of
    /// the whole only for the whole plan. Other readings are narrowed likewise.
    pub fn narrow_plan(self, plan: Plan) -> Plan {
        let selected: Vec<String> = part::selected_tasks(&plan, self.selection)
            .into_iter()
            .map(|task| task.id.clone())
            .collect();

        let is_whole = self.selection == PlanSelection::Whole;
        let in_one_tree = !is_whole
            || !omo_plan::strategy::RunStrategy::for_plan(&plan).starts_clients()
            || self.is_foreground;
        let mut plan = plan;
        plan.tasks.retain(|task| selected.contains(&task.id));
        plan.refused_checks
            .retain(|refused| refused.task.as_ref().is_none_or(|id| selected.contains(id)));
        for task in &mut plan.tasks {
            task.deps.retain(|id| selected.contains(id));
        }
        for group in &mut plan.groups {
            group.tasks.retain(|id| selected.contains(id));
        }
        plan.groups.retain(|group| !group.tasks.is_empty());
        if in_one_tree {
            plan.groups = plan
                .groups
                .into_iter()
                .map(|group| TaskGroup {
                    wave: 0,
                    deps: Vec::new(),
                    isolation: GroupIsolation::Shared,
                    ..group
                })
                .collect();
            plan.policy = RunPolicy {
                parallel: Parallelism::None,
                ..plan.policy
            };
        }
        if !is_whole {
            plan.final_checks.clear();
        }
        plan
    }
}
