//! Splits text at Markdown backticks: "run `make` now" → `run `, code `make`, ` now`.

use std::collections::HashMap;
use std::ops::Range;

/// Part of a text, either plain or code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InlinePiece<'a> {
    /// `true` for text between backticks.
    pub is_code: bool,
    pub text: &'a str,
    pub range: Range<usize>,
}

/// Pieces of `text`; as in Markdown, backticks that are not closed by as many are plain text.
pub(crate) fn split_inline_code(text: &str) -> Vec<InlinePiece<'_>> {
    let runs = backtick_runs(text);
    // Next runs by length, so that none is searched twice.
    let mut later: HashMap<usize, Vec<usize>> = HashMap::new();
    for (place, run) in runs.iter().enumerate().rev() {
        later.entry(run.len()).or_default().push(place);
    }
    let mut pieces = Vec::new();
    let (mut plain_from, mut place) = (0, 0);
    while let Some(open) = runs.get(place) {
        let same = later.entry(open.len()).or_default();
        while same.last().is_some_and(|known| *known <= place) {
            same.pop();
        }
        let Some((end, close)) = same.last().and_then(|end| Some((*end, runs.get(*end)?))) else {
            place += 1;
            continue;
        };
        push_plain(&mut pieces, text, plain_from..open.start);
        let inner = text.get(open.end..close.start).unwrap_or_default();
        pieces.push(InlinePiece {
            is_code: true,
            text: unpadded(inner),
            range: open.start..close.end,
        });
        (plain_from, place) = (close.end, end + 1);
    }
    push_plain(&mut pieces, text, plain_from..text.len());
    pieces
}

/// Text without backticks, if all of it is one piece of code.
pub(crate) fn sole_code(text: &str) -> Option<&str> {
    let pieces = split_inline_code(text.trim());
    match pieces.as_slice() {
        [
            InlinePiece {
                is_code: true,
                text,
                ..
            },
        ] => Some(text),
        _ => None,
    }
}

fn push_plain<'a>(pieces: &mut Vec<InlinePiece<'a>>, text: &'a str, range: Range<usize>) {
    if !range.is_empty() {
        let plain = text.get(range.clone()).unwrap_or_default();
        pieces.push(InlinePiece {
            is_code: false,
            text: plain,
            range,
        });
    }
}

fn backtick_runs(text: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices('`') {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

// A space on both sides belongs to the backticks.
fn unpadded(code: &str) -> &str {
    let inner = code
        .strip_prefix(' ')
        .and_then(|code| code.strip_suffix(' '));
    inner
        .filter(|inner| !inner.trim().is_empty())
        .unwrap_or(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(bool, &str)> {
        split_inline_code(text)
            .into_iter()
            .map(|piece| (piece.is_code, piece.text))
            .collect()
    }

    #[test]
    fn code_is_what_stands_between_as_many_backticks() {
        for (text, expected) in [
            ("", vec![]),
            ("plain", vec![(false, "plain")]),
            ("`a`, `b`", vec![(true, "a"), (false, ", "), (true, "b")]),
            ("``a ` b``", vec![(true, "a ` b")]),
            ("`` `a` ``", vec![(true, "`a`")]),
            ("`open", vec![(false, "`open")]),
            ("``x` `y`", vec![(false, "``x"), (true, " "), (false, "y`")]),
            ("å `ø` 認", vec![(false, "å "), (true, "ø"), (false, " 認")]),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn the_pieces_are_the_whole_value() {
        proptest::proptest!(|(text in "[`a é\n]{0,40}")| {
            let pieces = split_inline_code(&text);
            let joined: String = pieces.iter().map(|piece| &text[piece.range.clone()]).collect();
            proptest::prop_assert_eq!(joined, text.clone());
        });
    }

    #[test]
    fn many_backticks_that_are_never_closed_cost_no_more_than_their_length() {
        let text = (1..2_000)
            .map(|length| "`".repeat(length))
            .collect::<Vec<_>>()
            .join(" ");
        assert_eq!(split_inline_code(&text).len(), 1);
    }
}
