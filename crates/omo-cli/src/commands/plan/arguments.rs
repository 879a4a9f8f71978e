//! The command lines of `omo plan`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::help;

#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// Show a plan: its tasks, its batches, and what it would run
    #[command(after_help = help::run::PLAN_SHOW)]
    Show(ReadOptions),
    /// Say what is wrong with a plan, and where
    #[command(after_help = help::run::PLAN_LINT)]
    Lint(ReadOptions),
    /// Print a plan as omo reads it, as JSON
    #[command(after_help = help::run::PLAN_PARSE)]
    Parse(ParseOptions),
    /// Print the batches and hard stops of a plan, as JSON
    #[command(after_help = help::run::PLAN_BATCHES)]
    Batches(BatchesOptions),
}

#[derive(Debug, Args)]
pub(crate) struct FileOptions {
    /// The plan; `-` reads it from stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ReadOptions {
    #[command(flatten)]
    pub plan: FileOptions,
    #[command(flatten)]
    pub sizes: SizeOptions,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ParseOptions {
    #[command(flatten)]
    pub plan: FileOptions,
    #[command(flatten)]
    pub sizes: SizeOptions,
    /// It prints JSON anyway; here for the sake of the others
    #[arg(long, hide = true)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BatchesOptions {
    #[command(flatten)]
    pub plan: FileOptions,
    #[command(flatten)]
    pub sizes: SizeOptions,
}

/// What the batches of a plan are computed with.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct SizeOptions {
    /// So many direct dependents make a task a hub, behind whose batch you are asked
    #[arg(long, default_value_t = 3)]
    pub k: u32,
    /// Tasks in a batch
    #[arg(long, default_value_t = 5)]
    pub batch_size: u32,
}
