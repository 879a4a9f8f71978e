//! How the events that only a task session knows are folded.

use super::{RunState, reopen};
use crate::id::is_id;
use crate::model::{Dialect, Task, TaskKind};
use crate::run::event::{AttemptEnd, EventKind, ImportedStatus, PlanVerdict, RunEvent};
use crate::run::shown;
use crate::run::state::{LedgerError, TaskState, TaskStatus};
use crate::task_session::plan::digest;

impl RunState {
    /// Refuses what no verb of a session writes down.
    pub(super) fn check_session_event(&self, event: &RunEvent, what: &EventKind) -> Result<(), LedgerError> {
        let bad = |what: &str| Err(LedgerError { seq: event.seq, what: what.to_owned() });
        match what {
            EventKind::UnitClaimed { unit, evidence_ids, .. } => {
                let checks = self.units.get(unit).filter(|known| known.running.is_some()).map(|known| &known.checks);
                let is_green = checks.is_some_and(|checks| checks.iter().all(|(_, outcome)| outcome.is_green()));
                if !is_green || shown::by_worker(self, unit, evidence_ids).is_err() {
                    return bad("claims a unit without green evidence of its own");
                }
            }
            EventKind::UnitImported { unit, status: ImportedStatus::Done, .. }
                if self.plan.unit(unit).is_some_and(|unit| unit.kind == TaskKind::Verify) =>
            {
                return bad("takes a verification from another program");
            }
            EventKind::EvidenceRan { evidence } => {
                let unit = self.units.get(&evidence.unit);
                if unit.is_some_and(|unit| unit.running.is_none() || unit.attempts != evidence.attempt) {
                    return bad("has evidence that no worker had run");
                }
                if self.evidence.iter().any(|known| known.id == evidence.id) {
                    return bad("has evidence under an id that is taken");
                }
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn add_unit(&mut self, event: &RunEvent, added: &Task) -> Result<(), LedgerError> {
        let is_known = |id: &String| self.plan.unit(id).is_some_and(|unit| unit.kind != TaskKind::Verify);
        let may_be = self.plan.dialect == Dialect::TasksJson
            && is_id(&added.id)
            && added.kind != TaskKind::Verify
            && self.plan.unit(&added.id).is_none()
            && added.deps.iter().all(is_known);
        if !may_be {
            return Err(LedgerError { seq: event.seq, what: "adds a task that cannot be".to_owned() });
        }
        let verification = self.plan.units.iter().position(|unit| unit.kind == TaskKind::Verify);
        if let Some(verification) = verification.and_then(|place| self.plan.units.get_mut(place)) {
            verification.deps.push(added.id.clone());
        }
        let place = verification.unwrap_or(self.plan.units.len());
        self.plan.units.insert(place, added.clone());
        if let Some(group) = self.plan.groups.last_mut() {
            let place = verification.map_or(group.units.len(), |_| group.units.len().saturating_sub(1));
            group.units.insert(place, added.id.clone());
        }
        self.plan.source.sha256 = digest(&self.plan.units);
        self.plan_sha256.clone_from(&self.plan.source.sha256);
        self.units.insert(added.id.clone(), TaskState { at: Some(event.ts), ..TaskState::default() });
        self.void_the_whole();
        Ok(())
    }

    /// A verdict ends the verification. One that the whole is not done has failed what it names, too.
    pub(super) fn take_verdict(&mut self, event: &RunEvent, verdict: &PlanVerdict) -> Result<(), LedgerError> {
        let bad = |what: &str| LedgerError { seq: event.seq, what: what.to_owned() };
        let id = self.plan.verification().map(|unit| unit.id.clone());
        let id = id.filter(|id| self.units.get(id).is_some_and(|known| known.running.is_some()));
        let id = id.ok_or_else(|| bad("has a verdict that nobody was asked for"))?;
        if verdict.passed && shown::is_whole(self, verdict).is_err() {
            return Err(bad("says that all is done, and it is not"));
        }
        if verdict.reopen.iter().any(|(named, _)| *named == id || !self.units.contains_key(named)) {
            return Err(bad("has a verdict on a task that is not there"));
        }
        for (named, why) in &verdict.reopen {
            let named = self.units.get_mut(named);
            if let Some(named) = named.filter(|named| matches!(named.status, TaskStatus::Passed | TaskStatus::Claimed))
            {
                named.status = TaskStatus::Failed;
                named.why = Some(format!("the verifier says: {why}"));
                named.at = Some(event.ts);
            }
        }
        self.verdicts.push(verdict.clone());
        if let Some(unit) = self.units.get_mut(&id) {
            let end = AttemptEnd { attempt: unit.attempts, evidence: verdict.in_words(), ..AttemptEnd::default() };
            unit.status = if verdict.passed { TaskStatus::Passed } else { TaskStatus::Failed };
            (unit.running, unit.end, unit.why) = (None, Some(end), None);
            unit.evidence_ids.clone_from(&verdict.evidence_ids);
            unit.at = Some(event.ts);
        }
        Ok(())
    }

    pub(super) fn start_iteration(
        &mut self,
        event: &RunEvent,
        iteration: u32,
        reopened: &[(String, String)],
    ) -> Result<(), LedgerError> {
        let bad = |what: &str| LedgerError { seq: event.seq, what: what.to_owned() };
        // A run that goes on after its end begins to count anew.
        let is_next = iteration == self.iteration.saturating_add(1) || (iteration, self.iteration) == (1, 1);
        if !is_next || iteration > self.plan.policy.max_iterations {
            return Err(bad("goes over the tasks once more than it may"));
        }
        let has_ended = |id: &String| self.units.get(id).is_some_and(|known| known.status.is_ended());
        if !reopened.iter().all(|(id, _)| has_ended(id)) {
            return Err(bad("has a task done again that was not done"));
        }
        self.iteration = iteration;
        for (id, why) in reopened {
            if let Some(unit) = self.units.get_mut(id) {
                reopen(unit, why);
                unit.at = Some(event.ts);
            }
            self.withdraw_about(event, id);
        }
        self.void_the_whole();
        Ok(())
    }

    /// What was found of the whole before something of it changed says nothing any more.
    pub(super) fn void_the_whole(&mut self) {
        self.final_checks.clear();
        self.unfinished = None;
        let Some(verification) = self.plan.verification().map(|unit| unit.id.clone()) else { return };
        let known = self.units.get_mut(&verification);
        if let Some(known) = known.filter(|known| matches!(known.status, TaskStatus::Passed | TaskStatus::Failed)) {
            reopen(known, "what it verified is done again");
        }
    }
}
