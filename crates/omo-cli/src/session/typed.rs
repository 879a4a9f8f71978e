//! What a person typed behind `/omo:ulw-plan`, as the hook kept it.

use omo_core::words::sanitize;
use omo_core::words::usage;

use super::arguments::{CreateOptions, Which};
use crate::failure::Failure;

/// The command whose arguments the hook keeps.
pub(super) const COMMAND: &str = "ulw-plan";

/// Reads it over what the command line said: the options that stand in front, and behind them the goal, byte
/// for byte. A goal is prose, in which a quote or a second option is a word like any other.
pub(super) fn read(text: &str, options: &CreateOptions) -> Result<CreateOptions, Failure> {
    let mut options = CreateOptions { words: Vec::new(), goal: None, ..options.clone() };
    let mut rest = text.trim();
    while rest.starts_with("--") {
        let (option, behind) = first_word(rest);
        rest = behind;
        let (name, inline) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        match (name, inline) {
            ("--resume", None) => options.resume = true,
            ("--force", None) => options.force = true,
            ("--session", Some(id)) => options.which = Which { session: Some(id.to_owned()) },
            ("--session", None) => {
                let (id, behind) = first_word(rest);
                options.which = Which { session: Some(id.to_owned()) };
                rest = behind;
            }
            _ => return Err(wrong(format!("`{}` is no option of this command", sanitize(option, 40)))),
        }
    }
    match (rest, options.resume) {
        ("", false) => Err(wrong("no goal is named".to_owned())),
        ("", true) => Ok(options),
        (_, true) => Err(wrong("a session that goes on has a goal already".to_owned())),
        (goal, false) => Ok(CreateOptions { goal: Some(goal.to_owned()), ..options }),
    }
}

fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

fn wrong(what: String) -> Failure {
    Failure::user(what, usage::of(COMMAND).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Result<(Option<String>, Option<String>, bool, bool), Failure> {
        let read = read(text, &CreateOptions::default())?;
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
