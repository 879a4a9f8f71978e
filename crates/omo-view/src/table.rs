//! Tables with aligned columns: `table_text`.

use std::fmt::Write;

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Blanks between two columns.
const GAP: usize = 2;

pub struct Cell {
    pub text: String,
    pub style: Style,
    /// Blanks behind the text.
    pub blanks: usize,
}

impl Cell {
    pub fn new(text: impl Into<String>, style: Style) -> Self {
        Self {
            text: text.into(),
            style,
            blanks: 0,
        }
    }

    pub fn plain(text: impl Into<String>) -> Self {
        Self::new(text, Style::new())
    }
}

pub fn head_cells<const N: usize>(heads: [&str; N]) -> [Cell; N] {
    heads.map(|head| Cell::new(head, Style::new().dimmed()))
}

/// Pads the cells of each column to the widest of them; an empty column takes no room.
pub fn align_columns<R: AsMut<[Cell]>>(rows: &mut [R]) {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows.iter_mut() {
        let row = row.as_mut();
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.text.width());
        }
    }
    for row in rows {
        if let Some((_, cells)) = row.as_mut().split_last_mut() {
            for (cell, width) in cells
                .iter_mut()
                .zip(&widths)
                .filter(|(_, width)| **width > 0)
            {
                cell.blanks = width - cell.text.width() + GAP;
            }
        }
    }
}

/// Rows under their heads, aligned as by `align_columns`.
pub fn table_text<const N: usize>(heads: [&str; N], rows: Vec<[Cell; N]>) -> String {
    let mut rows: Vec<[Cell; N]> = std::iter::once(head_cells(heads)).chain(rows).collect();
    align_columns(&mut rows);
    let mut out = String::new();
    for row in rows {
        for Cell {
            text,
            style,
            blanks,
        } in row
        {
            let _ = write!(out, "{style}{text}{style:#}{:blanks$}", "");
        }
        out.push('\n');
    }
    out
}

/// `text` in at most `columns` columns; a cut-off end leaves `…`.
pub fn truncate_columns(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let mut kept = String::new();
    for char in text.chars() {
        let width = char.width().unwrap_or(0);
        if width > left {
            break;
        }
        left -= width;
        kept.push(char);
    }
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_in_line_whatever_is_in_them() {
        let row = |a: &str, b: &str| [Cell::plain(a), Cell::plain(b)];
        let text = table_text(["a", "b"], vec![row("한국", "x"), row("long one", "")]);
        assert_eq!(
            anstream::adapter::strip_str(&text).to_string(),
            "a         b\n한국      x\nlong one  \n"
        );
    }

    #[test]
    fn what_is_cut_has_no_more_columns_than_asked() {
        assert_eq!(truncate_columns("short", 5), "short");
        assert_eq!(truncate_columns("longer", 5), "long…");
        assert_eq!(truncate_columns("한국어", 5), "한국…");
        assert_eq!(truncate_columns("한국어", 4), "한…");
    }
}
