//! Search of added lines for words of unfinished work, which are shown to the reviewer and refuse
//! nothing. `TODO`, `FIXME` and `WIP` count anywhere; a word that is honest in code or in a test's
//! name (`placeholder=`, `it("should work")`) counts in a comment only; "temporary" alone does not.

use std::collections::BTreeSet;

use crate::event::UnfinishedLine;
use crate::state::RunState;

/// Maximum lines told of one task: a longer list does not help the reader.
pub const MAX_UNFINISHED_LINES: usize = 100;

const MARKS: [&str; 3] = ["TODO", "FIXME", "WIP"];
const SAYINGS: [&str; 8] = [
    "not implemented",
    "basic implementation",
    "you can extend this",
    "temporary fix",
    "temporary solution",
    "temporary workaround",
    "todo!",
    "unimplemented!",
];
const REMARKS: [&str; 4] = ["placeholder", "should work", "probably works", "hack"];
/// Starts of a comment in most languages, behind a blank or at the beginning of a line.
const COMMENTS: [&str; 6] = ["//", "/*", "<!--", "#", "-- ", "* "];
/// Characters around a word that is a name in code, and not a remark.
const OF_CODE: [char; 12] = ['-', '=', '.', ':', '$', '{', '}', '"', '\'', '`', '/', '\\'];

/// The first [`MAX_UNFINISHED_LINES`] among `added` lines, given as file, number and text.
pub(crate) fn find_unfinished_lines<Text: AsRef<str>>(
    added: impl IntoIterator<Item = (Text, usize, Text)>,
) -> Vec<UnfinishedLine> {
    let found = added.into_iter().filter_map(|(file, line, text)| {
        let word = unfinished_word_in(text.as_ref())?.to_owned();
        Some(UnfinishedLine {
            file: file.as_ref().to_owned(),
            line,
            word,
        })
    });
    found.take(MAX_UNFINISHED_LINES).collect()
}

fn unfinished_word_in(text: &str) -> Option<&'static str> {
    let lower = text.to_ascii_lowercase();
    let mark = MARKS
        .into_iter()
        .find(|word| word_positions(text, word).next().is_some());
    let saying = mark.or_else(|| {
        SAYINGS
            .into_iter()
            .find(|word| word_positions(&lower, word).any(|at| !is_http_status(&lower, at)))
    });
    saying.or_else(|| {
        let comment = comment_in(&lower)?;
        REMARKS.into_iter().find(|word| {
            word_positions(comment, word).any(|at| !is_code_name(comment, at, word.len()))
        })
    })
}

/// Positions of a word by itself: no letter, digit or `_` before it or behind it.
fn word_positions<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    memchr::memmem::find_iter(text.as_bytes(), word).filter(move |at| {
        let (before, behind) = characters_around(text, *at, word.len());
        !before.is_some_and(is_part_of_word) && !behind.is_some_and(is_part_of_word)
    })
}

fn is_part_of_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

fn characters_around(text: &str, at: usize, length: usize) -> (Option<char>, Option<char>) {
    let before = text.get(..at).and_then(|text| text.chars().next_back());
    let behind = text.get(at + length..).and_then(|text| text.chars().next());
    (before, behind)
}

/// The words are a server's answer: `501 Not Implemented`.
fn is_http_status(text: &str, at: usize) -> bool {
    text.get(..at)
        .is_some_and(|before| before.trim_end().ends_with("501"))
}

/// The word in a comment is a name in code. A full stop ends a sentence, unless a name goes on behind it.
fn is_code_name(text: &str, at: usize, length: usize) -> bool {
    let (before, behind) = characters_around(text, at, length);
    before.is_some_and(|char| OF_CODE.contains(&char))
        || behind.is_some_and(|char| match char {
            '.' | ':' => characters_around(text, at + length, 1)
                .1
                .is_some_and(char::is_alphanumeric),
            char => OF_CODE.contains(&char),
        })
}

fn comment_in(line: &str) -> Option<&str> {
    let starts = COMMENTS.into_iter().flat_map(|mark| {
        memchr::memmem::find_iter(line.as_bytes(), mark).filter(move |at| {
            // Only behind a blank: neither an address (`https://…`) nor `*` between two numbers begins a comment.
            let before = characters_around(line, *at, 0).0;
            if mark == "* " {
                line.get(..*at)
                    .is_some_and(|before| before.trim().is_empty())
            } else {
                before.is_none_or(|char| char.is_whitespace() || char == ';')
            }
        })
    });
    line.get(starts.min()?..)
}

/// Added lines that look unfinished: of the last search of the whole, or else as each task left them; each once.
pub(crate) fn unfinished_lines(state: &RunState) -> Vec<&UnfinishedLine> {
    if let Some(found) = &state.unfinished {
        return found.iter().collect();
    }
    let ends = state
        .plan
        .tasks
        .iter()
        .filter_map(|task| state.tasks.get(&task.id)?.last_end.as_ref());
    let mut known = BTreeSet::new();
    let lines = ends.filter_map(|end| end.unfinished.as_ref()).flatten();
    lines
        .filter(|line| known.insert((line.file.as_str(), line.line)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&'static str> {
        unfinished_word_in(text)
    }

    #[test]
    fn a_line_that_says_that_it_is_not_finished_is_found() {
        for (line, word) in [
            ("// TODO", "TODO"),
            ("# TODO(ana): the second case", "TODO"),
            ("let s = \"TODO\";", "TODO"),
            ("* removed the TODO of the parser", "TODO"),
            ("<!-- FIXME: broken link -->", "FIXME"),
            ("WIP: do not merge", "WIP"),
            ("throw new Error(\"Not implemented\")", "not implemented"),
            ("    todo!()", "todo!"),
            ("    unimplemented!(\"later\")", "unimplemented!"),
            ("/* a basic implementation */", "basic implementation"),
            ("You can extend this to other types.", "you can extend this"),
            ("x = 1  # a temporary fix", "temporary fix"),
            ("let url = PLACE; // placeholder", "placeholder"),
            ("-- placeholder until the table is there", "placeholder"),
            ("<!-- Placeholder. -->", "placeholder"),
            (" * This should work for most inputs", "should work"),
            ("# probably works", "probably works"),
            ("foo(); /* ugly hack */", "hack"),
            ("// 한국어 TODO", "TODO"),
        ] {
            assert_eq!(found(line).unwrap_or_default(), word, "{line}");
        }
    }

    #[test]
    fn an_honest_line_is_not() {
        for line in [
            "",
            "let todo = todos.len();",
            "class TodoList { TODO_LIMIT = 3 }",
            "const AUTODOC = 1; // see METHODOLOGY",
            "<input placeholder=\"Your name\">",
            "<!-- <input placeholder=\"Your name\"> -->",
            "input::placeholder { color: gray }",
            "fn placeholder(text: &str) {}",
            "// the `placeholder` attribute is kept",
            "// see docs/placeholder.png",
            "{/* {placeholder} is filled in */}",
            "it(\"should work with two users\", () => {",
            "https://example.com/should work",
            "return response(501, \"x\"); // HTTP 501 Not Implemented",
            "StatusCode::NOT_IMPLEMENTED",
            "let dir = temporary_folder(); // a temporary folder",
            "# hackathon rules",
            "a = b * hack",
            "swipe = WIPER; RAWIP",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }

    #[test]
    fn a_finding_says_where_it_is() {
        let lines = [
            ("src/a.rs", 3, "fn a() {}"),
            ("src/a.rs", 4, "// FIXME, TODO"),
            ("b.md", 1, "WIP"),
        ];
        let expected = [("src/a.rs", 4, "TODO"), ("b.md", 1, "WIP")].map(|(file, line, word)| {
            UnfinishedLine {
                file: file.to_owned(),
                line,
                word: word.to_owned(),
            }
        });
        assert_eq!(find_unfinished_lines(lines), expected);
    }

    #[test]
    fn only_so_many_are_told() {
        let lines =
            (1..=250).map(|line| ("a.rs", line, if line % 2 == 0 { "// TODO" } else { "done" }));
        let found = find_unfinished_lines(lines);
        assert_eq!(
            (found.len(), found.last().unwrap().line),
            (MAX_UNFINISHED_LINES, 200)
        );
    }
}
