//! `omo run gc`: removes the records of runs that ended long ago.

use clap::Args;
use omo_core::timestamp::Timestamp;
use omo_state::env::ProcessEnv;

use crate::context::CommandContext;
use crate::error::CommandError;
use crate::output;

const HELP: &str = "\
Example:
  omo run gc --days 7

A run that is open is never removed.";

/// Remove the records of runs that ended long ago
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct GcOptions {
    /// Keep those that were worked on within so many days
    #[arg(long, default_value_t = 30)]
    pub days: u32,
}

/// Removes the records of runs that ended long ago.
pub(crate) fn run(env: &ProcessEnv, options: &GcOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let Some(runs) = &context.runs else { return output::print_block("There is nothing to remove.") };
    let millis = i64::from(options.days).saturating_mul(24 * 3_600_000);
    let since = Timestamp::from_millis(env.now.as_millis().saturating_sub(millis));
    let removed = runs.gc(since)?;
    for id in &removed {
        let _ = omo_git::changes::forget_snapshots(&context.state_home, id);
        let _ = omo_git::restore::forget_snapshots(&context.state_home, id);
    }
    if removed.is_empty() {
        return output::print_block(&format!("No run ended more than {} days ago.", options.days));
    }
    output::print_block(&format!("removed: {}", removed.join(", ")))
}
