//! Tables whose columns stand in line.

use std::io::Write;

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A cell, and how it is shown.
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// A cell in a style.
    pub(crate) fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }

    /// A cell as it is.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::new(text, Style::new())
    }
}

/// Writes rows under their heads; every column is as wide as its widest cell, and nothing stands
/// behind the last one.
pub(crate) fn write_table<const N: usize>(
    out: &mut impl Write,
    heads: [&str; N],
    rows: Vec<[Cell; N]>,
) -> std::io::Result<()> {
    let dim = Style::new().dimmed();
    let heads = heads.map(|head| Cell::new(head, dim));
    let rows: Vec<[Cell; N]> = std::iter::once(heads).chain(rows).collect();
    let mut widths = [0; N];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.text.width());
        }
    }
    for row in rows {
        let last = N - 1;
        for (index, (cell, width)) in row.iter().zip(widths).enumerate() {
            let pad = if index == last { String::new() } else { " ".repeat(width - cell.text.width() + 2) };
            write!(out, "{style}{}{style:#}{pad}", cell.text, style = cell.style)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// A text in at most so many columns; what is cut off leaves a sign.
pub(crate) fn truncate_columns(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |char: &char| {
        let width = char.width().unwrap_or(0);
        let fits = width <= left;
        left = left.saturating_sub(width);
        fits
    };
    let mut kept: String = text.chars().take_while(fits).collect();
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_in_line_whatever_is_in_them() {
        let mut out = Vec::new();
        let row = |a: &str, b: &str| [Cell::plain(a), Cell::plain(b)];
        write_table(&mut out, ["a", "b"], vec![row("한국", "x"), row("long one", "")]).unwrap();
        let text = anstream::adapter::strip_bytes(&out).into_vec();
        assert_eq!(String::from_utf8(text).unwrap(), "a         b\n한국      x\nlong one  \n");
    }

    #[test]
    fn what_is_cut_has_no_more_columns_than_asked() {
        assert_eq!(truncate_columns("short", 5), "short");
        assert_eq!(truncate_columns("longer", 5), "long…");
        assert_eq!(truncate_columns("한국어", 5), "한국…");
        assert_eq!(truncate_columns("한국어", 4), "한…");
    }
}
