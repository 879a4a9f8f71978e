//! Where a run stands: what its ledger folds to.

use std::collections::{BTreeMap, BTreeSet};

use omo_core::check::CheckOutcome;
use omo_core::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::{Decision, OnFailure, Plan, Precondition, Unit};
use crate::run::event::{Actor, Event, Gate, GateKind, ImportedStatus, RunResult, UnitEnd, What};

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunState {
    /// Its plan, as the run knows it.
    pub plan: Plan,
    /// The SHA-256 of the plan's file as the run knows it: an answer of a gate may have been
    /// written into it since it was read.
    pub plan_sha256: String,
    /// The digest of exactly the commands that its user approved.
    pub approved: String,
    /// The top of the work tree that it changes.
    #[serde(default)]
    pub root: String,
    /// The commit that was checked out at its start.
    pub base: Option<String>,
    /// Where the run as a whole stands.
    pub phase: Phase,
    /// Who it belongs to.
    pub holder: Actor,
    /// Each unit of the plan, by id.
    pub units: BTreeMap<String, UnitState>,
    /// The gates, in the order in which they were opened.
    pub gates: Vec<GateState>,
    /// The last result of each final check, by its command.
    pub final_checks: BTreeMap<String, CheckOutcome>,
    /// Files that omo writes for others and that something else had changed, with where that was put.
    pub drift: Vec<(String, Option<String>)>,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When the last event was written.
    pub updated_at: Timestamp,
    /// The number of that event.
    pub seq: u64,
}

/// Where a run as a whole stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Phase {
    /// Units are worked on, or wait for a gate.
    Executing,
    /// It came to its end.
    Ended {
        /// How.
        result: RunResult,
    },
    /// It was ended before its end.
    Cancelled {
        /// Why.
        why: String,
    },
}

/// Where one unit stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitState {
    /// Where.
    pub status: UnitStatus,
    /// Attempts that were begun and count.
    pub attempts: u32,
    /// How the last attempt ended, where one has.
    pub end: Option<UnitEnd>,
    /// The attempt that runs.
    pub running: Option<Running>,
    /// The last result of each of its checks.
    #[serde(default)]
    pub checks: Vec<(String, CheckOutcome)>,
    /// Checks that were green before the work began, by their place.
    #[serde(default)]
    pub vacuous: Vec<usize>,
    /// Why it was left out, held or reopened.
    pub why: Option<String>,
    /// The plan says something else about it since it was done.
    #[serde(default)]
    pub is_stale: bool,
    /// How often a worker of it was lost since somebody last asked for it.
    #[serde(default)]
    pub lost: u32,
    /// When the last event about it was written.
    #[serde(default)]
    pub at: Option<Timestamp>,
}

/// What the ledger says of a unit. That a unit is blocked follows from what it depends on, and is not
/// written down: [`RunState::standing`] tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnitStatus {
    /// Nobody has begun, or it is to be done again.
    #[default]
    Pending,
    /// A worker is at it.
    Running,
    /// Its worker is gone: it is begun again, and that does not count as an attempt.
    Held,
    /// Its checks were green.
    Passed,
    /// Something else than omo says that it was done: what depends on it may go on, and it is not shown as
    /// passed.
    Claimed,
    /// It was done, and nothing could prove it.
    Unverified,
    /// It has failed for good.
    Failed,
    /// It was left out.
    Skipped,
}

impl UnitStatus {
    /// Whether nothing more happens to it by itself.
    pub fn is_ended(self) -> bool {
        matches!(self, Self::Passed | Self::Claimed | Self::Unverified | Self::Failed | Self::Skipped)
    }
}

impl From<ImportedStatus> for UnitStatus {
    fn from(status: ImportedStatus) -> Self {
        match status {
            ImportedStatus::Done => Self::Claimed,
            ImportedStatus::Failed => Self::Failed,
            ImportedStatus::Blocked => Self::Skipped,
        }
    }
}

/// Where a unit stands, what it depends on included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// As the ledger says.
    Is(UnitStatus),
    /// Something that it depends on ended other than passed: this one.
    Blocked {
        /// The nearest such unit.
        by: String,
    },
}

impl Standing {
    /// Whether nothing more happens to it by itself.
    pub fn is_ended(&self) -> bool {
        match self {
            Self::Is(status) => status.is_ended(),
            Self::Blocked { .. } => true,
        }
    }

    /// The word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Is(UnitStatus::Pending) => "pending",
            Self::Is(UnitStatus::Running) => "running",
            Self::Is(UnitStatus::Held) => "held",
            Self::Is(UnitStatus::Passed) => "passed",
            Self::Is(UnitStatus::Claimed) => "claimed",
            Self::Is(UnitStatus::Unverified) => "unverified",
            Self::Is(UnitStatus::Failed) => "failed",
            Self::Is(UnitStatus::Skipped) => "skipped",
            Self::Blocked { .. } => "blocked",
        }
    }
}

/// An attempt that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// Who started it.
    pub by: Actor,
    /// The SHA-256 of its ticket.
    pub ticket: String,
    /// When it began.
    pub since: Timestamp,
    /// The work tree as it was.
    pub tree: Option<String>,
    /// The files that it must not change, with their digests.
    #[serde(default)]
    pub guarded: Vec<(String, String)>,
}

/// A gate and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateState {
    /// The gate.
    pub gate: Gate,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// What was answered, by whom, and when.
    pub answer: Option<Answer>,
}

/// What was answered at a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Which option.
    pub option: String,
    /// Whose hand it was.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
}

/// How many units stand how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All of them.
    pub total: usize,
    /// Proved.
    pub passed: usize,
    /// Done, as something else than omo says.
    pub claimed: usize,
    /// Failed for good, unverified ones included.
    pub failed: usize,
    /// Blocked or left out.
    pub blocked: usize,
    /// Not ended.
    pub pending: usize,
}

/// A ledger that cannot be: what is wrong, and at which event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLedger {
    /// The number of the event.
    pub seq: u64,
    /// What is wrong with it.
    pub what: String,
}

impl std::fmt::Display for BadLedger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "event {} of the ledger {}", self.seq, self.what)
    }
}

impl std::error::Error for BadLedger {}

impl RunState {
    /// The state after the first event, which opens the run.
    pub fn open(event: &Event) -> Result<Self, BadLedger> {
        let What::RunOpened { plan, approved, root, base } = &event.what else {
            return Err(BadLedger { seq: event.seq, what: "does not open a run".to_owned() });
        };
        let units = plan.units.iter().map(|unit| (unit.id.clone(), UnitState::default())).collect();
        Ok(Self {
            plan: (**plan).clone(),
            plan_sha256: plan.source.sha256.clone(),
            approved: approved.clone(),
            root: root.clone(),
            base: base.clone(),
            phase: Phase::Executing,
            holder: event.actor.clone(),
            units,
            gates: Vec::new(),
            final_checks: BTreeMap::new(),
            drift: Vec::new(),
            opened_at: event.ts,
            updated_at: event.ts,
            seq: event.seq,
        })
    }

    /// The state after one more event.
    pub fn apply(&mut self, event: &Event) -> Result<(), BadLedger> {
        let bad = |what: &str| BadLedger { seq: event.seq, what: what.to_owned() };
        if event.seq != self.seq + 1 {
            return Err(bad("does not follow the one before it"));
        }
        match &event.what {
            What::RunOpened { .. } => return Err(bad("opens a run that is open")),
            What::Taken => self.holder = event.actor.clone(),
            What::PlanChanged { plan, approved } => self.take_plan(plan, approved),
            What::GateOpened { gate } => {
                self.gates.push(GateState { gate: gate.clone(), opened_at: event.ts, answer: None });
            }
            What::GateAnswered { gate, option, plan_sha256 } => {
                let answer = Answer { option: option.clone(), by: event.actor.clone(), at: event.ts };
                let open = self.gates.iter_mut().find(|state| state.gate.id == *gate && state.answer.is_none());
                open.ok_or_else(|| bad("answers a gate that is not open"))?.answer = Some(answer);
                self.take_choice(gate, option);
                if let Some(sha256) = plan_sha256 {
                    self.plan_sha256.clone_from(sha256);
                }
            }
            What::CheckRan { unit, command, outcome, .. } if unit == FINAL => {
                self.final_checks.insert(command.clone(), outcome.clone());
            }
            What::ProjectionDrift { file, kept } => self.drift.push((file.clone(), kept.clone())),
            What::Cancelled { why } => self.phase = Phase::Cancelled { why: why.clone() },
            What::Resumed => {
                self.phase = Phase::Executing;
                self.holder = event.actor.clone();
            }
            What::RunEnded { result } => self.phase = Phase::Ended { result: *result },
            what => self.apply_to_unit(event, what)?,
        }
        (self.seq, self.updated_at) = (event.seq, event.ts);
        Ok(())
    }

    fn apply_to_unit(&mut self, event: &Event, what: &What) -> Result<(), BadLedger> {
        let Some(id) = unit_of(what) else { return Ok(()) };
        let missing = || BadLedger { seq: event.seq, what: "is about a unit that the plan does not have".to_owned() };
        let unit = self.units.get_mut(id).ok_or_else(missing)?;
        unit.at = Some(event.ts);
        let mut end_as = |status, end: &UnitEnd| {
            unit.status = status;
            unit.running = None;
            unit.end = Some(end.clone());
            unit.why = None;
            unit.is_stale = false;
        };
        match what {
            What::UnitPassed { end, .. } => end_as(UnitStatus::Passed, end),
            What::UnitUnverified { end, .. } => end_as(UnitStatus::Unverified, end),
            What::UnitFailed { end, is_final: true, .. } => end_as(UnitStatus::Failed, end),
            What::UnitFailed { end, is_final: false, .. } => end_as(UnitStatus::Pending, end),
            What::UnitImported { status, evidence, files, .. } => {
                let end = UnitEnd { evidence: evidence.clone(), files: files.clone(), ..UnitEnd::default() };
                end_as((*status).into(), &end);
                unit.why = (*status == ImportedStatus::Blocked).then_some(end.evidence);
            }
            What::UnitStarted { attempt, ticket, tree, guarded, vacuous, .. } => {
                unit.status = UnitStatus::Running;
                unit.attempts = *attempt;
                unit.why = None;
                unit.checks.clear();
                unit.vacuous.clone_from(vacuous);
                let (by, ticket) = (event.actor.clone(), ticket.clone());
                let (tree, guarded) = (tree.clone(), guarded.clone());
                unit.running = Some(Running { by, ticket, since: event.ts, tree, guarded });
            }
            What::CheckRan { command, outcome, .. } => {
                unit.checks.retain(|(known, _)| known != command);
                unit.checks.push((command.clone(), outcome.clone()));
            }
            What::UnitHeld { why, attempt, .. } => {
                (unit.status, unit.running, unit.why) = (UnitStatus::Held, None, Some(why.clone()));
                (unit.attempts, unit.lost) = (attempt.saturating_sub(1), unit.lost.saturating_add(1));
            }
            What::UnitSkipped { why, .. } => {
                (unit.status, unit.running, unit.why) = (UnitStatus::Skipped, None, Some(why.clone()));
            }
            What::UnitReopened { why, .. } => {
                (unit.status, unit.running, unit.why) = (UnitStatus::Pending, None, Some(why.clone()));
                unit.lost = 0;
            }
            _ => {}
        }
        Ok(())
    }

    /// Goes on with an edited plan: what passed and says the same now stays, all else is as it was or
    /// is new, and what was done and says something else is to be done again.
    fn take_plan(&mut self, plan: &Plan, approved: &str) {
        let mut units = BTreeMap::new();
        for unit in &plan.units {
            let known = self.plan.unit(&unit.id).zip(self.units.get(&unit.id));
            let state = match known {
                None => UnitState::default(),
                Some((old, state)) if old.body_sha256 == unit.body_sha256 => state.clone(),
                Some((_, state)) if state.status == UnitStatus::Running => state.clone(),
                Some((_, state)) => UnitState {
                    is_stale: matches!(state.status, UnitStatus::Passed | UnitStatus::Claimed),
                    attempts: state.attempts,
                    end: state.end.clone(),
                    ..UnitState::default()
                },
            };
            units.insert(unit.id.clone(), state);
        }
        (self.plan, self.units) = (plan.clone(), units);
        self.plan_sha256.clone_from(&plan.source.sha256);
        approved.clone_into(&mut self.approved);
    }

    /// What a decision became is part of the plan that workers read.
    fn take_choice(&mut self, gate: &str, option: &str) {
        let of_gate = self.gates.iter().find(|state| state.gate.id == gate).map(|state| state.gate.about.clone());
        let Some(GateKind::Decisions { decisions }) = of_gate else { return };
        for decision in decisions {
            if let Some(label) = chosen_label(&decision, option) {
                for known in &mut self.plan.preconditions {
                    if let Precondition::Decision(known) = known
                        && known.id == decision.id
                    {
                        known.chosen = Some(label.clone());
                    }
                }
            }
        }
    }

    /// The open gate that the run waits at, if it does: the first one without an answer.
    pub fn open_gate(&self) -> Option<&GateState> {
        self.gates.iter().find(|state| state.answer.is_none())
    }

    /// Whether the stop behind a batch was let pass.
    pub fn is_stop_passed(&self, group: usize) -> bool {
        self.gates.iter().any(|state| state.gate.about == GateKind::HardStop { group } && state.answer.is_some())
    }

    /// Where a unit stands; `None` where the plan does not have it.
    pub fn standing(&self, id: &str) -> Option<Standing> {
        let status = self.units.get(id)?.status;
        if !matches!(status, UnitStatus::Pending | UnitStatus::Held) {
            return Some(Standing::Is(status));
        }
        Some(self.blocker(id).map_or(Standing::Is(status), |by| Standing::Blocked { by }))
    }

    /// Where every unit stands, in the order of the plan.
    pub fn standings(&self) -> Vec<(&Unit, Standing)> {
        let blocked = self.blocked();
        let standing = |unit: &Unit| match (blocked.get(unit.id.as_str()), self.units.get(&unit.id)) {
            (Some(by), _) => Standing::Blocked { by: (*by).to_owned() },
            (None, state) => Standing::Is(state.map(|state| state.status).unwrap_or_default()),
        };
        self.plan.units.iter().map(|unit| (unit, standing(unit))).collect()
    }

    fn blocker(&self, id: &str) -> Option<String> {
        self.blocked().get(id).map(|by| (*by).to_owned())
    }

    /// Every unit that cannot be done because of what it depends on, with the one that it is because of. The
    /// units of a plan stand after what they depend on, so that once through is enough.
    fn blocked(&self) -> BTreeMap<&str, &str> {
        let mut blocked = BTreeMap::new();
        for unit in &self.plan.units {
            let status = |id: &str| self.units.get(id).map(|state| state.status).unwrap_or_default();
            if !matches!(status(&unit.id), UnitStatus::Pending | UnitStatus::Held) {
                continue;
            }
            let is_bad = |id: &str| (status(id).is_ended() && !self.lets_go_on(id)) || blocked.contains_key(id);
            if let Some(by) = unit.deps.iter().find(|id| is_bad(id)) {
                blocked.insert(unit.id.as_str(), by.as_str());
            }
        }
        blocked
    }

    /// Whether what depends on a unit may be begun: it has passed, it is said to have been done before the
    /// run, or the plan says itself that it may be left out.
    pub fn lets_go_on(&self, id: &str) -> bool {
        let may_be_left_out = || self.plan.unit(id).is_some_and(|unit| unit.on_failure == OnFailure::Skip);
        match self.units.get(id).map(|state| state.status) {
            Some(UnitStatus::Passed | UnitStatus::Claimed) => true,
            Some(UnitStatus::Skipped) => may_be_left_out(),
            _ => false,
        }
    }

    /// How many units stand how.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts { total: self.plan.units.len(), ..Counts::default() };
        for (_, standing) in self.standings() {
            match standing {
                Standing::Is(UnitStatus::Passed) => counts.passed += 1,
                Standing::Is(UnitStatus::Claimed) => counts.claimed += 1,
                Standing::Is(UnitStatus::Failed | UnitStatus::Unverified) => counts.failed += 1,
                Standing::Blocked { .. } | Standing::Is(UnitStatus::Skipped) => counts.blocked += 1,
                Standing::Is(_) => counts.pending += 1,
            }
        }
        counts
    }

    /// The units that somebody is at.
    pub fn running(&self) -> impl Iterator<Item = (&str, &Running)> {
        self.units.iter().filter_map(|(id, unit)| Some((id.as_str(), unit.running.as_ref()?)))
    }

    /// What differs between the plan that the run knows and another reading of its file: the ids of the
    /// units that say something else, that are new, and that are gone.
    pub fn differences(&self, plan: &Plan) -> Differences {
        let (old, new) = (&self.plan, plan);
        let ids = |plan: &Plan| -> BTreeSet<String> { plan.units.iter().map(|unit| unit.id.clone()).collect() };
        let (before, after) = (ids(old), ids(new));
        let says_else =
            |id: &&String| old.unit(id).map(|unit| &unit.body_sha256) != new.unit(id).map(|unit| &unit.body_sha256);
        Differences {
            changed: before.intersection(&after).filter(says_else).cloned().collect(),
            added: after.difference(&before).cloned().collect(),
            removed: before.difference(&after).cloned().collect(),
        }
    }
}

/// What differs between two readings of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Units that say something else.
    pub changed: Vec<String>,
    /// Units that are new.
    pub added: Vec<String>,
    /// Units that are gone.
    pub removed: Vec<String>,
}

/// Stands in the place of a unit for the checks of the whole plan.
pub const FINAL: &str = "final";

/// The label that an answer chooses for a decision; `None` where it chooses none.
pub fn chosen_label(decision: &Decision, option: &str) -> Option<String> {
    if option == ACCEPT_ALL {
        return decision.recommended.clone();
    }
    decision.options.iter().find(|known| known.label == option).map(|known| known.label.clone())
}

/// Takes the recommendation of every decision that is asked about.
pub const ACCEPT_ALL: &str = "accept-all";
/// Asks about each of them by itself.
pub const ONE_BY_ONE: &str = "one-by-one";
/// Goes on.
pub const CONTINUE: &str = "continue";

fn unit_of(what: &What) -> Option<&str> {
    match what {
        What::UnitStarted { unit, .. }
        | What::CheckRan { unit, .. }
        | What::UnitPassed { unit, .. }
        | What::UnitFailed { unit, .. }
        | What::UnitUnverified { unit, .. }
        | What::UnitImported { unit, .. }
        | What::UnitSkipped { unit, .. }
        | What::UnitHeld { unit, .. }
        | What::UnitReopened { unit, .. } => Some(unit),
        _ => None,
    }
}
