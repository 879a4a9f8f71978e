//! What a person typed behind `/omo:ulw-plan`, as the hook kept it.

use clap::Parser;
use omo_core::messages::usage;

use crate::commands::agent::tasks::create::CreateOptions;
use crate::error::CommandError;
use crate::execute::line::clap_message;
use crate::task_list_files::TaskListOption;

/// The command whose arguments the hook keeps.
pub(crate) const COMMAND: &str = "ulw-plan";

/// What is typed behind the command.
#[derive(Debug, Parser)]
#[command(name = "/omo:ulw-plan", no_binary_name = true, disable_version_flag = true, disable_help_flag = true)]
struct PlanLine {
    /// Go on with the planning of a session
    #[arg(long, conflicts_with = "goal")]
    resume: bool,
    /// Begin anew where a session goes on
    #[arg(long)]
    force: bool,
    /// Which session, if not this one
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// What is planned
    #[arg(value_name = "goal", trailing_var_arg = true, required_unless_present = "resume")]
    goal: Vec<String>,
}

/// Reads it over what the command line said: the options that stand in front, and behind them the goal, byte
/// for byte. A goal is prose, in which a quote or a second option is a word like any other: so it is not split as the
/// lines of other commands are.
pub(crate) fn parse_raw_args(text: &str, options: &CreateOptions) -> Result<CreateOptions, CommandError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let hint = usage::usage_of(COMMAND).unwrap_or_default();
    let line = PlanLine::try_parse_from(&words).map_err(|error| CommandError::usage(clap_message(&error), hint))?;
    let in_front = words.len() - line.goal.len();
    let goal = (0..in_front).fold(text.trim(), |rest, _| behind_first_word(rest));
    let goal = Some(goal.to_owned()).filter(|goal| !goal.is_empty());
    let which = line.session.map_or_else(|| options.which.clone(), |id| TaskListOption { session: Some(id) });
    let (resume, force) = (options.resume || line.resume, options.force || line.force);
    Ok(CreateOptions { words: Vec::new(), goal, which, resume, force, ..options.clone() })
}

fn behind_first_word(text: &str) -> &str {
    text.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Result<(Option<String>, Option<String>, bool, bool), CommandError> {
        let read = parse_raw_args(text, &CreateOptions::default())?;
        Ok((read.goal, read.which.session, read.resume, read.force))
    }

    #[test]
    fn a_goal_is_taken_word_for_word() {
        for goal in ["add a login", "don't break \"x\" `y` $(z); --force the issue | and more", "a\n\n  b"] {
            assert_eq!(typed(&format!(" {goal}\n")).unwrap(), (Some(goal.to_owned()), None, false, false), "{goal}");
        }
        let goal = || Some("add it".to_owned());
        assert_eq!(typed("--force add it").unwrap(), (goal(), None, false, true));
        for text in ["--session a-1 add it", "--session=a-1  add it"] {
            assert_eq!(typed(text).unwrap(), (goal(), Some("a-1".to_owned()), false, false), "{text}");
        }
        assert_eq!(typed("--resume --session a-1").unwrap(), (None, Some("a-1".to_owned()), true, false));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for text in ["", "  ", "--force", "--yolo add it", "--resume add it", "--session a-1"] {
            assert!(typed(text).is_err(), "{text}");
        }
    }
}
