//! `omo agent task update`: changes the status, evidence or text of a task.

use clap::Args;
use clap::builder::PossibleValuesParser;
use omo_plan::task_list::TaskFileStatus;
use omo_plan::task_list::rules::{self, TaskChange, TaskEdit};
use omo_state::env::ProcessEnv;

use crate::commands::agent::task::create::{CriteriaOptions, TaskIdList, parse_ids};
use crate::error::CommandError;
use crate::task_list_files::{
    self, TaskListOption, TaskOption, non_empty_text, parse_status, print_done,
};
use crate::{output, task_list_note};

const HELP: &str = "\
Example:
  omo agent task update --id 2 --status resolved --add-evidence \"exit 0\"

A task is resolved with evidence, after all that it waits for. Criteria and
ids replace those that are there ('' for none), until the list is executed.";

/// Change where a task stands, add evidence to it, or edit it before a run
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct TaskUpdateOptions {
    #[command(flatten)]
    pub which: TaskListOption,
    #[command(flatten)]
    pub task: TaskOption,
    /// Its new status
    #[arg(long, short = 'S', value_parser = parse_status)]
    pub status: Option<TaskFileStatus>,
    /// Evidence that it is done; repeatable
    #[arg(long, short = 'e', value_name = "TEXT", allow_hyphen_values = true, value_parser = non_empty_text)]
    pub add_evidence: Vec<String>,
    /// The number of times it was started over
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub retry_count: Option<u32>,
    /// Print what was written, too
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub edit: EditOptions,
}

#[derive(Debug, Args)]
pub(crate) struct EditOptions {
    /// Its title
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = non_empty_text)]
    pub subject: Option<String>,
    /// The work to be done
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    pub description: Option<String>,
    /// simple, standard or complex
    #[arg(long, short, value_name = "WORD", hide_possible_values = true)]
    #[arg(value_parser = PossibleValuesParser::new(["simple", "standard", "complex"]))]
    pub complexity: Option<String>,
    #[command(flatten)]
    pub criteria: CriteriaOptions,
    /// The tasks that it waits for: 1,2
    #[arg(long, short, value_name = "IDS", allow_hyphen_values = true, value_parser = parse_ids)]
    pub blocked_by: Option<TaskIdList>,
}

impl EditOptions {
    fn read(self) -> Result<TaskEdit, CommandError> {
        Ok(TaskEdit {
            subject: self.subject,
            description: self.description,
            complexity: self
                .complexity
                .and_then(|word| serde_json::from_value(word.into()).ok()),
            criteria: self.criteria.read()?,
            blocked_by: self.blocked_by.map(|ids| ids.0),
        })
    }
}

pub(crate) fn run(env: &ProcessEnv, options: TaskUpdateOptions) -> Result<(), CommandError> {
    let locked = task_list_files::open_task_list(&options.which, env)?.lock()?;
    let session = locked.session()?;
    let task = locked.task(&options.task.id)?;
    task_list_files::require_no_open_run(&session, env, task_list_files::WORK_ON_THE_RUN)?;
    let edit = options.edit.read()?;
    let change = TaskChange {
        status: options.status,
        evidence: options.add_evidence,
        retry_count: options.retry_count,
        edit,
    };
    let tasks = locked.tasks()?.unwrap_or_default();
    let has_criteria = change.edit.criteria.is_some();
    let (task, doubtful) = rules::update_task(&task, &change, &session, &tasks.tasks, env.now)?;
    locked.write_task(&task)?;
    if !doubtful.is_empty() {
        let words = doubtful.join(", ");
        output::print_warning(&format!(
            "the evidence of task {} has words that may mean unfinished work: {words}",
            task.id
        ));
    }
    task_list_note::note_from_files(env, &locked);
    let criteria = if has_criteria {
        format!(" ({})", task_list_files::criteria_words(&task))
    } else {
        String::new()
    };
    print_done(
        &format!("OK: Task {} updated{criteria}", task.id),
        &task,
        options.json,
    )
}
