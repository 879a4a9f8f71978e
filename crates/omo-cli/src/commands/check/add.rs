//! `omo check add`: has a command decide as well.

use clap::Args;
use omo_checks::starting_checks::pin_checks;
use omo_core::check::session_check::{self, Check, CheckOrigin};
use omo_core::messages::checks::describe_checks;
use omo_state::env::ProcessEnv;
use omo_state::search_path::SearchPath;

use crate::commands::check::change::SessionChange;
use crate::confirm::ConfirmOptions;
use crate::error::CommandError;
use crate::project::{Project, SessionOptions};

const HELP: &str = "\
Example:
  omo check add --name tests -- cargo test --workspace";

/// Have a command decide as well
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct AddOptions {
    /// What it is called
    #[arg(long)]
    pub name: Option<String>,
    /// How long it may run, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u32>,
    #[command(flatten)]
    pub session: SessionOptions,
    #[command(flatten)]
    pub confirm: ConfirmOptions,
    /// The command, for a POSIX shell
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

pub(crate) fn run(env: &ProcessEnv, project: &Project, options: &AddOptions) -> Result<(), CommandError> {
    let refuse =
        |error: session_check::InvalidCheck| CommandError::usage(error.to_string(), "`omo check add --help` shows how");
    // One argument is a command; several are its words, as the shell has parted them.
    let command = match &*options.command {
        [command] => command.clone(),
        words => shlex::try_join(words.iter().map(String::as_str))
            .map_err(|_| refuse(session_check::InvalidCheck::Command))?,
    };
    let mut check = Check::new(options.name.as_deref(), &command, CheckOrigin::User).map_err(refuse)?;
    check.timeout_seconds = options.timeout;
    check.validate().map_err(refuse)?;
    pin_checks([&mut check], &project.root, &SearchPath::from_process());
    let change = SessionChange { env, project, confirm: &options.confirm };
    let question = format!(
        "Have this run whenever a claim is checked?\n{}\n",
        describe_checks(std::slice::from_ref(&check), &check.pinned)
    );
    change.apply(&question, |checks| {
        session_check::add_check(checks, check.clone()).map_err(refuse)?;
        Ok(format!("`{}` decides from now on", check.name))
    })
}
