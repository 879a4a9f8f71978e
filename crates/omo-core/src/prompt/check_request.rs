//! Arguments of `/omo:check`, parsed into a [`CheckRequest`].

use crate::check::session_check::{Check, InvalidCheck};
use crate::text::sanitize;

pub const USAGE: &str = "usage: /omo:check add [--name NAME] [--timeout SECONDS] [<command>] | list | remove NAME | run | approve [CODE] | accept [NAME]";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckRequest {
    Add(Box<Check>),
    AddSuggested {
        /// `None` to make the name from the command.
        name: Option<String>,
        timeout_seconds: Option<u32>,
    },
    List,
    Remove(String),
    Run,
    Approve {
        /// Beginning of the digest that was shown with the checks.
        code: Option<String>,
    },
    /// Acceptance of the present files and counts, with which later ones are compared.
    Accept {
        /// `None` for all checks.
        name: Option<String>,
    },
}

/// The error is one line for the user.
pub fn parse(arguments: &str) -> Result<CheckRequest, String> {
    let text = arguments.trim();
    let (verb, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let argument = (!rest.is_empty()).then(|| rest.to_owned());
    match (verb, &argument) {
        ("add", _) => parse_added_check(rest),
        ("list" | "", _) => without_arguments(rest, CheckRequest::List),
        ("run", _) => without_arguments(rest, CheckRequest::Run),
        ("remove", Some(name)) => Ok(CheckRequest::Remove(name.clone())),
        ("approve", _) => Ok(CheckRequest::Approve { code: argument }),
        ("accept", _) => Ok(CheckRequest::Accept { name: argument }),
        ("-h" | "--help", _) => Err(USAGE.to_owned()),
        _ => Err(format!(
            "`{}` is not a command of /omo:check as it stands; {USAGE}",
            sanitize(text, 60)
        )),
    }
}

fn without_arguments(rest: &str, request: CheckRequest) -> Result<CheckRequest, String> {
    if rest.is_empty() {
        Ok(request)
    } else {
        Err(USAGE.to_owned())
    }
}

/// `text` without quotes around the whole; an error for one that looks like an option.
fn unquoted(text: &str) -> Result<&str, String> {
    if text.starts_with('-') {
        return Err(USAGE.to_owned());
    }
    let inner = ['\'', '"', '`']
        .iter()
        .find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    Ok(inner
        .filter(|inner| !inner.contains(['\'', '"', '`']))
        .unwrap_or(text))
}

fn parse_added_check(text: &str) -> Result<CheckRequest, String> {
    let (mut name, mut timeout_seconds, mut text) = (None, None, text);
    loop {
        let (option, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let (value, after) = rest
            .trim_start()
            .split_once(char::is_whitespace)
            .unwrap_or((rest.trim_start(), ""));
        match option {
            "--name" => name = Some(value),
            "--timeout" => {
                timeout_seconds = Some(
                    value
                        .parse()
                        .map_err(|_| InvalidCheck::Timeout.to_string())?,
                );
            }
            _ => break,
        }
        text = after.trim_start();
    }
    if text.is_empty() {
        return Ok(CheckRequest::AddSuggested {
            name: name.map(str::to_owned),
            timeout_seconds,
        });
    }
    let text = unquoted(text)?;
    let check = Check::from_user(name, text, timeout_seconds).map_err(|error| error.to_string())?;
    Ok(CheckRequest::Add(Box::new(check)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_is_read() {
        for (text, expected) in [
            ("", CheckRequest::List),
            ("list", CheckRequest::List),
            (" run ", CheckRequest::Run),
            ("remove tests", CheckRequest::Remove("tests".to_owned())),
            ("approve", CheckRequest::Approve { code: None }),
            (
                "approve 3f2a9c1b",
                CheckRequest::Approve {
                    code: Some("3f2a9c1b".to_owned()),
                },
            ),
            (
                "add",
                CheckRequest::AddSuggested {
                    name: None,
                    timeout_seconds: None,
                },
            ),
            (
                "add --timeout 60 --name a",
                CheckRequest::AddSuggested {
                    name: Some("a".to_owned()),
                    timeout_seconds: Some(60),
                },
            ),
            ("accept", CheckRequest::Accept { name: None }),
            (
                "accept tests",
                CheckRequest::Accept {
                    name: Some("tests".to_owned()),
                },
            ),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_command_is_taken_byte_for_byte() {
        for (text, name, run, timeout) in [
            (
                "add cargo test --workspace",
                "cargo-test",
                "cargo test --workspace",
                None,
            ),
            (
                "add --name unit npm test -- --name x",
                "unit",
                "npm test -- --name x",
                None,
            ),
            (
                "add --timeout 60 --name a true && false",
                "a",
                "true && false",
                Some(60),
            ),
            (
                "add echo '$HOME' \"a  b\" | cat",
                "echo-HOME",
                "echo '$HOME' \"a  b\" | cat",
                None,
            ),
        ] {
            let Ok(CheckRequest::Add(check)) = parse(text) else {
                panic!("{text}: {:?}", parse(text))
            };
            assert_eq!(
                (
                    check.name.as_str(),
                    check.command.as_str(),
                    check.timeout_seconds
                ),
                (name, run, timeout),
                "{text}"
            );
        }
    }

    #[test]
    fn what_cannot_be_is_refused_in_one_line() {
        for text in [
            "add --name a/b true",
            "add --timeout x",
            "add --timeout x true",
            "add --timeout 0 true",
            "list all",
            "drop",
            "remove",
            "-h",
        ] {
            let error = parse(text).unwrap_err();
            assert!(
                !error.is_empty() && error.lines().count() == 1,
                "{text}: {error}"
            );
        }
    }
}
