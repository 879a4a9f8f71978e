//! `omo run import`: opens a run that continues from the checkpoint file of another program.

use std::path::Path;

use clap::Args;
use omo_core::text::sanitize;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::modes::{ModeOptions, arranged};
use omo_engine::program_files::execute_plan_checkpoint;
use omo_engine::report::dev_workflow;
use omo_engine::request::arguments::PlanSelection;
use omo_engine::work::PlanFile;
use omo_engine::{RunStore, import as imports};
use omo_plan::dialects::BatchOptions;
use omo_state::env::ProcessEnv;
use omo_state::files::project_file::ProjectFile;

use crate::blocks;
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::execute::approval::{ApprovalRequest, approve_plan};
use crate::execute::open_run::{OpenedPlan, record_opening};
use crate::execute::plan_file::require_part;
use crate::execute::print_then_next;
use crate::execute::refusals;
use crate::execute::request::{ExecuteCommand, ExecuteRequest, RequestedPlan};
use crate::process_paths::current_folder;

const HELP: &str = "\
Example:
  omo run import .claude/execute-plan-checkpoint.json

What it says is done counts as a claim: no check was seen to be green.";

/// Go on from the checkpoint that another program left
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct ImportOptions {
    /// The checkpoint; the plan is the one that it names
    #[arg(default_value = ".claude/execute-plan-checkpoint.json")]
    pub file: String,
    /// Approve the commands of the plan without a terminal: the digest that was shown
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<String>,
}

pub(crate) fn run(env: &ProcessEnv, options: &ImportOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let path = current_folder()?.join(&options.file);
    let shown = sanitize(&options.file, 200);
    let bytes = match omo_engine::work::read_plan_bytes(&path) {
        Err(omo_engine::work::PlanFileError::Missing(_)) => {
            return Err(CommandError::not_found(
                format!("there is no file `{shown}`"),
                "name the checkpoint that was left",
            ));
        }
        read => read?,
    };
    let text = String::from_utf8_lossy(&bytes);
    let found = execute_plan_checkpoint::ForeignCheckpoint::read(&text).map_err(|error| {
        CommandError::usage(
            format!("`{shown}` is not a checkpoint: {error}"),
            "it is the JSON file that execute-plan left",
        )
    })?;
    let file = PlanFile::read(&context.root, &context.root, Path::new(&found.plan_file)).map_err(
        |error| {
            CommandError::not_found(
                format!("the plan that `{shown}` names: {error}"),
                "restore the plan, or correct `plan_file`",
            )
        },
    )?;
    let plan = file.plan(BatchOptions::of(found.k.get(), found.batch_size.get()));
    let plan = require_part(plan, &file, &context.root, PlanSelection::Whole)?;
    let events = imports::checkpoint(&plan, &text).map_err(|error| {
        CommandError::conflict(format!("`{shown}` {error}"), "remove it to start over")
    })?;
    refusals::require_repository(&context.root)?;
    drop(
        context
            .runs
            .as_ref()
            .map(|runs| context.lock_opening(runs, None))
            .transpose()?,
    );
    let checkpoint = ProjectFile::at(&context.root, dev_workflow::CHECKPOINT_PATH);
    let checkpoint =
        checkpoint.filter(|file| path.canonicalize().ok() == file.path().canonicalize().ok());
    if checkpoint.is_none() {
        refusals::require_writable_files(&context, plan.dialect)?;
    }
    let plan = arranged(plan, ExecutionMode::Batches, &ModeOptions::default());
    let typed = ExecuteRequest::new(
        ExecuteCommand::ExecutePlan,
        RequestedPlan::File(plan.source.path.clone()),
    );
    let asked = ApprovalRequest {
        command_line: typed.typed(),
        digest: options.digest.as_deref(),
        ..Default::default()
    };
    let approved = approve_plan(&context, &plan, ExecutionMode::Batches, None, &asked)?;
    let runs = RunStore::create(&context.root, Some(&context.state_home))?;
    let _door = context.lock_opening(&runs, None)?;
    let opened = OpenedPlan {
        plan,
        mode: ExecutionMode::Batches,
        scope: None,
        approved,
    };
    let (run, state) = record_opening(&context, &runs, opened, events)?;
    // The ledger has all of it now; from here on the file is omo's own.
    if let Some(file) = checkpoint {
        file.remove()?;
    }
    let state = context
        .engine(&run, &state)?
        .write_projections(state.clone())?;
    context.note_in_session(&run, &state.holder, &state);
    let head = blocks::resumed_block(run.id(), &state, "");
    let head = format!("omo: took {shown} in, as claims that omo has not checked.\n{head}");
    print_then_next(&context, &run, state, &head)
}
