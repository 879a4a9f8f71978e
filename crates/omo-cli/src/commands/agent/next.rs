//! `omo agent next`: prints the next step of a run, which a session asks for in a loop.

mod worker;

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use omo_engine::Run;
use omo_engine::dispatched_tasks;
use omo_engine::event::{EventKind, RunEvent};
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::schedule::{self, NextAction};
use omo_engine::state::RunState;
use omo_engine::work::Engine;
use omo_plan::model::Task;
use omo_plan::refusal::{VerbRefusal, VerbRefusalKind};
use omo_state::env::{self, ProcessEnv, WorkerIdentity};

use crate::billing::can_ask_user;
use crate::blocks::workflow_batch::WorkflowBatch;
use crate::blocks::{self, parallel_run, parts, task_list_run};
use crate::commands::agent::start::{FollowingTasks, begin_task};
use crate::commands::run::pr;
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::output::check_progress::TaskCheckProgress;
use crate::parallel_workers::watch;
use crate::run_arguments::RunOptions;
use crate::wait::{LONGEST_WAIT, POLL_INTERVAL};

const HELP: &str = "\
Examples:
  omo agent next                 what to do now, as one block
  omo agent next --wait 540      wait for the worker that is at it first

The block begins with a word: SPAWN, TASK, DO, ASK, WAIT, STOP or DONE. Below TASK
stands a task that has begun, the others end with the command to run next.
The exit status is 7 when a person is needed, and 1
when the run has ended with failures.";

/// Print what comes next in a run
#[derive(Debug, Default, Args)]
#[command(after_help = HELP)]
pub(crate) struct NextOptions {
    /// While a worker is at work, seconds to wait for it to end
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub wait: u64,
    /// Hand out all tasks up to the next stop, for the Workflow tool
    #[arg(long, conflicts_with = "inline")]
    pub workflow: bool,
    /// Hand the task out to this session itself
    #[arg(long)]
    pub inline: bool,
    /// For a session that omo has started: which one of the plan it is
    #[arg(long, value_name = "ID", hide = true)]
    pub group: Option<String>,
    #[command(flatten)]
    pub run: RunOptions,
}

pub(crate) fn run(env: &ProcessEnv, options: &NextOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, before) = context.find_run(options.run.run.as_deref(), EndedRuns::Included)?;
    print_next(&context, &run, before, options)
}

/// Prints the next step; the exit status belongs to the calling command.
pub(crate) fn answer_with_next(
    context: &CommandContext,
    run: &Run,
    state: RunState,
) -> Result<(), CommandError> {
    match print_next(context, run, state, &NextOptions::default()) {
        Err(answered) if answered.is_printed() => Ok(()),
        done => done,
    }
}

fn print_next(
    context: &CommandContext,
    run: &Run,
    before: RunState,
    options: &NextOptions,
) -> Result<(), CommandError> {
    let named_worker = options.group.as_ref().map(|group| WorkerIdentity {
        run: run.id().to_owned(),
        worker: group.clone(),
    });
    if let Some(worker) = named_worker.as_ref().or(context.env.worker.as_ref()) {
        return worker::next_for_worker(context, worker, run, &before);
    }
    // Copied first: `before` is dropped early, since two states of a large run take much memory.
    let (root, tree) = (
        PathBuf::from(&before.root),
        context.work_tree(run.id(), &before)?,
    );
    let engine = context.engine_at(run, &root, tree)?;
    let deadline = Instant::now() + Duration::from_secs(options.wait).min(LONGEST_WAIT);
    let holder = before.holder.clone();
    let mut state = settled_state(&engine, before)?;
    if watch::is_parallel(&state) {
        return watch::watch_run(context, &engine, &holder, Some(deadline), true);
    }
    let (text, kind) = loop {
        match next_block(context, &engine, &state, options)? {
            NextBlock::Wait(text) if Instant::now() >= deadline => break (text, ExitKind::Success),
            NextBlock::Wait(_) => state = wait_for_change(run, &state, deadline)?,
            NextBlock::FinalChecks => {
                let checked = engine.run_final_checks(&mut TaskCheckProgress::new())?;
                state = settled_state(&engine, checked)?;
            }
            NextBlock::CommitAgain(id) => {
                let judged = engine.commit_again(&id, &mut TaskCheckProgress::new())?;
                state = settled_state(&engine, judged.state)?;
            }
            NextBlock::Print { text, kind, after } => {
                state = after.map_or(state, |after| *after);
                break (text, kind);
            }
        }
    };
    context.note_in_session(run, &holder, &state);
    writeln!(anstream::stdout(), "{}", text.trim_end())?;
    if kind == ExitKind::Success {
        Ok(())
    } else {
        Err(CommandError::already_printed(kind))
    }
}

fn settled_state(engine: &Engine, state: RunState) -> Result<RunState, CommandError> {
    if schedule::next_action(&state) == NextAction::Over {
        return Ok(engine.write_projections_if_last(state)?);
    }
    engine.require_unedited_plan(&state)?;
    engine.require_approval(&state)?;
    Ok(engine.apply_due_events(state)?)
}

enum NextBlock {
    /// Workers are busy or about to begin; the text is printed at the end of the wait.
    Wait(String),
    FinalChecks,
    CommitAgain(String),
    /// A text to print, and the state after the event that was recorded for it, if any.
    Print {
        text: String,
        kind: ExitKind,
        after: Option<Box<RunState>>,
    },
}

impl NextBlock {
    fn text(text: String, kind: ExitKind) -> Self {
        Self::Print {
            text,
            kind,
            after: None,
        }
    }
}

fn next_block(
    context: &CommandContext,
    engine: &Engine,
    state: &RunState,
    options: &NextOptions,
) -> Result<NextBlock, CommandError> {
    let by_workflow = options.workflow && blocks::goes_by_workflow(state);
    Ok(match schedule::next_action(state) {
        NextAction::Over => {
            let state = &pr::open_ordered(context, engine.run, state.clone());
            let text = if state.is_task_list() {
                task_list_run::end_block(state)
            } else {
                blocks::end_block(state)
            };
            let kind = if parts::ends_well(state) {
                ExitKind::Success
            } else {
                ExitKind::NotGreen
            };
            NextBlock::text(text, kind)
        }
        NextAction::Ask(question) => NextBlock::text(
            blocks::question_block(question, state, can_ask_user(context)),
            ExitKind::NeedsPerson,
        ),
        NextAction::Wait(ids) => {
            NextBlock::Wait(blocks::wait_block(&ids, state, env::now(), by_workflow))
        }
        NextAction::FinalChecks => NextBlock::FinalChecks,
        NextAction::CommitAgain(task) => NextBlock::CommitAgain(task.id.clone()),
        NextAction::Start(tasks) => {
            start(context, engine, state, tasks, options.inline, by_workflow)?
        }
        NextAction::AskNew(_)
        | NextAction::NextRound { .. }
        | NextAction::End(_)
        | NextAction::Parallel(_) => {
            return Err(no_next_step(context));
        }
    })
}

fn start(
    context: &CommandContext,
    engine: &Engine,
    state: &RunState,
    tasks: Vec<&Task>,
    is_inline: bool,
    by_workflow: bool,
) -> Result<NextBlock, CommandError> {
    let Some(task) = tasks.first().copied() else {
        return Err(no_next_step(context));
    };
    match state.mode {
        ExecutionMode::StepByStep | ExecutionMode::Parallel if context.is_person() => {
            let text = parallel_run::task_block(engine.run.id(), task, state);
            Ok(NextBlock::text(text, ExitKind::Success))
        }
        // A session does not review its own work.
        ExecutionMode::StepByStep if task.is_verification() && !is_inline => {
            spawn_one(context, engine, state, task)
        }
        ExecutionMode::StepByStep | ExecutionMode::Parallel => {
            let begun = begin_task(context, engine.run, state, &task.id, FollowingTasks::Any)?;
            Ok(NextBlock::text(format!("TASK\n{begun}"), ExitKind::Success))
        }
        ExecutionMode::Waves | ExecutionMode::Batches if is_inline => {
            let text = blocks::work_inline(engine.run.id(), task, state);
            Ok(NextBlock::text(text, ExitKind::Success))
        }
        ExecutionMode::Waves => spawn_wave(context, engine, state, tasks),
        ExecutionMode::Batches if by_workflow && is_handed_out(state) => {
            Ok(NextBlock::Wait(blocks::wait_for_workers()))
        }
        ExecutionMode::Batches if by_workflow => hand_out(engine),
        ExecutionMode::Batches => spawn_one(context, engine, state, task),
    }
}

fn no_next_step(context: &CommandContext) -> CommandError {
    CommandError::io(
        "the run does not know how to go on",
        format!(
            "please report this, with `omo run show` in {}",
            context.root.display()
        ),
    )
}

fn is_handed_out(state: &RunState) -> bool {
    let Some(dispatched) = &state.dispatched else {
        return false;
    };
    let is_left = dispatched.tasks.iter().any(|id| {
        state
            .standing(id)
            .is_some_and(|standing| !standing.is_ended())
    });
    let quiet = env::now().millis_since(state.updated_at).unwrap_or(0);
    is_left && quiet < dispatched_tasks::BEGINS_WITHIN_MILLIS
}

/// Block that asks for an agent for `task`, or a wait where one was just asked for.
fn spawn_one(
    context: &CommandContext,
    engine: &Engine,
    state: &RunState,
    task: &Task,
) -> Result<NextBlock, CommandError> {
    let now = env::now();
    let dispatched = if dispatched_tasks::may_be_dispatched(state, now) {
        dispatched_tasks::dispatched_tasks(&events_of(engine, state)?, now)
    } else {
        Vec::new()
    };
    if dispatched.contains(&task.id) {
        return Ok(NextBlock::Wait(blocks::wait_for_agents(&dispatched)));
    }
    let text = blocks::spawn_agent(engine.run.id(), task, state);
    record_spawned(context, engine, vec![task.id.clone()], text)
}

/// Events up to `state`: a later one may have begun a task that looks ready in it.
fn events_of(engine: &Engine, state: &RunState) -> Result<Vec<RunEvent>, CommandError> {
    let mut events = engine.run.events()?;
    events.retain(|event| event.seq <= state.seq);
    Ok(events)
}

fn spawn_wave(
    context: &CommandContext,
    engine: &Engine,
    state: &RunState,
    mut tasks: Vec<&Task>,
) -> Result<NextBlock, CommandError> {
    let events = events_of(engine, state)?;
    let dispatched = dispatched_tasks::dispatched_tasks(&events, env::now());
    tasks.retain(|task| !dispatched.contains(&task.id));
    if tasks.is_empty() {
        return Ok(NextBlock::Wait(blocks::wait_for_agents(&dispatched)));
    }
    let is_beginning = task_list_run::is_round_beginning(&events);
    let (text, count) = task_list_run::spawn_block(engine.run.id(), &tasks, state, is_beginning);
    record_spawned(
        context,
        engine,
        tasks
            .iter()
            .take(count)
            .map(|task| task.id.clone())
            .collect(),
        text,
    )
}

fn record_spawned(
    context: &CommandContext,
    engine: &Engine,
    tasks: Vec<String>,
    text: String,
) -> Result<NextBlock, CommandError> {
    let after = if context.is_person() {
        None
    } else {
        Some(Box::new(
            engine
                .transact(|_| {
                    Ok((
                        vec![EventKind::TasksDispatched {
                            tasks,
                            to_agents: true,
                        }],
                        (),
                    ))
                })?
                .1,
        ))
    };
    Ok(NextBlock::Print {
        text,
        kind: ExitKind::Success,
        after,
    })
}

fn hand_out(engine: &Engine) -> Result<NextBlock, CommandError> {
    let (dispatched, state) = engine.transact(|state| {
        if !matches!(schedule::next_action(state), NextAction::Start(_)) {
            return Err(VerbRefusal {
                kind: VerbRefusalKind::Contention,
                message: "another session has begun meanwhile".to_owned(),
                hint: "run `omo agent next` again".to_owned(),
            });
        }
        let dispatched = WorkflowBatch::from_state(engine.run.id(), state);
        let tasks = dispatched
            .task_ids()
            .into_iter()
            .map(str::to_owned)
            .collect();
        Ok((
            vec![EventKind::TasksDispatched {
                tasks,
                to_agents: false,
            }],
            dispatched,
        ))
    })?;
    let text = blocks::spawn_workflow(&dispatched, &state);
    Ok(NextBlock::Print {
        text,
        kind: ExitKind::Success,
        after: Some(Box::new(state)),
    })
}

fn wait_for_change(
    run: &Run,
    state: &RunState,
    deadline: Instant,
) -> Result<RunState, CommandError> {
    let was_handed_out = is_handed_out(state);
    loop {
        let now = run.state()?;
        if now.seq != state.seq
            || was_handed_out && !is_handed_out(&now)
            || Instant::now() >= deadline
        {
            return Ok(now);
        }
        std::thread::sleep(POLL_INTERVAL.min(deadline.saturating_duration_since(Instant::now())));
    }
}
