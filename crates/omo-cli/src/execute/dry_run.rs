//! `--dry-run`: prints the tasks, obstacles and costs of a plan, and runs nothing.

use omo_engine::execution_mode::ExecutionMode;
use omo_engine::report::plan_overview::proof_words;
use omo_engine::report::ultraplan::dry_run::{DryRunFacts, DryRunReport, dry_run_report};
use omo_engine::request::part::strategy_of_mode;
use omo_plan::model::Plan;

use crate::billing;
use crate::blocks::parallel_run;
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::execute::preflight;
use crate::execute::request::ExecuteRequest;
use crate::exit_kind::ExitKind;
use crate::output::print_block;

pub(crate) fn print_dry_run(
    context: &CommandContext,
    request: &ExecuteRequest,
    whole: &Plan,
    arranged: &Plan,
    mode: ExecutionMode,
) -> Result<(), CommandError> {
    let unchecked = arranged
        .tasks
        .iter()
        .filter(|task| whole.policy.unproved_continues && task.checks.is_empty());
    let facts = DryRunFacts {
        proofs: unchecked
            .map(|task| (task.id.clone(), proof_words(arranged, task)))
            .collect(),
        existing: preflight::existing_files(context, whole),
        findings: preflight::preflight_findings(context, whole, mode, &request.clients.policy)?,
        billing: billing::billing_facts(),
    };
    let DryRunReport { text, is_ready } = dry_run_report(whole, request.scope.selection, &facts);
    let lines = parallel_run::plan_lines(whole, strategy_of_mode(arranged, mode));
    let text = format!("{}{}{lines}\n{text}", request.choice, request.heading);
    // The client shows a failure behind a typed command as it is, without a model.
    print_block(&if request.is_typed && is_ready && !context.is_preview {
        parallel_run::dry_run(&text)
    } else {
        text
    })?;
    if is_ready {
        Ok(())
    } else {
        Err(CommandError::already_printed(ExitKind::NotGreen))
    }
}
