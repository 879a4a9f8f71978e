//! `omo --typed-command`: carries out a [`TypedOrder`] from a hook: a slash command that a person typed, such as
//! `/omo:cancel`, or a question of the hook itself. The hook's seal proves that no model wrote the order.

use std::ffi::OsString;
use std::io::{Read, Write as _};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use omo_core::messages::plan::run_answer::{CancelledBy, still_at_work};
use omo_core::prompt::short_answer::asks_to_go_on;
use omo_core::run_command::{EndedRunName, RunCommand};
use omo_core::session::id::SessionId;
use omo_core::session::plan_run::PlanRun;
use omo_core::text::{inline_code, sanitize};
use omo_engine::dispatched_tasks::{dispatched_tasks, forget_dispatched};
use omo_engine::event::{EventKind, Question, QuestionOption};
use omo_engine::state::ANSWER_CONTINUE;
use omo_engine::verbs;
use omo_engine::view::words::how_to_go_on;
use omo_plan::digest::sha256_hex;
use omo_state::env::{self, ProcessEnv};
use omo_state::open_run_marker;
use omo_state::state::sealed_plan_run;
use omo_state::typed_order::{ARGUMENT, MAX_BYTES, TypedOrder};

use crate::blocks::{go_on_line, parts};
use crate::commands::answer::{self, AnswerOptions};
use crate::commands::report::{self, ReportFormat, ReportOptions};
use crate::commands::run::cancel::{self, RunCancelOptions};
use crate::commands::run::retry;
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::execute::approval::with_approved_line;
use crate::execute::execute;
use crate::execute::line::{self, TypedLine};
use crate::execute::request::{ExecuteCommand, ExecuteRequest};
use crate::exit_kind::ExitKind;
use crate::output::print_block;
use crate::project::{Project, parse_session_id};
use crate::run_arguments::{RunOptions, TaskOptions};
use crate::runs_at_work::runs_at_work;

#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub(crate) struct CancelLine {
    run: Option<String>,
    #[arg(long)]
    reason: Option<String>,
}

#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub(crate) struct ReportLine {
    run: Option<String>,
    #[arg(long, value_enum)]
    format: Option<ReportFormat>,
    #[arg(long, conflicts_with_all = ["run", "format"])]
    last: bool,
    #[arg(long, conflicts_with = "format")]
    html: bool,
    #[arg(long, requires = "html", conflicts_with_all = ["run", "last"])]
    all: bool,
}

#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub(crate) struct RetryLine {
    task: String,
    #[arg(long)]
    passed: bool,
    #[arg(long)]
    run: Option<String>,
}

#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub(crate) struct AnswerLine {
    /// The option, with the question before it or without.
    #[arg(required = true, num_args = 1..=2)]
    words: Vec<String>,
    #[arg(long)]
    run: Option<String>,
}

pub(crate) fn is_typed_command(mut arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.next().is_some_and(|first| first == ARGUMENT) && arguments.next().is_none()
}

pub(crate) fn answer_typed_command() -> ExitCode {
    let env = ProcessEnv::from_process();
    let Some(order) = read_order(&env) else {
        let message = "no hook of omo has handed a typed command over";
        crate::output::print_stderr_line(&CommandError::needs_person(
            message,
            "type the slash command in the session",
        ));
        return ExitKind::NeedsPerson.exit_code();
    };
    match answer(&env, &order) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_printed() => ExitCode::SUCCESS,
        // The hook shows the path of a page, and no error.
        Err(failure) if order.command == RunCommand::EndedPage => failure.kind.exit_code(),
        Err(failure) => {
            let line = failure.line();
            print_block(&line)
                .map_or_else(|failure| failure.kind.exit_code(), |()| ExitCode::SUCCESS)
        }
    }
}

fn read_order(env: &ProcessEnv) -> Option<TypedOrder> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_BYTES)
        .read_to_end(&mut bytes)
        .ok()?;
    TypedOrder::read(&bytes, env.state_home.as_deref(), env.now)
}

fn answer(env: &ProcessEnv, order: &TypedOrder) -> Result<(), CommandError> {
    let in_session = ProcessEnv {
        project_dir: Some(order.root.clone().into()),
        session_id: Some(order.session.clone()),
        in_session: true,
        ..env.clone()
    };
    match read_run_command(order.command, &order.arguments)? {
        RunCommandLine::Cancel(line) => {
            let reason = line
                .reason
                .unwrap_or_else(|| format!("by its user, in session {}", order.session));
            let run = named_or_own_run(line.run, env, order);
            if run.run.is_none() {
                require_free_run(&in_session)?;
            }
            // A person ends any run of their project that they name, of any session, as at a terminal.
            let person = ProcessEnv {
                session_id: None,
                in_session: false,
                ..in_session
            };
            cancel::cancel_typed(
                &person,
                &RunCancelOptions {
                    run: run.into(),
                    reason,
                },
            )
        }
        RunCommandLine::Report(line) => {
            // Without a name: the page of the session's run, ultrawork or plan.
            let run = if line.html {
                RunOptions { run: line.run }
            } else {
                named_or_own_run(line.run, env, order)
            };
            report::run(
                &in_session,
                ReportOptions {
                    format: line.format,
                    last: line.last,
                    html: line.html.then_some(None),
                    open: false,
                    follow: false,
                    all: line.all,
                    session: None,
                    run: run.into(),
                },
            )
        }
        RunCommandLine::Retry(line) => {
            let context = CommandContext {
                typed_at: Some(order.at),
                ..CommandContext::find(&in_session)?
            };
            let options = TaskOptions {
                id: line.task,
                run: named_or_own_run(line.run, env, order),
            };
            let state = retry::reopen(&context, &options, line.passed)?;
            let line = retry::reopened_line(&state, &options.id);
            print_block(&format!("{line} To go on, type {}", how_to_go_on(&state)))
        }
        RunCommandLine::Answer(line) => {
            let context = CommandContext {
                typed_at: Some(order.at),
                ..CommandContext::find(&in_session)?
            };
            let run = named_or_own_run(line.run, env, order);
            answer_by_command(&context, &line.words, run.run.as_deref())
        }
        RunCommandLine::HookQuestion => answer_hook_question(env, &in_session, order),
    }
}

/// Refuses to end a run that another live session holds, and that the line does not name.
fn require_free_run(in_session: &ProcessEnv) -> Result<(), CommandError> {
    let context = CommandContext::find(in_session)?;
    let (run, state) = context.find_run(None, EndedRuns::Excluded)?;
    context.require_free_run(&state).map_err(|held| {
        let hint = format!("`/omo:cancel {}` ends it all the same", run.id());
        CommandError::busy(held.message(), hint)
    })
}

fn answer_hook_question(
    env: &ProcessEnv,
    in_session: &ProcessEnv,
    order: &TypedOrder,
) -> Result<(), CommandError> {
    match order.command {
        RunCommand::ShortAnswer => answer_question(in_session, order),
        RunCommand::Offer => offer_run(in_session),
        RunCommand::Preview => preview(in_session, order),
        RunCommand::AtWork => at_work(in_session, own_run(env, order).as_deref()),
        RunCommand::AgentEnded => {
            report_ended_agent(in_session, own_run(env, order), &order.arguments)
        }
        RunCommand::EndedPage => write_ended_page(in_session, order),
        RunCommand::Cancel | RunCommand::Report | RunCommand::Retry | RunCommand::Answer => Ok(()),
    }
}

/// Answers the question of the session's run with the typed text. Prints nothing where no option fits: the model then
/// gets the text. A stop that is passed by going on is not answered: only the command to type is printed.
fn answer_question(env: &ProcessEnv, order: &TypedOrder) -> Result<(), CommandError> {
    let Some(own_run) = own_run(env, order) else {
        return Ok(());
    };
    let context = CommandContext {
        typed_at: Some(order.at),
        ..CommandContext::find(env)?
    };
    // A missing run asks nothing.
    let Ok((run, state)) = context.find_run(Some(&own_run), EndedRuns::Excluded) else {
        return Ok(());
    };
    let Some(open) = state.open_question() else {
        return Ok(());
    };
    let (question, word) = (&open.question, order.arguments.as_str());
    let goes_on = asks_to_go_on(word);
    let option = question.options.iter().find(|option| {
        option.id.eq_ignore_ascii_case(word) || goes_on && option.id == ANSWER_CONTINUE
    });
    let go_on = go_on_line(&state);
    match option {
        Some(option) if option.id == ANSWER_CONTINUE && question.kind.is_passed_by_going_on() => {
            print_block(&format!(
                "[omo] The run {} goes on when you type:\n  {go_on}",
                run.id()
            ))
        }
        Some(option) => {
            let answered = record_option(&context, run.id(), question, option)?;
            print_block(&format!("[omo] {answered}. To go on, type:\n  {go_on}"))
        }
        // The question has no option `continue`: its options are shown.
        None if goes_on => {
            let text = sanitize(&question.text, 300);
            print_block(&format!(
                "[omo] The run {} asks: {text}\nTo answer, type one of: {}",
                run.id(),
                question.option_ids().join(", ")
            ))
        }
        None => Ok(()),
    }
}

fn record_option(
    context: &CommandContext,
    run: &str,
    question: &Question,
    option: &QuestionOption,
) -> Result<String, CommandError> {
    let run = RunOptions {
        run: Some(run.to_owned()),
    };
    let answer = AnswerOptions {
        question: question.id.clone(),
        option: option.id.clone(),
        run,
    };
    let (_, _, into) = answer::record_answer(context, &answer)?;
    Ok(format!(
        "{} is answered: {}, {}{into}",
        question.id,
        option.id,
        sanitize(&option.text, 200)
    ))
}

fn answer_by_command(
    context: &CommandContext,
    words: &[String],
    run: Option<&str>,
) -> Result<(), CommandError> {
    let (run, state) = context.find_run(run, EndedRuns::Excluded)?;
    let Some(open) = state.open_question() else {
        let message = format!("the run {} waits for no answer", run.id());
        return Err(CommandError::precondition(
            message,
            "`omo run show` says where it stands",
        ));
    };
    let question = &open.question;
    let (asked, word) = match words {
        [asked, word] => (Some(asked), word.as_str()),
        [word] => (None, word.as_str()),
        _ => (None, ""),
    };
    if let Some(asked) = asked.filter(|asked| !asked.eq_ignore_ascii_case(&question.id)) {
        let message = format!(
            "the run {} waits at {}, not at `{}`",
            run.id(),
            question.id,
            sanitize(asked, 60)
        );
        return Err(CommandError::not_found(
            message,
            "`omo run show` has the question",
        ));
    }
    let index = word
        .parse::<usize>()
        .ok()
        .and_then(|number| number.checked_sub(1));
    let option_by_name = question
        .options
        .iter()
        .find(|option| option.id.eq_ignore_ascii_case(word));
    let Some(option) = option_by_name.or_else(|| question.options.get(index?)) else {
        let message = format!(
            "question {} has no option `{}`",
            question.id,
            sanitize(word, 60)
        );
        return Err(CommandError::not_found(
            message,
            format!("it has {}", numbered_options(question)),
        ));
    };
    let answered = record_option(context, run.id(), question, option)?;
    print_block(&format!(
        "{answered}. To go on, type {}",
        go_on_line(&state)
    ))
}

/// Options with their numbers: `1 continue, 2 stop`.
fn numbered_options(question: &Question) -> String {
    let options = question.option_ids().into_iter().enumerate();
    options
        .map(|(place, id)| format!("{} {id}", place + 1))
        .collect::<Vec<_>>()
        .join(", ")
}

fn offer_run(env: &ProcessEnv) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let found = context
        .runs
        .as_ref()
        .map(|runs| context.open_run(runs))
        .transpose()?
        .flatten();
    let Some((run, state)) = found.filter(|(_, state)| !state.is_task_list()) else {
        return Ok(open_run_marker::set(&context.root, false)?);
    };
    if context.require_free_run(&state).is_err() {
        return Ok(());
    }
    let waits = if state.open_question().is_some() {
        ", and waits for you"
    } else {
        ""
    };
    print_block(&format!(
        "[omo] the run `{id}` of `{}` is open: {}{waits}. Its user goes on with it by typing {}, and ends it by typing \
         /omo:cancel {id}",
        inline_code(&parts::run_subject(&state), 120),
        parts::progress_words(&state),
        go_on_line(&state),
        id = run.id(),
    ))
}

/// Prints obstacles to a command that executes a plan. Nothing begins, and no command of the plan runs.
fn preview(env: &ProcessEnv, order: &TypedOrder) -> Result<(), CommandError> {
    let (name, line) = order
        .arguments
        .split_once('\n')
        .unwrap_or((&order.arguments, ""));
    let Ok(command) = ExecuteCommand::from_str(name, false) else {
        return Ok(());
    };
    let context = CommandContext {
        is_preview: true,
        typed_at: Some(order.at),
        ..CommandContext::find(env)?
    };
    let typed = with_approved_line(&context, command, line)
        .and_then(|(command, line)| line::read_typed_line(command, &line));
    let found = typed.and_then(|typed| match typed {
        TypedLine::Help(page) => print_block(&page),
        TypedLine::Request(request) => execute(
            &context,
            ExecuteRequest {
                is_typed: true,
                ..*request
            },
        ),
    });
    match found {
        Err(failure) if !failure.is_printed() => print_block(&failure.screen()),
        found => found,
    }
}

fn at_work(env: &ProcessEnv, own: Option<&str>) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let Some(runs) = &context.runs else {
        return Ok(());
    };
    for (id, at_work) in runs_at_work(runs, |state| context.is_in_this_work_tree(state))? {
        let ends_it = if own == Some(id.as_str()) {
            CancelledBy::OwnSession
        } else {
            CancelledBy::AnySession
        };
        print_block(&still_at_work(&id, &at_work, ends_it))?;
    }
    Ok(())
}

/// Reports the end of an agent: its running task counts as lost, and a task not begun is free for another agent.
fn report_ended_agent(
    env: &ProcessEnv,
    run: Option<String>,
    task_and_ticket: &str,
) -> Result<(), CommandError> {
    let (Some(run), Some((task, ticket))) = (run, task_and_ticket.split_once(' ')) else {
        return Ok(());
    };
    let context = CommandContext::find(env)?;
    let (run, before) = context.find_run(Some(&run), EndedRuns::Excluded)?;
    let engine = context.engine(&run, &before)?;
    let ticket = sha256_hex(ticket.as_bytes());
    let dispatched = dispatched_tasks(&run.events()?, env::now());
    let state = engine.decide(|state| {
        if let Some((id, _)) = state
            .running_attempts()
            .find(|(_, running)| running.ticket == ticket)
        {
            return Ok(vec![verbs::report_lost_worker(state, id)?]);
        }
        if !dispatched.iter().any(|known| known == task) {
            return Ok(Vec::new());
        }
        let others: Vec<String> = dispatched
            .iter()
            .filter(|known| *known != task)
            .cloned()
            .collect();
        let still_out = (!others.is_empty()).then_some(EventKind::TasksDispatched {
            tasks: others,
            to_agents: true,
        });
        Ok(std::iter::once(forget_dispatched())
            .chain(still_out)
            .collect())
    })?;
    context.note_in_session(&run, &before.holder, &state);
    Ok(())
}

fn write_ended_page(env: &ProcessEnv, order: &TypedOrder) -> Result<(), CommandError> {
    let path = match EndedRunName::parse(&order.arguments) {
        Some(EndedRunName::Ultrawork(ended_at)) => {
            let project = Project::open(
                order.root.clone().into(),
                Some(parse_session_id(&order.session)?),
            )?;
            report::html::keep_ultrawork_page(env, project, ended_at)?
        }
        Some(EndedRunName::Plan(id)) => report::html::keep_plan_page(env, &id)?,
        None => {
            return Err(CommandError::usage(
                "this names no run",
                "`omo report --html` writes its page",
            ));
        }
    };
    Ok(writeln!(anstream::stdout(), "{}", path.display())?)
}

#[derive(Debug)]
pub(crate) enum RunCommandLine {
    Cancel(CancelLine),
    Report(ReportLine),
    Retry(RetryLine),
    Answer(AnswerLine),
    /// A question of a hook, such as [`RunCommand::AtWork`], without a command line.
    HookQuestion,
}

/// Parses the text behind a command; words are split as a shell does, without a shell.
pub(crate) fn read_run_command(
    command: RunCommand,
    arguments: &str,
) -> Result<RunCommandLine, CommandError> {
    Ok(match command {
        RunCommand::Cancel => RunCommandLine::Cancel(read_line(command, arguments)?),
        RunCommand::Report => RunCommandLine::Report(read_line(command, arguments)?),
        RunCommand::Retry => RunCommandLine::Retry(read_line(command, arguments)?),
        RunCommand::Answer => RunCommandLine::Answer(read_line(command, arguments)?),
        _ => RunCommandLine::HookQuestion,
    })
}

fn read_line<T: Parser>(command: RunCommand, arguments: &str) -> Result<T, CommandError> {
    let hint = format!("type `{}`", command.usage());
    let Some(words) = shlex::split(arguments) else {
        return Err(CommandError::usage("a quote is not closed", hint));
    };
    T::try_parse_from(words).map_err(|error| {
        let message = error.to_string();
        let message = match error.kind() {
            clap::error::ErrorKind::MissingRequiredArgument => "an argument is missing",
            _ => message
                .lines()
                .next()
                .unwrap_or_default()
                .trim_start_matches("error: "),
        };
        CommandError::usage(sanitize(message, 200), hint)
    })
}

fn named_or_own_run(run: Option<String>, env: &ProcessEnv, order: &TypedOrder) -> RunOptions {
    RunOptions {
        run: run.or_else(|| own_run(env, order)),
    }
}

fn own_run(env: &ProcessEnv, order: &TypedOrder) -> Option<String> {
    let id = SessionId::parse(&order.session).ok()?;
    let plan_run =
        sealed_plan_run::read(order.root.as_ref(), &id, env.state_home.as_deref()).ok()??;
    Some(plan_run).filter(PlanRun::is_open).map(|run| run.id)
}
