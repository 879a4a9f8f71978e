//! A run begins, and a worker begins with a unit.

use std::fmt::Write;
use std::time::{Duration, Instant};

use omo_core::plan_run::PlannedCommand;
use omo_core::task_check::{ExpectedExit, TaskCheck};
use omo_exec::changes::TreeSnapshot;
use omo_exec::check;
use omo_plan::dialects::ultraplan::steps::is_test_to_come;
use omo_plan::model::{FileAction, Plan, Task, TaskKind};
use omo_plan::run::event::EventKind;
use omo_plan::run::mode::ExecutionMode;
use omo_plan::run::state::{FINAL, RunState, TaskStanding, TaskStatus, WorktreeBaseline};
use omo_plan::run::verbs::{self, AttemptStart, VerbRefusal, VerbRefusalKind};
use omo_plan::ultra_run::asked::RunScope;
use omo_plan::ultra_run::own::quoted;
use omo_store::pending_approval;

use super::{CommandWatcher, Engine, EngineError};
use crate::{task_session, ticket, ultra};

/// How long a check may take that is tried before the work begins. One that takes longer is not known to
/// be green already.
const BEFOREHAND_SECONDS: u32 = 10;
/// How long the supervisor that has started a client may take to write that down, and how often a client that is faster
/// looks.
const NOTED_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A worker has begun.
#[derive(Debug)]
pub struct StartedTask {
    /// On which unit.
    pub unit: Task,
    /// Which attempt it is.
    pub attempt: u32,
    /// What it shows when it is done.
    pub ticket: String,
    /// What it has to know.
    pub brief: String,
}

/// What a run begins with.
#[derive(Debug)]
pub struct RunOpening {
    /// The plan.
    pub plan: Plan,
    /// The digest of exactly its commands, which its user approved.
    pub approved: String,
    /// The top of the project.
    pub root: String,
    /// The commit that is checked out.
    pub base: Option<String>,
    /// How much of an ultraplan was asked for, and in which way.
    pub asked: Option<RunScope>,
    /// How its tasks are handed out.
    pub mode: ExecutionMode,
}

impl From<RunOpening> for EventKind {
    fn from(RunOpening { plan, approved, root, base, asked, mode }: RunOpening) -> Self {
        Self::RunOpened { plan: Box::new(plan), approved, root, base, asked, mode: Some(mode) }
    }
}

/// The commands of a plan as its user is asked about them. One that is run for a task, and at the end once more,
/// is asked about once.
pub fn planned_commands(plan: &Plan) -> Vec<PlannedCommand> {
    let is_same = |one: &TaskCheck, other: &TaskCheck| one.command == other.command && one.cwd == other.cwd;
    let is_of_a_task = |check| plan.commands().any(|(unit, known)| unit != FINAL && is_same(known, check));
    let command = |(unit, check): (&str, &TaskCheck)| PlannedCommand {
        task: unit.to_owned(),
        command: check.command.clone(),
        folder: check.cwd.clone(),
    };
    plan.commands().filter(|(unit, check)| *unit != FINAL || !is_of_a_task(check)).map(command).collect()
}

impl Engine<'_> {
    /// Refuses where the commands of the run are not exactly those that its user approved.
    pub fn approved(&self, state: &RunState) -> Result<(), EngineError> {
        let commands = planned_commands(&state.plan);
        let is_same = pending_approval::commands_digest(self.root, &commands) == state.approved;
        if commands.is_empty() || (is_same && pending_approval::is_approved(Some(self.state_home), &state.approved)) {
            return Ok(());
        }
        Err(EngineError::Refused(VerbRefusal {
            kind: VerbRefusalKind::Human,
            message: "the commands of this plan are not, or no longer, approved: nothing of them runs".to_owned(),
            hint: format!("`{}` shows them and how they are approved", opened_with(state)),
        }))
    }

    /// Begins with a unit: remembers the work tree, and gives what the worker has to know.
    pub fn start(&self, id: &str, watcher: &mut impl CommandWatcher) -> Result<StartedTask, EngineError> {
        let state = self.once_noted(self.run.state()?)?;
        // A client of the run itself works on what the ledger says, whatever becomes of the file meanwhile.
        if self.caller.group.is_none() {
            self.unedited(&state)?;
        }
        self.approved(&state)?;
        // Refused before anything costs time; decided again under the lock.
        let (unit, state) = self.transact(|state| Ok((Vec::new(), verbs::may_start(state, id)?.clone())))?;
        self.in_its_tree(&state, id)?;
        let mut state = self.put_back(state)?;
        let vacuous = known_as_green(&state, &unit);
        let WorktreeBaseline { tree, kept } = self.ground(&state, &unit)?;
        let vacuous = vacuous.map_or_else(|| self.green_already(&state, &unit, watcher), Ok)?;
        let is_verification = unit.kind == TaskKind::Verify;
        let searched = is_verification.then(|| self.searched_since_the_first(&state, tree.as_deref())).flatten();
        if let Some(EventKind::LinesSearched { unfinished }) = &searched {
            state.unfinished = Some(unfinished.clone());
        }
        if let (true, Some(known)) = (ultra::is_one(&state), state.units.get_mut(id)) {
            known.vacuous.clone_from(&vacuous);
        }
        // What the attempt before came to is known until the next one has begun.
        let brief = brief(&state, &unit);
        let made = ticket()?;
        let start = AttemptStart { ticket: made.digest, tree, guarded: guarded(&state, &unit), vacuous, kept };
        let begun = |state: &RunState| Ok(std::iter::once(verbs::start(state, id, start)?).chain(searched).collect());
        let ((), state) = self.transact(|state| Ok((begun(state)?, ())))?;
        let attempt = state.units.get(id).map_or(1, |unit| unit.attempts);
        Ok(StartedTask { brief, unit, attempt, ticket: made.text })
    }

    /// The run once it knows of the client that asks, which may be faster than the supervisor that writes down its
    /// start.
    fn once_noted(&self, state: RunState) -> Result<RunState, EngineError> {
        let deadline = Instant::now() + NOTED_WITHIN;
        let mut state = state;
        while verbs::is_to_be_noted(&state, &self.caller) && self.run.is_supervised()? && Instant::now() < deadline {
            std::thread::sleep(LOOK_EVERY);
            state = self.run.state()?;
        }
        Ok(state)
    }

    /// The checks that are green before the work begins, by their place among all commands of the unit.
    fn green_already(
        &self,
        state: &RunState,
        unit: &Task,
        watcher: &mut impl CommandWatcher,
    ) -> Result<Vec<usize>, EngineError> {
        if unit.kind == TaskKind::Tests {
            // Tests that are not written yet are expected to fail, before and afterwards.
            return Ok(Vec::new());
        }
        // A test that should fail before the work is run only for a plan whose steps have such tests.
        let is_looked_at = ultra::is_one(state) && !is_test_to_come(unit);
        let first = usize::from(unit.red_check.is_some() && !is_looked_at);
        let mut green = Vec::new();
        for (place, known) in unit.commands().enumerate().skip(first) {
            let short =
                TaskCheck { timeout_seconds: known.effective_timeout().min(BEFOREHAND_SECONDS), ..known.clone() };
            watcher.begins(&known.command, place, unit.commands().count());
            let outcome = check::run(&short, self.tree, self.environment, None, || watcher.goes_on());
            let outcome = outcome.ok_or(EngineError::Cut)?;
            let is_to_fail = known.expect.exit == ExpectedExit::NonZero;
            if if is_to_fail { outcome.exit == Some(0) } else { outcome.is_green() } {
                green.push(place);
            }
        }
        Ok(green)
    }
}

/// The checks of a step that were green before its first attempt: what is green now may be by its own work.
fn known_as_green(state: &RunState, unit: &Task) -> Option<Vec<usize>> {
    let known = state.units.get(&unit.id).filter(|known| ultra::is_one(state) && known.ground.is_some())?;
    Some(known.vacuous.clone())
}

/// The command that opens a run of such a plan.
fn opened_with(state: &RunState) -> String {
    if task_session::is_one(state) {
        return format!("omo run start --tasks --session {}", task_session::session_id(state));
    }
    format!("omo run start {}", quoted(&state.plan.source.path))
}

/// A work tree as the ledger holds it.
pub(super) fn written(tree: &TreeSnapshot) -> Option<String> {
    serde_json::to_string(tree).ok()
}

/// A work tree that the ledger holds.
pub(super) fn read(tree: &str) -> Option<TreeSnapshot> {
    serde_json::from_str(tree).ok()
}

/// The test files that the implementation of a pair must leave as they are.
fn guarded(state: &RunState, unit: &Task) -> Vec<(String, String)> {
    let tests = unit.pair.as_ref().filter(|_| unit.kind != TaskKind::Tests).and_then(|pair| state.units.get(pair));
    let passed = tests.filter(|tests| tests.status == TaskStatus::Passed);
    passed.and_then(|tests| tests.end.as_ref()).map(|end| end.tests.clone()).unwrap_or_default()
}

/// What a worker has to know about its unit, in Markdown.
pub fn brief(state: &RunState, unit: &Task) -> String {
    if task_session::is_one(state) || unit.kind == TaskKind::Verify {
        return task_session::report::brief(state, unit);
    }
    if ultra::is_one(state) {
        return ultra::brief::brief(state, unit);
    }
    let word = state.plan.dialect.unit_word();
    let mut text = format!("# {word} {} of {}\n\n", unit.id, state.plan.source.path);
    if !state.plan.goal.is_empty() {
        let _ = writeln!(text, "Goal of the plan: {}\n", state.plan.goal);
    }
    let _ = writeln!(text, "{}", unit.body.trim_end());
    let _ = write!(text, "\n---\n\n## What omo holds this {word} to\n\n");
    files(&mut text, unit);
    checks(&mut text, unit);
    let guarded = guarded(state, unit);
    if !guarded.is_empty() {
        let names: Vec<&str> = guarded.iter().map(|(path, _)| path.as_str()).collect();
        let _ = writeln!(text, "- Stay exactly as they are: {}. A change of them fails the {word}.", names.join(", "));
    }
    before(&mut text, state, unit);
    text
}

fn files(text: &mut String, unit: &Task) {
    if unit.files.is_empty() {
        let _ = writeln!(text, "- The plan names no files.");
        return;
    }
    let verb = |action| match action {
        FileAction::Create => "create",
        FileAction::Modify => "modify",
        FileAction::Test => "test",
        FileAction::Delete => "delete",
    };
    let names: Vec<String> = unit.files.iter().map(|file| format!("{} `{}`", verb(file.action), file.path)).collect();
    let _ = writeln!(text, "- Files: {}. Any other file that changes is reported.", names.join(", "));
}

fn checks(text: &mut String, unit: &Task) {
    if unit.checks.is_empty() && unit.red_check.is_none() {
        let _ = writeln!(text, "- The plan names no check: this can end as unverified at best.");
    }
    for check in unit.red_check.iter().chain(&unit.checks) {
        let expected = match check.expect.exit {
            ExpectedExit::Zero => "has to end with status 0".to_owned(),
            ExpectedExit::NonZero => "has to fail, because what it tests is not there yet".to_owned(),
            ExpectedExit::Exactly(status) => format!("has to end with status {status}"),
        };
        let says = check.expect.stdout_has.as_ref().map(|has| format!(" and to print `{has}`")).unwrap_or_default();
        let _ = writeln!(text, "- omo runs `{}`, which {expected}{says}.", check.command);
    }
}

/// What happened before: what those have left that it depends on, and how the last attempt ended.
fn before(text: &mut String, state: &RunState, unit: &Task) {
    let end = |id: &str| state.units.get(id).and_then(|known| known.end.as_ref());
    for id in &unit.deps {
        if let Some(note) = end(id).and_then(|end| end.note.as_ref()) {
            let _ = writeln!(text, "- From {id}: {note}");
        }
    }
    let known = state.units.get(&unit.id);
    if known.is_some_and(|known| known.is_stale) {
        let _ = writeln!(text, "- It was done before the plan was edited; what is there may be of the old text.");
    } else if let Some(end) =
        end(&unit.id).filter(|_| state.standing(&unit.id) != Some(TaskStanding::Is(TaskStatus::Passed)))
    {
        let _ = writeln!(text, "- The last attempt: {}", end.evidence);
        if let Some(other) = &unit.alternative {
            let _ = writeln!(text, "- The plan says how to try it now: {other}");
        }
    }
    if let Some(why) = known.and_then(|known| known.why.as_ref()) {
        let _ = writeln!(text, "- Begun again: {why}. Work of the attempt before may be in the files.");
    }
}
