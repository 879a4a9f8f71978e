//! The command line.

use clap::{Args, Parser, Subcommand};

use crate::help;

/// Shows where ultrawork stands in this project, and lets go of it. Ultrawork keeps a Claude Code
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
    /// Let go of a session, until its user types `ulw` again
    #[command(after_help = help::STOP)]
    Stop(StopOptions),
    /// Turn ultrawork on or off in a session
    #[command(after_help = help::ULW)]
    Ulw {
        #[command(subcommand)]
        switch: Switch,
    },
    /// Show what was decided, and by which rule
    #[command(after_help = help::LOG)]
    Log(LogOptions),
    /// Run the checks now; the same code that judges a claim
    #[command(after_help = help::VERIFY)]
    Verify(VerifyOptions),
    /// Show or change what judges a claim
    #[command(after_help = help::GATE)]
    Gate {
        #[command(subcommand)]
        action: Gate,
    },
    /// Read a plan: show it, lint it, or print it for programs
    #[command(after_help = help::run::PLAN)]
    Plan {
        #[command(subcommand)]
        action: crate::plan::Plan,
    },
    /// Compute the batches of a plan, under the name that others have for it
    #[command(hide = true, after_help = help::run::CKPT)]
    Ckpt {
        #[command(subcommand)]
        action: crate::plan::Checkpoints,
    },
    /// Run a plan, in a ledger that says what was proved
    #[command(after_help = help::run::RUN)]
    Run {
        #[command(subcommand)]
        action: crate::run::Run,
    },
    /// Look after the sessions of a run that are worked on apart
    #[command(hide = true, after_help = help::stage::STAGE)]
    Stage {
        #[command(subcommand)]
        action: crate::run::Stage,
    },
    /// Say what comes next in a run, for whoever works on it
    #[command(hide = true, after_help = help::run::NEXT)]
    Next(crate::run::NextOptions),
    /// Work on one task of a run
    #[command(hide = true, after_help = help::run::UNIT)]
    Unit {
        #[command(subcommand)]
        action: crate::run::Unit,
    },
    /// Run commands that show what no check can, in the run of a task session
    #[command(hide = true, after_help = help::run::EVIDENCE)]
    Evidence {
        #[command(subcommand)]
        action: crate::run::Evidence,
    },
    /// Judge the run of a task session, for whoever verifies it
    #[command(hide = true, after_help = help::run::VERDICT)]
    Verdict(crate::run::VerdictOptions),
    /// Run the checks of one task of a run, and change nothing
    #[command(hide = true, after_help = help::run::CHECK)]
    Check(crate::run::CheckOptions),
    /// Show what came of a run
    #[command(after_help = help::run::REPORT)]
    Report(crate::run::ReportOptions),
    /// Begin, show and change task sessions
    #[command(after_help = help::session::SESSION)]
    Session {
        #[command(subcommand)]
        action: crate::session::Session,
    },
    /// Make, show and change the tasks of a session
    #[command(hide = true, after_help = help::session::TASK)]
    Task {
        #[command(subcommand)]
        action: crate::session::Task,
    },
    /// Keep what the explorers of a session found
    #[command(hide = true, after_help = help::session::CONTEXT)]
    Context {
        #[command(subcommand)]
        action: crate::session::Context,
    },
    /// Approve what omo.toml would run, as `omo gate approve` does
    #[command(after_help = help::TRUST)]
    Trust(ConfirmOptions),
    /// End the run honestly: say why the task cannot be done
    #[command(after_help = help::BLOCKED)]
    Blocked(BlockedOptions),
    /// Print where a run stands, for Claude Code's status line
    #[command(after_help = help::STATUSLINE)]
    Statusline(StatuslineOptions),
    /// Answer what Claude Code asks before a session of a plan does something
    #[command(hide = true, after_help = help::run::FENCE)]
    Fence(FenceOptions),
    /// Install this omo's plugin in Claude Code, or remove it
    #[command(after_help = help::SETUP)]
    Setup(SetupOptions),
    /// Look for what keeps omo from working, and show what mends it
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
pub(crate) enum Switch {
    /// Turn ultrawork on: the session is held from its next stop on
    #[command(after_help = help::ULW_ON)]
    On(OnOptions),
    /// Turn ultrawork off, as `omo stop` does
    #[command(after_help = help::ULW_OFF)]
    Off(OffOptions),
}

#[derive(Debug, Args)]
pub(crate) struct OnOptions {
    /// Which session, if not this shell's own or the only one
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct OffOptions {
    /// Which session, if not this shell's own or the only one on
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

impl From<OffOptions> for StopOptions {
    fn from(options: OffOptions) -> Self {
        Self { session: options.session, all: false, reason: None }
    }
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
    /// Print JSON: one object with a list of the checks
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Gate {
    /// Show what judges a claim, and what omo.toml asks for
    #[command(after_help = help::GATE_LIST)]
    List(SessionOptions),
    /// Have a command decide as well
    #[command(after_help = help::GATE_ADD)]
    Add(AddOptions),
    /// Have a check decide no more
    #[command(after_help = help::GATE_REMOVE)]
    Remove(RemoveOptions),
    /// Run the checks now, as `omo verify` does
    #[command(after_help = help::GATE_RUN)]
    Run(VerifyOptions),
    /// Approve what omo.toml would run, exactly as it is now
    #[command(after_help = help::APPROVE)]
    Approve(ConfirmOptions),
    /// Take the files and counts as they are now as the ones to be held to
    #[command(after_help = help::GATE_ACCEPT)]
    Accept(AcceptOptions),
    /// Answer what a plan run asks its user
    #[command(after_help = help::run::ANSWER)]
    Answer(crate::run::AnswerOptions),
}

#[derive(Debug, Args)]
pub(crate) struct SessionOptions {
    /// Which session, if not this shell's own or the only one on
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// How a person agrees.
#[derive(Debug, Args)]
pub(crate) struct ConfirmOptions {
    /// Agree without a terminal: the digest in `omo gate list`
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<String>,
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
