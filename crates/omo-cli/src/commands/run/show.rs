//! `omo run show`: where a run stands, task by task.

use std::io::Write;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use clap::Args;
use omo_core::text::sanitize;
use omo_engine::Run;
use omo_engine::report::heading::run_heading;
use omo_engine::report::judged_with::judged_with_lines;
use omo_engine::report::taken_back::kept_lines;
use omo_engine::report::workers::worker_warnings;
use omo_engine::state::{RunPhase, RunState};
use omo_engine::work::find_edit;
use omo_git::integrate::has_unsettled_move;
use omo_git::repository::GitRepository;
use omo_state::env::ProcessEnv;

use crate::blocks::parts;
use crate::blocks::ways_out::way_out_lines;
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::local_time::LocalClock;
use crate::output::print_json;
use crate::run_arguments::RunOptions;
use crate::run_report::progress::task_table;
use crate::run_report::{ReportSource, styled_heading};

const HELP: &str = "\
Examples:
  omo run show             the run that is open here, else the last one
  omo run show --json      the same for a script";

/// Show where a run stands, task by task
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct ShowOptions {
    #[command(flatten)]
    pub run: RunOptions,
    /// Print JSON: one object
    #[arg(long)]
    pub json: bool,
}

/// Shows a run, task by task.
pub(crate) fn run(env: &ProcessEnv, options: &ShowOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.find_run(options.run.run.as_deref(), EndedRuns::Included)?;
    let source = ReportSource::read(&run, &state, env)?;
    if options.json {
        return print_json(&source.report);
    }
    let mut out = anstream::stdout().lock();
    write_head(&mut out, &run, &state, env)?;
    write!(out, "{}", task_table(&source))?;
    // A run that is over waits for no answer; the question is put again once it goes on.
    let is_open = state.phase == RunPhase::Executing;
    for question in state.questions.iter().filter(|question| is_open && question.answer.is_none()) {
        let yellow = AnsiColor::Yellow.on_default().bold();
        let (id, text) = (&question.question.id, sanitize(&question.question.text, 600));
        writeln!(out, "\n{yellow}{id} waits for you:{yellow:#} {text}")?;
        let options: Vec<String> = question
            .question
            .options
            .iter()
            .map(|option| format!("  omo answer {} {}", question.question.id, option.id))
            .collect();
        writeln!(out, "{}", options.join("\n"))?;
        for line in way_out_lines(question, &state) {
            writeln!(out, "  {line}")?;
        }
        let then = if state.parallel.is_some() { "omo run watch" } else { "/omo:execute in Claude Code" };
        writeln!(out, "  then: {then}")?;
    }
    if let Some(edit) = find_edit(Path::new(&state.root), &state)? {
        writeln!(out, "\nThe plan was edited since: {edit}. `omo run resume` takes that in.")?;
    }
    Ok(())
}

fn write_head(out: &mut impl Write, run: &Run, state: &RunState, env: &ProcessEnv) -> Result<(), CommandError> {
    let dim = Style::new().dimmed();
    let clock = LocalClock::from_process(env.now);
    let torn = run.count_torn_writes()?;
    let mut rows = vec![
        ("run", run.id().to_owned()),
        ("plan", sanitize(&parts::run_subject(state), 200)),
        ("state", format!("{}, {}", styled_heading(&run_heading(state)), parts::progress_words(state))),
        ("mode", state.mode.words().to_owned()),
        ("held by", state.holder.describe()),
        ("begun", clock.describe(state.opened_at)),
        ("last event", clock.describe(state.updated_at)),
    ];
    if torn > 0 {
        rows.push(("interrupted", format!("{torn} writes did not come to their end; nothing of them counts")));
    }
    let is_cut = |found: GitRepository| state.parallel.is_some() && has_unsettled_move(&found);
    if !run.is_supervised()? && GitRepository::find(Path::new(&state.root)).is_some_and(is_cut) {
        rows.push(("landing", "the move of your branch was cut short; `omo run resume` ends it".to_owned()));
    }
    for (file, kept) in &state.changed_files {
        let kept = kept.as_ref().map(|kept| format!("; what was in it is in {kept}")).unwrap_or_default();
        rows.push(("edited", format!("{file} was changed by something else{kept}")));
    }
    rows.extend(judged_with_lines(state).into_iter().map(|line| ("note", line)));
    rows.extend(kept_lines(state).into_iter().map(|line| ("kept", line)));
    rows.extend(worker_warnings(state).into_iter().map(|line| ("workers", line)));
    let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    for (label, value) in rows {
        writeln!(out, "{dim}{label:width$}{dim:#}  {value}")?;
    }
    writeln!(out)?;
    Ok(())
}
