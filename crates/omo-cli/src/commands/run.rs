//! Runs of plans: what people call (`omo run`, `omo report`, `omo answer`) and what the agents do that work on them
//! (`omo agent`).
//!
//! None of them lets its caller say that something has passed: the verify runner finds that out.

pub(crate) mod arguments;
pub(crate) mod manage;
pub(crate) mod open;
pub(crate) mod parallel;
pub(crate) mod start;
pub(crate) mod task_list;

use omo_state::config::UserConfig;
use omo_state::env::ProcessEnv;

use crate::commands::run::arguments::RunCommand;
use crate::error::CommandError;

/// `omo run …`.
pub(crate) fn run(env: &ProcessEnv, config: &UserConfig, action: RunCommand) -> Result<(), CommandError> {
    crate::config_problems::warn_about_config(config);
    match action {
        RunCommand::Start(options) => start::start(env, *options),
        RunCommand::List(options) => manage::list(env, &options),
        RunCommand::Show(options) => manage::show(env, &options),
        RunCommand::Resume(options) => manage::resume(env, &options),
        RunCommand::Cancel(options) => manage::cancel(env, &options),
        RunCommand::Watch(options) => crate::commands::agent::workers::watch(env, &options),
        RunCommand::Skip(options) => crate::commands::agent::work::skip(env, &options),
        RunCommand::Retry(options) => crate::commands::agent::work::retry(env, &options),
        RunCommand::Gc(options) => manage::gc(env, &options),
        RunCommand::Import(options) => manage::import(env, &options),
    }
}
