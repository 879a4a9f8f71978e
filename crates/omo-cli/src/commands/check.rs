//! `omo check`: the checks that judge a claim, from a terminal.

mod accept;
mod add;
mod approve;
mod change;
mod list;
mod remove;

use clap::Subcommand;
use omo_state::config::UserConfig;
use omo_state::env::ProcessEnv;

use crate::config_problems::warn_about_config;
use crate::error::CommandError;
use crate::repository_sessions::find_project;

const HELP: &str = "\
Examples:
  omo check list
  omo check add
  omo check add --name tests -- cargo test --workspace
  omo check remove tests

What widens or narrows the judgement asks you on a terminal first, or needs the
digest that `omo check list` shows. In the session `/omo:check` does the same.";

/// Show or change the checks that judge a claim
#[derive(Debug, Subcommand)]
#[command(after_help = HELP)]
pub(crate) enum CheckCommand {
    List(list::CheckListOptions),
    Add(add::AddOptions),
    Remove(remove::RemoveOptions),
    Approve(approve::ApproveOptions),
    Accept(accept::AcceptOptions),
}

impl CheckCommand {
    fn session(&self) -> Option<&str> {
        let options = match self {
            Self::List(options) => &options.session,
            Self::Add(options) => &options.session,
            Self::Remove(options) => &options.session,
            Self::Accept(options) => &options.session,
            Self::Approve(_) => return None,
        };
        options.session.as_deref()
    }
}

pub(super) fn run(
    env: &ProcessEnv,
    config: &UserConfig,
    command: CheckCommand,
) -> Result<(), CommandError> {
    warn_about_config(config);
    let project = find_project(env, command.session())?;
    match command {
        CheckCommand::List(options) => list::run(env, config, &project, &options),
        CheckCommand::Add(options) => add::run(env, config, &project, &options),
        CheckCommand::Remove(options) => remove::run(env, &project, &options),
        CheckCommand::Approve(options) => approve::run(env, &project, &options),
        CheckCommand::Accept(options) => accept::run(env, &project, &options),
    }
}
