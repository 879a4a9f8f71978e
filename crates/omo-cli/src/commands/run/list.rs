//! `omo run list`: prints the plan runs of this repository, the newest first.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use clap::Args;
use omo_core::text::{format_age, sanitize};
use omo_core::timestamp::Timestamp;
use omo_engine::RunStore;
use omo_engine::report::heading::run_heading;
use omo_engine::state::{RunPhase, RunState};
use omo_engine::work::moved_run;
use omo_state::env::ProcessEnv;
use serde::Serialize;

use crate::blocks::parts::{self, status_word};
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::output::table::{self, Cell};

const HELP: &str = "\
Example:
  omo run list";

/// List the runs of this repository, the newest first
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct RunListOptions {
    /// Print JSON: a list with one object for each run
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RunLine {
    id: String,
    plan: String,
    state: String,
    mode: Option<&'static str>,
    total: usize,
    passed: usize,
    failed: usize,
    blocked: usize,
    holder: Option<String>,
    updated_at: Option<Timestamp>,
    problem: Option<String>,
    #[serde(skip)]
    heading: String,
    #[serde(skip)]
    style: Style,
}

pub(crate) fn run(env: &ProcessEnv, options: &RunListOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let listed = context
        .runs
        .as_ref()
        .map(RunStore::list)
        .transpose()?
        .unwrap_or_default();
    let lines: Vec<RunLine> = listed
        .into_iter()
        .map(|listed| run_line(listed.id, listed.state))
        .collect();
    let mut out = anstream::stdout().lock();
    if options.json {
        writeln!(
            out,
            "{}",
            serde_json::to_string_pretty(&lines).unwrap_or_default()
        )?;
    } else if lines.is_empty() {
        writeln!(
            out,
            "No plan was run in this repository. `omo run start FILE` runs one."
        )?;
    } else {
        let rows = lines.iter().map(|line| {
            let state = line.problem.as_deref().unwrap_or(&line.heading);
            let done = if line.problem.is_some() {
                "-".to_owned()
            } else {
                format!("{} of {}", line.passed, line.total)
            };
            [
                Cell::plain(sanitize(&line.id, 64)),
                Cell::new(sanitize(state, 100), line.style),
                Cell::plain(line.mode.unwrap_or("-")),
                Cell::plain(done),
                Cell::plain(line.updated_at.map_or_else(
                    || "-".to_owned(),
                    |at| format!("{} ago", format_age(Some(at), env.now)),
                )),
                Cell::plain(sanitize(&line.plan, 100)),
            ]
        });
        table::write_table(
            &mut out,
            ["run", "state", "mode", "done", "last", "plan"],
            rows.collect(),
        )?;
    }
    Ok(())
}

fn run_line(id: String, state: Result<RunState, omo_engine::RunStoreError>) -> RunLine {
    match state {
        Ok(state) => {
            let (counts, heading) = (state.task_counts(), run_heading(&state));
            let is_lost = state.phase == RunPhase::Executing && moved_run::is_gone(&state);
            let text = if is_lost {
                format!("its worktree is gone: omo run cancel --run {id}")
            } else {
                heading.text
            };
            RunLine {
                id,
                plan: parts::run_subject(&state),
                state: status_word(&state).to_owned(),
                mode: Some(state.mode.words()),
                total: counts.total,
                passed: counts.passed + counts.claimed,
                failed: counts.failed,
                blocked: counts.blocked,
                holder: state.holder.session.clone(),
                updated_at: Some(state.updated_at),
                problem: None,
                heading: text,
                style: heading.kind.style(),
            }
        }
        Err(error) => RunLine {
            id,
            plan: String::new(),
            state: "unreadable".to_owned(),
            mode: None,
            total: 0,
            passed: 0,
            failed: 0,
            blocked: 0,
            holder: None,
            updated_at: None,
            problem: Some(error.to_string()),
            heading: String::new(),
            style: AnsiColor::Red.on_default(),
        },
    }
}
