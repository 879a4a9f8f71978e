//! `omo report --all --html`: one page of all runs of a project.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use omo_core::money::format_dollars;
use omo_core::text::{pluralize, sanitize};
use omo_engine::view::{RunFacts, run_view};
use omo_engine::{RunStore, RunStoreError};
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_view::page::project_model::{ProjectPage, ProjectRun, RunDetails};

use crate::commands::report::ReportOptions;
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::kept_texts::KeptTexts;
use crate::last_run::LastRun;
use crate::local_time::LocalClock;
use crate::page_file::{
    PageFile, announce_page, plan_page_name, project_page_name, ultrawork_page_name,
};
use crate::project::Project;
use crate::repository_sessions::folders_of_repository;
use crate::run_reader::counterfactual_of;
use crate::run_reader::find_run::no_run_known;
use crate::ultrawork_view::{UltraworkFacts, ultrawork_view};

/// Maximum plan runs whose events are read: a ledger may have megabytes.
const MAX_PLAN_RUNS: usize = 100;

pub(super) fn write_page(
    env: &ProcessEnv,
    options: &ReportOptions,
    file: Option<&Path>,
) -> Result<(), CommandError> {
    let (context, project) = (CommandContext::find(env)?, Project::find(env)?);
    let file = PageFile {
        env,
        file,
        name: project_page_name(&project.root),
    };
    let clock = LocalClock::from_process(env.now);
    let ids = context
        .runs
        .as_ref()
        .map(RunStore::ids)
        .transpose()?
        .unwrap_or_default();
    let (mut runs, mut problems) = (Vec::new(), Vec::new());
    for (store, id) in context
        .runs
        .iter()
        .flat_map(|store| ids.iter().take(MAX_PLAN_RUNS).map(move |id| (store, id)))
    {
        match plan_summary(store, id, &file, &clock) {
            Ok(summary) => runs.push(summary),
            Err(error) => problems.push(format!("run {}: {error}", sanitize(id, 60))),
        }
    }
    let mut seen = BTreeSet::new();
    for root in folders_of_repository(env)? {
        let found = Project::open(root.clone(), None).and_then(|project| {
            LastRun::find_all(env, &project).map(|found| (found, project.folder))
        });
        let here = root == project.root;
        match found {
            // A session resumed elsewhere has its run in both folders.
            Ok((found, folder)) => runs.extend(
                found
                    .iter()
                    .filter(|run| seen.insert(ultrawork_page_name(run)))
                    .map(|run| {
                        ultrawork_summary(
                            run,
                            folder.as_ref(),
                            &file,
                            &clock,
                            (!here).then_some(&root),
                        )
                    }),
            ),
            Err(error) if here => return Err(error),
            Err(error) => problems.push(format!(
                "{}: {}",
                sanitize(&root.display().to_string(), 300),
                error.message()
            )),
        }
    }
    if runs.is_empty() && problems.is_empty() {
        return Err(no_run_known());
    }
    let root = project.root.display();
    let name = project
        .root
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let page = ProjectPage {
        title: name.unwrap_or_else(|| root.to_string()),
        scope: format!("The runs of {root} and of the other folders of its repository"),
        as_of: clock.date_and_time(env.now),
        now: env.now,
        runs,
        unread: ids.len().saturating_sub(MAX_PLAN_RUNS),
        problems,
    };
    announce_page(env, &file.write_project(&page)?, options.open)
}

fn plan_summary(
    store: &RunStore,
    id: &str,
    file: &PageFile<'_>,
    clock: &LocalClock,
) -> Result<ProjectRun, RunStoreError> {
    let run = store.get(id)?;
    let (state, events) = (run.state()?, run.events()?);
    let view = run_view(&RunFacts {
        events: &events,
        now: file.env.now,
        ..RunFacts::of_state(id, &state)
    });
    let attempts: usize = view.tasks.iter().map(|task| task.history.len()).sum();
    let details = RunDetails {
        began: clock.date_and_time(state.opened_at),
        mode: state.mode.words().to_owned(),
        effort: pluralize(attempts, "attempt"),
        cost: view.cost_micros.map(format_dollars).unwrap_or_default(),
        page_file: file.find_other_page(&plan_page_name(id)),
    };
    Ok(ProjectRun::new(&view, details))
}

fn ultrawork_summary(
    run: &LastRun,
    folder: Option<&GuardedFolder>,
    file: &PageFile<'_>,
    clock: &LocalClock,
    elsewhere: Option<&PathBuf>,
) -> ProjectRun {
    let (session, env) = (&run.session, file.env);
    let began = session
        .ulw
        .started_at
        .map(|at| clock.date_and_time(at))
        .unwrap_or_default();
    let view = ultrawork_view(&UltraworkFacts {
        id: run.id.as_str(),
        session,
        // The timeline is not shown, so no log is needed.
        kept: &KeptTexts::read(
            env.state_home.as_deref(),
            folder,
            &run.id,
            session,
            Vec::new(),
        ),
        difference: None,
        counterfactual: counterfactual_of(env, &run.id, session),
        client_block_cap: env.client_block_cap,
        running_check: None,
        is_client_gone: false,
        clock: &|at| clock.date_and_time(at),
        now: env.now,
    });
    let details = RunDetails {
        began,
        mode: elsewhere
            .map(|folder| format!("in {}", folder.display()))
            .unwrap_or_default(),
        effort: pluralize(
            usize::try_from(session.ulw.stop_blocks).unwrap_or_default(),
            "continuation",
        ),
        cost: String::new(),
        page_file: file.find_other_page(&ultrawork_page_name(run)),
    };
    ProjectRun::new(&view, details)
}
