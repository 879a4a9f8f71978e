//! `omo run open --for local`: a plan in steps becomes a run, or goes on with the one that it has; or it is only looked
//! at.

mod begin;
pub(super) mod blocks;
mod commands;
mod facts;
mod resume;
mod wanted;

use std::path::Path;

use omo_plan::diagnostic::Code;
use omo_plan::dialects::Options;
use omo_plan::model::{Dialect, Plan};
use omo_plan::run::state::RunState;
use omo_plan::ultra_run::arguments::Mode;
use omo_plan::ultra_run::asked::Asked;
use omo_plan::ultra_run::strategy::Strategy;
use omo_plan::ultra_run::target::{Found, check_file, check_part};
use omo_runs::Runs;
use omo_runs::engine::PlanFile;
use omo_runs::ultra::dry_run;
use omo_store::folder::Folder;
use omo_store::plan_run;
use omo_store::work_tree::WorkTree;

use super::arguments::OpenOptions;
use super::context::CommandContext;
use super::open::{no_repository, say, unsound};
use crate::failure::{Failure, Kind};
use crate::project::Project;
pub(super) use resume::{alone_in_repository, is_accepted, resume};
use wanted::{Wanted, refused};

/// The command whose arguments the hook keeps.
const COMMAND: &str = "execute-local";

/// Whether a run is one of a plan in steps.
pub(super) fn is_one(state: &RunState) -> bool {
    is_in_steps(&state.plan)
}

fn is_in_steps(plan: &Plan) -> bool {
    matches!(plan.dialect, Dialect::Ultraplan | Dialect::SessionSpec)
}

/// Opens the run of a plan in steps, goes on with the one that it has, or tells how it would be run.
pub(super) fn open(context: &CommandContext, options: &OpenOptions) -> Result<(), Failure> {
    if let Some(own) = &context.env.group {
        let message = format!("this session works on {} of the run {}, and opens no run", own.group, own.run);
        return Err(Failure::precondition(message, "`omo agent next` says what it is to do"));
    }
    if !options.args_from_hook {
        return execute(context, &Wanted::of(options)?, false);
    }
    match typed_arguments(context)? {
        Some(line) => execute(context, &Wanted::read(&line)?, true),
        None => say(&blocks::nothing_typed()),
    }
}

fn typed_arguments(context: &CommandContext) -> Result<Option<String>, Failure> {
    let (Some(id), Some(folder)) = (&context.session, Folder::open(&context.root)?) else { return Ok(None) };
    Ok(plan_run::take_arguments(&folder, id, COMMAND, Project::update(context.env))?)
}

fn execute(context: &CommandContext, wanted: &Wanted, is_typed: bool) -> Result<(), Failure> {
    let plan = read(context, wanted)?;
    let strategy = Strategy::asked_for(&plan, &wanted.arguments);
    if wanted.arguments.mode == Mode::DryRun {
        return look(context, wanted, &plan, strategy, is_typed);
    }
    let work_tree = WorkTree::find(&context.root).ok_or_else(|| no_repository(&context.root))?;
    let known = |runs: &Runs| resume::known(context, runs, &plan, wanted, strategy);
    match context.runs.as_ref().map(known).transpose()?.flatten() {
        Some((run, state)) => resume::go_on(context, &run, &state, Some(wanted), wanted.digest.as_deref()),
        None => begin::begin(context, wanted, &plan, strategy, &work_tree),
    }
}

/// The plan that is meant, with the part that is asked for in it.
fn read(context: &CommandContext, wanted: &Wanted) -> Result<Plan, Failure> {
    let path = &wanted.arguments.path;
    let current = std::env::current_dir()?;
    check_file(path, found(&current.join(path))).map_err(refused)?;
    let file = PlanFile::read_anywhere(&context.root, &current, Path::new(path))?;
    let plan = file.plan(Options::default());
    let is_unrecognized = plan.diagnostics.iter().any(|found| found.code == Code::UnrecognizedFormat);
    if is_unrecognized || plan.dialect == Dialect::DevWorkflow && !plan.units.is_empty() {
        let message = "unrecognized file format. Expected an ultraplan or session spec.";
        let hint = "an ultraplan has `## Implementation Plan` with `### Step 1: …`; `omo run open --for plan` runs `### Task 1: …`";
        return Err(Failure::plan(message, hint));
    }
    if !plan.is_sound() || !is_in_steps(&plan) {
        return Err(unsound(&plan, &file.bytes));
    }
    check_part(&plan, wanted.arguments.part).map_err(refused)?;
    Ok(plan)
}

fn found(path: &Path) -> Found {
    match path.metadata() {
        Ok(meta) if meta.is_file() => Found::File,
        Ok(_) => Found::Other,
        // What this user cannot look at is not there for them.
        Err(_) => Found::Nothing,
    }
}

/// Tells how a plan would be run. Nothing is written, and nothing of it runs.
fn look(
    context: &CommandContext,
    wanted: &Wanted,
    plan: &Plan,
    strategy: Strategy,
    is_typed: bool,
) -> Result<(), Failure> {
    let asked = Asked::from(&wanted.arguments);
    let facts = dry_run::Facts {
        existing: facts::existing(context, plan),
        findings: facts::findings(context, plan, strategy)?,
        billing: facts::billing(),
    };
    let report = dry_run::dry_run(plan, asked, &facts);
    let text = format!("{}\n{report}", blocks::head(wanted, plan, strategy));
    let is_ready = dry_run::is_ready(plan, asked, &facts);
    // What fails behind a command that a person typed the client shows them as it is, without a model.
    say(&if is_typed && is_ready { blocks::dry_run(&text) } else { text })?;
    if is_ready { Ok(()) } else { Err(Failure::said(Kind::NotGreen)) }
}
