//! What opening a run and going on with one have in common: the commands that its user agrees to, and what is in the
//! way.

use std::io::Write;
use std::path::Path;

use omo_core::messages::checks::CODE_CHARS;
use omo_core::plan_run::PlannedCommand;
use omo_plan::diagnostic::Severity;
use omo_plan::model::Plan;
use omo_plan::run::event::QuestionKind;
use omo_plan::run::state::{CONTINUE, QuestionState};
use omo_plan::run::verbs;
use omo_runs::dev_workflow;
use omo_runs::engine::planned_commands;
use omo_runs::projection::{self, Projection};
use omo_store::pending_approval;

use super::context::{CommandContext, Ended};
use super::{blocks, handed};
use crate::confirm::{self, Confirmation};
use crate::failure::CommandError;

/// The user typed the command alone: the run that is open goes on, past the stop that it waits at.
pub(super) fn go_on(context: &CommandContext) -> Result<(), CommandError> {
    let (run, before) = context.run(None, Ended::Not)?;
    let engine = context.engine(&run, &before)?;
    let can_go_on = |question: &&QuestionState| question.question.options.iter().any(|option| option.id == CONTINUE);
    let stop =
        before.open_question().filter(|question| !matches!(question.question.about, QuestionKind::Decisions { .. }));
    let stop = stop.filter(can_go_on);
    let stop = stop.map(|question| question.question.id.clone());
    let ((), state) = engine.transact(|state| {
        let answered =
            stop.map(|question| verbs::answer(state, &engine.caller, &question, CONTINUE, None)).transpose()?;
        Ok((answered.into_iter().chain(handed::started_anew(state)).collect(), ()))
    })?;
    context.tell(&run, &before.holder, &state);
    say(&blocks::resumed(run.id(), &state))
}

/// Refuses where the files for others could not be written, or another program's checkpoint would be lost.
pub(super) fn writable(context: &CommandContext) -> Result<(), CommandError> {
    let memory = context.runs.as_ref().map(|runs| projection::memory(&runs.path(), &context.root)).unwrap_or_default();
    let projection = Projection::new(&context.root, &memory, "");
    if !projection.owns_checkpoint()? {
        let message = format!("{} was left by another program", dev_workflow::CHECKPOINT);
        let hint = "`omo run import` goes on from it; to begin afresh, remove it";
        return Err(CommandError::conflict(message, hint));
    }
    Ok(projection.check()?)
}

pub(super) fn no_repository(root: &Path) -> CommandError {
    let message = format!("{} is in no git repository, so nobody could tell what a task has changed", root.display());
    CommandError::precondition(message, "`git init` makes one; `omo plan` reads plans anywhere")
}

pub(super) fn unsound(plan: &Plan, bytes: &[u8]) -> CommandError {
    let errors = plan.diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
    let shown = crate::plan::diagnostics(plan, bytes);
    let errors = if errors == 1 { "an error".to_owned() } else { format!("{errors} errors") };
    let message = format!("{} has {errors}, so nothing was run\n\n{shown}", plan.source.path);
    CommandError::plan(message, format!("mend the plan; `omo plan lint {}` shows all of this again", plan.source.path))
}

/// How a person is asked about commands.
pub(super) struct Asked {
    /// Whose commands they are, for people.
    pub name: String,
    /// The command that executes it, as they type it, with its options.
    pub typed: String,
    /// What shows the commands.
    pub shown_by: String,
}

impl Asked {
    /// About those of a plan; `typed` is the command that executes it.
    pub(super) fn of_plan(path: &str, typed: String) -> Self {
        Self { name: path.to_owned(), typed, shown_by: format!("`omo plan show {path}` shows the commands") }
    }
}

/// Whether exactly these commands may run: approved before, or agreed to now. Gives what stands for them.
pub(super) fn approve(
    context: &CommandContext,
    plan: &Plan,
    digest: Option<&str>,
    asked: &Asked,
) -> Result<String, CommandError> {
    approve_all(context, &planned_commands(plan), digest, asked)
}

/// The same for these commands.
pub(super) fn approve_all(
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
    let shown = blocks::commands(commands);
    let text = format!("{name} would have these commands run, with your rights:\n{shown}\nApprove exactly this?");
    let shown_by = format!("{}; their digest is {left}", asked.shown_by);
    let own_shell = ("only a person approves what a plan runs", "use a terminal of your own");
    confirm::ask(context.env, &Confirmation { text: &text, digest: &left, own_shell, shown_by: &shown_by }, digest)?;
    let all = pending_approval::read_all(Some(&context.state_home), &context.root)?;
    let gone = || CommandError::conflict("what was shown is not there any more", "run it again");
    let agreed = pending_approval::find_by_code(&all, &left).ok_or_else(gone)?;
    let given = confirm::given(context.env);
    pending_approval::approve(Some(&context.state_home), &context.root, agreed, given)?;
    confirm::name_approval(&context.root, context.env, given, &format!("commands of {name} approved"))?;
    Ok(left)
}

fn not_approved(asked: &Asked, commands: &[PlannedCommand], digest: &str) -> CommandError {
    let count = blocks::counted(commands.len(), "command");
    let message =
        format!("nothing was run. {} would execute {count} as its checks, and you have not approved them", asked.name);
    if omo_core::messages::plan::approval_request(&asked.name, commands, digest).is_err() {
        let message = format!("{message}; they are too long to be shown here whole");
        return CommandError::human(message, "in a terminal of your own, `omo run start` shows them and asks");
    }
    let message = format!("{message}:\n\n{}", blocks::commands(commands).trim_end());
    let code = digest.get(..CODE_CHARS).unwrap_or(digest);
    let hint = format!(
        "read them; to approve exactly these, type:\n  {} --approve {code}\n\
         Only the user can do that: a model shows them this and ends its turn.",
        asked.typed
    );
    CommandError::human(message, hint)
}

/// Prints a block.
pub(super) fn say(text: &str) -> Result<(), CommandError> {
    Ok(writeln!(anstream::stdout(), "{}", text.trim_end())?)
}
