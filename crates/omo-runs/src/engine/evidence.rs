//! What only the run of a task session does: a command is run to show something, and the whole is judged.

use omo_core::task_check::{DEFAULT_TIMEOUT_SECONDS, ExpectedResult, TaskCheck, TaskCheckOutcome};
use omo_exec::changes;
use omo_exec::check::{self, CheckLog};
use omo_plan::digest::sha256;
use omo_plan::model::{Task, TaskKind};
use omo_plan::run::event::{EventKind, Evidence, PlanVerdict};
use omo_plan::run::state::{FINAL, RunState};
use omo_plan::run::verbs::{self, VerbCaller, VerbRefusal, VerbRefusalKind};

use super::start::written;
use super::work::being_checked;
use super::{CommandWatcher, Engine, EngineError};
use crate::{letters, task_session};

/// So many letters tell the outputs of one attempt apart.
const LETTERS: usize = 8;

/// Something was run to show something.
#[derive(Debug)]
pub struct RecordedEvidence {
    /// What came of it, with the id that it is known by from now on.
    pub evidence: Evidence,
    /// The run as it is now.
    pub state: RunState,
}

/// What became of a verdict.
#[derive(Debug)]
pub enum VerdictOutcome {
    /// It counts.
    Given(Box<RunState>),
    /// It does not, and the verifier may go on: this is why.
    Refused {
        /// Why.
        why: String,
        /// The checks of the whole that were run for it.
        outcomes: Vec<(TaskCheck, TaskCheckOutcome)>,
        /// The run as it is now.
        state: Box<RunState>,
    },
}

impl Engine<'_> {
    /// Runs a command for the worker that has this ticket, and keeps what it printed.
    pub fn show(
        &self,
        ticket: &str,
        command: &str,
        watcher: &mut impl CommandWatcher,
    ) -> Result<RecordedEvidence, EngineError> {
        let digest = sha256(ticket.as_bytes());
        let (unit, _, state) = self.at_work(&digest)?;
        if !task_session::is_one(&state) && unit.kind != TaskKind::Verify {
            return Err(nothing_is_judged(&unit));
        }
        let attempt = state.units.get(&unit.id).map_or(1, |known| known.attempts);
        let command = TaskCheck {
            command: command.to_owned(),
            expect: ExpectedResult::default(),
            timeout_seconds: DEFAULT_TIMEOUT_SECONDS,
            cwd: None,
        };
        watcher.begins(&command.command, 0, 1);
        // The worker may run two at the same time: each has a file of its own.
        let name = format!("{}-{attempt}-evidence-{}.log", unit.id, letters::random(LETTERS)?);
        let (file, path) = self.run.log_file(&name)?;
        let log = Some(CheckLog { path: path.clone(), file });
        let outcome = check::run(&command, self.tree, self.environment, log, || watcher.goes_on());
        let outcome = outcome.ok_or(EngineError::Cut)?;
        let tree = changes::snapshot(self.tree, self.state_home, self.run.id());
        let evidence = Evidence {
            id: String::new(),
            unit: unit.id,
            attempt,
            command: command.command,
            outcome,
            tree: tree.as_ref().and_then(written),
            output_sha256: std::fs::read(&path).ok().map(|bytes| sha256(&bytes)),
        };
        let (evidence, state) = self.transact(|state| {
            let what = verbs::evidence(state, &digest, evidence.clone())?;
            // It was given its id under the lock.
            let known = if let EventKind::EvidenceRan { evidence } = &what { evidence.clone() } else { evidence };
            Ok((vec![what], known))
        })?;
        Ok(RecordedEvidence { evidence, state })
    }

    /// The verifier judges the whole. That all is done counts only after the checks of the whole were run once more,
    /// each of them green.
    pub fn judge_all(
        &self,
        ticket: &str,
        verdict: &PlanVerdict,
        watcher: &mut impl CommandWatcher,
    ) -> Result<VerdictOutcome, EngineError> {
        let digest = sha256(ticket.as_bytes());
        let (unit, _, state) = self.at_work(&digest)?;
        is_verifier(&unit)?;
        if !verdict.passed {
            let ((), state) = self.transact(|state| Ok((verbs::verdict(state, &digest, verdict.clone())?, ())))?;
            return Ok(VerdictOutcome::Given(Box::new(state)));
        }
        self.approved(&state)?;
        let _guard = self.run.try_lock_check(&unit.id)?.ok_or_else(|| being_checked(&unit.id))?;
        let refused = |why, outcomes, state| Ok(VerdictOutcome::Refused { why, outcomes, state: Box::new(state) });
        // What can be told without running anything is told first.
        if let Some(why) = verbs::refuses(&state, &digest, verdict) {
            return refused(why, Vec::new(), state);
        }
        let checks: Vec<&TaskCheck> = state.plan.final_checks.iter().collect();
        let outcomes = self.run_checks(FINAL, &checks, Some(0), watcher)?;
        let found = self.found_of_the_whole(&state, outcomes.clone());
        let (why, state) = self
            .transact(|state| {
                verbs::of_ticket(state, &digest)?;
                Ok((found, ()))
            })
            .map(|((), state)| (verbs::refuses(&state, &digest, verdict), state))?;
        if let Some((check, outcome)) = outcomes.iter().find(|(_, outcome)| !outcome.is_green()) {
            return refused(red(check, outcome), outcomes, state);
        }
        if let Some(why) = why {
            return refused(why, outcomes, state);
        }
        let ((), state) = self.transact(|state| Ok((verbs::verdict(state, &digest, verdict.clone())?, ())))?;
        Ok(VerdictOutcome::Given(Box::new(state)))
    }

    /// Adds a task that the plan did not have.
    pub fn add(&self, unit: Task) -> Result<RunState, EngineError> {
        let caller: &VerbCaller = &self.caller;
        self.decide(|state| Ok(vec![verbs::add_unit(state, caller, unit)?]))
    }
}

/// The tasks of a plan are proved by their checks alone.
fn nothing_is_judged(unit: &Task) -> EngineError {
    EngineError::Refused(VerbRefusal {
        kind: VerbRefusalKind::Precondition,
        message: format!("{} is a task of a plan, which no evidence proves: nothing was run", unit.id),
        hint: "end the task with `omo agent done`, which runs its checks".to_owned(),
    })
}

fn is_verifier(unit: &Task) -> Result<(), EngineError> {
    if unit.kind == TaskKind::Verify {
        return Ok(());
    }
    Err(EngineError::Refused(VerbRefusal {
        kind: VerbRefusalKind::Precondition,
        message: format!("that ticket is of task {}, and only whoever verifies judges the whole", unit.id),
        hint: "end the task with `omo agent done`".to_owned(),
    }))
}

fn red(check: &TaskCheck, outcome: &TaskCheckOutcome) -> String {
    let command = omo_core::text::sanitize(&check.command, 120).replace('`', "'");
    format!("a check of the tasks is not green: `{command}` {}", omo_core::text::sanitize(outcome.describe(), 160))
}
