//! Commands that a worker or verifier has omo run as evidence, and the verifier's verdict.

use omo_checks::task_check::{self, CheckLog};
use omo_core::check::session_check::DEFAULT_TIMEOUT_SECONDS;
use omo_core::check::task_check::{ExpectedResult, TaskCheck, TaskCheckOutcome};
use omo_plan::digest::sha256_hex;
use omo_plan::model::Task;
use omo_plan::refusal::{VerbRefusal, VerbRefusalKind};
use omo_state::random_id;

use super::start::tree_to_text;
use super::{CommandWatcher, Engine, EngineError};
use crate::RunStoreError;
use crate::event::{EventKind, Evidence, PlanVerdict};
use crate::state::{FINAL_CHECKS_ID, RunState};
use crate::verbs::{self, VerbCaller};
use crate::work::attempt::checked_elsewhere;

const LETTERS: usize = 8;

#[derive(Debug)]
pub struct RecordedEvidence {
    pub evidence: Evidence,
    pub state: RunState,
}

#[derive(Debug)]
pub enum VerdictOutcome {
    Accepted(Box<RunState>),
    /// The verdict does not count, and the verifier may go on.
    Refused {
        why: String,
        outcomes: Vec<(TaskCheck, TaskCheckOutcome)>,
        state: Box<RunState>,
    },
}

impl Engine<'_> {
    /// Runs `command` for the task of `ticket`, and records its outcome as evidence.
    pub fn run_evidence(
        &self,
        ticket: &str,
        command: &str,
        watcher: &mut impl CommandWatcher,
    ) -> Result<RecordedEvidence, EngineError> {
        let digest = sha256_hex(ticket.as_bytes());
        let (task, _, state) = self.attempt_of_ticket(&digest)?;
        if !state.is_task_list() && !task.is_verification() {
            return Err(no_evidence_in_plans(&task));
        }
        let attempt = state.attempt_of(&task.id);
        let command = TaskCheck {
            command: command.to_owned(),
            expect: ExpectedResult::default(),
            timeout_seconds: DEFAULT_TIMEOUT_SECONDS,
            cwd: None,
        };
        watcher.begins(&command.command, 0, 1);
        // The worker may run two at the same time: each has a file of its own.
        let letters = random_id::random_letters(LETTERS).map_err(RunStoreError::from)?;
        let name = format!("{}-{attempt}-evidence-{letters}.log", task.id);
        let (file, path) = self.run.log_file(&name)?;
        let log = Some(CheckLog {
            path: path.clone(),
            file,
        });
        let outcome = task_check::run(
            &command,
            self.work_tree.root(),
            self.environment,
            log,
            self.is_wanted(watcher),
        );
        let outcome = outcome.ok_or(EngineError::Cancelled)?;
        let tree = self.snapshots().take_tree();
        let evidence = Evidence {
            id: String::new(),
            task: task.id,
            attempt,
            command: command.command,
            outcome,
            tree: tree.as_ref().and_then(tree_to_text),
            output_sha256: std::fs::read(&path).ok().map(|bytes| sha256_hex(&bytes)),
        };
        let (evidence, state) = self.transact(|state| {
            let kind = verbs::record_evidence(state, &digest, evidence.clone())?;
            // The id was given under the lock.
            let recorded = if let EventKind::EvidenceRan { evidence } = &kind {
                evidence.clone()
            } else {
                evidence
            };
            Ok((vec![kind], recorded))
        })?;
        Ok(RecordedEvidence { evidence, state })
    }

    pub fn leave_note(&self, ticket: &str, text: &str) -> Result<RunState, EngineError> {
        let digest = sha256_hex(ticket.as_bytes());
        let ((), state) =
            self.transact(|state| Ok((vec![verbs::leave_note(state, &digest, text)?], ())))?;
        Ok(state)
    }

    /// Records a verdict. A pass counts only if all checks of the whole, run once more, are green.
    pub fn judge_run(
        &self,
        ticket: &str,
        verdict: &PlanVerdict,
        watcher: &mut impl CommandWatcher,
    ) -> Result<VerdictOutcome, EngineError> {
        let digest = sha256_hex(ticket.as_bytes());
        let (task, _, state) = self.attempt_of_ticket(&digest)?;
        require_verifier(&task)?;
        if !verdict.passed {
            let ((), state) = self.transact(|state| {
                Ok((verbs::give_verdict(state, &digest, verdict.clone())?, ()))
            })?;
            return Ok(VerdictOutcome::Accepted(Box::new(state)));
        }
        self.require_approval(&state)?;
        let _guard = self
            .run
            .try_lock_check(&task.id)?
            .ok_or_else(|| checked_elsewhere(&task.id))?;
        let refused = |why, outcomes, state| {
            Ok(VerdictOutcome::Refused {
                why,
                outcomes,
                state: Box::new(state),
            })
        };
        // Objections that need no check come first.
        if let Some(why) = verbs::verdict_objection(&state, &digest, verdict) {
            return refused(why, Vec::new(), state);
        }
        let checks: Vec<&TaskCheck> = if verbs::judges_the_whole(&state) {
            state.plan.final_checks.iter().collect()
        } else {
            Vec::new()
        };
        let outcomes = self.run_checks(FINAL_CHECKS_ID, &checks, Some(0), watcher)?;
        let found = self.final_check_events(&state, outcomes.clone());
        let (why, state) = self
            .transact(|state| {
                verbs::task_of_ticket(state, &digest)?;
                Ok((found, ()))
            })
            .map(|((), state)| (verbs::verdict_objection(&state, &digest, verdict), state))?;
        if let Some((check, outcome)) = outcomes.iter().find(|(_, outcome)| !outcome.is_green()) {
            return refused(red(check, outcome), outcomes, state);
        }
        if let Some(why) = why {
            return refused(why, outcomes, state);
        }
        let ((), state) =
            self.transact(|state| Ok((verbs::give_verdict(state, &digest, verdict.clone())?, ())))?;
        Ok(VerdictOutcome::Accepted(Box::new(state)))
    }

    pub fn add_task(&self, task: Task) -> Result<RunState, EngineError> {
        let caller: &VerbCaller = &self.caller;
        self.decide(|state| Ok(vec![verbs::add_task(state, caller, task)?]))
    }
}

fn no_evidence_in_plans(task: &Task) -> EngineError {
    EngineError::Refused(VerbRefusal {
        kind: VerbRefusalKind::Precondition,
        message: format!(
            "{} is a task of a plan, which no evidence proves: nothing was run",
            task.id
        ),
        hint: "end the task with `omo agent done`, which runs its checks".to_owned(),
    })
}

fn require_verifier(task: &Task) -> Result<(), EngineError> {
    if task.is_verification() {
        return Ok(());
    }
    Err(EngineError::Refused(VerbRefusal {
        kind: VerbRefusalKind::Precondition,
        message: format!(
            "that ticket is of task {}, and only its verifier judges the whole",
            task.id
        ),
        hint: "end the task with `omo agent done`".to_owned(),
    }))
}

fn red(check: &TaskCheck, outcome: &TaskCheckOutcome) -> String {
    let command = omo_core::text::sanitize(&check.command, 120).replace('`', "'");
    format!(
        "a check of the tasks is not green: `{command}` {}",
        omo_core::text::sanitize(outcome.describe(), 160)
    )
}
