//! Markdown tables whose columns are aligned in a terminal, too.

use omo_core::text::command_text::paste_form;
use omo_core::text::sanitize;
use unicode_width::UnicodeWidthStr;

/// A table with a head row, and an empty line behind it.
pub(crate) fn table<const N: usize>(heads: [&str; N], rows: &[[String; N]]) -> String {
    let mut widths = heads.map(UnicodeWidthStr::width);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let rule = widths.map(|width| "-".repeat(width));
    let heads = heads.map(str::to_owned);
    let lines = [&heads, &rule]
        .into_iter()
        .chain(rows)
        .map(|row| line(row, &widths));
    lines.chain(["\n".to_owned()]).collect()
}

/// A table of at most `most` rows; the others are counted below it.
pub(crate) fn truncated_table<const N: usize>(
    heads: [&str; N],
    rows: &[[String; N]],
    most: usize,
) -> String {
    let shown = rows.get(..most).unwrap_or(rows);
    let more = rows.len() - shown.len();
    let more = if more > 0 {
        format!("… and {more} more\n\n")
    } else {
        String::new()
    };
    format!("{}{more}", table(heads, shown))
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let padded = cells.iter().zip(widths).map(|(cell, width)| {
        let pad = " ".repeat(width.saturating_sub(cell.width()));
        format!("| {cell}{pad} ")
    });
    padded.chain(["|\n".to_owned()]).collect()
}

/// Text of a task in a cell, cut at `most` characters.
pub(crate) fn cell(text: &str, most: usize) -> String {
    escape_cell(&sanitize(text, most))
}

/// A command in a cell, as code, cut at `most` characters.
pub(crate) fn code_cell(command: &str, most: usize) -> String {
    escape_cell(&paste_form(command, most))
}

/// Text with each `|` escaped, as it would end the cell; a `\` before it would undo that and is set apart.
fn escape_cell(text: &str) -> String {
    text.replace("\\|", "\\ |").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_in_line_whatever_is_in_them() {
        let row = |one: &str, other: &str| [cell(one, 10), cell(other, 10)];
        let text = table(["ID", "Task"], &[row("1", "한국"), row("verify", "⏳ b")]);
        let expected = "\
| ID     | Task |
| ------ | ---- |
| 1      | 한국 |
| verify | ⏳ b |

";
        assert_eq!(text, expected);
    }

    #[test]
    fn nothing_ends_the_cell_that_it_stands_in() {
        assert_eq!(cell("a | b\nc <x>", 20), "a \\| b c ‹x›");
        assert_eq!(cell("a\\|b", 20), "a\\ \\|b");
        assert_eq!(code_cell("ls `x` | wc", 20), "``ls `x` \\| wc``");
        assert_eq!(cell("longer than that", 8), "longer t…");
    }
}
