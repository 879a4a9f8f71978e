//! The command lines of `omo tasks`, `omo agent task` and `omo agent context`: the names of their options are those
//! of the programs that sessions were made for, and of an option that is given twice the last one counts.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use omo_plan::task_list::rules::{self, EXPLORATION_STAGES};
use omo_plan::task_list::{TaskFileStatus, TaskListPhase};

use crate::help::tasks as help;

#[derive(Debug, Subcommand)]
#[command(args_override_self = true)]
pub(crate) enum TasksCommand {
    /// List all task lists, the one that was changed last first
    #[command(after_help = help::LIST)]
    List(ListOptions),
    /// Print a task list, or one value of it
    #[command(after_help = help::SHOW)]
    Show(GetOptions),
    /// Remove task lists with all of their files
    #[command(after_help = help::CLEAN)]
    Clean(CleanOptions),
}

#[derive(Debug, Subcommand)]
#[command(args_override_self = true)]
pub(crate) enum TasksEditCommand {
    /// Begin a task list, or go on with one that was given up
    #[command(after_help = help::CREATE)]
    Create(CreateOptions),
    /// Change where a task list stands
    #[command(after_help = help::UPDATE)]
    Update(UpdateOptions),
    /// Keep the text on stdin as the design of a task list
    #[command(after_help = help::DESIGN)]
    Design(DesignOptions),
}

#[derive(Debug, Subcommand)]
#[command(args_override_self = true)]
pub(crate) enum TaskCommand {
    /// Add a task to a session
    #[command(after_help = help::TASK_CREATE)]
    Create(Box<TaskCreateOptions>),
    /// List the tasks of a session
    #[command(after_help = help::TASK_LIST)]
    List(TaskListOptions),
    /// Print a task, or one value of it
    #[command(after_help = help::TASK_GET)]
    Get(TaskGetOptions),
    /// Change where a task stands, or add evidence to it
    #[command(after_help = help::TASK_UPDATE)]
    Update(TaskUpdateOptions),
    /// Print what is to be done and what is done, as Markdown
    #[command(after_help = help::TASK_SUMMARY)]
    Summary(TaskSummaryOptions),
}

#[derive(Debug, Subcommand)]
#[command(args_override_self = true)]
pub(crate) enum ContextCommand {
    /// Say which explorers are expected
    #[command(after_help = help::CONTEXT_INIT)]
    Init(ContextInitOptions),
    /// Add what an explorer found
    #[command(after_help = help::CONTEXT_ADD)]
    Add(ContextAddOptions),
    /// Print what was found
    #[command(after_help = help::CONTEXT_GET)]
    Get(ContextGetOptions),
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Which {
    /// Which session, if not this shell's own
    #[arg(long, short, value_name = "ID")]
    pub session: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WhichTask {
    /// Which task
    #[arg(long, short = 't', visible_short_alias = 'i', aliases = ["task", "task-id"])]
    #[arg(allow_hyphen_values = true, value_parser = id)]
    pub id: String,
}

#[derive(Clone, Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct CreateOptions {
    #[command(flatten)]
    pub which: Which,
    /// What it is for, in place of the words
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    pub goal: Option<String>,
    /// Workers at once; 0 for no bound
    #[arg(long, short = 'w', value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub max_workers: u32,
    /// Times it may be gone over
    #[arg(long, short = 'i', value_name = "N", default_value_t = 5, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub max_iterations: u32,
    /// It ends with its plan
    #[arg(long, short)]
    pub plan_only: bool,
    /// No question is asked
    #[arg(long, short)]
    pub auto: bool,
    /// Begin anew where one goes on
    #[arg(long, short)]
    pub force: bool,
    /// Go on with the one that is there
    #[arg(long, short, conflicts_with_all = ["force", "goal", "words"])]
    pub resume: bool,
    /// Take what the user typed behind /omo:ulw-plan
    #[arg(long, conflicts_with_all = ["goal", "resume", "words"])]
    pub args_from_hook: bool,
    /// What it is for
    #[arg(value_name = "GOAL", required_unless_present_any = ["goal", "resume", "args_from_hook"])]
    pub words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DesignOptions {
    #[command(flatten)]
    pub which: Which,
}

#[derive(Debug, Args)]
pub(crate) struct GetOptions {
    #[command(flatten)]
    pub which: Which,
    /// One value, such as `plan.design_doc`
    #[arg(long, short, value_name = "PATH")]
    pub field: Option<String>,
    /// The folder that it is in
    #[arg(long, short)]
    pub dir: bool,
    /// Its own file
    #[arg(long, short = 'F')]
    pub file: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct UpdateOptions {
    #[command(flatten)]
    pub which: Which,
    /// Where it stands from now on
    #[arg(long, short, value_parser = phase)]
    pub phase: Option<TaskListPhase>,
    /// Its plan is approved now
    #[arg(long, short = 'P')]
    pub plan_approved: bool,
    /// The file of its design
    #[arg(long, short, value_name = "FILE", value_parser = non_empty_text)]
    pub design_doc: Option<String>,
    /// How far its exploration is, in a word
    #[arg(long, short, value_name = "STAGE", value_parser = PossibleValuesParser::new(EXPLORATION_STAGES))]
    #[arg(hide_possible_values = true)]
    pub exploration_stage: Option<String>,
    /// How often its tasks were gone over
    #[arg(long, short, value_name = "N", allow_negative_numbers = true)]
    pub iteration: Option<u32>,
    /// A verifier has said that all is done
    #[arg(long, conflicts_with = "phase")]
    pub verifier_passed: bool,
    /// Its documentation was written
    #[arg(long, conflicts_with = "phase")]
    pub documenter_completed: bool,
    /// Print one line
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListOptions {
    /// Print JSON: a list with one object for each session
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct CleanOptions {
    /// This session, whatever its phase
    #[arg(long, short, value_name = "ID")]
    pub session: Option<String>,
    /// Every session that is over
    #[arg(long)]
    pub completed: bool,
    /// Those of them unchanged for so many days
    #[arg(long, value_name = "DAYS", allow_negative_numbers = true)]
    pub older_than: Option<u32>,
    /// Every session, also those that go on
    #[arg(long)]
    pub all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TaskCreateOptions {
    #[command(flatten)]
    pub which: Which,
    /// What it is called, if not the next number
    #[arg(long, short, aliases = ["task", "task-id"], allow_hyphen_values = true, value_parser = id)]
    pub id: Option<String>,
    /// Its title
    #[arg(long, short = 'S', value_name = "TEXT", allow_hyphen_values = true, value_parser = non_empty_text)]
    pub subject: String,
    /// What is to be done
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    pub description: Option<String>,
    /// The same, from a file
    #[arg(long, short = 'D', value_name = "FILE", conflicts_with = "description")]
    pub description_file: Option<PathBuf>,
    /// simple, standard or complex
    #[arg(long, short, value_name = "WORD", default_value = "standard", hide_possible_values = true)]
    #[arg(value_parser = PossibleValuesParser::new(["simple", "standard", "complex"]))]
    pub complexity: String,
    /// What shows that it is done: a|b
    #[arg(long, short = 'C', value_name = "TEXTS", allow_hyphen_values = true)]
    pub criteria: Vec<String>,
    /// The tasks that it waits for: 1,2
    #[arg(long, short, value_name = "IDS", allow_hyphen_values = true, value_parser = ids)]
    pub blocked_by: Vec<Ids>,
    /// tdd or standard
    #[arg(long, short, value_name = "WORD", default_value = "tdd", hide_possible_values = true)]
    #[arg(value_parser = PossibleValuesParser::new(["tdd", "standard"]))]
    pub approach: String,
    /// The file of its tests
    #[arg(long, short, value_name = "FILE")]
    pub test_file: Option<String>,
    /// What of the tests is run
    #[arg(long, short = 'T', alias = "scope", value_name = "TEXT")]
    pub test_scope: Option<String>,
}

// Without a line of help each: with one the whole page is shown in its long form.
/// How tasks are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Table,
    Json,
}

/// Whose words stand for where a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Words {
    Own,
    Scripts,
}

#[derive(Debug, Args)]
pub(crate) struct TaskListOptions {
    #[command(flatten)]
    pub which: Which,
    /// Only those that stand there
    #[arg(long, short = 'S', value_parser = status)]
    pub status: Option<TaskFileStatus>,
    /// How they are printed
    #[arg(long, short, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// One value of each
    #[arg(long, value_name = "PATH")]
    pub field: Option<String>,
    /// Call what nobody has begun `pending`, as the loop does that this was first made for
    #[arg(long, hide = true, value_enum, default_value_t = Words::Own)]
    pub words: Words,
}

#[derive(Debug, Args)]
pub(crate) struct TaskGetOptions {
    #[command(flatten)]
    pub which: Which,
    #[command(flatten)]
    pub task: WhichTask,
    /// One value, such as `criteria[0]`
    #[arg(long, short, value_name = "PATH")]
    pub field: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct TaskUpdateOptions {
    #[command(flatten)]
    pub which: Which,
    #[command(flatten)]
    pub task: WhichTask,
    /// Where it stands from now on
    #[arg(long, short = 'S', value_parser = status)]
    pub status: Option<TaskFileStatus>,
    /// What shows that it is done; may be given several times
    #[arg(long, short = 'e', value_name = "TEXT", allow_hyphen_values = true, value_parser = non_empty_text)]
    pub add_evidence: Vec<String>,
    /// How often it was begun anew
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub retry_count: Option<u32>,
}

/// How a summary is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryFormat {
    #[value(alias = "markdown")]
    Md,
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct TaskSummaryOptions {
    #[command(flatten)]
    pub which: Which,
    /// Only this task
    #[arg(long, short = 't', aliases = ["task", "task-id"], allow_hyphen_values = true, value_parser = id)]
    pub id: Option<String>,
    /// Write it to summary.md beside the tasks
    #[arg(long, short = 'S')]
    pub save: bool,
    /// How it is printed
    #[arg(long, short, value_enum, default_value_t = SummaryFormat::Md)]
    pub format: SummaryFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ContextInitOptions {
    #[command(flatten)]
    pub which: Which,
    /// What they are called, with commas between them
    #[arg(long, short, value_name = "NAMES")]
    pub expected: String,
}

#[derive(Debug, Args)]
pub(crate) struct ContextAddOptions {
    #[command(flatten)]
    pub which: Which,
    /// What it is called
    #[arg(long, short, value_name = "NAME", value_parser = non_empty_text)]
    pub explorer_id: String,
    /// What it was to look for
    #[arg(long, short = 'H', value_name = "TEXT", default_value = "", hide_default_value = true)]
    #[arg(allow_hyphen_values = true)]
    pub hint: String,
    /// The file that it wrote
    #[arg(long, short, value_name = "FILE", default_value = "", hide_default_value = true)]
    pub file: String,
    /// What it found, in a few words
    #[arg(long, short = 'S', value_name = "TEXT", default_value = "", hide_default_value = true)]
    #[arg(allow_hyphen_values = true)]
    pub summary: String,
    /// The files that matter: a,b
    #[arg(long, short, value_name = "FILES", default_value = "", hide_default_value = true)]
    pub key_files: String,
    /// How things are done there: a,b
    #[arg(long, short, value_name = "TEXTS", default_value = "", hide_default_value = true)]
    #[arg(allow_hyphen_values = true)]
    pub patterns: String,
}

#[derive(Debug, Args)]
pub(crate) struct ContextGetOptions {
    #[command(flatten)]
    pub which: Which,
    /// One value, such as `key_files[0]`
    #[arg(long, short, value_name = "PATH")]
    pub field: Option<String>,
    /// The file that it is in
    #[arg(long, short = 'F')]
    pub file: bool,
    /// What was found, as Markdown
    #[arg(long, short = 'S')]
    pub summary: bool,
    /// Wait so long for explorers that are expected
    #[arg(long, value_name = "SECONDS", default_value_t = 0, hide_default_value = true)]
    pub wait: u64,
}

/// Several tasks, as one option names them.
#[derive(Clone, Debug)]
pub(crate) struct Ids(pub Vec<String>);

fn id(text: &str) -> Result<String, String> {
    rules::parse_task_id(text).ok_or_else(|| "a task is a whole number from 1, or `verify`".to_owned())
}

fn ids(text: &str) -> Result<Ids, String> {
    split_list(text).iter().map(|text| id(text)).collect::<Result<_, _>>().map(Ids)
}

/// The texts of a list with commas between them.
pub(super) fn split_list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn phase(text: &str) -> Result<TaskListPhase, String> {
    let words = TaskListPhase::ALL.map(TaskListPhase::word);
    rules::parse_phase(text).ok_or_else(|| format!("the phases are {}", words.join(", ")))
}

fn status(text: &str) -> Result<TaskFileStatus, String> {
    let words = "open (or pending), in_progress, resolved, blocked, failed";
    rules::parse_status(text).ok_or_else(|| format!("a task can be {words}"))
}

/// A text that says something.
fn non_empty_text(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("it says nothing".to_owned()) } else { Ok(text.to_owned()) }
}
