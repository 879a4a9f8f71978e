//! Tables and instruction blocks about parallel workers.

use std::io::Write;

use omo_engine::state::RunState;
use omo_engine::view::workers::worker_views;
use omo_state::env;
use omo_view::table::table_text;
use omo_view::text::{WORKER_HEADS, worker_cells};

use crate::blocks::parts::{self, LONG_TIMEOUT};
use crate::error::CommandError;

fn worker_table(state: &RunState) -> String {
    table_text(
        WORKER_HEADS,
        worker_views(state, env::now())
            .iter()
            .map(worker_cells)
            .collect(),
    )
}

pub(crate) fn print_workers(state: &RunState) -> Result<(), CommandError> {
    Ok(write!(anstream::stdout(), "{}", worker_table(state))?)
}

fn plain_table(state: &RunState) -> String {
    let table = anstream::adapter::strip_str(&worker_table(state)).to_string();
    let needs = worker_views(state, env::now())
        .into_iter()
        .filter_map(|worker| worker.need_line());
    table + &needs.map(|line| line + "\n").collect::<String>()
}

pub(crate) fn started_text(id: &str, state: &RunState) -> String {
    format!(
        "omo: the workers of {id} are at work; closing this terminal does not end them.\n\n{}\n\
         `omo run watch` looks on, `omo run cancel` ends them.",
        plain_table(state)
    )
}

pub(crate) fn still_working(state: &RunState) -> String {
    parts::fit_block(format!(
        "WAIT\n{}\n  run: omo agent next --wait 540      {LONG_TIMEOUT}",
        indented(&plain_table(state))
    ))
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text
        .lines()
        .map(|line| format!("  {}", line.trim_end()))
        .collect();
    lines.join("\n")
}
