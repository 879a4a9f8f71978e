//! `omo check remove`: removes a check.

use clap::Args;
use omo_core::check::session_check;
use omo_core::text::inline_code;
use omo_state::env::ProcessEnv;

use crate::commands::check::change::{SessionChange, unknown_check};
use crate::confirm::ConfirmOptions;
use crate::error::CommandError;
use crate::project::{Project, SessionOptions};

const HELP: &str = "\
Example:
  omo check remove tests";

/// Have a check decide no more
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct RemoveOptions {
    /// The check
    pub name: String,
    #[command(flatten)]
    pub session: SessionOptions,
    #[command(flatten)]
    pub confirm: ConfirmOptions,
}

pub(crate) fn run(
    env: &ProcessEnv,
    project: &Project,
    options: &RemoveOptions,
) -> Result<(), CommandError> {
    let change = SessionChange {
        env,
        project,
        confirm: &options.confirm,
    };
    let question = format!("Have `{}` decide no more?", inline_code(&options.name, 40));
    change.apply(&question, |checks| {
        if !session_check::remove_check(checks, &options.name) {
            return Err(unknown_check(&options.name));
        }
        Ok(format!("`{}` decides no more", options.name))
    })
}
