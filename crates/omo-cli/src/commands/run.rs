//! `omo run`: runs of plans, for people.

pub(crate) mod cancel;
mod gc;
mod import;
mod later;
mod list;
mod logs;
mod pr;
mod restore;
mod resume;
pub(crate) mod retry;
pub(crate) mod show;
mod skip;
mod start;
mod watch;

use clap::Subcommand;
use omo_state::config::UserConfig;
use omo_state::env::ProcessEnv;

use crate::config_problems::warn_about_config;
use crate::error::CommandError;

const HELP: &str = "\
Example (in a session `/omo:execute docs/plan.md` does it):
  omo run start docs/plan.md";

/// Run a plan, in a ledger that says what was proved
#[derive(Debug, Subcommand)]
#[command(after_help = HELP, disable_help_subcommand = true)]
pub(crate) enum RunCommand {
    Start(Box<start::StartPlanOptions>),
    List(list::ListOptions),
    Show(show::ShowOptions),
    Resume(resume::ResumeOptions),
    Restore(restore::RestoreOptions),
    Cancel(cancel::CancelOptions),
    Watch(watch::WatchOptions),
    Logs(logs::LogsOptions),
    Skip(skip::SkipOptions),
    Retry(retry::RetryOptions),
    Pr(pr::PrOptions),
    Later(later::LaterOptions),
    Gc(gc::GcOptions),
    // No room is left on a screen, and this one is typed once.
    #[command(hide = true)]
    Import(import::ImportOptions),
}

pub(super) fn run(
    env: &ProcessEnv,
    config: &UserConfig,
    command: RunCommand,
) -> Result<(), CommandError> {
    warn_about_config(config);
    match command {
        RunCommand::Start(options) => start::run(env, *options),
        RunCommand::List(options) => list::run(env, &options),
        RunCommand::Show(options) => show::run(env, &options),
        RunCommand::Resume(options) => resume::run(env, &options),
        RunCommand::Restore(options) => restore::run(env, &options),
        RunCommand::Cancel(options) => cancel::run(env, &options),
        RunCommand::Watch(options) => watch::run(env, config, &options),
        RunCommand::Logs(options) => logs::run(env, &options),
        RunCommand::Skip(options) => skip::run(env, &options),
        RunCommand::Retry(options) => retry::run(env, &options),
        RunCommand::Pr(options) => pr::run(env, &options),
        RunCommand::Later(options) => later::run(env, &options),
        RunCommand::Gc(options) => gc::run(env, &options),
        RunCommand::Import(options) => import::run(env, &options),
    }
}
