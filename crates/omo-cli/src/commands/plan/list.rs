//! `omo plan list`: the plans of this project, with progress and last run.

mod find;

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use clap::Args;
use omo_core::text::sanitize;
use omo_engine::RunStore;
use omo_engine::report::heading::run_heading;
use omo_engine::state::RunState;
use omo_engine::work::PlanFile;
use omo_plan::diagnostic::Code;
use omo_plan::dialects::BatchOptions;
use omo_plan::model::{Dialect, PlannedState};
use omo_state::env::ProcessEnv;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::blocks::parts::{is_complete, status_word};
use crate::error::CommandError;
use crate::output::print_json;
use crate::output::table::{self, Cell};
use crate::project::Project;

const HELP: &str = "\
Example:
  omo plan list

It looks where the formats have their plans, such as `specs/*/tasks.md`, also in
the packages of a project, and at the Markdown below docs/. Archived changes of
OpenSpec are left out. The plans of a folder of GSD are one plan.
`omo plan show PATH` shows one.";

const SCREEN: usize = 80;
const GAPS: usize = 6;
const MAX_BYTES: u64 = 4 * 1024 * 1024;
const MAX_PLANS: usize = 500;
const NOT_VALID: &str = "not valid";

/// List the plans of this project, with how far each is
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct PlanListOptions {
    /// Print JSON: a list with one object for each plan
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Serialize)]
struct PlanLine {
    path: String,
    dialect: &'static str,
    done: usize,
    total: usize,
    valid: bool,
    run: Option<String>,
    state: Option<&'static str>,
    #[serde(skip)]
    style: Style,
}

impl PlanLine {
    fn progress(&self) -> String {
        format!("{}/{}", self.done, self.total)
    }
}

pub(super) fn run(options: &PlanListOptions) -> Result<(), CommandError> {
    let env = ProcessEnv::from_process();
    let root = Project::find_root(&env)?;
    let found = find::find_plans(&root);
    let runs = last_runs(&env, &root)?;
    let lines = found
        .paths
        .iter()
        .filter_map(|path| plan_line(&root, path, &runs))
        .take(MAX_PLANS);
    let lines: Vec<PlanLine> = lines.collect();
    let too_many =
        (lines.len() == MAX_PLANS).then(|| format!("no more than {MAX_PLANS} plans are listed"));
    let omissions: Vec<String> = found.omissions.into_iter().chain(too_many).collect();
    if !omissions.is_empty() {
        let why = omissions.join("; ");
        crate::output::print_warning(&format!(
            "{why}: plans may be missing here, and `omo plan show FILE` reads each"
        ));
    }
    if options.json {
        return print_json(&lines);
    }
    if lines.is_empty() {
        return say_nothing_found(&root);
    }
    write_lines(&lines)?;
    if std::env::current_dir().is_ok_and(|current| current != root) {
        writeln!(
            anstream::stdout(),
            "\nThe paths are from {}",
            sanitize(&root.to_string_lossy(), 300)
        )?;
    }
    Ok(())
}

fn say_nothing_found(root: &Path) -> Result<(), CommandError> {
    let mut out = anstream::stdout().lock();
    writeln!(
        out,
        "No plan was found in {}. omo looked at:\n",
        sanitize(&root.to_string_lossy(), 300)
    )?;
    for place in find::searched_places() {
        writeln!(out, "  {place}")?;
    }
    writeln!(
        out,
        "\n`omo plan show FILE` shows a plan elsewhere. `/omo:ulw-plan GOAL` makes one, and"
    )?;
    writeln!(
        out,
        "`/omo:ulw-plan --from FILE` makes one of a file in no known format."
    )?;
    Ok(())
}

fn write_lines(lines: &[PlanLine]) -> std::io::Result<()> {
    let others = widest(lines.iter().map(|line| line.dialect.len()), "format")
        + widest(lines.iter().map(|line| line.progress().len()), "done")
        + widest(
            lines
                .iter()
                .map(|line| line.state.unwrap_or(NOT_VALID).len()),
            "run",
        );
    let rows = lines.iter().map(|line| {
        [
            Cell::plain(end_of_path(
                &sanitize(&line.path, 400),
                SCREEN.saturating_sub(others + GAPS),
            )),
            Cell::plain(line.dialect),
            Cell::plain(line.progress()),
            match line.state {
                Some(state) => Cell::new(state, line.style),
                None if line.valid => Cell::plain("-"),
                None => Cell::new(NOT_VALID, AnsiColor::Red.on_default()),
            },
        ]
    });
    let mut out = anstream::stdout().lock();
    table::write_table(&mut out, ["plan", "format", "done", "run"], rows.collect())
}

fn widest(widths: impl Iterator<Item = usize>, head: &str) -> usize {
    widths.max().unwrap_or(0).max(head.len())
}

/// The end of a path, at most `columns` wide, which tells it from others.
fn end_of_path(path: &str, columns: usize) -> String {
    if path.width() <= columns {
        return path.to_owned();
    }
    let mut start = path.len();
    for (at, _) in path.char_indices().rev() {
        if path.get(at..).is_none_or(|end| end.width() >= columns) {
            break;
        }
        start = at;
    }
    format!("…{}", path.get(start..).unwrap_or_default())
}

fn last_runs(
    env: &ProcessEnv,
    root: &Path,
) -> Result<HashMap<String, (String, RunState)>, CommandError> {
    let state_home: Option<&PathBuf> = env.state_home.as_ref();
    let listed = RunStore::find(root, state_home.map(PathBuf::as_path))?
        .map(|runs| runs.list())
        .transpose()?;
    let mut last = HashMap::new();
    for listed in listed.unwrap_or_default() {
        let Ok(state) = listed.state else { continue };
        if Path::new(&state.root) == root && !state.is_task_list() {
            last.entry(state.plan.source.path.clone())
                .or_insert((listed.id, state));
        }
    }
    Ok(last)
}

/// Paths of valid plans with open tasks, named by the refusal of a missing plan file.
pub(crate) fn ready_plans(env: &ProcessEnv, root: &Path) -> Result<Vec<String>, CommandError> {
    let runs = last_runs(env, root)?;
    let lines = find::find_plans(root)
        .paths
        .into_iter()
        .filter_map(|path| plan_line(root, &path, &runs));
    let ready = lines.filter(|line| {
        let run = runs.get(&line.path);
        let is_complete = run.is_some_and(|(_, state)| is_complete(state));
        line.valid && line.done < line.total && !is_complete
    });
    Ok(ready.map(|line| line.path).collect())
}

fn plan_line(
    root: &Path,
    path: &str,
    runs: &HashMap<String, (String, RunState)>,
) -> Option<PlanLine> {
    let at = root.join(path);
    if at.symlink_metadata().ok()?.len() > MAX_BYTES {
        return None;
    }
    let of_place = Dialect::of_place(path);
    let run = runs.get(path);
    let file = PlanFile::load(&at, path.to_owned()).ok()?;
    let plan = match run {
        Some((_, state)) => file.plan(&state.plan),
        None => file.plan(BatchOptions::default()),
    };
    let is_unknown = plan
        .diagnostics
        .iter()
        .any(|found| found.code == Code::UnrecognizedFormat)
        || plan.tasks.is_empty();
    if is_unknown && of_place.is_none() && run.is_none() {
        return None;
    }
    let dialect = if is_unknown {
        of_place.unwrap_or(plan.dialect)
    } else {
        plan.dialect
    };
    Some(PlanLine {
        path: path.to_owned(),
        dialect: dialect.word(),
        done: plan
            .tasks
            .iter()
            .filter(|task| task.state == PlannedState::Done)
            .count(),
        total: plan.tasks.len(),
        valid: plan.can_run(),
        run: run.map(|(id, _)| id.clone()),
        state: run.map(|(_, state)| status_word(state)),
        style: run.map_or_else(Style::new, |(_, state)| run_heading(state).kind.style()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_path_the_end_is_shown() {
        for (path, columns, expected) in [
            ("docs/plan.md", 12, "docs/plan.md"),
            ("docs/plan.md", 11, "…cs/plan.md"),
            ("specs/한국어/tasks.md", 14, "…국어/tasks.md"),
            ("abc", 1, "…"),
            ("abc", 0, "…"),
        ] {
            assert_eq!(end_of_path(path, columns), expected, "{path}");
        }
    }
}
