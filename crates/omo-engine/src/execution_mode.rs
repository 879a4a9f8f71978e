//! `ExecutionMode`: the four ways to work on the tasks of a plan.

use omo_plan::dialects::PlanKind;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionMode {
    /// Agents, one task after the other, with stops at which a person is asked.
    Batches,
    /// Workers at the same time in one work tree, then a verification of the whole.
    Waves,
    /// Clients of their own, each in a worktree, whose work is merged.
    Parallel,
    /// The session itself, one task after the other.
    StepByStep,
}

impl ExecutionMode {
    /// The mode of a run whose ledger was begun before it recorded one.
    pub(crate) fn of_kind(kind: PlanKind) -> Self {
        match kind {
            PlanKind::Tasks => Self::Batches,
            PlanKind::TaskList => Self::Waves,
            PlanKind::Steps => Self::StepByStep,
        }
    }

    /// Words that follow `run`, such as `in waves`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Batches => "in batches",
            Self::Waves => "in waves",
            Self::Parallel => "in parallel",
            Self::StepByStep => "step by step",
        }
    }

    /// Option of the command line, such as `--waves`.
    pub fn option(self) -> &'static str {
        match self {
            Self::Batches => "--batches",
            Self::Waves => "--waves",
            Self::Parallel => "--parallel",
            Self::StepByStep => "--fg",
        }
    }

    /// `true` if agents of the session do the tasks, in the user's own checkout.
    pub fn is_done_by_agents(self) -> bool {
        matches!(self, Self::Batches | Self::Waves)
    }

    /// `true` if workers share one work tree: no worker's changes can be taken back alone.
    pub(crate) fn shares_tree(self) -> bool {
        self == Self::Waves
    }
}
