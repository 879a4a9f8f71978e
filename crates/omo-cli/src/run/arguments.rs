//! The command lines of what has to do with runs.

use clap::{Args, Subcommand, ValueEnum};

use crate::help;

/// So many dependents make a hub, unless its user says otherwise.
pub const HUB_K: u32 = 3;
/// So many tasks make a batch, unless its user says otherwise.
pub const BATCH_SIZE: u32 = 5;

#[derive(Debug, Subcommand)]
pub enum Run {
    /// Open a run of a plan, or go on with the one that is open
    #[command(after_help = help::run::OPEN)]
    Open(OpenOptions),
    /// List the runs of this repository, the newest first
    #[command(after_help = help::run::LIST)]
    List(ListOptions),
    /// Show where a run stands, task by task
    #[command(after_help = help::run::SHOW)]
    Show(ShowOptions),
    /// Take a run over, with its plan as the file says it now
    #[command(after_help = help::run::RESUME)]
    Resume(ResumeOptions),
    /// End a run before its end
    #[command(after_help = help::run::CANCEL)]
    Cancel(CancelOptions),
    /// Remove the records of runs that ended long ago
    #[command(after_help = help::run::GC)]
    Gc(GcOptions),
    /// Go on from the checkpoint that another program left
    #[command(after_help = help::run::IMPORT)]
    Import(ImportOptions),
}

// Without a line of help each: with one the whole page is shown in its long form.
/// What a run is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Purpose {
    Plan,
}

#[derive(Debug, Args)]
pub struct OpenOptions {
    /// What is opened
    #[arg(long = "for", value_enum, value_name = "WHAT")]
    pub purpose: Purpose,
    /// Ask behind a batch with a task that so many need
    #[arg(long, value_name = "N", default_value_t = HUB_K, value_parser = clap::value_parser!(u32).range(1..))]
    pub k: u32,
    /// Tasks in a batch
    #[arg(long, value_name = "N", default_value_t = BATCH_SIZE, value_parser = clap::value_parser!(u32).range(1..))]
    pub batch_size: u32,
    /// Begin anew where a run of this very plan is complete
    #[arg(long)]
    pub again: bool,
    /// Approve without a terminal: the digest that was shown
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<String>,
    /// Take what the user typed behind /omo:execute-plan
    #[arg(long, hide = true, conflicts_with_all = ["plan", "digest"])]
    pub args_from_hook: bool,
    /// The plan; without it, the run that is open here
    #[arg(value_name = "FILE")]
    pub plan: Option<String>,
}

#[derive(Debug, Args)]
pub struct RunOptions {
    /// Which run, if not the one that is open here
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
}

#[derive(Debug, Args)]
pub struct ResumeOptions {
    #[command(flatten)]
    pub run: RunOptions,
    /// Approve the commands of an edited plan without a terminal: the digest that was shown
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<String>,
}

#[derive(Debug, Args)]
pub struct ListOptions {
    /// Print JSON: a list with one object for each run
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ShowOptions {
    #[command(flatten)]
    pub run: RunOptions,
    /// Print JSON: one object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CancelOptions {
    #[command(flatten)]
    pub run: RunOptions,
    /// Why, for the record
    #[arg(long, value_name = "TEXT", default_value = "by its user")]
    pub reason: String,
}

#[derive(Debug, Args)]
pub struct GcOptions {
    /// Keep those that were worked on within so many days
    #[arg(long, default_value_t = 30)]
    pub days: u32,
}

#[derive(Debug, Args)]
pub struct ImportOptions {
    /// The checkpoint; the plan is the one that it names
    #[arg(default_value = ".claude/execute-plan-checkpoint.json")]
    pub file: String,
    /// Approve the commands of the plan without a terminal: the digest that was shown
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<String>,
}

#[derive(Debug, Args)]
pub struct NextOptions {
    /// While somebody is at work, wait so many seconds for it to end
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub wait: u64,
    /// Hand out a whole segment, for the Workflow tool
    #[arg(long, conflicts_with = "inline")]
    pub workflow: bool,
    /// Hand the task out to this session itself
    #[arg(long)]
    pub inline: bool,
    #[command(flatten)]
    pub run: RunOptions,
}

#[derive(Debug, Subcommand)]
pub enum Unit {
    /// Begin with a task: prints what it asks for, and the ticket to end it with
    #[command(after_help = help::run::UNIT_START)]
    Start(UnitOptions),
    /// Print what a task asks for once more
    #[command(after_help = help::run::UNIT_BRIEF)]
    Brief(UnitOptions),
    /// Have a finished task judged: omo runs its checks
    #[command(after_help = help::run::UNIT_DONE)]
    Done(DoneOptions),
    /// Give a task up, or report that its worker is gone
    #[command(after_help = help::run::UNIT_FAIL)]
    Fail(FailOptions),
    /// Leave a task out: a person decides that
    #[command(after_help = help::run::UNIT_SKIP)]
    Skip(SkipOptions),
    /// Have a failed task done again: a person decides that
    #[command(after_help = help::run::UNIT_RETRY)]
    Retry(UnitOptions),
}

#[derive(Debug, Args)]
pub struct UnitOptions {
    /// Which task
    pub id: String,
    #[command(flatten)]
    pub run: RunOptions,
}

#[derive(Debug, Args)]
pub struct DoneOptions {
    /// What `omo unit start` gave
    #[arg(long)]
    pub ticket: String,
    /// What later tasks should know, in one line
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    #[command(flatten)]
    pub run: RunOptions,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("whose").required(true).args(["ticket", "lost"]))]
pub struct FailOptions {
    /// What `omo unit start` gave
    #[arg(long)]
    pub ticket: Option<String>,
    /// The worker of this task is gone without a word: it is begun again
    #[arg(long, value_name = "ID")]
    pub lost: Option<String>,
    /// Why, in one line
    #[arg(long, value_name = "TEXT", default_value = "no reason given")]
    pub why: String,
    #[command(flatten)]
    pub run: RunOptions,
}

#[derive(Debug, Args)]
pub struct SkipOptions {
    /// Which task
    pub id: String,
    /// Why, for the record
    #[arg(long, value_name = "TEXT", default_value = "left out by its user")]
    pub why: String,
    #[command(flatten)]
    pub run: RunOptions,
}

#[derive(Debug, Args)]
pub struct AnswerOptions {
    /// Which gate
    pub gate: String,
    /// Which of its options
    pub option: String,
    #[command(flatten)]
    pub run: RunOptions,
}

#[derive(Debug, Args)]
pub struct CheckOptions {
    /// Which task
    pub id: String,
    #[command(flatten)]
    pub run: RunOptions,
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    #[value(name = "004")]
    Seed004,
    Json,
}

#[derive(Debug, Args)]
pub struct ReportOptions {
    /// Another form than the one for people: the section of the execution report, or one object
    #[arg(long = "as", value_enum, value_name = "FORM")]
    pub form: Option<Form>,
    #[command(flatten)]
    pub run: RunOptions,
}
