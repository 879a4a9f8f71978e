//! The commands of `omo`, each a file with its options, help and work.

pub(crate) mod agent;
pub(crate) mod answer;
mod blocked;
mod check;
mod completions;
mod doctor;
mod log;
pub(crate) mod plan;
mod prove;
pub(crate) mod report;
pub(crate) mod run;
mod setup;
mod status;
pub(crate) mod statusline;
pub(crate) mod stop;
mod tasks;
mod ulw;
mod verify;
pub(crate) mod watch;
mod why;
mod worker;

use clap::Subcommand;
use omo_state::config::UserConfig;
use omo_state::env::ProcessEnv;

use crate::error::CommandError;
use crate::task_list_files::with_failed_status;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Status(status::StatusOptions),
    Stop(stop::StopOptions),
    #[command(subcommand)]
    Ulw(ulw::UlwCommand),
    Log(log::LogOptions),
    Why(why::WhyOptions),
    Verify(verify::VerifyOptions),
    Prove(prove::ProveOptions),
    #[command(subcommand)]
    Check(check::CheckCommand),
    #[command(subcommand)]
    Plan(plan::PlanCommand),
    #[command(subcommand)]
    Run(run::RunSubcommand),
    Answer(answer::AnswerOptions),
    Watch(watch::WatchOptions),
    Report(report::ReportOptions),
    #[command(subcommand)]
    Tasks(tasks::TasksCommand),
    #[command(subcommand, hide = true)]
    Agent(agent::AgentCommand),
    #[command(hide = true)]
    Worker(worker::WorkerOptions),
    Blocked(blocked::BlockedOptions),
    Statusline(statusline::StatuslineOptions),
    Setup(setup::SetupOptions),
    Doctor(doctor::DoctorOptions),
    Completions(completions::CompletionsOptions),
}

impl Command {
    pub(crate) fn only_reads(&self) -> bool {
        matches!(self, Self::Plan(_))
    }
}

pub(crate) fn run(
    env: &ProcessEnv,
    config: &UserConfig,
    whole: impl FnOnce() -> clap::Command,
    command: Command,
) -> Result<(), CommandError> {
    match command {
        Command::Status(options) => status::run(env, config, &options),
        Command::Stop(options) => stop::run(env, config, &options),
        Command::Ulw(command) => ulw::run(env, config, command),
        Command::Log(options) => log::run(env, &options),
        Command::Why(options) => why::run(env, &options),
        Command::Verify(options) => verify::run(env, config, &options),
        Command::Prove(options) => prove::run(env, config, &options),
        Command::Check(command) => check::run(env, config, command),
        Command::Plan(command) => plan::run(command),
        Command::Run(command) => run::run(env, config, command),
        Command::Answer(options) => answer::run(env, &options),
        Command::Watch(options) => watch::run(env, config, &options),
        Command::Report(options) => report::run(env, options),
        Command::Tasks(command) => tasks::run(env, command).map_err(with_failed_status),
        Command::Agent(command) => agent::run(env, command),
        Command::Worker(options) => worker::run(options),
        Command::Blocked(options) => blocked::run(env, &options),
        Command::Statusline(options) => {
            statusline::run(&options);
            Ok(())
        }
        Command::Setup(options) => setup::run(env, &options),
        Command::Doctor(options) => doctor::run(env, config, &options),
        Command::Completions(options) => completions::run(whole(), &options),
    }
}
