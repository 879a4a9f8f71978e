//! `omo run`: runs of plans, for people.

pub(crate) mod cancel;
mod gc;
mod import;
mod later;
mod list;
mod logs;
pub(crate) mod pr;
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
pub(crate) enum RunSubcommand {
    Start(Box<start::StartPlanOptions>),
    List(list::RunListOptions),
    Show(show::RunShowOptions),
    Resume(resume::ResumeOptions),
    Restore(restore::RestoreOptions),
    Cancel(cancel::RunCancelOptions),
    Watch(watch::RunWatchOptions),
    Logs(logs::RunLogsOptions),
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
    command: RunSubcommand,
) -> Result<(), CommandError> {
    warn_about_config(config);
    match command {
        RunSubcommand::Start(options) => start::run(env, *options),
        RunSubcommand::List(options) => list::run(env, &options),
        RunSubcommand::Show(options) => show::run(env, &options),
        RunSubcommand::Resume(options) => resume::run(env, &options),
        RunSubcommand::Restore(options) => restore::run(env, &options),
        RunSubcommand::Cancel(options) => cancel::run(env, &options),
        RunSubcommand::Watch(options) => watch::run(env, config, &options),
        RunSubcommand::Logs(options) => logs::run(env, &options),
        RunSubcommand::Skip(options) => skip::run(env, &options),
        RunSubcommand::Retry(options) => retry::run(env, &options),
        RunSubcommand::Pr(options) => pr::run(env, &options),
        RunSubcommand::Later(options) => later::run(env, &options),
        RunSubcommand::Gc(options) => gc::run(env, &options),
        RunSubcommand::Import(options) => import::run(env, &options),
    }
}
