//! Arguments that several commands about runs have in common: which run, and which of its tasks.

use clap::Args;

#[derive(Debug, Default, Args)]
pub(crate) struct RunOptions {
    /// Which run, if not the one that is open here
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct TaskOptions {
    /// Which task
    pub id: String,
    #[command(flatten)]
    pub run: RunOptions,
}
