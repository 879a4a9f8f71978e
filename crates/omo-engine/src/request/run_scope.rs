//! How much of a plan a run was asked for, and in which way: what of the plan it is bound to.

use omo_plan::model::{GroupIsolation, Parallelism, Plan, RunPolicy, TaskGroup};
use serde::{Deserialize, Serialize};

use super::arguments::{PlanSelection, RunMode, RunRequest};
use crate::request::part;

/// How much of a plan was asked for, and in which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunScope {
    /// In which way.
    pub mode: RunMode,
    /// How much of it.
    pub selection: PlanSelection,
    /// All of it is done where the user is, whatever its Execution Strategy says.
    #[serde(default)]
    pub is_foreground: bool,
    /// How many steps the whole plan has, where it is known: the run itself has only those of its part.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub total_tasks: Option<usize>,
}

impl From<&RunRequest> for RunScope {
    fn from(request: &RunRequest) -> Self {
        let RunRequest { selection: part, is_foreground, .. } = *request;
        Self { mode: request.mode(), selection: part, is_foreground, total_tasks: None }
    }
}

impl RunScope {
    /// In which way, with the number that belongs to it.
    pub fn describe(self) -> String {
        let number = self.selection.session_or_task_number().map(|number| format!(" {number}")).unwrap_or_default();
        match self.mode {
            RunMode::Step | RunMode::Session => format!("{}{number}", self.mode.word()),
            mode => mode.word().to_owned(),
        }
    }

    /// What a run that was asked for like this is bound to: the steps of its part alone, which wait for nothing outside
    /// of it, and no checks of the whole where it is not the whole. Other readings of the plan's file are compared after
    /// they were made the same way.
    pub fn narrow_plan(self, plan: Plan) -> Plan {
        let meant: Vec<String> =
            part::selected_tasks(&plan, self.selection).into_iter().map(|task| task.id.clone()).collect();
        let is_meant = |id: &String| meant.contains(id);
        let is_whole = self.selection == PlanSelection::Whole;
        let in_one_tree =
            !is_whole || !omo_plan::strategy::RunStrategy::for_plan(&plan).starts_clients() || self.is_foreground;
        let mut plan = plan;
        plan.tasks.retain(|task| is_meant(&task.id));
        plan.refused_checks.retain(|refused| refused.task.as_ref().is_none_or(is_meant));
        for task in &mut plan.tasks {
            task.deps.retain(is_meant);
        }
        for group in &mut plan.groups {
            group.tasks.retain(is_meant);
        }
        plan.groups.retain(|group| !group.tasks.is_empty());
        if in_one_tree {
            let alone =
                |group: TaskGroup| TaskGroup { wave: 0, deps: Vec::new(), isolation: GroupIsolation::Shared, ..group };
            plan.groups = plan.groups.into_iter().map(alone).collect();
            plan.policy = RunPolicy { parallel: Parallelism::None, ..plan.policy };
        }
        if !is_whole {
            plan.final_checks.clear();
        }
        plan
    }
}
