//! The commands of a plan: its user approves exactly these, and the one that makes a fresh work tree ready.

use std::fmt::Write;
use std::path::Path;

use omo_checks::detected_check::DetectedCheck;
use omo_checks::repository_config::RepositoryConfig;
use omo_core::messages::checks::CODE_CHARS;
use omo_core::messages::plan::STEP_PLAN_PREFIX;
use omo_core::session::plan_run::PlannedCommand;
use omo_core::session::task_list::task_list_id;
use omo_core::text::command_text::quote_argument;
use omo_core::text::{pluralize, sanitize};
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::state::FINAL_CHECKS_ID;
use omo_engine::work::planned_commands;
use omo_plan::dialects::PlanKind;
use omo_plan::model::Plan;
use omo_state::trust::pending_approval::{self, PendingApproval};

use crate::blocks::parts;
use crate::confirm::{self, Confirmation};
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::output::{print_block, print_stderr_line};

/// How a person is asked about commands.
#[derive(Clone)]
pub(crate) struct ApprovalRequest {
    /// Whose commands they are, for people.
    pub name: String,
    /// The command that executes it, as they type it, with its options.
    pub command_line: String,
    /// What shows the commands.
    pub shown_by: String,
    /// What would be run and what it may cost, above the commands; empty where a run goes on.
    pub overview: String,
    /// The project's own test command, where nothing else proves some of the tasks.
    pub offer: Option<ProofOffer>,
}

/// A command that would prove the tasks that nothing else does.
#[derive(Clone)]
pub(crate) struct ProofOffer {
    /// The command, and the file that tells it.
    pub check: DetectedCheck,
    /// So many tasks have nothing that proves them.
    pub unproved: usize,
    /// The line that executes the plan with it.
    pub with_check: String,
    /// The line that executes the plan without it.
    pub without: String,
}

impl ProofOffer {
    /// The commands of a plan with the one that is offered behind them.
    fn join(&self, commands: &[PlannedCommand]) -> Vec<PlannedCommand> {
        let own =
            PlannedCommand { task: FINAL_CHECKS_ID.to_owned(), command: self.check.command.to_owned(), folder: None };
        let is_known = commands.iter().any(|known| known.command == own.command && known.folder.is_none());
        commands.iter().cloned().chain((!is_known).then_some(own)).collect()
    }

    /// What is offered, in words.
    pub(crate) fn words(&self) -> String {
        let DetectedCheck { command, found_in } = self.check;
        let tasks = pluralize(self.unproved, "task");
        format!("Nothing proves {tasks}. `{command}` (found in {found_in}) can, run once behind all tasks")
    }
}

impl ApprovalRequest {
    /// About those of a plan that is run in a mode; `command_line` is the command that executes it.
    pub(crate) fn for_run(plan: &Plan, mode: ExecutionMode, command_line: String) -> Self {
        let path = &plan.source.path;
        let (prefix, shown_by) = match (mode.is_done_by_agents(), plan.dialect.kind()) {
            (true, _) => ("", format!("`omo plan show {}` shows the commands", quote_argument(path))),
            (false, kind) => {
                let prefix = if kind == PlanKind::Steps { STEP_PLAN_PREFIX } else { "" };
                (prefix, format!("they are among those that `omo plan show {}` shows", quote_argument(path)))
            }
        };
        Self { name: format!("{prefix}{path}"), command_line, shown_by, overview: String::new(), offer: None }
    }
}

/// Whether exactly these commands may run: approved before, or agreed to now. Gives what stands for them.
pub(crate) fn approve_plan(
    context: &CommandContext,
    plan: &Plan,
    digest: Option<&str>,
    request: &ApprovalRequest,
) -> Result<String, CommandError> {
    approve_commands(context, &planned_commands(plan), digest, request)
}

/// The same for these commands.
pub(crate) fn approve_commands(
    context: &CommandContext,
    commands: &[PlannedCommand],
    digest: Option<&str>,
    request: &ApprovalRequest,
) -> Result<String, CommandError> {
    let now = pending_approval::commands_digest(&context.root, commands);
    match &request.offer {
        _ if is_agreed_to(context, commands) => return Ok(now),
        None if commands.is_empty() => return Ok(now),
        Some(offer) if !context.env.in_session => {
            let check = quote_argument(offer.check.command);
            print_stderr_line(&format_args!("note: {}: `--check {check}` has it do so", offer.words()));
            if commands.is_empty() {
                return Ok(now);
            }
        }
        Some(offer) if commands.is_empty() => return Err(only_offer(context, request, offer)?),
        None | Some(_) => {}
    }
    let name = &request.name;
    let left = pending_approval::write(Some(&context.state_home), &context.root, name, commands)?;
    if context.env.in_session {
        return Err(not_approved(context, request, commands, &left)?);
    }
    let shown = parts::list_commands(commands);
    let text =
        format!("{}{}\n{shown}\nApprove exactly this?", request.overview, commands_heading(name, commands.len()));
    let shown_by = format!("{}; their digest is {left}", request.shown_by);
    let own_shell = ("only a person approves what a plan runs", "use a terminal of your own");
    confirm::ask_person(
        context.env,
        &Confirmation { text: &text, digest: &left, own_shell, shown_by: &shown_by },
        digest,
    )?;
    let all = pending_approval::read_all(Some(&context.state_home), &context.root)?;
    let gone = || CommandError::conflict("what was shown is not there any more", "run it again");
    let agreed = pending_approval::find_by_code(&all, &left).ok_or_else(gone)?;
    let given = confirm::given_approval(context.env);
    pending_approval::approve(Some(&context.state_home), &context.root, agreed, given)?;
    confirm::name_approval(&context.root, context.env, given, &format!("commands of {name} approved"))?;
    Ok(left)
}

/// Whether a plan runs commands, and its user has agreed to exactly these.
pub(crate) fn is_approved(context: &CommandContext, plan: &Plan) -> bool {
    is_agreed_to(context, &planned_commands(plan))
}

fn is_agreed_to(context: &CommandContext, commands: &[PlannedCommand]) -> bool {
    let digest = pending_approval::commands_digest(&context.root, commands);
    !commands.is_empty() && pending_approval::is_approved(Some(&context.state_home), &digest)
}

/// The line above the commands.
fn commands_heading(name: &str, count: usize) -> String {
    let path = name.strip_prefix(STEP_PLAN_PREFIX).unwrap_or(name);
    let name = match task_list_id(path) {
        Some(id) => format!("the task list {id}"),
        None => sanitize(path, 300),
    };
    match count {
        1 => format!("omo runs this command of {name} as a check, with your rights:"),
        count => format!("omo runs these {count} commands of {name} as checks, with your rights:"),
    }
}

/// The screen with all that a person agrees to, and the line that agrees. Behind a typed command they read it in its
/// place; where the hook could not show it, it is the error of the command.
fn not_approved(
    context: &CommandContext,
    request: &ApprovalRequest,
    commands: &[PlannedCommand],
    digest: &str,
) -> Result<CommandError, CommandError> {
    let name = sanitize(&request.name, 300);
    if omo_core::messages::plan::approval_request(&request.name, commands, digest).is_err() {
        let count = pluralize(commands.len(), "command");
        let message = format!(
            "nothing was run: the {count} of {name} wait for your approval, and are too long to be shown here whole"
        );
        return Ok(CommandError::needs_person(
            message,
            "in a terminal of your own, `omo run start` shows them and asks",
        ));
    }
    let heading = commands_heading(&request.name, commands.len());
    let screen = format!("{}{heading}\n{}", request.overview, parts::list_commands(commands).trim_end());
    let code = digest.get(..CODE_CHARS).unwrap_or(digest);
    let mut typed = format!("  {} --approve {code}", request.command_line);
    if let Some(offer) = &request.offer {
        let line = approve_with_offer(context, request, offer, commands)?;
        let _ = write!(typed, "\n{}. To begin with it, type:\n  {line}", offer.words());
    }
    if context.is_preview {
        print_block(&format!(
            "[omo] Nothing has run yet: this plan waits for your approval.\n\n{screen}\n\n\
             To approve exactly these commands and begin, type:\n{typed}"
        ))?;
        return Ok(CommandError::already_printed(ExitKind::NeedsPerson));
    }
    let message = format!("nothing was run: {name} waits for your approval\n\n{screen}");
    let hint = format!(
        "read this; to approve exactly these commands and begin, type:\n{typed}\n\
         Only the user can do that: a model shows them this and ends its turn."
    );
    Ok(CommandError::needs_person(message, hint))
}

/// Leaves the commands for approval with the one that is offered, and gives the line that approves them.
fn approve_with_offer(
    context: &CommandContext,
    request: &ApprovalRequest,
    offer: &ProofOffer,
    commands: &[PlannedCommand],
) -> Result<String, CommandError> {
    let all = offer.join(commands);
    let digest = pending_approval::write(Some(&context.state_home), &context.root, &request.name, &all)?;
    Ok(format!("{} --approve {}", offer.with_check, digest.get(..CODE_CHARS).unwrap_or(&digest)))
}

/// The screen of a plan that runs no command, while the project has one that would prove its tasks.
fn only_offer(
    context: &CommandContext,
    request: &ApprovalRequest,
    offer: &ProofOffer,
) -> Result<CommandError, CommandError> {
    let with = approve_with_offer(context, request, offer, &[])?;
    let typed = format!("To begin with it, type:\n  {with}\nTo begin without it, type:\n  {}", offer.without);
    let name = sanitize(&request.name, 300);
    if context.is_preview {
        let heading = "[omo] Nothing has run yet: no command proves the tasks of this plan.";
        print_block(&format!("{heading}\n\n{}{}.\n{typed}", request.overview, offer.words()))?;
        return Ok(CommandError::already_printed(ExitKind::NeedsPerson));
    }
    let message = format!("nothing was run: {name} waits for a choice\n\n{}{}.", request.overview, offer.words());
    let hint = format!("{typed}\nOnly the user can do that: a model shows them this and ends its turn.");
    Ok(CommandError::needs_person(message, hint))
}

/// What stands for the setup command among those of a plan.
const SETUP: &str = "setup";

/// The command that makes a fresh work tree of a project ready, where the project has one.
///
/// # Errors
///
/// The file that says so says something wrong as well.
pub(crate) fn setup_command(root: &Path) -> Result<Option<String>, CommandError> {
    let Some(repository) = RepositoryConfig::read(root) else { return Ok(None) };
    match repository.problems.first() {
        Some(problem) => Err(CommandError::invalid_config(problem)),
        None => Ok(repository.setup),
    }
}

/// Whether exactly the commands of a plan may run, and the one that makes a work tree ready where clients get one.
/// Gives what stands for those of the plan.
pub(crate) fn approve_with_setup(
    context: &CommandContext,
    plan: &Plan,
    setup: Option<&str>,
    digest: Option<&str>,
    request: &ApprovalRequest,
) -> Result<String, CommandError> {
    let commands = planned_commands(plan);
    let Some(setup) = setup else { return approve_commands(context, &commands, digest, request) };
    let whole = approve_commands(context, &append_setup_command(&commands, setup), digest, request)?;
    // Those of the plan alone are a part of what was agreed to, and what the run is held to.
    let own = PendingApproval {
        digest: pending_approval::commands_digest(&context.root, &commands),
        plan: request.name.clone(),
        commands,
    };
    let given = |digest| pending_approval::given(Some(&context.state_home), digest);
    if given(&own.digest).is_none()
        && let Some(given) = given(&whole)
    {
        pending_approval::approve(Some(&context.state_home), &context.root, &own, given)?;
    }
    Ok(own.digest)
}

fn append_setup_command(commands: &[PlannedCommand], setup: &str) -> Vec<PlannedCommand> {
    let setup = PlannedCommand { task: SETUP.to_owned(), command: setup.to_owned(), folder: None };
    std::iter::once(setup).chain(commands.iter().cloned()).collect()
}
