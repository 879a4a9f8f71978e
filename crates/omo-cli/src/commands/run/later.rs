//! `omo run later`: findings that reviewers deferred, until a person has dealt with them.

use std::io::Write;

use clap::{Args, Subcommand};
use omo_core::text::sanitize;
use omo_engine::{RunStore, verbs};
use omo_state::env::ProcessEnv;
use serde::Serialize;

use crate::blocks::parts;
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::output::table::{self, Cell};

const HELP: &str = "\
Examples:
  omo run later
  omo run later done RUN/1

What a reviewer defers (`omo agent verdict … --later`) stays in the list after
the end of its run, and `omo run gc` keeps the run, until it is done.";

/// List what reviewers of runs have deferred
#[derive(Debug, Args)]
#[command(after_help = HELP, args_conflicts_with_subcommands = true)]
pub(crate) struct LaterOptions {
    /// Print JSON: a list with one object for each
    #[arg(long)]
    pub json: bool,
    #[command(subcommand)]
    pub action: Option<LaterAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LaterAction {
    /// Take a finding out of the list
    #[command(after_help = "Example:\n  omo run later done RUN/1")]
    Done {
        /// The finding, as the list names it: RUN/1
        finding: String,
    },
}

#[derive(Debug, Serialize)]
struct FindingLine {
    id: String,
    plan: String,
    text: String,
}

pub(crate) fn run(env: &ProcessEnv, options: &LaterOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    match &options.action {
        None => list(&context, options.json),
        Some(LaterAction::Done { finding }) => close(&context, finding),
    }
}

fn list(context: &CommandContext, json: bool) -> Result<(), CommandError> {
    let listed = context
        .runs
        .as_ref()
        .map(RunStore::list)
        .transpose()?
        .unwrap_or_default();
    let mut lines = Vec::new();
    for (run, state) in listed
        .iter()
        .filter_map(|listed| Some((&listed.id, listed.state.as_ref().ok()?)))
    {
        let plan = parts::run_subject(state);
        lines.extend(state.open_findings().map(|(number, text)| FindingLine {
            id: format!("{run}/{number}"),
            plan: plan.clone(),
            text: text.to_owned(),
        }));
    }
    let mut out = anstream::stdout().lock();
    if json {
        return Ok(writeln!(
            out,
            "{}",
            serde_json::to_string_pretty(&lines).unwrap_or_default()
        )?);
    }
    if lines.is_empty() {
        return Ok(writeln!(
            out,
            "No reviewer of a run here has deferred anything that is open."
        )?);
    }
    let rows = lines.iter().map(|line| {
        [
            Cell::plain(&line.id),
            Cell::plain(sanitize(&line.plan, 60)),
            Cell::plain(sanitize(&line.text, 300)),
        ]
    });
    Ok(table::write_table(
        &mut out,
        ["finding", "plan", "for later"],
        rows.collect(),
    )?)
}

fn close(context: &CommandContext, finding: &str) -> Result<(), CommandError> {
    if !context.is_person() {
        let hint = "type `omo run later done` in a terminal of your own";
        return Err(CommandError::needs_person(
            "only a person takes a finding out of the list",
            hint,
        ));
    }
    let named = finding
        .rsplit_once('/')
        .and_then(|(run, number)| Some((run, number.parse::<usize>().ok()?)));
    let Some((run, number)) = named else {
        let message = format!("`{}` is not a finding", sanitize(finding, 100));
        return Err(CommandError::usage(
            message,
            "`omo run later` lists them, each as RUN/1",
        ));
    };
    let (run, before) = context.find_run(Some(run), EndedRuns::Included)?;
    context
        .engine(&run, &before)?
        .decide(|state| Ok(vec![verbs::close_finding(state, number)?]))?;
    Ok(writeln!(
        anstream::stdout(),
        "{}/{number} is done.",
        run.id()
    )?)
}
