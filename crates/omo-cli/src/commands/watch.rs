//! `omo watch`: a run, live.

use std::time::{Duration, Instant};

use clap::Args;
use omo_state::config::UserConfig;
use omo_state::env::ProcessEnv;

use crate::config_problems::warn_about_config;
use crate::error::CommandError;
use crate::run_reader::find_run::{RunChoice, find_run};
use crate::watch::{self, WatchRequest};

const HELP: &str = "\
Examples:
  omo watch                  this session's run, else one at work, else the last
  omo watch --seconds 60

On a terminal it is a screen: `r` opens the report page, `s` asks and stops the
run, `q` leaves. Elsewhere each thing that happens is a line. The exit status is
7 where a question waits for you, 1 where the run ended otherwise than complete,
3 where no such run is known, and 9 where its files cannot be read.";

/// Watch a run while it goes on
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct WatchOptions {
    /// A run of a plan
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
    /// The ultrawork run of a session
    #[arg(long, value_name = "ID", conflicts_with = "run")]
    pub session: Option<String>,
    /// For so many seconds at most; without it to the end
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<u64>,
}

/// Watches a run.
pub(crate) fn run(env: &ProcessEnv, config: &UserConfig, options: &WatchOptions) -> Result<(), CommandError> {
    warn_about_config(config);
    let (run, session) = (options.run.as_deref(), options.session.as_deref());
    let choice = RunChoice { run, session, is_ultrawork: false, prefers_running: true };
    watch::watch(find_run(env, choice)?, &WatchRequest { env, config, deadline: deadline(options.seconds) })
}

/// When so many seconds are over.
pub(crate) fn deadline(seconds: Option<u64>) -> Option<Instant> {
    // So many that no clock has them are no bound.
    seconds.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds)))
}
