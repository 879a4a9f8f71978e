//! What stands below the options on each page of `omo --help`: examples, and the exit statuses.
//!
//! Each example is a whole command line; a test reads every one with the parser.

pub(crate) mod agent;
pub(crate) mod run;
pub(crate) mod tasks;

use crate::error::ExitKind;

/// Below the first page.
pub(crate) fn top() -> String {
    format!("{TOP}\n\nExit status:\n{}", in_two_columns(&ExitKind::ALL).join("\n"))
}

/// The exit statuses as lines, downwards first: one a line would be more than a screen takes.
fn in_two_columns(kinds: &[ExitKind]) -> Vec<String> {
    let (left, right) = kinds.split_at(kinds.len().div_ceil(2));
    let width = left.iter().map(|kind| kind.meaning().len()).max().unwrap_or(0);
    let left = left.iter().map(|kind| format!("  {}  {:width$}", kind.code(), kind.meaning()));
    let right = right.iter().map(|kind| format!("  {:>2}  {}", kind.code(), kind.meaning()));
    left.zip(right.chain(std::iter::repeat(String::new())))
        .map(|(left, right)| (left + &right).trim_end().to_owned())
        .collect()
}

const TOP: &str = "\
Examples:
  omo status               where each session of this project stands
  omo verify               run the checks now, and see what they are worth";

pub(crate) const STATUS: &str = "\
Examples:
  omo status               the phase, the bounds and the last decision
  omo status --json        the same for a script, or for a status line

It reads and never writes, whatever state the session is in.";

pub(crate) const STOP: &str = "\
Examples:
  omo stop                           the only session that is on
  omo stop --all                     every session of this project
  omo stop --reason \"wrong branch\"   with a reason, which `omo status` shows

In the session itself `/omo:stop-continuation` does the same, and no model reads
it. Stopping works while a turn runs: its end is then let through.";

pub(crate) const ULW: &str = "\
Example:
  omo ulw on               hold the session from its next stop on

In the session you type `ulw <task>` instead; from here it has no task.";

pub(crate) const ULW_ON: &str = "\
Example:
  omo ulw on

It is for a session that runs already. `omo stop` takes it back.";

pub(crate) const LOG: &str = "\
Examples:
  omo log                  when, which session, which rule, what was done
  omo log --follow         the same, and each new line as it comes
  omo log --json           one JSON object a line, for jq

No prompt and no answer of the model is ever in it.";

pub(crate) const VERIFY: &str = "\
Examples:
  omo verify               a table, and the end of what each red check printed
  omo verify --json        the same for a script
  omo verify --task 3      the checks of one task of the plan run that is open

The exit status is 0 only when everything is green, and 1 when it is not or when
there is no check, so `omo verify && git push` does what it says. Whose checks:
those of this shell's session, else of the only one on, else those of a new run.";

pub(crate) const CHECK: &str = "\
Examples:
  omo check list
  omo check add --name tests -- cargo test --workspace
  omo check remove tests

What widens or narrows the judgement asks you on a terminal first, or needs the
digest that `omo check list` shows. In the session `/omo:check` does the same.";

pub(crate) const CHECK_LIST: &str = "\
Example:
  omo check list";

pub(crate) const CHECK_ADD: &str = "\
Example:
  omo check add --name tests -- cargo test --workspace";

pub(crate) const CHECK_REMOVE: &str = "\
Example:
  omo check remove tests";

pub(crate) const APPROVE: &str = "\
Example:
  omo check approve

It shows every byte of each command before it asks. Any later change of omo.toml
or of a file that its checks run asks again, and so does another repository.";

pub(crate) const CHECK_ACCEPT: &str = "\
Examples:
  omo check accept          all checks
  omo check accept tests    one of them

For when tests were taken away on purpose, or a script that a check runs was
changed by you: without it the check stays red.";

pub(crate) const BLOCKED: &str = "\
Example:
  omo blocked \"the database of the task does not exist\"

It is for the model, which may as well end its message with
`<promise>BLOCKED: the reason</promise>`. The run ends at the next stop.";

pub(crate) const STATUSLINE: &str = "\
Examples, each as the \"command\" of a \"statusLine\":
  omo statusline
  omo statusline --wrap 'my-status-line --short'

It reads on stdin what Claude Code sends to a status line, and prints nothing
where no run is on. `/omo:statusline` in a session shows the lines for your
settings.json, with the path of this omo.";

pub(crate) const SETUP: &str = "\
Examples:
  ./bin/omo setup          from an unpacked archive
  omo setup --remove       undo it
  omo setup --link         only have `omo` found in a terminal

It puts a copy of the plugin into ~/.local/share/omo, has the `claude` on your
PATH register that, for all your projects, and links `omo` into ~/.local/bin,
where another file of that name stays. Run it again at any time: it adds what is
missing, and updates what is older. It needs no network, and edits no settings
of Claude Code itself; but a status line whose omo --remove takes away goes too.
An installation from a marketplace links `omo` by itself.";

pub(crate) const DOCTOR: &str = "\
Examples:
  omo doctor           what is wrong, why it matters, and what fixes it
  omo doctor --live    the same, and whether each hook runs once in a session

It looks at the client and its settings, the plugin and its programs, other
loops, the state of this project, and your configuration, key and approvals. It
changes nothing. With --live it also starts two short headless sessions of the
client, in a temporary folder and against a scripted model on this machine; that
takes seconds and leaves nothing behind. The exit status is 1 when something is
bad; a warning is not.";

pub(crate) const COMPLETIONS: &str = "\
Example:
  omo completions bash > ~/.local/share/bash-completion/completions/omo";
