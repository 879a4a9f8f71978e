//! Parser of the arguments typed behind `/omo:ulw-plan`, such as `--force add a login page`.

use clap::Parser;
use omo_core::messages::usage;

use crate::commands::agent::tasks::create::TaskListCreateOptions;
use crate::error::CommandError;
use crate::execute::line::{clap_message, split_words};
use crate::task_list_files::TaskListOption;

pub(crate) const COMMAND: &str = "ulw-plan";

#[derive(Debug, Parser)]
#[command(
    name = "/omo:ulw-plan",
    no_binary_name = true,
    disable_version_flag = true,
    disable_help_flag = true
)]
struct PlanLine {
    /// Go on with the planning of a session
    #[arg(long, conflicts_with = "goal")]
    resume: bool,
    /// Start over where a session goes on
    #[arg(long)]
    force: bool,
    /// The session, if not this one
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The file whose tasks become those of the list
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    from: Option<String>,
    /// The goal of the plan
    #[arg(value_name = "goal", trailing_var_arg = true, required_unless_present_any = ["resume", "from"])]
    goal: Vec<String>,
}

/// `options` with the leading options of `text`; the rest of `text` is the goal, byte for byte.
pub(crate) fn parse_raw_args(
    text: &str,
    options: &TaskListCreateOptions,
) -> Result<TaskListCreateOptions, CommandError> {
    let (words, ends): (Vec<String>, Vec<usize>) = words_with_ends(text).into_iter().unzip();
    let hint = usage::usage_of(COMMAND).unwrap_or_default();
    let line = PlanLine::try_parse_from(&words)
        .map_err(|error| CommandError::usage(clap_message(&error), hint))?;
    let in_front = words.len().saturating_sub(line.goal.len());
    let start = in_front
        .checked_sub(1)
        .and_then(|last| ends.get(last))
        .copied()
        .unwrap_or(0);
    let goal = Some(text.get(start..).unwrap_or_default().trim().to_owned())
        .filter(|goal| !goal.is_empty());
    let which = line.session.map_or_else(
        || options.which.clone(),
        |id| TaskListOption { session: Some(id) },
    );
    let (resume, force) = (options.resume || line.resume, options.force || line.force);
    let from = line.from.or_else(|| options.from.clone());
    Ok(TaskListCreateOptions {
        words: Vec::new(),
        goal,
        which,
        resume,
        force,
        from,
        ..options.clone()
    })
}

/// Words of a line with their end offsets. Only a file name may have blanks, in quotes.
fn words_with_ends(text: &str) -> Vec<(String, usize)> {
    let mut ends = text.char_indices().filter(|(at, char)| {
        let is_last = at + char.len_utf8() == text.len();
        !char.is_whitespace()
            && (is_last
                || text
                    .get(at + char.len_utf8()..)
                    .is_some_and(|rest| rest.starts_with(char::is_whitespace)))
    });
    let ends: Vec<usize> = ends
        .by_ref()
        .map(|(at, char)| at + char.len_utf8())
        .collect();
    let mut words: Vec<(String, usize)> = Vec::new();
    let mut place = 0;
    while let Some(end) = ends.get(place) {
        let from = words.last().map_or(0, |(_, end)| *end);
        let word = word_up_to(text, from, *end);
        let names_file =
            words.last().is_some_and(|(word, _)| word == "--from") || word.starts_with("--from=");
        let quoted = ends
            .iter()
            .skip(place)
            .filter(|_| names_file)
            .find_map(
                |end| match &mut *split_words(word_up_to(text, from, *end)).ok()? {
                    [name] => Some((std::mem::take(name), *end)),
                    _ => None,
                },
            );
        let found = quoted.unwrap_or_else(|| (word.to_owned(), *end));
        place = ends
            .iter()
            .position(|end| *end > found.1)
            .unwrap_or(ends.len());
        words.push(found);
    }
    words
}

fn word_up_to(text: &str, from: usize, end: usize) -> &str {
    text.get(from..end).unwrap_or_default().trim_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Result<(Option<String>, Option<String>, bool, bool), CommandError> {
        let read = parse_raw_args(text, &TaskListCreateOptions::default())?;
        Ok((read.goal, read.which.session, read.resume, read.force))
    }

    #[test]
    fn a_goal_is_taken_word_for_word() {
        for goal in [
            "add a login",
            "don't break \"x\" `y` $(z); --force the issue | and more",
            "a\n\n  b",
        ] {
            assert_eq!(
                typed(&format!(" {goal}\n")).unwrap(),
                (Some(goal.to_owned()), None, false, false),
                "{goal}"
            );
        }
        let goal = || Some("add it".to_owned());
        assert_eq!(
            typed("--force add it").unwrap(),
            (goal(), None, false, true)
        );
        for text in ["--session a-1 add it", "--session=a-1  add it"] {
            assert_eq!(
                typed(text).unwrap(),
                (goal(), Some("a-1".to_owned()), false, false),
                "{text}"
            );
        }
        assert_eq!(
            typed("--resume --session a-1").unwrap(),
            (None, Some("a-1".to_owned()), true, false)
        );
    }

    #[test]
    fn a_file_takes_the_place_of_a_goal() {
        for (text, file, goal) in [
            ("--from docs/notes.md", "docs/notes.md", None),
            (
                "--from=docs/notes.md in Rust, don't ask",
                "docs/notes.md",
                Some("in Rust, don't ask"),
            ),
            (
                " --force --from 'my  notes.md'  in\n Rust",
                "my  notes.md",
                Some("in\n Rust"),
            ),
            ("--from=\"it's.md\"", "it's.md", None),
            ("--from it's.md", "it's.md", None),
        ] {
            let read = parse_raw_args(text, &TaskListCreateOptions::default()).unwrap();
            assert_eq!(
                (read.from.as_deref(), read.goal.as_deref()),
                (Some(file), goal),
                "{text}"
            );
        }
        let goal = "look at --from 'here on'";
        let read = parse_raw_args(goal, &TaskListCreateOptions::default()).unwrap();
        assert_eq!((read.from, read.goal.as_deref()), (None, Some(goal)));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for text in [
            "--from",
            "--from x --resume",
            "",
            "  ",
            "--force",
            "--yolo add it",
            "--resume add it",
            "--session a-1",
        ] {
            assert!(typed(text).is_err(), "{text}");
        }
    }
}
