//! `omo plan`: the content of a plan, its problems, and its batches. Nothing is changed or run.

mod batches;
pub(crate) mod list;
mod parse;
mod show;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use omo_engine::work::PlanFile;
use omo_plan::dialects::{BatchOptions, PlanReading};
use omo_plan::model::{Dialect, MAX_PLAN_BYTES, Plan};
use omo_plan::project_paths::name_from_top;
use omo_plan::proof::find_proofs;
use omo_state::project_root;

use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::output::print_json;
use crate::plan_dialect::parse_dialect;
use crate::plan_findings::render_diagnostics;

const HELP: &str = "\
Examples:
  omo plan list
  omo plan show docs/plan.md
  omo plan lint specs/001-login

It changes nothing; `-` in the place of a file is stdin. It knows plans of
superpowers, dev-workflow, Spec Kit, OpenSpec, Kiro, Task Master, GSD, BMAD,
oh-my-opencode, Conductor, Agent OS, Backlog.md and ralph, and those with
`### Step N:`. `omo run start FILE` runs a plan.";

const SHOW_HELP: &str = "\
Example:
  omo plan show docs/plan.md

It ends with every command that a run of the plan executes, and the digest that
stands for exactly these in this project: what you approve is what you see.";

const LINT_HELP: &str = "\
Examples:
  omo plan lint docs/plan.md
  omo plan lint --json docs/plan.md   a list with one object for each finding

The exit status is 4 when something is an error: nothing of such a plan is run.
With warnings and notes alone it is 0.";

const PARSE_HELP: &str = "\
Example:
  omo plan parse docs/plan.md

The JSON is printed, with what was found, also when the plan is not valid; the
exit status is 4 then.";

const BATCHES_HELP: &str = "\
Example:
  omo plan batches docs/plan.md --k 3 --batch-size 5

A pair `N-tests` and `N-impl` stays together, and what is needed comes first.
You are asked after the first batch, one with a hub, and one with a task that
has a line `<!-- checkpoint -->`. Where tasks need each other, or have the same
id, there are no batches; stderr says why, and the exit status is 4.";

/// Find plans, and read one: show it, lint it, or print it
#[derive(Debug, Subcommand)]
#[command(after_help = HELP)]
pub(crate) enum PlanCommand {
    /// Show a plan: its tasks, its batches, and what it would run
    #[command(after_help = SHOW_HELP)]
    Show(ReadOptions),
    /// Say what is wrong with a plan, and where
    #[command(after_help = LINT_HELP)]
    Lint(ReadOptions),
    /// Print a plan as omo reads it, as JSON
    #[command(after_help = PARSE_HELP)]
    Parse(ParseOptions),
    /// Print the batches and hard stops of a plan, as JSON
    #[command(after_help = BATCHES_HELP)]
    Batches(BatchesOptions),
    List(list::PlanListOptions),
}

#[derive(Debug, Args)]
pub(crate) struct FileOptions {
    /// The plan, or the folder of one; `-` reads it from stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Its format, if not the one that it looks like
    #[arg(long, value_name = "NAME", value_parser = parse_dialect)]
    pub dialect: Option<Dialect>,
}

#[derive(Debug, Args)]
pub(crate) struct ReadOptions {
    #[command(flatten)]
    pub plan: FileOptions,
    #[command(flatten)]
    pub sizes: SizeOptions,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ParseOptions {
    #[command(flatten)]
    pub plan: FileOptions,
    #[command(flatten)]
    pub sizes: SizeOptions,
    /// It prints JSON anyway; here for the sake of the others
    #[arg(long, hide = true)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BatchesOptions {
    #[command(flatten)]
    pub plan: FileOptions,
    #[command(flatten)]
    pub sizes: SizeOptions,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct SizeOptions {
    /// Ask after a task that this many others need
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub k: u32,
    /// Tasks in a batch
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub batch_size: u32,
}

const STDIN: &str = "-";

pub(crate) fn run(action: PlanCommand) -> Result<(), CommandError> {
    match action {
        PlanCommand::Show(options) => {
            let (plan, _) = read_plan(&options.plan, options.sizes)?;
            let plan = find_proofs(plan, &[]);
            show::show_plan(&plan, options.json)?;
            validity_status(plan.can_run())
        }
        PlanCommand::Lint(options) => lint(&options),
        PlanCommand::Parse(options) => {
            let (mut plan, _) = read_plan(&options.plan, options.sizes)?;
            let is_sound = plan.can_run();
            plan.refused_checks = find_proofs(plan.clone(), &[]).refused_checks;
            parse::print_plan(plan)?;
            validity_status(is_sound)
        }
        PlanCommand::Batches(options) => batches::print_batches(&options),
        PlanCommand::List(options) => list::run(&options),
    }
}

fn lint(options: &ReadOptions) -> Result<(), CommandError> {
    let (plan, file) = read_plan(&options.plan, options.sizes)?;
    if options.json {
        print_json(&crate::plan_findings::finding_rows(
            &file.bytes,
            &plan.diagnostics,
        ))?;
    } else {
        let mut out = anstream::stdout().lock();
        write!(out, "{}", render_diagnostics(&plan, &file))?;
        writeln!(
            out,
            "{}",
            crate::plan_findings::count_words(&plan.diagnostics)
        )?;
    }
    validity_status(plan.can_run())
}

fn read_plan(given: &FileOptions, sizes: SizeOptions) -> Result<(Plan, PlanFile), CommandError> {
    let file = read_file(given)?;
    let plan = file.plan(reading(given, sizes));
    let current = std::env::current_dir().ok();
    let Some(root) = current.and_then(|current| project_root::find_project(&current)) else {
        return Ok((plan, file));
    };
    Ok((name_from_top(plan, &root.to_string_lossy()), file))
}

fn reading(given: &FileOptions, sizes: SizeOptions) -> PlanReading {
    PlanReading {
        batches: BatchOptions::of(sizes.k, sizes.batch_size),
        dialect: given.dialect,
    }
}

/// A file, a folder or stdin; one byte over the limit shows that a plan is too large.
fn read_file(given: &FileOptions) -> Result<PlanFile, CommandError> {
    let path = given.file.to_string_lossy().into_owned();
    if given.file != Path::new(STDIN) {
        return Ok(PlanFile::load(&given.file, path)?);
    }
    let mut bytes = Vec::new();
    let stdin = std::io::stdin().lock();
    stdin
        .take(MAX_PLAN_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| {
            CommandError::io(
                format!("the plan on stdin cannot be read: {error}"),
                "name the file of the plan in place of `-`",
            )
        })?;
    Ok(PlanFile::from_bytes(path, bytes))
}

fn validity_status(is_sound: bool) -> Result<(), CommandError> {
    if is_sound {
        Ok(())
    } else {
        Err(CommandError::already_printed(ExitKind::InvalidPlan))
    }
}
