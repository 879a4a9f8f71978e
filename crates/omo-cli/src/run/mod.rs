//! Runs of plans: what people call (`omo run`, `omo report`, `omo answer`) and what the agents do that work on them
//! (`omo agent`).
//!
//! None of them lets its caller say that something has passed: the verify runner finds that out.

mod answer;
mod arguments;
mod blocks;
mod context;
pub(crate) mod evidence;
mod exec;
mod handed;
mod local;
mod manage;
pub(crate) mod next;
mod open;
mod report;
mod segment;
mod stage;
mod start;
mod step;
mod task;
mod typed_command;
pub(crate) mod verdict;
mod watch;

use omo_state::config::UserConfig;
use omo_state::env::ProcessEnv;

use crate::failure::CommandError;

pub(crate) use answer::answer_question;
pub(crate) use arguments::{
    AnswerOptions, DoneOptions, EvidenceCommand, FailOptions, NextOptions, ReportOptions, RunCommand, RunOptions,
    TaskOptions, VerdictOptions,
};
pub(crate) use blocks::{list_commands, pluralize};
pub(crate) use evidence::evidence;
pub(crate) use exec::AddedTask;
pub(crate) use next::{LONGEST_WAIT, LOOK_EVERY, next};
pub(crate) use report::{print_report, verify_task};
pub(crate) use stage::{WorkersCommand, supervise, workers};
pub(crate) use start::arguments::OpenOptions;
pub(crate) use start::{message_of_clap, open_typed};
pub(crate) use task::{brief, done, fail, start};
pub(crate) use typed_command::{answer_typed_command, is_typed_command};
pub(crate) use verdict::verdict;

/// `omo run …`.
pub(crate) fn run(env: &ProcessEnv, config: &UserConfig, action: RunCommand) -> Result<(), CommandError> {
    crate::warn_about_config(config);
    match action {
        RunCommand::Start(options) => start::start(env, *options),
        RunCommand::List(options) => manage::list(env, &options),
        RunCommand::Show(options) => manage::show(env, &options),
        RunCommand::Resume(options) => manage::resume(env, &options),
        RunCommand::Cancel(options) => manage::cancel(env, &options),
        RunCommand::Watch(options) => stage::watch(env, &options),
        RunCommand::Skip(options) => task::skip(env, &options),
        RunCommand::Retry(options) => task::retry(env, &options),
        RunCommand::Gc(options) => manage::gc(env, &options),
        RunCommand::Import(options) => manage::import(env, &options),
    }
}
