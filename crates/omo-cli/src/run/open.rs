//! `omo run open`: a plan becomes a run, once its user has agreed to what it executes.

use std::io::Write;
use std::path::Path;

use omo_core::plan_run::PlannedCommand;
use omo_core::words::checks::CODE_CHARS;
use omo_core::words::sanitize;
use omo_plan::diagnostic::Severity;
use omo_plan::dialects::Options;
use omo_plan::model::{Dialect, Plan};
use omo_plan::run::event::{EventKind, QuestionKind, RunResult};
use omo_plan::run::state::{CONTINUE, Phase, RunState};
use omo_plan::run::verbs;
use omo_plan::ultra_run::own::quoted;
use omo_runs::engine::{Opening, PlanFile, beginning, planned_commands};
use omo_runs::projection::{self, Projection};
use omo_runs::{Run, Runs, dev_workflow};
use omo_store::env::{self, Env};
use omo_store::folder::Folder;
use omo_store::work_tree::WorkTree;
use omo_store::{pending, plan_run};

use super::arguments::{ExecOptions, LocalOptions, OpenOptions, Purpose};
use super::context::{CommandContext, Ended, another};
use super::{blocks, exec, handed, local, manage, typed};
use crate::confirm::{self, Confirmation};
use crate::failure::Failure;
use crate::project::Project;

/// Opens a run of a plan, or goes on with the one that is open.
pub(super) fn open(env: &Env, options: &OpenOptions) -> Result<(), Failure> {
    let context = CommandContext::find(env)?;
    if options.purpose == Purpose::Exec {
        not_in_steps(options)?;
        return exec::open(&context, options);
    }
    if options.purpose == Purpose::Local {
        return local::open(&context, options);
    }
    if options.exec != ExecOptions::default() {
        let hint = "`omo run open --for exec` runs one";
        return Err(Failure::user("those options are for task sessions, and not for plans", hint));
    }
    not_in_steps(options)?;
    if options.args_from_hook {
        return match typed_arguments(&context)?.as_deref().map(typed::read).transpose()? {
            Some(typed::Typed::Open(typed)) => open_plan(&context, &typed),
            Some(typed::Typed::GoOn) => go_on(&context),
            None => say(&blocks::nothing_typed()),
        };
    }
    open_plan(&context, options)
}

/// Refuses options that only plans in steps have.
fn not_in_steps(options: &OpenOptions) -> Result<(), Failure> {
    if *options.local == LocalOptions::default() {
        return Ok(());
    }
    let hint = "`omo run open --for local` runs one, and alone it shows its options";
    Err(Failure::user("those options are for plans in steps", hint))
}

/// What the user typed behind the command, where the hook has kept it.
fn typed_arguments(context: &CommandContext) -> Result<Option<String>, Failure> {
    let (Some(id), Some(folder)) = (&context.session, Folder::open(&context.root)?) else { return Ok(None) };
    Ok(plan_run::take_arguments(&folder, id, "execute-plan", Project::update(context.env))?)
}

/// The user typed the command alone: the run that is open goes on, past the stop that it waits at.
fn go_on(context: &CommandContext) -> Result<(), Failure> {
    let (run, before) = context.run(None, Ended::Not)?;
    let engine = context.engine(&run, &before)?;
    let stop =
        before.open_question().filter(|question| !matches!(question.question.about, QuestionKind::Decisions { .. }));
    let stop = stop.map(|question| question.question.id.clone());
    let ((), state) = engine.transact(|state| {
        let answered =
            stop.map(|question| verbs::answer(state, &engine.caller, &question, CONTINUE, None)).transpose()?;
        Ok((answered.into_iter().chain(handed::started_anew(state)).collect(), ()))
    })?;
    context.tell(&run, &before.holder, &state);
    say(&blocks::resumed(run.id(), &state))
}

fn open_plan(context: &CommandContext, options: &OpenOptions) -> Result<(), Failure> {
    let Some(given) = options.plan.as_ref().or(options.rest.as_ref()) else { return go_on(context) };
    let file = PlanFile::read(&context.root, &std::env::current_dir()?, Path::new(given)).map_err(outside(given))?;
    let plan = file.plan(Options::of(options.k, options.batch_size));
    if !plan.is_sound() {
        return Err(unsound(&plan, &file.bytes));
    }
    if plan.dialect != Dialect::DevWorkflow {
        let message = format!("{} is written as {}, and not with `### Task N:`", file.path, plan.dialect.word());
        let quoted = quoted(&file.path);
        let hint = format!("`omo run open --for local {quoted}` runs it, and so does `/omo:execute-local {quoted}`");
        return Err(Failure::precondition(message, hint));
    }
    let work_tree = WorkTree::find(&context.root).ok_or_else(|| no_repository(&context.root))?;
    if let Some(known) = context.runs.as_ref().map(|runs| known(context, runs, &plan, options)).transpose()?.flatten() {
        return known.go_on(context, plan, options);
    }
    let asked = Asked::of_plan(&plan.source.path, &typed::again(options));
    let approved = approve(context, &plan, options.digest.as_deref(), &asked)?;
    if let Err(failure) = writable(context) {
        // Another process may have opened it meanwhile, and have written its files.
        let runs = Runs::find(&context.root, Some(&context.state_home))?;
        let known = runs.map(|runs| known(context, &runs, &plan, options)).transpose()?.flatten();
        return known.map_or(Err(failure), |known| known.go_on(context, plan, options));
    }
    let runs = Runs::create(&context.root, Some(&context.state_home))?;
    let door = runs.lock_opening()?;
    // Another process may have opened it meanwhile.
    if let Some(known) = known(context, &runs, &plan, options)? {
        drop(door);
        return known.go_on(context, plan, options);
    }
    let (actor, now) = (context.actor(), env::now());
    let root = context.root.display().to_string();
    let opened = EventKind::from(Opening { plan: plan.clone(), approved, root, base: work_tree.head(), asked: None });
    let more = beginning(opened.clone(), Vec::new(), &actor, now);
    let (run, state) = runs.begin(&actor, now, opened, more)?;
    let state = context.engine(&run, &state)?.project(state.clone())?;
    context.tell(&run, &state.holder, &state);
    say(&blocks::opened(run.id(), &state))
}

/// Refuses where the files for others could not be written, or another program's checkpoint would be lost.
pub(super) fn writable(context: &CommandContext) -> Result<(), Failure> {
    let memory = context.runs.as_ref().map(|runs| projection::memory(&runs.path(), &context.root)).unwrap_or_default();
    let projection = Projection::new(&context.root, &memory, "");
    if !projection.owns_checkpoint()? {
        let message = format!("{} was left by another program", dev_workflow::CHECKPOINT);
        let hint = "`omo run import` goes on from it; to begin afresh, remove it";
        return Err(Failure::conflict(message, hint));
    }
    Ok(projection.check()?)
}

fn outside(given: &str) -> impl Fn(omo_runs::engine::PlanFileError) -> Failure {
    let given = sanitize(given, 200);
    move |error| {
        use omo_runs::engine::PlanFileError::{Missing, Outside};
        match error {
            Missing(_) => {
                Failure::not_found(format!("there is no plan `{given}`"), "name the file from the current folder")
            }
            Outside(_) => Failure::precondition(
                format!("`{given}` lies outside of this project"),
                "a run changes the project that its plan lies in: start it there, or copy the plan here",
            ),
            error => error.into(),
        }
    }
}

pub(super) fn no_repository(root: &Path) -> Failure {
    let message = format!("{} is in no git repository, so nobody could tell what a task has changed", root.display());
    Failure::precondition(message, "`git init` makes one; `omo plan` reads plans anywhere")
}

pub(super) fn unsound(plan: &Plan, bytes: &[u8]) -> Failure {
    let errors = plan.diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
    let shown = crate::plan::diagnostics(plan, bytes);
    let errors = if errors == 1 { "an error".to_owned() } else { format!("{errors} errors") };
    let message = format!("{} has {errors}, so nothing was run\n\n{shown}", plan.source.path);
    Failure::plan(message, format!("mend the plan; `omo plan lint {}` shows all of this again", plan.source.path))
}

enum Known {
    Open(Run, Box<RunState>),
    Complete(Run, Box<RunState>),
}

impl Known {
    fn go_on(self, context: &CommandContext, plan: Plan, options: &OpenOptions) -> Result<(), Failure> {
        match self {
            Self::Open(run, state) => manage::go_on(context, &run, &state, Some(plan), options.digest.as_deref()),
            Self::Complete(run, state) => say(&blocks::complete_already(run.id(), &state)),
        }
    }
}

/// The run of this plan that there is already. One of another plan must not be open: both would write the
/// same checkpoint.
fn known(context: &CommandContext, runs: &Runs, plan: &Plan, options: &OpenOptions) -> Result<Option<Known>, Failure> {
    match context.executing(runs)? {
        Some((run, state)) if state.plan.source.path == plan.source.path => {
            return Ok(Some(Known::Open(run, Box::new(state))));
        }
        Some((run, state)) => return Err(another(run.id(), &state)),
        None => {}
    }
    for listed in runs.list()? {
        let Ok(state) = listed.state else { continue };
        if !context.is_here(&state) {
            continue;
        }
        let is_same = state.plan.source.path == plan.source.path;
        let run = runs.get(&listed.id)?;
        match &state.phase {
            Phase::Ended { result } if is_same && !options.again => {
                let is_unchanged = state.plan_sha256 == plan.source.sha256;
                return match result {
                    RunResult::Complete if is_unchanged => Ok(Some(Known::Complete(run, Box::new(state)))),
                    RunResult::Complete => Ok(None),
                    RunResult::CompletedWithFailures | RunResult::Failed => Ok(Some(Known::Open(run, Box::new(state)))),
                };
            }
            Phase::Executing | Phase::Ended { .. } | Phase::Cancelled { .. } => {}
        }
    }
    Ok(None)
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
    /// About those of a plan; `options` are as they are typed behind its path.
    pub(super) fn of_plan(path: &str, options: &str) -> Self {
        Self {
            name: path.to_owned(),
            typed: format!("{}{options}", typed::command(path)),
            shown_by: format!("`omo plan show {path}` shows the commands"),
        }
    }
}

/// Whether exactly these commands may run: approved before, or agreed to now. Gives what stands for them.
pub(super) fn approve(
    context: &CommandContext,
    plan: &Plan,
    digest: Option<&str>,
    asked: &Asked,
) -> Result<String, Failure> {
    approve_all(context, &planned_commands(plan), digest, asked)
}

/// The same for these commands.
pub(super) fn approve_all(
    context: &CommandContext,
    commands: &[PlannedCommand],
    digest: Option<&str>,
    asked: &Asked,
) -> Result<String, Failure> {
    let now = pending::digest(&context.root, commands);
    if commands.is_empty() || pending::is_approved(Some(&context.state_home), &now) {
        return Ok(now);
    }
    let name = &asked.name;
    let left = pending::write(Some(&context.state_home), &context.root, name, commands)?;
    if context.env.in_session {
        return Err(not_approved(asked, commands, &left));
    }
    let shown = blocks::commands(commands);
    let text = format!("{name} would have these commands run, with your rights:\n{shown}\nApprove exactly this?");
    let shown_by = format!("{}; their digest is {left}", asked.shown_by);
    let own_shell = ("only a person approves what a plan runs", "use a terminal of your own");
    confirm::ask(context.env, &Confirmation { text: &text, digest: &left, own_shell, shown_by: &shown_by }, digest)?;
    let all = pending::all(Some(&context.state_home), &context.root)?;
    let gone = || Failure::conflict("what was shown is not there any more", "run it again");
    let agreed = pending::named(&all, &left).ok_or_else(gone)?;
    let given = confirm::given(context.env);
    pending::approve(Some(&context.state_home), &context.root, agreed, given)?;
    confirm::name_approval(&context.root, context.env, given, &format!("commands of {name} approved"))?;
    Ok(left)
}

fn not_approved(asked: &Asked, commands: &[PlannedCommand], digest: &str) -> Failure {
    let count = blocks::counted(commands.len(), "command");
    let message =
        format!("nothing was run. {} would execute {count} as its checks, and you have not approved them", asked.name);
    if omo_core::words::plan::approval(&asked.name, commands, digest).is_err() {
        let message = format!("{message}; they are too long to be shown here whole");
        return Failure::human(message, "in a terminal of your own, `omo run open` shows them and asks");
    }
    let message = format!("{message}:\n\n{}", blocks::commands(commands).trim_end());
    let code = digest.get(..CODE_CHARS).unwrap_or(digest);
    let hint = format!(
        "read them; to approve exactly these, type:\n  {} --approve {code}\n\
         Only the user can do that: a model shows them this and ends its turn.",
        asked.typed
    );
    Failure::human(message, hint)
}

/// Prints a block.
pub(super) fn say(text: &str) -> Result<(), Failure> {
    Ok(writeln!(anstream::stdout(), "{}", text.trim_end())?)
}
