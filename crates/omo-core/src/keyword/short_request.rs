//! Prompts of the keyword and at most one more word: `ulw`, `ulw?`, `ulw status`.

use super::Keywords;
use super::plain_stop::{PlainStop, read_plain_stop};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortRequest {
    GoOn,
    Status,
    Help,
}

/// Maximum bytes; a longer prompt is a task.
const MAX_BYTES: usize = 64;

/// Meaning of a prompt of the keyword and at most one word; `None` for a longer text.
pub(super) fn read_short_request(text: &str, keywords: &Keywords) -> Option<ShortRequest> {
    let text = text.trim();
    if text.len() > MAX_BYTES {
        return None;
    }
    let rest = text_behind_keyword(text, keywords)?;
    if rest
        .trim()
        .chars()
        .all(|char| matches!(char, '.' | '!' | '…' | '。' | '！'))
    {
        return Some(ShortRequest::GoOn);
    }
    if rest
        .trim()
        .chars()
        .all(|char| matches!(char, '?' | '？' | '؟'))
    {
        return Some(ShortRequest::Help);
    }
    read_request_word(rest.strip_prefix(char::is_whitespace)?.trim())
}

/// Text behind the first keyword, the longest one that matches.
fn text_behind_keyword<'a>(text: &'a str, keywords: &Keywords) -> Option<&'a str> {
    let length = keywords
        .words()
        .iter()
        .filter(|word| {
            text.get(..word.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(word))
        })
        .map(String::len)
        .max()?;
    text.get(length..)
}

/// Words that omo answers, and endings of longer words: `helpers`, `offline`.
const ANSWERED: [(&str, &[&str]); 4] = [
    ("status", &["es", "line", "bar", "code"]),
    ("help", &["er", "ful", "ing", "s ", "ed", "desk"]),
    (
        "off",
        &["line", "ice", "set", "er", "icial", "load", "screen", "s "],
    ),
    (
        "stop",
        &["s ", "ping", "ped", "per", "watch", "word", "light"],
    ),
];

/// Text behind an answered prompt, which the client left in its input box (measured on 2.1.328).
pub(crate) fn behind_answered_prompt<'a>(text: &'a str, keywords: &Keywords) -> Option<&'a str> {
    let rest = text_behind_keyword(text.trim_start(), keywords)?;
    if let Some(typed) = rest.strip_prefix(['?', '？', '؟']) {
        return (is_stop(typed, keywords)
            || !typed.is_empty() && !typed.starts_with([' ', '\n', '?', '？', '؟']))
        .then_some(typed);
    }
    let word = rest.strip_prefix(' ')?;
    let (answered, typed) = ANSWERED
        .iter()
        .find_map(|(answered, _)| Some((answered, word.strip_prefix(answered)?)))?;
    let goes_on = typed.starts_with(|char: char| char.is_alphanumeric() || char == '/');
    let is_longer_word = ANSWERED.iter().any(|(word, endings)| {
        word == answered && endings.iter().any(|ending| typed.starts_with(ending))
    });
    let is_shown = matches!(*answered, "status" | "help");
    (is_shown && is_stop(typed, keywords) || goes_on && !is_longer_word).then_some(typed)
}

/// `true` for a stop behind a blank, in plain words or with the keyword, which is no task.
fn is_stop(typed: &str, keywords: &Keywords) -> bool {
    let text = typed.trim();
    let behind = text_behind_keyword(text, keywords).map(str::trim);
    typed.starts_with(char::is_whitespace)
        && (matches!(behind, Some("off" | "stop"))
            || matches!(
                read_plain_stop(text),
                Some(PlainStop::Stop | PlainStop::Wait)
            ))
}

/// The word behind the keyword, or behind `/omo:ulw`.
pub fn read_request_word(word: &str) -> Option<ShortRequest> {
    const WORDS: [(&str, ShortRequest); 13] = [
        ("continue", ShortRequest::GoOn),
        ("resume", ShortRequest::GoOn),
        ("status", ShortRequest::Status),
        ("help", ShortRequest::Help),
        ("?", ShortRequest::Help),
        ("check", ShortRequest::Help),
        ("list", ShortRequest::Help),
        ("log", ShortRequest::Help),
        ("verify", ShortRequest::Help),
        ("report", ShortRequest::Help),
        ("version", ShortRequest::Help),
        ("--version", ShortRequest::Help),
        ("doctor", ShortRequest::Help),
    ];
    let plain = word.trim_end_matches(['?', '？', '؟', '!', '.']);
    let word = if plain.is_empty() { word } else { plain };
    WORDS
        .into_iter()
        .find_map(|(known, request)| word.eq_ignore_ascii_case(known).then_some(request))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_of_the_keyword_alone_is_a_request_and_any_other_is_not() {
        use ShortRequest::{GoOn, Help, Status};
        for (text, expected) in [
            ("ulw", Some(GoOn)),
            ("  ULTRAWORK!\n", Some(GoOn)),
            ("ulw continue", Some(GoOn)),
            ("ulw Resume.", Some(GoOn)),
            ("ulw?", Some(Help)),
            ("ulw ？", Some(Help)),
            ("ulw help", Some(Help)),
            ("ultrawork status?", Some(Status)),
            ("ulw continue with the parser", None),
            ("ulw help me fix the tests", None),
            ("ulw status.rs is broken", None),
            ("ulwstatus", None),
            ("ulws", None),
            ("ulw-continue", None),
            ("continue", None),
            ("", None),
        ] {
            assert_eq!(
                read_short_request(text, &Keywords::default()),
                expected,
                "{text:?}"
            );
        }
        for (text, expected) in [
            ("ulw?/omo:status", Some("/omo:status")),
            ("ulw?ulw status", Some("ulw status")),
            ("ulw?fix the tests", Some("fix the tests")),
            (
                "ulw off/omo:stop-continuation now",
                Some("/omo:stop-continuation now"),
            ),
            ("ulw statusulw fix it", Some("ulw fix it")),
            ("ulw?", None),
            ("ulw? fix it", None),
            ("ulw status of the parser", None),
            ("ulw offline mode", None),
            ("ulw helpers: fix them", None),
            ("ulw offyes", Some("yes")),
            ("ulw statusfix the tests", Some("fix the tests")),
            ("ulw? stop", Some(" stop")),
            ("ulw status ulw off", Some(" ulw off")),
            ("ulw status ulw is wrong", None),
            ("ulw status\nno, stop", Some("\nno, stop")),
            ("ulw off and wait", None),
            ("ulw status stop the server", None),
            ("turn off/omo:status", None),
            ("ulw/omo:status", None),
        ] {
            assert_eq!(
                behind_answered_prompt(text, &Keywords::default()),
                expected,
                "{text:?}"
            );
        }
        assert_eq!(
            read_short_request("ulw", &Keywords::new(vec!["go-go".to_owned()]).unwrap()),
            None
        );
    }
}
