//! `omo`: shows where ultrawork stands, and lets go of it, from any terminal.

mod arguments;
mod failure;
mod log;
mod project;
mod status;
mod stop;
mod ulw;

use std::io::Write;
use std::process::ExitCode;

use anstream::eprintln;
use clap::{CommandFactory, Parser};
use omo_store::config;
use omo_store::env::Env;

use crate::arguments::{Arguments, Command, Switch};
use crate::failure::{Failure, Kind};

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.kind == Kind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            failure.kind.exit_code()
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    let env = Env::from_process();
    let config = config::load(env.config_file.as_deref());
    match arguments.command {
        Command::Status(options) => {
            warn(&config);
            status::run(&env, &options)
        }
        Command::Stop(options) => {
            warn(&config);
            stop::run(&env, &options)
        }
        Command::Ulw { switch: Switch::On(options) } => match config.problems.first() {
            // Its limits would be others than the user believes.
            Some(problem) => Err(Failure::config(problem)),
            None => ulw::on(&env, &config, &options),
        },
        Command::Ulw { switch: Switch::Off(options) } => {
            warn(&config);
            stop::run(&env, &options.into())
        }
        Command::Log(options) => log::run(&env, &options),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "omo", &mut script);
            Ok(std::io::stdout().write_all(&script)?)
        }
    }
}

/// A bad configuration must not keep anybody from looking, or from stopping.
fn warn(config: &config::Config) {
    let style = anstyle::AnsiColor::Yellow.on_default().bold();
    for problem in &config.problems {
        eprintln!("{style}warning:{style:#} {problem}");
    }
}
