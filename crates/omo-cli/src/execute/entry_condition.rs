//! The entry condition of a plan: commands that run before all others, and that have to pass.

use omo_checks::task_check;
use omo_core::text::command_text::paste_form;
use omo_core::text::sanitize;
use omo_engine::work::CommandWatcher;
use omo_plan::model::{Plan, Precondition};

use crate::context::CommandContext;
use crate::error::CommandError;
use crate::output::check_progress::TaskCheckProgress;

/// Runs the commands of the entry condition once each. Gives `Entry condition: PASS`, or no text without commands.
pub(crate) fn run_entry_condition(
    context: &CommandContext,
    plan: &Plan,
) -> Result<String, CommandError> {
    let mut outcome_text = String::new();
    for precondition in &plan.preconditions {
        let Precondition::EntryCondition { text, checks } = precondition else {
            continue;
        };
        for (place, check) in checks.iter().enumerate() {
            let mut progress = TaskCheckProgress::new();
            progress.begins(&check.command, place, checks.len());
            let outcome = task_check::run(check, &context.root, &context.environment, None, || {
                progress.should_continue()
            });
            drop(progress);
            let outcome = outcome.ok_or_else(|| {
                CommandError::conflict("it was ended before it was done", "run it again")
            })?;
            if !outcome.is_green() {
                let message = format!(
                    "Entry condition FAILED: {}\nReason: {} {}",
                    sanitize(text, 300),
                    paste_form(&check.command, 1_000),
                    sanitize(outcome.describe(), 300)
                );
                return Err(CommandError::precondition(
                    message,
                    "Complete the prerequisite first, then re-run.",
                ));
            }
        }
        if !checks.is_empty() {
            "Entry condition: PASS\n".clone_into(&mut outcome_text);
        }
    }
    Ok(outcome_text)
}
