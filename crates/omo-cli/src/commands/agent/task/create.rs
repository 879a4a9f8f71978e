//! `omo agent task create`: adds a task.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use omo_engine::task_list_store::{LockedTaskList, RunRef};
use omo_engine::work::read_plan_bytes;
use omo_engine::{RunStore, RunStoreError, verbs};
use omo_plan::task_list::rules::{self, NewTask};
use omo_plan::task_list::{TaskFile, task_from_file};
use omo_state::env::ProcessEnv;

use crate::context::CommandContext;
use crate::error::CommandError;
use crate::task_list_files::{
    self, TaskListOption, non_empty_text, parse_id, print_done, split_list,
};
use crate::task_list_note;

const HELP: &str = "\
Example:
  omo agent task create --subject \"Add a form\" --criteria \"cmd: npm test\"";

/// Add a task to a session
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct TaskCreateOptions {
    #[command(flatten)]
    pub which: TaskListOption,
    /// Its id, if not the next number
    #[arg(long, short, aliases = ["task", "task-id"], allow_hyphen_values = true, value_parser = parse_id)]
    pub id: Option<String>,
    /// Its title
    #[arg(long, short = 'S', value_name = "TEXT", allow_hyphen_values = true, value_parser = non_empty_text)]
    pub subject: String,
    /// The work to be done
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    pub description: Option<String>,
    /// The same, from a file
    #[arg(long, short = 'D', value_name = "FILE", conflicts_with = "description")]
    pub description_file: Option<PathBuf>,
    /// simple, standard or complex
    #[arg(
        long,
        short,
        value_name = "WORD",
        default_value = "standard",
        hide_possible_values = true
    )]
    #[arg(value_parser = PossibleValuesParser::new(["simple", "standard", "complex"]))]
    pub complexity: String,
    #[command(flatten)]
    pub criteria: CriteriaOptions,
    /// The tasks that it waits for: 1,2
    #[arg(long, short, value_name = "IDS", allow_hyphen_values = true, value_parser = parse_ids)]
    pub blocked_by: Vec<TaskIdList>,
    /// tdd or standard
    #[arg(
        long,
        short,
        value_name = "WORD",
        default_value = "tdd",
        hide_possible_values = true
    )]
    #[arg(value_parser = PossibleValuesParser::new(["tdd", "standard"]))]
    pub approach: String,
    /// The file of its tests
    #[arg(long, short, value_name = "FILE")]
    pub test_file: Option<String>,
    /// The tests in it that are run
    #[arg(long, short = 'T', alias = "scope", value_name = "TEXT")]
    pub test_scope: Option<String>,
    /// Print what was written, too
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CriteriaOptions {
    /// Its criteria: one|two; code stays whole
    #[arg(long, short = 'C', value_name = "TEXTS", allow_hyphen_values = true)]
    pub criteria: Vec<String>,
    /// One criterion, whatever is in it; repeatable
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = non_empty_text)]
    pub criterion: Vec<String>,
}

impl CriteriaOptions {
    pub(super) fn read(self) -> Result<Option<Vec<String>>, CommandError> {
        if self.criteria.is_empty() && self.criterion.is_empty() {
            return Ok(None);
        }
        let split: Vec<_> = self
            .criteria
            .iter()
            .map(|text| rules::split_criteria(text))
            .collect::<Result<_, _>>()?;
        Ok(Some(
            split
                .into_iter()
                .flatten()
                .chain(
                    self.criterion
                        .iter()
                        .map(|criterion| criterion.trim().to_owned()),
                )
                .collect(),
        ))
    }
}

/// Task ids in one option, such as `1,2`.
#[derive(Clone, Debug)]
pub(crate) struct TaskIdList(pub Vec<String>);

pub(super) fn parse_ids(text: &str) -> Result<TaskIdList, String> {
    split_list(text)
        .iter()
        .map(|text| parse_id(text))
        .collect::<Result<_, _>>()
        .map(TaskIdList)
}

pub(crate) fn run(env: &ProcessEnv, options: TaskCreateOptions) -> Result<(), CommandError> {
    if options.test_file.is_some() && options.approach != "tdd" {
        return Err(CommandError::usage(
            "`--test-file` goes with `--approach tdd`",
            "leave one of the two out",
        ));
    }
    let described = options
        .description_file
        .as_deref()
        .map(read_description)
        .transpose()?;
    let new = NewTask {
        id: options.id,
        subject: options.subject,
        description: described.or(options.description),
        complexity: serde_json::from_value(options.complexity.into()).unwrap_or_default(),
        criteria: options.criteria.read()?.unwrap_or_default(),
        blocked_by: options
            .blocked_by
            .into_iter()
            .flat_map(|ids| ids.0)
            .collect(),
        approach: options.approach,
        test_file: options.test_file,
        test_scope: options.test_scope,
    };
    let locked = task_list_files::open_task_list(&options.which, env)?.lock()?;
    let session = locked.session()?;
    let tasks = locked.tasks()?.unwrap_or_default();
    let task = rules::new_task(new, &session, &tasks.ids, env.now)?;
    let run = task_list_files::open_run_of(&session, env)?;
    let added = if let Some(run) = &run {
        add_to_run(env, run, &task, &options.which, locked)?;
        format!(", and added to the run {}", run.id)
    } else {
        locked.write_task(&task)?;
        task_list_note::note_from_files(env, &locked);
        String::new()
    };
    let done = format!(
        "OK: Task {} created ({}){added}",
        task.id,
        task_list_files::criteria_words(&task)
    );
    print_done(&done, &task, options.json)
}

fn add_to_run(
    env: &ProcessEnv,
    run: &RunRef,
    task: &TaskFile,
    which: &TaskListOption,
    locked: LockedTaskList,
) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let runs = RunStore::find(&run.root, Some(&context.state_home))?;
    let run = runs
        .ok_or_else(|| RunStoreError::NotFound(run.id.clone()))?
        .get(&run.id)?;
    let before = run.state()?;
    let added = task_from_file(task);
    verbs::add_task(&before, &context.caller()?, added.clone())?;
    let engine = context.engine(&run, &before)?;
    locked.write_task(task)?;
    // The run writes the session's files and needs this lock.
    drop(locked);
    match engine.add_task(added) {
        Ok(state) => context.note_in_session(&run, &before.holder, &state),
        Err(failure) => {
            task_list_files::open_task_list(which, env)?
                .lock()?
                .remove_task(&task.id)?;
            return Err(failure.into());
        }
    }
    Ok(())
}

fn read_description(file: &Path) -> Result<String, CommandError> {
    let bytes = read_plan_bytes(file)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        let message = format!("{} is not UTF-8", file.display());
        CommandError::io(message, "its text has to be UTF-8")
    })?;
    Ok(text.trim().to_owned())
}
