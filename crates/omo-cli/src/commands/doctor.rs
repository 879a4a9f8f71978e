//! `omo doctor`: whether everything that omo needs is as it should be, and what fixes the rest.
//!
//! Facts are gathered at the edge, judged by functions that look at nothing else, and shown. No
//! check writes anything, and none runs anything of the project.

mod facts;
mod finding;
mod gather;
mod judge;
mod live;
mod render;

use std::io::Write;

use clap::Args;
use omo_state::config::UserConfig;
use omo_state::env::ProcessEnv;

use crate::error::CommandError;
use crate::output::stdout_columns;
use finding::Level;

const HELP: &str = "\
Examples:
  omo doctor           what is wrong, why it matters, and what fixes it
  omo doctor --live    the same, and whether each hook runs once in a session

It looks at the client and its settings, the plugin and its programs, other
loops, the state of this project, and your configuration, key and approvals. It
changes nothing. With --live it also starts two short headless sessions of the
client, in a temporary folder and against a scripted model on this machine; that
takes seconds and leaves nothing behind. The exit status is 1 when something is
bad; a warning is not.";

/// Look for what keeps omo from working, and show what fixes it
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct DoctorOptions {
    /// Start sessions of the client to see each hook run; they cost nothing
    #[arg(long)]
    pub live: bool,
    /// Print JSON: one object with a list of the checks
    #[arg(long)]
    pub json: bool,
}

/// Looks at everything and shows it. Where something is bad that is a failure.
pub(crate) fn run(env: &ProcessEnv, config: &UserConfig, options: &DoctorOptions) -> Result<(), CommandError> {
    let surroundings = gather::Surroundings::from_process();
    let mut facts = gather::gather_facts(env, config, &surroundings);
    if options.live {
        facts.live = live::watch_hooks(&facts, &surroundings);
    }
    let findings = judge::judge(&facts);
    let mut out = anstream::stdout().lock();
    if options.json {
        writeln!(out, "{}", render::to_json(&findings))?;
    } else {
        let columns = stdout_columns().unwrap_or(render::MOST_COLUMNS);
        render::write_table(&mut out, &findings, columns)?;
    }
    match findings.iter().filter(|finding| finding.level == Level::Bad).count() {
        0 => Ok(()),
        1 => Err(CommandError::not_green("1 check is bad", "the row says what fixes it")),
        bad => Err(CommandError::not_green(format!("{bad} checks are bad"), "each row says what fixes it")),
    }
}
