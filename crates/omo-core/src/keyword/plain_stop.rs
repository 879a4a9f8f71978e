//! Prompts that only say to stop, to wait, or no: `stop. do not continue.`, `기다려`.

use super::off_request::{is_foreign_stop, is_off_ending, is_polite, is_stop_verb, words_of};
use super::origin;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainStop {
    Stop,
    /// Waiting or no, which may answer a question.
    Wait,
}

const MAX_BYTES: usize = 96;

/// The whole prompt of a person; `None` for any other words.
pub fn read_plain_stop(prompt: &str) -> Option<PlainStop> {
    let text = origin::text_of_person(prompt)?.trim();
    if text.len() > MAX_BYTES || text.starts_with('/') {
        return None;
    }
    let lower = text.to_lowercase().replace('’', "'");
    let asks = lower.ends_with(['?', '？', '؟']);
    if asks
        && !["can you", "could you", "would you", "will you"]
            .iter()
            .any(|start| lower.starts_with(start))
    {
        return None;
    }
    let phrases = [(&STOP_PHRASES[..], " stop "), (&WAIT_PHRASES[..], " wait ")];
    let replacements = phrases
        .into_iter()
        .flat_map(|(phrases, word)| phrases.iter().map(move |phrase| (phrase, word)));
    let words = replacements.fold(lower, |text, (phrase, word)| text.replace(phrase, word));
    let words: Vec<&str> = words_of(&words)
        .into_iter()
        .map(without_courtesy)
        .filter(|word| !word.is_empty())
        .collect();
    let says_only = words
        .iter()
        .all(|word| is_stop(word) || is_wait(word) || is_polite(word) || FILLERS.contains(word));
    match says_only {
        true if words.iter().any(is_stop) => Some(PlainStop::Stop),
        true if words.iter().any(is_wait) => Some(PlainStop::Wait),
        _ => None,
    }
}

fn is_stop(word: &&str) -> bool {
    matches!(*word, "stop" | "halt" | "stopp")
        || is_foreign_stop(word)
        || is_off_ending(word)
        || STOPS.contains(word)
}

fn is_wait(word: &&str) -> bool {
    WAITS.contains(word) || is_stop_verb(word)
}

fn without_courtesy(word: &str) -> &str {
    let word = word.strip_prefix(['请', '請', '先']).unwrap_or(word);
    ["ください", "下さい", "一下", "吧", "啊"]
        .iter()
        .find_map(|end| word.strip_suffix(end))
        .unwrap_or(word)
}

/// Requests to stop, in lower case, the longest first.
const STOP_PHRASES: [&str; 29] = [
    "don't do anything",
    "mach nicht weiter",
    "ne continuez pas",
    "do not continue",
    "ne continue pas",
    "don't continue",
    "do not proceed",
    "dont continue",
    "don't proceed",
    "that's enough",
    "đừng tiếp tục",
    "do not go on",
    "nicht weiter",
    "no continúes",
    "não continue",
    "don't go on",
    "arrête tout",
    "do nothing",
    "no sigas",
    "dừng lại",
    "계속하지 마세요",
    "stop it",
    "hör auf",
    "계속하지 마",
    "続けないで",
    "하지 마",
    "不要继续",
    "别繼續",
    "别继续",
];

const WAIT_PHRASES: [&str; 12] = [
    "never mind",
    "un momento",
    "un instant",
    "warte mal",
    "leave it",
    "hold on",
    "hold up",
    "hold it",
    "hang on",
    "ちょっと待って",
    "잠깐만",
    "一分钟",
];

/// Words that ask to stop, besides those that turn ultrawork off.
const STOPS: [&str; 29] = [
    "停",
    "停下",
    "停下来",
    "停下來",
    "停止して",
    "止めて",
    "やめて",
    "止まって",
    "中止",
    "中止して",
    "ストップ",
    "스톱",
    "멈추세요",
    "그만하세요",
    "그만해요",
    "하지마",
    "anhalten",
    "aufhören",
    "abbrechen",
    "basta",
    "detente",
    "arrêtez",
    "arrete",
    "ferma",
    "fermati",
    "стоп",
    "стой",
    "остановись",
    "хватит",
];

const WAITS: [&str; 54] = [
    "wait",
    "pause",
    "enough",
    "nevermind",
    "moment",
    "warte",
    "warten",
    "pausa",
    "espera",
    "esperen",
    "alto",
    "attends",
    "attendez",
    "pare",
    "espere",
    "aspetta",
    "wacht",
    "đợi",
    "khoan",
    "подожди",
    "잠깐",
    "잠시만",
    "기다려",
    "기다려줘",
    "기다리세요",
    "待って",
    "待て",
    "一時停止",
    "等等",
    "等",
    "稍等",
    "暂停",
    "暫停",
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

const FILLERS: [&str; 27] = [
    "a",
    "one",
    "minute",
    "second",
    "sec",
    "bit",
    "everything",
    "working",
    "work",
    "on",
    "all",
    "that",
    "there",
    "un",
    "momento",
    "mal",
    "kurz",
    "bitte",
    "ya",
    "tout",
    "s'il",
    "te",
    "vous",
    "plaît",
    "até",
    "ahora",
    "jetzt",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_prompt_that_says_nothing_else_stops() {
        use PlainStop::{Stop, Wait};
        for (prompt, expected) in [
            ("stop", Some(Stop)),
            ("Stop. Do not continue.", Some(Stop)),
            ("STOP!!!", Some(Stop)),
            ("please stop now", Some(Stop)),
            ("wait", Some(Wait)),
            ("hold on a second", Some(Wait)),
            ("ok, pause", Some(Wait)),
            ("no, stop", Some(Stop)),
            ("no", Some(Wait)),
            ("No, thanks.", Some(Wait)),
            ("don't continue", Some(Stop)),
            ("stop working on this", Some(Stop)),
            ("can you stop?", Some(Stop)),
            ("can you stop the server?", None),
            ("never mind", Some(Wait)),
            ("mach nicht weiter", Some(Stop)),
            ("ya basta", Some(Stop)),
            ("arrête tout, s'il te plaît", Some(Stop)),
            ("请停止", Some(Stop)),
            ("停一下", Some(Stop)),
            ("停止してください", Some(Stop)),
            ("그만하세요", Some(Stop)),
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
            ("잠깐만 기다려줘", Some(Wait)),
            ("아니요", Some(Wait)),
            ("待って", Some(Wait)),
            ("止めてください", Some(Stop)),
            ("停", Some(Stop)),
            ("等一下", Some(Wait)),
            ("不要", Some(Wait)),
            ("Stopp bitte", Some(Stop)),
            ("warte mal kurz", Some(Wait)),
            ("nein", Some(Wait)),
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
