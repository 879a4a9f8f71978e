//! `omo report --html`: the page of a run, as one file.

use std::path::{Path, PathBuf};

use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;
use omo_state::env::ProcessEnv;

use crate::commands::report::ReportOptions;
use crate::commands::report::follow::{PageDisplay, note_interruption};
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::last_run::LastRun;
use crate::page_file::PageFile;
use crate::project::Project;
use crate::run_reader::RunReader;
use crate::run_reader::find_run::{RunChoice, find_run};

pub(super) fn write_page(
    env: &ProcessEnv,
    options: &ReportOptions,
    file: Option<&Path>,
) -> Result<(), CommandError> {
    // Set before anything starts that would handle the signal itself.
    let interrupted = options.follow.then(note_interruption);
    let (run, session) = (options.run.id(), options.session.as_deref());
    let choice = RunChoice {
        run,
        session,
        is_ultrawork: options.last,
        prefers_running: false,
    };
    let mut run = find_run_to_show(env, choice)?;
    let file = &PageFile {
        env,
        file,
        name: run.source.page_name(),
    };
    PageDisplay {
        file,
        opens: options.open,
        interrupted,
        written: None,
    }
    .write(&mut run)
}

/// Writes the page of a plan run among omo's own files; gives its path.
pub(crate) fn keep_plan_page(env: &ProcessEnv, id: &str) -> Result<PathBuf, CommandError> {
    keep_page(find_run_to_show(
        env,
        RunChoice {
            run: Some(id),
            ..RunChoice::default()
        },
    )?)
}

pub(crate) fn keep_ultrawork_page(
    env: &ProcessEnv,
    project: Project,
    ended_at: Timestamp,
) -> Result<PathBuf, CommandError> {
    let run = LastRun::find_to_show(env, &project)?;
    if run
        .session
        .verdict
        .as_ref()
        .is_none_or(|verdict| verdict.at != ended_at)
    {
        return Err(CommandError::not_found(
            "another run has begun since",
            "`omo report --html` writes its page",
        ));
    }
    keep_page(RunReader::of_ultrawork((run, project), env))
}

fn keep_page(mut run: RunReader<'_>) -> Result<PathBuf, CommandError> {
    run.refresh(false)?;
    run.keep_page()
}

fn find_run_to_show<'a>(
    env: &'a ProcessEnv,
    choice: RunChoice<'_>,
) -> Result<RunReader<'a>, CommandError> {
    find_run(env, choice).map_err(|error| match choice.run {
        // The id may be a session with an ultrawork run.
        Some(typed) if error.kind == ExitKind::NotFound => {
            let message = format!("no run of a plan in this repository is called `{}`", sanitize(typed, 60));
            let hint = "`omo run list` names them; an ultrawork run is named by its session: `--session ID`";
            CommandError::not_found(message, hint)
        }
        _ => error,
    })
}
