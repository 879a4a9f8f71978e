//! `omo report`: the report of a run.

mod all_runs;
mod follow;
pub(crate) mod html;
mod last;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use omo_engine::parallel::refresh_kept_work;
use omo_engine::program_files::execution_report;
use omo_engine::report::{task_list, ultraplan};
use omo_engine::state::RunState;
use omo_git::repository::GitRepository;
use omo_plan::dialects::PlanKind;
use omo_state::env::ProcessEnv;
use omo_view::text::report_text;

use crate::commands::run::show::{self, RunShowOptions};
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::output::print_block;
use crate::plan_run_view::plan_run_text;
use crate::run_arguments::NamedRun;
use crate::run_reader::find_run::no_run_known;

const HELP: &str = "\
Examples:
  omo report                      how the last run ended, and what proves it
  omo report --format progress    who works on what, for how long
  omo report --format json        the same for a script
  omo report --last               the last ultrawork run, its checks and review
  omo report --html --open        a page of this session's run, or the last
  omo report --all --html         all runs of the project on one page";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Progress,
    Summary,
    Json,
}

/// Show the result of a run
#[derive(Debug, Default, Args)]
#[command(after_help = HELP)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub(crate) struct ReportOptions {
    /// In this form; summary uses the words of such plans
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<ReportFormat>,
    /// The last ultrawork run; kept for a month
    #[arg(long, conflicts_with_all = ["format", "run", "id"])]
    pub last: bool,
    /// Write a page for a browser into FILE, or among omo's own files
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with = "format")]
    #[expect(
        clippy::option_option,
        reason = "the option may be there without a file"
    )]
    pub html: Option<Option<PathBuf>>,
    /// Show it at once, in the browser
    #[arg(long)]
    pub open: bool,
    /// Write it anew while the run goes on, until Ctrl-C
    #[arg(long)]
    pub follow: bool,
    /// One page of all runs of the project
    #[arg(long, conflicts_with_all = ["last", "run", "id", "session", "follow"])]
    pub all: bool,
    /// The ultrawork run of this session
    #[arg(long, value_name = "ID", conflicts_with_all = ["format", "run", "id"])]
    pub session: Option<String>,
    #[command(flatten)]
    pub run: NamedRun,
}

pub(crate) fn run(env: &ProcessEnv, options: ReportOptions) -> Result<(), CommandError> {
    require_page(&options)?;
    if let (Some(file), true) = (&options.html, options.all) {
        return all_runs::write_page(env, &options, file.as_deref());
    }
    if let Some(file) = &options.html {
        return html::write_page(env, &options, file.as_deref());
    }
    if options.last || options.session.is_some() {
        let text = last::last_report(env, options.session.as_deref())?;
        return Ok(write!(anstream::stdout(), "{text}")?);
    }
    if options.format == Some(ReportFormat::Json) {
        return show::run(
            env,
            &RunShowOptions {
                run: options.run,
                json: true,
            },
        );
    }
    if options.format == Some(ReportFormat::Progress) {
        return show::run(
            env,
            &RunShowOptions {
                run: options.run,
                json: false,
            },
        );
    }
    let context = CommandContext::find(env)?;
    let found = context.find_run(options.run.id(), EndedRuns::Included);
    let names_plan = options.run.id().is_some() || options.format.is_some();
    if !names_plan
        && found
            .as_ref()
            .is_err_and(|error| error.kind == ExitKind::NotFound)
    {
        let text = last::last_report(env, None).map_err(|error| match error.kind {
            ExitKind::NotFound => no_run_known(),
            _ => error,
        })?;
        return Ok(write!(anstream::stdout(), "{text}")?);
    }
    let (run, mut state) = found?;
    if let Some(repository) = GitRepository::find(Path::new(&state.root)) {
        refresh_kept_work(run.id(), &repository, &mut state);
    }
    let text = match options.format {
        Some(_) => summary(&state),
        None => plan_run_text(env, &run, &state, report_text)?,
    };
    print_block(&text)
}

fn require_page(options: &ReportOptions) -> Result<(), CommandError> {
    let Some(file) = &options.html else {
        let wanted = [
            (options.open, "--open"),
            (options.follow, "--follow"),
            (options.all, "--all"),
        ]
        .into_iter()
        .find(|(is, _)| *is);
        return wanted.map_or(Ok(()), |(_, option)| {
            let message =
                format!("`{option}` is about a page for a browser, and none is to be written");
            Err(CommandError::usage(
                message,
                format!("add `--html`: `omo report --html {option}`"),
            ))
        });
    };
    if file
        .as_ref()
        .is_some_and(|file| file.to_string_lossy().chars().any(char::is_control))
    {
        let message = "the name of FILE has a line break or another control character in it";
        return Err(CommandError::usage(
            message,
            "give it a name that can be printed on one line",
        ));
    }
    Ok(())
}

/// The report in the words of such plans, which other tools parse.
fn summary(state: &RunState) -> String {
    match state.plan.dialect.kind() {
        PlanKind::TaskList => task_list::final_report(state),
        PlanKind::Steps => ultraplan::final_report::final_report(state, ultraplan::scope_of(state)),
        PlanKind::Tasks => execution_report::section(state),
    }
}
