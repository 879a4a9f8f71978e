//! A run begins, and a worker begins with a unit.

use std::fmt::Write;

use omo_core::check::{Check, ExpectedExit};
use omo_core::plan_run::PlannedCommand;
use omo_exec::changes::{self, TreeId};
use omo_exec::check;
use omo_plan::model::{FileAction, Plan, Unit, UnitKind};
use omo_plan::run::event::What;
use omo_plan::run::state::{FINAL, RunState, Standing, UnitStatus};
use omo_plan::run::verbs::{self, Refusal, RefusalKind, Start};
use omo_store::pending;

use super::{Engine, EngineError, Watcher};
use crate::{task_session, ticket};

/// How long a check may take that is tried before the work begins. One that takes longer is not known to
/// be green already.
const BEFOREHAND_SECONDS: u32 = 10;

/// A worker has begun.
#[derive(Debug)]
pub struct Started {
    /// On which unit.
    pub unit: Unit,
    /// Which attempt it is.
    pub attempt: u32,
    /// What it shows when it is done.
    pub ticket: String,
    /// What it has to know.
    pub brief: String,
}

/// What a run begins with.
#[derive(Debug)]
pub struct Opening {
    /// The plan.
    pub plan: Plan,
    /// The digest of exactly its commands, which its user approved.
    pub approved: String,
    /// The top of the project.
    pub root: String,
    /// The commit that is checked out.
    pub base: Option<String>,
}

impl From<Opening> for What {
    fn from(Opening { plan, approved, root, base }: Opening) -> Self {
        Self::RunOpened { plan: Box::new(plan), approved, root, base }
    }
}

/// The commands of a plan as its user is asked about them. One that is run for a task, and at the end once more,
/// is asked about once.
pub fn planned_commands(plan: &Plan) -> Vec<PlannedCommand> {
    let is_same = |one: &Check, other: &Check| one.command == other.command && one.cwd == other.cwd;
    let is_of_a_task = |check| plan.commands().any(|(unit, known)| unit != FINAL && is_same(known, check));
    let command = |(unit, check): (&str, &Check)| PlannedCommand {
        unit: unit.to_owned(),
        command: check.command.clone(),
        folder: check.cwd.clone(),
    };
    plan.commands().filter(|(unit, check)| *unit != FINAL || !is_of_a_task(check)).map(command).collect()
}

impl Engine<'_> {
    /// Refuses where the commands of the run are not exactly those that its user approved.
    pub fn approved(&self, state: &RunState) -> Result<(), EngineError> {
        let commands = planned_commands(&state.plan);
        let is_same = pending::digest(self.root, &commands) == state.approved;
        if commands.is_empty() || (is_same && pending::is_approved(Some(self.state_home), &state.approved)) {
            return Ok(());
        }
        Err(EngineError::Refused(Refusal {
            kind: RefusalKind::Human,
            message: "the commands of this plan are not, or no longer, approved: nothing of them runs".to_owned(),
            hint: format!("`{}` shows them and how they are approved", opened_with(state)),
        }))
    }

    /// Begins with a unit: remembers the work tree, and gives what the worker has to know.
    pub fn start(&self, id: &str, watcher: &mut impl Watcher) -> Result<Started, EngineError> {
        let state = self.run.state()?;
        self.unedited(&state)?;
        self.approved(&state)?;
        // Refused before anything costs time; decided again under the lock.
        let (unit, mut state) = self.transact(|state| Ok((Vec::new(), verbs::may_start(state, id)?.clone())))?;
        let tree = changes::snapshot(self.root, self.state_home, self.run.id()).as_ref().and_then(written);
        let vacuous = self.green_already(&unit, watcher)?;
        let is_verification = unit.kind == UnitKind::Verify;
        let searched = is_verification.then(|| self.searched_since_the_first(&state, tree.as_deref())).flatten();
        if let Some(What::LinesSearched { unfinished }) = &searched {
            state.unfinished = Some(unfinished.clone());
        }
        // What the attempt before came to is known until the next one has begun.
        let brief = brief(&state, &unit);
        let made = ticket()?;
        let start = Start { ticket: made.digest, tree, guarded: guarded(&state, &unit), vacuous };
        let begun = |state: &RunState| Ok(std::iter::once(verbs::start(state, id, start)?).chain(searched).collect());
        let ((), state) = self.transact(|state| Ok((begun(state)?, ())))?;
        let attempt = state.units.get(id).map_or(1, |unit| unit.attempts);
        Ok(Started { brief, unit, attempt, ticket: made.text })
    }

    /// The checks that are green before the work begins, by their place among all checks of the unit.
    fn green_already(&self, unit: &Unit, watcher: &mut impl Watcher) -> Result<Vec<usize>, EngineError> {
        if unit.kind == UnitKind::Tests {
            // Tests that are not written yet are expected to fail, before and afterwards.
            return Ok(Vec::new());
        }
        let mut green = Vec::new();
        for (place, known) in unit.checks.iter().enumerate() {
            let short = Check { timeout_seconds: known.timeout().min(BEFOREHAND_SECONDS), ..known.clone() };
            watcher.begins(&known.command, place, unit.checks.len());
            let outcome = check::run(&short, self.root, self.environment, None, || watcher.goes_on());
            if outcome.ok_or(EngineError::Cut)?.is_green() {
                green.push(unit.red_check.iter().count() + place);
            }
        }
        Ok(green)
    }
}

/// The command that opens a run of such a plan.
fn opened_with(state: &RunState) -> String {
    if task_session::is_one(state) {
        return format!("omo run open --for exec --session {}", task_session::session_id(state));
    }
    "omo run open --for plan".to_owned()
}

/// A work tree as the ledger holds it.
pub(super) fn written(tree: &TreeId) -> Option<String> {
    serde_json::to_string(tree).ok()
}

/// A work tree that the ledger holds.
pub(super) fn read(tree: &str) -> Option<TreeId> {
    serde_json::from_str(tree).ok()
}

/// The test files that the implementation of a pair must leave as they are.
fn guarded(state: &RunState, unit: &Unit) -> Vec<(String, String)> {
    let tests = unit.pair.as_ref().filter(|_| unit.kind != UnitKind::Tests).and_then(|pair| state.units.get(pair));
    let passed = tests.filter(|tests| tests.status == UnitStatus::Passed);
    passed.and_then(|tests| tests.end.as_ref()).map(|end| end.tests.clone()).unwrap_or_default()
}

/// What a worker has to know about its unit, in Markdown.
pub fn brief(state: &RunState, unit: &Unit) -> String {
    if task_session::is_one(state) {
        return task_session::report::brief(state, unit);
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

fn files(text: &mut String, unit: &Unit) {
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

fn checks(text: &mut String, unit: &Unit) {
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
fn before(text: &mut String, state: &RunState, unit: &Unit) {
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
        end(&unit.id).filter(|_| state.standing(&unit.id) != Some(Standing::Is(UnitStatus::Passed)))
    {
        let _ = writeln!(text, "- The last attempt: {}", end.evidence);
    }
    if let Some(why) = known.and_then(|known| known.why.as_ref()) {
        let _ = writeln!(text, "- Begun again: {why}. Work of the attempt before may be in the files.");
    }
}
