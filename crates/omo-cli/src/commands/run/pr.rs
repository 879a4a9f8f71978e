//! `omo run pr`: a pull request with the work of an ended run, and its report as the text.

mod service;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use clap::Args;
use omo_core::text::command_text::quote_argument;
use omo_core::text::{list_some, sanitize};
use omo_engine::Run;
use omo_engine::event::{EventKind, PullRequestAttempt};
use omo_engine::report::heading::run_heading;
use omo_engine::state::{RunState, TaskStatus};
use omo_engine::work::read_checkout;
use omo_git::integrate::{CheckoutHead, checkout_head};
use omo_git::remote::{Remote, RemoteError};
use omo_git::repository::GitRepository;
use omo_plan::model::PullRequestOrder;
use omo_state::env::{self, ProcessEnv};
use omo_view::text::report_text;

use crate::blocks::parts;
use crate::commands::run::pr::service::{PullRequest, Service};
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::output::print_warning;
use crate::plan_run_view::plan_run_text;
use crate::run_arguments::NamedRun;

const HELP: &str = "\
Example:
  omo run pr

The branch of the run has to be checked out, with the commits of the run. Its
last commit goes to the branch `omo/RUN` of the remote; no branch of yours is
moved or pushed. `gh` or `glab` opens the request, with the
report of the run as its text.";

const MAX_NAMED: usize = 8;
/// Maximum characters of the text; services take no longer one.
const MAX_BODY_CHARS: usize = 60_000;
const MAX_TITLE_CHARS: usize = 120;

/// Open a pull request with the work and the report of a run
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct PrOptions {
    #[command(flatten)]
    pub run: NamedRun,
    /// The remote that the branch goes to
    #[arg(long, value_name = "NAME", default_value = "origin")]
    pub remote: String,
}

pub(crate) fn run(env: &ProcessEnv, options: &PrOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    if !context.is_person() {
        let hint = "run `omo run pr` in a terminal of your own";
        return Err(CommandError::needs_person(
            "only a person publishes the work of a run",
            hint,
        ));
    }
    let (run, state) = context.find_run(options.run.id(), EndedRuns::Included)?;
    let opened = open_request(&context, &run, &state, &options.remote, None)?;
    let PullRequestOpened {
        address,
        branch,
        uncommitted_note,
    } = opened;
    let remote = &options.remote;
    Ok(writeln!(
        anstream::stdout(),
        "{address}\nIts branch is {branch} at {remote}; none of yours was moved.{uncommitted_note}"
    )?)
}

/// Remote, address and program of a pull request that is opened at the end of a run.
pub(crate) fn order(
    context: &CommandContext,
    remote: &str,
) -> Result<PullRequestOrder, CommandError> {
    let repository = GitRepository::find(&context.root).ok_or_else(|| {
        let message = "a pull request needs a git repository, and there is none here";
        CommandError::precondition(message, "`git init` makes one, or leave --pr out")
    })?;
    let found = Remote::find(&repository, remote).map_err(|error| {
        let failure = remote_error(&error);
        match error {
            RemoteError::Unknown { .. } => CommandError::precondition(
                failure.message(),
                "name one that `git remote` lists, as in --pr=upstream, or leave --pr out",
            ),
            _ => failure,
        }
    })?;
    let address = found.address().map_err(|error| remote_error(&error))?;
    let program = Service::find(&address, &context.root)?.program_name();
    Ok(PullRequestOrder {
        program: program.to_owned(),
        remote: remote.to_owned(),
        address,
    })
}

/// Opens the ordered pull request of a complete run, once. A failure is recorded, and changes nothing else of the run.
pub(crate) fn open_ordered(context: &CommandContext, run: &Run, state: RunState) -> RunState {
    let is_due = |state: &RunState| {
        state.plan.policy.pull_request.is_some()
            && state.pull_request.is_none()
            && parts::ends_well(state)
    };
    let Some(order) = state.plan.policy.pull_request.clone() else {
        return state;
    };
    let record = |attempt: PullRequestAttempt, only_if_due: bool| {
        run.transact(&context.actor(), env::now(), |state| {
            let is_recorded = !only_if_due || is_due(state);
            let event = EventKind::PullRequestTried { attempt };
            Ok((
                is_recorded.then_some(event).into_iter().collect(),
                is_recorded,
            ))
        })
    };
    if !is_due(&state) {
        return state;
    }
    // Several processes may see the end at the same time.
    match record(PullRequestAttempt::Begun, true) {
        Ok((true, _)) => {}
        Ok((false, after)) => return after,
        Err(error) => {
            print_warning(&format!("no pull request was opened: {error}"));
            return state;
        }
    }
    let attempt = match open_request(context, run, &state, &order.remote, Some(&order.address)) {
        Ok(PullRequestOpened { address, .. }) => PullRequestAttempt::Opened { address },
        Err(failure) => {
            let hint = failure.hint().map(|hint| format!("; {hint}"));
            let reason = format!("{}{}", failure.message(), hint.unwrap_or_default());
            PullRequestAttempt::Failed { reason }
        }
    };
    record(attempt, false).map_or(state, |(_, after)| after)
}

struct PullRequestOpened {
    address: String,
    branch: String,
    /// Line about files that are not in it; empty without any.
    uncommitted_note: String,
}

/// Pushes the branch of a complete run, and opens the request. The remote has the ordered address, where one is given.
fn open_request(
    context: &CommandContext,
    run: &Run,
    state: &RunState,
    remote_name: &str,
    ordered_address: Option<&str>,
) -> Result<PullRequestOpened, CommandError> {
    require_end(run, state)?;
    require_committed(state)?;
    let root = Path::new(&state.root);
    let repository = GitRepository::find(root).ok_or_else(|| {
        CommandError::precondition(
            "the worktree of the run is gone",
            "nothing can be sent from it",
        )
    })?;
    let checkout = checkout_head(&repository).map_err(|error| {
        CommandError::io(
            format!("git cannot tell what is checked out: {error:#}"),
            "`git status` shows why",
        )
    })?;
    let head = require_work(&repository, state, &checkout)?;
    let remote = Remote::find(&repository, remote_name).map_err(|error| remote_error(&error))?;
    let address = remote.address().map_err(|error| remote_error(&error))?;
    if ordered_address.is_some_and(|ordered| ordered != address) {
        let message = format!("the address of {remote_name} has changed since the run was opened");
        return Err(CommandError::conflict(
            message,
            "look at `git remote -v`; `omo run pr` opens the request there",
        ));
    }
    let service = Service::find(&address, root)?;
    let branch = format!("omo/{}", run.id());
    let target = checkout.reference().map(branch_name);
    let remote_branches: BTreeMap<String, String> = remote
        .branches("")
        .map_err(|error| remote_error(&error))?
        .into_iter()
        .collect();
    match remote_branches.get(&branch) {
        None => remote
            .push_all(&[(head, &branch)])
            .map_err(|error| remote_error(&error))?,
        Some(known) if *known == head => {}
        Some(_) => {
            let message =
                format!("the branch {branch} is at {remote_name} already, and has other commits");
            let hint = format!(
                "`git push {remote_name} --delete {branch}` removes it there, or push to it yourself"
            );
            return Err(CommandError::conflict(message, hint));
        }
    }
    let report = plan_run_text(context.env, run, state, report_text)?;
    let request = PullRequest {
        branch: &branch,
        target: target.filter(|target| remote_branches.contains_key(*target)),
        title: &title(state),
        body: &body(state, &report),
    };
    let address = service.open(root, &request)?;
    let others = read_checkout(state)
        .map(|checkout| checkout.other_uncommitted)
        .unwrap_or_default();
    let names = sanitize(
        &list_some(others.iter().map(String::as_str), MAX_NAMED),
        600,
    );
    let uncommitted_note = if others.is_empty() {
        String::new()
    } else {
        format!("\nNot in it, since it is not committed: {names}")
    };
    Ok(PullRequestOpened {
        address,
        branch,
        uncommitted_note,
    })
}

fn remote_error(error: &RemoteError) -> CommandError {
    let hint = match error {
        RemoteError::Unknown { .. } => "name one that `git remote` lists with --remote",
        RemoteError::ProgramSetting { .. } => {
            "have it in your own settings instead: `git config --global`"
        }
        _ => "see to it that `git push` reaches this remote, then `omo run pr`",
    };
    CommandError::precondition(error.to_string(), hint)
}

fn require_end(run: &Run, state: &RunState) -> Result<(), CommandError> {
    if parts::ends_well(state) {
        return Ok(());
    }
    let message = format!(
        "the run {} is not done: {}",
        run.id(),
        run_heading(state).text
    );
    Err(CommandError::precondition(
        message,
        "`omo report` says what is left",
    ))
}

fn require_committed(state: &RunState) -> Result<(), CommandError> {
    let uncommitted = read_checkout(state)
        .map(|checkout| checkout.uncommitted)
        .unwrap_or_default();
    if uncommitted.is_empty() {
        return Ok(());
    }
    let names = list_some(uncommitted.iter().map(String::as_str), MAX_NAMED);
    let message = format!(
        "work of the run is not committed: {}",
        sanitize(&names, 600)
    );
    Err(CommandError::precondition(
        message,
        "commit it, then `omo run pr`",
    ))
}

/// The commit that is checked out: of the branch of the run, with all its commits, and one more than it began with.
fn require_work<'c>(
    repository: &GitRepository,
    state: &RunState,
    checkout: &'c CheckoutHead,
) -> Result<&'c str, CommandError> {
    if let Some(branch) = state.branch.as_deref()
        && checkout.reference() != Some(branch)
    {
        let branch = branch_name(branch);
        let now = checkout.reference().map_or("no branch", branch_name);
        let message = format!(
            "the run worked on {}, and {} is checked out",
            sanitize(branch, 200),
            sanitize(now, 200)
        );
        let hint = format!(
            "`git switch {}`, then `omo run pr`; or push your branch yourself",
            quote_argument(branch)
        );
        return Err(CommandError::precondition(message, hint));
    }
    let head = checkout
        .commit()
        .filter(|head| Some(*head) != state.base.as_deref());
    let head = head.ok_or_else(|| {
        CommandError::precondition(
            "the run has left no commit",
            "commit its work, then `omo run pr`",
        )
    })?;
    if repository.contains(head, &own_commits(state)).ok() != Some(true) {
        return Err(CommandError::precondition(
            "the branch does not have the commits of the run any more",
            "`git reflog` shows where they are; or push your branch yourself",
        ));
    }
    Ok(head)
}

/// The commit that the run began with, and those that it made in the checkout or landed there.
fn own_commits(state: &RunState) -> Vec<String> {
    let done = state.tasks.values().filter(|task| {
        state.parallel.is_none()
            && matches!(task.status, TaskStatus::Passed | TaskStatus::Unverified)
    });
    let made = done.filter_map(|task| task.last_end.as_ref()?.commit.clone());
    let parallel = state.parallel.as_ref();
    let landed = parallel.and_then(|parallel| Some(parallel.landed.as_ref()?.1.clone()));
    state
        .base
        .iter()
        .cloned()
        .chain(made)
        .chain(landed)
        .collect()
}

/// Short name of a branch, such as `feature/x`.
fn branch_name(reference: &str) -> &str {
    reference.strip_prefix("refs/heads/").unwrap_or(reference)
}

fn title(state: &RunState) -> String {
    let subject = parts::run_subject(state);
    let title = if state.plan.title.trim().is_empty() {
        &subject
    } else {
        &state.plan.title
    };
    sanitize(title.trim(), MAX_TITLE_CHARS)
}

/// The report in a code block, so that nothing in it is parsed as Markdown.
fn body(state: &RunState, report: &str) -> String {
    let report: String = anstream::adapter::strip_str(report)
        .to_string()
        .chars()
        .take(MAX_BODY_CHARS)
        .collect();
    let longest = report
        .split(|char| char != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!(
        "{}.\n\n{fence}text\n{}\n{fence}\n",
        run_heading(state).text,
        report.trim_end()
    )
}
