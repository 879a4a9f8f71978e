//! `omo watch`: follows a run on a screen of the terminal, or line by line.

use std::time::{Duration, Instant};

use clap::Args;
use omo_state::config::UserConfig;
use omo_state::env::ProcessEnv;

use crate::config_problems::warn_about_config;
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::output::print_block;
use crate::run_reader::RunReader;
use crate::run_reader::find_run::{RunChoice, find_run};
use crate::watch::{self, POLL_INTERVAL, WatchRequest};

const HELP: &str = "\
Examples:
  omo watch                  this session's run, else one at work, else the last
  omo watch --seconds 60

On a terminal it is a screen: `r` opens the report page, `s` asks and stops the
run, `q` leaves. Elsewhere each thing that happens is a line. The exit status is
7 where a question waits for you, 1 where the run ended otherwise than complete,
3 where no such run is known, and 9 where its files cannot be read. Before the
first run of a project it waits for that.";

const WAITS: &str = "No run is known here yet: this waits for one. Type `ulw <task>` in a session of this project, or \
                     `omo run start FILE`; Ctrl-C leaves.";

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
    /// At most this many seconds; without it to the end
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<u64>,
}

pub(crate) fn run(
    env: &ProcessEnv,
    config: &UserConfig,
    options: &WatchOptions,
) -> Result<(), CommandError> {
    warn_about_config(config);
    let (run, session) = (options.run.as_deref(), options.session.as_deref());
    let choice = RunChoice {
        run,
        session,
        is_ultrawork: false,
        prefers_running: true,
    };
    let deadline = deadline(options.seconds);
    watch::watch(
        wait_for_run(env, choice, deadline)?,
        &WatchRequest {
            env,
            config,
            deadline,
        },
    )
}

fn wait_for_run<'a>(
    env: &'a ProcessEnv,
    choice: RunChoice<'_>,
    deadline: Option<Instant>,
) -> Result<RunReader<'a>, CommandError> {
    let names_run = choice.run.is_some() || choice.session.is_some();
    let mut is_told = false;
    loop {
        match find_run(env, choice) {
            Err(error) if error.kind == ExitKind::NotFound && !names_run => {
                if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    return Err(error);
                }
            }
            found => return found,
        }
        if !std::mem::replace(&mut is_told, true) {
            print_block(WAITS)?;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

pub(crate) fn deadline(seconds: Option<u64>) -> Option<Instant> {
    // A number beyond the clock is no bound.
    seconds.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds)))
}
