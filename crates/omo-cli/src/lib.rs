//! `omo`: shows where ultrawork stands, and turns it off, from any terminal.
//!
//! A library only so that the guide and the tests can read its command line; nothing else links it.

mod arguments;
mod blocked;
mod check;
mod confirm;
mod doctor;
mod failure;
mod fence;
mod help;
mod log;
mod plan;
mod platform;
mod progress;
mod project;
mod run;
mod session;
mod setup;
mod status;
mod statusline;
mod stop;
mod table;
mod ulw;
mod verify;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use omo_exec::asking::ProjectClients;
use omo_state::env::ProcessEnv;
use omo_state::{config, signals};

use crate::arguments::{AgentCommand, Arguments, Command, UlwCommand};
use crate::failure::{CommandError, ExitKind};
use crate::project::Project;

/// The whole program: reads its command line, does it, and gives the exit status.
pub fn main() -> ExitCode {
    omo_exec::keeper::run_if_asked();
    omo_exec::baseline::run_if_asked();
    omo_exec::supervisor::minder::run_if_asked();
    if let Some(options) = statusline::options_without_clap(std::env::args_os().skip(1)) {
        statusline::run(&options);
        return ExitCode::SUCCESS;
    }
    if let Some(options) = fence::options_without_clap(std::env::args_os().skip(1)) {
        fence::run(&options);
        return ExitCode::SUCCESS;
    }
    if run::is_typed_command(std::env::args_os().skip(1)) {
        return run::answer_typed_command();
    }
    signals::outlive_size_limit();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(session::usage_status(&error, std::env::args_os().skip(1)));
        }
    };
    match dispatch(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.kind == ExitKind::Success => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.is_printed() {
                print_stderr_line(&failure);
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
            warn_about_config(&config);
            status::run(&env, &options)
        }
        Command::Stop(options) => {
            warn_about_config(&config);
            stop::run(&env, &options)
        }
        Command::Ulw { action: UlwCommand::On(options) } => {
            require_valid_config(&config)?;
            ulw::on(&env, &config, &options)
        }
        Command::Verify(options) => match &options.task {
            Some(task) => run::verify_task(&env, task, options.run.as_deref()),
            None => verify::run(&env, &config, &options),
        },
        Command::Check { action } => check::run(&env, &config, action),
        Command::Plan { action } => plan::run(action),
        Command::Run { action } => run::run(&env, &config, action),
        Command::Answer(options) => run::answer_question(&env, &options),
        Command::Report(options) => run::print_report(&env, options),
        Command::Tasks { action } => session::run(&env, action),
        Command::Agent { action } => dispatch_agent(&env, action),
        Command::Blocked(options) => blocked::run(&env, &options),
        Command::Statusline(options) => {
            statusline::run(&options);
            Ok(())
        }
        Command::Setup(options) => setup::run(&env, &options),
        Command::Doctor(options) => doctor::run(&env, &config, &options),
        Command::Log(options) => log::run(&env, &options),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "omo", &mut script);
            Ok(std::io::stdout().write_all(&script)?)
        }
    }
}

fn dispatch_agent(env: &ProcessEnv, action: AgentCommand) -> Result<(), CommandError> {
    match action {
        AgentCommand::Open(options) => run::open_typed(env, options),
        AgentCommand::Next(options) => run::next(env, &options),
        AgentCommand::Start(options) => run::start(env, &options),
        AgentCommand::Brief(options) => run::brief(env, &options),
        AgentCommand::Done(options) => run::done(env, &options),
        AgentCommand::Fail(options) => run::fail(env, &options),
        AgentCommand::Evidence { action } => run::evidence(env, action),
        AgentCommand::Verdict(options) => run::verdict(env, &options),
        AgentCommand::Tasks { action } => session::edit(env, action),
        AgentCommand::Task { action } => session::task(env, action),
        AgentCommand::Context { action } => session::context(env, action),
        AgentCommand::Workers { action } => run::workers(env, action),
        AgentCommand::Supervise(options) => run::supervise(env, &options),
        AgentCommand::Fence(options) => {
            fence::run(&options);
            Ok(())
        }
    }
}

/// Whether a session's shell started this command, whatever it left out of the environment.
fn is_started_by_session(env: &ProcessEnv) -> bool {
    Project::find_root(env).is_ok_and(|root| ProjectClients::read(&root, None).stands_above_process())
}

/// With a bad configuration the limits and checks would be others than the user believes.
pub fn require_valid_config(config: &config::UserConfig) -> Result<(), CommandError> {
    config.problems.first().map_or(Ok(()), |problem| Err(CommandError::invalid_config(problem)))
}

/// A bad configuration must not keep the user from looking, or from stopping.
pub fn warn_about_config(config: &config::UserConfig) {
    config.problems.iter().for_each(|problem| print_warning(problem));
}

/// Says what is wrong. The command goes on.
pub fn print_warning(problem: &dyn std::fmt::Display) {
    let style = anstyle::AnsiColor::Yellow.on_default().bold();
    print_stderr_line(&format_args!("{style}warning:{style:#} {problem}"));
}

/// Writes a line to stderr. `eprintln!` would panic where that cannot be written, and so keep its
/// user from what they asked for.
pub(crate) fn print_stderr_line(line: &dyn std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{line}");
}
