//! The command lines of what has to do with runs.

use clap::{Args, Subcommand, ValueEnum};

use crate::help;

/// So many dependents make a hub, unless its user says otherwise.
pub(super) const HUB_K: u32 = 3;
/// So many tasks make a batch, unless its user says otherwise.
pub(super) const BATCH_SIZE: u32 = 5;

#[derive(Debug, Subcommand)]
pub(crate) enum RunCommand {
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

// Without a line of help each: with one the whole page is shown in its long form.
/// What a run is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Purpose {
    Plan,
    Exec,
    Local,
}

#[derive(Debug, Args)]
pub(crate) struct OpenOptions {
    /// What is opened
    #[arg(long = "for", value_enum, value_name = "WHAT")]
    pub purpose: Purpose,
    /// Ask behind a task that so many need
    #[arg(long, value_name = "N", default_value_t = HUB_K, value_parser = clap::value_parser!(u32).range(1..))]
    pub k: u32,
    /// Tasks in a batch
    #[arg(long, value_name = "N", default_value_t = BATCH_SIZE, value_parser = clap::value_parser!(u32).range(1..))]
    pub batch_size: u32,
    /// Begin anew what is complete, or has failed
    #[arg(long)]
    pub again: bool,
    #[command(flatten)]
    pub exec: ExecOptions,
    #[command(flatten)]
    pub local: Box<LocalOptions>,
    /// Approve exactly the commands shown, by their digest
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<String>,
    /// Take what the user typed behind /omo:execute-plan, /omo:ulw-exec or /omo:execute-local
    #[arg(long, hide = true, conflicts_with_all = ["plan", "digest", "rest"])]
    pub args_from_hook: bool,
    /// The plan; without it, the run that is open here
    #[arg(value_name = "FILE")]
    pub plan: Option<String>,
    /// The plan, or for a plan in steps all that is typed behind its command, as one word
    #[arg(last = true, hide = true, conflicts_with = "plan")]
    pub rest: Option<String>,
}

/// How a plan in steps is executed. They are told by `omo run open --for local` alone: its page would be too long.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct LocalOptions {
    #[command(flatten)]
    pub given: GivenOptions,
    #[command(flatten)]
    pub clients: ClientOptions,
}

/// How much of a plan in steps is executed, and in which way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct GivenOptions {
    /// One step after the other, in this session
    #[arg(long, hide = true)]
    pub fg: bool,
    /// Go on with an earlier run
    #[arg(long, hide = true)]
    pub resume: bool,
    /// Look at the plan and tell how it would be run
    #[arg(long, hide = true)]
    pub dry_run: bool,
    /// Only this step
    #[arg(long, hide = true, value_name = "N", allow_hyphen_values = true)]
    pub step: Option<String>,
}

/// What the clients of sessions are started with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct ClientOptions {
    /// Clients at once
    #[arg(long, hide = true, value_name = "N")]
    pub max_sessions: Option<String>,
    /// What all clients together may spend
    #[arg(long, hide = true, value_name = "X")]
    pub max_budget_usd: Option<String>,
    /// Start clients that something else than a subscription pays for
    #[arg(long, hide = true)]
    pub accept_api_billing: bool,
    /// The model of the clients
    #[arg(long, hide = true, value_name = "MODEL")]
    pub model: Option<String>,
    /// Start clients without any permission checks
    #[arg(long, hide = true)]
    pub yolo: bool,
    /// What clients may do without a question, as a rule of Claude Code; again for each
    #[arg(long, hide = true, value_name = "RULE")]
    pub allow: Vec<String>,
    /// For how long a client may run
    #[arg(long, hide = true, value_name = "SECONDS")]
    pub time_limit: Option<String>,
    /// The command that starts clients somewhere else
    #[arg(long, hide = true, value_name = "TEMPLATE")]
    pub launcher: Option<String>,
    /// The remote repository that this command works with
    #[arg(long, hide = true, value_name = "NAME")]
    pub launcher_remote: Option<String>,
}

/// How a task session is executed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct ExecOptions {
    /// Which task session, if not this shell's own
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Go over the tasks of a session so often at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_iterations: Option<u32>,
    /// Workers of a session at once; 0 for no bound
    #[arg(long, value_name = "N")]
    pub max_workers: Option<u32>,
    /// Have nobody verify a session once its tasks are done
    #[arg(long)]
    pub skip_verify: bool,
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
    /// While somebody is at work, wait so many seconds for it to end
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub wait: u64,
    /// Hand out a whole segment, for the Workflow tool
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
