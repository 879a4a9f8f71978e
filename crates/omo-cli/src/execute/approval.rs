//! Approval of a plan's commands, and of the `setup` command of a fresh work tree, by their digest.

use std::fmt::Write;
use std::path::Path;

use clap::ValueEnum;
use omo_checks::detected_check::DetectedCheck;
use omo_checks::repository_config::RepositoryConfig;
use omo_core::messages::checks::CODE_CHARS;
use omo_core::messages::plan::STEP_PLAN_PREFIX;
use omo_core::session::plan_run::PlannedCommand;
use omo_core::session::task_list::{task_list_id, task_list_plan_name};
use omo_core::text::command_text::quote_argument;
use omo_core::text::{pluralize, sanitize};
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::state::FINAL_CHECKS_ID;
use omo_engine::work::{planned_commands, shown_plan_digest};
use omo_plan::dialects::PlanKind;
use omo_plan::model::Plan;
use omo_state::trust::{self, pending_approval};

use crate::blocks::parts;
use crate::confirm::{self, Confirmation};
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::execute::request::ExecuteCommand;
use crate::exit_kind::ExitKind;
use crate::output::{print_block, print_stderr_line};

#[derive(Default)]
pub(crate) struct ApprovalRequest<'r> {
    pub command_line: String,
    pub digest: Option<&'r str>,
    /// Overview and possible costs, above the commands; empty for a continued run.
    pub overview: String,
    pub offer: Option<ProofOffer>,
    /// A run goes on, so that approved commands stay approved whatever else of the plan has changed.
    pub is_continued: bool,
}

struct CommandOwner {
    name: String,
    shown_plan: String,
    shown_by: String,
}

#[derive(Clone)]
pub(crate) struct ProofOffer {
    pub check: DetectedCheck,
    pub unproved: usize,
    pub with_check: String,
    pub without: String,
}

impl ProofOffer {
    pub(crate) fn words(&self) -> String {
        let DetectedCheck { command, found_in } = self.check;
        let tasks = pluralize(self.unproved, "task");
        format!(
            "Nothing proves {tasks}. `{command}` (found in {found_in}) can, run once after all tasks"
        )
    }
}

impl CommandOwner {
    fn of_plan(plan: &Plan, mode: ExecutionMode) -> Self {
        let path = &plan.source.path;
        let kind = plan.dialect.kind();
        let shows = format!("`omo plan show {}` shows", quote_argument(path));
        let (name, shown_by) = if kind == PlanKind::TaskList {
            let id = plan.task_list_id();
            (
                task_list_plan_name(id),
                format!("`omo agent task list --session {id} --format json` shows the criteria"),
            )
        } else if mode.is_done_by_agents() {
            (path.clone(), format!("{shows} the commands"))
        } else {
            let prefix = if kind == PlanKind::Steps {
                STEP_PLAN_PREFIX
            } else {
                ""
            };
            (
                format!("{prefix}{path}"),
                format!("they are among those that {shows}"),
            )
        };
        Self {
            name,
            shown_plan: shown_plan_digest(plan),
            shown_by,
        }
    }
}

/// Asks for approval of a plan's commands, and of `setup` for clients. Gives the digest of the plan's commands.
pub(crate) fn approve_plan(
    context: &CommandContext,
    plan: &Plan,
    mode: ExecutionMode,
    setup: Option<&str>,
    request: &ApprovalRequest,
) -> Result<String, CommandError> {
    let owner = CommandOwner::of_plan(plan, mode);
    let own = planned_commands(plan);
    let setup = setup.map(|setup| PlannedCommand {
        task: SETUP.to_owned(),
        command: setup.to_owned(),
        folder: None,
    });
    let whole: Vec<PlannedCommand> = setup.into_iter().chain(own.iter().cloned()).collect();
    let approved = approve_commands(context, &owner, &whole, request)?;
    let home = Some(context.state_home.as_path());
    let own_commands = pending_approval::commands_digest(&context.root, &own);
    // Parts of the approval: a run goes on with the commands alone, and without clients the plan has no `setup`.
    for part in [
        &own_commands,
        &pending_approval::commands_digest(&context.root, &whole),
        &pending_approval::plan_digest(&context.root, &owner.shown_plan, &own),
    ] {
        if pending_approval::given(home, part).is_none()
            && let Some(given) = pending_approval::given(home, &approved)
        {
            trust::approve(home, &context.root, part, given)?;
        }
    }
    Ok(own_commands)
}

fn approve_commands(
    context: &CommandContext,
    owner: &CommandOwner,
    commands: &[PlannedCommand],
    request: &ApprovalRequest,
) -> Result<String, CommandError> {
    let now = pending_approval::plan_digest(&context.root, &owner.shown_plan, commands);
    let is_known = request.is_continued && is_agreed_to(context, "", commands);
    match &request.offer {
        _ if is_known || is_agreed_to(context, &owner.shown_plan, commands) => return Ok(now),
        None if commands.is_empty() => return Ok(now),
        Some(offer) if !context.env.in_session => {
            let check = quote_argument(offer.check.command);
            print_stderr_line(&format_args!(
                "note: {}: `--check {check}` has it do so",
                offer.words()
            ));
            if commands.is_empty() {
                return Ok(now);
            }
        }
        Some(offer) if commands.is_empty() => {
            return Err(only_offer(context, owner, request, offer)?);
        }
        None | Some(_) => {}
    }
    let name = &owner.name;
    let line = shown_line(context, &request.command_line);
    let digest = pending_approval::write_plan(
        Some(&context.state_home),
        &context.root,
        (name, &owner.shown_plan),
        commands,
        line,
    )?;
    if context.env.in_session {
        return Err(not_approved(context, owner, request, commands, &digest)?);
    }
    let shown = parts::list_commands(commands);
    let text = format!(
        "{}{}\n{shown}\nApprove exactly this?",
        request.overview,
        commands_heading(name, commands.len())
    );
    let shown_by = format!("{}; their digest is {digest}", owner.shown_by);
    let own_shell = (
        "only a person approves what a plan runs",
        "use a terminal of your own",
    );
    confirm::ask_person(
        context.env,
        &Confirmation {
            text: &text,
            digest: &digest,
            own_shell,
            shown_by: &shown_by,
        },
        request.digest,
    )?;
    let pending = pending_approval::read_all(Some(&context.state_home), &context.root)?;
    let agreed = pending_approval::find_by_code(&pending, &digest).ok_or_else(|| {
        CommandError::conflict("what was shown is not there any more", "run it again")
    })?;
    let given = confirm::given_approval(context.env);
    pending_approval::approve(Some(&context.state_home), &context.root, agreed, given)?;
    confirm::name_approval(
        &context.root,
        context.env,
        given,
        &format!("commands of {name} approved"),
    )?;
    Ok(digest)
}

pub(crate) fn is_approved(context: &CommandContext, plan: &Plan) -> bool {
    is_agreed_to(context, &shown_plan_digest(plan), &planned_commands(plan))
}

fn is_agreed_to(context: &CommandContext, shown_plan: &str, commands: &[PlannedCommand]) -> bool {
    let digest = pending_approval::plan_digest(&context.root, shown_plan, commands);
    !commands.is_empty() && pending_approval::is_approved(Some(&context.state_home), &digest)
}

/// The typed line that a code alone stands for, whose commands the person now reads.
fn shown_line<'l>(context: &CommandContext, line: &'l str) -> Option<&'l str> {
    context.is_preview.then_some(line)
}

/// The approving line as typed; after a typed command its code is enough.
fn approving_line(context: &CommandContext, line: &str, digest: &str) -> String {
    let code = digest.get(..CODE_CHARS).unwrap_or(digest);
    match shown_line(context, line) {
        Some(_) => format!("/omo:{} --approve {code}", ExecuteCommand::Execute.name()),
        None => format!("{line} --approve {code}"),
    }
}

/// Command and line that a code alone stands for; the typed ones in any other case.
pub(crate) fn with_approved_line(
    context: &CommandContext,
    command: ExecuteCommand,
    typed: &str,
) -> Result<(ExecuteCommand, String), CommandError> {
    let unchanged = (command, typed.to_owned());
    let words: Vec<&str> = typed.split_whitespace().collect();
    let code = match words.as_slice() {
        ["--approve", code] => code,
        [one] => one.strip_prefix("--approve=").unwrap_or_default(),
        _ => "",
    };
    let approvals = pending_approval::read_all(Some(&context.state_home), &context.root)?;
    let line = pending_approval::find_by_code(&approvals, code)
        .and_then(|pending| pending.line.as_deref());
    let parts = line
        .and_then(|line| line.strip_prefix("/omo:"))
        .map(|line| line.split_once(' ').unwrap_or((line, "")));
    let Some((name, rest)) = parts else {
        return Ok(unchanged);
    };
    let named_command = ExecuteCommand::from_str(name, false);
    Ok(named_command.map_or(unchanged, |command| {
        (command, format!("{rest} --approve {code}"))
    }))
}

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

fn not_approved(
    context: &CommandContext,
    owner: &CommandOwner,
    request: &ApprovalRequest,
    commands: &[PlannedCommand],
    digest: &str,
) -> Result<CommandError, CommandError> {
    let name = sanitize(&owner.name, 300);
    if omo_core::messages::plan::approval_request(&owner.name, commands, digest).is_err() {
        let count = pluralize(commands.len(), "command");
        let message = format!(
            "nothing was run: the {count} of {name} wait for your approval, and are too long to be shown here whole"
        );
        return Ok(CommandError::needs_person(
            message,
            "in a terminal of your own, `omo run start` shows them and asks",
        ));
    }
    let heading = commands_heading(&owner.name, commands.len());
    let screen = format!(
        "{}{heading}\n{}",
        request.overview,
        parts::list_commands(commands).trim_end()
    );
    let mut typed = format!(
        "  {}",
        approving_line(context, &request.command_line, digest)
    );
    if let Some(offer) = &request.offer {
        let line = approve_with_offer(context, owner, offer, commands)?;
        let _ = write!(
            typed,
            "\n{}. To begin with it, type:\n  {line}",
            offer.words()
        );
    }
    let preview = format!(
        "[omo] Nothing has run yet: this plan waits for your approval.\n\n{screen}\n\n\
         To approve exactly these commands and begin, type:\n{typed}"
    );
    let message = format!("nothing was run: {name} waits for your approval\n\n{screen}");
    let hint = format!("read this; to approve exactly these commands and begin, type:\n{typed}");
    refuse(context, &preview, message, &hint)
}

fn refuse(
    context: &CommandContext,
    preview: &str,
    message: String,
    hint: &str,
) -> Result<CommandError, CommandError> {
    if context.is_preview {
        print_block(preview)?;
        return Ok(CommandError::already_printed(ExitKind::NeedsPerson));
    }
    let hint =
        format!("{hint}\nOnly the user can do that: a model shows them this and ends its turn.");
    Ok(CommandError::needs_person(message, hint))
}

fn approve_with_offer(
    context: &CommandContext,
    owner: &CommandOwner,
    offer: &ProofOffer,
    commands: &[PlannedCommand],
) -> Result<String, CommandError> {
    let check = PlannedCommand {
        task: FINAL_CHECKS_ID.to_owned(),
        command: offer.check.command.to_owned(),
        folder: None,
    };
    let is_known = commands
        .iter()
        .any(|known| known.command == check.command && known.folder.is_none());
    let with_check: Vec<PlannedCommand> = commands
        .iter()
        .cloned()
        .chain((!is_known).then_some(check))
        .collect();
    let line = shown_line(context, &offer.with_check);
    let digest = pending_approval::write_plan(
        Some(&context.state_home),
        &context.root,
        (&owner.name, &owner.shown_plan),
        &with_check,
        line,
    )?;
    Ok(approving_line(context, &offer.with_check, &digest))
}

fn only_offer(
    context: &CommandContext,
    owner: &CommandOwner,
    request: &ApprovalRequest,
    offer: &ProofOffer,
) -> Result<CommandError, CommandError> {
    let with_check = approve_with_offer(context, owner, offer, &[])?;
    let typed = format!(
        "To begin with it, type:\n  {with_check}\nTo begin without it, type:\n  {}",
        offer.without
    );
    let name = sanitize(&owner.name, 300);
    let heading = "[omo] Nothing has run yet: no command proves the tasks of this plan.";
    let preview = format!(
        "{heading}\n\n{}{}.\n{typed}",
        request.overview,
        offer.words()
    );
    let message = format!(
        "nothing was run: {name} waits for a choice\n\n{}{}.",
        request.overview,
        offer.words()
    );
    refuse(context, &preview, message, &typed)
}

const SETUP: &str = "setup";

/// The command that prepares a fresh work tree, if the project has one. An invalid `omo.toml` is an error.
pub(crate) fn setup_command(root: &Path) -> Result<Option<String>, CommandError> {
    let Some(repository) = RepositoryConfig::read(root) else {
        return Ok(None);
    };
    match repository.problems.first() {
        Some(problem) => Err(CommandError::invalid_config(problem)),
        None => Ok(repository.setup),
    }
}
