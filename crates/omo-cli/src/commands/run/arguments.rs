//! The command lines of what has to do with runs.

use clap::{Args, Subcommand, ValueEnum};

use crate::execute::options::StartOptions;
use crate::help;

#[derive(Debug, Subcommand)]
pub(crate) enum RunCommand {
    /// Start a plan in the way that it asks for, or go on with its run
    #[command(after_help = help::run::START)]
    Start(Box<StartOptions>),
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
    /// Look on while parallel workers work
    #[command(after_help = help::run::WATCH)]
    Watch(WatchOptions),
    /// Leave a failed task out
    #[command(after_help = help::run::SKIP)]
    Skip(SkipOptions),
    /// Have a failed task done again
    #[command(after_help = help::run::RETRY)]
    Retry(TaskOptions),
    /// Remove the records of runs that ended long ago
    #[command(after_help = help::run::GC)]
    Gc(GcOptions),
    /// Go on from the checkpoint that another program left
    #[command(after_help = help::run::IMPORT)]
    Import(ImportOptions),
}

#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// Which run, if not the one that is open here
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeOptions {
    #[command(flatten)]
    pub run: RunOptions,
    /// Approve the commands of an edited plan without a terminal: the digest that was shown
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ListOptions {
    /// Print JSON: a list with one object for each run
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowOptions {
    #[command(flatten)]
    pub run: RunOptions,
    /// Print JSON: one object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CancelOptions {
    #[command(flatten)]
    pub run: RunOptions,
    /// Why, for the record
    #[arg(long, value_name = "TEXT", default_value = "by its user")]
    pub reason: String,
}

#[derive(Debug, Args)]
pub(crate) struct GcOptions {
    /// Keep those that were worked on within so many days
    #[arg(long, default_value_t = 30)]
    pub days: u32,
}

#[derive(Debug, Args)]
pub(crate) struct ImportOptions {
    /// The checkpoint; the plan is the one that it names
    #[arg(default_value = ".claude/execute-plan-checkpoint.json")]
    pub file: String,
    /// Approve the commands of the plan without a terminal: the digest that was shown
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct NextOptions {
    /// While a worker is at work, wait so many seconds for it to end
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

/// How long the user looks on.
#[derive(Debug, Args)]
pub(crate) struct WatchOptions {
    #[command(flatten)]
    pub run: RunOptions,
    /// Look on for so many seconds at most; without it to the end
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct TaskOptions {
    /// Which task
    pub id: String,
    #[command(flatten)]
    pub run: RunOptions,
}

#[derive(Debug, Args)]
pub(crate) struct DoneOptions {
    /// What `omo agent start` gave
    #[arg(long)]
    pub ticket: String,
    /// What later tasks should know, in one line
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// What shows the criteria that are no commands: ids that `omo agent evidence run` gave
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub evidence: Vec<String>,
    #[command(flatten)]
    pub run: RunOptions,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvidenceCommand {
    /// Run a command to show something, and keep what it prints
    #[command(after_help = help::agent::EVIDENCE_RUN)]
    Run(EvidenceRunOptions),
    /// List what was run to show something
    #[command(after_help = help::agent::EVIDENCE_LIST)]
    List(EvidenceListOptions),
    /// Show one piece of evidence, with all that its command printed
    #[command(after_help = help::agent::EVIDENCE_SHOW)]
    Show(EvidenceShowOptions),
}

#[derive(Debug, Args)]
pub(crate) struct EvidenceRunOptions {
    /// What `omo agent start` gave
    #[arg(long)]
    pub ticket: String,
    #[command(flatten)]
    pub run: RunOptions,
    /// The command, for a POSIX shell
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct EvidenceListOptions {
    /// Only what was run for this task
    #[arg(long, value_name = "ID")]
    pub task: Option<String>,
    /// Print JSON: a list with one object for each
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub run: RunOptions,
}

#[derive(Debug, Args)]
pub(crate) struct EvidenceShowOptions {
    /// Which one: e1, e2 and so on
    pub id: String,
    #[command(flatten)]
    pub run: RunOptions,
}

/// The verdict of the agent that verifies a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Word {
    #[value(name = "PASS")]
    Pass,
    #[value(name = "FAIL")]
    Fail,
}

#[derive(Debug, Args)]
pub(crate) struct VerdictOptions {
    /// What is said of the whole
    #[arg(value_enum, ignore_case = true, value_name = "PASS|FAIL")]
    pub word: Word,
    /// What `omo agent start verify` gave
    #[arg(long)]
    pub ticket: String,
    /// What a PASS rests on: ids that `omo agent evidence run` gave
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub evidence: Vec<String>,
    /// A task that is to be done again, and why: "2: the tests are missing"
    #[arg(long, value_name = "ID: WHY")]
    pub reopen: Vec<String>,
    /// What else is to be known, in one line
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub note: String,
    #[command(flatten)]
    pub run: RunOptions,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("whose").required(true).args(["ticket", "lost"]))]
pub(crate) struct FailOptions {
    /// What `omo agent start` gave
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
pub(crate) struct SkipOptions {
    /// Which task
    pub id: String,
    /// Why, for the record
    #[arg(long, value_name = "TEXT", default_value = "left out by its user")]
    pub why: String,
    #[command(flatten)]
    pub run: RunOptions,
}

#[derive(Debug, Args)]
pub(crate) struct AnswerOptions {
    /// Which question
    pub question: String,
    /// Which of its options
    pub option: String,
    #[command(flatten)]
    pub run: RunOptions,
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Progress,
    Summary,
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// Where each task stands, the report that ends such a run, or one object of JSON
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<ReportFormat>,
    #[command(flatten)]
    pub run: RunOptions,
}
