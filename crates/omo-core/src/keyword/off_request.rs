//! Requests to turn ultrawork off, such as `ulw off` and `stop ulw`.
//!
//! The clause holds the keyword, a word for stopping and politeness only: `ulw stop the server from
//! crashing` is a task.

use std::ops::Range;

use super::sentence::{ends_clause, ends_sentence};
use crate::text::masked_text::COVERED;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OffRequest {
    pub(super) whole: bool,
}

pub(super) fn find_off_request(text: &str, words: &[Range<usize>]) -> Option<OffRequest> {
    let clause = words.iter().find_map(|word| off_clause(text, word))?;
    let rest = [text.get(..clause.start), text.get(clause.end..)];
    let whole = rest
        .into_iter()
        .flatten()
        .all(|rest| words_of(rest).iter().all(|word| is_polite(word)));
    Some(OffRequest { whole })
}

/// Maximum bytes of the clause on each side of the keyword.
const WINDOW: usize = 80;

fn off_clause(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let before = text.get(..word.start)?;
    let after = text.get(word.end..)?;
    let start = start_of_clause(before)?;
    let (end, mark) = end_of_clause(after)?;
    let left = before.get(start..)?.to_lowercase();
    let right = after.get(..end)?.to_lowercase();
    let left: Vec<&str> = words_of(&left);
    let right: Vec<&str> = words_of(&right);
    let asks = matches!(mark, '?' | '？') && !is_request(&left);
    // `ulw stop() never returns` names a function.
    let is_call = mark == '(' && !after.get(..end)?.ends_with(char::is_whitespace);
    (!asks && !is_call && turns_off(&left, &right)).then_some(start..word.end + end)
}

fn start_of_clause(before: &str) -> Option<usize> {
    let mut next = ' ';
    for (at, char) in before.char_indices().rev() {
        if ends_sentence(char, next) || ends_clause(char, next) {
            return Some(at + char.len_utf8());
        }
        if before.len() - at > WINDOW {
            return None;
        }
        next = char;
    }
    Some(0)
}

/// Offset and sign of the clause's end; `and`, `then` and `but` begin another clause.
fn end_of_clause(after: &str) -> Option<(usize, char)> {
    let mut chars = after.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let next = chars.peek().map_or('\n', |&(_, next)| next);
        if ends_sentence(char, next) || ends_clause(char, next) {
            return Some((at, char));
        }
        if at > WINDOW {
            return None;
        }
        let rest = after.get(at..)?;
        if [" and ", " then ", " but "].into_iter().any(|word| {
            rest.get(..word.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(word))
        }) {
            return Some((at, char));
        }
    }
    Some((after.len(), '\n'))
}

pub(super) fn words_of(text: &str) -> Vec<&str> {
    text.split(|char: char| !(char.is_alphanumeric() || matches!(char, '\'' | '’' | '-' | COVERED)))
        .filter(|word| word.chars().any(|char| char != '-'))
        .collect()
}

fn is_request(left: &[&str]) -> bool {
    matches!(left.first(), Some(&("can" | "could" | "would" | "will")))
}

fn turns_off(left: &[&str], right: &[&str]) -> bool {
    let left: Vec<&str> = left
        .iter()
        .copied()
        .filter(|word| !is_polite(word))
        .collect();
    let right: Vec<&str> = right
        .iter()
        .copied()
        .filter(|word| !is_polite(word) && !is_noun(word))
        .collect();
    match (left.as_slice(), right.as_slice()) {
        ([], [verb, stops @ ..]) if stops.iter().all(|stop| is_stop_verb(stop)) => {
            is_off_word(verb) || is_stop_verb(verb) || is_off_ending(verb)
        }
        ([], ["을" | "를" | "を" | "模式", verb]) => is_off_ending(verb),
        ([], ["turn" | "switch" | "shut", "off" | "down"])
        | (["turn" | "switch" | "shut"], ["off" | "down"])
        | (["turn" | "switch" | "shut", "off" | "down"], []) => true,
        ([verb], []) => is_stop_verb(verb) || is_foreign_stop(verb),
        _ => false,
    }
}

fn is_off_word(word: &str) -> bool {
    matches!(word, "off" | "aus" | "aan-uit")
}

pub(super) fn is_stop_verb(word: &str) -> bool {
    matches!(
        word,
        "stop"
            | "cancel"
            | "disable"
            | "deactivate"
            | "end"
            | "exit"
            | "quit"
            | "abort"
            | "halt"
            | "kill"
            | "stoppen"
    )
}

pub(super) fn is_foreign_stop(word: &str) -> bool {
    matches!(
        word,
        "停止"
            | "关闭"
            | "關閉"
            | "关掉"
            | "關掉"
            | "取消"
            | "停掉"
            | "结束"
            | "結束"
            | "退出"
            | "desactiva"
            | "para"
            | "detén"
            | "arrête"
            | "désactive"
            | "beende"
            | "stoppe"
            | "tắt"
            | "dừng"
    )
}

/// `true` for a verb that ends a Korean, Japanese or Chinese clause, or for one behind particles.
pub(super) fn is_off_ending(word: &str) -> bool {
    const PARTICLES: [&str; 7] = ["을", "를", "を", "は", "모드", "モード", "模式"];
    const VERBS: [&str; 36] = [
        "꺼",
        "꺼줘",
        "꺼주세요",
        "끄기",
        "꺼라",
        "끄자",
        "그만",
        "그만해",
        "그만해줘",
        "중지",
        "중지해",
        "중지해줘",
        "중단",
        "중단해",
        "중단해줘",
        "멈춰",
        "멈춰줘",
        "종료",
        "종료해",
        "종료해줘",
        "취소",
        "취소해줘",
        "해제",
        "해제해줘",
        "オフ",
        "オフにして",
        "止めて",
        "やめて",
        "停止",
        "停止して",
        "終了",
        "終了して",
        "キャンセル",
        "关闭",
        "关掉",
        "取消",
    ];
    let mut verb = word;
    while let Some(rest) = PARTICLES
        .iter()
        .find_map(|particle| verb.strip_prefix(particle))
    {
        verb = rest;
    }
    VERBS.contains(&verb)
}

fn is_noun(word: &str) -> bool {
    matches!(
        word,
        "mode" | "loop" | "run" | "session" | "모드" | "モード"
    )
}

pub(super) fn is_polite(word: &str) -> bool {
    let lower = word.to_lowercase();
    matches!(
        lower.as_str(),
        "please"
            | "pls"
            | "plz"
            | "now"
            | "ok"
            | "okay"
            | "thanks"
            | "thank"
            | "you"
            | "thx"
            | "hey"
            | "hi"
            | "claude"
            | "just"
            | "the"
            | "this"
            | "for"
            | "me"
            | "can"
            | "could"
            | "would"
            | "will"
            | "immediately"
            | "and"
            | "right"
            | "away"
            | "it"
            | "here"
            | "omo"
            | "이제"
            | "그냥"
            | "제발"
            | "좀"
            | "줘"
            | "주세요"
            | "해줘"
            | "해주세요"
            | "ください"
            | "下さい"
            | "お願いします"
            | "请"
            | "請"
            | "吧"
            | "bitte"
            | "gracias"
            | "merci"
            | "danke"
            | "por"
            | "favor"
    )
}
