//! What the pages say, held against the code: their sentences, their commands, their blocks, their tables.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test's helpers fail as a test does"
)]

mod blocks;
mod commands;
mod files;
mod report_pictures;
mod run_picture;
mod sentences;
mod symptoms;

use std::fs;
use std::path::{Path, PathBuf};

/// The top of the repository.
fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A page, by its path from the top of the repository.
fn page(path: &str) -> String {
    fs::read_to_string(top().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The text of every block in this language, in their order.
fn fenced<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let mut blocks = Vec::new();
    let mut rest = page;
    while let Some((_, after)) = rest.split_once("\n```") {
        let (opening, after) = after.split_once('\n').unwrap();
        let (block, after) = after.split_once("```").unwrap();
        if opening == language {
            blocks.push(block);
        }
        rest = after;
    }
    blocks
}

/// The page without its blocks.
fn outside_of_blocks(page: &str) -> String {
    page.split("```").step_by(2).collect()
}

/// The first cell of every row of the table that follows a text, without its marks of code.
fn first_cells(page: &str, after: &str) -> Vec<String> {
    let table = page
        .split_once(after)
        .unwrap_or_else(|| panic!("no `{after}`"))
        .1;
    let rows = table
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'));
    let cells = rows.skip(2).map(|row| {
        row.split('|')
            .nth(1)
            .unwrap()
            .trim()
            .trim_matches('`')
            .to_owned()
    });
    cells.collect()
}
