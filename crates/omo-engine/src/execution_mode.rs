//! The four ways in which the tasks of a run can be handed out.

use omo_plan::dialects::PlanKind;
use serde::{Deserialize, Serialize};

/// How the tasks of a run are handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionMode {
    /// One after the other by agents, with stops at which a person is asked.
    Batches,
    /// By workers at the same time in one work tree, and then verified as a whole.
    Waves,
    /// By clients of their own, each in a worktree, whose work is merged.
    Parallel,
    /// One after the other by the session that was asked.
    StepByStep,
}

impl ExecutionMode {
    /// The mode of a run whose ledger was begun before it said which.
    pub(crate) fn of_kind(kind: PlanKind) -> Self {
        match kind {
            PlanKind::Tasks => Self::Batches,
            PlanKind::TaskList => Self::Waves,
            PlanKind::Steps => Self::StepByStep,
        }
    }

    /// The mode behind `run`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Batches => "in batches",
            Self::Waves => "in waves",
            Self::Parallel => "in parallel",
            Self::StepByStep => "step by step",
        }
    }

    /// The option that asks for it.
    pub fn option(self) -> &'static str {
        match self {
            Self::Batches => "--batches",
            Self::Waves => "--waves",
            Self::Parallel => "--parallel",
            Self::StepByStep => "--fg",
        }
    }

    /// Agents of the session do the tasks, in the user's own checkout.
    pub fn is_done_by_agents(self) -> bool {
        matches!(self, Self::Batches | Self::Waves)
    }

    /// Whether several workers share one work tree. What one of them leaves cannot be taken back without the others'
    /// work.
    pub(crate) fn shares_tree(self) -> bool {
        self == Self::Waves
    }
}
