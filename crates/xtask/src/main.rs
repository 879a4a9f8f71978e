//! The tasks of this repository: `cargo xtask <task>`.

mod bench;
mod cargo;
mod check_targets;
mod client;
mod demo;
mod dist;
mod fuzz;
mod guide;
mod hook_files;
mod install;
mod instructions;
mod page_picture;
mod parts;
#[cfg(all(unix, feature = "picture"))]
mod picture;
mod plugin;
mod profile;
mod promises;
mod rust_target;
mod site;
mod test;
mod texts;
mod tidy;
mod windows;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Builds the plugin, plays the demo, runs the tests.
#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    arg_required_else_help = true
)]
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
    /// Build the plugin and set it up in the Claude Code of this user
    Install,
    /// Make archives and npm packages of the plugin for each system that can be built for here
    Dist(dist::Options),
    /// Time the hooks against an empty process and against hooks of other kinds
    Bench(bench::Options),
    /// Count the instructions of each hook, and show what they are spent for
    Instructions(instructions::Options),
    /// Hand made-up input to everything that reads what omo did not write
    Fuzz(fuzz::Options),
    /// Write the parts of the pages that say what the code says
    Guide,
    /// Play a run in the real client, and leave a picture of it in docs/run.svg
    #[cfg(unix)]
    Picture,
    /// Make runs, and leave pictures of their pages in docs/report-pages
    PagePicture,
    /// Build the pages as a site into target/site, and follow each of its links
    Site,
    /// Print every text that omo shows, by file of the source
    Texts,
    /// Hold formatting, lints and the rules of the repository: before a push
    Tidy,
    /// Compile the workspace for every system that omo is for
    CheckTargets,
    /// Run every test, those with the real client included
    Test(test::Options),
    /// Run a sample of every suite under nohup, in the background, under load, as another user and so on
    Surroundings(test::samples::SurroundingsOptions),
    /// Run the sample in the surroundings of this process
    #[command(hide = true)]
    Sample(test::samples::SampleList),
    /// Run one test binary as the task `test` does
    #[command(hide = true)]
    Suite(test::surroundings::Suite),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Bench(options) => bench::run(&options),
        Task::Instructions(options) => instructions::run(&options),
        Task::CheckTargets => check_targets::run(),
        Task::Demo => demo::run(),
        Task::Fuzz(options) => fuzz::run(&options),
        Task::Guide => guide::run(),
        #[cfg(all(unix, feature = "picture"))]
        Task::Picture => picture::run(),
        #[cfg(all(unix, not(feature = "picture")))]
        Task::Picture => cargo::run_with_all_features(&["picture"]),
        Task::PagePicture => page_picture::run(),
        Task::Install => install::run(),
        Task::Dist(options) => dist::run(&options),
        Task::Plugin => plugin::build().map(|plugin| plugin.announce()),
        Task::Surroundings(options) => test::samples::run(&options),
        Task::Sample(list) => test::samples::play(&list),
        Task::Suite(suite) => test::surroundings::become_suite(&suite),
        Task::Site => site::run(),
        Task::Test(options) => test::run(&options),
        Task::Texts => texts::run(),
        Task::Tidy => tidy::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
