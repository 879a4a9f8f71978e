//! The command line of `omo`; a library only so that the guide and the tests can read its commands.

mod billing;
mod blocks;
mod cli;
mod commands;
mod config_problems;
mod confirm;
mod context;
mod error;
mod execute;
mod exit_kind;
mod file_size_and_time;
mod id_prefix;
mod json_error;
mod json_file;
mod kept_texts;
mod last_run;
mod local_time;
mod output;
mod page_file;
mod parallel_workers;
mod plan_dialect;
mod plan_findings;
mod plan_run_view;
mod platform;
mod process_paths;
mod project;
mod repository_sessions;
mod run_arguments;
mod run_reader;
mod runs_at_work;
mod short_id;
mod task_list_files;
mod task_list_note;
mod typed_command;
mod typed_line;
mod ultrawork_view;
mod wait;
mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::CommandFactory;
use omo_claude::project_clients::ProjectClients;
use omo_process::termination;
use omo_state::config;
use omo_state::env::ProcessEnv;

use crate::cli::{Arguments, CommandLine};
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::repository_sessions::folders_of_repository;

pub use crate::typed_line::problem_of_typed_line;

pub fn main() -> ExitCode {
    omo_process::keeper::run_if_asked();
    omo_checks::baseline::run_if_asked();
    omo_prove::claim::run_if_asked();
    omo_claude::supervisor::minder::run_if_asked();
    if let Some(options) = commands::statusline::options_without_clap(std::env::args_os().skip(1)) {
        commands::statusline::run(&options);
        return ExitCode::SUCCESS;
    }
    if let Some(options) = commands::agent::fence::options_without_clap(std::env::args_os().skip(1))
    {
        commands::agent::fence::run(&options);
        return ExitCode::SUCCESS;
    }
    if crate::typed_command::is_typed_command(std::env::args_os().skip(1)) {
        return crate::typed_command::answer_typed_command();
    }
    termination::outlive_size_limit();
    let words: Vec<OsString> = std::env::args_os().collect();
    let CommandLine {
        arguments,
        wants_json,
    } = match CommandLine::read(&words) {
        Ok(read) => read,
        Err(error) => return print_usage_error(&error, &words),
    };
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.kind == ExitKind::Success => ExitCode::SUCCESS,
        Err(failure) => {
            match failure.is_printed() {
                true => {}
                false if wants_json => output::print_stderr_line(&json_error::json_line(&failure)),
                false => output::print_stderr_line(&failure),
            }
            failure.kind.exit_code()
        }
    }
}

fn print_usage_error(error: &clap::Error, words: &[OsString]) -> ExitCode {
    let status = task_list_files::usage_status(error, words.iter().skip(1).cloned());
    if status != 0 && cli::asks_for_json(words) {
        output::print_stderr_line(&json_error::usage_json_line(error, status));
    } else {
        let _ = error.print();
    }
    ExitCode::from(status)
}

pub fn command() -> clap::Command {
    Arguments::command()
}

/// All pages of `--help`, `columns` wide, each with the words of its command, such as `omo check add`.
pub fn help_pages(columns: usize) -> Vec<(String, String)> {
    let mut pages = Vec::new();
    add_pages(&command(), &["omo"], columns, &mut pages);
    pages
}

fn add_pages(
    command: &clap::Command,
    words: &[&str],
    columns: usize,
    pages: &mut Vec<(String, String)>,
) {
    let asked = words.iter().chain(&["--help"]);
    if let Err(page) = self::command()
        .term_width(columns)
        .try_get_matches_from(asked)
    {
        pages.push((words.join(" "), page.to_string()));
    }
    for below in command.get_subcommands() {
        add_pages(
            below,
            &[words, &[below.get_name()]].concat(),
            columns,
            pages,
        );
    }
}

pub fn exit_statuses() -> impl Iterator<Item = (u8, &'static str, &'static str)> {
    ExitKind::ALL
        .iter()
        .map(|kind| (kind.code(), kind.word(), kind.meaning()))
}

fn run(arguments: Arguments) -> Result<(), CommandError> {
    let mut env = ProcessEnv::from_process();
    env.in_session =
        env.in_session || (!arguments.command.only_reads() && is_started_by_session(&env));
    let config = config::load(env.config_file.as_deref());
    if let Some(folder) = &config.worktree_folder {
        omo_git::worktree::use_worktree_folder(folder.clone());
    }
    commands::run(&env, &config, command, arguments.command)
}

fn is_started_by_session(env: &ProcessEnv) -> bool {
    // A session of another folder of the repository counts as well.
    let folders = folders_of_repository(env).unwrap_or_default();
    folders
        .iter()
        .any(|root| ProjectClients::read(root, None).stands_above_process())
}
