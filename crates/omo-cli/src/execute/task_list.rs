//! Execution of a task list: opens its run, continues it, or shows its end.

use std::path::{Path, PathBuf};

use omo_core::text::sanitize;
use omo_engine::event::RunResult;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::import::import_task_list;
use omo_engine::modes::arranged;
use omo_engine::report::task_list::final_report;
use omo_engine::request::arguments::PlanSelection;
use omo_engine::request::run_scope::RunScope;
use omo_engine::state::{ANSWER_CONTINUE, RunPhase, RunState};
use omo_engine::task_list_store::run_of;
use omo_engine::work::planned_commands;
use omo_engine::{Run, RunStore, dispatched_tasks, verbs};
use omo_plan::diagnostic::{Diagnostic, Severity};
use omo_plan::model::Plan;
use omo_plan::task_list::{TaskList, TaskListPhase};
use omo_state::git_worktree::GitWorktree;

use crate::blocks::{self, parts, task_list_run};
use crate::context::{CommandContext, another_run_is_open, require_only_parallel_run};
use crate::error::CommandError;
use crate::execute::approval::{ApprovalRequest, approve_plan};
use crate::execute::open_run::{begin, prepare};
use crate::execute::options::WaveOptions;
use crate::execute::print_then_next;
use crate::execute::refusals::{other_mode_error, require_repository};
use crate::execute::request::{ExecuteCommand, ExecuteRequest, RequestedPlan};
use crate::exit_kind::ExitKind;
use crate::output::print_block;
use crate::repository_sessions::real_path;
use crate::task_list_files::{TaskListOption, open_task_list};

pub(crate) fn execute(
    context: &CommandContext,
    request: &ExecuteRequest,
    session: Option<&str>,
) -> Result<(), CommandError> {
    if request.scope.is_dry_run
        || request.scope.is_resume
        || request.scope.selection != PlanSelection::Whole
    {
        let hint =
            "--again goes on with one that has failed; `omo agent task list` shows its tasks";
        return Err(CommandError::usage(
            "a task list is executed as a whole",
            hint,
        ));
    }
    if session.or(context.env.session_id.as_deref()).is_none() {
        let hint = "name one with `--session ID`; `omo tasks list` has them all";
        return Err(CommandError::usage("no task list is named", hint));
    }
    let which = TaskListOption {
        session: session.map(str::to_owned),
    };
    let list = open_task_list(&which, context.env)?.load()?;
    let source = RequestedPlan::TaskList(Some(list.id.clone()));
    let request = &ExecuteRequest {
        source,
        ..request.clone()
    };
    require_this_work_tree(context, &list)?;
    let known_run = context
        .runs
        .as_ref()
        .map(|runs| run_of_task_list(context, runs, &list))
        .transpose()?
        .flatten();
    let (id, phase) = (&list.id, list.file.phase);
    let is_begun_anew = phase == TaskListPhase::Failed && request.again;
    match (phase, known_run) {
        (_, Some((run, state))) if state.phase == RunPhase::Executing || is_begun_anew => {
            if state.phase == RunPhase::Executing
                && request.mode.is_some_and(|mode| mode != state.mode)
            {
                return Err(other_mode_error(run.id(), &state));
            }
            continue_run(context, &run, &state, request)
        }
        (
            TaskListPhase::PlanningComplete
            | TaskListPhase::Execution
            | TaskListPhase::Verification,
            _,
        ) => open_task_list_run(context, &list, &which, request),
        _ if is_begun_anew => open_task_list_run(context, &list, &which, request),
        // An ended run is shown, except in a look for obstacles.
        _ if phase.is_over() && context.is_preview => Ok(()),
        (TaskListPhase::Complete | TaskListPhase::Failed, Some((run, state))) => {
            context.note_ended_run(&run, &state);
            let block = task_list_run::end_block(&state);
            show_ended(
                &final_report(&state),
                &block,
                parts::ends_well(&state),
                request,
            )
        }
        (TaskListPhase::Complete | TaskListPhase::Failed, None) => {
            let is_well = phase == TaskListPhase::Complete;
            let text = task_list_run::ended_without_a_run(id, &list.tasks, is_well);
            show_ended(&text, &task_list_run::end_lines(&text), is_well, request)
        }
        (TaskListPhase::Cancelled, _) => {
            let line = format!("The task list {id} was cancelled; nothing of it is done.");
            print_block(&if request.is_typed {
                task_list_run::user_line(&line)
            } else {
                line
            })
        }
        (TaskListPhase::Planning | TaskListPhase::Documentation | TaskListPhase::Unknown, _) => {
            Err(not_ready(id, phase))
        }
    }
}

fn not_ready(id: &str, phase: TaskListPhase) -> CommandError {
    let message = format!(
        "the task list {id} cannot be executed: its phase is {}",
        phase.word()
    );
    let hint = match phase {
        TaskListPhase::Documentation => {
            "its tasks are done; what is left is for the program that began it"
        }
        _ => {
            "finish its plan first: /omo:ulw-plan in Claude Code, or `omo agent tasks update --phase PLANNING_COMPLETE`"
        }
    };
    CommandError::precondition(message, hint)
}

/// Shows an ended run, with its exit status. The client shows a failure behind a typed command without a model.
fn show_ended(
    shown: &str,
    block: &str,
    is_well: bool,
    request: &ExecuteRequest,
) -> Result<(), CommandError> {
    print_block(if request.is_typed && !is_well {
        shown
    } else {
        block
    })?;
    if is_well {
        Ok(())
    } else {
        Err(CommandError::already_printed(ExitKind::NotGreen))
    }
}

/// A session works in one folder, which its workers change.
fn require_this_work_tree(context: &CommandContext, list: &TaskList) -> Result<(), CommandError> {
    let folder = &list.file.working_dir;
    if folder.is_empty() || top_of(Path::new(folder)) == top_of(&context.root) {
        return Ok(());
    }
    let shown = sanitize(folder, 300);
    let message = format!(
        "the task list {} works in {shown}, and not in {}",
        list.id,
        context.root.display()
    );
    Err(CommandError::precondition(
        message,
        "run this in that folder",
    ))
}

fn top_of(folder: &Path) -> PathBuf {
    GitWorktree::find(folder).map_or_else(|| real_path(folder), |tree| real_path(&tree.top))
}

fn run_of_task_list(
    context: &CommandContext,
    runs: &RunStore,
    list: &TaskList,
) -> Result<Option<(Run, RunState)>, CommandError> {
    // The file may not name a run that was just opened.
    if let Some((run, state)) = context
        .open_run(runs)?
        .filter(|(_, state)| is_run_of_list(state, list))
    {
        return Ok(Some((run, state)));
    }
    let Some(run) = run_of(&list.file).and_then(|named| runs.get(&named.id).ok()) else {
        return Ok(None);
    };
    let state = run.state()?;
    Ok(is_run_of_list(&state, list).then_some((run, state)))
}

fn is_run_of_list(state: &RunState, list: &TaskList) -> bool {
    state.is_task_list() && Path::new(&state.plan.source.path) == Path::new(&list.folder)
}

/// Opens a run of the session. Work that its files call done counts as claimed.
fn open_task_list_run(
    context: &CommandContext,
    list: &TaskList,
    which: &TaskListOption,
    request: &ExecuteRequest,
) -> Result<(), CommandError> {
    require_repository(&context.root)?;
    let mode = request.mode.unwrap_or(ExecutionMode::Waves);
    let plan = arranged(
        plan_of_task_list(list, &request.waves)?,
        mode,
        &request.mode_options(),
    );
    if let Some((run, state)) = context
        .runs
        .as_ref()
        .map(|runs| context.open_run(runs))
        .transpose()?
        .flatten()
    {
        return Err(another_run_is_open(run.id(), &state));
    }
    let scope = (!mode.is_done_by_agents()).then(|| RunScope {
        is_foreground: mode == ExecutionMode::StepByStep,
        ..RunScope::from(&request.scope)
    });
    let prepared = prepare(context, request, plan, mode, scope, "")?;
    if context.is_preview {
        return Ok(());
    }
    let runs = RunStore::create(&context.root, Some(&context.state_home))?;
    let _opening_lock = context.lock_opening(&runs, None)?;
    if mode == ExecutionMode::Parallel {
        require_only_parallel_run(&runs, None)?;
    }
    if open_task_list(which, context.env)?.load()? != *list {
        let message = format!("the task list {} was changed meanwhile", list.id);
        return Err(CommandError::conflict(message, "run it again"));
    }
    begin(context, &runs, prepared, import_task_list(&list.tasks))
}

fn plan_of_task_list(list: &TaskList, waves: &WaveOptions) -> Result<Plan, CommandError> {
    let plan = with_waves(list.plan(waves.skip_verify), waves);
    if plan.work_tasks().next().is_none() {
        let message = format!("the task list {} has no tasks", list.id);
        let hint = "/omo:ulw-plan finds them in Claude Code, and `omo agent task create` adds one";
        return Err(CommandError::precondition(message, hint));
    }
    if plan.can_run() {
        return Ok(plan);
    }
    let errors = plan
        .diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error);
    let lines: String = errors.map(task_file_error).collect();
    let message = format!("the tasks of the session {} cannot be run:{lines}", list.id);
    Err(CommandError::invalid_plan(
        message,
        format!("fix the files in {}; nothing was run", list.folder),
    ))
}

fn task_file_error(found: &Diagnostic) -> String {
    let file = found
        .task
        .as_ref()
        .map(|id| format!("tasks/{id}.json: "))
        .unwrap_or_default();
    let help = found
        .help
        .as_ref()
        .map(|help| format!(" ({help})"))
        .unwrap_or_default();
    format!(
        "\n  {}{}{help}",
        sanitize(&file, 80),
        sanitize(&found.text, 300)
    )
}

fn with_waves(mut plan: Plan, waves: &WaveOptions) -> Plan {
    plan.policy.max_rounds = waves.max_iterations.unwrap_or(plan.policy.max_rounds);
    plan.policy.max_workers = waves.max_workers.unwrap_or(plan.policy.max_workers);
    plan
}

fn continue_run(
    context: &CommandContext,
    run: &Run,
    before: &RunState,
    request: &ExecuteRequest,
) -> Result<(), CommandError> {
    let engine = context.engine(run, before)?;
    context.require_free_run(before)?;
    let changed = changed_plan(context, before, request)?;
    if context.is_preview {
        return Ok(());
    }
    let stop = before
        .open_question()
        .filter(|open| request.is_typed && open.question.kind.is_passed_by_going_on());
    let stop = stop.map(|open| open.question.id.clone());
    let _opening_lock = context
        .runs
        .as_ref()
        .map(|runs| context.lock_opening(runs, Some(run.id())))
        .transpose()?;
    let ((), state) = engine.take_over(|state| {
        let answered =
            stop.map(|question| engine.answer_question(state, &question, ANSWER_CONTINUE, None));
        let answered = answered.transpose()?.unwrap_or_default();
        let replanned = changed
            .map(|(plan, approved)| verbs::replace_plan(state, plan, approved))
            .transpose()?
            .unwrap_or_default();
        let anew = request.is_typed.then(dispatched_tasks::forget_dispatched);
        Ok((
            answered.into_iter().chain(replanned).chain(anew).collect(),
            (),
        ))
    })?;
    context.note_in_session(run, &before.holder, &state);
    let head = blocks::resumed_block(run.id(), &state, "");
    print_then_next(context, run, state, &head)
}

fn changed_plan(
    context: &CommandContext,
    state: &RunState,
    request: &ExecuteRequest,
) -> Result<Option<(Plan, String)>, CommandError> {
    let id = state.task_list_id();
    let plan = with_waves(state.plan.clone(), &request.waves);
    if request.waves.skip_verify && !plan.policy.skips_verification {
        let message = format!("the run of the session {id} has its verification already");
        let hint =
            "it can only be left out where the run is opened; `omo run cancel` ends this one";
        return Err(CommandError::precondition(message, hint));
    }
    let asked = ApprovalRequest {
        command_line: request.typed(),
        digest: request.digest.as_deref(),
        is_continued: true,
        ..ApprovalRequest::default()
    };
    let approved = approve_plan(context, &plan, state.mode, None, &asked)?;
    let is_same =
        plan == state.plan && (planned_commands(&plan).is_empty() || approved == state.approved);
    Ok((!is_same).then_some((plan, approved)))
}

pub(crate) fn resume(
    context: &CommandContext,
    run: &Run,
    state: &RunState,
    digest: Option<&str>,
) -> Result<(), CommandError> {
    if state.phase
        == (RunPhase::Ended {
            result: RunResult::Complete,
        })
    {
        context.note_ended_run(run, state);
        return print_block(&task_list_run::end_block(state));
    }
    let source = RequestedPlan::TaskList(Some(state.task_list_id().to_owned()));
    let usual = ExecuteRequest::new(ExecuteCommand::UlwExec, source);
    continue_run(
        context,
        run,
        state,
        &ExecuteRequest {
            digest: digest.map(str::to_owned),
            ..usual
        },
    )
}
