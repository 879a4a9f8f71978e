//! Validation of a line as typed at a terminal or in a prompt, for tests of the commands in omo's
//! texts.

use clap::ValueEnum;
use omo_core::check::counterfactual::ProveMode;
use omo_core::keyword::Keywords;
use omo_core::limits::RunLimits;
use omo_core::prompt::ulw_arguments::UlwOptions;
use omo_core::prompt::{PromptEvent, PromptIntent, read_intent};

use crate::commands::agent::tasks::read_planning_line;
use crate::error::CommandError;
use crate::execute::line::read_typed_line;
use crate::execute::request::ExecuteCommand;
use crate::typed_command::read_run_command;

/// The reason why `line`, such as `omo run list` or `/omo:retry 3`, cannot be typed; `None` where it can.
pub fn problem_of_typed_line(line: &str) -> Option<String> {
    if line.starts_with('/') {
        return problem_of_slash_command(line);
    }
    let Some(words) = shlex::split(line) else {
        return Some("a quote is not closed".to_owned());
    };
    let error = crate::command()
        .try_get_matches_from(words)
        .err()
        .filter(|error| error.exit_code() != 0)?;
    Some(error.to_string())
}

fn problem_of_slash_command(line: &str) -> Option<String> {
    let event = PromptEvent {
        prompt: line,
        ..PromptEvent::default()
    };
    let intent = read_intent(&event, &Keywords::default(), |_| UlwOptions {
        limits: RunLimits::DEFAULT,
        checks: Vec::new(),
        review: true,
        prove: ProveMode::default(),
        begins_anew: false,
    });
    match intent {
        PromptIntent::Refused(why) => Some(why),
        PromptIntent::NotAPerson | PromptIntent::Nothing | PromptIntent::Pause(_) => {
            Some("this is not a command of omo".to_owned())
        }
        PromptIntent::Run { command, arguments } => read_run_command(command, arguments)
            .err()
            .map(|error| message(&error)),
        PromptIntent::Command {
            name: "ulw-plan",
            arguments,
        } => read_planning_line(arguments)
            .err()
            .map(|error| message(&error)),
        PromptIntent::Command { name, arguments } => match ExecuteCommand::from_str(name, false) {
            Ok(command) => read_typed_line(command, arguments)
                .err()
                .map(|error| message(&error)),
            Err(_) => Some(format!("omo has no command `{name}`")),
        },
        _ => None,
    }
}

fn message(error: &CommandError) -> String {
    if error.is_printed() {
        "an argument is missing".to_owned()
    } else {
        error.message().to_owned()
    }
}
