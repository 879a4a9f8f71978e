//! `omo check accept`: takes the files and counts as they are now.

use clap::Args;
use omo_checks::starting_checks;
use omo_core::text::pluralize;
use omo_state::env::ProcessEnv;
use omo_state::search_path::SearchPath;

use crate::commands::check::change::{SessionChange, unknown_check};
use crate::confirm::ConfirmOptions;
use crate::error::CommandError;
use crate::project::{Project, SessionOptions};

const HELP: &str = "\
Examples:
  omo check accept          all checks
  omo check accept tests    one of them

For when tests were taken away on purpose, or a script that a check runs was
changed by you: without it the check stays red.";

/// Take the files and counts as they are now as the ones to be held to
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct AcceptOptions {
    /// Which check; without it all of them
    pub name: Option<String>,
    #[command(flatten)]
    pub session: SessionOptions,
    #[command(flatten)]
    pub confirm: ConfirmOptions,
}

pub(crate) fn run(env: &ProcessEnv, project: &Project, options: &AcceptOptions) -> Result<(), CommandError> {
    let change = SessionChange { env, project, confirm: &options.confirm };
    let search = SearchPath::from_process();
    change.apply("Take the files and counts as they are now as the ones to be held to?", |checks| {
        let accepted = starting_checks::accept_checks(checks, options.name.as_deref(), &project.root, &search);
        match (&options.name, accepted.len()) {
            (Some(name), 0) => Err(unknown_check(name)),
            (_, count) => Ok(format!(
                "{}: the files and counts as they are now are the ones to be held to",
                pluralize(count, "check")
            )),
        }
    })
}
