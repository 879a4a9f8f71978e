//! What opening a run and going on with one have in common: the commands that its user agrees to, and what is in the
//! way.

use std::path::Path;

use omo_core::messages::checks::CODE_CHARS;
use omo_core::session::plan_run::PlannedCommand;
use omo_engine::event::QuestionKind;
use omo_engine::projection::{self, Projection};
use omo_engine::report::dev_workflow;
use omo_engine::state::{ANSWER_CONTINUE, QuestionState};
use omo_engine::verbs;
use omo_engine::work::planned_commands;
use omo_plan::diagnostic::Severity;
use omo_plan::model::Plan;
use omo_state::trust::pending_approval;

use crate::confirm::{self, Confirmation};
use crate::context::{CommandContext, Ended};
use crate::error::CommandError;
use crate::output::print_block;
use crate::{blocks, dispatch};

/// The user typed the command alone: the run that is open goes on, past the stop that it waits at.
pub(super) fn continue_open_run(context: &CommandContext) -> Result<(), CommandError> {
    let (run, before) = context.find_run(None, Ended::Excluded)?;
    let engine = context.engine(&run, &before)?;
    let can_go_on =
        |question: &&QuestionState| question.question.options.iter().any(|option| option.id == ANSWER_CONTINUE);
    let stop =
        before.open_question().filter(|question| !matches!(question.question.kind, QuestionKind::Decisions { .. }));
    let stop = stop.filter(can_go_on);
    let stop = stop.map(|question| question.question.id.clone());
    let ((), state) = engine.transact(|state| {
        let answered = stop
            .map(|question| verbs::answer_question(state, &engine.caller, &question, ANSWER_CONTINUE, None))
            .transpose()?;
        Ok((answered.into_iter().chain(dispatch::forget_dispatched_if_any(state)).collect(), ()))
    })?;
    context.note_in_session(&run, &before.holder, &state);
    print_block(&blocks::resumed_block(run.id(), &state))
}

/// Refuses where the files for others could not be written, or another program's checkpoint would be lost.
pub(super) fn require_writable_files(context: &CommandContext) -> Result<(), CommandError> {
    let memory =
        context.runs.as_ref().map(|runs| projection::memory_path(&runs.path(), &context.root)).unwrap_or_default();
    let projection = Projection::new(&context.root, &memory, "");
    if !projection.owns_checkpoint()? {
        let message = format!("{} was left by another program", dev_workflow::CHECKPOINT_PATH);
        let hint = "`omo run import` goes on from it; to begin afresh, remove it";
        return Err(CommandError::conflict(message, hint));
    }
    Ok(projection.require_writable()?)
}

pub(super) fn no_repository_error(root: &Path) -> CommandError {
    let message = format!("{} is in no git repository, so what a task has changed could not be told", root.display());
    CommandError::precondition(message, "`git init` makes one; `omo plan` reads plans anywhere")
}

pub(super) fn invalid_plan_error(plan: &Plan, bytes: &[u8]) -> CommandError {
    let errors = plan.diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
    let shown = crate::commands::plan::render_diagnostics(plan, bytes);
    let errors = if errors == 1 { "an error".to_owned() } else { format!("{errors} errors") };
    let message = format!("{} has {errors}, so nothing was run\n\n{shown}", plan.source.path);
    CommandError::invalid_plan(
        message,
        format!("fix the plan; `omo plan lint {}` shows all of this again", plan.source.path),
    )
}

/// How a person is asked about commands.
pub(crate) struct Asked {
    /// Whose commands they are, for people.
    pub name: String,
    /// The command that executes it, as they type it, with its options.
    pub command_line: String,
    /// What shows the commands.
    pub shown_by: String,
}

impl Asked {
    /// About those of a plan; `typed` is the command that executes it.
    pub(super) fn for_plan(path: &str, command_line: String) -> Self {
        Self { name: path.to_owned(), command_line, shown_by: format!("`omo plan show {path}` shows the commands") }
    }
}

/// Whether exactly these commands may run: approved before, or agreed to now. Gives what stands for them.
pub(super) fn approve_plan(
    context: &CommandContext,
    plan: &Plan,
    digest: Option<&str>,
    asked: &Asked,
) -> Result<String, CommandError> {
    approve_commands(context, &planned_commands(plan), digest, asked)
}

/// The same for these commands.
pub(super) fn approve_commands(
    context: &CommandContext,
    commands: &[PlannedCommand],
    digest: Option<&str>,
    asked: &Asked,
) -> Result<String, CommandError> {
    let now = pending_approval::commands_digest(&context.root, commands);
    if commands.is_empty() || pending_approval::is_approved(Some(&context.state_home), &now) {
        return Ok(now);
    }
    let name = &asked.name;
    let left = pending_approval::write(Some(&context.state_home), &context.root, name, commands)?;
    if context.env.in_session {
        return Err(not_approved(asked, commands, &left));
    }
    let shown = blocks::list_commands(commands);
    let text = format!("{name} would have these commands run, with your rights:\n{shown}\nApprove exactly this?");
    let shown_by = format!("{}; their digest is {left}", asked.shown_by);
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

fn not_approved(asked: &Asked, commands: &[PlannedCommand], digest: &str) -> CommandError {
    let count = blocks::pluralize(commands.len(), "command");
    let message =
        format!("nothing was run. {} would execute {count} as its checks, and you have not approved them", asked.name);
    if omo_core::messages::plan::approval_request(&asked.name, commands, digest).is_err() {
        let message = format!("{message}; they are too long to be shown here whole");
        return CommandError::needs_person(message, "in a terminal of your own, `omo run start` shows them and asks");
    }
    let message = format!("{message}:\n\n{}", blocks::list_commands(commands).trim_end());
    let code = digest.get(..CODE_CHARS).unwrap_or(digest);
    let hint = format!(
        "read them; to approve exactly these, type:\n  {} --approve {code}\n\
         Only the user can do that: a model shows them this and ends its turn.",
        asked.command_line
    );
    CommandError::needs_person(message, hint)
}
