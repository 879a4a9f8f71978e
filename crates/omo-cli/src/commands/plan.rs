//! `omo plan`: what a plan says, what is wrong with it, and which of its tasks are done together.
//!
//! It reads one file, or stdin, and changes nothing. Nothing of a plan is run here.

mod parse;
mod show;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use omo_engine::work::read_plan_bytes;
use omo_plan::diagnostic::{Code, has_errors};
use omo_plan::dialects::{self, BatchOptions};
use omo_plan::project_paths::name_files_from_top;
use omo_plan::{batches, model};
use omo_state::project_root;

use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::output::print_json;
use crate::plan_findings::{error_count_words, render_diagnostics};

const HELP: &str = "\
Examples:
  omo plan show docs/plan.md
  omo plan lint docs/plan.md
  omo plan batches docs/plan.md > batches.json

It reads one file and changes nothing; `-` in its place is stdin. It knows plans
of superpowers, dev-workflow, Spec Kit, OpenSpec, Kiro, Task Master and GSD, and
those with `### Step N:`. `omo run start FILE` runs a plan.";

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
You are asked behind the first batch, one with a hub, and one with a task that
has a line `<!-- checkpoint -->`. Where tasks need each other, or have the same
id, there are no batches; stderr says why, and the exit status is 4.";

/// Read a plan: show it, lint it, or print it for programs
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
}

#[derive(Debug, Args)]
pub(crate) struct FileOptions {
    /// The plan; `-` reads it from stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
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

/// What the batches of a plan are computed with.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct SizeOptions {
    /// So many direct dependents make a task a hub, behind whose batch you are asked
    #[arg(long, default_value_t = 3)]
    pub k: u32,
    /// Tasks in a batch
    #[arg(long, default_value_t = 5)]
    pub batch_size: u32,
}

/// What stands for stdin, as an argument and as the path of a plan that came from there.
const STDIN: &str = "-";

/// `omo plan …`.
pub(crate) fn run(action: PlanCommand) -> Result<(), CommandError> {
    match action {
        PlanCommand::Show(options) => {
            let (plan, _) = read_plan(&options.plan, options.sizes)?;
            show::show_plan(&plan, options.json)?;
            validity_status(plan.can_run())
        }
        PlanCommand::Lint(options) => lint(&options),
        PlanCommand::Parse(options) => {
            let (plan, _) = read_plan(&options.plan, options.sizes)?;
            let is_sound = plan.can_run();
            parse::print_plan(plan)?;
            validity_status(is_sound)
        }
        PlanCommand::Batches(options) => print_batches(&options),
    }
}

fn lint(options: &ReadOptions) -> Result<(), CommandError> {
    let (plan, bytes) = read_plan(&options.plan, options.sizes)?;
    if options.json {
        print_json(&crate::plan_findings::finding_rows(&bytes, &plan.diagnostics))?;
    } else {
        let mut out = anstream::stdout().lock();
        write!(out, "{}", render_diagnostics(&plan, &bytes))?;
        writeln!(out, "{}", crate::plan_findings::count_words(&plan.diagnostics))?;
    }
    validity_status(plan.can_run())
}

/// The batches, and on stderr what is wrong with the plan. Without an order in which the tasks can be run there
/// are no batches; where only a part of what the plan says could not be followed there are, with what was found
/// among them, and the status is that of a plan that is not valid all the same.
fn print_batches(options: &BatchesOptions) -> Result<(), CommandError> {
    let bytes = bytes(&options.plan)?;
    let size = |size: u32| usize::try_from(size).unwrap_or(usize::MAX);
    let found = batches::compute_batches(&bytes, size(options.sizes.k), size(options.sizes.batch_size));
    let has = |codes: &[Code]| found.diagnostics.iter().any(|one| codes.contains(&one.code));
    let has_order = !has(&[Code::DuplicateId, Code::Cycle, Code::NotUtf8, Code::TooLarge]);
    if has_order {
        print_json(&found)?;
    }
    if !has_errors(&found.diagnostics) {
        return Ok(());
    }
    let path = path(&options.plan);
    write!(anstream::stderr(), "{}", crate::plan_findings::render_findings(&path, &bytes, &found.diagnostics))?;
    // Batches are made in spite of the other errors: programs that call this rely on that.
    let is_followed = has_order && !has(&[Code::UnknownDependency, Code::UnclosedFence]);
    if is_followed {
        return Ok(());
    }
    let (errors, path) = (error_count_words(&found.diagnostics), omo_core::text::sanitize(&path, 200));
    let hint = "fix the plan; `omo plan lint` says all that it finds in it";
    let consequence = if has_order { "so its batches may not be what is meant" } else { "so there are no batches" };
    Err(CommandError::invalid_plan(format!("{path} has {errors}, {consequence}"), hint))
}

fn read_plan(given: &FileOptions, sizes: SizeOptions) -> Result<(model::Plan, Vec<u8>), CommandError> {
    let bytes = bytes(given)?;
    let options = BatchOptions::of(sizes.k, sizes.batch_size);
    let plan = dialects::read(&path(given), &bytes, options);
    let current = std::env::current_dir().ok();
    let Some(root) = current.and_then(|current| project_root::find_project(&current)) else { return Ok((plan, bytes)) };
    Ok((name_files_from_top(plan, &root.to_string_lossy()), bytes))
}

/// A plan's bytes: one more than a plan may have show that it is too large.
fn bytes(given: &FileOptions) -> Result<Vec<u8>, CommandError> {
    if given.file != Path::new(STDIN) {
        return Ok(read_plan_bytes(&given.file)?);
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(model::MAX_PLAN_BYTES + 1)
        .read_to_end(&mut bytes)
        .context("the plan on stdin cannot be read")?;
    Ok(bytes)
}

fn path(given: &FileOptions) -> String {
    given.file.to_string_lossy().into_owned()
}

/// The status that a plan gives once everything about it was said.
fn validity_status(is_sound: bool) -> Result<(), CommandError> {
    if is_sound { Ok(()) } else { Err(CommandError::already_printed(ExitKind::InvalidPlan)) }
}
