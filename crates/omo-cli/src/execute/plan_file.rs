//! Reading of the requested plan file, or of the requested part of it, into a `Plan`.

use std::path::Path;

use omo_core::text::sanitize;
use omo_engine::request::arguments::PlanSelection;
use omo_engine::request::check_target::{PathTarget, check_file, check_selection};
use omo_engine::work::PlanFile;
use omo_plan::dialects::{BatchOptions, PlanReading};
use omo_plan::model::{Dialect, Plan};
use omo_plan::project_paths::name_from_top;
use omo_plan::proof::find_proofs;

use crate::context::CommandContext;
use crate::error::CommandError;
use crate::execute::known_run::KnownRun;
use crate::execute::refusals::{argument_error, invalid_plan_error};
use crate::execute::request::ExecuteRequest;
use crate::process_paths::current_folder;

pub(crate) fn find_plan_file(
    context: &CommandContext,
    path: &str,
) -> Result<PlanFile, CommandError> {
    let current = current_folder()?;
    check_file(path, path_target(&current.join(path))).map_err(argument_error)?;
    Ok(PlanFile::read_anywhere(
        &context.root,
        &current,
        Path::new(path),
    )?)
}

fn path_target(path: &Path) -> PathTarget {
    match path.metadata() {
        Ok(meta) if meta.is_file() => PathTarget::File,
        Ok(meta) if meta.is_dir() => PathTarget::Folder,
        Ok(_) => PathTarget::Other,
        // A path that this user cannot look at counts as missing.
        Err(_) => PathTarget::Nothing,
    }
}

pub(crate) fn read_plan(
    context: &CommandContext,
    request: &ExecuteRequest,
    file: &PlanFile,
    known: &KnownRun,
) -> Result<Plan, CommandError> {
    let dialect = pick_dialect(known, &file.path, request.dialect)?;
    let options = request.mode_options();
    let batches = BatchOptions::of(options.hub_k, options.batch_size);
    let plan = file.plan(PlanReading { batches, dialect });
    let plan = require_part(plan, file, &context.root, request.scope.selection)?;
    let mut plan = find_proofs(plan, &request.proof.added_checks());
    plan.policy.requires_checks |= request.proof.require_checks;
    plan.policy.review = request.proof.review.unwrap_or_default();
    Ok(plan)
}

pub(crate) fn require_part(
    plan: Plan,
    file: &PlanFile,
    root: &Path,
    part: PlanSelection,
) -> Result<Plan, CommandError> {
    let plan = name_from_top(plan, &root.to_string_lossy());
    if !plan.can_run() {
        return Err(invalid_plan_error(&plan, file));
    }
    check_selection(&plan, part).map_err(argument_error)?;
    Ok(plan)
}

/// Dialect of the open run, which no option may contradict, else the named one.
fn pick_dialect(
    known: &KnownRun,
    path: &str,
    named: Option<Dialect>,
) -> Result<Option<Dialect>, CommandError> {
    match (known.open_run_of(path), named) {
        (Some((id, state)), Some(named)) if named != state.plan.dialect => {
            let word = state.plan.dialect.word();
            let message = format!(
                "the run {id} of {} is open, and reads it as {word}",
                sanitize(path, 200)
            );
            Err(CommandError::busy(
                message,
                "without --dialect this goes on with it; `omo run cancel` ends it first",
            ))
        }
        (Some((_, state)), _) => Ok(Some(state.plan.dialect)),
        (None, named) => Ok(named),
    }
}
