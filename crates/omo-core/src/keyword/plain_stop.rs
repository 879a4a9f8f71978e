//! A prompt that only says to stop or to wait, or no, in plain words: `stop. do not continue.`, `기다려`.

use super::off_request::{is_foreign_stop, is_off_ending, is_polite, is_stop_verb, words_of};
use super::origin;

/// The kind of a prompt that only stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainStop {
    /// To stop or to wait.
    Stop,
    /// `no`, which answers a question as well.
    No,
}

/// A longer prompt says more.
const MAX_BYTES: usize = 96;

/// Reads the whole prompt of a person; `None` where it says anything else.
pub fn read_plain_stop(prompt: &str) -> Option<PlainStop> {
    let text = origin::text_of_person(prompt)?.trim();
    if text.len() > MAX_BYTES || text.starts_with('/') || text.ends_with(['?', '？', '؟']) {
        return None;
    }
    let lower = text.to_lowercase().replace('’', "'");
    let rest = PHRASES.iter().fold(lower.clone(), |text, phrase| text.replace(phrase, " stop "));
    let words = words_of(&rest);
    let is_stop = |word: &&str| {
        word.chars().all(|char| char == '停')
            || is_stop_verb(word)
            || is_foreign_stop(word)
            || is_off_ending(word)
            || STOPS.contains(word)
    };
    let says_only =
        words.iter().all(|word| is_stop(word) || NOES.contains(word) || is_polite(word) || FILLERS.contains(word));
    match says_only {
        true if words.iter().any(is_stop) => Some(PlainStop::Stop),
        true if words.iter().any(|word| NOES.contains(word)) => Some(PlainStop::No),
        _ => None,
    }
}

/// Requests of several words to stop or to wait, in lower case.
const PHRASES: [&str; 36] = [
    "don't do anything",
    "do nothing",
    "do not continue",
    "don't continue",
    "dont continue",
    "do not go on",
    "don't go on",
    "do not proceed",
    "don't proceed",
    "hold on",
    "hold it",
    "hang on",
    "that's enough",
    "leave it",
    "hör auf",
    "nicht weiter",
    "mach nicht weiter",
    "warte mal",
    "no sigas",
    "no continúes",
    "un momento",
    "ne continue pas",
    "ne continuez pas",
    "un instant",
    "não continue",
    "dừng lại",
    "đừng tiếp tục",
    "계속하지 마세요",
    "계속하지 마",
    "하지 마",
    "잠깐만",
    "続けないで",
    "ちょっと待って",
    "不要继续",
    "別繼續",
    "别继续",
];

/// Words that ask to stop or to wait, beside those that turn ultrawork off.
const STOPS: [&str; 54] = [
    "wait",
    "pause",
    "enough",
    "stopp",
    "halt",
    "warte",
    "warten",
    "anhalten",
    "aufhören",
    "pausa",
    "espera",
    "esperen",
    "detente",
    "alto",
    "basta",
    "attends",
    "attendez",
    "arrêtez",
    "arrete",
    "pare",
    "espere",
    "ferma",
    "fermati",
    "aspetta",
    "wacht",
    "đợi",
    "khoan",
    "стоп",
    "стой",
    "остановись",
    "подожди",
    "хватит",
    "잠깐",
    "기다려",
    "기다려줘",
    "기다리세요",
    "멈추세요",
    "스톱",
    "待って",
    "待ってください",
    "止めてください",
    "やめてください",
    "止まってください",
    "止まって",
    "ストップ",
    "一時停止",
    "等等",
    "等一下",
    "等",
    "停下",
    "停下来",
    "停下來",
    "暂停",
    "暫停",
];

/// Words that say no.
const NOES: [&str; 21] = [
    "no",
    "nope",
    "nein",
    "non",
    "não",
    "nee",
    "không",
    "нет",
    "아니",
    "아니요",
    "아니오",
    "아니야",
    "안돼",
    "いいえ",
    "いや",
    "だめ",
    "ダメ",
    "不",
    "不要",
    "不行",
    "不用",
];

/// Words that add nothing to a request to stop.
const FILLERS: [&str; 17] = [
    "a",
    "moment",
    "minute",
    "second",
    "sec",
    "bit",
    "everything",
    "working",
    "work",
    "all",
    "that",
    "there",
    "un",
    "momento",
    "mal",
    "kurz",
    "bitte",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_prompt_that_says_nothing_else_stops() {
        use PlainStop::{No, Stop};
        for (prompt, expected) in [
            ("stop", Some(Stop)),
            ("Stop. Do not continue.", Some(Stop)),
            ("STOP!!!", Some(Stop)),
            ("please stop now", Some(Stop)),
            ("wait", Some(Stop)),
            ("hold on a second", Some(Stop)),
            ("ok, pause", Some(Stop)),
            ("no, stop", Some(Stop)),
            ("no", Some(No)),
            ("No, thanks.", Some(No)),
            ("don't continue", Some(Stop)),
            ("stop working on this", None),
            ("wait for the build to finish", None),
            ("stop the server", None),
            ("no, use the other file", None),
            ("why did you stop?", None),
            ("stop?", None),
            ("pause between the retries", None),
            ("not that", None),
            ("and now", None),
            ("ok", None),
            ("", None),
            ("멈춰", Some(Stop)),
            ("잠깐만 기다려줘", Some(Stop)),
            ("아니요", Some(No)),
            ("待って", Some(Stop)),
            ("止めてください", Some(Stop)),
            ("停", Some(Stop)),
            ("等一下", Some(Stop)),
            ("不要", Some(No)),
            ("Stopp bitte", Some(Stop)),
            ("warte mal kurz", Some(Stop)),
            ("nein", Some(No)),
            ("para, por favor", Some(Stop)),
            ("arrête", Some(Stop)),
            ("dừng lại", Some(Stop)),
            ("don't stop", None),
            ("do not stop now", None),
            ("never stop", None),
            ("止めないで", None),
            ("/stop", None),
        ] {
            assert_eq!(read_plain_stop(prompt), expected, "{prompt:?}");
        }
    }
}
