//! Prompts of the keyword and at most one more word, which start no task: `ulw`, `ulw?`, `ulw status`.

use super::Keywords;

/// What such a prompt asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortRequest {
    /// To go on with the run that there is, or to start one.
    GoOn,
    /// To say where the run stands.
    Status,
    /// To say how it is used.
    Help,
}

/// A longer prompt is a task.
const MAX_BYTES: usize = 64;

/// Reads the whole text of a person; `None` where it says more than that.
pub(super) fn read_short_request(text: &str, keywords: &Keywords) -> Option<ShortRequest> {
    let text = text.trim();
    if text.len() > MAX_BYTES {
        return None;
    }
    let begins = |word: &&String| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let keyword = keywords.words().iter().filter(begins).max_by_key(|word| word.len())?;
    let rest = text.get(keyword.len()..)?;
    if rest.trim().chars().all(|char| matches!(char, '.' | '!' | '…' | '。' | '！')) {
        return Some(ShortRequest::GoOn);
    }
    if rest.trim().chars().all(|char| matches!(char, '?' | '？' | '؟')) {
        return Some(ShortRequest::Help);
    }
    read_request_word(rest.strip_prefix(char::is_whitespace)?.trim())
}

/// The slash command that was typed right behind a prompt which omo has answered: the client puts the text of such a
/// prompt back into its input box, and the next one is typed behind it (measured on 2.1.328).
pub(super) fn command_behind_answered_prompt<'a>(text: &'a str, keywords: &Keywords) -> Option<&'a str> {
    let (answered, _) = text.split_once("/omo:").filter(|(answered, _)| answered.len() <= MAX_BYTES)?;
    let is_off = |answered: &str| {
        let (keyword, word) = answered.split_once(char::is_whitespace).unwrap_or_default();
        let is_keyword = keywords.words().iter().any(|known| known.eq_ignore_ascii_case(keyword.trim()));
        is_keyword && ["off", "stop"].iter().any(|off| word.trim().eq_ignore_ascii_case(off))
    };
    let is_answered = match read_short_request(answered, keywords) {
        Some(ShortRequest::Help | ShortRequest::Status) => true,
        Some(ShortRequest::GoOn) => false,
        None => is_off(answered),
    };
    text.get(answered.len()..).filter(|_| is_answered)
}

/// The word behind the keyword, or behind `/omo:ulw`.
pub fn read_request_word(word: &str) -> Option<ShortRequest> {
    const WORDS: [(&str, ShortRequest); 5] = [
        ("continue", ShortRequest::GoOn),
        ("resume", ShortRequest::GoOn),
        ("status", ShortRequest::Status),
        ("help", ShortRequest::Help),
        ("?", ShortRequest::Help),
    ];
    let plain = word.trim_end_matches(['?', '？', '؟', '!', '.']);
    let word = if plain.is_empty() { word } else { plain };
    WORDS.into_iter().find_map(|(known, request)| word.eq_ignore_ascii_case(known).then_some(request))
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
            assert_eq!(read_short_request(text, &Keywords::default()), expected, "{text:?}");
        }
        for (text, expected) in [
            ("ulw?/omo:status", Some("/omo:status")),
            ("ulw off/omo:stop-continuation now", Some("/omo:stop-continuation now")),
            ("ulw status/omo:report --last", Some("/omo:report --last")),
            ("turn off/omo:status", None),
            ("ulw/omo:status", None),
            ("ulw fix the text of /omo:status", None),
        ] {
            assert_eq!(command_behind_answered_prompt(text, &Keywords::default()), expected, "{text:?}");
        }
        assert_eq!(read_short_request("ulw", &Keywords::new(vec!["go-go".to_owned()]).unwrap()), None);
    }
}
