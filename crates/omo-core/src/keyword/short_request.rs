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
        assert_eq!(read_short_request("ulw", &Keywords::new(vec!["go-go".to_owned()]).unwrap()), None);
    }
}
