//! The command line.

use clap::Parser;

use crate::commands::Command;
use crate::exit_kind::ExitKind;

/// Below the first page.
pub(crate) fn top_help() -> String {
    format!("{TOP}\n\nExit status:\n{}", in_two_columns(&ExitKind::ALL).join("\n"))
}

/// The exit statuses as lines, downwards first: one a line would be more than a screen takes.
fn in_two_columns(kinds: &[ExitKind]) -> Vec<String> {
    let (left, right) = kinds.split_at(kinds.len().div_ceil(2));
    let width = left.iter().map(|kind| kind.meaning().len()).max().unwrap_or(0);
    let left = left.iter().map(|kind| format!("  {}  {:width$}", kind.code(), kind.meaning()));
    let right = right.iter().map(|kind| format!("  {:>2}  {}", kind.code(), kind.meaning()));
    left.zip(right.chain(std::iter::repeat(String::new())))
        .map(|(left, right)| (left + &right).trim_end().to_owned())
        .collect()
}

const TOP: &str = "\
Examples:
  omo status               where each session of this project stands
  omo verify               run the checks now, and see what they are worth";

/// Shows where ultrawork stands in this project, and stops it. Ultrawork keeps a Claude Code
/// session working until its task is proved done, within hard bounds; you turn it on there, by
/// typing `ulw` in a prompt.
#[derive(Debug, Parser)]
#[command(name = "omo", version, arg_required_else_help = true, after_help = top_help())]
#[command(max_term_width = 80)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}
