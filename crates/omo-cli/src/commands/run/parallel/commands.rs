//! The commands of a plan: its user approves exactly these, and its entry condition is the first of them that
//! runs.

use std::path::Path;

use omo_checks::repository_config::RepositoryConfig;
use omo_checks::task_check;
use omo_core::session::plan_run::PlannedCommand;
use omo_core::text::command_text::paste_form;
use omo_core::text::sanitize;
use omo_engine::work::{CommandWatcher, planned_commands};
use omo_plan::model::{Plan, Precondition};
use omo_state::trust::pending_approval::{self, PendingApproval};

use super::super::open::{Asked, approve_commands};
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::output::check_progress::Shown;

/// What stands for the setup command among those of a plan.
const SETUP: &str = "setup";

/// The command that makes a fresh work tree of a project ready, where the project has one.
///
/// # Errors
///
/// The file that says so says something wrong as well.
pub(crate) fn setup_command(root: &Path) -> Result<Option<String>, CommandError> {
    let Some(repository) = RepositoryConfig::read(root) else { return Ok(None) };
    match repository.problems.first() {
        Some(problem) => Err(CommandError::invalid_config(problem)),
        None => Ok(repository.setup),
    }
}

/// Whether exactly the commands of a plan may run, and the one that makes a work tree ready where clients get one.
/// Gives what stands for those of the plan.
pub(crate) fn approve_with_setup(
    context: &CommandContext,
    plan: &Plan,
    setup: Option<&str>,
    digest: Option<&str>,
    asked: &Asked,
) -> Result<String, CommandError> {
    let commands = planned_commands(plan);
    let Some(setup) = setup else { return approve_commands(context, &commands, digest, asked) };
    let whole = approve_commands(context, &append_setup_command(&commands, setup), digest, asked)?;
    // Those of the plan alone are a part of what was agreed to, and what the run is held to.
    let own = PendingApproval {
        digest: pending_approval::commands_digest(&context.root, &commands),
        plan: asked.name.clone(),
        commands,
    };
    let given = |digest| pending_approval::given(Some(&context.state_home), digest);
    if given(&own.digest).is_none()
        && let Some(given) = given(&whole)
    {
        pending_approval::approve(Some(&context.state_home), &context.root, &own, given)?;
    }
    Ok(own.digest)
}

fn append_setup_command(commands: &[PlannedCommand], setup: &str) -> Vec<PlannedCommand> {
    let setup = PlannedCommand { task: SETUP.to_owned(), command: setup.to_owned(), folder: None };
    std::iter::once(setup).chain(commands.iter().cloned()).collect()
}

/// Runs the commands of the entry condition, each once. Gives what is said about it; nothing where no command decides.
pub(crate) fn run_entry_condition(context: &CommandContext, plan: &Plan) -> Result<String, CommandError> {
    let mut said = String::new();
    for precondition in &plan.preconditions {
        let Precondition::EntryCondition { text, checks } = precondition else { continue };
        for (place, known) in checks.iter().enumerate() {
            let mut shown = Shown::new();
            shown.begins(&known.command, place, checks.len());
            let outcome = task_check::run(known, &context.root, &context.environment, None, || shown.should_continue());
            drop(shown);
            let outcome =
                outcome.ok_or_else(|| CommandError::conflict("it was ended before it was done", "run it again"))?;
            if !outcome.is_green() {
                let message = format!(
                    "Entry condition FAILED: {}\nReason: {} {}",
                    sanitize(text, 300),
                    paste_form(&known.command, 1_000),
                    sanitize(outcome.describe(), 300)
                );
                return Err(CommandError::precondition(message, "Complete the prerequisite first, then re-run."));
            }
        }
        if !checks.is_empty() {
            "Entry condition: PASS\n".clone_into(&mut said);
        }
    }
    Ok(said)
}
