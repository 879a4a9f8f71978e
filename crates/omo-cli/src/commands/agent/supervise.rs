//! `omo agent supervise`: the main loop of a supervisor.

use std::ffi::OsString;
use std::io::Write;

use clap::Args;
use omo_engine::parallel::{LaunchConfig, ParallelDriver};
use omo_process::detached;
use omo_state::config;
use omo_state::env::{self, ProcessEnv};

use crate::commands::run::pr;
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::parallel_workers::supervisor::client_for_run;
use crate::process_paths::own_program;
use crate::run_arguments::RunOptions;

const HELP: &str = "\
Example:
  omo agent supervise --run 20261122-101500-abcd

`omo agent workers start` starts it. It ends when the run is over, or a question
waits.";

/// Look after parallel workers; omo starts it by itself
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct SuperviseOptions {
    #[command(flatten)]
    pub run: RunOptions,
    /// Start the supervisor as no descendant of this command's caller, and end
    #[arg(long, hide = true)]
    pub detach: bool,
}

pub(crate) fn run(env: &ProcessEnv, options: &SuperviseOptions) -> Result<(), CommandError> {
    if options.detach {
        let run = options.run.run.iter().flat_map(|id| ["--run", id]);
        let arguments: Vec<OsString> = ["agent", "supervise"]
            .into_iter()
            .chain(run)
            .map(OsString::from)
            .collect();
        return detached::hand_over(&arguments).map_err(|error| {
            retried_by_next(format!("the supervisor cannot be started: {error}"))
        });
    }
    // The supervisor outlives the terminal that started it.
    detached::leave_terminal().map_err(|error| {
        retried_by_next(format!("the supervisor cannot leave its terminal: {error}"))
    })?;
    let context = CommandContext::find(env)?;
    let (run, state) = context.find_run(options.run.run.as_deref(), EndedRuns::Included)?;
    let lock = run.try_supervise()?;
    detached::report_ready("ready")?;
    // Another supervisor has the lock.
    let Some(_lock) = lock else { return Ok(()) };
    let mut engine = context.engine(&run, &state)?;
    // The supervisor belongs to no session, despite inherited variables.
    engine.caller = omo_engine::verbs::VerbCaller {
        group: Some(String::new()),
        ..Default::default()
    };
    engine.require_approval(&state)?;
    let launch_config = LaunchConfig {
        client: client_for_run(&state, &context.root)?,
        own_program: own_program()?,
        variables: env::variables(),
        temp: std::env::temp_dir(),
        worker_mb: config::load(env.config_file.as_deref()).worker_mb(),
    };
    let driven =
        ParallelDriver::new(&engine, Some(launch_config)).and_then(|mut driver| driver.drive());
    let state = pr::open_ordered(&context, &run, run.state()?);
    context.note_in_session(&run, &state.holder, &state);
    let mut log = anstream::stderr().lock();
    match driven {
        Ok(stopped) => Ok(writeln!(log, "{}: {stopped:?}", env::now())?),
        Err(error) => Err(retried_by_next(format!(
            "the run could not be driven: {error}"
        ))),
    }
}

fn retried_by_next(message: String) -> CommandError {
    CommandError::io(message, "`omo agent next` tries again")
}
