//! `omo agent …`: commands that agents and the client call. No caller can declare a task passed:
//! omo runs the checks itself.

mod attempt;
mod brief;
mod context;
mod done;
mod evidence;
mod fail;
pub(crate) mod fence;
pub(crate) mod next;
mod note;
mod open;
mod start;
mod supervise;
pub(crate) mod task;
pub(crate) mod tasks;
mod verdict;
mod workers;

use clap::Subcommand;
use omo_state::env::ProcessEnv;

use crate::error::CommandError;
use crate::task_list_files::with_failed_status;

const HELP: &str = "\
Examples:
  omo agent next                   what to do now, as one block
  omo agent done --ticket 4f1c9a   a task is finished: omo runs its checks

People need none of these: `/omo:execute` and its like tell the agents what
to call. No command says that a task has passed; omo finds that out.";

/// Commands of agents and of the client while a plan is made or run
#[derive(Debug, Subcommand)]
#[command(after_help = HELP)]
pub(crate) enum AgentCommand {
    Open(open::OpenOptions),
    Next(next::NextOptions),
    Start(start::StartTaskOptions),
    Brief(brief::BriefOptions),
    Done(done::DoneOptions),
    Fail(fail::FailOptions),
    Note(note::NoteOptions),
    #[command(subcommand)]
    Evidence(evidence::EvidenceCommand),
    Verdict(verdict::VerdictOptions),
    #[command(subcommand)]
    Tasks(tasks::TasksEditCommand),
    #[command(subcommand)]
    Task(task::TaskCommand),
    #[command(subcommand)]
    Context(context::ContextCommand),
    #[command(subcommand)]
    Workers(workers::WorkersCommand),
    Supervise(supervise::SuperviseOptions),
    Fence(fence::FenceOptions),
}

pub(super) fn run(env: &ProcessEnv, command: AgentCommand) -> Result<(), CommandError> {
    match command {
        AgentCommand::Open(options) => open::run(env, options),
        AgentCommand::Next(options) => next::run(env, &options),
        AgentCommand::Start(options) => start::run(env, &options),
        AgentCommand::Brief(options) => brief::run(env, &options),
        AgentCommand::Done(options) => done::run(env, &options),
        AgentCommand::Fail(options) => fail::run(env, &options),
        AgentCommand::Note(options) => note::run(env, &options),
        AgentCommand::Evidence(command) => evidence::run(env, command),
        AgentCommand::Verdict(options) => verdict::run(env, &options),
        AgentCommand::Tasks(command) => tasks::run(env, command).map_err(with_failed_status),
        AgentCommand::Task(command) => task::run(env, command).map_err(with_failed_status),
        AgentCommand::Context(command) => context::run(env, command).map_err(with_failed_status),
        AgentCommand::Workers(command) => workers::run(env, command),
        AgentCommand::Supervise(options) => supervise::run(env, &options),
        AgentCommand::Fence(options) => {
            fence::run(&options);
            Ok(())
        }
    }
}
