//! `omo run restore`: writes kept work of a run, such as that of a failed step, into the work tree.

use clap::Args;
use omo_core::text::{list_some, pluralize, sanitize};
use omo_engine::report::taken_back::restore_command;
use omo_git::kept_work::KeptWork;
use omo_git::repository::GitRepository;
use omo_git::restore::{BroughtBack, kept_changes};
use omo_state::env::ProcessEnv;

use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::output::{print_block, print_warning};
use crate::run_arguments::RunOptions;

const NAMED_PATHS: usize = 8;

const HELP: &str = "\
Examples:
  omo run restore                     what is kept of the run
  omo run restore step-2-attempt-3    its files as they were kept

Before omo takes the changes of a failed step back, it keeps them, and so it
keeps changes of yours that a commit displaces. Files that were changed since
stay as they are and are named, and the exit status is 10; with --force they
are kept first, and then overwritten. The index and HEAD stay as they are.
Kept work stays until `omo run gc --discard-kept-work`.";

/// Bring back kept work of a run, such as that of a failed step
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct RestoreOptions {
    /// Id of kept work; without one, all that is kept is listed
    pub id: Option<String>,
    /// Overwrite files that were changed since, and keep those first
    #[arg(long, requires = "id")]
    pub force: bool,
    #[command(flatten)]
    pub run: RunOptions,
}

pub(crate) fn run(env: &ProcessEnv, options: &RestoreOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.find_run(options.run.run.as_deref(), EndedRuns::Included)?;
    let engine = context.engine(&run, &state)?;
    let kept = engine.kept_work(&state)?;
    let Some(id) = &options.id else {
        return print_list(&context, run.id(), &kept);
    };
    let Some(wanted) = kept
        .iter()
        .find(|kept| kept.name == *id || kept.reference == *id)
    else {
        let message = format!(
            "nothing is kept of run {} as {}",
            sanitize(run.id(), 80),
            sanitize(id, 80)
        );
        return Err(CommandError::not_found(
            message,
            "`omo run restore` lists what is",
        ));
    };
    print_outcome(id, &engine.bring_back(&state, wanted, options.force)?)
}

fn print_list(context: &CommandContext, run: &str, kept: &[KeptWork]) -> Result<(), CommandError> {
    let run = sanitize(run, 80);
    let Some(repository) = GitRepository::find(&context.root).filter(|_| !kept.is_empty()) else {
        return print_block(&format!("Nothing is kept of run {run}."));
    };
    let mut lines = vec![format!("Kept of run {run}:")];
    for kept in kept {
        let files = match kept_changes(&repository, kept) {
            Ok(changes) => {
                let named = list_some(
                    changes.iter().map(|change| change.path.as_str()),
                    NAMED_PATHS,
                );
                format!(
                    "{}: {}",
                    pluralize(changes.len(), "file"),
                    sanitize(&named, 400)
                )
            }
            Err(error) => sanitize(&error.to_string(), 300),
        };
        let standing = if kept.is_in_branch {
            "; your branch has it"
        } else {
            ""
        };
        lines.push(format!("  {}  {files}{standing}", sanitize(&kept.name, 80)));
    }
    let example = kept
        .first()
        .and_then(|kept| restore_command(&kept.reference));
    lines.extend(example.map(|command| format!("Bring it again: {command}")));
    print_block(&lines.join("\n"))
}

fn print_outcome(id: &str, end: &BroughtBack) -> Result<(), CommandError> {
    let mut lines = Vec::new();
    if !end.restored.is_empty() {
        lines.push(format!("restored: {}", name_paths(&end.restored)));
    }
    if !end.unchanged.is_empty() {
        lines.push(format!(
            "as they were kept already: {}",
            name_paths(&end.unchanged)
        ));
    }
    if let Some(command) = end
        .overwritten
        .as_ref()
        .and_then(|kept| restore_command(&kept.reference))
    {
        lines.push(format!("What was overwritten is kept: {command}"));
    }
    if !lines.is_empty() {
        print_block(&lines.join("\n"))?;
    }
    for (path, why) in &end.failed {
        print_warning(&format!(
            "{} could not be restored: {}",
            sanitize(path, 200),
            sanitize(why, 300)
        ));
    }
    if !end.differing.is_empty() {
        let message = format!(
            "left as they are, since they were changed meanwhile: {}",
            name_paths(&end.differing)
        );
        let hint = format!(
            "`omo run restore {} --force` keeps them first, and then overwrites them",
            sanitize(id, 80)
        );
        return Err(CommandError::conflict(message, hint));
    }
    if end.failed.is_empty() {
        Ok(())
    } else {
        Err(CommandError::already_printed(ExitKind::Io))
    }
}

fn name_paths(paths: &[String]) -> String {
    sanitize(
        &list_some(paths.iter().map(String::as_str), NAMED_PATHS),
        600,
    )
}
