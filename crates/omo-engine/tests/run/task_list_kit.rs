//! Runs of task lists: their plans, and their own verbs.

use omo_core::check::task_check::TaskCheck;
use omo_core::check::task_check::TaskCheckVerdict::{self, Green};
use omo_engine::event::{EventKind, Evidence, PlanVerdict};
use omo_engine::verbs::{self, AttemptMeasurement};
use omo_plan::model::{Dialect, OnTaskFail, Parallelism, Plan, Task, TaskKind};
use omo_plan::refusal::VerbRefusal;
use omo_plan::task_list::VERIFY_TASK_ID;

use crate::run::kit::{Run, all, needs, outcome, plan};

/// A task that a command proves.
pub(crate) fn checked_task(id: &str, deps: &[&str]) -> Task {
    Task {
        files: Vec::new(),
        contract: None,
        ..needs(id, deps)
    }
}

/// A task with a criterion that no command decides.
pub(crate) fn criteria_task(id: &str, deps: &[&str]) -> Task {
    Task {
        checks: Vec::new(),
        criteria: vec!["it reads well".to_owned()],
        ..checked_task(id, deps)
    }
}

/// A session that goes over its tasks three times at most, with a verification behind them.
pub(crate) fn session_plan(mut tasks: Vec<Task>) -> Plan {
    let deps = tasks.iter().map(|task| task.id.clone()).collect();
    tasks.push(Task {
        kind: TaskKind::Verify,
        deps,
        ..criteria_task(VERIFY_TASK_ID, &[])
    });
    without_verification(tasks)
}

/// The same without a verification.
pub(crate) fn without_verification(tasks: Vec<Task>) -> Plan {
    let final_checks = tasks
        .iter()
        .flat_map(|task| task.checks.iter().cloned())
        .collect();
    let skips_verification = tasks.iter().all(|task| !task.is_verification());
    let mut plan = Plan {
        dialect: Dialect::TasksJson,
        final_checks,
        ..plan(tasks)
    };
    plan.policy.on_task_fail = OnTaskFail::NextRound;
    plan.policy.parallel = Parallelism::Tasks;
    plan.policy.max_rounds = 3;
    plan.policy.skips_verification = skips_verification;
    plan
}

pub(crate) fn ran(command: &str, verdict: &TaskCheckVerdict) -> Evidence {
    Evidence {
        id: String::new(),
        task: String::new(),
        attempt: 0,
        command: command.to_owned(),
        outcome: outcome(verdict.clone()),
        tree: None,
        output_sha256: None,
    }
}

/// A verdict that all is done, by this evidence.
pub(crate) fn pass_by(ids: &[&str]) -> PlanVerdict {
    PlanVerdict {
        passed: true,
        evidence_ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        ..PlanVerdict::default()
    }
}

/// A verdict that these are to be done again.
pub(crate) fn fail_for(ids: &[&str]) -> PlanVerdict {
    let reopen = ids
        .iter()
        .map(|id| ((*id).to_owned(), "not good enough".to_owned()))
        .collect();
    PlanVerdict {
        reopen,
        ..PlanVerdict::default()
    }
}

impl Run {
    /// The owner of a ticket runs a command; gives its id.
    pub(crate) fn shows(
        &mut self,
        ticket: &str,
        verdict: &TaskCheckVerdict,
    ) -> Result<String, VerbRefusal> {
        let said = verbs::record_evidence(&self.state, ticket, ran("look at it", verdict));
        self.take(said.map(|what| vec![what]))?;
        Ok(self.state.evidence.last().unwrap().id.clone())
    }

    pub(crate) fn finals(&mut self, verdict: &TaskCheckVerdict) {
        let checks: Vec<TaskCheck> = self.state.plan.final_checks.clone();
        let outcomes = checks
            .into_iter()
            .map(|check| (check, outcome(verdict.clone())))
            .collect();
        self.take(Ok(verbs::final_check_events(outcomes))).unwrap();
    }

    pub(crate) fn judges(&mut self, ticket: &str, verdict: PlanVerdict) -> Result<(), VerbRefusal> {
        self.take(verbs::give_verdict(&self.state, ticket, verdict))
    }

    /// A worker begins, and claims that the judged criteria are met.
    pub(crate) fn claim(&mut self, id: &str) {
        let ticket = self.start(id).unwrap();
        let evidence = self.shows(&ticket, &Green).unwrap();
        let measured = all(self.state.plan.task(id).unwrap(), &Green);
        self.done(
            &ticket,
            AttemptMeasurement {
                evidence_ids: vec![evidence],
                ..measured
            },
        )
        .unwrap();
    }

    pub(crate) fn verify(&mut self) {
        let ticket = self.start(VERIFY_TASK_ID).unwrap();
        let evidence = self.shows(&ticket, &Green).unwrap();
        self.finals(&Green);
        self.judges(&ticket, pass_by(&[&evidence])).unwrap();
    }

    pub(crate) fn refute(&mut self, ids: &[&str]) {
        let ticket = self.start(VERIFY_TASK_ID).unwrap();
        self.judges(&ticket, fail_for(ids)).unwrap();
    }

    pub(crate) fn adds(&mut self, task: Task) -> Result<(), VerbRefusal> {
        let said = verbs::add_task(&self.state, &self.caller, task);
        self.take(said.map(|what| vec![what]))
    }

    pub(crate) fn last(&self) -> &EventKind {
        &self.events.last().unwrap().kind
    }

    pub(crate) fn all_standings(&self) -> Vec<(&str, &'static str)> {
        let standings = self.state.standings();
        standings
            .into_iter()
            .map(|(task, standing)| (task.id.as_str(), standing.word()))
            .collect()
    }
}
