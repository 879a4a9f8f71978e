//! How the events of a ledger become the state of its run, one after the other.
//!
//! A ledger is written by verbs only, so what cannot be here is a ledger that something else wrote, or
//! a newer omo: it is refused with the number of the event, never folded into a state that is wrong.

mod apart;
mod session;

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Dialect, Plan, PlanDecision, Precondition};
use crate::run::event::{AttemptEnd, EventKind, ImportedStatus, Question, QuestionKind, RunEvent};
use crate::run::mode::ExecutionMode;
use crate::run::schedule;
use crate::run::state::{
    DispatchedTasks, FINAL, FOREGROUND, LedgerError, QuestionAnswer, QuestionState, RunPhase, RunState, RunningAttempt,
    STOP, TaskState, TaskStatus, WITHDRAWN, WorktreeBaseline, chosen_label, texts,
};

impl RunState {
    /// The state after the first event, which opens the run.
    ///
    /// # Errors
    ///
    /// It opens none.
    pub fn open(event: &RunEvent) -> Result<Self, LedgerError> {
        let EventKind::RunOpened { plan, approved, root, base, asked, mode } = &event.what else {
            return Err(LedgerError { seq: event.seq, what: "does not open a run".to_owned() });
        };
        let units = plan.units.iter().map(|unit| (unit.id.clone(), TaskState::default())).collect();
        Ok(Self {
            plan: (**plan).clone(),
            plan_sha256: plan.source.sha256.clone(),
            approved: approved.clone(),
            root: root.clone(),
            base: base.clone(),
            phase: RunPhase::Executing,
            holder: event.actor.clone(),
            units,
            questions: Vec::new(),
            reviewed: BTreeSet::new(),
            final_checks: BTreeMap::new(),
            drift: Vec::new(),
            handed_out: None,
            iteration: 1,
            evidence: Vec::new(),
            verdicts: Vec::new(),
            first_tree: None,
            unfinished: None,
            apart: None,
            asked: *asked,
            mode: mode.unwrap_or_else(|| ExecutionMode::of_dialect(plan.dialect)),
            is_stopped: false,
            opened_at: event.ts,
            updated_at: event.ts,
            seq: event.seq,
        })
    }

    /// The state after one more event. Where that is an error, nothing has changed.
    ///
    /// # Errors
    ///
    /// The event cannot be the next one of this run.
    pub fn apply(&mut self, event: &RunEvent) -> Result<(), LedgerError> {
        let bad = |what: &str| LedgerError { seq: event.seq, what: what.to_owned() };
        if self.seq.checked_add(1) != Some(event.seq) {
            return Err(bad("does not follow the one before it"));
        }
        match &event.what {
            EventKind::RunOpened { .. } => return Err(bad("opens a run that is open")),
            EventKind::HandedOut { units, .. } => {
                self.handed_out = Some(DispatchedTasks { units: units.clone(), at: event.ts });
            }
            EventKind::Taken => self.take(event),
            EventKind::PlanChanged { plan, approved } => self.take_plan(event, plan, approved),
            EventKind::QuestionOpened { question } => self.add_question(event, question)?,
            EventKind::QuestionAnswered { question, option, plan_sha256 } => {
                self.take_answer(event, question, option)?;
                if let Some(sha256) = plan_sha256 {
                    self.plan_sha256.clone_from(sha256);
                }
            }
            // A unit may be called so too; its attempts are counted from 1.
            EventKind::CheckRan { unit, attempt: 0, place, outcome, .. } if unit == FINAL => {
                self.final_checks.insert(*place, outcome.clone());
            }
            EventKind::ProjectionDrift { file, kept } => self.drift.push((file.clone(), kept.clone())),
            EventKind::UnitAdded { added } => self.add_unit(event, added)?,
            EventKind::LinesSearched { unfinished } => self.unfinished = Some(unfinished.clone()),
            EventKind::VerdictGiven { verdict } => self.take_verdict(event, verdict)?,
            EventKind::IterationStarted { iteration, reopened } => self.start_iteration(event, *iteration, reopened)?,
            EventKind::BudgetSet { .. }
            | EventKind::SetApart { .. }
            | EventKind::GroupPrepared { .. }
            | EventKind::ChildStarted { .. }
            | EventKind::ChildEnded { .. }
            | EventKind::GroupLacks { .. }
            | EventKind::LimitReached { .. }
            | EventKind::GroupStuck { .. }
            | EventKind::GroupEnded { .. }
            | EventKind::GroupMerged { .. }
            | EventKind::GroupRefused { .. }
            | EventKind::GroupRemoved { .. }
            | EventKind::GroupLeft { .. }
            | EventKind::CaughtUp { .. }
            | EventKind::LandRefused { .. }
            | EventKind::Landed { .. } => self.apply_to_group(event)?,
            EventKind::Cancelled { why } => {
                self.give_back_all("the run was cancelled");
                self.phase = RunPhase::Cancelled { why: why.clone() };
            }
            EventKind::Resumed => self.resume(event),
            EventKind::RunEnded { result } => self.phase = RunPhase::Ended { result: *result },
            what => self.apply_to_unit(event, what)?,
        }
        (self.seq, self.updated_at) = (event.seq, event.ts);
        Ok(())
    }

    fn apply_to_unit(&mut self, event: &RunEvent, what: &EventKind) -> Result<(), LedgerError> {
        let Some(id) = unit_of(what) else { return Ok(()) };
        let bad = |what: &str| LedgerError { seq: event.seq, what: what.to_owned() };
        self.check_session_event(event, what)?;
        let unit = self.units.get_mut(id).ok_or_else(|| bad("is about a unit that the plan does not have"))?;
        // Verbs see to this. Here it holds for whatever else comes to write a ledger.
        if matches!(what, EventKind::UnitPassed { .. }) && !is_proved(unit) {
            return Err(bad("passes a unit whose checks were not seen to be green"));
        }
        unit.at = Some(event.ts);
        let takes_back = self.plan.unit(id).is_some_and(|unit| unit.on_failure.takes_back());
        let mut end_as = |status, end: &AttemptEnd| {
            unit.status = status;
            unit.running = None;
            unit.end = Some(end.clone());
            unit.why = None;
            unit.is_stale = false;
        };
        match what {
            EventKind::UnitPassed { end, .. } => {
                end_as(TaskStatus::Passed, end);
                unit.ground = None;
            }
            EventKind::UnitUnverified { end, .. } => end_as(TaskStatus::Unverified, end),
            EventKind::UnitRestored { left, .. } => {
                (unit.ground, unit.is_to_restore) = (None, false);
                unit.left.clone_from(left);
            }
            EventKind::UnitClaimed { end, evidence_ids, .. } => {
                end_as(TaskStatus::Claimed, end);
                unit.evidence_ids.clone_from(evidence_ids);
            }
            EventKind::EvidenceRan { evidence } => {
                unit.evidence_ids.push(evidence.id.clone());
                self.evidence.push(evidence.clone());
            }
            EventKind::UnitFailed { end, is_final: true, .. } => {
                end_as(TaskStatus::Failed, end);
                unit.is_to_restore = takes_back && unit.ground.as_ref().is_some_and(|ground| ground.kept.is_some());
            }
            EventKind::UnitFailed { end, is_final: false, .. } => end_as(TaskStatus::Pending, end),
            EventKind::UnitImported { status, evidence, files, .. } => {
                let end = AttemptEnd { evidence: evidence.clone(), files: files.clone(), ..AttemptEnd::default() };
                end_as((*status).into(), &end);
                unit.why = (*status == ImportedStatus::Blocked).then_some(end.evidence);
            }
            EventKind::UnitStarted { attempt, ticket, tree, guarded, vacuous, kept, .. } => {
                let ground = || WorktreeBaseline { tree: tree.clone(), kept: kept.clone() };
                unit.ground = unit.ground.take().or_else(|| kept.is_some().then(ground));
                unit.status = TaskStatus::Running;
                unit.attempts = *attempt;
                unit.why = None;
                unit.judgment = None;
                unit.left.clear();
                unit.checks.clear();
                unit.evidence_ids.clear();
                // A task that is done again finds what its last attempt has left: that is green by its own work.
                let is_gone_over = self.plan.dialect == Dialect::TasksJson || self.mode == ExecutionMode::Waves;
                if *attempt == 1 || !is_gone_over {
                    unit.vacuous.clone_from(vacuous);
                }
                let (by, ticket) = (event.actor.clone(), ticket.clone());
                self.first_tree = self.first_tree.take().or_else(|| tree.clone());
                let (tree, guarded) = (tree.clone(), guarded.clone());
                unit.running = Some(RunningAttempt { by, ticket, since: event.ts, tree, guarded });
                self.void_the_whole();
            }
            EventKind::CheckRan { command, outcome, .. } => unit.checks.push((command.clone(), outcome.clone())),
            EventKind::UnitHeld { why, attempt, is_pause, .. } => {
                give_back(unit, *attempt, why);
                unit.lost = unit.lost.saturating_add(u32::from(!is_pause));
            }
            EventKind::UnitSkipped { why, .. } => {
                (unit.status, unit.running, unit.why) = (TaskStatus::Skipped, None, Some(why.clone()));
                unit.is_stale = false;
            }
            EventKind::UnitReopened { why, .. } => {
                reopen(unit, why);
            }
            _ => {}
        }
        if matches!(what, EventKind::UnitStarted { .. }) {
            self.note_progress(id);
        }
        if matches!(what, EventKind::UnitSkipped { .. } | EventKind::UnitReopened { .. }) {
            self.void_the_whole();
            self.withdraw_about(event, id);
        }
        Ok(())
    }

    /// Goes on with an edited plan: what passed and says the same now stays, all else is as it was or is new, and what
    /// was done and says something else has to be done again.
    fn take_plan(&mut self, event: &RunEvent, plan: &Plan, approved: &str) {
        let texts = texts(&self.plan);
        let mut units = BTreeMap::new();
        for unit in &plan.units {
            let state = match texts.get(unit.id.as_str()).zip(self.units.get(&unit.id)) {
                None => TaskState::default(),
                Some((text, state)) if *text == unit.body_sha256 || state.status == TaskStatus::Running => {
                    state.clone()
                }
                Some((_, state)) => {
                    self.reviewed.remove(&unit.id);
                    TaskState {
                        is_stale: state.is_stale || matches!(state.status, TaskStatus::Passed | TaskStatus::Claimed),
                        attempts: state.attempts,
                        attempts_before: state.attempts,
                        end: state.end.clone(),
                        at: Some(event.ts),
                        // What its attempts have left is still there, and is still theirs.
                        ground: state.ground.clone(),
                        is_to_restore: state.is_to_restore,
                        ..TaskState::default()
                    }
                }
            };
            units.insert(unit.id.clone(), state);
        }
        self.reviewed.retain(|id| units.contains_key(id));
        let before = std::mem::replace(&mut self.plan, plan.clone());
        self.keep_choices(&before);
        self.units = units;
        self.drop_groups();
        self.plan_sha256.clone_from(&plan.source.sha256);
        approved.clone_into(&mut self.approved);
        self.void_the_whole();
        self.handed_out = None;
        // What was asked was asked about the plan as it was. Where it is still open it is asked again.
        self.withdraw(event, |_| true);
    }

    /// A decision that its user took stays taken where the edited plan asks just the same: the answer may
    /// not have got into the file.
    fn keep_choices(&mut self, before: &Plan) {
        for decision in decisions(&mut self.plan) {
            let known = before.preconditions.iter().find_map(|known| match known {
                Precondition::Decision(known) if known.is_same_question(decision) => Some(known),
                _ => None,
            });
            if let (None, Some(known)) = (&decision.chosen, known) {
                decision.chosen.clone_from(&known.chosen);
            }
        }
    }

    fn add_question(&mut self, event: &RunEvent, question: &Question) -> Result<(), LedgerError> {
        if self.questions.iter().any(|known| known.question.id == question.id) {
            return Err(LedgerError { seq: event.seq, what: "opens a question that there is already".to_owned() });
        }
        // Its worker was given back because a check could not be run, and is not lost.
        if let QuestionKind::Environment { unit, .. } = &question.about
            && let Some(unit) = self.units.get_mut(unit)
        {
            unit.lost = unit.lost.saturating_sub(1);
        }
        self.questions.push(QuestionState { question: question.clone(), opened_at: event.ts, answer: None });
        Ok(())
    }

    fn take_answer(&mut self, event: &RunEvent, question: &str, option: &str) -> Result<(), LedgerError> {
        let missing = || LedgerError { seq: event.seq, what: "answers a question that is not open".to_owned() };
        let open = self.questions.iter_mut().find(|state| state.question.id == question && state.answer.is_none());
        let open = open.ok_or_else(missing)?;
        open.answer = Some(QuestionAnswer { option: option.to_owned(), by: event.actor.clone(), at: event.ts });
        match open.question.about.clone() {
            QuestionKind::Billing { .. }
            | QuestionKind::EntryCondition { .. }
            | QuestionKind::Conflict { .. }
            | QuestionKind::Stuck { .. }
            | QuestionKind::LandRefused { .. }
                if option == STOP =>
            {
                self.is_stopped = true;
            }
            QuestionKind::Billing { .. } if option == FOREGROUND => self.bring_together(),
            QuestionKind::Verification
            | QuestionKind::Environment { .. }
            | QuestionKind::Billing { .. }
            | QuestionKind::EntryCondition { .. } => {}
            QuestionKind::Conflict { group, .. } => self.redo_group(&group),
            QuestionKind::Stuck { group, .. } => self.unstick_group(&group),
            QuestionKind::LandRefused { .. } => self.try_to_land_again(),
            QuestionKind::Decisions { decisions } => self.take_choices(&decisions, option),
            QuestionKind::HardStop { group } => {
                let behind = schedule::in_order(&self.plan).into_iter().take_while(|place| *place != group);
                let groups = behind.chain([group]).filter_map(|place| self.plan.groups.get(place));
                self.reviewed.extend(groups.flat_map(|group| group.units.iter().cloned()));
            }
            QuestionKind::Escalated { unit } => {
                if let Some(unit) = self.units.get_mut(&unit) {
                    unit.judgment = Some(option.to_owned());
                }
            }
        }
        Ok(())
    }

    /// What a decision became is part of the plan that workers read.
    fn take_choices(&mut self, asked: &[PlanDecision], option: &str) {
        for decision in decisions(&mut self.plan) {
            let of_it = asked.iter().find(|asked| asked.id == decision.id);
            if let Some(label) = of_it.and_then(|asked| chosen_label(asked, option)) {
                decision.chosen = Some(label);
            }
        }
    }

    /// Takes back every open question of this kind: something has made it moot.
    pub(super) fn withdraw(&mut self, event: &RunEvent, is_moot: impl Fn(&QuestionKind) -> bool) {
        for question in
            self.questions.iter_mut().filter(|known| known.answer.is_none() && is_moot(&known.question.about))
        {
            question.answer =
                Some(QuestionAnswer { option: WITHDRAWN.to_owned(), by: event.actor.clone(), at: event.ts });
        }
    }

    /// Takes back every open question about a unit.
    fn withdraw_about(&mut self, event: &RunEvent, id: &str) {
        let is_about = |about: &QuestionKind| matches!(about, QuestionKind::Escalated { unit } | QuestionKind::Environment { unit, .. } if unit == id);
        self.withdraw(event, is_about);
    }

    /// No worker is at work in a run that is over: tickets that are out are worth nothing from then on.
    fn give_back_all(&mut self, why: &str) {
        for unit in self.units.values_mut().filter(|unit| unit.running.is_some()) {
            give_back(unit, unit.attempts, why);
        }
    }

    /// What was handed out in another session, or in an earlier process of this one, has no worker any more.
    fn take(&mut self, event: &RunEvent) {
        self.holder = event.actor.clone();
        self.handed_out = None;
    }

    fn resume(&mut self, event: &RunEvent) {
        if matches!(self.phase, RunPhase::Ended { .. }) {
            self.iteration = 1;
        }
        self.phase = RunPhase::Executing;
        self.is_stopped = false;
        self.take(event);
        self.final_checks.clear();
        // The person who had the run stopped is asked again, now that it goes on.
        for unit in self.units.values_mut().filter(|unit| unit.judgment.as_deref() == Some(STOP)) {
            unit.judgment = None;
        }
    }
}

/// Whether a worker is at a unit, and what its checks have shown since the worker began is green.
fn is_proved(unit: &TaskState) -> bool {
    unit.running.is_some() && !unit.checks.is_empty() && unit.checks.iter().all(|(_, outcome)| outcome.is_green())
}

/// Ends an attempt that does not count.
fn give_back(unit: &mut TaskState, attempt: u32, why: &str) {
    (unit.status, unit.running, unit.why) = (TaskStatus::Held, None, Some(why.to_owned()));
    unit.attempts = attempt.saturating_sub(1);
    unit.evidence_ids.clear();
}

/// Has a unit done again: the attempts that were are not held against it any more.
fn reopen(unit: &mut TaskState, why: &str) {
    (unit.status, unit.running, unit.why) = (TaskStatus::Pending, None, Some(why.to_owned()));
    (unit.lost, unit.attempts_before, unit.judgment) = (0, unit.attempts, None);
}

fn decisions(plan: &mut Plan) -> impl Iterator<Item = &mut PlanDecision> {
    plan.preconditions.iter_mut().filter_map(|known| match known {
        Precondition::Decision(decision) => Some(decision),
        Precondition::Verification { .. } | Precondition::EntryCondition { .. } => None,
    })
}

fn unit_of(what: &EventKind) -> Option<&str> {
    match what {
        EventKind::UnitStarted { unit, .. }
        | EventKind::CheckRan { unit, .. }
        | EventKind::UnitPassed { unit, .. }
        | EventKind::UnitFailed { unit, .. }
        | EventKind::UnitUnverified { unit, .. }
        | EventKind::UnitClaimed { unit, .. }
        | EventKind::UnitImported { unit, .. }
        | EventKind::UnitRestored { unit, .. }
        | EventKind::UnitSkipped { unit, .. }
        | EventKind::UnitHeld { unit, .. }
        | EventKind::UnitReopened { unit, .. } => Some(unit),
        EventKind::EvidenceRan { evidence } => Some(&evidence.unit),
        _ => None,
    }
}
