//! The command line.

use clap::{Args, Parser, Subcommand};

/// Shows where ultrawork stands in this project, and lets go of it.
///
/// Ultrawork keeps a Claude Code session working until its task is claimed done, within hard
/// bounds. It is turned on in the session, by typing `ulw` in a prompt; these commands look at it
/// and stop it from any terminal.
#[derive(Debug, Parser)]
#[command(name = "omo", version, arg_required_else_help = true, after_help = AFTER_HELP)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  omo status               where each session of this project stands
  omo stop                 let go of the session that is on
  omo stop --all           let go of every session of this project
  omo log --follow         watch the decisions as they are made
  omo verify               run the checks now, and see what they are worth
  omo gate list            what judges a claim, and what the repository asks for

Exit status:
  0  done
  1  a file could not be read or written
  2  the command line was wrong, or names no session
  3  the configuration is wrong
  4  another process held the state all the time
  5  a check is not green, or there is none";

const STATUSLINE_AFTER_HELP: &str = "\
It reads on stdin what Claude Code sends to a status line, and prints nothing where no run is on.
`/omo:statusline` in a session shows the lines for your settings.json, with the path of this omo.

Examples, each as the \"command\" of a \"statusLine\":
  omo statusline
  omo statusline --wrap 'my-status-line --short'";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show where each session of this project stands, and how to stop it
    Status(StatusOptions),
    /// Let go: end the run, and keep the session free until its user types `ulw` again
    Stop(StopOptions),
    /// Turn ultrawork on or off in a session
    Ulw {
        #[command(subcommand)]
        switch: Switch,
    },
    /// Show what was decided, and by which rule
    Log(LogOptions),
    /// Run the checks now; the same code that judges a claim
    Verify(VerifyOptions),
    /// Show or change what judges a claim
    Gate {
        #[command(subcommand)]
        action: Gate,
    },
    /// Approve what omo.toml would run, exactly as it is now (the same as `omo gate approve`)
    Trust(ConfirmOptions),
    /// End the run honestly: say why the task cannot be done
    #[command(after_help = "Example:\n  omo blocked \"the database of the task does not exist\"")]
    Blocked(BlockedOptions),
    /// Print where a run stands, in a few words, for Claude Code's status line
    #[command(after_help = STATUSLINE_AFTER_HELP)]
    Statusline(StatuslineOptions),
    /// Print the completions for a shell
    #[command(after_help = "Example:\n  omo completions bash > ~/.local/share/bash-completion/completions/omo")]
    Completions {
        /// For which shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub struct StatusOptions {
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Print JSON: a list with one object for each session
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct StatuslineOptions {
    /// Your other status line, a command for sh: it gets the same input, and what it prints comes
    /// first
    #[arg(long, value_name = "COMMAND")]
    pub wrap: Option<String>,
}

#[derive(Debug, Args)]
pub struct StopOptions {
    /// Which session; without it the one this shell belongs to, or the only one that is on
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
pub enum Switch {
    /// Turn ultrawork on: the session is held from its next stop on
    On(OnOptions),
    /// Turn ultrawork off, as `omo stop` does
    Off(OffOptions),
}

#[derive(Debug, Args)]
pub struct OnOptions {
    /// Which session; without it the one this shell belongs to, or the only one that is known
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

#[derive(Debug, Args)]
pub struct OffOptions {
    /// Which session; without it the one this shell belongs to, or the only one that is on
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

impl From<OffOptions> for StopOptions {
    fn from(options: OffOptions) -> Self {
        Self { session: options.session, all: false, reason: None }
    }
}

#[derive(Debug, Args)]
pub struct LogOptions {
    /// Keep showing decisions as they are made, until Ctrl-C
    #[arg(long, short)]
    pub follow: bool,
    /// Print the lines as they are written: one JSON object each
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct VerifyOptions {
    /// The checks of this session; without it those of the one this shell belongs to, or of the
    /// only one that is on, or those that a new run would have
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Print JSON: one object with a list of the checks
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum Gate {
    /// Show what judges a claim, and what omo.toml asks for, with their digests
    List(SessionOptions),
    /// Have a command decide as well
    #[command(after_help = "Example:\n  omo gate add --name tests -- cargo test --workspace")]
    Add(AddOptions),
    /// Have a check decide no more
    Remove(RemoveOptions),
    /// Run the checks now, as `omo verify` does
    Run(VerifyOptions),
    /// Approve what omo.toml would run, exactly as it is now
    Approve(ConfirmOptions),
    /// Take the files and counts as they are now as the ones to be held to
    Accept(AcceptOptions),
}

#[derive(Debug, Args)]
pub struct SessionOptions {
    /// Which session; without it the one this shell belongs to, or the only one that is on
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// How a person agrees.
#[derive(Debug, Args)]
pub struct ConfirmOptions {
    /// Agree without a terminal to ask on: the exact digest that `omo gate list` shows
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<String>,
}

#[derive(Debug, Args)]
pub struct AddOptions {
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
pub struct RemoveOptions {
    /// Which check
    pub name: String,
    #[command(flatten)]
    pub session: SessionOptions,
    #[command(flatten)]
    pub confirm: ConfirmOptions,
}

#[derive(Debug, Args)]
pub struct AcceptOptions {
    /// Which check; without it all of them
    pub name: Option<String>,
    #[command(flatten)]
    pub session: SessionOptions,
    #[command(flatten)]
    pub confirm: ConfirmOptions,
}

#[derive(Debug, Args)]
pub struct BlockedOptions {
    /// Why it cannot be done
    pub reason: String,
    #[command(flatten)]
    pub session: SessionOptions,
}
