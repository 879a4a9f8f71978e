//! A witness of a run: watches its events alone, without the rules that it judges, and tells impossible ones.

mod task_list;

use std::collections::{BTreeMap, BTreeSet};

use omo_engine::event::{EventActor, EventKind, QuestionKind, RunEvent, RunResult};
use omo_engine::state::ANSWER_WITHDRAWN;
use omo_plan::model::{Dialect, GroupIsolation, OnFailure, Parallelism, Plan, Task, TaskKind};
use omo_plan::paths;

/// Facts about one task.
#[derive(Clone, Debug, Default)]
struct Seen {
    word: &'static str,
    /// Attempts since the task was last asked for, those that do not count left out.
    attempts: u32,
    attempt: u32,
    is_running: bool,
    green: BTreeSet<usize>,
    is_refuted: bool,
    /// Status before a verdict refused the task.
    refused_as: Option<&'static str>,
    shown: BTreeSet<String>,
}

/// Facts about a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Witness {
    plan: Option<Plan>,
    tasks: BTreeMap<String, Seen>,
    questions: BTreeMap<String, (QuestionKind, i64, Option<String>)>,
    finals: BTreeMap<usize, bool>,
    was_edited: bool,
    end: Option<End>,
    round: u32,
    /// A run that was over goes on, and nothing was begun since.
    is_resumed: bool,
    /// Evidence by its id: green or not.
    evidence: BTreeMap<String, bool>,
}

/// The ways in which a run is over.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Cancelled,
    Ended,
}

impl Witness {
    /// Takes in one event. `prompted` is the time of the last input of a person, in milliseconds.
    pub(crate) fn see(&mut self, event: &RunEvent, prompted: Option<i64>) {
        let plan = self.plan.clone();
        let task = |id: &str| plan.as_ref().unwrap().task(id).unwrap().clone();
        match &event.kind {
            EventKind::RunOpened { plan, .. } => {
                self.tasks = plan
                    .tasks
                    .iter()
                    .map(|task| (task.id.clone(), Seen::default()))
                    .collect();
                self.plan = Some((**plan).clone());
                self.round = 1;
            }
            EventKind::PlanChanged { plan: edited, .. } => self.edit(edited),
            EventKind::TaskStarted {
                task: id, attempt, ..
            } => self.start(&task(id), *attempt),
            EventKind::CheckRan {
                task: id,
                attempt: 0,
                position: place,
                outcome,
                ..
            } if id == "final" => {
                self.finals.insert(*place, outcome.is_green());
            }
            EventKind::CheckRan {
                task: id,
                attempt,
                position: place,
                outcome,
                ..
            } => {
                let seen = self.tasks.get_mut(id).unwrap();
                assert!(
                    seen.is_running && seen.attempt == *attempt,
                    "a check of no attempt at {id}"
                );
                seen.is_refuted |= !outcome.is_green();
                seen.green.extend(outcome.is_green().then_some(*place));
            }
            EventKind::TaskPassed { task: id, .. } => {
                let wanted = task(id).proving_checks().count();
                let seen = self.ended(id, "passed");
                assert!(
                    wanted > 0 && !seen.is_refuted,
                    "{id} passed by nothing, or although it was refuted"
                );
                assert_eq!(
                    seen.green,
                    (0..wanted).collect(),
                    "{id} passed without each of its checks"
                );
            }
            EventKind::TaskUnverified { task: id, .. } => {
                assert_eq!(
                    task(id).proving_checks().count(),
                    0,
                    "{id} could have been proved"
                );
                self.ended(id, "unproved");
            }
            EventKind::TaskFailed {
                task: id, is_final, ..
            } => {
                self.tasks.get_mut(id).unwrap().is_running = false;
                self.tasks.get_mut(id).unwrap().word = if *is_final { "failed" } else { "" };
            }
            EventKind::TaskSkipped { task: id, .. } => {
                let seen = self.tasks.get_mut(id).unwrap();
                assert!(
                    !seen.is_running && seen.word != "passed",
                    "{id} was left out under its worker"
                );
                seen.word = "skipped";
                self.void();
                self.withdraw(id);
            }
            EventKind::TaskHeld { task: id, .. } => self.tasks.get_mut(id).unwrap().give_back(),
            EventKind::TaskReopened { task: id, .. } => {
                let seen = self.tasks.get_mut(id).unwrap();
                assert!(
                    !seen.is_running && !matches!(seen.word, "passed" | ""),
                    "{id} had not ended"
                );
                (seen.word, seen.attempts) = ("", 0);
                // A review that judges again takes its verdict back.
                if task(id).is_verification() {
                    for seen in self.tasks.values_mut().filter(|seen| seen.word == "failed") {
                        seen.word = seen.refused_as.take().unwrap_or("failed");
                    }
                }
                self.void();
                self.withdraw(id);
            }
            EventKind::TaskImported { task: id, .. } => self.import(&task(id)),
            EventKind::ProjectionChanged { .. }
            | EventKind::PlanTicked { .. }
            | EventKind::PlanNotTicked { .. }
            | EventKind::PullRequestTried { .. }
            | EventKind::HolderChanged
            | EventKind::TasksDispatched { .. } => {}
            EventKind::QuestionOpened { question } => {
                let opened = (question.kind.clone(), event.ts.as_millis(), None);
                assert!(!question.options.is_empty(), "nothing can be answered");
                assert!(
                    self.questions.insert(question.id.clone(), opened).is_none(),
                    "a second question {}",
                    question.id
                );
            }
            EventKind::QuestionAnswered {
                question, option, ..
            } => {
                self.answer(question, option, &event.actor, prompted);
            }
            EventKind::RunCancelled { .. } => {
                self.tasks
                    .values_mut()
                    .filter(|seen| seen.is_running)
                    .for_each(Seen::give_back);
                self.end = Some(End::Cancelled);
            }
            EventKind::RunResumed => {
                let end = self.end.take().unwrap();
                self.is_resumed = end == End::Ended;
                self.round = if self.is_resumed { 1 } else { self.round };
                self.finals.clear();
            }
            EventKind::RunEnded { result } => self.end(*result),
            what => self.see_session(what),
        }
    }

    fn ended(&mut self, id: &str, word: &'static str) -> Seen {
        let seen = self.tasks.get_mut(id).unwrap();
        assert!(seen.is_running, "{id} ended without a worker");
        (seen.is_running, seen.word) = (false, word);
        seen.clone()
    }

    fn start(&mut self, task: &Task, attempt: u32) {
        let plan = self.plan.clone().unwrap();
        assert!(self.end.is_none(), "begun in a run that is over");
        for dep in &task.deps {
            let word = self.tasks[dep].word;
            let may_be_left_out = plan.task(dep).unwrap().on_failure == OnFailure::Skip;
            let is_done =
                matches!(word, "passed" | "claimed") || word == "skipped" && may_be_left_out;
            assert!(is_done, "{} before {dep}, {word}", task.id);
        }
        assert!(
            !(plan.policy.requires_contracts && task.contract.is_none()),
            "{} has no contract",
            task.id
        );
        let open: Vec<_> = self
            .questions
            .values()
            .filter(|(_, _, answer)| answer.is_none())
            .collect();
        assert!(open.is_empty(), "{} begun while {open:?}", task.id);
        self.stops_before(&plan, task);
        for other in plan
            .tasks
            .iter()
            .filter(|other| self.tasks[&other.id].is_running)
        {
            assert_ne!(other.id, task.id, "begun twice");
            assert!(
                are_parallel(&plan, task, other),
                "{} beside {}",
                task.id,
                other.id
            );
        }
        self.room_for(&plan, task);
        self.is_resumed = false;
        self.void();
        let seen = self.tasks.get_mut(&task.id).unwrap();
        seen.shown.clear();
        assert_eq!(seen.word, "", "{} had ended", task.id);
        assert_eq!(attempt, seen.attempt + 1);
        seen.attempts += 1;
        assert!(
            seen.attempts <= task.max_attempts,
            "{} was tried too often",
            task.id
        );
        (seen.attempt, seen.is_running, seen.is_refuted) = (attempt, true, false);
        seen.refused_as = None;
        seen.green.clear();
    }

    /// Asserts that a person answered every stop before a task.
    fn stops_before(&self, plan: &Plan, task: &Task) {
        let (place, group) = plan.group_of(&task.id).unwrap();
        let before = plan
            .groups
            .iter()
            .enumerate()
            .filter(|(other, known)| (known.wave, *other) < (group.wave, place));
        for (stop, _) in before.filter(|(_, known)| known.hard_stop && !self.was_edited) {
            let is_it = |(about, _, answer): &(QuestionKind, i64, Option<String>)| {
                let covers = match about {
                    QuestionKind::HardStop { group } => plan.groups[*group]
                        .wave
                        .cmp(&plan.groups[stop].wave)
                        .then(group.cmp(&stop))
                        .is_ge(),
                    _ => false,
                };
                covers && answer.as_deref() == Some("continue")
            };
            assert!(
                self.questions.values().any(is_it),
                "{} behind the stop of {stop}",
                task.id
            );
        }
    }

    fn answer(&mut self, question: &str, option: &str, actor: &EventActor, prompted: Option<i64>) {
        let (about, opened, answer) = self.questions.get_mut(question).unwrap();
        assert!(
            self.end.is_none() && answer.is_none(),
            "{question} was answered, or asked in a run that is over"
        );
        let has_person = actor.session.is_none() || prompted.is_some_and(|at| at > *opened);
        assert!(
            has_person,
            "{question} about {about:?} was answered without a person"
        );
        *answer = Some(option.to_owned());
    }

    fn edit(&mut self, edited: &Plan) {
        let plan = self.plan.replace(edited.clone()).unwrap();
        let tasks = edited.tasks.iter().map(|task| {
            let same = plan
                .task(&task.id)
                .is_some_and(|known| known.body_sha256 == task.body_sha256);
            let seen = self.tasks.get(&task.id).cloned().unwrap_or_default();
            let fresh = Seen {
                attempt: seen.attempt,
                ..Seen::default()
            };
            (
                task.id.clone(),
                if same || seen.is_running { seen } else { fresh },
            )
        });
        let tasks: BTreeMap<String, Seen> = tasks.collect();
        let was_running = self.tasks.iter().filter(|(_, seen)| seen.is_running);
        for (id, _) in was_running {
            assert!(
                tasks.get(id).is_some_and(|seen| seen.is_running),
                "{id} was edited under its worker"
            );
        }
        self.tasks = tasks;
        self.void();
        self.was_edited = true;
        for (_, _, answer) in self
            .questions
            .values_mut()
            .filter(|(_, _, answer)| answer.is_none())
        {
            *answer = Some(ANSWER_WITHDRAWN.to_owned());
        }
    }

    /// Withdraws questions about a task that was left out or is done again.
    fn withdraw(&mut self, id: &str) {
        for (about, _, answer) in self
            .questions
            .values_mut()
            .filter(|(_, _, answer)| answer.is_none())
        {
            if matches!(about, QuestionKind::Escalated { task } | QuestionKind::CheckNotRunnable { task, .. } if task == id)
            {
                *answer = Some(ANSWER_WITHDRAWN.to_owned());
            }
        }
    }

    fn end(&mut self, result: RunResult) {
        let plan = self.plan.as_ref().unwrap();
        assert!(
            self.end.is_none() && self.tasks.values().all(|seen| !seen.is_running),
            "ended under a worker"
        );
        let is_done = |(id, seen): (&String, &Seen)| match plan.task(id).unwrap().kind {
            TaskKind::Verify => seen.word == "passed",
            _ => matches!(seen.word, "passed" | "claimed"),
        };
        let is_whole = self.tasks.iter().all(is_done)
            && (0..plan.final_checks.len()).all(|place| self.finals.get(&place) == Some(&true));
        assert_eq!(
            result == RunResult::Complete,
            is_whole,
            "ended as {result:?}"
        );
        self.end = Some(End::Ended);
    }
}

impl Seen {
    fn give_back(&mut self) {
        assert!(self.is_running, "given back without a worker");
        self.is_running = false;
        self.attempts -= 1;
        self.attempt -= 1;
    }
}

fn are_parallel(plan: &Plan, one: &Task, other: &Task) -> bool {
    let (first, second) = (
        plan.group_of(&one.id).unwrap(),
        plan.group_of(&other.id).unwrap(),
    );
    let is_own = |isolation| isolation == GroupIsolation::Worktree;
    if first.0 != second.0 && (is_own(first.1.isolation) || is_own(second.1.isolation)) {
        return true;
    }
    if [one, other].iter().any(|task| task.is_verification()) {
        return false;
    }
    if plan.dialect == Dialect::TasksJson && (one.files.is_empty() || other.files.is_empty()) {
        return true;
    }
    let may_meet = one.files.iter().any(|file| {
        other
            .files
            .iter()
            .any(|known| paths::paths_overlap(&file.path, &known.path))
    });
    !one.files.is_empty() && !other.files.is_empty() && !may_meet
}
