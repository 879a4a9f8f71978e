//! The questions of a run as its ledger holds them: what is asked, and what can be answered.

use omo_git::commit::CommitRefusal;
use omo_plan::model::PlanDecision;
use serde::{Deserialize, Serialize};

/// Something that a person has to decide before the run goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What it is called.
    pub id: String,
    /// What it is about.
    pub kind: QuestionKind,
    /// The question.
    pub text: String,
    /// What can be answered.
    pub options: Vec<QuestionOption>,
}

impl Question {
    /// Ids of the possible answers.
    pub fn option_ids(&self) -> Vec<&str> {
        self.options.iter().map(|option| option.id.as_str()).collect()
    }
}

/// What a question is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum QuestionKind {
    /// The plan has no verdict that it was verified.
    Verification,
    /// Decisions of the plan: one, or all that may be asked about together.
    Decisions {
        /// Which ones.
        decisions: Vec<PlanDecision>,
    },
    /// The end of a batch behind which a person is asked.
    HardStop {
        /// The place of the batch, from 0.
        group: usize,
    },
    /// A check could not be run here.
    CheckNotRunnable {
        /// Of which task.
        task: String,
        /// What is missing.
        missing: String,
    },
    /// Git refused the commit of green work.
    CommitRefused {
        /// Of which task.
        task: String,
        /// Why.
        refusal: CommitRefusal,
        /// The reference that keeps the work.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        kept: Option<String>,
    },
    /// A step asks for human judgment.
    Escalated {
        /// Which one.
        task: String,
    },
    /// The clients of the sessions would not be paid for by their user's subscription.
    Billing {
        /// By what they would be.
        payer: String,
    },
    /// What has to hold before a session is a sentence that no command decides.
    EntryCondition {
        /// The sentence.
        text: String,
    },
    /// A session cannot be brought together with what others did.
    Conflict {
        /// Which one.
        group: String,
        /// The files that stand in the way.
        files: String,
    },
    /// A session cannot go on by itself.
    Stuck {
        /// Which one.
        group: String,
        /// Why.
        reason: String,
    },
    /// The user's branch cannot move to what the run has come to.
    LandingRefused {
        /// Why.
        reason: String,
        /// Commands that get it on, each in a sentence.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ways_out: Vec<String>,
        /// What its hooks, or a change of them, have to do with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refusal: Option<CommitRefusal>,
    },
}

impl QuestionKind {
    /// Whether a person passes it by having the run go on, without a word about it. What costs money, or is theirs to
    /// judge, they have to answer.
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

/// One answer of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionOption {
    /// What is typed for it.
    pub id: String,
    /// What it means.
    pub text: String,
}
