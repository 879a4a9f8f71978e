//! `omo plan batches`: the tasks of each batch, and the stops for a person.

use std::collections::HashMap;
use std::io::Write;

use omo_core::text::command_text::quote_argument;
use omo_core::text::sanitize;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::modes::{ModeOptions, arranged};
use omo_plan::batches::{PlanBatches, TaskDependencies, compute_batches};
use omo_plan::diagnostic::{Code, Diagnostic, has_errors};
use omo_plan::model::{Plan, ReviewTime};

use super::{BatchesOptions, SizeOptions, read_file, reading};
use crate::error::CommandError;
use crate::output::print_json;
use crate::plan_findings::{error_count_words, render_findings};

/// Prints the batches, and problems of the plan on stderr. A plan without an executable order has no batches.
pub(super) fn print_batches(options: &BatchesOptions) -> Result<(), CommandError> {
    let file = read_file(&options.plan)?;
    let [hub, batch_size] = [options.sizes.k, options.sizes.batch_size]
        .map(|size| usize::try_from(size).unwrap_or(usize::MAX));
    let by_headings = compute_batches(&file.bytes, hub, batch_size);
    // Tasks below headings `### Task N:` are batched without a dialect, as far as possible also in a plan with errors.
    let needs_dialect = options.plan.dialect.is_some() || by_headings.total == 0;
    let plan = needs_dialect
        .then(|| file.plan(reading(&options.plan, options.sizes)))
        .filter(|plan| !plan.tasks.is_empty());
    let plan = plan.map(|plan| {
        // The task for the review, which a run may add, is in no batch.
        let mut without_review = plan.clone();
        without_review.policy.review = ReviewTime::Never;
        (
            arranged(
                without_review,
                ExecutionMode::Batches,
                &mode_options(options.sizes),
            ),
            plan,
        )
    });
    let found = match &plan {
        Some((arranged, plan)) => batches_of_plan(arranged, plan, hub, batch_size),
        None => by_headings,
    };
    let has_order = !has_any(
        &found.diagnostics,
        &[
            Code::DuplicateId,
            Code::Cycle,
            Code::NotUtf8,
            Code::TooLarge,
        ],
    );
    if has_order {
        print_json(&found)?;
    }
    if !has_errors(&found.diagnostics) {
        return Ok(());
    }
    write!(
        anstream::stderr(),
        "{}",
        render_findings(&file.path, &file.bytes, &found.diagnostics)
    )?;
    // Batches despite errors other than these are a success: programs that call this rely on it.
    let is_success = has_order
        && !has_any(
            &found.diagnostics,
            &[Code::UnknownDependency, Code::UnclosedFence],
        );
    if is_success {
        return Ok(());
    }
    let (errors, path) = (
        error_count_words(&found.diagnostics),
        sanitize(&file.path, 200),
    );
    let hint = format!(
        "fix the plan; `omo plan lint {}` says all that it finds in it",
        quote_argument(&path)
    );
    let consequence = if has_order {
        "so its batches may not be what is meant"
    } else {
        "so there are no batches"
    };
    Err(CommandError::invalid_plan(
        format!("{path} has {errors}, {consequence}"),
        hint,
    ))
}

fn has_any(diagnostics: &[Diagnostic], codes: &[Code]) -> bool {
    diagnostics
        .iter()
        .any(|diagnostic| codes.contains(&diagnostic.code))
}

fn mode_options(sizes: SizeOptions) -> ModeOptions {
    ModeOptions {
        hub_k: sizes.k,
        batch_size: sizes.batch_size,
        ..ModeOptions::default()
    }
}

fn batches_of_plan<'a>(
    arranged: &'a Plan,
    plan: &'a Plan,
    k: usize,
    batch_size: usize,
) -> PlanBatches<'a> {
    let mut dependents: HashMap<&str, usize> = HashMap::new();
    for dep in plan.tasks.iter().flat_map(|task| &task.deps) {
        *dependents.entry(dep).or_default() += 1;
    }
    let counts = plan.tasks.iter().map(|task| {
        let count = dependents.get(task.id.as_str());
        (task.id.as_str(), count.copied().unwrap_or(0))
    });
    let stops = arranged
        .groups
        .iter()
        .enumerate()
        .filter(|(_, group)| group.hard_stop);
    PlanBatches {
        batch_size,
        total: plan.tasks.len(),
        batches: arranged
            .groups
            .iter()
            .map(|group| as_strs(&group.tasks))
            .collect(),
        dependents: counts.collect(),
        hard_stops: stops.map(|(place, _)| place).collect(),
        tasks: plan
            .tasks
            .iter()
            .map(|task| TaskDependencies {
                id: &task.id,
                depends_on: as_strs(&task.deps),
            })
            .collect(),
        k,
        diagnostics: plan.diagnostics.clone(),
    }
}

fn as_strs(ids: &[String]) -> Vec<&str> {
    ids.iter().map(String::as_str).collect()
}
