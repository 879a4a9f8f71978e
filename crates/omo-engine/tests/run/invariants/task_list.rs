//! Impossible events of a task list's run, seen from its events alone.

use omo_engine::event::PlanVerdict;

use super::{Dialect, EventKind, Parallelism, Plan, Seen, Task, TaskKind, Witness};

impl Witness {
    /// Takes in an event that only a run of a session has.
    pub(super) fn see_session(&mut self, what: &EventKind) {
        match what {
            EventKind::EvidenceRan { evidence } => {
                let seen = self.tasks.get_mut(&evidence.task).unwrap();
                assert!(
                    seen.is_running && seen.attempt == evidence.attempt,
                    "{evidence:?} was run without a worker"
                );
                seen.shown.insert(evidence.id.clone());
                let known = self
                    .evidence
                    .insert(evidence.id.clone(), evidence.outcome.is_green());
                assert_eq!(known, None, "{} is taken", evidence.id);
            }
            EventKind::TaskClaimed {
                task: id,
                evidence_ids,
                ..
            } => {
                let task = self.plan.as_ref().unwrap().task(id).unwrap().clone();
                let seen = self.ended(id, "claimed");
                assert!(
                    !seen.is_refuted && !task.criteria.is_empty(),
                    "{id} is claimed"
                );
                assert_eq!(
                    seen.green.len(),
                    task.checks.len(),
                    "{id} is claimed without its checks"
                );
                assert!(
                    !evidence_ids.is_empty() && self.are_green(evidence_ids),
                    "{id} by {evidence_ids:?}"
                );
                assert!(
                    evidence_ids.iter().all(|one| seen.shown.contains(one)),
                    "{id} by another's evidence"
                );
            }
            EventKind::TaskAdded { task: added } => {
                self.void();
                assert!(added.checks.is_empty(), "what it runs is not approved");
                assert!(
                    added.deps.iter().all(|dep| self.tasks.contains_key(dep)),
                    "{} waits for nothing",
                    added.id
                );
                assert!(
                    self.tasks
                        .insert(added.id.clone(), Seen::default())
                        .is_none(),
                    "{} is taken",
                    added.id
                );
                let plan = self.plan.as_mut().unwrap();
                plan.tasks.push((**added).clone());
                plan.groups[0].tasks.push(added.id.clone());
                if let Some(verify) = plan.tasks.iter_mut().find(|task| task.is_verification()) {
                    verify.deps.push(added.id.clone());
                }
            }
            EventKind::VerdictGiven { verdict } => self.judge(verdict),
            EventKind::RoundStarted { round, reopened } => self.again(*round, reopened),
            other => panic!("unknown: {other:?}"),
        }
    }

    fn judge(&mut self, verdict: &PlanVerdict) {
        let id = self.verification().unwrap();
        let seen = self.ended(&id, if verdict.passed { "passed" } else { "failed" });
        if verdict.passed {
            let mut others = self.tasks.iter().filter(|(other, _)| **other != id);
            assert!(
                others.all(|(_, seen)| matches!(seen.word, "passed" | "claimed")),
                "PASS over what is not done"
            );
            assert!(
                self.are_green(&verdict.evidence_ids),
                "PASS by {:?}",
                verdict.evidence_ids
            );
            assert!(
                verdict
                    .evidence_ids
                    .iter()
                    .any(|one| seen.shown.contains(one)),
                "PASS that ran nothing"
            );
            let count = self.plan.as_ref().unwrap().final_checks.len();
            assert!(
                (0..count).all(|place| self.finals.get(&place) == Some(&true)),
                "PASS over a red check"
            );
        }
        for (named, _) in &verdict.reopen {
            let seen = self.tasks.get_mut(named).unwrap();
            assert!(*named != id && !seen.is_running, "a verdict on {named}");
            if matches!(seen.word, "passed" | "claimed" | "unproved") {
                seen.refused_as = Some(seen.word);
            }
            seen.word = if seen.word.is_empty() { "" } else { "failed" };
        }
    }

    fn again(&mut self, round: u32, reopened: &[(String, String)]) {
        let most = self.plan.as_ref().unwrap().policy.max_rounds;
        assert!(round <= most, "iteration {round} of {most}");
        assert!(
            round == self.round + 1 || round == 1 && self.is_resumed,
            "not the next one"
        );
        assert!(!reopened.is_empty() && self.tasks.values().all(|seen| !seen.is_running));
        self.round = round;
        for (id, why) in reopened {
            let seen = self.tasks.get_mut(id).unwrap();
            assert!(!matches!(seen.word, "" | "skipped"), "{id} had not ended");
            assert!(!why.is_empty(), "{id} is done again for no reason");
            (seen.word, seen.attempts) = ("", 0);
            self.withdraw(id);
        }
        self.void();
    }

    /// Voids every verdict on the whole.
    pub(super) fn void(&mut self) {
        self.finals.clear();
        let verification = self.verification().and_then(|id| self.tasks.get_mut(&id));
        if let Some(seen) = verification.filter(|seen| matches!(seen.word, "passed" | "failed")) {
            (seen.word, seen.attempts) = ("", 0);
        }
    }

    pub(super) fn import(&mut self, task: &Task) {
        assert_ne!(
            task.kind,
            TaskKind::Verify,
            "a verification that another program did"
        );
        self.tasks.get_mut(&task.id).unwrap().word = "claimed";
    }

    /// Asserts the maximum of workers, and a verification after all else.
    pub(super) fn room_for(&self, plan: &Plan, task: &Task) {
        let running = self.tasks.values().filter(|seen| seen.is_running).count();
        let most = usize::try_from(plan.policy.max_workers).unwrap();
        let most = if plan.policy.parallel == Parallelism::None {
            1
        } else {
            most
        };
        assert!(most == 0 || running < most, "{} beside {running}", task.id);
        if task.is_verification() {
            assert_eq!(plan.dialect, Dialect::TasksJson);
            let mut others = self.tasks.iter().filter(|(id, _)| **id != task.id);
            assert!(
                others.all(|(_, seen)| matches!(seen.word, "passed" | "claimed")),
                "verified too early"
            );
        }
    }

    fn verification(&self) -> Option<String> {
        let plan = self.plan.as_ref().unwrap();
        plan.tasks
            .iter()
            .find(|task| task.is_verification())
            .map(|task| task.id.clone())
    }

    fn are_green(&self, ids: &[String]) -> bool {
        !ids.is_empty() && ids.iter().all(|id| self.evidence.get(id) == Some(&true))
    }
}
