//! Tells talk about a keyword (`ulw does not work`) from its use (`ulw fix the tests`).
//!
//! The rules hold for every language; their words are data (`words`). A keyword is used where it
//! begins or ends a clause, or next to a word that puts it to use; not where it is refused, a
//! subject, or in a question that asks for no action. In doubt it is talk: a run must not start
//! unasked.

mod english;
mod words;

use std::ops::Range;

use super::sentence::{self, WordContext};

/// `true` where `text` only talks about the keyword at `word`.
pub(super) fn is_mention(text: &str, word: &Range<usize>) -> bool {
    let around = sentence::word_context(text, word);
    english::is_mention(&around) || Occurrence::new(&around).is_mention()
}

const REFUSED_WORDS: usize = 4;
/// Maximum letters from a refusal to a keyword, in scripts without blanks.
const REFUSED_LETTERS: usize = 7;

const JOINTS: [&str; 16] = [
    "and", "then", "but", "so", "now", "y", "e", "und", "et", "и", "dan", "và", "ve", "aber",
    "pero", "also",
];

const ARTICLES: [&str; 14] = [
    "the", "a", "az", "o", "el", "le", "den", "das", "dem", "il", "το", "omo's", "omo", "your",
];

struct Occurrence<'a> {
    around: &'a WordContext,
    lead: &'a str,
    /// Behind the keyword and its `mode`.
    tail: &'a str,
    /// The tail is written onto the keyword, like a particle.
    is_attached: bool,
    /// The sentence politely asks for an action.
    has_request: bool,
}

impl<'a> Occurrence<'a> {
    fn new(around: &'a WordContext) -> Self {
        let lead = skip_fillers(around.before.trim());
        let is_attached = !around.after.starts_with(char::is_whitespace);
        let tail = without_mode(around.after.trim());
        let has_request = [&around.before, &around.after]
            .iter()
            .any(|text| is_request(text));
        Self {
            around,
            lead,
            tail,
            is_attached,
            has_request,
        }
    }

    fn is_mention(&self) -> bool {
        self.is_refused_or_explained()
            || self.is_subject()
            || self.asks()
            || self.reports()
            || self.is_list_item()
            || !self.is_used()
    }

    /// `ohne ulw`, `ulw 말고`, `解释 ulw`.
    fn is_refused_or_explained(&self) -> bool {
        let particle = longest(&words::USE_AFTER, self.tail, Side::Start).unwrap_or(0);
        let bare = self.tail.get(particle..).unwrap_or_default().trim_start();
        let beyond = self
            .tail
            .trim_start_matches(|char: char| !char.is_alphanumeric());
        self.is_refused()
            || self.is_behind_talk()
            || [beyond, bare]
                .iter()
                .any(|tail| longest(&words::TALK_AFTER, tail, Side::Start).is_some())
            || explains(&self.around.before)
            || !self.is_first() && explains(self.tail)
    }

    /// `explica ulw`, `o ulw`; not `use o ulw`, where the keyword is put to use.
    fn is_behind_talk(&self) -> bool {
        let before = self.around.before.trim_end();
        let is_article = before
            .split_whitespace()
            .next_back()
            .is_some_and(|word| ARTICLES.contains(&word));
        longest(&words::TALK_BEFORE, before, Side::LastWord).is_some_and(|length| {
            !(is_article
                && self.is_put_to_use()
                && !before
                    .get(before.len() - length..)
                    .is_some_and(|phrase| phrase.contains(' ')))
        })
    }

    /// A refusal a few words before: `no quiero que uses ulw`, `不要再启动 ulw`.
    fn is_refused(&self) -> bool {
        let before = self.around.before.trim_end();
        if phrases(&words::FORGETTING).any(|phrase| before.contains(phrase)) {
            return false;
        }
        let mut near = before.split_whitespace().rev().take(REFUSED_WORDS);
        let word_refuses = near
            .by_ref()
            .take_while(|word| !JOINTS.contains(word))
            .any(|word| phrases(&words::REFUSING).any(|phrase| phrase == word));
        let letters = before
            .char_indices()
            .rev()
            .take(REFUSED_LETTERS)
            .last()
            .map_or(before.len(), |(at, _)| at);
        let near = before.get(letters..).unwrap_or_default();
        word_refuses
            || phrases(&words::REFUSING)
                .filter(|phrase| phrase.chars().all(|char| char > '\u{dff}'))
                .any(|phrase| near.contains(phrase))
    }

    /// `ulw가 …`, `ulwが …`.
    fn is_subject(&self) -> bool {
        self.is_attached
            && phrases(&words::SUBJECT_PARTICLES).any(|particle| {
                self.tail.strip_prefix(particle).is_some_and(|rest| {
                    let is_kana = particle
                        .chars()
                        .all(|char| matches!(char, '\u{3040}'..='\u{309f}'));
                    is_kana && !rest.starts_with("モード")
                        || !rest.starts_with(char::is_alphanumeric)
                })
            })
    }

    /// A question that asks for no action. Behind a keyword that comes first it may be about the
    /// task: `ulw why does it fail? fix it`.
    fn asks(&self) -> bool {
        let is_marked = matches!(self.around.end, '?' | '？' | '؟');
        let (request, asking) = (
            self.request_length(),
            longest(&words::ASKING_END, self.ending(), Side::End),
        );
        let ends_as_question =
            asking.is_some_and(|length| length > request) && !self.tail.is_empty();
        let begins_as_question = longest(&words::ASKING, self.lead, Side::Start).is_some();
        let goes_on_as_question = self.starts_behind_a_word(&words::ASKING);
        let is_request = request > 0
            || self.lead_requests()
            || self.has_request
            || self.is_put_to_use() && is_request(&self.around.clauses_before);
        begins_as_question && !is_request
            || (is_marked || ends_as_question || goes_on_as_question)
                && !is_request
                && !self.is_followed_by_task()
    }

    /// `ulw не работает`, `어제 ulw 돌렸는데 멈췄어`.
    fn reports(&self) -> bool {
        let request = self.request_length();
        let begins = self.starts_behind_a_word(&words::REPORTS) && !self.is_put_to_use();
        let first_clause = self.first_clause();
        let ends = [first_clause, self.ending()]
            .iter()
            .all(|clause| ends_as_report(clause));
        let is_rescued = self.is_first() && self.is_followed_by_task();
        let begins_in_past = longest(&words::PAST, self.lead, Side::Start).is_some();
        begins_in_past && request == 0 && !self.has_request
            || begins && request == 0
            || ends && !self.has_request && !is_rescued
            || self.is_verb_of_report() && !is_rescued
    }

    fn is_verb_of_report(&self) -> bool {
        let mut words = self
            .tail
            .split_whitespace()
            .skip_while(|word| matches!(*word, "не" | "опять" | "снова" | "уже"));
        let verb = words
            .next()
            .unwrap_or_default()
            .trim_matches(|char: char| !char.is_alphanumeric());
        let last = self
            .ending()
            .split_whitespace()
            .next_back()
            .unwrap_or_default();
        words::RUSSIAN_REPORT_VERBS
            .iter()
            .any(|end| verb.ends_with(end))
            || words::TURKISH_REPORT_VERBS
                .iter()
                .any(|end| last.ends_with(end))
    }

    /// `plan, ulw, ralph`, `modes are plan, ulw and ralph`.
    fn is_list_item(&self) -> bool {
        let rest: Vec<&str> = sentence::split_words(&self.around.after);
        let is_between = self.around.opened_by == Some(',') && self.around.before.trim().is_empty();
        let is_last_but_one = self.around.after.starts_with(',') && rest.len() == 1
            || matches!(rest.as_slice(), ["and" | "or", _]);
        is_between && is_last_but_one
    }

    fn is_used(&self) -> bool {
        self.is_first()
            || skip_fillers(self.tail).is_empty()
            || self.has_request
            || self.request_length() > 0
            || self.is_put_to_use()
            || self
                .lead
                .rsplit(' ')
                .next()
                .is_some_and(|word| JOINTS.contains(&word))
            || longest(&words::USE_AFTER, self.tail, Side::Start).is_some()
            || self.is_behind_one_word()
    }

    /// `use ulw`, `mit ulw`, `用ulw`.
    fn is_put_to_use(&self) -> bool {
        let lead = ARTICLES.iter().find_map(|article| {
            self.lead
                .strip_suffix(article)
                .filter(|rest| rest.ends_with(' '))
                .map(str::trim_end)
        });
        longest(
            &words::USE_BEFORE,
            lead.unwrap_or(self.lead),
            Side::LastWord,
        )
        .is_some()
    }

    fn is_first(&self) -> bool {
        self.lead.is_empty()
    }

    /// `team ulw build it`; not `my ulw run`.
    fn is_behind_one_word(&self) -> bool {
        const NAMING: [&str; 12] = [
            "my", "your", "our", "the", "a", "this", "that", "his", "her", "their", "any",
            "another",
        ];
        let is_word = self.lead.chars().all(|char| char.is_ascii_alphanumeric());
        is_word && !NAMING.contains(&self.lead) && self.tail.split_whitespace().count() > 1
    }

    /// `なぜ落ちるか調べて直して ulw`: a question within a request. Korean endings serve for both.
    fn lead_requests(&self) -> bool {
        let [_, unambiguous @ ..] = &words::REQUEST_END;
        self.tail.is_empty() && longest(unambiguous, self.lead, Side::End).is_some()
    }

    fn request_length(&self) -> usize {
        let ending = self.ending();
        let request = longest(&words::REQUEST_END, ending, Side::End).unwrap_or(0);
        let report = longest(&words::REPORT_END, ending, Side::End).unwrap_or(0);
        if request < report { 0 } else { request }
    }

    fn ending(&self) -> &str {
        self.tail
            .trim_end_matches(|char: char| !char.is_alphanumeric() && !is_mark_of_a_script(char))
    }

    fn first_clause(&self) -> &str {
        let end = self
            .tail
            .find([',', '，', '、', ':'])
            .unwrap_or(self.tail.len());
        self.tail.get(..end).unwrap_or_default()
    }

    /// `true` where the tail, or the rest behind its first word, begins with a phrase of `table`.
    fn starts_behind_a_word(&self, table: &[&'static str]) -> bool {
        let tail = self
            .tail
            .trim_start_matches(|char: char| !char.is_alphanumeric());
        longest(table, tail, Side::Start).is_some()
    }

    fn is_followed_by_task(&self) -> bool {
        let next = self.around.next.trim();
        let asks = next.ends_with(['?', '？', '؟'])
            || longest(&words::ASKING, next, Side::Start).is_some();
        let word = next.trim_end_matches(|char: char| !char.is_alphanumeric());
        let is_empty = matches!(word, "" | "no" | "nope" | "nah" | "yes");
        self.is_first()
            && !is_empty
            && !asks
            && longest(&words::SPEAKERS, next, Side::Start).is_none()
    }
}

fn is_request(text: &str) -> bool {
    phrases(&words::REQUESTS).any(|phrase| contains_word(text, phrase))
}

fn explains(text: &str) -> bool {
    phrases(&words::EXPLAINING).any(|phrase| text.contains(phrase))
}

fn is_mark_of_a_script(char: char) -> bool {
    matches!(char, '\u{900}'..='\u{e7f}')
}

fn ends_as_report(clause: &str) -> bool {
    let clause =
        clause.trim_end_matches(|char: char| !char.is_alphanumeric() && !is_mark_of_a_script(char));
    let request = longest(&words::REQUEST_END, clause, Side::End);
    let report = longest(&words::REPORT_END, clause, Side::End);
    report > request || request.is_none() && ends_in_korean_past(clause)
}

/// Korean's past tense closes a syllable with ㅆ: `멈췄어`, `했네`, `있다`.
fn ends_in_korean_past(clause: &str) -> bool {
    const SYLLABLES: std::ops::RangeInclusive<u32> = 0xac00..=0xd7a3;
    const FINALS: u32 = 28;
    const SSANG_SIOS: u32 = 20;
    let last = clause.split_whitespace().next_back().unwrap_or_default();
    last.chars()
        .map(u32::from)
        .any(|code| SYLLABLES.contains(&code) && (code - SYLLABLES.start()) % FINALS == SSANG_SIOS)
}

fn without_mode(tail: &str) -> &str {
    let rest = ["모드", "モード", "模式", "mode", "โหมด", "मोड"]
        .iter()
        .find_map(|noun| tail.strip_prefix(noun));
    rest.map_or(tail, str::trim_start)
}

const MAX_FILLERS: usize = 12;

/// The stretch behind greetings and politeness; empty for nothing else.
fn skip_fillers(text: &str) -> &str {
    let mut rest =
        text.trim_start_matches(|char: char| !char.is_alphanumeric() && !is_mark_of_a_script(char));
    for _ in 0..MAX_FILLERS {
        let end = rest.find(|char: char| {
            !char.is_alphanumeric() && !is_mark_of_a_script(char) && char != '\''
        });
        let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        if word.is_empty() || !phrases(&words::FILLERS).any(|filler| filler == word) {
            return rest;
        }
        rest = rest.get(word.len()..).unwrap_or_default();
        rest = rest
            .trim_start_matches(|char: char| !char.is_alphanumeric() && !is_mark_of_a_script(char));
    }
    rest
}

fn phrases(table: &[&'static str]) -> impl Iterator<Item = &'static str> {
    table.iter().flat_map(|language| language.split('|'))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Start,
    End,
    /// At the end, where Korean endings are no words.
    LastWord,
}

/// Length of the longest phrase of `table` at one end of `text`, as whole words.
fn longest(table: &[&'static str], text: &str, side: Side) -> Option<usize> {
    phrases(table)
        .filter(|phrase| stands_at(phrase, text, side))
        .map(str::len)
        .max()
}

fn stands_at(phrase: &str, text: &str, side: Side) -> bool {
    let stem = phrase.strip_suffix('*');
    let rest = match side {
        Side::Start => text.strip_prefix(stem.unwrap_or(phrase)),
        Side::End | Side::LastWord => text.strip_suffix(phrase),
    };
    if stem.is_some() {
        return rest.is_some();
    }
    rest.is_some_and(|rest| {
        let (inner, outer) = match side {
            Side::Start => (phrase.chars().next_back(), rest.chars().next()),
            Side::End | Side::LastWord => (phrase.chars().next(), rest.chars().next_back()),
        };
        !outer.is_some_and(char::is_alphanumeric)
            || !inner.is_some_and(|char| is_bounded(char, phrase, side))
    })
}

/// `true` for the last letter of a phrase that must end a word: in scripts with blanks, and in
/// Korean for short phrases, which are parts of many words.
fn is_bounded(char: char, phrase: &str, side: Side) -> bool {
    match char {
        _ if !char.is_alphanumeric() => false,
        '\u{ac00}'..='\u{d7a3}' => {
            side == Side::LastWord || side == Side::Start && phrase.chars().count() == 1
        }
        '\u{0}'..='\u{dff}' | '\u{1e00}'..='\u{1eff}' => true,
        _ => false,
    }
}

fn contains_word(text: &str, phrase: &str) -> bool {
    if text.len() < phrase.len() || text.is_ascii() && !phrase.is_ascii() {
        return false;
    }
    text.match_indices(phrase).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text
            .get(at + phrase.len()..)
            .and_then(|after| after.chars().next());
        let is_spaced = phrase
            .chars()
            .next()
            .is_some_and(|char| is_bounded(char, phrase, Side::End));
        !is_spaced
            || !before.is_some_and(char::is_alphanumeric)
                && !after.is_some_and(char::is_alphanumeric)
    })
}
