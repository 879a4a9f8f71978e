//! The command line.

use clap::{Args, Parser, Subcommand};

use crate::commands::agent::open;
use crate::confirm::ConfirmOptions;
use crate::help;
use crate::project::SessionOptions;

/// Shows where ultrawork stands in this project, and stops it. Ultrawork keeps a Claude Code
/// session working until its task is proved done, within hard bounds; you turn it on there, by
/// typing `ulw` in a prompt.
#[derive(Debug, Parser)]
#[command(name = "omo", version, arg_required_else_help = true, after_help = help::top())]
#[command(max_term_width = 80)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show where each session of this project stands
    #[command(after_help = help::STATUS)]
    Status(StatusOptions),
    /// Stop a session, until its user types `ulw` again
    #[command(after_help = help::STOP)]
    Stop(StopOptions),
    /// Turn ultrawork on in a session
    #[command(after_help = help::ULW)]
    Ulw {
        #[command(subcommand)]
        action: UlwCommand,
    },
    /// Show what was decided, and by which rule
    #[command(after_help = help::LOG)]
    Log(LogOptions),
    /// Run the checks now; the same code that judges a claim
    #[command(after_help = help::VERIFY)]
    Verify(VerifyOptions),
    /// Show or change the checks that judge a claim
    #[command(after_help = help::CHECK)]
    Check {
        #[command(subcommand)]
        action: CheckCommand,
    },
    /// Read a plan: show it, lint it, or print it for programs
    #[command(after_help = help::run::PLAN)]
    Plan {
        #[command(subcommand)]
        action: crate::commands::plan::arguments::PlanCommand,
    },
    /// Run a plan, in a ledger that says what was proved
    #[command(after_help = help::run::RUN)]
    Run {
        #[command(subcommand)]
        action: crate::commands::run::arguments::RunCommand,
    },
    /// Answer a question of a run
    #[command(after_help = help::run::ANSWER)]
    Answer(crate::commands::run::arguments::AnswerOptions),
    /// Show what came of a run
    #[command(after_help = help::run::REPORT)]
    Report(crate::commands::run::arguments::ReportOptions),
    /// List, show and remove the plans that /omo:ulw-plan has made
    #[command(after_help = help::tasks::TASKS)]
    Tasks {
        #[command(subcommand)]
        action: crate::commands::tasks::arguments::TasksCommand,
    },
    /// What agents and the client itself call while a plan is made or run
    #[command(hide = true, after_help = help::agent::AGENT)]
    Agent {
        #[command(subcommand)]
        action: AgentCommand,
    },
    /// End the run honestly: say why the task cannot be done
    #[command(after_help = help::BLOCKED)]
    Blocked(BlockedOptions),
    /// Print where a run stands, for Claude Code's status line
    #[command(after_help = help::STATUSLINE)]
    Statusline(StatuslineOptions),
    /// Install this omo's plugin in Claude Code, or remove it
    #[command(after_help = help::SETUP)]
    Setup(SetupOptions),
    /// Look for what keeps omo from working, and show what fixes it
    #[command(after_help = help::DOCTOR)]
    Doctor(DoctorOptions),
    /// Print the completions for a shell
    #[command(after_help = help::COMPLETIONS)]
    Completions {
        /// For which shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct StatusOptions {
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Print JSON: a list with one object for each session
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatuslineOptions {
    /// Your other status line, a command for sh: it gets the same input, and what it prints comes
    /// first
    #[arg(long, value_name = "COMMAND")]
    pub wrap: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct FenceOptions {
    /// What holds for the session, as omo wrote it down when it started it
    #[arg(long, value_name = "FILE")]
    pub rules: Option<std::path::PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct StopOptions {
    /// Which session, if not this shell's own or the only one on
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    pub session: Option<String>,
    /// Every session of this project
    #[arg(long)]
    pub all: bool,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UlwCommand {
    /// Turn ultrawork on: the session is held from its next stop on
    #[command(after_help = help::ULW_ON)]
    On(OnOptions),
}

#[derive(Debug, Args)]
pub(crate) struct OnOptions {
    /// Which session, if not this shell's own or the only one
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// What is for agents and the client: people type none of it.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Open the run that the user of a session has typed a command for
    #[command(after_help = help::agent::OPEN)]
    Open(open::OpenOptions),
    /// Print what comes next in a run
    #[command(after_help = help::agent::NEXT)]
    Next(crate::commands::run::arguments::NextOptions),
    /// Begin a task: print what it asks for, and the ticket to end it with
    #[command(after_help = help::agent::START)]
    Start(crate::commands::run::arguments::TaskOptions),
    /// Print what a task asks for once more
    #[command(after_help = help::agent::BRIEF)]
    Brief(crate::commands::run::arguments::TaskOptions),
    /// Have a finished task judged: omo runs its checks
    #[command(after_help = help::agent::DONE)]
    Done(crate::commands::run::arguments::DoneOptions),
    /// Give a task up, or report that its worker is gone
    #[command(after_help = help::agent::FAIL)]
    Fail(crate::commands::run::arguments::FailOptions),
    /// Run commands that show what no check can
    #[command(after_help = help::agent::EVIDENCE)]
    Evidence {
        #[command(subcommand)]
        action: crate::commands::run::arguments::EvidenceCommand,
    },
    /// Judge the work of a run as its verifier
    #[command(after_help = help::agent::VERDICT)]
    Verdict(crate::commands::run::arguments::VerdictOptions),
    /// Begin a task list, change where it stands, write down its design
    #[command(after_help = help::tasks::EDIT)]
    Tasks {
        #[command(subcommand)]
        action: crate::commands::tasks::arguments::TasksEditCommand,
    },
    /// Make, show and change the tasks of a task list
    #[command(after_help = help::tasks::TASK)]
    Task {
        #[command(subcommand)]
        action: crate::commands::tasks::arguments::TaskCommand,
    },
    /// Keep what the explorers of a task list found
    #[command(after_help = help::tasks::CONTEXT)]
    Context {
        #[command(subcommand)]
        action: crate::commands::tasks::arguments::ContextCommand,
    },
    /// Start parallel workers, or merge what they have done
    #[command(after_help = help::agent::WORKERS)]
    Workers {
        #[command(subcommand)]
        action: crate::commands::agent::workers::WorkersCommand,
    },
    /// Look after parallel workers; omo starts it by itself
    #[command(after_help = help::agent::SUPERVISE)]
    Supervise(crate::commands::run::arguments::RunOptions),
    /// Answer what Claude Code asks before a worker does something
    #[command(after_help = help::agent::FENCE)]
    Fence(FenceOptions),
}

#[derive(Debug, Args)]
pub(crate) struct LogOptions {
    /// Keep showing decisions as they are made, until Ctrl-C
    #[arg(long, short)]
    pub follow: bool,
    /// Print the lines as they are written: one JSON object each
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyOptions {
    /// The checks of this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// The checks of this task of a plan run instead
    #[arg(long, value_name = "ID", conflicts_with = "session", allow_hyphen_values = true)]
    pub task: Option<String>,
    /// The plan run of the task, if not the one that is open here
    #[arg(long, value_name = "ID", requires = "task")]
    pub run: Option<String>,
    /// Print JSON: one object with a list of the checks
    #[arg(long, conflicts_with = "task")]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CheckCommand {
    /// Show what judges a claim, and what omo.toml asks for
    #[command(after_help = help::CHECK_LIST)]
    List(SessionOptions),
    /// Have a command decide as well
    #[command(after_help = help::CHECK_ADD)]
    Add(AddOptions),
    /// Have a check decide no more
    #[command(after_help = help::CHECK_REMOVE)]
    Remove(RemoveOptions),
    /// Approve what omo.toml would run, exactly as it is now
    #[command(after_help = help::APPROVE)]
    Approve(ConfirmOptions),
    /// Take the files and counts as they are now as the ones to be held to
    #[command(after_help = help::CHECK_ACCEPT)]
    Accept(AcceptOptions),
}

#[derive(Debug, Args)]
pub(crate) struct AddOptions {
    /// What it is called
    #[arg(long)]
    pub name: Option<String>,
    /// How long it may run, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u32>,
    #[command(flatten)]
    pub session: SessionOptions,
    #[command(flatten)]
    pub confirm: ConfirmOptions,
    /// The command, for a POSIX shell
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveOptions {
    /// Which check
    pub name: String,
    #[command(flatten)]
    pub session: SessionOptions,
    #[command(flatten)]
    pub confirm: ConfirmOptions,
}

#[derive(Debug, Args)]
pub(crate) struct AcceptOptions {
    /// Which check; without it all of them
    pub name: Option<String>,
    #[command(flatten)]
    pub session: SessionOptions,
    #[command(flatten)]
    pub confirm: ConfirmOptions,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorOptions {
    /// Start sessions of the client to see each hook run; they cost nothing
    #[arg(long)]
    pub live: bool,
    /// Print JSON: one object with a list of the checks
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SetupOptions {
    /// Take the plugin out of Claude Code and remove its copy
    #[arg(long)]
    pub remove: bool,
    /// Only link this omo into ~/.local/bin, where terminals find it
    #[arg(long, conflicts_with = "remove")]
    pub link: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BlockedOptions {
    /// Why it cannot be done
    pub reason: String,
    #[command(flatten)]
    pub session: SessionOptions,
}
