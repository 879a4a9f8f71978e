//! The questions of a run as its ledger holds them, with their options.

use omo_git::commit::CommitRefusal;
use omo_plan::model::PlanDecision;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Id, such as `q1`.
    pub id: String,
    pub kind: QuestionKind,
    pub text: String,
    pub options: Vec<QuestionOption>,
}

impl Question {
    pub fn option_ids(&self) -> Vec<&str> {
        self.options
            .iter()
            .map(|option| option.id.as_str())
            .collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum QuestionKind {
    Verification,
    /// Decisions of the plan: one, or several that are asked about together.
    Decisions {
        decisions: Vec<PlanDecision>,
    },
    HardStop {
        /// Position of the batch, from `0`.
        group: usize,
    },
    CheckNotRunnable {
        task: String,
        missing: String,
    },
    CommitRefused {
        task: String,
        refusal: CommitRefusal,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        kept: Option<String>,
    },
    Escalated {
        task: String,
    },
    /// Sessions with another payer than the user's subscription.
    Billing {
        /// The payer, such as `ANTHROPIC_API_KEY`.
        payer: String,
    },
    EntryCondition {
        text: String,
    },
    Conflict {
        group: String,
        files: String,
    },
    Stuck {
        group: String,
        reason: String,
    },
    LandingRefused {
        reason: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ways_out: Vec<String>,
        /// The `CommitRefusal`, where hooks refused the landing or were changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refusal: Option<CommitRefusal>,
    },
}

impl QuestionKind {
    /// `true` for a question that going on answers, too; money and the user's judgment need an answer of their own.
    pub fn is_passed_by_going_on(&self) -> bool {
        match self {
            Self::Verification
            | Self::HardStop { .. }
            | Self::CheckNotRunnable { .. }
            | Self::CommitRefused { .. }
            | Self::Stuck { .. }
            | Self::LandingRefused { .. } => true,
            Self::Decisions { .. }
            | Self::Escalated { .. }
            | Self::Billing { .. }
            | Self::EntryCondition { .. }
            | Self::Conflict { .. } => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionOption {
    pub id: String,
    pub text: String,
}
