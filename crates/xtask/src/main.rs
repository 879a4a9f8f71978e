//! The tasks of this repository: `cargo xtask <task>`.

mod bench;
mod cargo;
mod client;
mod demo;
mod fuzz;
mod instructions;
mod musl;
mod parts;
mod plugin;
mod profile;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Builds the plugin, plays the demo, runs the tests.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build the plugin and play one whole ultrawork run with it
    Demo,
    /// Build the installable plugin into target/plugin
    Plugin,
    /// Time the hooks against an empty process and against hooks of other kinds
    Bench,
    /// Count the instructions of each hook, and show what they are spent for
    Instructions(instructions::Options),
    /// Hand made-up input to everything that reads what omo did not write
    Fuzz(fuzz::Options),
    /// Run every test, those with the real client included
    Test(test::Options),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Bench => bench::run(),
        Task::Instructions(options) => instructions::run(&options),
        Task::Demo => demo::run(),
        Task::Fuzz(options) => fuzz::run(&options),
        Task::Plugin => plugin::build().map(|plugin| plugin.announce()),
        Task::Test(options) => test::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
