//! `omo log`: what was decided, and by which rule.

use std::io::Write;
use std::time::Duration;

use clap::Args;
use omo_core::log_entry::LogEntry;
use omo_core::text::sanitize;
use omo_state::decision_log;
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;

use crate::error::CommandError;
use crate::project::Project;

const HELP: &str = "\
Examples:
  omo log                  when, which session, which rule, what was done
  omo log --follow         the same, and each new line as it comes
  omo log --json           one JSON object a line, for jq

No prompt and no answer of the model is ever in it.";

/// Show what was decided, and by which rule
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct LogOptions {
    /// Keep showing decisions as they are made, until Ctrl-C
    #[arg(long, short)]
    pub follow: bool,
    /// Print the lines as they are written: one JSON object each
    #[arg(long)]
    pub json: bool,
}

/// How often a log that is followed is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Shows the log, and what is added to it where it is followed.
pub(crate) fn run(env: &ProcessEnv, options: &LogOptions) -> Result<(), CommandError> {
    let project = Project::find(env)?;
    let mut out = anstream::stdout().lock();
    let Some(folder) = &project.folder else { return say_none(&project) };
    let mut log = decision_log::DecisionLogReader::default();
    let entries = log.read_on(folder)?;
    show(&mut out, &entries, options.json)?;
    if !options.follow {
        return if entries.is_empty() { say_none(&project) } else { Ok(()) };
    }
    loop {
        std::thread::sleep(LOOK_EVERY);
        // Opened anew: the user may have removed the folder meanwhile, and a hook made it again.
        if let Some(folder) = GuardedFolder::open_state(&project.root)? {
            show(&mut out, &log.read_on(&folder)?, options.json)?;
        }
    }
}

fn say_none(project: &Project) -> Result<(), CommandError> {
    writeln!(anstream::stderr(), "Nothing was decided in {} yet.", project.root.display())?;
    Ok(())
}

fn show(out: &mut impl Write, entries: &[LogEntry], json: bool) -> Result<(), CommandError> {
    for entry in entries {
        if json {
            writeln!(out, "{}", serde_json::to_string(entry).unwrap_or_default())?;
        } else {
            writeln!(out, "{}", log_line(entry))?;
        }
    }
    out.flush()?;
    Ok(())
}

/// One line, its columns in line for ids of the usual length.
fn log_line(entry: &LogEntry) -> String {
    let row = entry.row.map(|row| format!("row {row}")).unwrap_or_default();
    let blocks = format!("{}/{}", entry.blocks, entry.max_blocks);
    format!(
        "{}  {:<36}  {:<16}  {row:<6}  {:<14}  {blocks:<7}  {}",
        entry.at,
        sanitize(&entry.session, 36),
        sanitize(&entry.event, 16),
        sanitize(&entry.decision, 14),
        sanitize(&entry.why, 400),
    )
}
