//! Refusals to execute a plan: no git repository, an invalid plan, a file of another program.

use std::path::Path;

use omo_engine::projection::{self, Projection};
use omo_engine::report::dev_workflow;
use omo_engine::request::arguments::ArgumentError;
use omo_engine::state::RunState;
use omo_engine::work::PlanFile;
use omo_plan::diagnostic::{Code, Severity};
use omo_plan::dialects::command_from_file;
use omo_plan::model::{Dialect, Plan};
use omo_state::git_worktree::GitWorktree;

use crate::blocks::parts;
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::plan_findings;

pub(crate) fn require_writable_files(
    context: &CommandContext,
    dialect: Dialect,
) -> Result<(), CommandError> {
    let memory = context
        .runs
        .as_ref()
        .map(|runs| projection::memory_path(&runs.path(), &context.root))
        .unwrap_or_default();
    let projection = Projection::new(&context.root, &memory, "");
    if !projection.owns_checkpoint()? {
        let message = format!(
            "{} was left by another program",
            dev_workflow::CHECKPOINT_PATH
        );
        let hint = "`omo run import` goes on from it; to start over, remove it";
        return Err(CommandError::conflict(message, hint));
    }
    Ok(projection.require_writable(dialect)?)
}

pub(crate) fn require_repository(root: &Path) -> Result<GitWorktree, CommandError> {
    GitWorktree::find(root).ok_or_else(|| {
        let message = format!(
            "{} is not in a git repository, so what a task has changed could not be told",
            root.display()
        );
        let hint = "`git init` makes one; `omo plan show FILE` reads plans anywhere";
        CommandError::precondition(message, hint)
    })
}

pub(crate) fn invalid_plan_error(plan: &Plan, file: &PlanFile) -> CommandError {
    let errors = plan
        .diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .count();
    let shown = plan_findings::render_diagnostics(plan, file);
    let errors = if errors == 1 {
        "an error".to_owned()
    } else {
        format!("{errors} errors")
    };
    let message = format!(
        "{} has {errors}, so nothing was run\n\n{shown}",
        plan.source.path
    );
    let is_unknown = plan
        .diagnostics
        .iter()
        .any(|found| found.code == Code::UnrecognizedFormat);
    let hint = if is_unknown {
        format!(
            "`{}` turns the file into a task list",
            command_from_file(&plan.source.path)
        )
    } else {
        format!(
            "fix the plan; `omo plan lint {}` shows all of this again",
            plan.source.path
        )
    };
    CommandError::invalid_plan(message, hint)
}

pub(crate) fn argument_error(error: ArgumentError) -> CommandError {
    let ArgumentError {
        message,
        hint,
        is_missing,
    } = error;
    if is_missing {
        CommandError::not_found(message, hint)
    } else {
        CommandError::usage(message, hint)
    }
}

pub(crate) fn other_mode_error(id: &str, state: &RunState) -> CommandError {
    let message = format!(
        "the run {id} of {} is open, and runs {}",
        parts::run_subject(state),
        state.mode.words()
    );
    CommandError::busy(
        message,
        "without another mode this goes on with it; `omo run cancel` ends it first",
    )
}
