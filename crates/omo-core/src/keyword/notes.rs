//! Finds notes that the client or omo adds to a prompt, such as `<system-reminder>`.

use std::ops::Range;

use crate::text::masked_text::find;

/// Tags around a note, which is removed with its content; the rest of the prompt is read.
const NOTES: [(&str, &str); 2] = [
    ("<system-reminder>", "</system-reminder>"),
    (OWN_NOTE, "</ultrawork-mode>"),
];

/// A block that omo always closes: an open one was typed by the writer.
const OWN_NOTE: &str = "<ultrawork-mode>";

/// Byte ranges of the notes in `text`, with their tags.
pub(super) fn notes(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    for (open, close) in NOTES {
        let mut from = 0;
        while let Some(start) = find(text, open, from) {
            let closing = find(text, close, start).map(|end| end + close.len());
            from = closing.unwrap_or(text.len());
            if closing.is_some() || open != OWN_NOTE {
                ranges.push(start..from);
            }
        }
    }
    ranges
}

pub(super) fn without_leading_notes(mut text: &str) -> &str {
    loop {
        let note = NOTES.iter().find(|(open, _)| starts_with(text, open));
        let Some((open, close)) = note else {
            return text;
        };
        match text.split_once(close) {
            Some((_, rest)) => text = rest.trim_start(),
            None if open.eq_ignore_ascii_case(OWN_NOTE) => return text,
            // A note that never ends leaves nothing to read.
            None => return "",
        }
    }
}

/// `true` for a beginning with the ASCII characters of `prefix`, in either case.
pub(super) fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}
