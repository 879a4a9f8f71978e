//! `ScreenLine`: texts with styles. [`harmless_text`] strips what a terminal could obey.

use std::fmt::Write as _;

use anstyle::Style;
use omo_core::text::sanitize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::table::truncate_columns;

/// Maximum characters of a text.
const MAX_CHARS: usize = 400;
/// Columns from which a screen shows workers and the kind of the run.
pub(crate) const WIDE: usize = 60;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreenLine(pub Vec<(Style, String)>);

impl ScreenLine {
    pub(crate) fn new(style: Style, text: impl Into<String>) -> Self {
        Self::default().with(style, text)
    }

    pub(crate) fn with(mut self, style: Style, text: impl Into<String>) -> Self {
        self.0.push((style, text.into()));
        self
    }

    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.width()).sum()
    }

    /// Its first `columns` columns.
    pub(crate) fn fit(self, columns: usize) -> Self {
        let mut left = columns;
        let mut fitting = Vec::new();
        let is_whole = self.width() <= columns;
        for (style, text) in self.0 {
            let text = if is_whole {
                text
            } else {
                truncate_columns(&text, left)
            };
            // A wide character that is cut leaves a column.
            left = left.saturating_sub(text.width());
            fitting.push((style, text));
            if left == 0 {
                break;
            }
        }
        Self(fitting)
    }

    /// Text with escape sequences.
    pub fn styled(&self) -> String {
        let mut styled = String::new();
        for (style, text) in &self.0 {
            let _ = write!(styled, "{style}{text}{style:#}");
        }
        styled
    }

    pub fn plain(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }
}

/// `text` on one line, without anything that a terminal could take for more than text.
pub fn harmless_text(text: &str) -> String {
    // Bounded before it is parsed: a hostile text may be of any length.
    let text: String = text.chars().take(4 * MAX_CHARS).collect();
    let plain = anstream::adapter::strip_str(&text).to_string();
    // Characters without width can pile up on one cell without end, or join others.
    sanitize(&plain, MAX_CHARS)
        .chars()
        .filter(|char| UnicodeWidthChar::width(*char).unwrap_or(0) > 0)
        .collect()
}

/// Wraps `text`; `sign` stands before the first line.
pub(crate) fn wrapped(text: &str, columns: usize, sign: &str, style: Style) -> Vec<ScreenLine> {
    let indent = " ".repeat(sign.width());
    let room = columns.saturating_sub(sign.width()).max(1);
    let lines = text
        .lines()
        .map(harmless_text)
        .filter(|line| !line.is_empty());
    let broken: Vec<String> = lines
        .flat_map(|line| {
            textwrap::wrap(&line, room)
                .into_iter()
                .map(String::from)
                .collect::<Vec<_>>()
        })
        .collect();
    let with_sign = broken.into_iter().enumerate().map(|(place, line)| {
        let before = if place == 0 { sign } else { &indent };
        ScreenLine::new(style, format!("{before}{line}"))
    });
    with_sign.collect()
}

/// First `rows` lines; a cut leaves `…`.
pub(crate) fn shorten(mut lines: Vec<ScreenLine>, rows: usize) -> Vec<ScreenLine> {
    if lines.len() > rows {
        lines.truncate(rows);
        if let Some((_, text)) = lines.last_mut().and_then(|line| line.0.last_mut()) {
            text.push('…');
        }
    }
    lines
}
