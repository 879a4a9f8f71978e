//! `omo doctor`: finds what keeps omo from working, with a fix for each problem. Changes nothing.

mod facts;
mod finding;
mod gather;
mod judge;
mod launcher;
mod live;
mod render;

use std::io::Write;

use clap::Args;
use omo_state::config::UserConfig;
use omo_state::env::ProcessEnv;

use crate::config_problems::require_valid_config;
use crate::error::CommandError;
use crate::output::stdout_columns;
use finding::Level;

const HELP: &str = "\
Examples:
  omo doctor                     what is wrong, why it matters, what fixes it
  omo doctor --live              the same, and whether each hook runs once
  omo doctor --launcher slurm    whether a worker gets there, and its work back

It looks at the client, the plugin, other loops, this project, your settings and
approvals, and changes nothing. --live starts two short headless sessions in a
temporary folder against a scripted model on this machine. --launcher looks at
nothing else: it starts one real worker, whose client writes one small file and
may spend cents; --launcher-remote takes another remote than origin. The exit
status is 1 when something is bad; a warning is not.";

/// Look for what keeps omo from working, and show what fixes it
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct DoctorOptions {
    /// Start sessions to see each hook run; they cost nothing
    #[arg(long)]
    pub live: bool,
    /// Start one trivial worker through this launcher
    #[arg(long, value_name = "NAME", conflicts_with = "live")]
    pub launcher: Option<String>,
    /// The remote that it goes through, instead of origin
    #[arg(long, value_name = "NAME", requires = "launcher", hide = true)]
    pub launcher_remote: Option<String>,
    /// Print JSON: one object with a list of the checks
    #[arg(long)]
    pub json: bool,
}

pub(crate) fn run(
    env: &ProcessEnv,
    config: &UserConfig,
    options: &DoctorOptions,
) -> Result<(), CommandError> {
    if let Some(name) = &options.launcher {
        require_valid_config(config)?;
        return launcher::run(env, name, options.launcher_remote.as_deref(), options.json);
    }
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
    match findings
        .iter()
        .filter(|finding| finding.level == Level::Bad)
        .count()
    {
        0 => Ok(()),
        1 => Err(CommandError::not_green(
            "1 check is bad",
            "the row says what fixes it",
        )),
        bad => Err(CommandError::not_green(
            format!("{bad} checks are bad"),
            "each row says what fixes it",
        )),
    }
}
