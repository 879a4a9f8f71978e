//! Clears the checkboxes of a Markdown file: `- [x] 1. title` → `- [ ] 1. title`.

use std::ops::Range;

use crate::document::line_ranges;

/// Text with every checkbox open, lookalikes in code too: equal results are the same plan.
pub(super) fn with_open_boxes(text: &str) -> String {
    let (mut open, mut done) = (String::with_capacity(text.len()), 0);
    for line in line_ranges(text, 0..text.len()) {
        let Some(mark) = text.get(line.clone()).and_then(find_mark) else {
            continue;
        };
        open.push_str(text.get(done..line.start + mark.start).unwrap_or_default());
        open.push(' ');
        done = line.start + mark.end;
    }
    open.push_str(text.get(done..).unwrap_or_default());
    open
}

/// Bytes between the brackets of a line's checkbox: one character, or none.
fn find_mark(line: &str) -> Option<Range<usize>> {
    let item = line.trim_start_matches([' ', '\t']);
    let behind = item.strip_prefix(['-', '*', '+']).or_else(|| {
        let number = item.trim_start_matches(|char: char| char.is_ascii_digit());
        number
            .strip_prefix(['.', ')'])
            .filter(|_| number.len() < item.len())
    })?;
    let inner = behind.trim_start_matches([' ', '\t']).strip_prefix('[')?;
    let end = inner
        .char_indices()
        .take(2)
        .find(|(_, char)| *char == ']')
        .map(|(at, _)| at)?;
    let start = line.len() - inner.len();
    Some(start..start + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_in_a_box_is_opened() {
        for (text, expected) in [
            (
                "- [x] a\r\n  * [X] b\r\n3) [✓] c\n+\t[] d",
                "- [ ] a\r\n  * [ ] b\r\n3) [ ] c\n+\t[ ] d",
            ),
            (
                "[x] a\n- x] b\n- [xy] c\n- a [x]\n1 [x]\n- [x",
                "[x] a\n- x] b\n- [xy] c\n- a [x]\n1 [x]\n- [x",
            ),
            ("", ""),
        ] {
            assert_eq!(with_open_boxes(text), expected);
        }
    }
}
