//! `TextBudget`: text from outside, escaped, within bounds of each part and of the page. Cuts are counted in place.

use std::fmt;

use omo_core::text::{escape_unseen, pluralize};

/// Bytes of text of a page, its rows included.
const PAGE_BYTES: usize = 1_400_000;
const ROW_BYTES: usize = 240;

/// Escaped and bounded text, the only one that templates get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShownText(String);

impl ShownText {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for ShownText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rows<T> {
    pub rows: Vec<T>,
    /// Number of left-out rows in words; empty for none.
    pub more: String,
}

impl<T> Rows<T> {
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.more.is_empty()
    }
}

#[derive(Debug)]
pub(crate) struct TextBudget {
    left: usize,
}

impl TextBudget {
    pub(crate) fn new() -> Self {
        Self { left: PAGE_BYTES }
    }

    /// One line of at most `max` characters; `…` where the page is full.
    pub(crate) fn line(&mut self, text: &str, max: usize) -> ShownText {
        let text = escape_unseen(text.trim_end(), max);
        if self.take(html_bytes(&text)) {
            ShownText(text)
        } else {
            ShownText("…".to_owned())
        }
    }

    pub(crate) fn block<'a>(
        &mut self,
        lines: impl IntoIterator<Item = &'a str>,
        bound: BlockBound,
    ) -> ShownText {
        let mut lines = lines.into_iter();
        let mut out = String::new();
        for count in 0.. {
            let Some(line) = lines.next() else { break };
            let line = escape_unseen(line, bound.chars);
            let bytes = html_bytes(&line) + 1;
            if count == bound.lines || out.len() + bytes > bound.bytes || !self.take(bytes) {
                out.push_str(&left_out(1 + lines.count(), "line"));
                break;
            }
            out.push_str(&line);
            out.push('\n');
        }
        out.truncate(out.trim_end().len());
        ShownText(out)
    }

    /// At most `most` rows, as far as the page has room.
    pub(crate) fn rows<S, T>(
        &mut self,
        items: &[S],
        most: usize,
        noun: &str,
        mut row: impl FnMut(&mut Self, &S) -> T,
    ) -> Rows<T> {
        let mut rows = Vec::new();
        for item in items.iter().take(most) {
            if !self.take(ROW_BYTES) {
                break;
            }
            rows.push(row(self, item));
        }
        let more = items.len() - rows.len();
        Rows {
            rows,
            more: if more == 0 {
                String::new()
            } else {
                left_out(more, noun)
            },
        }
    }

    /// [`Self::rows`] that share the rest of the page evenly.
    pub(crate) fn shared_rows<S, T>(
        &mut self,
        items: &[S],
        most: usize,
        noun: &str,
        least: usize,
        mut row: impl FnMut(&mut Self, &S) -> T,
    ) -> Rows<T> {
        let mut rows = Vec::new();
        let shown = items.len().min(most).min(self.left / least.max(1));
        for (place, item) in items.iter().take(shown).enumerate() {
            let mut share = Self {
                left: self.left / (shown - place),
            };
            self.left -= share.left;
            share.take(least);
            rows.push(row(&mut share, item));
            self.left += share.left;
        }
        let more = items.len() - rows.len();
        Rows {
            rows,
            more: if more == 0 {
                String::new()
            } else {
                left_out(more, noun)
            },
        }
    }

    pub(crate) fn take(&mut self, bytes: usize) -> bool {
        let has_room = bytes <= self.left;
        if has_room {
            self.left -= bytes;
        }
        has_room
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockBound {
    pub lines: usize,
    pub chars: usize,
    pub bytes: usize,
}

pub(crate) fn left_out(count: usize, noun: &str) -> String {
    format!("… {} left out", pluralize(count, &format!("more {noun}")))
}

/// Bytes after HTML escaping.
fn html_bytes(text: &str) -> usize {
    text.bytes()
        .map(|byte| {
            if matches!(byte, b'<' | b'>' | b'&' | b'"' | b'\'') {
                5
            } else {
                1
            }
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: BlockBound = BlockBound {
        lines: 3,
        chars: 10,
        bytes: 1_000,
    };

    #[test]
    fn what_is_cut_off_is_counted() {
        let mut budget = TextBudget::new();
        assert_eq!(budget.line("ab\u{202e}c\n", 10).to_string(), r"ab\u{202e}c");
        assert_eq!(
            budget.block("a\nb\nc".lines(), BOUND).to_string(),
            "a\nb\nc"
        );
        assert_eq!(
            budget.block("a\nb\nc\nd\ne".lines(), BOUND).to_string(),
            "a\nb\nc\n… 2 more lines left out"
        );
        assert_eq!(
            budget.block(["abcdefghijkl"], BOUND).to_string(),
            "abcdefghij…"
        );
        let rows = budget.rows(&[1, 2, 3], 2, "check", |_, number| *number);
        assert_eq!(
            (rows.rows, rows.more.as_str()),
            (vec![1, 2], "… 1 more check left out")
        );
    }

    #[test]
    fn what_shares_a_page_leaves_room_for_the_rest() {
        let mut budget = TextBudget { left: 1_000 };
        let row = |budget: &mut TextBudget, text: &&str| budget.line(text, 9_999).to_string();
        let long = "x".repeat(600);
        let rows = budget.shared_rows(&[long.as_str(), "y", "z"], 9, "task", 100, row);
        assert_eq!(
            (rows.rows, rows.more.as_str()),
            (vec!["…".to_owned(), "y".to_owned(), "z".to_owned()], "")
        );
        let mut budget = TextBudget { left: 250 };
        let rows = budget.shared_rows(&["x", "y", "z"], 9, "task", 100, row);
        assert_eq!(
            (rows.rows.len(), rows.more.as_str()),
            (2, "… 1 more task left out")
        );
    }

    #[test]
    fn a_page_that_is_full_shows_no_more() {
        let mut budget = TextBudget::new();
        let large = "<".repeat(PAGE_BYTES / 5 - 1);
        assert_eq!(
            budget.line(&large, usize::MAX).to_string().len(),
            large.len()
        );
        assert_eq!(budget.line("<<<", 10).to_string(), "…");
        assert_eq!(
            budget.block(["<<<", "x"], BOUND).to_string(),
            "… 2 more lines left out"
        );
        let rows = budget.rows(&[1, 2], 9, "task", |_, number| *number);
        assert_eq!(
            (rows.rows, rows.more.as_str()),
            (vec![], "… 2 more tasks left out")
        );
    }
}
