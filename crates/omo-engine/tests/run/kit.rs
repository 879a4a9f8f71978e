//! Plans of small shape, and a run that turns verbs into events and folds them at once.

use omo_core::check::printed_output::PrintedOutput;
use omo_core::check::task_check::{TaskCheck, TaskCheckOutcome, TaskCheckVerdict};
use omo_core::timestamp::Timestamp;
use omo_engine::event::{EventActor, EventKind, RecordedProcess, RunEvent, RunResult};
use omo_engine::schedule::{NextAction, next_action};
use omo_engine::state::{RunPhase, RunState};
use omo_engine::verbs::{self, AttemptMeasurement, AttemptStart, VerbCaller};
use omo_plan::model::{
    DecisionOption, Dialect, FileAction, FileUse, GroupIsolation, Plan, PlanDecision, PlanSource,
    RunPolicy, Task, TaskGroup,
};
use omo_plan::refusal::VerbRefusal;

pub(crate) fn task(id: &str) -> Task {
    Task {
        body_sha256: format!("text of {id}"),
        files: vec![file(&format!("src/{id}.rs"))],
        checks: vec![TaskCheck::new(&format!("prove {id}"))],
        contract: Some("contract".to_owned()),
        ..Task::new(id, format!("Unit {id}")).with_body(format!("### Task {id}: Unit {id}"), [1, 2])
    }
}

pub(crate) fn needs(id: &str, deps: &[&str]) -> Task {
    Task {
        deps: deps.iter().map(|dep| (*dep).to_owned()).collect(),
        ..task(id)
    }
}

pub(crate) fn file(path: &str) -> FileUse {
    FileUse::new(path, FileAction::Modify)
}

pub(crate) fn plan(tasks: Vec<Task>) -> Plan {
    let all: Vec<String> = tasks.iter().map(|task| task.id.clone()).collect();
    let source = PlanSource::new("plan.md", "plan", 1);
    Plan {
        title: "A plan".to_owned(),
        tasks,
        groups: vec![TaskGroup {
            tasks: all,
            ..group(0)
        }],
        policy: RunPolicy {
            max_workers: 0,
            batch_size: 5,
            hub_dependents: 3,
            ..RunPolicy::default()
        },
        ..Plan::new(Dialect::DevWorkflow, source)
    }
}

pub(crate) fn group(place: usize) -> TaskGroup {
    TaskGroup {
        id: format!("batch-{}", place + 1),
        title: String::new(),
        tasks: Vec::new(),
        wave: place,
        deps: Vec::new(),
        names_all_deps: false,
        may_touch: Vec::new(),
        never_touch: Vec::new(),
        isolation: GroupIsolation::Shared,
        hard_stop: false,
    }
}

/// The plan in these batches, with stops after the named positions.
pub(crate) fn in_batches(plan: Plan, batches: &[&[&str]], stops: &[usize]) -> Plan {
    let groups = batches.iter().enumerate().map(|(place, ids)| TaskGroup {
        tasks: ids.iter().map(|id| (*id).to_owned()).collect(),
        hard_stop: stops.contains(&place),
        ..group(place)
    });
    Plan {
        groups: groups.collect(),
        ..plan
    }
}

/// An open decision between A and B; A is recommended.
pub(crate) fn decision(id: &str, blocking: bool) -> PlanDecision {
    let option = |label: &str| DecisionOption {
        label: label.to_owned(),
        text: format!("take {label}"),
    };
    PlanDecision {
        id: id.to_owned(),
        title: format!("What about {id}"),
        blocking,
        options: vec![option("A"), option("B")],
        recommended: Some("A".to_owned()),
        chosen: None,
        choice_range: None,
    }
}

pub(crate) fn outcome(verdict: TaskCheckVerdict) -> TaskCheckOutcome {
    let exit = i32::from(verdict != TaskCheckVerdict::Green);
    TaskCheckOutcome {
        detail: format!("exit {exit}"),
        verdict,
        exit: Some(exit),
        took_millis: 5,
        printed: PrintedOutput::default(),
        log: None,
        counts: None,
        has_pipe_without_pipefail: false,
        setting: String::new(),
    }
}

/// The verdict on a check whose program, `tool`, is missing.
pub(crate) fn no_tool() -> TaskCheckVerdict {
    TaskCheckVerdict::Environment {
        command: Some("tool".to_owned()),
    }
}

/// All checks of a task, each with this result.
pub(crate) fn all(task: &Task, verdict: &TaskCheckVerdict) -> AttemptMeasurement {
    let outcomes = task
        .proving_checks()
        .map(|check| (check.clone(), outcome(verdict.clone())))
        .collect();
    AttemptMeasurement {
        outcomes,
        ..AttemptMeasurement::default()
    }
}

pub(crate) fn session(id: &str, pid: u32) -> EventActor {
    EventActor {
        session: Some(id.to_owned()),
        process: Some(RecordedProcess { pid, mark: None }),
    }
}

/// A run in play.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The present `RunState`.
    pub state: RunState,
    /// The events so far.
    pub events: Vec<RunEvent>,
    /// The caller, with the time of the last input of a person.
    pub caller: VerbCaller,
    pub(crate) now: i64,
}

impl Run {
    /// Opens a run by session `s1`, with the events that follow by themselves.
    pub(crate) fn open(plan: Plan) -> Self {
        let actor = session("s1", 100);
        let more = verbs::opening_events(&plan);
        let what = EventKind::RunOpened {
            plan: Box::new(plan),
            approved: "approved".to_owned(),
            root: "/top".to_owned(),
            worktree: None,
            base: None,
            branch: None,
            scope: None,
            mode: None,
            guard: None,
        };
        let opened = RunEvent {
            seq: 1,
            ts: Timestamp::from_millis(1_000),
            actor: actor.clone(),
            kind: what,
        };
        let state = RunState::from_first_event(&opened).unwrap();
        let caller = VerbCaller {
            actor,
            ..VerbCaller::default()
        };
        let mut run = Self {
            state,
            events: vec![opened],
            caller,
            now: 1_000,
        };
        run.write(more);
        run.advance();
        run
    }

    pub(crate) fn write(&mut self, events: impl IntoIterator<Item = EventKind>) {
        for what in events {
            self.now += 1_000;
            let ts = Timestamp::from_millis(self.now);
            let event = RunEvent {
                seq: self.state.seq + 1,
                ts,
                actor: self.caller.actor.clone(),
                kind: what,
            };
            self.state.apply(&event).unwrap();
            self.events.push(event);
        }
    }

    pub(crate) fn advance(&mut self) {
        for _ in 0..1_000 {
            let Some(what) = verbs::automatic_event(&self.state) else {
                return;
            };
            self.write([what]);
        }
        panic!(
            "what follows by itself never ends: {:?}",
            self.events.last()
        );
    }

    /// Writes the events of a verb and those that follow; a refusal writes nothing.
    pub(crate) fn take(
        &mut self,
        said: Result<Vec<EventKind>, VerbRefusal>,
    ) -> Result<(), VerbRefusal> {
        self.write(said?);
        self.advance();
        Ok(())
    }

    pub(crate) fn types(&mut self) {
        self.now += 1_000;
        self.caller.prompted_at = Some(Timestamp::from_millis(self.now));
    }

    /// Begins an attempt; its ticket is of the task and the number of the event.
    pub(crate) fn start(&mut self, id: &str) -> Result<String, VerbRefusal> {
        let ticket = format!("{id}#{}", self.state.seq);
        let start = AttemptStart {
            ticket: ticket.clone(),
            ..AttemptStart::default()
        };
        self.take(verbs::start_attempt(&self.state, id, start).map(|what| vec![what]))?;
        Ok(ticket)
    }

    pub(crate) fn done(
        &mut self,
        ticket: &str,
        measured: AttemptMeasurement,
    ) -> Result<(), VerbRefusal> {
        self.take(verbs::judge_attempt(&self.state, ticket, measured))
    }

    /// Begins and ends an attempt, each check of the task with this result.
    pub(crate) fn work(&mut self, id: &str, verdict: &TaskCheckVerdict) {
        let ticket = self.start(id).unwrap();
        let measured = all(self.state.plan.task(id).unwrap(), verdict);
        self.done(&ticket, measured).unwrap();
    }

    pub(crate) fn pass(&mut self, id: &str) {
        self.work(id, &TaskCheckVerdict::Green);
    }

    pub(crate) fn fail(&mut self, id: &str) {
        self.work(id, &TaskCheckVerdict::Red);
    }

    pub(crate) fn answer(&mut self, question: &str, option: &str) -> Result<(), VerbRefusal> {
        self.types();
        self.take(
            verbs::answer_question(&self.state, &self.caller, question, option, None)
                .map(|what| vec![what]),
        )
    }

    pub(crate) fn retry(&mut self, id: &str) -> Result<(), VerbRefusal> {
        self.types();
        self.take(verbs::retry_task(&self.state, &self.caller, id))
    }

    pub(crate) fn skip(&mut self, id: &str) -> Result<(), VerbRefusal> {
        self.types();
        self.take(
            verbs::skip_task(&self.state, &self.caller, id, "not wanted").map(|what| vec![what]),
        )
    }

    pub(crate) fn replan(&mut self, plan: Plan) -> Result<(), VerbRefusal> {
        self.take(verbs::replace_plan(
            &self.state,
            plan,
            "approved again".to_owned(),
        ))
    }

    pub(crate) fn standing(&self, id: &str) -> &'static str {
        self.state
            .standing(id)
            .map_or("missing", |standing| standing.word())
    }

    pub(crate) fn ready(&self) -> Vec<&str> {
        match next_action(&self.state) {
            NextAction::Start(tasks) => tasks.iter().map(|task| task.id.as_str()).collect(),
            _ => Vec::new(),
        }
    }

    /// Id of the open question, with the word for its subject.
    pub(crate) fn asked(&self) -> Option<(String, String)> {
        let known = self.state.open_question()?;
        let about = serde_json::to_value(&known.question.kind).unwrap();
        Some((
            known.question.id.clone(),
            about["about"].as_str().unwrap().to_owned(),
        ))
    }

    pub(crate) fn result(&self) -> Option<RunResult> {
        match self.state.phase {
            RunPhase::Ended { result } => Some(result),
            RunPhase::Executing | RunPhase::Cancelled { .. } => None,
        }
    }
}
