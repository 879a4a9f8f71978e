//! Tables on an output.

use std::io::Write;

pub(crate) use omo_view::table::{Cell, truncate_columns};

pub(crate) fn write_table<const N: usize>(
    out: &mut impl Write,
    heads: [&str; N],
    rows: Vec<[Cell; N]>,
) -> std::io::Result<()> {
    write!(out, "{}", omo_view::table::table_text(heads, rows))
}
