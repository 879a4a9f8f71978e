//! Finds lines in a prompt that were pasted from a shell, a log, a program, a settings file or a
//! chat, by the form of each.

mod code_line;
mod command_line;
mod log_line;
mod prose_line;

use std::ops::Range;

use super::{Keywords, keyword_match};
use crate::text::masked_text::lines;

pub(super) fn pasted_lines(text: &str, keywords: &Keywords) -> Vec<Range<usize>> {
    let has_settings = lines(text).any(|(_, line)| is_setting(line));
    let mut ranges = indented_code(text);
    let mut named = 0;
    let all_named = lines(text)
        .filter(|(_, line)| keyword_match::contains_keyword(line, keywords))
        .count();
    for (range, line) in lines(text) {
        let trimmed = line.trim();
        let names_keyword = keyword_match::contains_keyword(line, keywords);
        named += usize::from(names_keyword);
        let is_in_middle = named > JUDGED_LINES && named + JUDGED_LINES <= all_named;
        if names_keyword && is_in_middle
            || is_shell(trimmed)
            || is_chat(line)
            || has_settings && is_section(trimmed)
        {
            ranges.push(range);
            continue;
        }
        if !names_keyword {
            continue;
        }
        let Some(word) = keyword_match::find_keywords(line, keywords)
            .into_iter()
            .next()
        else {
            continue;
        };
        let line = Line { text: line, word };
        let next = text
            .get(range.end..)
            .and_then(|rest| rest.lines().nth(1))
            .unwrap_or_default();
        if line.is_stack_frame()
            || line.is_setting_of_keyword()
            || line.is_run_of_keyword()
            || line.is_heading(next)
            || line.is_key_of(next)
            || line.is_row_of_words()
        {
            ranges.push(range);
        } else if !line.starts_with_keyword()
            && (line.is_command() || line.is_log() || line.is_code() || line.is_behind_label())
        {
            ranges.push(range.start..range.start + own_end(line.text, keywords));
        }
    }
    ranges
}

/// Maximum lines with a keyword judged from each end; a text with more is pasted, or hostile.
const JUDGED_LINES: usize = 64;

struct Line<'t> {
    text: &'t str,
    word: Range<usize>,
}

/// In `error: no such file, ulw fix it` the pasted part ends before the keyword.
fn own_end(line: &str, keywords: &Keywords) -> usize {
    keyword_match::find_keywords(line, keywords)
        .into_iter()
        .rfind(|word| begins_clause(line, word))
        .map_or(line.len(), |word| word.start)
}

fn begins_clause(line: &str, word: &Range<usize>) -> bool {
    let before = line.get(..word.start).unwrap_or_default();
    let stands_apart = [", ", ". ", "! ", " - ", " — ", "。", "，"]
        .iter()
        .filter_map(|mark| before.strip_suffix(mark))
        .any(|rest| !rest.ends_with(' ') && !rest.is_empty());
    let is_listed = line
        .get(word.end..)
        .is_some_and(|after| after.starts_with(','));
    stands_apart && !is_listed
}

fn is_shell(line: &str) -> bool {
    let marked = ["$ ", "% ", "❯", "› ", "➜ ", "⏺ ", "PS C:"]
        .iter()
        .any(|mark| line.starts_with(mark));
    // `me@host:~$ ulw`, `C:\work>ulw`
    let first = line.split_whitespace().next().unwrap_or_default();
    marked
        || first.contains('@') && first.ends_with(['$', '#', '%'])
        || first
            .get(1..)
            .is_some_and(|rest| rest.starts_with(":\\") && rest.contains('>'))
}

const LONGEST_ROLE: usize = 24;

fn is_chat(line: &str) -> bool {
    const ROLES: [&str; 19] = [
        "q",
        "a",
        "user",
        "assistant",
        "human",
        "system",
        "claude",
        "ai",
        "agent",
        "bot",
        "you",
        "me",
        "사용자",
        "어시스턴트",
        "用户",
        "助手",
        "ユーザー",
        "アシスタント",
        "developer",
    ];
    let line = line.trim_start_matches(|char: char| {
        char.is_whitespace() || matches!(char, '*' | '_' | '-' | '#')
    });
    let colon = line
        .char_indices()
        .take(LONGEST_ROLE)
        .find(|(_, char)| matches!(char, ':' | '：'));
    let Some((colon, _)) = colon else {
        return false;
    };
    let role = line
        .get(..colon)
        .unwrap_or_default()
        .trim_matches(['*', '_', ' ']);
    ROLES.iter().any(|name| role.eq_ignore_ascii_case(name))
}

/// `name = value`, and not in the middle of a sentence.
fn is_setting(line: &str) -> bool {
    line.split_once('=')
        .is_some_and(|(name, _)| is_name(name.trim()))
}

fn is_name(word: &str) -> bool {
    !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-.\"'".contains(&byte))
}

/// `[name]`, above settings.
fn is_section(line: &str) -> bool {
    line.strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(is_name)
}

/// `true` for a prompt of one line that is indented like Markdown's code.
pub(super) fn is_indented_line(prompt: &str) -> bool {
    is_indented(prompt) && prompt.trim().lines().count() == 1
}

fn is_indented(line: &str) -> bool {
    line.starts_with("    ") || line.starts_with('\t')
}

/// Lines indented like Markdown's code, in a text that is not indented and outside of lists.
fn indented_code(text: &str) -> Vec<Range<usize>> {
    if lines(text)
        .filter(|(_, line)| !line.trim().is_empty())
        .all(|(_, line)| is_indented(line))
    {
        return Vec::new();
    }
    let mut in_list = false;
    let mut ranges = Vec::new();
    for (range, line) in lines(text) {
        if !is_indented(line) {
            in_list = is_list_item(line) || in_list && line.trim().is_empty();
        } else if !in_list {
            ranges.push(range);
        }
    }
    ranges
}

/// `- text`, `* text`, `• text`, `1. text`.
pub(super) fn is_list_item(line: &str) -> bool {
    without_bullet(line).len() < line.trim_start().len()
}

pub(super) fn without_bullet(line: &str) -> &str {
    let line = line.trim_start();
    let number = line.trim_start_matches(|char: char| char.is_ascii_digit());
    let is_numbered = number.len() < line.len();
    let rest = if is_numbered {
        number.strip_prefix(['.', ')'])
    } else {
        line.strip_prefix(['-', '*', '•', '+', '–'])
    };
    rest.and_then(|rest| rest.strip_prefix(' '))
        .map_or(line, str::trim_start)
}

pub(super) fn is_task_word(word: &str) -> bool {
    among(command_line::TASKS, word)
}

fn among(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|other| other == word)
}

impl Line<'_> {
    fn before(&self) -> &str {
        self.text.get(..self.word.start).unwrap_or_default()
    }

    fn after(&self) -> &str {
        self.text.get(self.word.end..).unwrap_or_default()
    }

    fn starts_with_keyword(&self) -> bool {
        let before = without_bullet(self.before());
        let is_mark = ["//", "/*", "#!"]
            .iter()
            .any(|mark| before.starts_with(mark));
        !is_mark && !before.chars().any(char::is_alphanumeric)
    }
}
