//! Reads the message of a checkpoint such as `git commit -m "message"`, which is never run.

use crate::dialects::ultraplan::inline_code::split_inline_code;
use crate::pattern::Pattern;

/// Checkpoint of a step: its command, and the message for the commit that omo makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitCheckpoint {
    pub command: String,
    pub message: Option<String>,
    /// `true` for nothing but `git commit -m "message"`.
    pub is_plain: bool,
}

/// Checkpoint of a step's field; `None` for an empty value or `none`.
pub fn parse_checkpoint(value: &str) -> Option<CommitCheckpoint> {
    let value = super::first_paragraph(value);
    if super::is_nothing(value) {
        return None;
    }
    let code = split_inline_code(value)
        .into_iter()
        .find(|piece| piece.is_code);
    let command = code
        .as_ref()
        .map_or(value, |piece| piece.text.trim())
        .to_owned();
    let is_all = code.is_none_or(|piece| piece.range == (0..value.len()));
    if let Some(message) = plain_message(&command).filter(|_| is_all) {
        let message = Some(message.to_owned());
        return Some(CommitCheckpoint {
            command,
            message,
            is_plain: true,
        });
    }
    let message = shlex::split(&command)
        .and_then(|words| commit_message(&words))
        .filter(|message| !message.trim().is_empty());
    Some(CommitCheckpoint {
        command,
        message,
        is_plain: false,
    })
}

/// Messages of the first `git commit`, joined as git joins them.
fn commit_message(words: &[String]) -> Option<String> {
    let from = words
        .windows(2)
        .position(|pair| matches!(pair, [git, commit] if git == "git" && commit == "commit"))?;
    let mut messages: Vec<&str> = Vec::new();
    let mut options = words.iter().skip(from + 2);
    while let Some(option) = options.next() {
        if matches!(option.as_str(), "&&" | "||" | ";" | "|" | "--") {
            break;
        }
        let short = option
            .strip_prefix('-')
            .filter(|option| !option.starts_with('-'));
        let short = short.and_then(|option| Some(option.split_once('m')?.1));
        if option == "--message" || short == Some("") {
            messages.extend(options.next().map(String::as_str));
        } else {
            messages.extend(option.strip_prefix("--message=").or(short));
        }
    }
    // A semicolon behind a message ends the command; quotes, in which it would belong to the message, are gone here.
    let messages: Vec<&str> = messages
        .iter()
        .map(|message| message.trim_end_matches(';'))
        .collect();
    (!messages.is_empty()).then(|| messages.join("\n\n"))
}

static PLAIN: Pattern = Pattern::new(r#"^git commit -m (?:'([^']*)'|"([^"$`\\]*)")$"#);

fn plain_message(command: &str) -> Option<&str> {
    let ([single, double], _) = PLAIN.read(command)?;
    [single, double]
        .into_iter()
        .find(|message| !message.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_its_message() {
        for (value, message, is_plain) in [
            ("`git commit -m \"feat(a): b\"`", Some("feat(a): b"), true),
            ("git commit -m \"feat: b\"", Some("feat: b"), true),
            ("`git commit -m 'it is'`", Some("it is"), true),
            ("`git commit -m \"x\"`\n\n---", Some("x"), true),
            ("`git commit -m x`", Some("x"), false),
            ("`git commit -am \"x\"`", Some("x"), false),
            ("`git commit -m\"a b\"`", Some("a b"), false),
            ("`git commit --message=\"a b\"`", Some("a b"), false),
            ("`git commit -m \"a\" -m \"b\"`", Some("a\n\nb"), false),
            ("`git add -A && git commit -m \"a\"`", Some("a"), false),
            ("`git commit -m \"a\" && git push`", Some("a"), false),
            ("`git commit -m \"a\"; rm -rf x`", Some("a"), false),
            ("`git commit -m \"$(id)\"`", Some("$(id)"), false),
            ("`git commit -m \"a\"` once all is green", Some("a"), false),
            ("`git commit --amend --no-edit`", None, false),
            ("`git commit -m \"\"`", None, false),
            ("`git commit -m \"open`", None, false),
            ("`git tag v1`", None, false),
            ("say so", None, false),
        ] {
            let read = parse_checkpoint(value).unwrap();
            assert_eq!(
                (read.message.as_deref(), read.is_plain),
                (message, is_plain),
                "{value}"
            );
        }
        for nothing in ["", "none", "—", "N/A"] {
            assert_eq!(parse_checkpoint(nothing), None, "{nothing}");
        }
    }
}
