//! `omo agent tasks create`: begins a task list for a session, or resumes an abandoned one.

pub(super) mod raw_args;
mod source_file;

use clap::Args;
use omo_core::session::id::SessionId;
use omo_core::text::sanitize;
use omo_engine::task_list_store::{LockedTaskList, TaskListError};
use omo_plan::task_list::rules::{self, NewTaskList};
use omo_plan::task_list::{ContextFile, TaskListFile, TaskListSettings};
use omo_state::env::ProcessEnv;
use omo_state::state::sealed_plan_run;

use crate::error::CommandError;
use crate::process_paths::current_folder;
use crate::project::{Project, own_session};
use crate::task_list_files::{self, TaskListOption};
use crate::{output, task_list_note};
use source_file::SourceFile;

const HELP: &str = "\
Example:
  omo agent tasks create --max-iterations 3 add a login page

What an earlier session of this id has left is kept as `NAME.before-1`.";

/// Begin a task list, or go on with one that was given up
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct TaskListCreateOptions {
    #[command(flatten)]
    pub which: TaskListOption,
    /// Its goal, in place of the words
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    pub goal: Option<String>,
    /// Workers at once; 0 for no bound
    #[arg(
        long,
        short = 'w',
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    pub max_workers: u32,
    /// Times it may be gone over
    #[arg(
        long,
        short = 'i',
        value_name = "N",
        default_value_t = 5,
        allow_negative_numbers = true
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub max_iterations: u32,
    /// It ends with its plan
    #[arg(long, short)]
    pub plan_only: bool,
    /// No question is asked
    #[arg(long, short)]
    pub auto: bool,
    /// Start over where one goes on
    #[arg(long, short)]
    pub force: bool,
    /// Go on with the one that is there
    #[arg(long, short, conflicts_with_all = ["force", "goal", "words"])]
    pub resume: bool,
    /// Make it of the tasks in this file
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub from: Option<String>,
    /// Take what the user typed after /omo:ulw-plan
    #[arg(long, conflicts_with_all = ["goal", "resume", "words", "from"])]
    pub args_from_hook: bool,
    /// Its goal
    #[arg(value_name = "GOAL", required_unless_present_any = ["goal", "resume", "args_from_hook", "from"])]
    pub words: Vec<String>,
}

pub(crate) fn run(env: &ProcessEnv, options: &TaskListCreateOptions) -> Result<(), CommandError> {
    if options.args_from_hook {
        let options = typed(env, options)?;
        return run(
            env,
            &TaskListCreateOptions {
                args_from_hook: false,
                ..options
            },
        );
    }
    if options.resume {
        return resume_task_list(
            env,
            &task_list_files::known_task_list_id(&options.which, env)?,
        );
    }
    let id = task_list_files::task_list_id(&options.which, env)?;
    let words = options.words.join(" ");
    if options.goal.is_some() && !words.is_empty() {
        output::print_warning(&format!(
            "`--goal` says what it is for, and these words do not count: {}",
            sanitize(&words, 100)
        ));
    }
    let goal = options.goal.clone().unwrap_or(words);
    let current = current_folder()?;
    let source = options.from.as_deref();
    let source = source
        .map(|given| SourceFile::find(&Project::find_root(env)?, &current, given))
        .transpose()?;
    let goal = source
        .as_ref()
        .map_or_else(|| goal.clone(), |source| source.goal(goal.trim()));
    if goal.trim().is_empty() {
        return Err(CommandError::usage(
            "the goal is empty",
            "state the goal of the session",
        ));
    }
    let working_dir = current.to_string_lossy().into_owned();
    let settings = TaskListSettings {
        max_workers: options.max_workers,
        max_iterations: options.max_iterations,
        plan_only: options.plan_only,
        auto_mode: options.auto,
        ..TaskListSettings::default()
    };
    let beginning = NewTaskList {
        session: id.to_string(),
        goal,
        working_dir,
        options: settings,
    };
    let locked = task_list_files::task_list_store()?.create(&id)?.lock()?;
    if locked.is_task_list() {
        require_replaceable(env, &locked, options.force)?;
        locked.set_earlier_files_aside()?;
    }
    let session = rules::new_task_list(beginning, env.now);
    locked.write_context(&ContextFile::default())?;
    locked.write_session(&session)?;
    task_list_note::note_from_files(env, &locked);
    say("begins", &locked, &session, source.as_ref())
}

fn typed(
    env: &ProcessEnv,
    options: &TaskListCreateOptions,
) -> Result<TaskListCreateOptions, CommandError> {
    let project = Project::find(env)?;
    let taken = match (own_session(env)?, &project.folder) {
        (Some(id), Some(folder)) => sealed_plan_run::take_arguments(
            folder,
            &id,
            raw_args::COMMAND,
            Project::state_update(env),
        )?,
        _ => None,
    };
    let taken = taken.ok_or_else(|| {
        CommandError::usage(
            "nothing was typed for this command",
            "its user types `/omo:ulw-plan <goal>`",
        )
    })?;
    raw_args::parse_raw_args(&taken, options)
}

fn resume_task_list(env: &ProcessEnv, id: &SessionId) -> Result<(), CommandError> {
    let locked = task_list_files::task_list_store()?.open(id)?.lock()?;
    let session = locked.session()?;
    task_list_files::require_no_open_run(&session, env, task_list_files::WORK_ON_THE_RUN)?;
    let has_tasks = locked.tasks()?.is_some_and(|tasks| !tasks.ids.is_empty());
    let session = rules::resume_task_list(&session, has_tasks, env.now)?;
    locked.write_session(&session)?;
    task_list_note::note_from_files(env, &locked);
    say("goes on", &locked, &session, None)
}

/// Replaces an existing session only with `--force`, and never under a run.
fn require_replaceable(
    env: &ProcessEnv,
    locked: &LockedTaskList,
    is_forced: bool,
) -> Result<(), CommandError> {
    let session = match locked.session() {
        Ok(session) => session,
        // An unreadable session is kept beside the new one as well.
        Err(TaskListError::File { .. }) if is_forced => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    task_list_files::require_no_open_run(&session, env, "`omo run cancel` ends the run")?;
    if session.phase.is_over() || session.cancelled_at.is_some() || is_forced {
        return Ok(());
    }
    let (id, phase, goal) = (
        &session.session_id,
        session.phase.word(),
        sanitize(&session.goal, 100),
    );
    let message = format!("session {id} is in {phase}: {goal}");
    let hint = "`omo agent tasks update --phase CANCELLED` gives it up; `--force` starts over and keeps what is there beside it";
    Err(CommandError::precondition(message, hint))
}

fn say(
    heading: &str,
    locked: &LockedTaskList,
    session: &TaskListFile,
    source: Option<&SourceFile>,
) -> Result<(), CommandError> {
    let instruction = source
        .map(|source| format!("\n\n{}", source.instruction()))
        .unwrap_or_default();
    let TaskListSettings {
        max_workers,
        max_iterations,
        ..
    } = session.options;
    let workers = if max_workers == 0 {
        "as many as there can be".to_owned()
    } else {
        max_workers.to_string()
    };
    task_list_files::print(&format!(
        "Session {} {heading}: {}\nFolder: {}\nWorkers at once: {workers}. Iterations at most: {max_iterations}.\n{}{instruction}",
        session.session_id,
        session.phase.word(),
        locked.path().display(),
        sanitize(&session.goal, 2_000),
    ))
}
