//! Look-ups before a run of a plan: the repository, the plan's files, the remote, and the launcher.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use omo_core::text::sanitize;
use omo_engine::client_policy::ClientPolicy;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::preflight::{
    PreflightFacts, PreflightFinding, PreflightHead, PreflightRule, check_outside, check_repository,
};
use omo_engine::state::RunPhase;
use omo_git::commit::has_identity;
use omo_git::commit_conditions::{CommitConditions, other_checkouts, read_commit_conditions};
use omo_git::git_settings::GitSettings;
use omo_git::integrate::{self, checkout_bytes, ignored_paths};
use omo_git::remote::worker_clone::without_credentials;
use omo_git::remote::{Remote, RemoteError};
use omo_git::repository::{GitFailed, GitRepository};
use omo_git::worktree::{WorkerName, blocking_branch, find_leftovers, prepare_worktree_folder};
use omo_plan::dialects::PlanKind;
use omo_plan::model::Plan;
use omo_plan::paths;
use omo_remote::profile::{LauncherProfile, find_profile};
use omo_remote::worker;
use omo_state::config;
use omo_state::config::launcher_toml::is_launcher_name;
use omo_state::files::regular_file::{self, Links};

use crate::context::CommandContext;
use crate::error::CommandError;
use crate::execute::approval;
use crate::execute::refusals::require_repository;
use crate::process_paths::own_program;
use crate::repository_sessions::real_path;

/// Findings before a run; without parallel workers only those about the user's own work tree.
pub(crate) fn preflight_findings(
    context: &CommandContext,
    plan: &Plan,
    mode: ExecutionMode,
    policy: &ClientPolicy,
) -> Result<Vec<PreflightFinding>, CommandError> {
    let commits = plan.tasks.iter().any(|task| task.commit.is_some());
    let needs_repository = match mode {
        ExecutionMode::Parallel | ExecutionMode::StepByStep => true,
        ExecutionMode::Batches | ExecutionMode::Waves => commits,
    };
    let repository = GitRepository::find(&context.root);
    let top = repository
        .as_ref()
        .map_or(&*context.root, GitRepository::top);
    let outside = check_outside(&paths_outside(&context.root, top, plan));
    let Some(repository) = repository.filter(|_| needs_repository) else {
        return Ok(outside.into_iter().collect());
    };
    let is_parallel = mode == ExecutionMode::Parallel;
    let facts = preflight_facts(context, plan, &repository, mode, policy)?;
    let mut found = check_repository(plan, &facts);
    found.retain(|finding| match finding.rule {
        PreflightRule::Operation => true,
        PreflightRule::Bare
        | PreflightRule::Identity
        | PreflightRule::Environment
        | PreflightRule::Ignored
        | PreflightRule::Signing
        | PreflightRule::SparseSet => commits || is_parallel,
        // The ledger holds the tasks of a task list, wherever its files lie.
        PreflightRule::PlanFile => is_parallel && plan.dialect.kind() != PlanKind::TaskList,
        _ => is_parallel,
    });
    found.extend(outside);
    Ok(found)
}

fn paths_outside(root: &Path, top: &Path, plan: &Plan) -> Vec<String> {
    let Ok(top) = top.canonicalize() else {
        return Vec::new();
    };
    let named: BTreeSet<&String> = plan
        .tasks
        .iter()
        .flat_map(|task| &task.files)
        .map(|file| &file.path)
        .collect();
    named
        .into_iter()
        .filter(|path| {
            let before_pattern = path.split(['*', '?']).next().unwrap_or_default();
            nearest_place(&root.join(before_pattern)).is_some_and(|place| !place.starts_with(&top))
        })
        .cloned()
        .collect()
}

/// Real place of a path: that of its nearest existing part, or of a dangling link's target.
fn nearest_place(path: &Path) -> Option<PathBuf> {
    path.ancestors()
        .find_map(|part| match (part.canonicalize(), part.read_link()) {
            (Ok(place), _) => Some(place),
            (Err(_), Ok(target)) => {
                let target = part.parent()?.join(target);
                target.ancestors().find_map(|part| part.canonicalize().ok())
            }
            (Err(_), Err(_)) => None,
        })
}

fn preflight_facts(
    context: &CommandContext,
    plan: &Plan,
    repository: &GitRepository,
    mode: ExecutionMode,
    policy: &ClientPolicy,
) -> Result<PreflightFacts, CommandError> {
    let refused = GitSettings::refused_variables(repository);
    if !refused.is_empty() {
        let message = format!(
            "git refuses the settings of your environment: {}",
            refused.join(", ")
        );
        return Err(CommandError::precondition(
            message,
            "correct them, or unset them, and run this again",
        ));
    }
    let seen = integrate::read_checkout_facts(repository).map_err(|error| git_failure(&error))?;
    let mut elsewhere = Vec::new();
    let (head, has_commit) = match seen.head {
        integrate::CheckoutHead::Branch { reference, .. } => {
            elsewhere =
                other_checkouts(repository, &reference).map_err(|error| git_failure(&error))?;
            (PreflightHead::Branch, true)
        }
        integrate::CheckoutHead::Detached { .. } => (PreflightHead::Detached, true),
        integrate::CheckoutHead::Unborn { .. } => (PreflightHead::Unborn, false),
    };
    let path = &plan.source.path;
    let files: BTreeSet<String> = plan
        .tasks
        .iter()
        .flat_map(|task| &task.files)
        .filter_map(|file| paths::normalize_path(&file.path))
        .collect();
    let files: Vec<String> = files.into_iter().collect();
    let commits = if has_commit {
        read_commit_conditions(repository, &files)
    } else {
        Ok(CommitConditions::default())
    };
    Ok(PreflightFacts {
        git: seen.git,
        leftovers: branches_of_ended_runs(context, repository)?,
        operation: seen.operation,
        has_identity: has_identity(repository),
        head: if seen.is_bare {
            PreflightHead::Bare
        } else {
            head
        },
        other_checkouts: elsewhere,
        branch_in_way: blocking_branch(repository).map_err(|error| git_failure(&error))?,
        dirty: seen.dirty,
        plan_file: (!Path::new(path).is_absolute()).then(|| path.clone()),
        submodules: seen.submodules,
        filtered: seen.filtered,
        ignored: ignored_paths(repository, &files).map_err(|error| git_failure(&error))?,
        commits: commits.map_err(|error| git_failure(&error))?,
        mode,
        has_launcher: policy.launcher.is_some(),
        has_setup: approval::setup_command(&context.root)?.is_some(),
        checkout_bytes: if has_commit {
            checkout_bytes(repository).map_err(|error| git_failure(&error))?
        } else {
            0
        },
        free_bytes: seen.free_bytes,
    })
}

fn branches_of_ended_runs(
    context: &CommandContext,
    repository: &GitRepository,
) -> Result<Vec<String>, CommandError> {
    let Some(runs) = &context.runs else {
        return Ok(Vec::new());
    };
    let mut names = Vec::new();
    for listed in runs.list()? {
        let is_dead = listed.state.as_ref().is_ok_and(|state| {
            state.mode == ExecutionMode::Parallel && state.phase != RunPhase::Executing
        });
        if is_dead {
            let leftovers = find_leftovers(repository, &listed.id);
            let leftovers = leftovers.map_err(|error| {
                CommandError::io(error.to_string(), "see what `git status` says there")
            })?;
            names.extend(leftovers.iter().map(WorkerName::branch));
        }
    }
    Ok(names)
}

fn git_failure(error: &GitFailed) -> CommandError {
    CommandError::io(
        error.to_string(),
        "run that yourself to see why; nothing was changed",
    )
}

/// Refuses a project that is a folder in its repository: parallel workers get the whole repository.
pub(crate) fn require_whole_repository(context: &CommandContext) -> Result<(), CommandError> {
    let work_tree = require_repository(&context.root)?;
    if real_path(&work_tree.top) == real_path(&context.root) {
        return Ok(());
    }
    let message = format!(
        "{} is a folder in a repository, and parallel workers get all of it",
        context.root.display()
    );
    Err(CommandError::precondition(
        message,
        format!("run it in {}, or with --fg", work_tree.top.display()),
    ))
}

pub(crate) fn require_worktree_folder(context: &CommandContext) -> Result<(), CommandError> {
    let Some(repository) = GitRepository::find(&context.root) else {
        return Ok(());
    };
    prepare_worktree_folder(&repository).map_err(|error| {
        let hint = "the worktrees go there: move away what is in its place, or check its rights; no run was opened";
        CommandError::io(error.to_string(), hint)
    })
}

const MAX_INPUT_BYTES: u64 = 256 * 1024;

pub(crate) fn require_remote(
    context: &CommandContext,
    policy: &ClientPolicy,
) -> Result<(), CommandError> {
    if policy.launcher.is_none() {
        return Ok(());
    }
    let Some(repository) = GitRepository::find(&context.root) else {
        return Ok(());
    };
    let address =
        Remote::find(&repository, policy.remote_name()).and_then(|remote| remote.address());
    let address = address.map_err(|error| unreachable_remote(&error))?;
    let Some(profile) = &policy.profile else {
        return Ok(());
    };
    let address = profile.remote.as_ref().unwrap_or(&address);
    match worker::remote_problem(address) {
        None => Ok(()),
        Some(problem) => Err(CommandError::precondition(
            format!(
                "a worker cannot reach `{}`: {problem}",
                sanitize(&without_credentials(address), 100)
            ),
            format!(
                "set `remote` of [launcher.{}] in your config.toml",
                profile.name
            ),
        )),
    }
}

fn unreachable_remote(error: &RemoteError) -> CommandError {
    let hint = match error {
        RemoteError::Unknown { .. } => "name one that `git remote` lists with --launcher-remote",
        RemoteError::ProgramSetting { .. } => {
            "have it in your own settings instead: `git config --global`"
        }
        RemoteError::Failed { .. } | RemoteError::TimedOut { .. } | RemoteError::Git(_) => {
            "run that yourself to see why; nothing was changed"
        }
    };
    CommandError::precondition(error.to_string(), hint)
}

/// Profile of the policy's launcher; `None` without a launcher, or where it is a command.
pub(crate) fn launcher_profile(
    context: &CommandContext,
    policy: &ClientPolicy,
) -> Result<Option<LauncherProfile>, CommandError> {
    let Some(name) = policy
        .launcher
        .as_deref()
        .filter(|name| is_launcher_name(name))
    else {
        return Ok(None);
    };
    let config = config::load(context.env.config_file.as_deref());
    let folder = context
        .env
        .config_file
        .as_deref()
        .and_then(Path::parent)
        .unwrap_or(Path::new("/"));
    let program = own_program()?;
    find_profile(
        name,
        &config.launchers,
        &program.to_string_lossy(),
        |file| match regular_file::read(&folder.join(file), MAX_INPUT_BYTES, Links::Followed) {
            Ok(Some(bytes)) => String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned()),
            Ok(None) => Err("there is no such file".to_owned()),
            Err(why) => Err(why),
        },
    )
    .map(Some)
    .map_err(|error| CommandError::usage(format!("--launcher: {error}"), error.hint))
}

pub(crate) fn existing_files(context: &CommandContext, plan: &Plan) -> BTreeSet<String> {
    let files = plan
        .tasks
        .iter()
        .flat_map(|task| &task.files)
        .map(|file| &file.path);
    files
        .filter(|path| context.root.join(path).symlink_metadata().is_ok())
        .cloned()
        .collect()
}
