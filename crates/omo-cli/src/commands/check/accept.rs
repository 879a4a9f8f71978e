//! `omo check accept`: accepts unusual changes to the checks of the last claim, where no review is wanted.

use clap::Args;
use omo_state::env::ProcessEnv;

use crate::commands::check::change::SessionChange;
use crate::confirm::{ConfirmOptions, given_approval};
use crate::error::CommandError;
use crate::project::{Project, SessionOptions};

const HELP: &str = "\
Examples:
  omo check accept          all checks
  omo check accept tests    one of them

For when tests were taken away on purpose, or what steers a check was changed
by you, in a run without a review: without it such a claim does not count.";

/// Accept what was unusual about the last claim
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct AcceptOptions {
    /// The check; without it all of them
    pub name: Option<String>,
    #[command(flatten)]
    pub session: SessionOptions,
    #[command(flatten)]
    pub confirm: ConfirmOptions,
}

pub(crate) fn run(
    env: &ProcessEnv,
    project: &Project,
    options: &AcceptOptions,
) -> Result<(), CommandError> {
    let change = SessionChange {
        env,
        project,
        confirm: &options.confirm,
    };
    change.apply_to_session("Accept what was unusual about the last claim?", |session| {
        let accepted =
            session.accept_unusual(options.name.as_deref(), given_approval(env).by, env.now);
        if accepted.is_empty() {
            let hint = "`omo check list` names the checks, `omo report --last` what was found";
            return Err(CommandError::not_found(
                "nothing about the last claim is there to accept",
                hint,
            ));
        }
        Ok(format!("accepted: {}", accepted.join("; ")))
    })
}
