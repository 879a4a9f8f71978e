//! Whether a keyword is talked about rather than used.
//!
//! A heuristic over the clause around one occurrence. It knows three kinds of talk: questions
//! and explanations (`what is ulw`), negations (`without ulw`), and statements of which the
//! keyword is the subject (`ulw keeps running`). What fits none of them is an instruction.

mod english;
mod other_languages;

use std::ops::Range;

use super::sentence;

/// Whether this occurrence is talk.
pub(super) fn is_mention(text: &str, word: &Range<usize>) -> bool {
    let around = sentence::word_context(text, word);
    english::is_mention(&around) || other_languages::is_mention(&around)
}
