//! Texts of an ultraplan's run (briefs, prompts, reports), made from [`RunState`] alone and never read back.

pub mod brief;
pub mod dry_run;
pub mod final_report;
pub mod remote_prompt;
pub mod task_lines;
pub mod worker_lines;
pub mod worker_prompt;

use omo_plan::model::OnFailure;

use omo_plan::dialects::PlanKind;
use omo_plan::model::Plan;

use crate::request::arguments::{PlanSelection, RunMode};
use crate::state::RunState;

pub use crate::request::run_scope::RunScope;

pub const EXECUTE_LOCAL: &str = "/omo:execute-local";

pub fn command_for(plan: &Plan) -> &'static str {
    if plan.dialect.kind() == PlanKind::Steps {
        EXECUTE_LOCAL
    } else {
        "/omo:execute"
    }
}

pub fn scope_of(state: &RunState) -> RunScope {
    state.scope.unwrap_or(RunScope {
        mode: RunMode::Execute,
        selection: PlanSelection::Whole,
        is_foreground: false,
        total_tasks: None,
    })
}

fn on_failure_word(on_failure: OnFailure) -> &'static str {
    match on_failure {
        OnFailure::Revert => "revert",
        OnFailure::Retry => "retry",
        OnFailure::Skip => "skip",
        OnFailure::Escalate => "escalate",
        OnFailure::Hold => "hold",
    }
}

pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

pub fn short_commit(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}
