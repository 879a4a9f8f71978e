//! `omo completions`: prints the completions for a shell.

use std::io::Write;

use clap::Args;

use crate::error::CommandError;

const HELP: &str = "\
Example:
  omo completions bash > ~/.local/share/bash-completion/completions/omo";

/// Print the completions for a shell
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct CompletionsOptions {
    /// The shell
    pub shell: clap_complete::Shell,
}

pub(crate) fn run(
    mut command: clap::Command,
    options: &CompletionsOptions,
) -> Result<(), CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut command, "omo", &mut script);
    Ok(std::io::stdout().write_all(&script)?)
}
