//! `omo`: shows where ultrawork stands, and turns it off, from any terminal.
//!
//! A library only so that the guide and the tests can read its command line; nothing else links it.

pub(crate) mod billing;
pub(crate) mod blocks;
pub(crate) mod cli;
pub(crate) mod commands;
pub(crate) mod config_problems;
pub(crate) mod confirm;
pub(crate) mod context;
pub(crate) mod dispatch;
pub(crate) mod error;
pub(crate) mod execute;
pub(crate) mod help;
pub(crate) mod output;
pub(crate) mod parallel_workers;
pub(crate) mod plan_findings;
pub(crate) mod platform;
pub(crate) mod project;
pub(crate) mod task_list_files;
pub(crate) mod task_list_note;
pub(crate) mod typed_command;
pub(crate) mod wait;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use omo_exec::asking::ProjectClients;
use omo_state::env::ProcessEnv;
use omo_state::{config, signals};

use crate::cli::{AgentCommand, Arguments, Command, UlwCommand};
use crate::commands::agent::{brief, done, fail, open, start};
use crate::commands::verify::task;
use crate::error::{CommandError, ExitKind};
use crate::project::Project;

/// The whole program: reads its command line, does it, and gives the exit status.
pub fn main() -> ExitCode {
    omo_exec::keeper::run_if_asked();
    omo_exec::baseline::run_if_asked();
    omo_exec::supervisor::minder::run_if_asked();
    if let Some(options) = commands::statusline::options_without_clap(std::env::args_os().skip(1)) {
        commands::statusline::run(&options);
        return ExitCode::SUCCESS;
    }
    if let Some(options) = commands::agent::fence::options_without_clap(std::env::args_os().skip(1)) {
        commands::agent::fence::run(&options);
        return ExitCode::SUCCESS;
    }
    if crate::typed_command::is_typed_command(std::env::args_os().skip(1)) {
        return crate::typed_command::answer_typed_command();
    }
    signals::outlive_size_limit();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(task_list_files::usage_status(&error, std::env::args_os().skip(1)));
        }
    };
    match dispatch(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.kind == ExitKind::Success => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.is_printed() {
                output::print_stderr_line(&failure);
            }
            failure.kind.exit_code()
        }
    }
}

/// The command line: every command with its options and its page of help.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// Every page of help on a screen of so many columns, as `--help` shows it, below the words that ask
/// for it: `omo`, `omo check`, `omo check add`.
pub fn help_pages(columns: usize) -> Vec<(String, String)> {
    let mut pages = Vec::new();
    add_pages(&command(), &["omo"], columns, &mut pages);
    pages
}

fn add_pages(command: &clap::Command, words: &[&str], columns: usize, pages: &mut Vec<(String, String)>) {
    let asked = words.iter().chain(&["--help"]);
    if let Err(page) = self::command().term_width(columns).try_get_matches_from(asked) {
        pages.push((words.join(" "), page.to_string()));
    }
    for below in command.get_subcommands() {
        add_pages(below, &[words, &[below.get_name()]].concat(), columns, pages);
    }
}

/// Every exit status with what it means, in ascending order.
pub fn exit_statuses() -> impl Iterator<Item = (u8, &'static str)> {
    ExitKind::ALL.iter().map(|kind| (kind.code(), kind.meaning()))
}

fn dispatch(arguments: Arguments) -> Result<(), CommandError> {
    let mut env = ProcessEnv::from_process();
    // What only reads a plan does the same for each caller, and does not ask who calls it.
    let only_reads = matches!(arguments.command, Command::Plan { .. });
    env.in_session = env.in_session || (!only_reads && is_started_by_session(&env));
    let config = config::load(env.config_file.as_deref());
    match arguments.command {
        Command::Status(options) => {
            config_problems::warn_about_config(&config);
            commands::status::run(&env, &options)
        }
        Command::Stop(options) => {
            config_problems::warn_about_config(&config);
            commands::stop::run(&env, &options)
        }
        Command::Ulw { action: UlwCommand::On(options) } => {
            config_problems::require_valid_config(&config)?;
            commands::ulw::on(&env, &config, &options)
        }
        Command::Verify(options) => match &options.task {
            Some(task) => task::verify_task(&env, task, options.run.as_deref()),
            None => commands::verify::run(&env, &config, &options),
        },
        Command::Check { action } => commands::check::run(&env, &config, action),
        Command::Plan { action } => commands::plan::run(action),
        Command::Run { action } => commands::run::run(&env, &config, action),
        Command::Answer(options) => commands::answer::answer_question(&env, &options),
        Command::Report(options) => commands::report::print_report(&env, options),
        Command::Tasks { action } => commands::tasks::run(&env, action),
        Command::Agent { action } => dispatch_agent(&env, action),
        Command::Blocked(options) => commands::blocked::run(&env, &options),
        Command::Statusline(options) => {
            commands::statusline::run(&options);
            Ok(())
        }
        Command::Setup(options) => commands::setup::run(&env, &options),
        Command::Doctor(options) => commands::doctor::run(&env, &config, &options),
        Command::Log(options) => commands::log::run(&env, &options),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "omo", &mut script);
            Ok(std::io::stdout().write_all(&script)?)
        }
    }
}

fn dispatch_agent(env: &ProcessEnv, action: AgentCommand) -> Result<(), CommandError> {
    match action {
        AgentCommand::Open(options) => open::open_typed(env, options),
        AgentCommand::Next(options) => commands::agent::next::next(env, &options),
        AgentCommand::Start(options) => start::start(env, &options),
        AgentCommand::Brief(options) => brief::brief(env, &options),
        AgentCommand::Done(options) => done::done(env, &options),
        AgentCommand::Fail(options) => fail::fail(env, &options),
        AgentCommand::Evidence { action } => commands::agent::evidence::evidence(env, action),
        AgentCommand::Verdict(options) => commands::agent::verdict::verdict(env, &options),
        AgentCommand::Tasks { action } => commands::tasks::edit(env, action),
        AgentCommand::Task { action } => commands::tasks::task(env, action),
        AgentCommand::Context { action } => commands::tasks::context(env, action),
        AgentCommand::Workers { action } => commands::agent::workers::workers(env, action),
        AgentCommand::Supervise(options) => commands::agent::supervise::supervise(env, &options),
        AgentCommand::Fence(options) => {
            commands::agent::fence::run(&options);
            Ok(())
        }
    }
}

/// Whether a session's shell started this command, whatever it left out of the environment.
fn is_started_by_session(env: &ProcessEnv) -> bool {
    Project::find_root(env).is_ok_and(|root| ProjectClients::read(&root, None).stands_above_process())
}
