//! Every sequence of verbs in a run of a task list, played well and badly.

use std::collections::BTreeSet;

use omo_core::check::task_check::TaskCheck;
use omo_core::check::task_check::TaskCheckVerdict::Green;
use omo_engine::event::{EventKind, PlanVerdict, RunResult};
use omo_engine::schedule::{NextAction, next_action};
use omo_engine::state::{RunState, TaskStatus};
use omo_engine::verbs;
use omo_plan::model::{OnTaskFail, Parallelism, Plan, Task};
use omo_plan::task_list::VERIFY_TASK_ID;
use proptest::prelude::*;

use crate::run::task_list_kit::{
    checked_task, criteria_task, ran, session_plan, without_verification,
};
use crate::run::walk::{Move, VERDICTS, Walk, any_move, any_task, descend, verdict};

/// One move in a session. Numbers are taken modulo the candidates.
#[derive(Clone, Debug)]
pub(crate) enum Session {
    /// A command is run by the owner of a ticket.
    Show { ticket: usize, verdict: usize },
    /// The owner of a ticket gives a passing verdict, by some of the evidence.
    Pass { ticket: usize, cites: usize },
    /// The owner of a ticket gives a refusing verdict, because of some tasks.
    Fail { ticket: usize, names: Vec<usize> },
    /// A task is added that waits for another one.
    Add { dep: usize, id: usize },
}

impl Walk {
    /// Makes a move of a session; `false` without an effect.
    pub(crate) fn make_session(&mut self, step: &Session) -> bool {
        match step {
            Session::Show {
                ticket,
                verdict: of,
            } => {
                let ticket = self.ticket(*ticket);
                self.run.shows(&ticket, &verdict(*of)).is_ok()
            }
            Session::Pass { ticket, cites } => {
                let ticket = self.ticket(*ticket);
                let evidence_ids = self.cited(&ticket, *cites);
                let verdict = PlanVerdict {
                    passed: true,
                    evidence_ids,
                    ..PlanVerdict::default()
                };
                let is_refused =
                    verbs::verdict_objection(&self.run.state, &ticket, &verdict).is_some();
                let is_done = self.run.judges(&ticket, verdict).is_ok();
                assert!(!(is_refused && is_done), "what was refused counts");
                is_done
            }
            Session::Fail { ticket, names } => {
                let ticket = self.ticket(*ticket);
                let tasks = &self.run.state.plan.tasks;
                let reopen = names
                    .iter()
                    .map(|number| (tasks[number % tasks.len()].id.clone(), "why".to_owned()));
                let verdict = PlanVerdict {
                    reopen: reopen.collect(),
                    ..PlanVerdict::default()
                };
                self.run.judges(&ticket, verdict).is_ok()
            }
            Session::Add { dep, id } => {
                let tasks = &self.run.state.plan.tasks;
                // More tasks than this lead to no other run.
                if tasks.len() > 8 {
                    return false;
                }
                let dep = tasks[dep % tasks.len()].id.clone();
                self.run
                    .adds(checked_task(&(20 + id).to_string(), &[&dep]))
                    .is_ok()
            }
        }
    }

    /// Ids of evidence that is cited with a ticket: its worker's own, or with a fault.
    pub(crate) fn cited(&self, ticket: &str, amiss: usize) -> Vec<String> {
        let all = self
            .run
            .state
            .evidence
            .iter()
            .map(|evidence| evidence.id.clone());
        let own = verbs::task_of_ticket(&self.run.state, ticket)
            .map(|task| self.run.state.tasks[&task.id].evidence_ids.clone());
        match amiss % 5 {
            1 => Vec::new(),
            2 => all.collect(),
            3 => vec!["e999".to_owned()],
            4 => all.take(1).collect(),
            _ => own.unwrap_or_default(),
        }
    }

    /// The owner of a ticket runs a green command; gives its id.
    pub(crate) fn show(&mut self, ticket: &str) -> Vec<String> {
        vec![self.run.shows(ticket, &Green).unwrap()]
    }

    /// A verifier does its work.
    pub(crate) fn follow_verification(&mut self, ticket: &str, of: usize) {
        let evidence_ids = self.show(ticket);
        self.run.finals(&verdict(of));
        let passed = PlanVerdict {
            passed: true,
            evidence_ids,
            ..PlanVerdict::default()
        };
        if self.run.judges(ticket, passed).is_err() {
            let first = self.run.state.plan.tasks[0].id.clone();
            let failed = PlanVerdict {
                reopen: vec![(first, "why".to_owned())],
                ..PlanVerdict::default()
            };
            self.run.judges(ticket, failed).unwrap();
        }
    }
}

fn any_session_move() -> impl Strategy<Value = Move> {
    let number = 0..8_usize;
    let step = prop_oneof![
        4 => (0..3_usize, 0..VERDICTS).prop_map(|(ticket, verdict)| Session::Show { ticket, verdict }),
        2 => (0..2_usize, 0..5_usize).prop_map(|(ticket, cites)| Session::Pass { ticket, cites }),
        2 => (0..2_usize, prop::collection::vec(number.clone(), 0..3))
            .prop_map(|(ticket, names)| Session::Fail { ticket, names }),
        1 => (number, 0..3_usize).prop_map(|(dep, id)| Session::Add { dep, id }),
    ];
    let known = any_move().prop_map(|step| match step {
        // The text of a task may change; the set of tasks is the session's.
        Move::Edit { task, .. } => Move::Edit { task, how: 0 },
        step => step,
    });
    prop_oneof![3 => known, 2 => step.prop_map(Move::Session)]
}

fn any_session() -> impl Strategy<Value = Plan> {
    let tasks = (1..6_usize).prop_flat_map(|count| (0..count).map(any_task).collect::<Vec<_>>());
    let judged = prop::collection::vec(any::<bool>(), 6);
    (tasks, judged, any::<bool>(), 1..4_u32, 0..4_u32).prop_map(
        |(tasks, judged, verifies, times, most)| {
            let tasks = tasks.into_iter().zip(judged).map(|(task, is_judged)| Task {
                criteria: if is_judged {
                    vec!["judge it".to_owned()]
                } else {
                    Vec::new()
                },
                on_failure: omo_plan::model::OnFailure::Hold,
                max_attempts: 1,
                ..task
            });
            let mut plan = if verifies {
                session_plan(tasks.collect())
            } else {
                without_verification(tasks.collect())
            };
            (plan.policy.max_rounds, plan.policy.max_workers) = (times, most);
            plan
        },
    )
}

/// Asserts rules that hold in any session.
fn holds(state: &RunState) {
    assert!(state.round >= 1 && state.round <= state.plan.policy.max_rounds);
    let status = |id: &str| state.tasks[id].status;
    let running = state.running_attempts().count();
    let most = usize::try_from(state.plan.policy.max_workers).unwrap();
    assert!(most == 0 || running <= most);
    if let Some(verification) = state.plan.verification_task() {
        let is_done =
            |task: &Task| matches!(status(&task.id), TaskStatus::Passed | TaskStatus::Claimed);
        if status(&verification.id) == TaskStatus::Passed {
            let mut others = state
                .plan
                .tasks
                .iter()
                .filter(|task| task.id != verification.id);
            assert!(
                others.all(is_done) && state.verdicts.last().is_some_and(|verdict| verdict.passed)
            );
        }
        assert!(
            status(&verification.id) != TaskStatus::Running || running == 1,
            "a worker runs under a verifier"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_played_in_a_session_the_rules_hold_and_it_can_end(
        plan in any_session(), moves in prop::collection::vec(any_session_move(), 0..60), of in 0..VERDICTS,
    ) {
        let mut walk = Walk::open(plan);
        for step in &moves {
            walk.run(step);
            holds(&walk.run.state);
        }
        walk.replay();
        walk.finish(of);
    }

    #[test]
    fn a_session_that_is_green_is_complete(mut plan in any_session()) {
        for task in plan.tasks.iter_mut().filter(|task| task.checks.len() + task.criteria.len() == 0) {
            task.criteria.push("judge it".to_owned());
        }
        let mut walk = Walk::open(plan);
        while next_action(&walk.run.state) != NextAction::Over {
            prop_assert!(walk.run(&Move::Follow(0)));
            holds(&walk.run.state);
        }
        prop_assert_eq!(walk.run.result(), Some(RunResult::Complete));
        prop_assert_eq!(walk.run.state.round, 1);
    }
}

/// A task with a check and a sentence, one with a check after it, and a verification; two rounds at most.
fn small() -> Plan {
    let first = Task {
        checks: vec![TaskCheck::new("a")],
        ..criteria_task("1", &[])
    };
    let mut plan = session_plan(vec![first, checked_task("2", &["1"])]);
    plan.policy.max_rounds = 2;
    assert_eq!(
        (plan.policy.on_task_fail, plan.policy.parallel),
        (OnTaskFail::NextRound, Parallelism::Tasks)
    );
    plan
}

#[test]
fn every_sequence_of_five_verbs_of_a_session_holds_the_rules() {
    let mut moves = vec![
        Move::Types,
        Move::Cancel,
        Move::TakeOver(1),
        Move::TakeOver(2),
    ];
    for number in 0..3 {
        moves.extend([
            Move::Start(number),
            Move::Lost(number),
            Move::Skip(number),
            Move::Retry(number),
        ]);
    }
    for of in [0, 2, 4] {
        moves.extend([
            Move::Finals(of),
            Move::Session(Session::Show {
                ticket: 0,
                verdict: of,
            }),
        ]);
        moves.push(Move::Done {
            ticket: 0,
            verdict: of,
            checks: 0,
        });
    }
    for amiss in 1..5 {
        moves.push(Move::Done {
            ticket: 0,
            verdict: 0,
            checks: amiss,
        });
        moves.push(Move::Session(Session::Pass {
            ticket: 0,
            cites: amiss,
        }));
    }
    moves.push(Move::Session(Session::Pass {
        ticket: 0,
        cites: 0,
    }));
    for names in [vec![], vec![0], vec![1, 2], vec![2]] {
        moves.push(Move::Session(Session::Fail { ticket: 0, names }));
    }
    moves.extend([
        Move::GiveUp(0),
        Move::Tamper(0),
        Move::Session(Session::Add { dep: 0, id: 0 }),
    ]);
    let (mut ends, mut count) = (BTreeSet::new(), 0);
    // From its beginning, from a verification that begins, and from the last iteration: no five verbs lead from
    // one to the end of the next.
    let mut begins = Walk::open(small());
    begins.run.claim("1");
    begins.run.pass("2");
    let mut last = begins.clone();
    last.run.refute(&["2"]);
    assert_eq!((last.run.state.round, last.run.ready()), (2, vec!["2"]));
    assert_eq!(begins.run.ready(), [VERIFY_TASK_ID]);
    for from in [Walk::open(small()), begins, last] {
        descend(&from, &moves, 5, &mut ends, &mut count);
    }
    assert!(count > 10_000, "{count}");
    let words: Vec<&str> = ends.iter().map(String::as_str).collect();
    assert_eq!(
        words,
        [
            "cancelled",
            "complete",
            "completed_with_failures",
            "executing",
            "failed"
        ]
    );
}

#[test]
fn evidence_is_numbered_over_the_whole_run() {
    let mut walk = Walk::open(small());
    for number in 1..=3 {
        let ticket = walk.run.start("1").unwrap();
        for of in 0..2 {
            let said =
                verbs::record_evidence(&walk.run.state, &ticket, ran("true", &Green)).unwrap();
            let EventKind::EvidenceRan { evidence } = &said else {
                panic!("{said:?}")
            };
            assert_eq!(
                (evidence.id.clone(), evidence.task.as_str()),
                (format!("e{}", 2 * number - 1 + of), "1")
            );
            walk.run.take(Ok(vec![said])).unwrap();
        }
        walk.run(&Move::Lost(0));
        if number == 3 {
            assert_eq!(
                walk.run.standing("1"),
                "pending",
                "lost for good, and done again in the next iteration"
            );
        }
    }
}
