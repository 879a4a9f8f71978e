//! An error as JSON, for a command with `--json`: one line on stderr, in place of the words for people.

use serde::Serialize;

use crate::error::CommandError;
use crate::exit_kind::ExitKind;

#[derive(Serialize)]
struct Line<'a> {
    error: Fields<'a>,
}

#[derive(Serialize)]
struct Fields<'a> {
    kind: &'static str,
    message: &'a str,
    hint: Option<&'a str>,
    status: u8,
}

pub(crate) fn json_line(failure: &CommandError) -> String {
    let (kind, status) = (failure.kind.word(), failure.kind.code());
    let error = Fields {
        kind,
        message: failure.message(),
        hint: failure.hint(),
        status,
    };
    serde_json::to_string(&Line { error }).unwrap_or_default()
}

pub(crate) fn usage_json_line(error: &clap::Error, status: u8) -> String {
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n").map(on_one_line);
    let message = match error.kind() {
        clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "an argument is missing".to_owned()
        }
        _ => paragraphs
            .next()
            .unwrap_or_default()
            .trim_start_matches("error: ")
            .to_owned(),
    };
    let tip = paragraphs.find_map(|paragraph| Some(paragraph.strip_prefix("tip: ")?.to_owned()));
    let hint = tip.unwrap_or_else(|| "`--help` shows what a command takes".to_owned());
    let error = Fields {
        kind: ExitKind::Usage.word(),
        message: &message,
        hint: Some(&hint),
        status,
    };
    serde_json::to_string(&Line { error }).unwrap_or_default()
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn parsed(line: &str) -> Value {
        assert!(!line.contains('\n'), "{line}");
        serde_json::from_str(line).unwrap()
    }

    #[test]
    fn a_failure_is_one_line_with_all_that_people_are_told() {
        let failure = CommandError::not_found("no session `x`\nhere", "`omo status` lists them");
        let expected = json!({"error": {
            "kind": "notFound", "message": "no session `x`\nhere", "hint": "`omo status` lists them", "status": 3,
        }});
        assert_eq!(parsed(&json_line(&failure)), expected);
        let failure = CommandError::from(std::io::Error::from(std::io::ErrorKind::TimedOut));
        assert_eq!(parsed(&json_line(&failure))["error"]["hint"], Value::Null);
    }

    #[test]
    fn a_wrong_command_line_keeps_its_first_sentence_and_its_tip() {
        for (line, message, hint) in [
            (
                "omo status --jsn",
                "unexpected argument '--jsn' found",
                "a similar argument exists: '--json'",
            ),
            (
                "omo stop --session a --all",
                "the argument '--session <ID>' cannot be used with '--all'",
                "`--help` shows",
            ),
            ("omo run", "an argument is missing", "`--help` shows"),
        ] {
            let error = crate::command()
                .try_get_matches_from(line.split(' '))
                .unwrap_err();
            let said = parsed(&usage_json_line(&error, 2));
            assert_eq!(
                (&said["error"]["kind"], &said["error"]["status"]),
                (&json!("usage"), &json!(2))
            );
            assert_eq!(said["error"]["message"], message);
            assert!(
                said["error"]["hint"].as_str().unwrap().starts_with(hint),
                "{said}"
            );
        }
    }
}
