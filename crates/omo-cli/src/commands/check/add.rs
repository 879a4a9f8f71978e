//! `omo check add`: adds a check, a command whose exit status decides.

use std::collections::BTreeMap;

use clap::Args;
use omo_checks::detected_check::{NoOffer, offer_check};
use omo_core::check::session_check::{self, Check};
use omo_core::messages::checks::describe_checks;
use omo_state::config::UserConfig;
use omo_state::env::ProcessEnv;

use crate::commands::check::change::SessionChange;
use crate::confirm::ConfirmOptions;
use crate::error::CommandError;
use crate::project::{Project, SessionOptions};

const HELP: &str = "\
Examples:
  omo check add
  omo check add --name tests -- cargo test --workspace

Without a command omo takes the one that the files at the top of the project
tell, such as `cargo test` for a Cargo.toml, and says where it found it.";

/// Have a command decide as well
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct AddOptions {
    /// Its name
    #[arg(long)]
    pub name: Option<String>,
    /// Its time limit, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u32>,
    #[command(flatten)]
    pub session: SessionOptions,
    #[command(flatten)]
    pub confirm: ConfirmOptions,
    /// The command, for a POSIX shell; without it, the one that the project's files tell
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

pub(crate) fn run(
    env: &ProcessEnv,
    config: &UserConfig,
    project: &Project,
    options: &AddOptions,
) -> Result<(), CommandError> {
    let (command, found_in) = match &*options.command {
        [] => {
            let found = offer_check(&project.root, config.detection).map_err(no_command)?;
            (found.command.to_owned(), Some(found.found_in))
        }
        // One argument is a whole command line; several are its words, as the shell has split them.
        [command] => (command.clone(), None),
        words => {
            let joined = shlex::try_join(words.iter().map(String::as_str));
            (
                joined.map_err(|_| invalid_check(&session_check::InvalidCheck::Command))?,
                None,
            )
        }
    };
    let check = Check::from_user(options.name.as_deref(), &command, options.timeout)
        .map_err(|error| invalid_check(&error))?;
    let change = SessionChange {
        env,
        project,
        confirm: &options.confirm,
    };
    let found = found_in
        .map(|file| format!(" (found in {file})"))
        .unwrap_or_default();
    let question = format!(
        "Have this run whenever a claim is checked{found}?\n{}\n",
        describe_checks(std::slice::from_ref(&check), None, &BTreeMap::new())
    );
    change.apply(&question, |checks| {
        session_check::add_check(checks, check.clone()).map_err(|error| invalid_check(&error))?;
        Ok(format!("`{}` decides from now on{found}", check.name))
    })
}

fn invalid_check(error: &session_check::InvalidCheck) -> CommandError {
    CommandError::usage(error.to_string(), "`omo check add --help` shows how")
}

fn no_command(none: NoOffer) -> CommandError {
    let hint = "name one: `omo check add -- COMMAND`";
    match none {
        NoOffer::Off => CommandError::usage(none.to_string(), hint),
        NoOffer::NothingFound => CommandError::not_found(none.to_string(), hint),
    }
}
