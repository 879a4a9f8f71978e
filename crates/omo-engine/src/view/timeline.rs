//! Timeline of a run of a plan: a lane for each worker, one for the checks of the whole, one for its user.

use std::collections::BTreeMap;

use omo_core::check::task_check::TaskCheckOutcome;
use omo_view::run_view::{Lane, Mark, MarkKind, Span, SpanKind, TaskView};

use crate::event::{EventKind, RunEvent};
use crate::state::{FINAL_CHECKS_ID, RunPhase, RunState};
use crate::view::words;

const WHOLE: &str = "the whole";
const USER: &str = "you";

pub fn plan_lanes(state: &RunState, events: &[RunEvent], tasks: &[TaskView]) -> Vec<Lane> {
    let is_open = state.phase == RunPhase::Executing;
    let mut lanes = Lanes::default();
    let mut attempts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut lane_of_task: BTreeMap<&str, String> = BTreeMap::new();
    let known: BTreeMap<&str, (usize, &TaskView)> = tasks
        .iter()
        .enumerate()
        .map(|(place, task)| (task.id.as_str(), (place, task)))
        .collect();
    for event in events {
        if let EventKind::TaskStarted { task, .. } = &event.kind {
            let name = words::worker(state, task, event.actor.session.as_deref());
            let number = attempts.entry(task).or_default();
            let attempt = known
                .get(task.as_str())
                .and_then(|(place, view)| Some((place, view.history.get(*number)?)));
            *number += 1;
            if let Some((place, attempt)) = attempt {
                let kind = SpanKind::Attempt {
                    task: *place,
                    end: attempt.standing(),
                };
                lanes.span(
                    &name,
                    Span {
                        from: attempt.since,
                        until: attempt.until,
                        kind,
                        label: task.clone(),
                    },
                );
            }
            lane_of_task.insert(task, name);
        } else if let Some((task, kind, label)) = mark_of(&event.kind) {
            let lane = if task == FINAL_CHECKS_ID {
                None
            } else {
                lane_of_task.get(task)
            };
            lanes.mark(
                lane.map_or(WHOLE, String::as_str),
                Mark {
                    at: event.ts,
                    kind,
                    label,
                },
            );
        }
    }
    for known in &state.questions {
        let answer = known.answer.as_ref();
        let label = known
            .question
            .text
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned();
        let until = answer
            .map(|answer| answer.at)
            .or((!is_open).then_some(state.updated_at));
        lanes.span(
            USER,
            Span {
                from: known.opened_at,
                until,
                kind: SpanKind::Person,
                label,
            },
        );
        if let Some(answer) = answer {
            let label = format!("{}: {}", known.question.id, answer.option);
            lanes.mark(
                USER,
                Mark {
                    at: answer.at,
                    kind: MarkKind::Person,
                    label,
                },
            );
        }
    }
    lanes.lanes
}

fn mark_of(kind: &EventKind) -> Option<(&str, MarkKind, String)> {
    match kind {
        EventKind::CheckRan {
            task,
            command,
            outcome,
            ..
        } => Some((task, outcome_mark(outcome), command.clone())),
        EventKind::EvidenceRan { evidence } => Some((
            &evidence.task,
            outcome_mark(&evidence.outcome),
            evidence.command.clone(),
        )),
        EventKind::VerdictGiven { verdict } => {
            Some((FINAL_CHECKS_ID, MarkKind::Review, verdict.summary_line()))
        }
        _ => None,
    }
}

fn outcome_mark(outcome: &TaskCheckOutcome) -> MarkKind {
    if outcome.is_green() {
        MarkKind::Green
    } else {
        MarkKind::Red
    }
}

#[derive(Default)]
struct Lanes {
    lanes: Vec<Lane>,
}

impl Lanes {
    fn with(&mut self, name: &str, change: impl FnOnce(&mut Lane)) {
        if let Some(lane) = self.lanes.iter_mut().find(|lane| lane.name == name) {
            change(lane);
        } else {
            let mut lane = Lane {
                name: name.to_owned(),
                ..Lane::default()
            };
            change(&mut lane);
            self.lanes.push(lane);
        }
    }

    fn span(&mut self, lane: &str, span: Span) {
        self.with(lane, |lane| lane.spans.push(span));
    }

    fn mark(&mut self, lane: &str, mark: Mark) {
        self.with(lane, |lane| lane.marks.push(mark));
    }
}
