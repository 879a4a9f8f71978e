//! The meaning of a prompt: a start with the keyword `ulw`, a slash command of omo, or `ulw off`.
//!
//! Only words that a person wrote as their own count. The steps, in order: `origin`, `slash`,
//! `mask`, `keyword_match`, `off_request` and `mention`.

mod keyword_match;
mod mask;
mod mention;
mod notes;
mod off_request;
mod origin;
mod pasted_lines;
mod pasted_tables;
pub mod plain_stop;
mod sentence;
pub mod short_request;
mod slash;

use std::fmt;
use std::ops::Range;

use short_request::ShortRequest;
use slash::SlashPrompt;

const MAX_KEYWORDS: usize = 16;
const MAX_CHARS: usize = 32;

/// Words that turn ultrawork on; an empty list turns the keyword off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keywords(Vec<String>);

impl Default for Keywords {
    fn default() -> Self {
        Self(vec!["ulw".to_owned(), "ultrawork".to_owned()])
    }
}

impl Keywords {
    /// At most 16 words, each of 1 to 32 letters and digits of any script, `-` and `_`.
    pub fn new(words: Vec<String>) -> Result<Self, InvalidKeyword> {
        if words.len() > MAX_KEYWORDS {
            return Err(InvalidKeyword::TooMany(words.len()));
        }
        match words.iter().find(|word| !is_keyword(word)) {
            Some(word) => Err(InvalidKeyword::Word(word.clone())),
            None => Ok(Self(words)),
        }
    }

    pub fn words(&self) -> &[String] {
        &self.0
    }
}

fn is_allowed(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '-' | '_')
}

fn is_keyword(word: &str) -> bool {
    (1..=MAX_CHARS).contains(&word.chars().count()) && word.chars().all(is_allowed)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidKeyword {
    TooMany(usize),
    /// Empty, too long, or with a character that is no letter, digit, `-` or `_`.
    Word(String),
}

impl fmt::Display for InvalidKeyword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany(count) => write!(f, "{count} keywords are more than {MAX_KEYWORDS}"),
            Self::Word(word) => write!(
                f,
                "{word:?} is not a word of 1 to {MAX_CHARS} letters and digits"
            ),
        }
    }
}

impl std::error::Error for InvalidKeyword {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptReading<'a> {
    /// Nothing for omo to do, or a prompt that no person wrote.
    Nothing,
    Activate {
        before: &'a str,
        keyword: &'a str,
        after: &'a str,
    },
    Short(ShortRequest),
    Command {
        /// `ulw` for `/omo:ulw` and `/ulw`.
        name: &'a str,
        /// Text behind one blank after the name, byte for byte.
        arguments: &'a str,
    },
    Off {
        /// `true` for a prompt without other words.
        whole: bool,
    },
}

impl PromptReading<'_> {
    pub fn turns_on(&self) -> bool {
        matches!(
            self,
            Self::Activate { .. } | Self::Short(ShortRequest::GoOn)
        )
    }
}

/// Reads a whole prompt, as its hook gets it.
pub fn read_prompt<'a>(prompt: &'a str, keywords: &Keywords) -> PromptReading<'a> {
    let Some(text) = origin::text_of_person(prompt) else {
        return PromptReading::Nothing;
    };
    let text = short_request::behind_answered_prompt(text, keywords).unwrap_or(text);
    match slash::read_slash_prompt(text) {
        SlashPrompt::Own { name, arguments } => PromptReading::Command { name, arguments },
        SlashPrompt::Foreign => PromptReading::Nothing,
        SlashPrompt::No => match short_request::read_short_request(text, keywords) {
            Some(request) => PromptReading::Short(request),
            None if pasted_lines::is_indented_line(prompt) => PromptReading::Nothing,
            None => read_words(text, keywords),
        },
    }
}

/// `false` for text that the client, another agent or a loop sends as a prompt.
pub fn is_from_a_person(prompt: &str) -> bool {
    origin::text_of_person(prompt).is_some()
}

fn read_words<'a>(text: &'a str, keywords: &Keywords) -> PromptReading<'a> {
    let mut words = keyword_match::find_keywords(text, keywords);
    if words.is_empty() {
        return PromptReading::Nothing;
    }
    let masked = mask::own_words(text, keywords);
    let own_words = masked.text();
    // Covered text differs in the masked text.
    words.retain(|word| own_words.get(word.clone()) == text.get(word.clone()));
    drop_middle(&mut words);
    if let Some(off) = off_request::find_off_request(own_words, &words) {
        return PromptReading::Off { whole: off.whole };
    }
    let Some(word) = words
        .iter()
        .find(|word| !mention::is_mention(own_words, word))
    else {
        return PromptReading::Nothing;
    };
    match (
        text.get(..word.start),
        text.get(word.clone()),
        text.get(word.end..),
    ) {
        (Some(before), Some(keyword), Some(after)) => PromptReading::Activate {
            before,
            keyword,
            after,
        },
        _ => PromptReading::Nothing,
    }
}

/// Maximum occurrences judged at each end: people give instructions first or last.
const JUDGED: usize = 32;

fn drop_middle(words: &mut Vec<Range<usize>>) {
    let tail = words.len().saturating_sub(JUDGED);
    if tail > JUDGED {
        words.drain(JUDGED..tail);
    }
}
