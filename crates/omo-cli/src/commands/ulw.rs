//! `omo ulw on`: turns ultrawork on in a session, from a terminal.

use std::io::Write;

use clap::{Args, Subcommand};
use omo_checks::activation::ActivationContext;
use omo_checks::{baseline, starting_checks};
use omo_claude::settings::ReviewerSettings;
use omo_core::log_entry;
use omo_core::messages::checks::checks_not_approved;
use omo_core::messages::run_start::RunStart;
use omo_core::session::id::SessionId;
use omo_core::session::{UlwActivation, UlwTrigger};
use omo_git::git_command::GitCalls;
use omo_git::{recorded, work_files};
use omo_state::config::{ReviewSetting, UserConfig};
use omo_state::env::{self as process_env, ProcessEnv};
use omo_state::files::folder::GuardedFolder;
use omo_state::seal;
use omo_state::state::{self, EntryChange, StateError};

use crate::config_problems::require_valid_config;
use crate::error::CommandError;
use crate::project::{Project, list_ids, log_decision};
use crate::repository_sessions::find_project;

const HELP: &str = "\
Example:
  omo ulw on               hold the session from its next stop on

In the session you type `ulw <task>` instead; from here it has no task.";

const ON_HELP: &str = "\
Example:
  omo ulw on

It is for a session that runs already. `omo stop` takes it back.";

/// Turn ultrawork on in a session
#[derive(Debug, Subcommand)]
#[command(after_help = HELP)]
pub(crate) enum UlwCommand {
    /// Turn ultrawork on: the session is held from its next stop on
    #[command(after_help = ON_HELP)]
    On(OnOptions),
}

#[derive(Debug, Args)]
pub(crate) struct OnOptions {
    /// The session, if not this shell's own or the only one
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

pub(crate) fn run(
    env: &ProcessEnv,
    config: &UserConfig,
    command: UlwCommand,
) -> Result<(), CommandError> {
    let UlwCommand::On(options) = command;
    require_valid_config(config)?;
    on(env, config, &options)
}

fn on(env: &ProcessEnv, config: &UserConfig, options: &OnOptions) -> Result<(), CommandError> {
    if env.in_session {
        return Err(CommandError::needs_person(
            "a model starts no run of its own, and takes none up again that its user paused",
            "type `ulw` in the session, or use a terminal of your own",
        ));
    }
    let project = find_project(env, options.session.as_deref())?;
    let id = target(&project, env)?;
    let folder = GuardedFolder::create_state(&project.root)?;
    let start = starting_checks::gather_checks(
        config.checks_for(&project.root),
        &project.root,
        env.state_home.as_deref(),
    );
    let scope = work_files::settle_scope(
        &project.root,
        env.state_home.as_deref(),
        &GitCalls::default(),
    );
    let mut has_begun = false;
    let (begun, lock) = state::update(&folder, &id, Project::state_update(env), |session| {
        if let Err(error) = seal::forget_foreign(env.state_home.as_deref(), &id, session, env.now) {
            return (Err(StateError::from(error)), EntryChange::Keep);
        }
        if session.resume(env.now) {
            return (
                Ok(("ultrawork goes on where it was paused", session.clone())),
                EntryChange::Write,
            );
        }
        if session.is_armed() {
            // A new start would forget earlier findings.
            return (
                Ok(("ultrawork is on already", session.clone())),
                EntryChange::Keep,
            );
        }
        // A continued task keeps its bounds.
        let goes_on = session.continues_task();
        let task = if goes_on {
            None
        } else {
            session.ulw.full_task().map(str::to_owned)
        };
        let (limits, review) = (session.limits, session.verification.review_wanted);
        let prove = session.verification.prove;
        let activation = UlwActivation {
            trigger: UlwTrigger::Cli,
            task,
            prompt_id: None,
            limits: if goes_on { limits } else { config.limits },
            checks: start.checks.clone(),
            review_wanted: if goes_on {
                review
            } else {
                config.review == ReviewSetting::Wanted
            },
            prove: if goes_on { prove } else { config.prove },
            base: start.base.clone(),
            begins_anew: false,
        };
        let (root, state_home) = (Some(&*project.root), env.state_home.as_deref());
        let approval = start.approval;
        // Without a kept environment no check runs, and the verdict says so.
        let settings = ReviewerSettings::read(process_env::client_home().as_deref(), root).marks;
        let (run_start, _) = ActivationContext {
            root,
            state_home,
            id: &id,
            scope,
            settings,
            approval,
            now: env.now,
        }
        .activate(session, activation);
        has_begun = run_start == RunStart::Begun;
        (
            Ok(("ultrawork is on from the next stop", session.clone())),
            EntryChange::Begin,
        )
    })?;
    let (outcome, session) = begun?;
    let entry = log_entry::new_entry(
        id.as_str(),
        &session,
        "cli",
        "activate".to_owned(),
        "turned on by you",
        env.now,
    );
    log_decision(&folder, &entry);
    if has_begun && let Some(home) = env.state_home.as_deref() {
        drop(lock);
        // Failures are ignored: the reviewer learns of unrecorded files, the verdict of uncounted checks.
        if recorded::record_files(&project.root, home, &id, env.now).is_ok() {
            let _ = baseline::start_counting(&project.root, home, &id, &session.checks, None);
        }
    }
    writeln!(
        anstream::stdout(),
        "{id}  {outcome}; `omo stop --session {id}` ends it"
    )?;
    if let Some(repository) = start.not_approved {
        writeln!(
            anstream::stderr(),
            "{}",
            checks_not_approved(&repository.checks, start.changed.as_deref())
        )?;
    }
    Ok(())
}

fn target(project: &Project, env: &ProcessEnv) -> Result<SessionId, CommandError> {
    if let Some(id) = project.named_or_own_session(env)? {
        return Ok(id);
    }
    let sessions = project.sessions()?;
    let ids: Vec<&SessionId> = sessions.iter().map(|(id, _)| id).collect();
    match &*ids {
        [only] => Ok((*only).clone()),
        [] => Err(CommandError::not_found(
            "no session of this project is known",
            "type `ulw` in the session, or name it: `omo ulw on --session ID` (the session's first message shows CLAUDE_SESSION_ID)",
        )),
        several => Err(CommandError::usage(
            format!("{} sessions of this project are known", several.len()),
            format!("name one:\n{}", list_ids(several)),
        )),
    }
}
