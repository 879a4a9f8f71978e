//! Changes to a run's state by events about its questions: asked, answered, withdrawn.

use omo_plan::model::{Plan, PlanDecision, Precondition};

use crate::event::{Question, QuestionKind, RunEvent};
use crate::schedule;
use crate::state::{
    ANSWER_FOREGROUND, ANSWER_STOP, ANSWER_WITHDRAWN, LedgerError, QuestionAnswer, QuestionState,
    RunState, chosen_label,
};

impl RunState {
    /// Keeps answers to decisions that an edited plan still asks: its file may lack them.
    pub(super) fn keep_choices(&mut self, before: &Plan) {
        for decision in open_decisions(&mut self.plan) {
            let known = before.preconditions.iter().find_map(|known| match known {
                Precondition::Decision(known) if known.is_same_question(decision) => Some(known),
                _ => None,
            });
            if let (None, Some(known)) = (&decision.chosen, known) {
                decision.chosen.clone_from(&known.chosen);
            }
        }
    }

    pub(super) fn add_question(
        &mut self,
        event: &RunEvent,
        question: &Question,
    ) -> Result<(), LedgerError> {
        if self
            .questions
            .iter()
            .any(|known| known.question.id == question.id)
        {
            return Err(LedgerError::new(
                event,
                "opens a question that there is already",
            ));
        }
        // Its worker was given back because a check could not be run, and is not lost.
        if let QuestionKind::CheckNotRunnable { task, .. } = &question.kind
            && let Some(task) = self.tasks.get_mut(task)
        {
            task.lost_workers = task.lost_workers.saturating_sub(1);
        }
        self.questions.push(QuestionState {
            question: question.clone(),
            opened_at: event.ts,
            answer: None,
        });
        Ok(())
    }

    pub(super) fn apply_answer(
        &mut self,
        event: &RunEvent,
        question: &str,
        option: &str,
    ) -> Result<(), LedgerError> {
        let open = self
            .questions
            .iter_mut()
            .find(|state| state.question.id == question && state.answer.is_none());
        let open =
            open.ok_or_else(|| LedgerError::new(event, "answers a question that is not open"))?;
        open.answer = Some(QuestionAnswer {
            option: option.to_owned(),
            by: event.actor.clone(),
            at: event.ts,
        });
        match open.question.kind.clone() {
            QuestionKind::Billing { .. }
            | QuestionKind::EntryCondition { .. }
            | QuestionKind::Conflict { .. }
            | QuestionKind::CommitRefused { .. }
            | QuestionKind::Stuck { .. }
            | QuestionKind::LandingRefused { .. }
                if option == ANSWER_STOP =>
            {
                self.is_stopped = true;
                if let QuestionKind::CommitRefused { task, refusal, .. } =
                    &open.question.kind.clone()
                {
                    self.answer_refused_commit(task, refusal, option);
                }
            }
            QuestionKind::Billing { .. } if option == ANSWER_FOREGROUND => {
                self.switch_to_foreground();
            }
            QuestionKind::Verification
            | QuestionKind::CheckNotRunnable { .. }
            | QuestionKind::Billing { .. }
            | QuestionKind::EntryCondition { .. } => {}
            QuestionKind::Conflict { group, .. } => self.redo_group(&group),
            QuestionKind::Stuck { group, .. } => self.unstick_group(&group),
            QuestionKind::LandingRefused { .. } => self.clear_landing_refusal(),
            QuestionKind::CommitRefused { task, refusal, .. } => {
                self.answer_refused_commit(&task, &refusal, option);
            }
            QuestionKind::Decisions { decisions } => self.apply_choices(&decisions, option),
            QuestionKind::HardStop { group } => {
                let behind = schedule::group_order(&self.plan)
                    .into_iter()
                    .take_while(|place| *place != group);
                let groups = behind
                    .chain([group])
                    .filter_map(|place| self.plan.groups.get(place));
                self.reviewed_tasks
                    .extend(groups.flat_map(|group| group.tasks.iter().cloned()));
            }
            QuestionKind::Escalated { task } => {
                if let Some(task) = self.tasks.get_mut(&task) {
                    task.judgment = Some(option.to_owned());
                }
            }
        }
        Ok(())
    }

    fn apply_choices(&mut self, asked: &[PlanDecision], option: &str) {
        for decision in open_decisions(&mut self.plan) {
            let of_it = asked.iter().find(|asked| asked.id == decision.id);
            if let Some(label) = of_it.and_then(|asked| chosen_label(asked, option)) {
                decision.chosen = Some(label);
            }
        }
    }

    pub(super) fn withdraw_questions(
        &mut self,
        event: &RunEvent,
        is_moot: impl Fn(&QuestionKind) -> bool,
    ) {
        for question in self
            .questions
            .iter_mut()
            .filter(|known| known.answer.is_none() && is_moot(&known.question.kind))
        {
            question.answer = Some(QuestionAnswer {
                option: ANSWER_WITHDRAWN.to_owned(),
                by: event.actor.clone(),
                at: event.ts,
            });
        }
    }

    pub(super) fn withdraw_questions_about(&mut self, event: &RunEvent, id: &str) {
        self.withdraw_questions(event, |about| match about {
            QuestionKind::Escalated { task }
            | QuestionKind::CheckNotRunnable { task, .. }
            | QuestionKind::CommitRefused { task, .. } => task == id,
            _ => false,
        });
    }
}

fn open_decisions(plan: &mut Plan) -> impl Iterator<Item = &mut PlanDecision> {
    plan.preconditions
        .iter_mut()
        .filter_map(|known| match known {
            Precondition::Decision(decision) => Some(decision),
            Precondition::Verification { .. } | Precondition::EntryCondition { .. } => None,
        })
}
