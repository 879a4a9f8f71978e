//! `omo check approve`: approves the commands of `omo.toml`, exactly as they are now.

use std::io::Write;

use clap::Args;
use omo_checks::repository_config::RepositoryConfig;
use omo_core::messages::checks::describe_checks;
use omo_core::text::pluralize;
use omo_state::env::ProcessEnv;

use crate::commands::check::change::confirm_change;
use crate::confirm::{self, ConfirmOptions};
use crate::error::CommandError;
use crate::project::Project;

const HELP: &str = "\
Example:
  omo check approve

It shows every byte of each command before it asks. Any later change of omo.toml
or of a file that its checks run asks again, and so does another repository.";

/// Approve what omo.toml would run, exactly as it is now
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct ApproveOptions {
    #[command(flatten)]
    pub confirm: ConfirmOptions,
}

pub(crate) fn run(
    env: &ProcessEnv,
    project: &Project,
    options: &ApproveOptions,
) -> Result<(), CommandError> {
    let repository = RepositoryConfig::read(&project.root).ok_or_else(|| {
        CommandError::not_found(
            format!("there is no omo.toml in {}", project.root.display()),
            "there is nothing to approve",
        )
    })?;
    if let Some(problem) = repository.problems.first() {
        return Err(CommandError::invalid_config(problem));
    }
    let question = format!(
        "omo.toml would have these commands run, with your rights:\n{}\nApprove exactly this?",
        describe_checks(
            &repository.checks,
            repository.setup.as_deref(),
            &repository.pinned
        )
    );
    confirm_change(env, &options.confirm, &question, &repository.digest)?;
    // Read again: exactly the commands shown are approved.
    if RepositoryConfig::read(&project.root).is_none_or(|now| now.digest != repository.digest) {
        return Err(CommandError::conflict(
            "omo.toml was changed meanwhile; nothing was approved",
            "look at it again: `omo check list`",
        ));
    }
    let given = confirm::given_approval(env);
    repository.approve(env.state_home.as_deref(), &project.root, given)?;
    confirm::name_approval(&project.root, env, given, "omo.toml approved")?;
    writeln!(
        anstream::stdout(),
        "approved: {} of omo.toml; any change asks again",
        pluralize(repository.checks.len(), "check")
    )?;
    writeln!(
        anstream::stdout(),
        "They count from the next run on; in a session, `/omo:check approve` takes them in at once."
    )?;
    Ok(())
}
