//! How a plan is worked on: all of it in one session, or each of its sessions by a client of its own; and which of
//! its steps that takes in.

use super::arguments::{PlanSelection, RunMode, RunRequest};
use crate::dialects::ultraplan::report::{SESSION_PREFIX, session_groups, sessions_per_wave};
use crate::model::{Plan, Task, TaskGroup};
use crate::run::mode::ExecutionMode;

/// How a plan is worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStrategy {
    /// One step after the other, in the session that was asked.
    SingleSession,
    /// A client for each session of the plan.
    Sessions {
        /// How many run beside others of their wave.
        parallel: usize,
        /// How many run alone.
        sequential: usize,
    },
}

impl RunStrategy {
    /// How a plan is worked on where nothing else is asked for.
    pub fn for_plan(plan: &Plan) -> Self {
        let sessions: Vec<&TaskGroup> = session_groups(plan).collect();
        if sessions.len() < 2 {
            return Self::SingleSession;
        }
        let parallel: usize =
            sessions_per_wave(&sessions).iter().map(|(_, count)| *count).filter(|count| *count > 1).sum();
        Self::Sessions { parallel, sequential: sessions.len() - parallel }
    }

    /// How a plan is worked on where this is asked for: in sessions only by a run of the whole without `--fg`. A
    /// resumed run that was begun in sessions goes on as its ledger has it; this is for one without.
    pub fn for_arguments(plan: &Plan, request: &RunRequest) -> Self {
        let takes_all =
            matches!(request.mode(), RunMode::Execute | RunMode::DryRun) && request.selection == PlanSelection::Whole;
        if takes_all && !request.is_foreground { Self::for_plan(plan) } else { Self::SingleSession }
    }

    /// How a plan is worked on that a mode has arranged: only where it is parallel by clients, one for each group.
    pub fn of_mode(plan: &Plan, mode: ExecutionMode) -> Self {
        if mode != ExecutionMode::Parallel {
            return Self::SingleSession;
        }
        let groups: Vec<&TaskGroup> = plan.groups.iter().filter(|group| !group.tasks.is_empty()).collect();
        let parallel: usize =
            sessions_per_wave(&groups).iter().map(|(_, count)| *count).filter(|count| *count > 1).sum();
        Self::Sessions { parallel, sequential: groups.len() - parallel }
    }

    /// Whether clients are started.
    pub fn starts_clients(self) -> bool {
        self != Self::SingleSession
    }

    /// Whether some of them run at the same time.
    pub fn is_parallel(self) -> bool {
        matches!(self, Self::Sessions { parallel: 1.., .. })
    }

    /// `Strategy: 3 sessions (2 parallel, 1 sequential)`.
    pub fn summary_line(self) -> String {
        match self {
            Self::SingleSession => "Strategy: single session".to_owned(),
            Self::Sessions { parallel, sequential } => {
                format!("Strategy: {} sessions ({parallel} parallel, {sequential} sequential)", parallel + sequential)
            }
        }
    }
}

/// The groups that hold a part of a plan, in the order of the plan.
pub fn selected_groups(plan: &Plan, part: PlanSelection) -> Vec<&TaskGroup> {
    let holds = |group: &&TaskGroup| match part {
        PlanSelection::Whole => true,
        PlanSelection::Step(number) => group.tasks.iter().any(|id| id.parse() == Ok(number)),
        PlanSelection::Session(number) => is_session(group, number),
    };
    plan.groups.iter().filter(holds).collect()
}

/// The steps of a part of a plan, in the order in which they are done.
pub fn selected_tasks(plan: &Plan, part: PlanSelection) -> Vec<&Task> {
    let is_meant = |unit: &&Task| match part {
        PlanSelection::Whole => true,
        PlanSelection::Step(number) => unit.id.parse() == Ok(number),
        PlanSelection::Session(number) => plan.group_of(&unit.id).is_some_and(|(_, group)| is_session(group, number)),
    };
    plan.tasks.iter().filter(is_meant).collect()
}

fn is_session(group: &TaskGroup, number: u64) -> bool {
    group.id.strip_prefix(SESSION_PREFIX).is_some_and(|id| id.parse() == Ok(number))
}
