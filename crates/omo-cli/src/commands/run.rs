//! Runs of plans: what people call (`omo run`, `omo report`, `omo answer`) and what the agents do that work on them
//! (`omo agent`).
//!
//! None of them lets its caller say that something has passed: the verify runner finds that out.

pub(crate) mod arguments;
pub(crate) mod cancel;
pub(crate) mod gc;
pub(crate) mod import;
pub(crate) mod list;
pub(crate) mod resume;
pub(crate) mod retry;
pub(crate) mod show;
pub(crate) mod skip;
pub(crate) mod start;
pub(crate) mod watch;

use omo_state::config::UserConfig;
use omo_state::env::ProcessEnv;

use crate::commands::run::arguments::RunCommand;
use crate::error::CommandError;

/// `omo run …`.
pub(crate) fn run(env: &ProcessEnv, config: &UserConfig, action: RunCommand) -> Result<(), CommandError> {
    crate::config_problems::warn_about_config(config);
    match action {
        RunCommand::Start(options) => start::start(env, *options),
        RunCommand::List(options) => list::list(env, &options),
        RunCommand::Show(options) => show::show(env, &options),
        RunCommand::Resume(options) => resume::resume(env, &options),
        RunCommand::Cancel(options) => cancel::cancel(env, &options),
        RunCommand::Watch(options) => watch::watch(env, &options),
        RunCommand::Skip(options) => skip::skip(env, &options),
        RunCommand::Retry(options) => retry::retry(env, &options),
        RunCommand::Gc(options) => gc::gc(env, &options),
        RunCommand::Import(options) => import::import(env, &options),
    }
}
