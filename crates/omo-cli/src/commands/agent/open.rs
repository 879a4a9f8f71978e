//! `omo agent open`: opens the run for a slash command that the user of a session typed.

use clap::Args;
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_state::state::sealed_plan_run;

use crate::context::CommandContext;
use crate::error::CommandError;
use crate::execute::approval::with_approved_line;
use crate::execute::execute;
use crate::execute::line::{self, TypedLine};
use crate::execute::request::{ExecuteCommand, ExecuteRequest};
use crate::output::print_block;
use crate::project::Project;

const HELP: &str = "\
Example:
  omo agent open --command execute-plan

What was typed after the command is read as the hook has kept it.";

/// Open the run that the user of a session has typed a command for
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct OpenOptions {
    /// The slash command that was typed
    #[arg(long, value_enum, value_name = "NAME")]
    pub command: ExecuteCommand,
    /// Approve exactly the commands shown, by their digest
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<String>,
    /// The text after it, as one word; without it, what the hook has kept
    #[arg(last = true, value_name = "LINE")]
    pub line: Option<String>,
}

pub(crate) fn run(env: &ProcessEnv, options: OpenOptions) -> Result<(), CommandError> {
    let context = CommandContext {
        is_agent_verb: true,
        ..CommandContext::find(env)?
    };
    let command = options.command;
    let (line, is_typed) = match options.line {
        Some(line) => (line, false),
        None => match typed_arguments(&context, command)? {
            Some(line) => (line, true),
            None => return print_block(&nothing_typed(command)),
        },
    };
    let (command, line) = with_approved_line(&context, command, &line)?;
    match line::read_typed_line(command, &line)? {
        TypedLine::Help(page) => print_block(&format!(
            "DONE\n  Show the user this page, then end your turn.\n\n{page}"
        )),
        TypedLine::Request(request) => execute(
            &context,
            ExecuteRequest {
                digest: options.digest,
                is_typed,
                ..*request
            },
        ),
    }
}

fn typed_arguments(
    context: &CommandContext,
    command: ExecuteCommand,
) -> Result<Option<String>, CommandError> {
    let (Some(id), Some(folder)) = (&context.session, GuardedFolder::open_state(&context.root)?)
    else {
        return Ok(None);
    };
    Ok(sealed_plan_run::take_arguments(
        &folder,
        id,
        command.name(),
        Project::state_update(context.env),
    )?)
}

fn nothing_typed(command: ExecuteCommand) -> String {
    let (source, run) = match command {
        ExecuteCommand::Execute | ExecuteCommand::ExecuteLocal => {
            ("the plan", "omo run start '<plan.md>'")
        }
        ExecuteCommand::ExecutePlan => ("the plan", "omo run start --batches '<plan.md>'"),
        ExecuteCommand::UlwExec => ("the task list", "omo run start --tasks --session ID"),
    };
    format!(
        "DO\n  No arguments were typed for this command. If you called it yourself, run this with {source} that you \
         were asked to execute:\n  run: {run}\n  If you do not know which one is meant, ask the user."
    )
}
