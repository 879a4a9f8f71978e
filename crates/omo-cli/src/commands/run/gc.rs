//! `omo run gc`: removes records of old runs, with their kept work.

use std::path::Path;

use clap::Args;
use omo_core::text::{pluralize, sanitize};
use omo_core::timestamp::Timestamp;
use omo_engine::event::CopiedFiles;
use omo_engine::state::RunState;
use omo_git::kept_work::{KeptWork, read_kept_work, release_kept_work};
use omo_git::repository::GitRepository;
use omo_state::env::ProcessEnv;

use crate::context::CommandContext;
use crate::error::CommandError;
use crate::output;
use crate::page_file::remove_pages;

const HELP: &str = "\
Examples:
  omo run gc --days 7
  omo run gc --discard-kept-work    also work that is in no branch of yours

A run that is open is never removed. With a run go its references below
refs/omo/keep. Where one holds work that is in no branch, the run stays, and
the command that makes a branch of it is printed. After a squash that was
edited since, omo cannot tell, and keeps it. The report pages of runs that go
go with them, and so does every page that is older than a month.";

/// Remove the records of runs that ended long ago
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct GcOptions {
    /// Keep those that were worked on within this many days
    #[arg(long, default_value_t = 30)]
    pub days: u32,
    /// Remove work of these runs that is in no branch, too
    #[arg(long)]
    pub discard_kept_work: bool,
}

pub(crate) fn run(env: &ProcessEnv, options: &GcOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let Some(runs) = &context.runs else {
        let pages = remove_pages(env, &[])?;
        return output::print_block(
            &pages_line(pages).unwrap_or_else(|| "There is nothing to remove.".to_owned()),
        );
    };
    let millis = i64::from(options.days).saturating_mul(24 * 3_600_000);
    let since = Timestamp::from_millis(env.now.as_millis().saturating_sub(millis));
    let mut staying = Vec::new();
    let mut to_release = Vec::new();
    let removed = runs.gc(since, |id, state| match kept_work(id, state) {
        _ if !options.discard_kept_work && state.open_findings().next().is_some() => {
            let count = pluralize(state.open_findings().count(), "deferred finding");
            staying.push(format!("{id} stays: {count} open, see `omo run later`."));
            false
        }
        _ if !options.discard_kept_work && copied_files(state).next().is_some() => {
            let lines: Vec<String> = copied_files(state)
                .map(|copied| format!("  {copied}"))
                .collect();
            staying.push(format!(
                "{id} stays: files of its workers are nowhere else.\n{}",
                lines.join("\n")
            ));
            false
        }
        Ok((repository, kept))
            if options.discard_kept_work || kept.iter().all(|kept| kept.is_in_branch) =>
        {
            to_release.extend(repository.map(|repository| (repository, kept)));
            true
        }
        Ok((_, kept)) => {
            let lines = kept
                .iter()
                .filter(|kept| !kept.is_in_branch)
                .map(recovery_line)
                .collect::<Vec<_>>();
            staying.push(format!(
                "{id} stays: its work is in no branch of yours.\n{}",
                lines.join("\n")
            ));
            false
        }
        Err(error) => {
            staying.push(format!("{id} stays: {}", sanitize(&error, 300)));
            false
        }
    })?;
    for (repository, kept) in &to_release {
        for kept in kept {
            if let Err(error) = release_kept_work(repository, kept) {
                output::print_warning(&format!(
                    "{} stays: {error}",
                    sanitize(&kept.reference, 200)
                ));
            }
        }
    }
    for id in &removed {
        let _ = omo_git::snapshots::forget_snapshots(&context.state_home, id);
    }
    let pages = remove_pages(env, &removed)?;
    let mut lines = if removed.is_empty() && staying.is_empty() {
        vec![format!("No run ended more than {} days ago.", options.days)]
    } else if removed.is_empty() {
        vec!["No run was removed.".to_owned()]
    } else {
        vec![format!("removed: {}", removed.join(", "))]
    };
    lines.extend(pages_line(pages));
    if !staying.is_empty() {
        lines.append(&mut staying);
        lines.push("Remove them with that work: omo run gc --discard-kept-work".to_owned());
    }
    output::print_block(&lines.join("\n"))
}

fn pages_line(count: usize) -> Option<String> {
    (count > 0).then(|| format!("removed: {}", pluralize(count, "report page")))
}

fn kept_work(id: &str, state: &RunState) -> Result<(Option<GitRepository>, Vec<KeptWork>), String> {
    let Some(repository) = GitRepository::find(Path::new(&state.root)) else {
        return Ok((None, Vec::new()));
    };
    let kept =
        read_kept_work(&repository, id, state.work_branch()).map_err(|error| error.to_string())?;
    Ok((Some(repository), kept))
}

fn copied_files(state: &RunState) -> impl Iterator<Item = &CopiedFiles> {
    let groups = state
        .parallel
        .iter()
        .flat_map(|parallel| parallel.groups.values());
    groups
        .filter_map(|group| group.copied.as_ref())
        .filter(|copied| Path::new(&copied.folder).is_dir())
}

fn recovery_line(kept: &KeptWork) -> String {
    format!(
        "  git branch rescued-{} {}",
        sanitize(&kept.name, 60),
        sanitize(&kept.reference, 200)
    )
}
