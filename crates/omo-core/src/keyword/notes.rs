//! What the client and omo put into a prompt beside what its writer typed.

use std::ops::Range;

use crate::text::masked_text::find;

/// The client's notes and our own injected block: they are taken out, and the rest is read.
const NOTES: [(&str, &str); 2] =
    [("<system-reminder>", "</system-reminder>"), ("<ultrawork-mode>", "</ultrawork-mode>")];

/// Where the notes are, wherever they stand.
pub(super) fn notes(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (open, close) in NOTES {
        let mut from = 0;
        while let Some(start) = find(text, open, from) {
            let end = find(text, close, start).map_or(text.len(), |end| end + close.len());
            found.push(start..end);
            from = end;
        }
    }
    found
}

/// The prompt from what follows the notes at its beginning.
pub(super) fn without_leading_notes(mut text: &str) -> &str {
    loop {
        let note = NOTES.iter().find(|(open, _)| starts_with(text, open));
        let Some((_, close)) = note else { return text };
        // A note that never ends leaves nothing to read.
        text = text.split_once(close).map_or("", |(_, rest)| rest).trim_start();
    }
}

/// Whether a text begins with these ASCII characters, in either case.
pub(super) fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}
