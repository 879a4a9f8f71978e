//! `/omo:cancel`, `/omo:report` and `/omo:retry`, as the hook of prompts hands them over: its user reads the answer in the
//! session, and no model does.
//!
//! They are what `omo run cancel`, `omo report` and `omo run retry` do, decided by the person who typed them: the order
//! bears the hook's seal. It gives the right to this one command and to nothing after it: the run notes no prompt.

use std::ffi::OsString;
use std::io::Read;
use std::process::ExitCode;

use clap::Parser;
use omo_core::messages::plan::run_answer::{CancelledBy, still_at_work};
use omo_core::run_command::RunCommand;
use omo_core::session::id::SessionId;
use omo_core::session::plan_run::PlanRun;
use omo_core::text::sanitize;
use omo_state::env::ProcessEnv;
use omo_state::state::sealed_plan_run;
use omo_state::typed_order::{ARGUMENT, MAX_BYTES, TypedOrder};

use crate::blocks::parts;
use crate::commands::report::{self, ReportFormat, ReportOptions};
use crate::commands::run::cancel::{self, CancelOptions};
use crate::commands::run::retry;
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::output::print_block;
use crate::run_arguments::{RunOptions, TaskOptions};
use crate::runs_at_work::runs_at_work;

/// What stands behind `/omo:cancel`.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct CancelLine {
    run: Option<String>,
    #[arg(long)]
    reason: Option<String>,
}

/// What stands behind `/omo:report`.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct ReportLine {
    run: Option<String>,
    #[arg(long, value_enum)]
    format: Option<ReportFormat>,
    #[arg(long, conflicts_with_all = ["run", "format"])]
    last: bool,
}

/// What stands behind `/omo:retry`.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct RetryLine {
    task: String,
    #[arg(long)]
    run: Option<String>,
}

/// Whether a command line is that of a hook which hands such a command over.
pub(crate) fn is_typed_command(mut arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.next().is_some_and(|first| first == ARGUMENT) && arguments.next().is_none()
}

/// Answers it. What cannot be done is an answer too, in one line.
pub(crate) fn answer_typed_command() -> ExitCode {
    let env = ProcessEnv::from_process();
    let Some(order) = read_order(&env) else {
        let message = "no hook of omo has handed a typed command over";
        crate::output::print_stderr_line(&CommandError::needs_person(
            message,
            "type /omo:cancel, /omo:report or /omo:retry in the session",
        ));
        return ExitKind::NeedsPerson.exit_code();
    };
    match answer(&env, &order) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_printed() => ExitCode::SUCCESS,
        Err(failure) => {
            let line = failure.line();
            print_block(&line).map_or_else(|failure| failure.kind.exit_code(), |()| ExitCode::SUCCESS)
        }
    }
}

fn read_order(env: &ProcessEnv) -> Option<TypedOrder> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    TypedOrder::read(&bytes, env.state_home.as_deref(), env.now)
}

fn answer(env: &ProcessEnv, order: &TypedOrder) -> Result<(), CommandError> {
    let in_session = ProcessEnv {
        project_dir: Some(order.root.clone().into()),
        session_id: Some(order.session.clone()),
        in_session: true,
        ..env.clone()
    };
    match order.command {
        RunCommand::Cancel => {
            let line: CancelLine = read_line(order)?;
            let run = RunOptions { run: line.run.or_else(|| own_run(env, order)) };
            let default = || format!("by its user, in session {}", order.session);
            let reason = line.reason.unwrap_or_else(default);
            // A person ends any run of their project, whichever session holds it: as at a terminal.
            let person = ProcessEnv { session_id: None, in_session: false, ..in_session };
            cancel::cancel_typed(&person, &CancelOptions { run, reason })
        }
        RunCommand::Report => {
            let line: ReportLine = read_line(order)?;
            let run = RunOptions { run: line.run.or_else(|| own_run(env, order)) };
            report::run(&in_session, ReportOptions { format: line.format, last: line.last, session: None, run })
        }
        RunCommand::AtWork => at_work(&in_session, own_run(env, order).as_deref()),
        RunCommand::Retry => {
            let line: RetryLine = read_line(order)?;
            let run = RunOptions { run: line.run.or_else(|| own_run(env, order)) };
            let context = CommandContext { typed_at: Some(order.at), ..CommandContext::find(&in_session)? };
            let options = TaskOptions { id: line.task, run };
            let state = retry::reopen(&context, &options)?;
            let id = sanitize(&options.id, 64);
            print_block(&format!("{id} is to be done again. To go on, type {}", parts::how_to_go_on(&state)))
        }
    }
}

/// Says what of the runs of the project is at work, one line for each run; nothing where nothing is.
fn at_work(env: &ProcessEnv, own: Option<&str>) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let Some(runs) = &context.runs else { return Ok(()) };
    for (id, at_work) in runs_at_work(runs, |state| context.is_in_this_work_tree(state))? {
        let ends_it = if own == Some(id.as_str()) { CancelledBy::OwnSession } else { CancelledBy::AnySession };
        print_block(&still_at_work(&id, &at_work, ends_it))?;
    }
    Ok(())
}

/// Reads what stands behind a command; its words are parted as a shell would part them, and never near one.
fn read_line<T: Parser>(order: &TypedOrder) -> Result<T, CommandError> {
    let hint = || format!("type `{}`", order.command.usage());
    let words = shlex::split(&order.arguments).ok_or_else(|| CommandError::usage("a quote is not closed", hint()))?;
    T::try_parse_from(words).map_err(|error| {
        let what = error.to_string();
        let what = match error.kind() {
            clap::error::ErrorKind::MissingRequiredArgument => "it says too little",
            _ => what.lines().next().unwrap_or_default().trim_start_matches("error: "),
        };
        CommandError::usage(sanitize(what, 200), hint())
    })
}

/// The run of the session that this was typed in, while that is open.
fn own_run(env: &ProcessEnv, order: &TypedOrder) -> Option<String> {
    let id = SessionId::parse(&order.session).ok()?;
    let known = sealed_plan_run::read(order.root.as_ref(), &id, env.state_home.as_deref()).ok()??;
    Some(known).filter(PlanRun::is_open).map(|run| run.id)
}
