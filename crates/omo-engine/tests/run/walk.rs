//! Every sequence of verbs, played well and badly: no forbidden result, an end of every run, and a ledger that tells
//! the state.

use std::collections::BTreeSet;

use omo_core::check::task_check::TaskCheckVerdict::{self, Green, Red};
use omo_core::check::task_check::{TaskCheck, TaskCheckOutcome};
use omo_engine::event::{EventKind, RecordedProcess, RunEvent};
use omo_engine::schedule::{NextAction, next_action};
use omo_engine::state::{ANSWER_CONTINUE, RunPhase, RunState};
use omo_engine::verbs::{self, AttemptMeasurement, VerbCaller};
use omo_plan::model::{OnFailure, Plan, Precondition, Task};
use omo_plan::refusal::VerbRefusal;
use proptest::prelude::*;

use crate::run::invariants::Witness;
use crate::run::kit::{
    Run, all, decision, in_batches, needs, no_tool, outcome, plan, session, task,
};
use crate::run::task_list_walk::Session;

/// One move. Numbers are taken modulo the candidates.
#[derive(Clone, Debug)]
pub(crate) enum Move {
    Start(usize),
    Done {
        ticket: usize,
        verdict: usize,
        checks: usize,
    },
    GiveUp(usize),
    Tamper(usize),
    Lost(usize),
    Skip(usize),
    Retry(usize),
    Answer {
        question: usize,
        option: usize,
    },
    Types,
    Cancel,
    TakeOver(u32),
    Take {
        who: u32,
        lives: bool,
    },
    Finals(usize),
    Edit {
        task: usize,
        how: usize,
    },
    /// A move that only a run of a session has.
    Session(Session),
    /// The next step, with this verdict where there is one.
    Follow(usize),
}

pub(crate) const VERDICTS: usize = 5;

pub(crate) fn verdict(number: usize) -> TaskCheckVerdict {
    match number % VERDICTS {
        0 | 1 => Green,
        2 => Red,
        3 => TaskCheckVerdict::NothingRan,
        _ => no_tool(),
    }
}

/// A run that is watched.
#[derive(Clone)]
pub(crate) struct Walk {
    pub run: Run,
    tickets: Vec<String>,
    witness: Witness,
    seen: usize,
}

impl Walk {
    pub(crate) fn open(plan: Plan) -> Self {
        let run = Run::open(plan);
        let mut walk = Self {
            run,
            tickets: Vec::new(),
            witness: Witness::default(),
            seen: 0,
        };
        walk.look();
        walk
    }

    /// Shows the witness new events, and holds the state to it.
    fn look(&mut self) {
        let prompted = self
            .run
            .caller
            .prompted_at
            .map(omo_core::timestamp::Timestamp::as_millis);
        for event in &self.run.events[self.seen..] {
            self.witness.see(event, prompted);
        }
        self.seen = self.run.events.len();
        let counts = self.run.state.task_counts();
        let sum = counts.passed
            + counts.claimed
            + counts.failed
            + counts.unproved
            + counts.blocked
            + counts.pending;
        assert_eq!(counts.total, sum);
        assert!(
            !matches!(
                next_action(&self.run.state),
                NextAction::AskNew(_) | NextAction::NextRound { .. } | NextAction::End(_)
            ),
            "it follows by itself"
        );
    }

    fn id(&self, number: usize) -> String {
        let tasks = &self.run.state.plan.tasks;
        tasks[number % tasks.len()].id.clone()
    }

    pub(crate) fn ticket(&self, number: usize) -> String {
        match self.tickets.len() {
            0 => "made up".to_owned(),
            // The latest are the most likely to be worth something.
            some => self.tickets[some - 1 - number % some].clone(),
        }
    }

    /// Makes a move; `false` without an effect. A refused one writes nothing.
    pub(crate) fn run(&mut self, step: &Move) -> bool {
        let before = (self.run.state.seq, self.run.events.len());
        let is_done = self.make(step);
        if !is_done {
            assert_eq!(
                (self.run.state.seq, self.run.events.len()),
                before,
                "{step:?} was refused"
            );
        }
        self.look();
        is_done
    }

    fn make(&mut self, step: &Move) -> bool {
        let run = &mut self.run;
        match step {
            Move::Start(number) => {
                let id = self.id(*number);
                let ticket = self.run.start(&id);
                self.tickets.extend(ticket.iter().cloned());
                ticket.is_ok()
            }
            Move::Done {
                ticket,
                verdict: of,
                checks,
            } => {
                let ticket = self.ticket(*ticket);
                let outcomes = self.outcomes(&ticket, &verdict(*of), *checks);
                let evidence_ids = self.cited(&ticket, *checks);
                self.run
                    .done(
                        &ticket,
                        AttemptMeasurement {
                            outcomes,
                            evidence_ids,
                            ..AttemptMeasurement::default()
                        },
                    )
                    .is_ok()
            }
            Move::GiveUp(ticket) => {
                let ticket = self.ticket(*ticket);
                let said = verbs::give_up_attempt(&self.run.state, &ticket, "no", Vec::new());
                self.run.take(said).is_ok()
            }
            Move::Tamper(ticket) => {
                let ticket = self.ticket(*ticket);
                let outcomes = self.outcomes(&ticket, &Green, 0);
                let tampered = vec!["tests".to_owned()];
                self.run
                    .done(
                        &ticket,
                        AttemptMeasurement {
                            outcomes,
                            tampered,
                            ..AttemptMeasurement::default()
                        },
                    )
                    .is_ok()
            }
            Move::Lost(number) => {
                let id = self.id(*number);
                let said = verbs::report_lost_worker(&self.run.state, &id).map(|what| vec![what]);
                self.run.take(said).is_ok()
            }
            Move::Skip(number) => {
                let id = self.id(*number);
                let said = verbs::skip_task(&self.run.state, &self.run.caller, &id, "why")
                    .map(|what| vec![what]);
                self.run.take(said).is_ok()
            }
            Move::Retry(number) => {
                let id = self.id(*number);
                let said = verbs::retry_task(&self.run.state, &self.run.caller, &id);
                self.run.take(said).is_ok()
            }
            Move::Answer { question, option } => {
                let Some(known) = run.state.questions.iter().rev().nth(*question) else {
                    return false;
                };
                let option = &known.question.options[*option % known.question.options.len()].id;
                let said = verbs::answer_question(
                    &run.state,
                    &run.caller,
                    &known.question.id,
                    option,
                    None,
                );
                run.take(said.map(|what| vec![what])).is_ok()
            }
            Move::Types => {
                run.types();
                true
            }
            Move::Cancel => run
                .take(verbs::cancel_run(&run.state, "why").map(|what| vec![what]))
                .is_ok(),
            Move::TakeOver(who) => {
                let caller = VerbCaller {
                    actor: session(&format!("s{who}"), 100 * who),
                    ..VerbCaller::default()
                };
                let events = verbs::take_over_run(&run.state, &caller);
                self.goes_on_as(caller, Ok(events))
            }
            Move::Take { who, lives } => {
                let caller = VerbCaller {
                    actor: session(&format!("s{who}"), 100 * who),
                    ..VerbCaller::default()
                };
                let is_alive = |_: &RecordedProcess| Some(*lives);
                let said = verbs::join_run(&run.state, &caller, &is_alive);
                self.goes_on_as(caller, said)
            }
            Move::Finals(of) => {
                // They are run once all is done, or when a verifier says so.
                let verifier = run
                    .state
                    .plan
                    .verification_task()
                    .and_then(|task| run.state.tasks[&task.id].running.as_ref());
                if next_action(&run.state) != NextAction::FinalChecks && verifier.is_none() {
                    return false;
                }
                let checks = run.state.plan.final_checks.clone();
                let ran = checks
                    .into_iter()
                    .map(|check| (check, outcome(verdict(*of))))
                    .collect();
                run.take(Ok(verbs::final_check_events(ran))).is_ok()
            }
            Move::Edit { task, how } => {
                let plan = edited(&run.state.plan, *task, *how);
                run.replan(plan).is_ok()
            }
            Move::Session(step) => self.make_session(step),
            Move::Follow(of) => self.follow(*of),
        }
    }

    /// Another caller takes part from now on, where that changes anything.
    fn goes_on_as(
        &mut self,
        caller: VerbCaller,
        said: Result<Vec<EventKind>, VerbRefusal>,
    ) -> bool {
        let Ok(events) = said else { return false };
        if events.is_empty() {
            return false;
        }
        self.run.caller = caller;
        self.run.take(Ok(events)).is_ok()
    }

    /// Outcomes of a ticket's checks: all of them, or with a fault.
    fn outcomes(
        &self,
        ticket: &str,
        verdict: &TaskCheckVerdict,
        amiss: usize,
    ) -> Vec<(TaskCheck, TaskCheckOutcome)> {
        let Ok(task) = verbs::task_of_ticket(&self.run.state, ticket) else {
            return Vec::new();
        };
        let mut outcomes = all(task, verdict).outcomes;
        match amiss % 5 {
            1 => outcomes.clear(),
            2 => outcomes.truncate(1),
            3 => {
                outcomes = outcomes
                    .first()
                    .map(|first| vec![first.clone(); task.checks.len()])
                    .unwrap_or_default();
            }
            4 => outcomes
                .iter_mut()
                .for_each(|(check, _)| check.command.push_str(" || true")),
            _ => {}
        }
        outcomes
    }

    /// Takes the next step; `false` where there was none.
    fn follow(&mut self, of: usize) -> bool {
        match next_action(&self.run.state) {
            NextAction::Ask(known) => {
                let option = known.question.options[of % known.question.options.len()]
                    .id
                    .clone();
                let question = known.question.id.clone();
                self.run.answer(&question, &option).unwrap();
            }
            NextAction::Start(ready) => {
                let ids: Vec<String> = ready.iter().map(|task| task.id.clone()).collect();
                // All of them at the same time, as it says.
                for id in ids {
                    let ticket = self.run.start(&id).unwrap();
                    self.tickets.push(ticket);
                }
            }
            NextAction::Wait(running) => {
                let task = self
                    .run
                    .state
                    .plan
                    .task(running[of % running.len()])
                    .unwrap();
                let ticket = self.run.state.tasks[&task.id]
                    .running
                    .as_ref()
                    .unwrap()
                    .ticket
                    .clone();
                if task.is_verification() {
                    self.follow_verification(&ticket, of);
                } else {
                    let measured = all(task, &verdict(of));
                    let evidence_ids = if task.criteria.is_empty() {
                        Vec::new()
                    } else {
                        self.show(&ticket)
                    };
                    self.run
                        .done(
                            &ticket,
                            AttemptMeasurement {
                                evidence_ids,
                                ..measured
                            },
                        )
                        .unwrap();
                }
            }
            NextAction::FinalChecks => {
                return self.make(&Move::Finals(of));
            }
            NextAction::AskNew(_) | NextAction::NextRound { .. } | NextAction::End(_) => {
                unreachable!("it follows by itself")
            }
            NextAction::CommitAgain(_) => unreachable!("no commit here is refused"),
            NextAction::Parallel(_) => unreachable!("no plan here has parallel workers"),
            NextAction::Over => return false,
        }
        true
    }

    /// Follows the next steps to the end of the run. Every task is begun and ended so often at most, and every question
    /// comes from one of those, from a decision or from a batch.
    pub(crate) fn finish(mut self, of: usize) {
        let plan = &self.run.state.plan;
        let attempts: usize = plan
            .tasks
            .iter()
            .map(|task| usize::try_from(task.max_attempts).unwrap())
            .sum();
        let times = usize::try_from(plan.policy.max_rounds).unwrap();
        let most = times * (4 * attempts + 2 * plan.tasks.len() + 2)
            + plan.groups.len()
            + plan.preconditions.len()
            + 10;
        for step in 0..most {
            // Tools that are missing again and again are a person's to bring: not here.
            let of = (of + step * step) % (VERDICTS - 1);
            if !self.follow(of) {
                self.look();
                assert_ne!(self.run.state.phase, RunPhase::Executing);
                return;
            }
            self.look();
        }
        panic!("it never ends: {:?}", next_action(&self.run.state));
    }

    /// Asserts that the ledger, written and read again, has the same state.
    pub(crate) fn replay(&self) {
        let lines = self
            .run
            .events
            .iter()
            .map(|event| serde_json::to_string(event).unwrap());
        let events: Vec<RunEvent> = lines
            .map(|line| serde_json::from_str(&line).unwrap())
            .collect();
        assert_eq!(events, self.run.events);
        let mut state = RunState::from_first_event(&events[0]).unwrap();
        for event in &events[1..] {
            state.apply(event).unwrap();
        }
        assert_eq!(state, self.run.state);
        let kept: RunState = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
        assert_eq!(kept, state);
    }
}

/// The plan with one task edited, removed together with its dependents, or another one added.
fn edited(plan: &Plan, number: usize, how: usize) -> Plan {
    let mut plan = plan.clone();
    let place = number % plan.tasks.len();
    let id = plan.tasks[place].id.clone();
    match how % 3 {
        0 => plan.tasks[place].body_sha256.push('!'),
        1 if plan.tasks.len() > 1 => {
            plan.tasks.remove(place);
            for task in &mut plan.tasks {
                task.deps.retain(|dep| *dep != id);
            }
            for group in &mut plan.groups {
                group.tasks.retain(|known| *known != id);
            }
        }
        _ => {
            let added = task(&format!("{}x", plan.tasks.len()));
            if plan.tasks.iter().all(|task| task.id != added.id) {
                let group = place % plan.groups.len();
                plan.groups[group].tasks.push(added.id.clone());
                plan.tasks.push(added);
            }
        }
    }
    plan
}

pub(crate) fn any_move() -> impl Strategy<Value = Move> {
    let number = 0..8_usize;
    prop_oneof![
        12 => (0..VERDICTS).prop_map(Move::Follow),
        4 => number.clone().prop_map(Move::Start),
        4 => (0..3_usize, 0..VERDICTS, 0..5_usize)
            .prop_map(|(ticket, verdict, checks)| Move::Done { ticket, verdict, checks }),
        1 => (0..2_usize).prop_map(Move::GiveUp),
        1 => (0..2_usize).prop_map(Move::Tamper),
        1 => number.clone().prop_map(Move::Lost),
        2 => number.clone().prop_map(Move::Skip),
        3 => number.clone().prop_map(Move::Retry),
        2 => (0..2_usize, 0..3_usize).prop_map(|(question, option)| Move::Answer { question, option }),
        3 => Just(Move::Types),
        1 => Just(Move::Cancel),
        1 => (1..3_u32).prop_map(Move::TakeOver),
        1 => (1..3_u32, any::<bool>()).prop_map(|(who, lives)| Move::Take { who, lives }),
        1 => (0..VERDICTS).prop_map(Move::Finals),
        1 => (number, 0..3_usize).prop_map(|(task, how)| Move::Edit { task, how }),
    ]
}

pub(crate) fn any_task(number: usize) -> impl Strategy<Value = Task> {
    let paths = prop_oneof![
        Just("a"),
        Just("b"),
        Just("src"),
        Just("src/x.rs"),
        Just("src/*.rs")
    ];
    let failure = prop_oneof![
        Just(OnFailure::Hold),
        Just(OnFailure::Revert),
        Just(OnFailure::Retry),
        Just(OnFailure::Skip),
        Just(OnFailure::Escalate)
    ];
    let deps = prop::collection::btree_set(0..number.max(1), 0..3);
    (
        deps,
        prop::collection::vec(paths, 0..3),
        0..3_usize,
        failure,
        1..4_u32,
        0..6_u8,
    )
        .prop_map(
            move |(deps, paths, checks, on_failure, attempts_max, contract)| Task {
                deps: deps
                    .into_iter()
                    .filter(|dep| *dep < number)
                    .map(|dep| dep.to_string())
                    .collect(),
                files: paths.into_iter().map(crate::run::kit::file).collect(),
                checks: (0..checks)
                    .map(|check| TaskCheck::new(&format!("prove {number} {check}")))
                    .collect(),
                on_failure,
                max_attempts: attempts_max,
                contract: (contract > 0).then(|| "contract".to_owned()),
                ..task(&number.to_string())
            },
        )
}

fn any_plan() -> impl Strategy<Value = Plan> {
    use omo_plan::model::{GroupIsolation, OnTaskFail, Parallelism};
    let tasks = (1..7_usize).prop_flat_map(|count| (0..count).map(any_task).collect::<Vec<_>>());
    let fail = prop_oneof![
        Just(OnTaskFail::Continue),
        Just(OnTaskFail::Stop),
        Just(OnTaskFail::NextRound)
    ];
    let parallel = prop_oneof![
        Just(Parallelism::None),
        Just(Parallelism::Groups),
        Just(Parallelism::Tasks)
    ];
    let batches = (
        1..4_usize,
        prop::collection::vec(any::<bool>(), 6),
        any::<bool>(),
        any::<bool>(),
    );
    let asked = (
        prop::collection::vec((any::<bool>(), any::<bool>()), 0..4),
        any::<bool>(),
    );
    (
        tasks,
        fail,
        (parallel, 0..3_u32),
        batches,
        asked,
        0..3_usize,
        any::<bool>(),
    )
        .prop_map(
            |(
                tasks,
                fail,
                (parallel, most),
                (size, stops, staged, own),
                (decisions, verified),
                finals,
                wants,
            )| {
                let mut plan = plan(tasks);
                let ids: Vec<String> = plan.tasks.iter().map(|task| task.id.clone()).collect();
                let batches: Vec<Vec<&str>> = ids
                    .chunks(size)
                    .map(|batch| batch.iter().map(String::as_str).collect())
                    .collect();
                let batches: Vec<&[&str]> = batches.iter().map(Vec::as_slice).collect();
                let stops: Vec<usize> = (0..batches.len()).filter(|place| stops[*place]).collect();
                plan = in_batches(plan, &batches, &stops);
                for group in &mut plan.groups {
                    group.wave = if staged { group.wave } else { 0 };
                    group.isolation = if own {
                        GroupIsolation::Worktree
                    } else {
                        GroupIsolation::Shared
                    };
                }
                let policy = &mut plan.policy;
                (policy.on_task_fail, policy.parallel, policy.max_workers) = (fail, parallel, most);
                policy.requires_contracts = wants;
                plan.final_checks = (0..finals)
                    .map(|number| TaskCheck::new(&format!("final {number}")))
                    .collect();
                plan.preconditions = vec![Precondition::Verification { approved: verified }];
                let decisions =
                    decisions
                        .into_iter()
                        .enumerate()
                        .map(|(number, (blocking, recommended))| {
                            let mut open = decision(&format!("D{number}"), blocking);
                            open.recommended = open.recommended.filter(|_| recommended);
                            Precondition::Decision(open)
                        });
                plan.preconditions.extend(decisions);
                plan
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_played_the_rules_hold_and_the_run_can_end(
        plan in any_plan(), moves in prop::collection::vec(any_move(), 0..60), of in 0..VERDICTS,
    ) {
        let mut walk = Walk::open(plan);
        for step in &moves {
            walk.run(step);
        }
        walk.replay();
        walk.finish(of);
    }

    #[test]
    fn only_what_comes_next_can_be_begun(plan in any_plan(), moves in prop::collection::vec(any_move(), 0..40)) {
        let mut walk = Walk::open(plan);
        for step in &moves {
            walk.run(step);
            let state = &walk.run.state;
            let ready = match next_action(state) {
                NextAction::Start(ready) => ready.iter().map(|task| task.id.as_str()).collect(),
                _ => BTreeSet::new(),
            };
            for task in &state.plan.tasks {
                prop_assert_eq!(verbs::may_start(state, &task.id).is_ok(), ready.contains(task.id.as_str()));
            }
        }
    }
}

/// Three tasks: the second has two checks and needs the first, the third asks for judgment when it fails
/// twice; a stop behind the first.
fn small() -> Plan {
    let second = Task {
        checks: vec![TaskCheck::new("a"), TaskCheck::new("b")],
        ..needs("2", &["1"])
    };
    let third = Task {
        on_failure: OnFailure::Escalate,
        max_attempts: 2,
        ..task("3")
    };
    in_batches(
        plan(vec![task("1"), second, third]),
        &[&["1"], &["2", "3"]],
        &[0],
    )
}

#[test]
fn every_sequence_of_five_verbs_holds_the_rules() {
    let mut moves = vec![
        Move::Types,
        Move::Cancel,
        Move::TakeOver(1),
        Move::TakeOver(2),
        Move::Finals(0),
    ];
    moves.push(Move::Take {
        who: 2,
        lives: false,
    });
    moves.push(Move::Edit { task: 0, how: 0 });
    moves.extend((0..2).map(|option| Move::Answer {
        question: 0,
        option,
    }));
    for number in 0..3 {
        moves.extend([
            Move::Start(number),
            Move::Lost(number),
            Move::Skip(number),
            Move::Retry(number),
        ]);
    }
    for ticket in 0..2 {
        moves.extend([Move::GiveUp(ticket), Move::Tamper(ticket)]);
        // Green, red, and a tool that is missing; all checks, none, one only, one for all, and others.
        moves.extend([2, 4].map(|verdict| Move::Done {
            ticket,
            verdict,
            checks: 0,
        }));
        moves.extend((0..5).map(|checks| Move::Done {
            ticket,
            verdict: 0,
            checks,
        }));
    }
    let mut ends = BTreeSet::new();
    let mut count = 0;
    // From its beginning, and from behind its stop: no five verbs lead from one to the end of the other.
    let mut behind = Walk::open(small());
    behind.run(&Move::Follow(0));
    behind.run(&Move::Follow(0));
    assert_eq!(behind.run.asked().unwrap().1, "hard_stop");
    behind.run(&Move::Follow(0));
    for from in [Walk::open(small()), behind] {
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

/// Makes every move that is not refused, and from there again. A refused one changes nothing: later moves are the same
/// without it.
pub(crate) fn descend(
    from: &Walk,
    moves: &[Move],
    depth: u32,
    ends: &mut BTreeSet<String>,
    count: &mut u32,
) {
    ends.insert(match &from.run.state.phase {
        RunPhase::Executing => "executing".to_owned(),
        RunPhase::Cancelled { .. } => "cancelled".to_owned(),
        RunPhase::Ended { result } => result.word().to_owned(),
    });
    *count += 1;
    if depth == 0 {
        return;
    }
    let mut walk = from.clone();
    for step in moves {
        if walk.run(step) {
            descend(&walk, moves, depth - 1, ends, count);
            walk = from.clone();
        }
    }
}

#[test]
fn a_run_at_a_terminal_ends_too() {
    let mut walk = Walk::open(small());
    walk.run.caller = VerbCaller::default();
    walk.run(&Move::Start(0));
    walk.run(&Move::Done {
        ticket: 0,
        verdict: 0,
        checks: 0,
    });
    let said = verbs::answer_question(
        &walk.run.state,
        &walk.run.caller,
        "q1",
        ANSWER_CONTINUE,
        None,
    );
    walk.run.take(said.map(|what| vec![what])).unwrap();
    walk.finish(0);
}
